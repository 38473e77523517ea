/** In which order a frame is painted, and what of a picture can be seen from very far. */

import { afterEach, expect, test, vi } from "vitest";
import { paintScene } from "../../src/paint/draw_scene";
import { noEmphasis } from "../../src/paint/pass";
import { NO_PAINTS } from "../../src/paint/paints";
import { Titles } from "../../src/paint/place_titles";
import { paletteOf } from "../../src/paint/theme";
import { placeWhole } from "../../src/paint/tiles";
import type { Face } from "../../src/scene/face";
import { Picker } from "../../src/scene/pick";
import { Routes } from "../../src/scene/routes";
import { light } from "../../src/scene/trace";
import { makeScene } from "../small";

const SIZE = { width: 400, height: 300 };
const palette = paletteOf("light");

/** A context of a canvas that notes texts, rings and the veil; texts are 7 wide for a letter. */
function noteTaker(): {
  context: CanvasRenderingContext2D;
  notes: string[];
  places: Map<string, number>;
} {
  const notes: string[] = [];
  const places = new Map<string, number>();
  const known: Record<string, unknown> = {
    fillText: (text: string, x: number) => {
      notes.push(text);
      places.set(text, x);
    },
    fillRect: () => known.globalAlpha !== 1 && notes.push("veil"),
    stroke: () => known.strokeStyle === palette.accent && notes.push("ring"),
    measureText: (text: string) => ({ width: text.length * 7 }),
  };
  const context = new Proxy(known, { get: (all, name: string) => all[name] ?? (() => undefined) });
  return { context: context as unknown as CanvasRenderingContext2D, notes, places };
}

function paintAt(zoom: number, changes: (routes: Routes) => object): string[] {
  const { context, notes } = noteTaker();
  vi.stubGlobal("document", { createElement: () => ({ getContext: () => context }) });
  const scene = makeScene(
    [
      { path: "encoder", open: true, at: [0, 0, 400, 300] },
      { path: "decoder", open: true, at: [0, 400, 400, 300] },
      { path: "Mul", parent: 0, at: [20, 120, 90, 40] },
      { path: "Add", parent: 1, at: [20, 520, 90, 40] },
    ],
    [],
    { width: 400, height: 700 },
  );
  const emphasis = { ...noEmphasis(), ...changes(new Routes(scene)) };
  const picker = new Picker(scene);
  paintScene(context, {
    ...{ scene, picker, titles: new Titles(scene, picker), size: SIZE, ratio: 1, palette, emphasis, paints: NO_PAINTS },
    ...{ view: { x: 0, y: 0, zoom }, motion: null, tiles: null, litTiles: null },
  });
  return notes;
}

afterEach(() => vi.unstubAllGlobals());

test("the number of repetitions stands at the right border of a frame of any width", () => {
  const { context, places } = noteTaker();
  vi.stubGlobal("document", { createElement: () => ({ getContext: () => context }) });
  const texts: Face["texts"] = [
    [14, 15, "layers", "title", "start"],
    [190, 15, "×12", "title", "end"],
  ];
  const scene = makeScene([
    { path: "layers", open: true, at: [20, 0, 600, 300], face: { outline: "frame", width: 204, texts } },
    { path: "layer", open: true, parent: 0, at: [100, 60, 204, 200], face: { outline: "frame", width: 204, texts: [[190, 15, "×2", "title", "end"]] } },
  ]);
  const picker = new Picker(scene);
  paintScene(context, {
    ...{ scene, picker, titles: new Titles(scene, picker), size: SIZE, ratio: 1, palette, emphasis: noEmphasis(), paints: NO_PAINTS },
    ...{ view: { x: 0, y: 0, zoom: 1 }, motion: null, tiles: null, litTiles: null },
  });
  expect(places.get("layers")).toBe(34);
  expect(places.get("×12")).toBe(20 + 600 - 14);
  expect(places.get("×2")).toBe(100 + 204 - 14);
});

