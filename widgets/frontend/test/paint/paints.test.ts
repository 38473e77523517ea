/** Paint lies over faces that stay as they are: what is found by path, and in which colours. */

import { afterEach, expect, test, vi } from "vitest";
import { paintScene } from "../../src/paint/draw_scene";
import { NO_PAINTS, coloursOf, placePaints } from "../../src/paint/paints";
import { type PaintsByPath, layPaints } from "../../src/scene/paints_by_path";
import { noEmphasis } from "../../src/paint/pass";
import { Titles } from "../../src/paint/place_titles";
import { categoryOf, findTone, paletteOf } from "../../src/paint/theme";
import { Picker } from "../../src/scene/pick";
import { GROUP, NODE, OPENABLE, REPEAT } from "../../src/scene/scene";
import { makeScene } from "../small";

const palette = paletteOf("light");
const small = () =>
  makeScene(
    [
      { path: "main/g/", open: true, at: [0, 0, 300, 200] },
      { path: "main/a", parent: 0, at: [20, 40, 90, 40] },
      { path: "main/b", parent: 0, at: [150, 40, 90, 40] },
    ],
    [["main/%x", 1, 2]],
    { width: 300, height: 200 },
  );

/** Paint the small scene; return the colours that were used, and the texts. */
function coloursWith(byPath: PaintsByPath, zoom: number): { colours: Set<unknown>; texts: string[] } {
  const colours = new Set<unknown>();
  const texts: string[] = [];
  const known: Record<string, unknown> = {
    fillText: (text: string) => texts.push(text),
    fill: () => colours.add(known.fillStyle),
    stroke: () => colours.add(known.strokeStyle),
    measureText: (text: string) => ({ width: text.length * 5 }),
  };
  const context = new Proxy(known, { get: (all, name: string) => all[name] ?? (() => undefined) });
  vi.stubGlobal("document", { createElement: () => ({ getContext: () => context }) });
  const scene = small();
  const picker = new Picker(scene);
  paintScene(context as unknown as CanvasRenderingContext2D, {
    ...{ scene, picker, titles: new Titles(scene, picker), size: { width: 300, height: 200 }, ratio: 1, palette },
    ...{ emphasis: noEmphasis(), paints: placePaints(scene, byPath) },
    ...{ view: { x: 0, y: 0, zoom }, motion: null, tiles: null, litTiles: null },
  });
  return { colours, texts };
}

afterEach(() => vi.unstubAllGlobals());

test("boxes and edges are found by their paths, and nothing else is painted", () => {
  const paints = placePaints(small(), {
    "main/b": ["warning", "slow"],
    "main/%x": ["added", ""],
    "main/elsewhere": ["error", ""],
  });
  const nothing = { text: "", ring: "", mark: "", markTone: "", dashed: false, hatched: false };
  expect([...paints.boxes]).toEqual([[2, { ...nothing, tone: "warning", text: "slow" }]]);
  expect([...paints.edges]).toEqual([[0, { ...nothing, tone: "added" }]]);
});

test("a painted box has the colours of its tone, an unknown tone those of its category", () => {
  const face = small().faceOf(1);
  const { fill, border, text } = palette.tones.warning;
  const painted = (tone: string) => placePaints(small(), { "main/a": [tone] }).boxes.get(1);
  expect(coloursOf(palette, face, painted("warning"))).toEqual({ tint: fill, border, text, frame: fill });
  const usual = categoryOf(palette, face.category);
  expect(coloursOf(palette, face, painted("nonsense"))).toEqual(usual);
  expect(coloursOf(palette, face, NO_PAINTS.boxes.get(1))).toEqual(usual);
});

test.each([1, 0.35, 0.2])("boxes, open groups and edges are painted at zoom %d", (zoom) => {
  const { warning, added, note } = palette.tones;
  const painted = coloursWith(
    { "main/b": ["warning", ""], "main/%x": ["added", ""], "main/g/": ["note", ""] },
    zoom,
  ).colours;
  for (const colour of [warning.fill, warning.border, added.border, note.border]) {
    expect(painted).toContain(colour);
  }
  const plain = coloursWith({}, zoom).colours;
  for (const { fill, border } of [warning, added, note]) {
    expect(plain).not.toContain(fill);
    expect(plain).not.toContain(border);
  }
});

