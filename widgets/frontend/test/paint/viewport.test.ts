import { describe, expect, test } from "vitest";
import {
  READABLE_ZOOM,
  between,
  centreOn,
  firstView,
  fitWhole,
  keepInSight,
  panBy,
  toScene,
  toWindow,
  visiblePart,
  zoomAt,
} from "../../src/paint/viewport";

const SIZE = { width: 1000, height: 560 };
test("window and scene coordinates are each other's inverse", () => {
  const view = { x: 12, y: -7, zoom: 0.4 };
  const there = toScene(view, toWindow(view, { x: 31, y: 47 }));
  expect(there.x).toBeCloseTo(31);
  expect(there.y).toBeCloseTo(47);
});

test("zooming keeps the point under the pointer and stays in its limits", () => {
  const view = { x: 100, y: 200, zoom: 0.5 };
  const pivot = { x: 300, y: 120 };
  const nearer = zoomAt(view, pivot, 1.7);
  expect(nearer.zoom).toBeCloseTo(0.85);
  expect(toScene(nearer, pivot).x).toBeCloseTo(toScene(view, pivot).x);
  expect(toScene(nearer, pivot).y).toBeCloseTo(toScene(view, pivot).y);
  expect(zoomAt(view, pivot, 1e9).zoom).toBe(4);
  expect(zoomAt(view, pivot, 1e-9).zoom).toBeGreaterThan(0);
});

test("panning moves by pixels of the window", () => {
  expect(panBy({ x: 0, y: 0, zoom: 0.5 }, 10, -20)).toEqual({ x: -20, y: 40, zoom: 0.5 });
});

test("fitting shows the whole scene, never enlarged", () => {
  const view = fitWhole({ x: 0, y: 0, width: 4000, height: 1000 }, SIZE);
  expect(toWindow(view, { x: 0, y: 0 }).x).toBeGreaterThanOrEqual(0);
  expect(toWindow(view, { x: 4000, y: 1000 }).x).toBeLessThanOrEqual(1000);
  expect(fitWhole({ x: 0, y: 0, width: 50, height: 50 }, SIZE).zoom).toBe(1);
});

describe("the first view", () => {
  test("shows a small scene whole", () => {
    const view = firstView({ width: 300, height: 300 }, SIZE, "TB", { x: 150, y: 0 });
    expect(view.zoom).toBe(1);
    expect(toWindow(view, { x: 150, y: 0 }).x).toBeCloseTo(500);
  });
  test("fits a tall scene to its width and begins at the top", () => {
    const view = firstView({ width: 1500, height: 9000 }, SIZE, "TB", { x: 700, y: 0 });
    expect(view.zoom).toBeCloseTo(952 / 1500);
    const top = toWindow(view, { x: 0, y: 0 }).y;
    expect(top).toBeGreaterThan(0);
    expect(top).toBeLessThan(80);
  });
  test("never gets unreadable: it shows where a wide scene begins", () => {
    const view = firstView({ width: 30_000, height: 9000 }, SIZE, "TB", { x: 21_000, y: 0 });
    expect(view.zoom).toBe(READABLE_ZOOM);
    expect(toWindow(view, { x: 21_000, y: 0 }).x).toBeCloseTo(500);
  });
  test("runs along x from left to right", () => {
    const view = firstView({ width: 9000, height: 400 }, SIZE, "LR", { x: 0, y: 150 });
    expect(view.zoom).toBe(1);
    expect(toWindow(view, { x: 0, y: 0 }).x).toBeCloseTo(24);
  });
});

test("the scene cannot be pushed out of sight", () => {
  const scene = { width: 400, height: 300 };
  const lost = keepInSight({ x: 99_999, y: -99_999, zoom: 1 }, scene, SIZE);
  expect(toWindow(lost, { x: 400, y: 0 }).x).toBeCloseTo(60);
  expect(toWindow(lost, { x: 0, y: 0 }).y).toBeCloseTo(500);
  const fine = { x: -10, y: 5, zoom: 1 };
  expect(keepInSight(fine, scene, SIZE)).toEqual(fine);
});

test("a glide ends where it should", () => {
  const from = { x: 0, y: 0, zoom: 1 };
  const to = centreOn({ x: 900, y: 900 }, SIZE, 0.25);
  expect(between(from, to, 1)).toEqual(to);
  expect(between(from, to, 0.5).zoom).toBeCloseTo(0.5);
});

test("a picture of any length is shown whole, and zooming leads there and back", () => {
  const scene = { x: 0, y: 0, width: 900, height: 60_000_000 };
  const whole = fitWhole(scene, SIZE);
  const part = visiblePart(whole, SIZE);
  expect(part.y).toBeLessThanOrEqual(0);
  expect(part.y + part.height).toBeGreaterThanOrEqual(scene.height);
  const middle = { x: SIZE.width / 2, y: SIZE.height / 2 };
  expect(zoomAt(whole, middle, 1.25, whole.zoom).zoom).toBeCloseTo(whole.zoom * 1.25, 12);
  expect(zoomAt(whole, middle, 0.5, whole.zoom).zoom).toBe(whole.zoom);
});
