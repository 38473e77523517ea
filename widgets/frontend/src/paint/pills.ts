/**
 * Pills: what a paint says of a box, on the box's border where no arrow ends.
 *
 * Pictures have them at the same places: explorer/render/pills.py.
 */

import { ARROW, type Scene } from "../scene/scene";
import sizes from "../scene/sizes";
import { elide } from "./text";

/** Between an arrow and a pill. */
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

const known = new WeakMap<Scene, ReadonlyMap<number, readonly number[]>>();

/** Where arrows end at the upper border of a box, from its left. */
export function arrowsAt(scene: Scene, box: number): readonly number[] {
  let found = known.get(scene);
  if (!found) {
    found = findArrows(scene);
    known.set(scene, found);
  }
  return found.get(box) ?? [];
}

function findArrows(scene: Scene): Map<number, number[]> {
  const found = new Map<number, number[]>();
  for (let edge = 0; edge < scene.edgeCount; edge++) {
    const box = scene.targetOf(edge);
    const end = scene.pointsEnd(edge);
    if (box < 0 || !(scene.edgeFlags(edge) & ARROW) || end - scene.pointsStart(edge) < 8) continue;
    if (Math.abs(scene.points[end - 1] - scene.boxes[box * 4 + 1]) >= NEAR) continue;
    const place = scene.points[end - 2] - scene.boxes[box * 4];
    const places = found.get(box);
    if (places) places.push(place);
    else found.set(box, [place]);
  }
  return found;
}

/**
 * Where the pill of a box goes; null where it has no room for words.
 *
 * Where all room between arrows is too narrow, it is on the lower border, at which edges only begin.
 *
 * @param text what it says: parts, of which the last ones are left out where there is no room
 * @param right where it ends at the latest
 * @param arrows where arrows end at the upper border, none of which is covered
 * @param measure the width of a text
 */
export function placePill(
  text: string,
  right: number,
  arrows: readonly number[],
  measure: (text: string) => number,
): Pill | null {
  const padding = 2 * sizes.edge_label.padding;
  const widthOf = (version: string): number => measure(version) + padding;
  const versions = [text];
  for (const { index } of [...text.matchAll(BETWEEN_PARTS)].reverse()) {
    versions.push(text.slice(0, index));
  }
  const left = sizes.paint.inset;
  const gaps = listGaps(left, right, arrows);
  for (const version of versions) {
    const width = widthOf(version);
    const gap = gaps.find(([start, end]) => width <= end - start + 0.5);
    if (gap) return { right: gap[1], width, text: version, isBelow: false };
  }
  const isBelow = arrows.length > 0;
  const fitting = isBelow && versions.find((version) => widthOf(version) <= right - left + 0.5);
  const shown = fitting || elide(text, (right - left - padding) / measure(text));
  return shown ? { right, width: widthOf(shown), text: shown, isBelow } : null;
}

/** From where to where no arrow ends, the place at the right first. */
function listGaps(left: number, right: number, arrows: readonly number[]): Array<[number, number]> {
  const clear = sizes.edge.arrow_half_width + GAP;
  const gaps: Array<[number, number]> = [];
  let end = right;
  for (const arrow of [...arrows].sort((one, other) => other - one)) {
    gaps.push([Math.max(left, arrow + clear), end]);
    end = Math.min(end, arrow - clear);
  }
  return [...gaps, [left, end]];
}
