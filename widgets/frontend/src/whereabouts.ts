/** Where something stands in a scene. */

import { titlePoint } from "./motion";
import { boxRectangle, edgeBounds, middleOfEdge } from "./pick";
import type { Paths, Scene } from "./scene";
import type { Point, Rectangle } from "./viewport";

/** Where a path stands in the scene: a box's title, a row, the middle of an edge. */
export function findPoint(scene: Scene, path: string): Point | null {
  const box = scene.boxesAt(path)[0];
  if (box !== undefined) return titlePoint(scene, box);
  const row = scene.rowsAt(path)[0];
  if (row) {
    const { x, y } = boxRectangle(scene, row.box);
    const [top, bottom] = row.target;
    return { x: x + scene.faceOf(row.box).width / 2, y: y + (top + bottom) / 2 };
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
  const x = Math.min(...parts.map((part) => part.x));
  const y = Math.min(...parts.map((part) => part.y));
  const width = Math.max(...parts.map((part) => part.x + part.width)) - x;
  const height = Math.max(...parts.map((part) => part.y + part.height)) - y;
  return { x, y, width: Math.max(width, 1), height: Math.max(height, 1) };
}

/** Centre of the boxes with which the graph begins. */
export function startOf(scene: Scene): Point {
  const along = scene.direction === "TB" ? 1 : 0;
  let first = Infinity;
  for (let box = 0; box < scene.boxCount; box++) {
    if (scene.parentOf(box) < 0) first = Math.min(first, scene.boxes[box * 4 + along]);
  }
  let left = Infinity;
  let top = Infinity;
  let right = -Infinity;
  let bottom = -Infinity;
  for (let box = 0; box < scene.boxCount; box++) {
    if (scene.parentOf(box) >= 0 || scene.boxes[box * 4 + along] > first + 40) continue;
    const { x, y, width, height } = boxRectangle(scene, box);
    left = Math.min(left, x);
    top = Math.min(top, y);
    right = Math.max(right, x + width);
    bottom = Math.max(bottom, y + height);
  }
  if (left > right) return { x: scene.width / 2, y: scene.height / 2 };
  return { x: (left + right) / 2, y: (top + bottom) / 2 };
}
