/**
 * Pills: what a paint says of a box, on the box's border where no arrow ends and no label is.
 *
 * Pictures have them at the same places: explorer/render/pills.py.
 */

import { ARROW, type Scene } from "../scene/scene";
import { TEXT_STYLES } from "../scene/face";
import sizes from "../scene/sizes";
import { arrowOf, findArrowHead } from "./draw_edges";
import { elide } from "./text";

/** Between an arrow or a label and a pill. */
const GAP = 2;
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

/** What a pill must not cover. */
interface Spot {
  readonly top: number;
  readonly bottom: number;
  readonly left: number;
  readonly right: number;
}

/** What is where a pill would be takes the border, whichever box it belongs to. */
function findTaken(scene: Scene, measure: Measure): Map<number, Taken> {
  const found = new Map<number, { upper: Interval[]; lower: Interval[] }>();
  const spots = listSpots(scene, measure).sort((one, other) => one.top - other.top);
  const highest = Math.max(0, ...new Set(spots.map((spot) => spot.bottom - spot.top)));
  const { height: pill } = sizes.pill;
  for (let box = 0; spots.length && box < scene.boxCount; box++) {
    const [x, y, width, height] = scene.boxes.subarray(box * 4, box * 4 + 4);
    for (const border of ["upper", "lower"] as const) {
      // at the upper border it is higher where a box is open, and lower in a stack
      const low = border === "upper" ? y - pill : y + height - sizes.paint.dip;
      const high = border === "upper" ? y + pill : low + pill;
      for (let at = firstBelow(spots, low - highest); at < spots.length; at++) {
        const spot = spots[at];
        if (spot.top >= high) break;
        const [start, stop] = [spot.left - GAP - x, spot.right + GAP - x];
        if (spot.bottom <= low || stop <= 0 || start >= width) continue;
        let borders = found.get(box);
        if (!borders) found.set(box, (borders = { upper: [], lower: [] }));
        borders[border].push([start, stop]);
      }
    }
  }
  return found;
}

/** Where heads of arrows and labels of edges are. */
function listSpots(scene: Scene, measure: Measure): Spot[] {
  const spots: Spot[] = [];
  const scale = TEXT_STYLES.label[0] / TEXT_STYLES.badge[0]; // texts are measured as on pills
  for (let edge = 0; edge < scene.edgeCount; edge++) {
    const head = scene.edgeFlags(edge) & ARROW ? findArrowHead(scene, edge, 1, arrowOf(scene, edge)) : null;
    if (head) {
      const [xs, ys] = [head.map(([x]) => x), head.map(([, y]) => y)];
      spots.push({
        ...{ top: Math.min(...ys), bottom: Math.max(...ys) },
        ...{ left: Math.min(...xs), right: Math.max(...xs) },
      });
    }
    const label = scene.edgeLabel(edge);
    if (!label) continue;
    const [x, y] = [scene.labels[edge * 2], scene.labels[edge * 2 + 1]];
    const across = (measure(label) * scale) / 2 + sizes.edge_label.padding;
    const half = sizes.edge_label.height / 2;
    spots.push({ top: y - half, bottom: y + half, left: x - across, right: x + across });
  }
  return spots;
}

/** The place of the first spot that is not above a height. */
function firstBelow(spots: readonly Spot[], height: number): number {
  let [low, high] = [0, spots.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (spots[middle].top < height) low = middle + 1;
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
  const padding = 2 * sizes.pill.padding;
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
