/** What is seen of a picture from afar: titles of groups, and edges that are lit. */

import { expect, test, vi } from "vitest";
import { drawEdges } from "../../src/paint/draw_edges";
import { drawTitles } from "../../src/paint/draw_titles";
import { type Pass, noEmphasis } from "../../src/paint/pass";
import { NO_PAINTS } from "../../src/paint/paints";
import { Titles, isUnderTitle } from "../../src/paint/place_titles";
import { elide } from "../../src/paint/text";
import type { Face } from "../../src/scene/face";
import { paletteOf } from "../../src/paint/theme";
import { Picker } from "../../src/scene/pick";
import { makeScene } from "../small";

const LETTER = 0.6;
const measure = (text: string): number => text.length * LETTER;

const nested = makeScene([
  { path: "encoder", open: true, at: [0, 0, 400, 300] },
  { path: "layer", open: true, parent: 0, at: [8, 30, 380, 260] },
  { path: "MatMul", parent: 1, at: [12, 64, 90, 40] },
]);

function titlesAt(zoom: number, scene = nested) {
  const boxes = Array.from({ length: scene.boxCount }, (_, box) => box);
  const titles = new Titles(scene, new Picker(scene), measure);
  return titles.place({ boxes, positions: scene.boxes, zoom, motion: null });
}

test("a group keeps its title where boxes leave no room, and these lose their labels to it", () => {
  const places = [
    [4, 4, 390, 60],
    [4, 200, 390, 60],
  ] as const;
  const scene = makeScene([
    { path: "encoder", open: true, at: [0, 0, 400, 300] },
    ...places.map((at) => ({ path: "MatMul", parent: 0, at: [...at] as [number, number, number, number] })),
  ]);
  const titles = titlesAt(0.24, scene);
  expect(titles.map(({ text }) => text)).toEqual(["encoder"]);
  const covered = places.map(([x, y, width, height]) => isUnderTitle({ titles }, { x, y, width, height }));
  expect(covered).toEqual([true, false]);
});

test.each([0.25, 0.3, 0.38, 0.44])("at zoom %d no group's title covers its first child's", (zoom) => {
  for (const name of ["enc", "encoder", "encoder_layer_of_a_large_model"]) {
    for (let left = 4; left < 300; left += 12) {
      for (const top of [2, 8, 16, 24, 40]) {
        const scene = makeScene([
          { path: name, open: true, at: [0, 0, 400, 300] },
          { path: "MatMul", parent: 0, at: [left, top, 90, 40] },
        ]);
        const [title] = titlesAt(zoom, scene);
        const { ground, text } = title;
        const covers =
          left < ground.x + ground.width && ground.x < left + 90 && top < ground.y + ground.height;
        // a few letters must have room beside it
        const letters = Math.floor(((left - 20) * zoom - 12) / (7 * LETTER));
        if (covers) expect(letters).toBeLessThan(6);
        else expect(name.startsWith(text.replace("…", ""))).toBe(true);
      }
    }
  }
});

test("from afar a repeat is called by its name and the number of its repetitions", () => {
  const texts: Face["texts"] = [
    [14, 15, "layers", "title", "start"],
    [190, 15, "×12", "title", "end"],
    [14, 30, "Transformer block", "title-muted", "start"],
  ];
  const scene = makeScene([
    { path: "layers", open: true, at: [0, 0, 400, 300], face: { width: 204, texts } },
  ]);
  expect(titlesAt(0.25, scene).map(({ text }) => text)).toEqual(["layers ×12"]);
});

test("the title of an inner group stands beside that of the group around it", () => {
  expect(titlesAt(0.4).map(({ text }) => text)).toEqual(["encoder", "layer"]);
});

test("titles lie on no other title; the outer group's comes first", () => {
  for (const zoom of [0.03, 0.06, 0.1, 0.2, 0.4]) {
    const titles = titlesAt(zoom);
    if (titles.length > 0) expect(titles[0].box).toBe(0);
    for (const { ground } of titles) {
      expect(ground.height).toBeLessThanOrEqual(100);
      const others = titles.filter((other) => other.ground !== ground);
      expect(isUnderTitle({ titles: others }, ground)).toBe(false);
    }
  }
  expect(titlesAt(0.03)).toEqual([]); // smaller than what could be read
});

