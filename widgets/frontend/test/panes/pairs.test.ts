import { expect, test } from "vitest";

import { Pairs } from "../../src/panes/pairs";
import type { Block } from "../../src/standalone/block";

const TEXTS = [
  ...["main/a", "main/b", "main/c", "main/layers/", "main/layers/3/", "main/layers/2/"],
  ...["main/one", "main/uno", "functions/p::F", "functions/p::G", "functions/p::F/x"],
  ...["functions/p::G/y", "functions/p::F/inner", "functions/p::G/within", "functions/p::H"],
  ...["functions/p::H/z", "main/odd()name"],
];
const number = (text: string): number => TEXTS.indexOf(text);

function make(rows: Array<readonly [string, string]>): Pairs {
  const repetition = rows.findIndex(([left]) => left === "main/layers/3/");
  const calls = ["functions/p::F/inner", "functions/p::H"];
  const columns: Record<string, number[]> = {
    left: rows.map(([left]) => number(left)),
    right: rows.map(([, right]) => number(right)),
    repetitions: repetition < 0 ? [] : [repetition],
    left_places: repetition < 0 ? [] : [3],
    right_places: repetition < 0 ? [] : [2],
    left_calls: ["main/one", "functions/p::F", ...calls].map(number),
    right_calls: ["main/uno", "functions/p::G", "functions/p::G/within", "functions/p::H"].map(number),
  };
  return new Pairs({
    texts: () => ({ list: () => TEXTS }),
    integers: (name: string) => Int32Array.from(columns[name]),
  } as unknown as Block);
}

const pairs = make([
  ["main/a", "main/b"],
  ["main/c", "main/b"],
  ["main/layers/", "main/layers/"],
  ["main/layers/3/", "main/layers/2/"],
  ["main/one", "main/uno"],
  ["functions/p::F", "functions/p::G"],
  ["functions/p::F/x", "functions/p::G/y"],
  ["functions/p::F/inner", "functions/p::G/within"],
  ["functions/p::H/z", "functions/p::H/z"],
  ["main/odd()name", "main/a"],
]);

test("pairs are found from either side, several for what is fused", () => {
  expect(pairs.find(0, "main/a")).toEqual(["main/b"]);
  expect(pairs.find(1, "main/b")).toEqual(["main/a", "main/c"]);
  expect(pairs.find(0, "main/none")).toEqual([]);
  expect(pairs.find(0, "main/odd()name")).toEqual(["main/a"]);
});

test("repetitions know their places", () => {
  expect(pairs.placeOf(0, "main/layers/3/")).toBe(3);
  expect(pairs.placeOf(1, "main/layers/2/")).toBe(2);
  expect(pairs.placeOf(1, "main/layers/")).toBeNull();
});

test("what is in a function is found in the call on the other side, however deep", () => {
  expect(pairs.find(0, "main/one()/x")).toEqual(["main/uno()/y"]);
  expect(pairs.find(1, "main/uno()/y")).toEqual(["main/one()/x"]);
  expect(pairs.find(0, "main/one()/inner()/z")).toEqual(["main/uno()/within()/z"]);
  expect(pairs.find(0, "main/one()/nothing")).toEqual([]);
  expect(pairs.find(0, "main/two()/x")).toEqual([]);
});

test("a call without a pair has nothing inside that has one", () => {
  const alone = make([["functions/p::F/x", "functions/p::G/y"]]);
  expect(alone.find(0, "main/one()/x")).toEqual([]);
});
