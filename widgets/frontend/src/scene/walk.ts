/** Walking over a Scene with the arrow keys: along edges, through the walls of open groups. */

import { boxRectangle } from "./geometry";
import type { Step as EdgeStep, Routes } from "./routes";
import { STUB, type Paths, type Scene } from "./scene";

export type Arrow = "ArrowUp" | "ArrowDown" | "ArrowLeft" | "ArrowRight";
type Step = EdgeStep | "before" | "after";

const STEPS: Record<Scene["direction"], Record<Arrow, Step>> = {
  TB: { ArrowDown: "forward", ArrowUp: "back", ArrowLeft: "before", ArrowRight: "after" },
  LR: { ArrowRight: "forward", ArrowLeft: "back", ArrowUp: "before", ArrowDown: "after" },
};

/**
 * The box that an arrow key leads to from another; undefined where there is none.
 *
 * @param came the box that was selected before: where the way back is one of several, it wins
 */
export function walkFrom(
  routes: Routes,
  box: number,
  arrow: Arrow,
  came = -1,
): number | undefined {
  const { scene } = routes;
  const step = STEPS[scene.direction][arrow];
  if (step === "before" || step === "after") return sibling(scene, box, step);
  // an open group is entered, and left the way one came in
  if (step === "forward" && scene.isOpen(box)) {
    const inner = firstBox(scene, box);
    if (inner !== undefined) return inner;
  }
  if (step === "back" && came >= 0 && scene.parentOf(box) === came) return came;
  const reached = neighbours(routes, box, step);
  if (reached.includes(came)) return came;
  return nearest(scene, box, reached);
}

/** The boxes at the other ends of the edges that leave (forward) or enter (back) a box. */
export function neighbours(routes: Routes, box: number, step: EdgeStep): number[] {
  const { scene } = routes;
  const reached = new Set<number>();
  const pending = routes.edgesFrom(box, step);
  const seen = new Set(pending);
  while (pending.length > 0) {
    const edge = pending.pop()!;
    const end = routes.farEnd(edge, step);
    if (end < 0) continue;
    // one can stand on a stub; from there the jumps along its value lead on
    const stub = (scene.flagsOf(end) & STUB) !== 0;
    const onward = stub ? null : routes.onward(edge, step);
    if (onward === null) reached.add(end);
    for (const next of onward ?? []) {
      if (seen.has(next)) continue;
      seen.add(next);
      pending.push(next);
    }
  }
  reached.delete(box);
  return [...reached];
}

/** The first box in an open one (-1: in the graph), where what is in it begins; no stubs. */
export function firstBox(scene: Scene, around = -1): number | undefined {
  let first: number | undefined;
  for (const box of scene.childrenOf(around)) {
    if (around >= 0 && (scene.flagsOf(box) & STUB) !== 0) continue;
    if (first === undefined || rank(scene, box) < rank(scene, first)) first = box;
  }
  return first;
}

/** The first box at the end (forward) or the beginning (back) of the edges of values. */
export function endOf(routes: Routes, at: Paths, step: EdgeStep): number | undefined {
  const { scene } = routes;
  const ends = new Set<number>();
  for (const edge of scene.edgesAt(at)) {
    const end = routes.farEnd(edge, step);
    if (end >= 0 && !routes.isInside(edge, end)) ends.add(end);
  }
  const closed = [...ends].filter((end) => !scene.isOpen(end));
  const candidates = closed.length > 0 ? closed : [...ends];
  return candidates.sort((a, b) => rank(scene, a) - rank(scene, b))[0];
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
  for (const other of scene.childrenOf(parent)) {
    if (other === box) continue;
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