test("a window that moves without zooming places only the titles that come into it", () => {
  const picker = new Picker(nested);
  const asked = vi.spyOn(picker, "boxesIn");
  const titles = new Titles(nested, picker, measure);
  const place = (boxes: number[], zoom: number) =>
    titles.place({ boxes, positions: nested.boxes, zoom, motion: null });
  const outer = place([0], 0.4);
  const both = place([0, 1], 0.4);
  expect(both[0]).toBe(outer[0]);
  expect(both).toEqual(titlesAt(0.4));
  const needed = asked.mock.calls.length;
  expect(place([0, 1], 0.4)).toEqual(both);
  expect(asked.mock.calls.length).toBe(needed);
  expect(place([0, 1], 0.3)).toEqual(titlesAt(0.3));
});

test("titles are written in the same few fonts at every zoom", () => {
  const fonts = new Set<unknown>();
  for (let zoom = 0.11; zoom < 0.45; zoom *= 1.03) {
    const known: Record<string, unknown> = { fillText: () => fonts.add(known.font) };
    const context = new Proxy(known, {
      get: (all, name: string) => all[name] ?? (() => undefined),
    }) as unknown as CanvasRenderingContext2D;
    drawTitles({
      ...{ context, scene: nested, palette: paletteOf("light"), zoom, titles: titlesAt(zoom) },
      ...{ motion: null },
    } as unknown as Pass);
  }
  expect(fonts.size).toBeGreaterThan(0);
  expect(fonts.size).toBeLessThanOrEqual(3);
});

/** Strokes of a canvas that only notes them. */
function strokesOf(changes: Partial<Pass>): Array<{ colour: string; width: number; alpha: number }> {
  const strokes: Array<{ colour: string; width: number; alpha: number }> = [];
  const nothing = () => undefined;
  const context = {
    ...{ beginPath: nothing, moveTo: nothing, lineTo: nothing, bezierCurveTo: nothing },
    ...{ setLineDash: nothing, closePath: nothing, fill: nothing },
    ...{ strokeStyle: "", fillStyle: "", lineWidth: 0, globalAlpha: 1 },
    stroke() {
      strokes.push({ colour: this.strokeStyle, width: this.lineWidth, alpha: this.globalAlpha });
    },
  };
  const scene = makeScene([{ path: "a" }, { path: "b" }], [["x", 0, 1]]);
  drawEdges({
    ...{ context: context as unknown as CanvasRenderingContext2D, scene, emphasis: noEmphasis(), paints: NO_PAINTS },
    ...{ palette: paletteOf("light"), motion: null, positions: scene.boxes, zoom: 1, share: 1 },
    ...{ part: { x: 0, y: 0, width: 1000, height: 1000 }, detail: "blocks", titles: [] },
    ...{ boxes: [], edges: [0], ports: [], isLit: false },
    ...changes,
  } as Pass, changes.zoom !== undefined && changes.zoom < 0.01);
  return strokes;
}

test.each([1, 0.2, 0.05, 0.003])("lit edges stay wide and strong at zoom %d", (zoom) => {
  const [lit] = strokesOf({ zoom, isLit: true });
  const [usual] = strokesOf({ zoom });
  expect(lit.width * zoom).toBeGreaterThanOrEqual(1.3);
  expect(lit.colour).toBe(paletteOf("light").accent);
  expect(lit.alpha).toBe(1);
  expect(usual.colour).toBe(paletteOf("light").edge);
  if (zoom < 1) expect(lit.width).toBeGreaterThan(usual.width * 2);
});

test("a shortened range ends with one ellipsis", () => {
  expect(elide("layers.0 … 2702 ×2,703", 0.5)).toBe("layers.0…");
  expect(elide("self_attention", 0.5)).toBe("self_a…");
  expect(elide("self_attention", 1)).toBe("self_attention");
});
