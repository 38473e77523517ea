import { expect, test } from "vitest";

import { type PlacedPair, align } from "../../src/panes/align";

const SIZE = { width: 800, height: 600 };
const at = (x: number, y: number): { x: number; y: number; zoom: number } => ({ x, y, zoom: 0.5 });
const pair = (x: number, y: number, dx: number, dy: number): PlacedPair => ({
  from: { x, y },
  to: { x: x + dx, y: y + dy },
});

test("the same picture stands at the same place", () => {
  const pairs = [pair(0, 0, 0, 0), pair(100, 400, 0, 0)];
  expect(align(at(30, 170), SIZE, pairs, null)).toEqual(at(30, 170));
  expect(align(at(30, 170), SIZE, [], null)).toEqual(at(30, 170));
});

test("what is in the middle is in the middle of the other window", () => {
  const pairs = [pair(0, 0, 50, 0), pair(0, 1000, 50, 900)];
  const top = align(at(0, 0), SIZE, pairs, null);
  expect(top.x).toBeCloseTo(50);
  expect(top.y).toBeCloseTo(0, 2);
  expect(align(at(0, 1000), SIZE, pairs, null).y).toBeCloseTo(1900, 2);
  expect(top.zoom).toBe(0.5);
});

test("the other window never jumps while this one moves steadily", () => {
  const pairs = [pair(0, 0, 0, 0), pair(0, 300, 0, 200), pair(0, 600, 0, 1000)];
  let before = align(at(0, 0), SIZE, pairs, null).y;
  for (let y = 1; y <= 600; y++) {
    const now = align(at(0, y), SIZE, pairs, null).y;
    expect(Math.abs(now - before)).toBeLessThan(20);
    expect(now).toBeGreaterThan(before);
    before = now;
  }
});

test("a selection in the window stands at the same place, and lets go of it outside", () => {
  const pairs = [pair(0, 0, 0, 0)];
  const selected = pair(200, 300, 500, 70);
  expect(align(at(100, 200), SIZE, pairs, selected)).toEqual(at(600, 270));
  // the window is 1,600 by 1,200 of the scene here
  expect(align(at(2000, 0), SIZE, pairs, selected)).toEqual(at(2000, 0));
  const edge = align(at(950, 300), SIZE, pairs, selected);
  expect(edge.x).toBeGreaterThan(950);
  expect(edge.x).toBeLessThan(1450);
});
