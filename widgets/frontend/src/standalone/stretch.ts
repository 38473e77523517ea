/**
 * Room for boxes that have grown, everything in the same order: the same as `stretch` of
 * explorer/layout/layout_stability.py for a whole level.
 */

import type { Places } from "./arrange";
import type { Curves } from "./curves";
import { Growth, splitBent } from "./growth";

/**
 * @param before width and height of each box in `places`
 * @param after the same afterwards, nowhere smaller
 */
export function stretch(places: Places, before: Float64Array, after: Float64Array): Places {
  const across = new Growth();
  const down = new Growth();
  for (let k = 0; k < before.length; k += 2) {
    across.add(places.boxes[k], before[k], after[k]);
    down.add(places.boxes[k + 1], before[k + 1], after[k + 1]);
  }
  if (across.isEmpty && down.isEmpty) return places;
  const curves = splitBent(places.edges, across, down);
  const move = (points: Float64Array): Float64Array =>
    points.map((place, k) => (k % 2 === 0 ? across : down).move(place));
  const boxes = move(places.boxes);
  let [left, top] = [across.move(0), down.move(0)];
  let [right, bottom] = [across.move(places.width), down.move(places.height)];
  for (let k = 0; k < boxes.length; k += 2) {
    left = Math.min(left, boxes[k] - after[k] / 2);
    right = Math.max(right, boxes[k] + after[k] / 2);
    top = Math.min(top, boxes[k + 1] - after[k + 1] / 2);
    bottom = Math.max(bottom, boxes[k + 1] + after[k + 1] / 2);
  }
  const shifted = (points: Float64Array): Float64Array =>
    points.map((place, k) => place - (k % 2 === 0 ? left : top));
  return {
    width: right - left,
    height: bottom - top,
    boxes: shifted(boxes),
    inputs: shifted(move(places.inputs)),
    outputs: shifted(move(places.outputs)),
    edges: { points: shifted(move(curves.points)), starts: curves.starts },
  };
}

/**
 * Draw wires that ran as one and do not any more where that one ran, and the reverse.
 *
 * @param isDrawn whether each wire has a line of its own
 */
export function drawAlike(
  edges: Curves,
  sources: Int32Array,
  targets: Int32Array,
  isDrawn: (wire: number) => boolean,
): Curves {
  const count = sources.length;
  const pointsOf = (wire: number): Float64Array =>
    edges.points.subarray(2 * edges.starts[wire], 2 * edges.starts[wire + 1]);
  let isSame = true;
  const known = new Map<string, Float64Array>();
  for (let wire = 0; wire < count; wire++) {
    const points = pointsOf(wire);
    const ends = `${sources[wire]} ${targets[wire]}`;
    if (points.length > 0 && !known.has(ends)) known.set(ends, points);
    if (points.length > 0 !== isDrawn(wire)) isSame = false;
  }
  if (isSame) return edges;
  const starts = new Int32Array(count + 1);
  const found: Float64Array[] = [];
  for (let wire = 0; wire < count; wire++) {
    let points = isDrawn(wire) ? pointsOf(wire) : NOTHING;
    if (isDrawn(wire) && points.length === 0) {
      points = known.get(`${sources[wire]} ${targets[wire]}`) ?? NOTHING;
    }
    found.push(points);
    starts[wire + 1] = starts[wire] + points.length / 2;
  }
  const points = new Float64Array(2 * starts[count]);
  found.forEach((part, wire) => points.set(part, 2 * starts[wire]));
  return { points, starts };
}

const NOTHING = new Float64Array(0);
