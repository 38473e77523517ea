/** Finds what is to be marked for a path: boxes, rows on faces, edges. */

import type { Marks } from "./picture";
import type { Scene } from "./scene";

export function markSelection(marks: Marks, scene: Scene, path: string): void {
  const found = path ? scene.boxesAt(path) : [];
  marks.boxes = new Set(found);
  marks.edges = new Set(path ? scene.edgesAt(path) : []);
  for (const box of found) for (const edge of scene.edgesOf(box)) marks.edges.add(edge);
  const rows = path ? scene.rowsAt(path) : [];
  marks.rows = rows.map(({ box, target }) => [box, target[0], target[1]]);
}

export function markHover(marks: Marks, scene: Scene, path: string): void {
  const found = path ? scene.boxesAt(path) : [];
  marks.hoverBoxes = new Set(found);
  marks.hoverEdges = new Set(path ? scene.edgesAt(path) : []);
  for (const box of found) {
    if (!scene.isOpen(box)) for (const edge of scene.edgesOf(box)) marks.hoverEdges.add(edge);
  }
}

export function markHits(
  marks: Marks,
  scene: Scene,
  paths: Iterable<string>,
  current: string | null,
): void {
  marks.hits = new Set();
  for (const path of paths) for (const box of scene.boxesAt(path)) marks.hits.add(box);
  marks.currentHit = current === null ? -1 : (scene.boxesAt(current)[0] ?? -1);
}
