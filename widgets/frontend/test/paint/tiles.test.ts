/** Bitmaps of a large scene: painted in small steps, reused, and stood in for until they are there. */

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { NO_PAINTS } from "../../src/paint/paints";
import { paletteOf } from "../../src/paint/theme";
import { Tiles } from "../../src/paint/tiles";
import { Picker } from "../../src/scene/pick";
import { makeScene } from "../small";

const SIZE = { width: 1000, height: 800 };
const ACROSS = 120;
const STEP = 300;
const SIDE = ACROSS * STEP;

/** A canvas that counts what is asked of it; the clock ticks by one for each box or line. */
let made: Array<{ width: number; height: number; drawn: number }>;
let clock: number;

beforeEach(() => {
  made = [];
  clock = 0;
  vi.spyOn(performance, "now").mockImplementation(() => clock);
  vi.stubGlobal("document", {
    createElement: () => {
      const canvas = { width: 0, height: 0, drawn: 0, getContext: () => context };
      const count = () => {
        canvas.drawn++;
        clock++;
      };
      const known: Record<string, unknown> = { rect: count, moveTo: count, roundRect: count };
      const context = new Proxy(known, {
        get: (all, name: string) => all[name] ?? (() => undefined),
      });
      made.push(canvas);
      return canvas;
    },
  });
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

function manyBoxes() {
  const boxes = Array.from({ length: ACROSS * ACROSS }, (_, k) => ({
    path: `n${k}`,
    at: [(k % ACROSS) * STEP, Math.floor(k / ACROSS) * STEP, 200, 100] as [number, number, number, number],
  }));
  const edges = boxes.slice(1).map((_, k) => [`e${k}`, k, k + 1] as [string, number, number]);
  const scene = makeScene(boxes, edges, { width: SIDE, height: SIDE });
  return new Tiles(scene, new Picker(scene), paletteOf("light"), NO_PAINTS);
}

const at = (x: number, y: number, zoom: number) => ({ x, y, zoom });

/** The parts that a frame is put together from: how wide each is in its bitmap. */
function drawnFrom(tiles: Tiles, view: ReturnType<typeof at>): Array<{ from: unknown; width: number }> {
  const parts: Array<{ from: unknown; width: number }> = [];
  const context = {
    drawImage: (from: { width: number }, ...numbers: number[]) =>
      parts.push({ from, width: numbers.length === 8 ? numbers[2] : from.width }),
  };
  tiles.draw(context as unknown as CanvasRenderingContext2D, view, SIZE, 1);
  return parts;
}

test("no step between two looks at the clock paints more than a small part of a scene", () => {
  const tiles = manyBoxes();
  const view = at(0, 0, 0.1);
  let most = 0;
  let frames = 0;
  for (let more = true; more; frames++) {
    const before = clock;
    more = tiles.work(view, SIZE, 1, clock + 1);
    most = Math.max(most, clock - before);
  }
  expect(made.reduce((sum, { drawn }) => sum + drawn, 0)).toBeGreaterThan(2 * ACROSS * ACROSS);
  expect(most).toBeLessThan((ACROSS * ACROSS) / 20);
  expect(frames).toBeGreaterThan(50);
});

test("a window that wanders over the scene takes the bitmaps of tiles that are far behind", () => {
  const tiles = manyBoxes();
  const zooms = [0.1, 0.2];
  for (const zoom of zooms) {
    for (let y = 0; y < SIDE; y += SIZE.height / zoom) {
      for (let x = 0; x < SIDE; x += SIZE.width / zoom) {
        while (tiles.work(at(x, y, zoom), SIZE, 1, clock + 1e6));
      }
    }
  }
  const bitmaps = made.filter(({ width }) => width === 512).length;
  const needed = zooms.reduce((sum, zoom) => sum + ((SIDE * zoom) / 512) ** 2, 0);
  expect(bitmaps).toBeLessThanOrEqual(96);
  expect(needed).toBeGreaterThan(1.2 * bitmaps);
});

test("until its tiles are painted a window that zooms in shows those that it came from", () => {
  const tiles = manyBoxes();
  const [far, near] = [at(3000, 3000, 0.125), at(3500, 3500, 0.25)];
  while (tiles.work(far, SIZE, 1, clock + 1e6));
  const tilesOfFar = new Set(drawnFrom(tiles, far).map(({ from }) => from));
  const parts = drawnFrom(tiles, near);
  expect(parts.length).toBeGreaterThan(0);
  for (const { from, width } of parts) {
    expect(tilesOfFar).toContain(from);
    expect(width).toBe(256);
  }
});

test("until its tiles are painted a window that zooms out shows those that it came from", () => {
  const tiles = manyBoxes();
  const [near, far] = [at(3500, 3500, 0.25), at(3000, 3000, 0.125)];
  while (tiles.work(near, SIZE, 1, clock + 1e6));
  const tilesOfNear = new Set(drawnFrom(tiles, near).map(({ from }) => from));
  const instead = drawnFrom(tiles, far).filter(({ from }) => tilesOfNear.has(from));
  expect(instead).toHaveLength(tilesOfNear.size);
});