test("titles of groups without anything lit are dimmed with what is in them", () => {
  const notes = paintAt(0.4, (routes) => ({ lit: light(routes, { kind: "up", path: "Mul" }) }));
  const veil = notes.indexOf("veil");
  expect(veil).toBeGreaterThan(-1);
  expect(notes.indexOf("decoder")).toBeLessThan(veil);
  expect(notes.indexOf("encoder")).toBeGreaterThan(veil);
  expect(notes.filter((note) => note.endsWith("coder"))).toHaveLength(2);
});

test("near by, too, the titles of groups with something lit stay as they are", () => {
  const notes = paintAt(0.5, (routes) => ({ lit: light(routes, { kind: "up", path: "Mul" }) }));
  const veil = notes.indexOf("veil");
  expect(veil).toBeGreaterThan(-1);
  expect(notes.lastIndexOf("encoder")).toBeGreaterThan(veil);
  expect(notes).toContain("decoder");
  expect(notes.lastIndexOf("decoder")).toBeLessThan(veil);
});

test("rings do not run through the title of a group", () => {
  const notes = paintAt(0.4, () => ({ boxes: new Set([0, 2]) }));
  expect(notes).toContain("ring");
  expect(notes.lastIndexOf("ring")).toBeLessThan(notes.indexOf("encoder"));
});

test("the whole of a picture that is all length is wide enough to be seen", () => {
  for (const zoom of [7e-5, 1e-6]) {
    const tall = placeWhole({ width: 900, height: 6e6 }, zoom);
    expect(tall.width * zoom).toBeGreaterThanOrEqual(2);
    expect(tall.x + tall.width / 2).toBe(450);
    const wide = placeWhole({ width: 6e6, height: 900 }, zoom);
    expect(wide.height * zoom).toBeGreaterThanOrEqual(2);
  }
  expect(placeWhole({ width: 900, height: 700 }, 0.1)).toEqual({ x: 0, y: 0, width: 900, height: 700 });
});

/** The contrast of two colours (WCAG 2.2, section 1.4.3). */
function contrast(one: string, other: string): number {
  const [low, high] = [one, other].map((colour) => {
    const [red, green, blue] = [1, 3, 5].map((at) => {
      const share = parseInt(colour.slice(at, at + 2), 16) / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  }).sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

test.each(["light", "dark"] as const)("the mark of a selected weight is seen on each colour of a box: %s", (theme) => {
  const palette = paletteOf(theme);
  const lines: Array<{ colour: string; width: number; place: string }> = [];
  const known: Record<string, any> = {
    measureText: (text: string) => ({ width: text.length * 7 }),
    strokeRect: (...place: number[]) =>
      lines.push({ colour: known.strokeStyle, width: known.lineWidth, place: place.join() }),
  };
  const context = new Proxy(known, { get: (all, name: string) => all[name] ?? (() => undefined) });
  const scene = makeScene([{ path: "Conv", at: [20, 20, 90, 60] }]);
  const picker = new Picker(scene);
  const emphasis = { ...noEmphasis(), rows: [[0, 0, 22, 40]] as Array<[number, number, number, number]> };
  paintScene(context as unknown as CanvasRenderingContext2D, {
    ...{ scene, picker, titles: new Titles(scene, picker), size: SIZE, ratio: 1, palette, emphasis, paints: NO_PAINTS },
    ...{ view: { x: 0, y: 0, zoom: 1 }, motion: null, tiles: null, litTiles: null },
  });
  const place = lines.findIndex(({ colour }) => colour === palette.accent);
  expect(place).toBeGreaterThan(-1);
  const line = lines[place];
  const around = lines.slice(0, place).filter((each) => each.place === line.place && each.width > line.width);
  const tints = Object.values(palette.categories).map(({ tint }) => tint);
  const tones = Object.values(palette.tones).map(({ fill }) => fill);
  for (const ground of [palette.body, ...tints, ...tones]) {
    expect(contrast(line.colour, around.at(-1)?.colour ?? ground)).toBeGreaterThanOrEqual(3);
  }
});
