import { expect, test } from "vitest";
import { ReviewError, isDifference, readReview, writeVerdict } from "../../src/review/items";
import { writeReview } from "./reviews";

test("an item is read with all its texts", () => {
  const { items, lacksWeights, unchecked } = readReview(
    writeReview([
      {
        ...{ kind: 1, level: 2, title: "Weight differs", where: "a", id: "diff", count: 3 },
        ...{ paths: ["main/a", "main/b"], evidence: [["cosine", "0.99"]] },
      },
    ]),
  );
  expect(items).toEqual([
    {
      number: 0,
      kind: "difference",
      level: { name: "changed", sign: "Δ", tone: "changed", meaning: "changed" },
      title: "Weight differs",
      where: "a",
      id: "diff",
      why: "why",
      remedy: "remedy",
      source: "source",
      accepted: "",
      fingerprint: "",
      count: 3,
      evidence: [["cosine", "0.99"]],
      paths: ["main/a", "main/b"],
    },
  ]);
  expect(lacksWeights).toBe(true);
  expect(unchecked).toEqual([["weights were not read", "NL-N01"]]);
});

test.each([
  ["nothing", null],
  ["a list", []],
  ["no items", { ...writeReview([]), items: undefined }],
  ["a text that is missing", { ...writeReview([{}]), texts: [] }],
  ["a level that is missing", writeReview([{ level: 9 }])],
  ["an item that is cut short", { ...writeReview([{}]), items: [[0, 0, 0, 0, 0, 0, 0, 0, 0]] }],
  ["an item that is none", { ...writeReview([{}]), items: ["x"] }],
])("what is damaged is said to be: %s", (_, written) => {
  expect(() => readReview(written)).toThrow(ReviewError);
});

test("the verdict counts what nobody has accepted", () => {
  const { items } = readReview(
    writeReview([{}, { level: 1 }, { level: 1 }, { kind: 1, level: 2 }, { accepted: "by ada" }]),
  );
  expect(writeVerdict(items)).toBe("1 error, 2 warnings, 1 difference, 1 accepted");
  expect(writeVerdict([])).toBe("nothing found");
});

test("what is equal, of another version or only written otherwise is no difference", () => {
  const { items } = readReview(
    writeReview([
      { kind: 1, level: 2 },
      { kind: 1, level: 2 },
      { kind: 1, level: 4 },
      { kind: 1, level: 5 },
      { kind: 1, level: 5 },
      { kind: 1, level: 6 },
    ]),
  );
  expect(writeVerdict(items)).toBe(
    "2 differences, 1 equal by calculation, 1 other version, 2 only written otherwise",
  );
  expect(items.filter(isDifference).length).toBe(2);
});
