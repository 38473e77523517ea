/** Finds what is to be marked for a path: boxes, rows on faces, edges. */

import type { Paths, Scene } from "../scene/scene";
import type { Marks } from "./pass";

export function markSelection(marks: Marks, scene: Scene, at: Paths): void {
  const found = scene.boxesAt(at);
  marks.boxes = new Set(found);
  marks.edges = new Set(scene.edgesAt(at));
  for (const box of found) for (const edge of scene.edgesOf(box)) marks.edges.add(edge);
  marks.rows = scene.rowsAt(at).map(({ box, target }) => [box, target[0], target[1]]);
}

export function markHover(marks: Marks, scene: Scene, at: Paths): void {
  const found = scene.boxesAt(at);
  marks.hoverBoxes = new Set(found);
  marks.hoverEdges = new Set(scene.edgesAt(at));
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
