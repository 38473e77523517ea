import { expect, test } from "vitest";
import { FilteredItems, NO_FILTER } from "../../src/review/filter";
import { readReview } from "../../src/review/items";
import { writeReview } from "./reviews";

const { items } = readReview(
  writeReview([
    { title: "Bias scale", where: "fc.bias", id: "NL-Q09", paths: ["main/fc"] },
    { level: 1, title: "Unused weight", where: "left", evidence: [["bytes", "1.5 kB"]] },
    { kind: 1, level: 2, title: "Weight differs", where: "blocks.5", paths: ["main/blocks.5/Conv"] },
  ]),
);
const filtered = new FilteredItems(items);

test("without a filter all are listed", () => {
  expect(filtered.list(NO_FILTER)).toEqual([0, 1, 2]);
});

test("a kind, levels and words narrow the list together", () => {
  expect(filtered.list({ ...NO_FILTER, kind: "finding" })).toEqual([0, 1]);
  expect(filtered.list({ ...NO_FILTER, levels: new Set(["warning", "changed"]) })).toEqual([1, 2]);
  expect(filtered.list({ ...NO_FILTER, words: "WEIGHT" })).toEqual([1, 2]);
  expect(filtered.list({ ...NO_FILTER, words: "weight", kind: "finding" })).toEqual([1]);
  expect(filtered.list({ ...NO_FILTER, kind: "note" })).toEqual([]);
});

test("every word is looked for, in title, place, id, evidence and paths", () => {
  for (const [words, found] of [
    ["nl-q09", [0]],
    ["1.5 kb", [1]],
    ["conv", [2]],
    ["weight blocks", [2]],
    ["weight fc", []],
    ["   ", [0, 1, 2]],
  ] as const) {
    expect(filtered.list({ ...NO_FILTER, words })).toEqual(found);
  }
});

test("each chip counts what it would list", () => {
  const { all, kinds, levels } = filtered.count({ ...NO_FILTER, words: "weight" });
  expect(all).toBe(2);
  expect([...kinds]).toEqual([
    ["finding", 1],
    ["difference", 1],
  ]);
  expect([...levels]).toEqual([
    ["warning", 1],
    ["changed", 1],
  ]);
  const narrowed = filtered.count({ ...NO_FILTER, kind: "finding", levels: new Set(["error"]) });
  expect(narrowed.all).toBe(1);
  expect([...narrowed.levels]).toEqual([
    ["error", 1],
    ["warning", 1],
  ]);
});
