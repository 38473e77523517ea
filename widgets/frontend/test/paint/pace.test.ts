/** How much of a frame goes into bitmaps follows from how long frames take. */

import { expect, test } from "vitest";
import { Pace } from "../../src/paint/pace";

/** Frames that paint, each so many milliseconds after the one before; the time of the last. */
function lastOf(pace: Pace, frames: number, interval: number, isMoving = true, from = 0): number {
  let time = 0;
  for (let k = 0; k < frames; k++) {
    time = pace.begin(from + k * interval, isMoving);
    pace.painted(from + k * interval);
  }
  return time;
}

test("less is painted while frames take long, and more again when there is room", () => {
  const pace = new Pace();
  const first = pace.begin(0, true);
  pace.painted(0);
  expect(pace.begin(45, true)).toBeLessThan(first);
  const slow = lastOf(pace, 20, 45, true, 100);
  expect(slow).toBeLessThan(first / 4);
  expect(lastOf(pace, 20, 10, true, 2000)).toBeGreaterThan(first);
});

test("however long or short frames are, something is painted and never too much", () => {
  const least = lastOf(new Pace(), 500, 1000);
  const most = lastOf(new Pace(), 500, 1);
  expect(least).toBeGreaterThan(0);
  expect(most).toBeLessThan(16);
  expect(lastOf(new Pace(), 1000, 1000)).toBe(least);
  expect(lastOf(new Pace(), 1000, 1)).toBe(most);
});

test("a window that rests may wait longer for the next frame than one that moves", () => {
  expect(lastOf(new Pace(), 30, 33, false)).toBeGreaterThan(lastOf(new Pace(), 30, 33, true));
});

test("the time since a frame that painted nothing tells nothing", () => {
  const pace = new Pace();
  const first = pace.begin(0, true);
  expect(pace.begin(5000, true)).toBe(first);
  expect(pace.begin(10_000, true)).toBe(first);
});
