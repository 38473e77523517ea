/** Finds what is to be marked for a path: boxes, rows on faces, edges. */

import type { Paths, Scene } from "../scene/scene";
import type { Emphasis } from "./pass";

export function markSelection(emphasis: Emphasis, scene: Scene, at: Paths): void {
  const found = scene.boxesAt(at);
  emphasis.boxes = new Set(found);
  emphasis.edges = new Set(scene.edgesAt(at));
  for (const box of found) for (const edge of scene.edgesOf(box)) emphasis.edges.add(edge);
  emphasis.rows = scene.rowsAt(at).map(({ box, target }) => [box, target[0], target[1], target[2]]);
}

export function markHover(emphasis: Emphasis, scene: Scene, at: Paths): void {
  const found = scene.boxesAt(at);
  emphasis.hoverBoxes = new Set(found);
  emphasis.hoverEdges = new Set(scene.edgesAt(at));
  for (const box of found) {
    if (!scene.isOpen(box)) for (const edge of scene.edgesOf(box)) emphasis.hoverEdges.add(edge);
  }
}

export function markHits(
  emphasis: Emphasis,
  scene: Scene,
  paths: Iterable<string>,
  current: string | null,
): void {
  emphasis.hits = new Set();
  for (const path of paths) for (const box of scene.boxesAt(path)) emphasis.hits.add(box);
  emphasis.currentHit = current === null ? -1 : (scene.boxesAt(current)[0] ?? -1);
}
