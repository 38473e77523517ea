/**
 * Edges that end at circles: what goes around the main stream reaches them from the side. The
 * same as explorer/layout/circles.py.
 */

import type { Level } from "./arrange";
import { evaluate } from "./curves";

const APPROACH = 8;
/** points on the last piece of an edge by which it is found whether it would strike a box, */
const STEPS = 16;
/** which it may touch by so much */
const TOUCH = 2;

/** @param axis that along which the sides are: 0 where values flow down, 1 to the right */
export function endAtSides(
  points: Float64Array,
  starts: Int32Array,
  boxes: Float64Array,
  { targets, rounds }: Level,
  axis: number,
): void {
  const along = 1 - axis;
  for (let edge = 0; edge < targets.length; edge++) {
    const target = targets[edge];
    if (target < 0 || !rounds[target] || starts[edge] === starts[edge + 1]) continue;
    const head = 2 * (starts[edge + 1] - 1);
    const radius = boxes[4 * target + 2] / 2;
    const middle = [boxes[4 * target] + radius, boxes[4 * target + 1] + radius];
    const before = [points[head - 6 + axis] - middle[axis], points[head - 4 + axis] - middle[axis]];
    const aside = Math.abs(before[1]) > Math.abs(before[0]) ? before[1] : before[0];
    if (Math.abs(aside) < radius + APPROACH || points[head - 6 + along] > middle[along]) continue;
    const sign = Math.sign(aside);
    const piece = points.slice(head - 6, head + 2);
    piece[6 + axis] = middle[axis] + sign * radius;
    piece[6 + along] = middle[along];
    piece[4 + axis] = piece[6 + axis] + sign * Math.max((Math.abs(aside) - radius) / 2, APPROACH);
    piece[4 + along] = piece[6 + along];
    if (!strikes(piece, boxes, target)) points.set(piece, head - 6);
  }
}

/** Whether a Bézier piece runs through a box that is not the one it leads to. */
function strikes(piece: Float64Array, boxes: Float64Array, target: number): boolean {
  const places = Array.from({ length: STEPS + 1 }, (_, step) => [
    evaluate(piece, 0, step / STEPS),
    evaluate(piece, 1, step / STEPS),
  ]);
  const xs = [0, 2, 4, 6].map((k) => piece[k]);
  const ys = [1, 3, 5, 7].map((k) => piece[k]);
  const [left, right, top, bottom] = [
    ...[Math.min(...xs), Math.max(...xs)],
    ...[Math.min(...ys), Math.max(...ys)],
  ];
  for (let box = 0; 4 * box < boxes.length; box++) {
    if (box === target) continue;
    const [x0, y0] = [boxes[4 * box] + TOUCH, boxes[4 * box + 1] + TOUCH];
    const x1 = boxes[4 * box] + boxes[4 * box + 2] - TOUCH;
    const y1 = boxes[4 * box + 1] + boxes[4 * box + 3] - TOUCH;
    if (right <= x0 || left >= x1 || bottom <= y0 || top >= y1) continue;
    for (let k = 0; k < STEPS; k++) {
      const [[ax, ay], [bx, by]] = [places[k], places[k + 1]];
      if (Math.max(ax, bx) <= x0 || Math.min(ax, bx) >= x1) continue;
      if (Math.max(ay, by) > y0 && Math.min(ay, by) < y1) return true;
    }
  }
  return false;
}
