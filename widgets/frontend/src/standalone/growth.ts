/**
 * Room for boxes that have grown: how coordinates along one axis move. The same as
 * explorer/layout/growth.py; tests/standalone/test_composition.py compares both.
 */

import { type Curves, countPieces } from "./curves";

/** into so many parts a piece of a curve is cut where only a part of it is stretched */
const PARTS = 4;

/**
 * Where coordinates go when boxes along an axis get other sizes, one after the other: a piecewise
 * linear function, of slope 1 but within boxes that have another size.
 */
export class Growth {
  private old: number[] = [];
  private moved: number[] = [];

  get isEmpty(): boolean {
    return this.old.length === 0;
  }

  /** Let a box around a place, by its coordinate before any growth, have another size. */
  add(centre: number, before: number, after: number): void {
    if (before === after || before <= 0) return;
    const start = this.move(centre) - before / 2;
    const end = start + before;
    const first = bisectLeft(this.moved, start);
    const last = bisectLeft(this.moved, end);
    const [from, to] = [this.find(start), this.find(end)];
    this.old.splice(last, 0, to);
    this.old.splice(first, 0, from);
    this.moved.splice(last, 0, end);
    this.moved.splice(first, 0, start);
    const slope = (after - before) / before;
    for (let k = first; k < this.moved.length; k++) {
      this.moved[k] += Math.min(Math.max(this.moved[k] - start, 0), before) * slope;
    }
  }

  /** Where a coordinate is afterwards. */
  move(place: number): number {
    return follow(place, this.old, this.moved);
  }

  /** Whether a span has a place inside at which the slope changes. */
  bends(low: number, high: number): boolean {
    return bisectRight(this.old, low) < bisectLeft(this.old, high);
  }

  private find(place: number): number {
    return follow(place, this.moved, this.old);
  }
}

function follow(place: number, from: readonly number[], to: readonly number[]): number {
  const count = from.length;
  if (count === 0) return place;
  if (place <= from[0]) return to[0] + place - from[0];
  if (place >= from[count - 1]) return to[count - 1] + place - from[count - 1];
  const k = bisectRight(from, place);
  const width = from[k] - from[k - 1];
  return to[k - 1] + ((to[k] - to[k - 1]) * (place - from[k - 1])) / width;
}

/** The first place in ascending numbers where one is not below a number. */
function bisectLeft(numbers: readonly number[], wanted: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The first place in ascending numbers where one is above a number. */
function bisectRight(numbers: readonly number[], wanted: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] <= wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Cut the pieces of curves that growth bends, so that they keep to their way: a piece is moved by
 * its control points, as if these were on it, which is nearly so where it is short.
 */
export function splitBent(curves: Curves, across: Growth, down: Growth): Curves {
  const { points, starts } = curves;
  const bent: boolean[] = [];
  let more = 0;
  for (let edge = 0; edge + 1 < starts.length; edge++) {
    for (let piece = 0; piece < countPieces(curves, edge); piece++) {
      const at = 2 * (starts[edge] + 3 * piece);
      let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
      for (let k = at; k < at + 8; k += 2) {
        left = Math.min(left, points[k]);
        right = Math.max(right, points[k]);
        top = Math.min(top, points[k + 1]);
        bottom = Math.max(bottom, points[k + 1]);
      }
      bent.push(across.bends(left, right) || down.bends(top, bottom));
      if (bent[bent.length - 1]) more += 3 * (PARTS - 1);
    }
  }
  if (more === 0) return curves;
  const found = new Float64Array(points.length + 2 * more);
  const ends = new Int32Array(starts.length);
  let [write, number] = [0, 0];
  for (let edge = 0; edge + 1 < starts.length; edge++) {
    ends[edge] = write / 2;
    if (starts[edge] === starts[edge + 1]) continue;
    found[write++] = points[2 * starts[edge]];
    found[write++] = points[2 * starts[edge] + 1];
    for (let piece = 0; piece < countPieces(curves, edge); piece++) {
      const at = 2 * (starts[edge] + 3 * piece);
      const parts = bent[number++] ? PARTS : 1;
      for (let part = 0; part < parts; part++) {
        const [begin, end] = [part / parts, (part + 1) / parts];
        write = addPoint(found, write, points, at, begin, begin, end);
        write = addPoint(found, write, points, at, begin, end, end);
        write = addPoint(found, write, points, at, end, end, end);
      }
    }
  }
  ends[starts.length - 1] = write / 2;
  return { points: found, starts: ends };
}

/** Write a point of the blossom of a Bézier piece (Ramshaw 1987); return where the next goes. */
function addPoint(
  found: Float64Array,
  write: number,
  points: Float64Array,
  at: number,
  r: number,
  s: number,
  t: number,
): number {
  for (const axis of [0, 1]) {
    const [a, b, c, d] = [0, 2, 4, 6].map((step) => points[at + step + axis]);
    const [e, f, g] = [mix(a, b, r), mix(b, c, r), mix(c, d, r)];
    found[write++] = mix(mix(e, f, s), mix(f, g, s), t);
  }
  return write;
}

function mix(a: number, b: number, t: number): number {
  return a * (1 - t) + b * t;
}