test("a pill says what the paint says, as far as there is room", () => {
  expect(coloursWith({ "main/b": ["warning", "12 ms"] }, 1).texts).toContain("12 ms");
  const { texts } = coloursWith({ "main/b": ["warning", "a very long story about it"] }, 1);
  expect(texts.some((text) => text.startsWith("a very") && text.endsWith("…"))).toBe(true);
  expect(coloursWith({ "main/b": ["warning", "12 ms"] }, 0.2).texts).not.toContain("12 ms");
});

test("a ring is strong, also from afar, and leaves the box its own colours", () => {
  const { strong } = palette.tones.changed;
  const painted = { "main/b": ["", "", "changed", "Δ"] } as const;
  for (const zoom of [1, 0.2]) expect(coloursWith(painted, zoom).colours).toContain(strong);
  expect(coloursWith(painted, 1).colours).toContain(categoryOf(palette, small().faceOf(2).category).border);
  expect(coloursWith(painted, 1).texts).toContain("Δ");
});

test("an open group has a ring as its border, and a mark", () => {
  const { colours, texts } = coloursWith({ "main/g/": ["", "", "", "12", "error"] }, 1);
  expect(texts).toContain("12");
  expect(colours).toContain(palette.tones.error.strong);
  expect(coloursWith({ "main/g/": ["", "", "error"] }, 1).colours).toContain(palette.tones.error.strong);
});

test("layers keep what each of them says", () => {
  const laid = layPaints(
    { a: ["", "", "error", "!"], b: ["", "", "", "3", "note"] },
    { a: ["scale-3", "12 ms"], c: ["added"] },
  );
  expect(laid).toEqual({
    a: ["scale-3", "12 ms", "error", "!", "error", 0],
    b: ["", "", "", "3", "note"],
    c: ["added"],
  });
  expect(layPaints({ a: ["", "", "", "", "", 2] }, { a: ["", "", "removed", "−", "", 1] }).a).toEqual(
    ["", "", "removed", "−", "removed", 3],
  );
});

test("a colour of one's own is a tone whose text is black or white, whichever can be read", () => {
  expect(findTone(palette, "#ffdd00")).toMatchObject({ fill: "#ffdd00", text: "#000000" });
  expect(findTone(palette, "#102030")).toMatchObject({ fill: "#102030", text: "#ffffff" });
  // as explorer/render/tones.py makes its border
  expect(findTone(palette, "#ffffff")?.border).toBe("#b3b3b3");
  expect(findTone(palette, "scale-3")).toBe(palette.tones["scale-3"]);
  expect(findTone(palette, "no such tone")).toBeUndefined();
});

test("what a function has painted is painted in each of its open calls", () => {
  const scene = makeScene([
    { path: "main/one", open: true, rows: ["functions/local::f"], at: [0, 0, 300, 200] },
    { path: "main/one()/a", parent: 0 },
    { path: "main/one()/b", parent: 0 },
    { path: "main/shut", flags: NODE | OPENABLE, rows: ["main/%w"] },
    { path: "main/r/", open: true, flags: GROUP | REPEAT, rows: ["12", "0", "main/r/0/"] },
  ]);
  expect([...scene.openCalls()]).toEqual([["functions/local::f", ["main/one()"]]]);
  const paints = placePaints(scene, {
    "functions/local::f/a": ["", "", "error", "!"],
    "functions/local::f/b": ["", "", "error", "2"],
    "functions/local::other/a": ["warning", "slow"],
    "main/one()/b": ["scale-3", "8 ms"],
  });
  expect([...paints.boxes.keys()].sort()).toEqual([1, 2]);
  expect(paints.boxes.get(1)).toMatchObject({ tone: "", ring: "error", mark: "!" });
  expect(paints.boxes.get(2)).toMatchObject({ tone: "scale-3", text: "8 ms", ring: "error", mark: "2", markTone: "error" });
});
