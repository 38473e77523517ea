import { expect, test } from "vitest";

import type { Block, Texts } from "../../src/standalone/block";
import type { Composed } from "../../src/standalone/compose";
import { Overlays } from "../../src/standalone/overlays";

const TEXTS = ["main/a", "main/g/", "main/b"];
const COLUMNS: Record<string, unknown> = {
  overlays: [
    ["time", [["time (ms)", "", "", ""], ["1 to 2 ms", "<light/>", "<dark/>", "scale-1"], ["no number", "<l/>", "<d/>", "missing"]]],
    ["kind", [["kind", "", "", ""]]],
  ],
  paints: [["scale-1", "1 ms"], ["scale-3", "mean 2 ms"], ["missing", "", "", "", "", 2]],
  paths: [0, 1, 2],
  closed: [0, 0, -1, 2, -1, -1],
  opened: [-1, 1, -1, -1, -1, -1],
};
const block = {
  value: (name: string) => COLUMNS[name],
  integers: (name: string) => Int8Array.from(COLUMNS[name] as number[]),
} as unknown as Block;
const texts = { at: (number: number) => TEXTS[number] } as unknown as Texts;

function shown(paths: string[], inner: Map<number, Composed> = new Map()): Composed {
  const boxes = paths.map((_, path) => ({ path }));
  return { level: { names: paths, form: { boxes } }, inner } as unknown as Composed;
}

test("closed and open boxes have paints of their own, and others none", () => {
  const overlays = new Overlays(block, texts);
  expect(overlays.paint(0, shown(TEXTS))).toEqual({
    "main/a": ["scale-1", "1 ms"],
    "main/g/": ["scale-1", "1 ms"],
  });
  const open = shown(TEXTS, new Map([[1, shown(["main/other"])]]));
  expect(overlays.paint(0, open)["main/g/"]).toEqual(["scale-3", "mean 2 ms"]);
  expect(overlays.paint(1, shown(TEXTS))).toEqual({ "main/a": ["missing", "", "", "", "", 2] });
});

test("the legend is drawn in the theme and explains what is missing only where it occurs", () => {
  const overlays = new Overlays(block, texts);
  const listed = overlays.list(0, overlays.paint(0, shown(TEXTS)), "dark");
  expect(listed).toEqual([
    { text: "time (ms)", svg: "", overlay: true },
    { text: "1 to 2 ms", svg: "<dark/>", overlay: true },
  ]);
  const missing = overlays.list(0, { "main/a": ["missing"] }, "light");
  expect(missing.at(-1)).toEqual({ text: "no number", svg: "<l/>", overlay: true });
});

test("what is no overlay is refused", () => {
  const overlays = new Overlays(block, texts);
  expect(() => overlays.paint(7, shown(TEXTS))).toThrow("nothing of that number");
  expect(() => overlays.list(7, {}, "light")).toThrow("nothing of that number");
});
