/** Walking over a Scene with the arrow keys: along edges, through the walls of open groups. */

import type { Scene } from "./wire";
import { boxRectangle } from "./pick";

export type Arrow = "ArrowUp" | "ArrowDown" | "ArrowLeft" | "ArrowRight";
type Step = "forward" | "back" | "before" | "after";

const STEPS: Record<"TB" | "LR", Record<Arrow, Step>> = {
  TB: { ArrowDown: "forward", ArrowUp: "back", ArrowLeft: "before", ArrowRight: "after" },
  LR: { ArrowRight: "forward", ArrowLeft: "back", ArrowUp: "before", ArrowDown: "after" },
};

/**
 * The box that an arrow key leads to from another; undefined where there is none.
 *
 * @param came the box that was selected before: where the way back is one of several, it wins
 */
export function walkFrom(scene: Scene, box: number, arrow: Arrow, came = -1): number | undefined {
  const step = STEPS[scene.direction][arrow];
  if (step === "before" || step === "after") return sibling(scene, box, step);
  const reached = neighbours(scene, box, step);
  if (reached.includes(came)) return came;
  return nearest(scene, box, reached);
}

/** The boxes at the other ends of the edges that leave (forward) or enter (back) a box. */
export function neighbours(scene: Scene, box: number, step: "forward" | "back"): number[] {
  const reached = new Set<number>();
  const seen = new Set<number>();
  const pending: number[] = [];
  for (const edge of scene.edgesOf(box)) {
    if (nearEnd(scene, edge, step) === box && !isInside(scene, edge, box)) pending.push(edge);
  }
  while (pending.length > 0) {
    const edge = pending.pop()!;
    if (seen.has(edge)) continue;
    seen.add(edge);
    const end = farEnd(scene, edge, step);
    if (end < 0) continue;
    const inside = isInside(scene, edge, end);
    if (!inside && !scene.isOpen(end)) {
      reached.add(end);
      continue;
    }
    // At a wall: go on with the edges that leave its other side from the same place.
    const onward = [...scene.edgesOf(end)].filter(
      (next) =>
        nearEnd(scene, next, step) === end &&
        isInside(scene, next, end) !== inside &&
        meet(scene, edge, next, step),
    );
    if (onward.length > 0) pending.push(...onward);
    else if (!inside) reached.add(end);
  }
  reached.delete(box);
  return [...reached];
}

/** The first box to select: the outermost one nearest to where the graph begins. */
export function firstBox(scene: Scene): number | undefined {
  let first: number | undefined;
  for (let box = 0; box < scene.boxCount; box++) {
    if (scene.parentOf(box) < 0 && (first === undefined || rank(scene, box) < rank(scene, first))) {
      first = box;
    }
  }
  return first;
}

/** The first box at the end (forward) or the beginning (back) of a value's edges. */
export function endOf(scene: Scene, path: string, step: "forward" | "back"): number | undefined {
  const ends = new Set<number>();
  for (const edge of scene.edgesAt(path)) {
    const end = farEnd(scene, edge, step);
    if (end >= 0 && !isInside(scene, edge, end)) ends.add(end);
  }
  const closed = [...ends].filter((end) => !scene.isOpen(end));
  const candidates = closed.length > 0 ? closed : [...ends];
  return candidates.sort((a, b) => rank(scene, a) - rank(scene, b))[0];
}

function nearEnd(scene: Scene, edge: number, step: "forward" | "back"): number {
  return step === "forward" ? scene.sourceOf(edge) : scene.targetOf(edge);
}

function farEnd(scene: Scene, edge: number, step: "forward" | "back"): number {
  return step === "forward" ? scene.targetOf(edge) : scene.sourceOf(edge);
}

/** Whether an edge at an open box runs inside its wall: the other end is one of its children. */
function isInside(scene: Scene, edge: number, box: number): boolean {
  const source = scene.sourceOf(edge);
  const target = scene.targetOf(edge);
  if (source === target) return scene.isOpen(box);
  const other = source === box ? target : source;
  return other >= 0 && scene.parentOf(other) === box;
}

/** Whether one edge ends where the next begins, or both carry the same value. */
function meet(scene: Scene, edge: number, next: number, step: "forward" | "back"): boolean {
  if (scene.edgePath(edge) === scene.edgePath(next)) return true;
  const [end, begin] =
    step === "forward"
      ? [scene.pointsEnd(edge) - 2, scene.pointsStart(next)]
      : [scene.pointsStart(edge), scene.pointsEnd(next) - 2];
  const { points } = scene;
  return (
    Math.abs(points[end] - points[begin]) < 1 && Math.abs(points[end + 1] - points[begin + 1]) < 1
  );
}

/** How far along the graph's direction a box begins. */
function rank(scene: Scene, box: number): number {
  return scene.boxes[box * 4 + (scene.direction === "TB" ? 1 : 0)];
}

function middleAcross(scene: Scene, box: number): number {
  const { x, y, width, height } = boxRectangle(scene, box);
  return scene.direction === "TB" ? x + width / 2 : y + height / 2;
}

function nearest(scene: Scene, box: number, candidates: number[]): number | undefined {
  const middle = middleAcross(scene, box);
  const distance = (other: number): number =>
    Math.abs(middleAcross(scene, other) - middle) +
    Math.abs(rank(scene, other) - rank(scene, box)) / 4;
  return candidates.sort((a, b) => distance(a) - distance(b) || a - b)[0];
}

function sibling(scene: Scene, box: number, step: "before" | "after"): number | undefined {
  const parent = scene.parentOf(box);
  const along = scene.direction === "TB" ? 1 : 0;
  const start = rank(scene, box);
  const end = start + scene.boxes[box * 4 + 2 + along];
  const middle = middleAcross(scene, box);
  let found: number | undefined;
  let distance = Infinity;
  for (let other = 0; other < scene.boxCount; other++) {
    if (other === box || scene.parentOf(other) !== parent) continue;
    const begins = rank(scene, other);
    const ends = begins + scene.boxes[other * 4 + 2 + along];
    if (ends <= start || begins >= end) continue;
    const away = (middleAcross(scene, other) - middle) * (step === "after" ? 1 : -1);
    if (away > 0 && away < distance) {
      found = other;
      distance = away;
    }
  }
  return found;
}
