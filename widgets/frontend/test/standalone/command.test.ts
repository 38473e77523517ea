/** Which command a page names, and what it owns up to leaving out. */

import { expect, test } from "vitest";
import { writeCommand } from "../../src/standalone/command";

const START = { text: "netloupe render 'it'\"'\"'s.onnx' -o m.svg --grouping names", expand: "2" };
const PLAIN = { direction: "TB", paints: {} } as const;
const FOLDER = "in which folder the model is";
const OPEN = "which groups are open: it opens what fits";
const inner = new Map([[0, { level: 1, inner: new Map() }]]);

test("what is open at first, and nothing open, have their words", () => {
  const first = writeCommand(START, PLAIN, "light", { level: 0, inner }, true);
  expect(first.text).toBe(`${START.text} --expand 2`);
  expect(first.left).toEqual([FOLDER]);
  const none = writeCommand(START, PLAIN, "dark", { level: 0, inner: new Map() }, false);
  expect(none.text).toBe(`${START.text} --expand none --theme dark`);
  expect(none.left).toEqual([FOLDER]);
});

test("what no option says is not claimed", () => {
  const traits = { direction: "LR", paints: { a: ["added", ""] } } as const;
  const other = writeCommand(START, traits, "light", { level: 0, inner }, false);
  expect(other.text).toBe(`${START.text} --direction LR`);
  expect(other.left).toEqual([OPEN, "how it is painted", FOLDER]);
  const auto = writeCommand({ ...START, expand: "" }, PLAIN, "light", { level: 0, inner }, true);
  expect(auto.left).toContain(OPEN);
});
