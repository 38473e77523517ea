/**
 * Pills: what a paint says of a box, on the box's border where no arrow ends and no label is.
 *
 * Pictures have them at the same places: explorer/render/pills.py.
 */

import { ARROW, type Scene } from "../scene/scene";
import sizes from "../scene/sizes";
import { elide } from "./text";

/** Between an arrow or a label and a pill. */
const GAP = 2;
/** An arrow that ends so near to a box's upper border ends there. */
const NEAR = 1.5;
/** What a text is made of, the most important first. */
const BETWEEN_PARTS = / · |; /g;

/** Where a pill is, from the left of its box: its right end, its text, and on which border. */
export interface Pill {
  readonly right: number;
  readonly width: number;
  readonly text: string;
  readonly isBelow: boolean;
}

/** From where to where a border is taken, from the left of its box. */
type Interval = readonly [number, number];

/** Where the borders of a box are taken by ends of arrows and by labels of edges. */
export interface Taken {
  readonly upper: readonly Interval[];
  readonly lower: readonly Interval[];
}

type Measure = (text: string) => number;

const NOTHING: Taken = { upper: [], lower: [] };
const known = new WeakMap<Scene, ReadonlyMap<number, Taken>>();

/** Where the borders of a box are taken. */
export function takenAt(scene: Scene, box: number, measure: Measure): Taken {
  let found = known.get(scene);
  if (!found) {
    found = findTaken(scene, measure);
    known.set(scene, found);
  }
  return found.get(box) ?? NOTHING;
}

function findTaken(scene: Scene, measure: Measure): Map<number, Taken> {
  const found = new Map<number, { upper: Interval[]; lower: Interval[] }>();
  const bordersOf = (box: number): { upper: Interval[]; lower: Interval[] } => {
    let borders = found.get(box);
    if (!borders) found.set(box, (borders = { upper: [], lower: [] }));
    return borders;
  };
  const clear = sizes.edge.arrow_half_width + GAP;
  const labels: Array<{ x: number; y: number; reach: number }> = [];
  for (let edge = 0; edge < scene.edgeCount; edge++) {
    const label = scene.edgeLabel(edge);
    if (label) {
      const reach = measure(label) / 2 + sizes.edge_label.padding + GAP;
      labels.push({ x: scene.labels[edge * 2], y: scene.labels[edge * 2 + 1], reach });
    }
    const box = scene.targetOf(edge);
    const end = scene.pointsEnd(edge);
    if (box < 0 || !(scene.edgeFlags(edge) & ARROW) || end - scene.pointsStart(edge) < 8) continue;
    if (Math.abs(scene.points[end - 1] - scene.boxes[box * 4 + 1]) >= NEAR) continue;
    const place = scene.points[end - 2] - scene.boxes[box * 4];
    bordersOf(box).upper.push([place - clear, place + clear]);
  }
  labels.sort((one, other) => one.y - other.y);
  // a pill is as high as a label, and lies across the border
  const across = 1.5 * sizes.edge_label.height;
  for (let box = 0; labels.length && box < scene.boxCount; box++) {
    const [x, y, width, height] = scene.boxes.subarray(box * 4, box * 4 + 4);
    for (const border of ["upper", "lower"] as const) {
      const middle = border === "upper" ? y : y + height;
      for (let at = firstBelow(labels, middle - across); at < labels.length; at++) {
        const label = labels[at];
        if (label.y >= middle + across) break;
        const [start, stop] = [label.x - label.reach - x, label.x + label.reach - x];
        if (stop > 0 && start < width) bordersOf(box)[border].push([start, stop]);
      }
    }
  }
  return found;
}

/** The place of the first label that is not above a height. */
function firstBelow(labels: ReadonlyArray<{ y: number }>, height: number): number {
  let [low, high] = [0, labels.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (labels[middle].y < height) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Where the pill of a box goes; null where it has no room for words.
 *
 * Where all room at the upper border is too narrow, it is on the lower one, at which edges only begin.
 *
 * @param text what it says: parts, of which the last ones are left out where there is no room
 * @param right where it ends at the latest
 * @param taken where arrows end and labels are, none of which is covered
 * @param measure the width of a text
 */
export function placePill(text: string, right: number, taken: Taken, measure: Measure): Pill | null {
  const padding = 2 * sizes.edge_label.padding;
  const widthOf = (version: string): number => measure(version) + padding;
  const versions = [text];
  for (const { index } of [...text.matchAll(BETWEEN_PARTS)].reverse()) {
    versions.push(text.slice(0, index));
  }
  const borders = taken.upper.length ? [taken.upper, taken.lower] : [taken.upper];
  let widest = { room: 0, end: right, isBelow: false };
  for (const [place, intervals] of borders.entries()) {
    const isBelow = place > 0;
    const gaps = listGaps(sizes.paint.inset, right, intervals);
    for (const version of versions) {
      const width = widthOf(version);
      const gap = gaps.find(([start, end]) => width <= end - start + 0.5);
      if (gap) return { right: gap[1], width, text: version, isBelow };
    }
    for (const [start, end] of gaps) {
      if (end - start > widest.room) widest = { room: end - start, end, isBelow };
    }
  }
  const shown = elide(text, (widest.room - padding) / measure(text));
  if (!shown) return null;
  return { right: widest.end, width: widthOf(shown), text: shown, isBelow: widest.isBelow };
}

/** From where to where nothing is, the place at the right first. */
function listGaps(left: number, right: number, taken: readonly Interval[]): Interval[] {
  const gaps: Interval[] = [];
  let end = right;
  for (const [start, stop] of [...taken].sort((one, other) => other[1] - one[1])) {
    gaps.push([Math.max(left, stop), end]);
    end = Math.min(end, start);
  }
  return [...gaps, [left, end]];
}
