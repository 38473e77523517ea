import { describe, expect, test } from "vitest";
import { bringIn, putInMiddle, roomBeside } from "../../src/paint/go_to";
import { startOf, targetOf } from "../../src/paint/locate";
import { READABLE_ZOOM, type Viewport, toWindow } from "../../src/paint/viewport";
import type { Rectangle } from "../../src/scene/geometry";
import { OPEN } from "../../src/scene/scene";
import { makeScene } from "../small";

const SIZE = { width: 1000, height: 560 };
const ROOM = { x: 20, y: 50, width: 960, height: 490 };
const HERE: Viewport = { x: 0, y: 0, zoom: 1 };

function onScreen(view: Viewport, { x, y, width, height }: Rectangle): Rectangle {
  const at = toWindow(view, { x, y });
  return { ...at, width: width * view.zoom, height: height * view.zoom };
}

function isInside(inner: Rectangle, outer: Rectangle): boolean {
  return (
    inner.x >= outer.x - 0.6 &&
    inner.y >= outer.y - 0.6 &&
    inner.x + inner.width <= outer.x + outer.width + 0.6 &&
    inner.y + inner.height <= outer.y + outer.height + 0.6
  );
}

function at(x: number, y: number, width: number, height: number) {
  return { part: { x, y, width, height }, begin: { x: x + width / 2, y: y + 10 } };
}

describe("the room that is left", () => {
  test("is the whole window but for its edges where nothing lies over it", () => {
    expect(roomBeside(SIZE, [])).toEqual({ x: 12, y: 12, width: 976, height: 536 });
  });
  test("begins below bars along the top and beside a list on the left", () => {
    const toolbar = { x: 700, y: 8, width: 292, height: 32 };
    const search = { x: 8, y: 8, width: 280, height: 32 };
    const list = { x: 8, y: 44, width: 340, height: 420 };
    expect(roomBeside(SIZE, [toolbar, search]).y).toBe(52);
    const room = roomBeside(SIZE, [toolbar, search, list]);
    expect(room.x).toBe(360);
    expect(room.y).toBe(52);
    expect(room.x + room.width).toBe(988);
  });
  test("knows nothing of what is hidden or outside", () => {
    const hidden = { x: 0, y: 0, width: 0, height: 0 };
    const outside = { x: 0, y: 700, width: 1000, height: 100 };
    expect(roomBeside(SIZE, [hidden, outside])).toEqual(roomBeside(SIZE, []));
  });
  test("is never nothing", () => {
    const everything = { x: 0, y: 0, ...SIZE };
    expect(roomBeside(SIZE, [everything])).toEqual(roomBeside(SIZE, []));
  });
});

describe("what is opened", () => {
  test("stays where it is while it is seen whole", () => {
    expect(bringIn(HERE, at(100, 100, 300, 200), ROOM)).toEqual(HERE);
  });
  test("is moved no more than it takes", () => {
    const { part, begin } = at(100, 400, 300, 300);
    const view = bringIn(HERE, { part, begin }, ROOM);
    expect(view.zoom).toBe(1);
    expect(view.x).toBe(0);
    expect(onScreen(view, part).y + 300).toBeCloseTo(540);
  });
  test("is shown smaller where it does not fit, never tiny", () => {
    const { part, begin } = at(0, 0, 1200, 700);
    const view = bringIn(HERE, { part, begin }, ROOM);
    expect(isInside(onScreen(view, part), ROOM)).toBe(true);
    expect(view.zoom).toBeCloseTo(490 / 700);
    const long = at(0, 0, 900, 9000);
    const begun = bringIn(HERE, long, ROOM);
    expect(begun.zoom).toBe(1);
    expect(onScreen(begun, long.part).y).toBeCloseTo(ROOM.y);
    expect(onScreen(begun, long.part).x).toBeGreaterThanOrEqual(ROOM.x - 0.6);
  });
  test("shows its beginning where it is far too wide", () => {
    const wide = { part: { x: 0, y: 0, width: 20_000, height: 9000 }, begin: { x: 12_000, y: 40 } };
    const view = bringIn({ x: 300, y: 4000, zoom: 0.8 }, wide, ROOM);
    expect(view.zoom).toBeGreaterThanOrEqual(0.4);
    const begin = toWindow(view, wide.begin);
    expect(begin.x).toBeCloseTo(ROOM.x + ROOM.width / 2);
    expect(onScreen(view, wide.part).y).toBeCloseTo(ROOM.y);
  });
  test("is not enlarged by that", () => {
    expect(bringIn({ ...HERE, zoom: 0.2 }, at(0, 0, 10, 10), ROOM).zoom).toBe(0.2);
  });
});

describe("what is gone to", () => {
  test("stands in the middle of the room, large enough to be read", () => {
    const { part, begin } = at(5000, 7000, 200, 100);
    const view = putInMiddle({ ...HERE, zoom: 0.1 }, { part, begin }, ROOM);
    const { x, y, width, height } = onScreen(view, part);
    expect(view.zoom).toBe(0.6);
    expect(x + width / 2).toBeCloseTo(500);
    expect(y + height / 2).toBeCloseTo(295);
  });
  test("is whole where it fits, also when one looked closely before", () => {
    const { part, begin } = at(0, 0, 900, 600);
    const view = putInMiddle({ x: 0, y: 0, zoom: 4 }, { part, begin }, ROOM);
    expect(isInside(onScreen(view, part), ROOM)).toBe(true);
  });
  test("shows its beginning where it does not fit", () => {
    const { part, begin } = at(0, 0, 1500, 30_000);
    const view = putInMiddle({ ...HERE, y: 9000 }, { part, begin }, ROOM);
    expect(view.zoom).toBeGreaterThanOrEqual(READABLE_ZOOM);
    expect(onScreen(view, part).y).toBeCloseTo(ROOM.y);
    expect(onScreen(view, part).x).toBeGreaterThanOrEqual(ROOM.x - 0.6);
  });
});

test("of several things all is gone to, of an open group where what is inside begins", () => {
  const scene = makeScene([
    { path: "a", at: [0, 0, 80, 20] },
    { path: "g", at: [200, 100, 3000, 900], flags: OPEN },
    { path: "late", at: [210, 700, 80, 20], parent: 1 },
    { path: "early", at: [2000, 150, 80, 20], parent: 1 },
  ]);
  expect(targetOf(scene, ["a", "g"])?.part).toEqual({ x: 0, y: 0, width: 3200, height: 1000 });
  expect(targetOf(scene, "g")?.begin).toEqual({ x: 2040, y: 160 });
  expect(targetOf(scene, "nothing")).toBeNull();
});

test("a flat picture begins where there are boxes, not between them", () => {
  const first = [0, 9000, 9100, 9200].map((x, k) => ({ path: `x${k}`, at: [x, 0, 80, 20] as [number, number, number, number] }));
  const scene = makeScene([...first, { path: "y", at: [4000, 200, 80, 20] }], [], { width: 9300 });
  // the middle of all of them, which was gone to before, is empty
  expect(startOf(scene, 1000)).toEqual({ x: 9140, y: 10 });
  expect(startOf(scene, 10_000)).toEqual({ x: 4640, y: 10 });
  expect(startOf(makeScene([]), 100)).toEqual({ x: 500, y: 500 });
});
