/** Where something stands in a scene. */

import {
  type Point,
  type Rectangle,
  boxRectangle,
  edgeBounds,
  middleOfEdge,
} from "../scene/geometry";
import type { Paths, Scene } from "../scene/scene";
import type { Target } from "./go_to";
import { titlePoint } from "./motion";

/** What begins so near to the first box stands in one row with it. */
const FIRST_ROW = 40;

/** Where a path stands in the scene: a box's title, a row, the middle of an edge. */
export function findPoint(scene: Scene, path: string): Point | null {
  const box = scene.boxesAt(path)[0];
  if (box !== undefined) return titlePoint(scene, box);
  const row = scene.rowsAt(path)[0];
  if (row) {
    const { x, y } = boxRectangle(scene, row.box);
    const [left, top, bottom] = row.target;
    return { x: x + (left + scene.faceOf(row.box).width) / 2, y: y + (top + bottom) / 2 };
  }
  const edge = scene.edgesAt(path)[0];
  return edge === undefined ? null : middleOfEdge(scene, edge);
}

/** What paths take in the scene: their boxes, or else all of their edges. */
export function boundsOf(scene: Scene, at: Paths): Rectangle | null {
  const boxes = [...scene.boxesAt(at), ...scene.rowsAt(at).map(({ box }) => box)];
  const parts = boxes.map((box) => boxRectangle(scene, box));
  if (parts.length === 0) parts.push(...scene.edgesAt(at).map((e) => edgeBounds(scene, e)));
  if (parts.length === 0) return null;
  const { x, y, width, height } = around(parts);
  return { x, y, width: Math.max(width, 1), height: Math.max(height, 1) };
}

/** What is gone to at some paths: of one open group all of it, of a value where it is seen. */
export function targetOf(scene: Scene, at: Paths): Target | null {
  const paths = typeof at === "string" ? [at] : at;
  const targets = paths.flatMap((path) => targetAt(scene, path) ?? []);
  if (targets.length < 2) return targets[0] ?? null;
  return { part: around(targets.map(({ part }) => part)), begin: targets[0].begin };
}

function targetAt(scene: Scene, path: string): Target | null {
  const box = scene.boxesAt(path)[0] ?? scene.rowsAt(path)[0]?.box;
  if (box !== undefined) return targetOfBox(scene, box);
  const point = findPoint(scene, path);
  return point && { part: { ...point, width: 0, height: 0 }, begin: point };
}

/** A box as what is gone to; an open one begins where what is inside begins. */
export function targetOfBox(scene: Scene, box: number): Target {
  const part = boxRectangle(scene, box);
  const first = scene.isOpen(box) ? firstOf(scene, scene.childrenOf(box)) : undefined;
  const { x, y, width, height } = first === undefined ? part : boxRectangle(scene, first);
  return { part, begin: { x: x + width / 2, y: y + height / 2 } };
}

/** The box of some that begins first along the graph's direction. */
function firstOf(scene: Scene, boxes: Iterable<number>): number | undefined {
  const along = scene.direction === "TB" ? 1 : 0;
  let first: number | undefined;
  for (const box of boxes) {
    if (first === undefined || scene.boxes[box * 4 + along] < scene.boxes[first * 4 + along]) {
      first = box;
    }
  }
  return first;
}

function around(parts: readonly Rectangle[]): Rectangle {
  const x = Math.min(...parts.map((part) => part.x));
  const y = Math.min(...parts.map((part) => part.y));
  const width = Math.max(...parts.map((part) => part.x + part.width)) - x;
  const height = Math.max(...parts.map((part) => part.y + part.height)) - y;
  return { x, y, width, height };
}

/**
 * Where the graph begins: the middle of as many of its first boxes as a window can show.
 *
 * @param reach how much of the scene the window shows across the graph's direction
 */
export function startOf(scene: Scene, reach: number): Point {
  const [along, across] = scene.direction === "TB" ? [1, 0] : [0, 1];
  const outermost = [...scene.childrenOf(-1)];
  const first = firstOf(scene, outermost);
  if (first === undefined) return { x: scene.width / 2, y: scene.height / 2 };
  const { boxes } = scene;
  const start = boxes[first * 4 + along];
  const beginning = outermost
    .filter((box) => boxes[box * 4 + along] <= start + FIRST_ROW)
    .map((box) => [boxes[box * 4 + across], boxes[box * 4 + across] + boxes[box * 4 + 2 + across]])
    .sort((one, other) => one[0] - other[0]);
  const middle = middleOfMost(beginning, reach);
  const depth = start + boxes[first * 4 + 2 + along] / 2;
  return scene.direction === "TB" ? { x: middle, y: depth } : { x: depth, y: middle };
}

/** The middle of as many stretches as lie within so much; of the first ones where several do. */
function middleOfMost(stretches: readonly number[][], reach: number): number {
  let best = [0, 0];
  for (let low = 0, high = 0; low < stretches.length; low++) {
    high = Math.max(high, low);
    while (high + 1 < stretches.length && stretches[high + 1][1] - stretches[low][0] <= reach) high++;
    if (low === 0 || high - low > best[1] - best[0]) best = [low, high];
  }
  return (stretches[best[0]][0] + stretches[best[1]][1]) / 2;
}
