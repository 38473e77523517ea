/** Paint lies over faces that stay as they are: what is found by path, and in which colours. */

import { afterEach, expect, test, vi } from "vitest";
import { paintScene } from "../../src/paint/draw_scene";
import { NO_PAINTS, type PaintsByPath, coloursOf, placePaints } from "../../src/paint/paints";
import { noEmphasis } from "../../src/paint/pass";
import { Titles } from "../../src/paint/place_titles";
import { categoryOf, paletteOf } from "../../src/paint/theme";
import { Picker } from "../../src/scene/pick";
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
  expect([...paints.boxes]).toEqual([[2, { tone: "warning", text: "slow" }]]);
  expect([...paints.edges]).toEqual([[0, { tone: "added", text: "" }]]);
});

test("a painted box has the colours of its tone, an unknown tone those of its category", () => {
  const face = small().faceOf(1);
  const { fill, border, text } = palette.tones.warning;
  expect(coloursOf(palette, face, { tone: "warning", text: "" })).toEqual({ tint: fill, border, text });
  const usual = categoryOf(palette, face.category);
  expect(coloursOf(palette, face, { tone: "nonsense", text: "" })).toEqual(usual);
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
