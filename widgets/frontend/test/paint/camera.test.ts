import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Arrival, Camera } from "../../src/paint/camera";
import { toWindow } from "../../src/paint/viewport";
import type { Rectangle } from "../../src/scene/geometry";
import { Picker } from "../../src/scene/pick";
import type { Scene } from "../../src/scene/scene";
import { makeScene } from "../small";

const SIZE = { width: 800, height: 600 };
/** A chain of four boxes far longer than the window is high, and the same one with another end. */
const BOXES = ["a", "b", "c", "d"].map((path, k) => ({
  path,
  at: [460, k * 900, 80, 20] as [number, number, number, number],
}));
const TALL = { width: 1000, height: 3000 };
const LONGER = [...BOXES, { path: "e", at: [460, 3600, 80, 20] as [number, number, number, number] }];

let covers: Rectangle[];
let redraw: ReturnType<typeof vi.fn>;
let camera: Camera;
let prefersStill: boolean;

beforeEach(() => {
  covers = [];
  prefersStill = false;
  redraw = vi.fn();
  vi.stubGlobal("matchMedia", () => ({ matches: prefersStill }));
  const context = { measureText: (text: string) => ({ width: 6 * text.length }) };
  vi.stubGlobal("document", { createElement: () => ({ getContext: () => context }) });
  camera = new Camera(() => covers, () => ({ x: 0, y: 0, width: 0, height: 0 }), redraw);
});

afterEach(() => vi.unstubAllGlobals());

function show(scene: Scene, arrival: Arrival = {}): void {
  camera.show(scene, new Picker(scene), arrival);
}

/** Let the time pass that the window takes to get anywhere. */
function arrive(): void {
  camera.step(performance.now() + 10_000);
}

test("a scene shown while there is no window is opened once there is one", () => {
  show(makeScene(BOXES, [], TALL));
  expect(camera.isHidden).toBe(true);
  camera.resize(SIZE);
  const opened = camera.view;
  const other = new Camera(() => [], () => ({ x: 0, y: 0, width: 0, height: 0 }), redraw);
  other.resize(SIZE);
  const scene = makeScene(BOXES, [], TALL);
  other.show(scene, new Picker(scene), {});
  expect(opened).toEqual(other.view);
  expect(camera.locate("a")).not.toBeNull();
});

test("an untouched first view is made anew for each size of the window", () => {
  camera.resize(SIZE);
  show(makeScene(BOXES, [], TALL));
  const first = camera.view;
  camera.resize({ width: 300, height: 200 });
  expect(camera.view).not.toEqual(first);
  camera.resize(SIZE);
  expect(camera.view).toEqual(first);
});

test("after a move the middle across stays where it is when the window's width changes", () => {
  camera.resize(SIZE);
  show(makeScene(BOXES, [], TALL));
  camera.pan(-10, -300);
  const before = camera.view;
  camera.resize({ width: 400, height: 600 });
  const middle = (width: number, { x, zoom }: { x: number; zoom: number }): number =>
    x + width / 2 / zoom;
  expect(middle(400, camera.view)).toBeCloseTo(middle(800, before));
  expect(camera.view.y).toBe(before.y);
});

test("the window glides to a box, and says beforehand where it will stand", () => {
  camera.resize(SIZE);
  show(makeScene(BOXES, [], TALL));
  const before = camera.view;
  expect(camera.locate("d")).toBeNull();
  camera.jumpTo(3);
  expect(camera.view).toEqual(before);
  expect(camera.isMoving).toBe(true);
  const place = camera.locate("d");
  expect(place).not.toBeNull();
  const wanted = camera.destination;
  arrive();
  expect(camera.isMoving).toBe(false);
  expect(camera.view).toEqual(wanted);
  expect(camera.locate("d")).toEqual(place);
});

test("who asked for less motion is there at once", () => {
  prefersStill = true;
  camera.resize(SIZE);
  show(makeScene(BOXES, [], TALL));
  camera.jumpTo(3);
  expect(camera.isMoving).toBe(false);
  expect(camera.locate("d")).not.toBeNull();
});

test("another scene keeps the box that was named where it is on the screen", () => {
  camera.resize(SIZE);
  const scene = makeScene(BOXES, [], TALL);
  show(scene);
  camera.centreOnPoint({ x: 450, y: 950 });
  const place = camera.locate("b");
  expect(place).not.toBeNull();
  const moved = LONGER.map(({ path, at: [x, y, width, height] }) => ({
    path,
    at: [x + 200, y + 70, width, height] as [number, number, number, number],
  }));
  show(makeScene(moved, [], { width: 1400, height: 3800 }), { anchor: "b" });
  arrive();
  expect(camera.locate("b")?.x).toBeCloseTo(place!.x);
  expect(camera.locate("b")?.y).toBeCloseTo(place!.y);
});

test("the place that a scene comes with goes before all others", () => {
  camera.resize(SIZE);
  show(makeScene(BOXES, [], TALL));
  const view = { x: 300, y: 1700, zoom: 0.8 };
  show(makeScene(LONGER, [], TALL), { view, center: "a", anchor: "b", fit: true });
  arrive();
  expect(camera.view).toEqual(view);
});

test("what is gone to stands beside what lies over the window", () => {
  camera.resize(SIZE);
  show(makeScene(BOXES, [], TALL));
  covers = [{ x: 0, y: 0, width: 500, height: 600 }];
  camera.zoomTo("c");
  const box = camera.boundsOf("c")!;
  expect(box.x).toBeGreaterThan(500);
  expect(box.x + box.width).toBeLessThan(800);
  const { x, y } = toWindow(camera.destination, { x: 460, y: 1800 });
  expect([box.x, box.y]).toEqual([x, y]);
});

test("a window that has left its scene goes nowhere any more", () => {
  camera.resize(SIZE);
  show(makeScene(BOXES, [], TALL));
  camera.leave();
  redraw.mockClear();
  const before = camera.view;
  camera.pan(10, 10);
  camera.fit();
  camera.jumpTo(2);
  expect(camera.view).toEqual(before);
  expect(camera.locate("a")).toBeNull();
  expect(redraw).not.toHaveBeenCalled();
});
