import { expect, test } from "vitest";
import { readCrumbs } from "../../src/controls/breadcrumb";

test("crumbs that are none are left out", () => {
  expect(readCrumbs([["main", "gpt2"], "x", ["main/If.then", "then"]])).toEqual([
    ["main", "gpt2"],
    ["main/If.then", "then"],
  ]);
  expect(readCrumbs(null)).toEqual([]);
});
