/** What is upstream and downstream of something drawn, and what lies between two of them. */

import type { Step, Routes } from "./routes";
import { STUB, type Paths, type Scene } from "./scene";

/** What is lit: 1 for each box and each edge that belongs to it. */
export interface Lit {
  boxes: Uint8Array;
  edges: Uint8Array;
  /** 1 for each box that is lit or has something lit inside */
  around: Uint8Array;
  /** closed boxes that are lit, stubs left out */
  count: number;
}

export type TraceKind = "up" | "down" | "both" | "between";

/** What is traced: one thing, or two for what lies between them. */
export interface Trace {
  readonly kind: TraceKind;
  readonly path: Paths;
  readonly other?: Paths;
}

/**
 * Light up what a trace asks for; null where one of its paths is not drawn.
 *
 * A closed group counts as one box: what enters it reaches all that leaves it. So a bundle
 * counts as one edge.
 */
export function light(routes: Routes, trace: Trace): Lit | null {
  const { scene } = routes;
  const from = seedsOf(scene, trace.path);
  if (!from) return null;
  if (trace.kind === "between") {
    const to = seedsOf(scene, trace.other ?? "");
    if (!to) return null;
    return either(
      scene,
      both(spread(routes, from, "forward"), spread(routes, to, "back")),
      both(spread(routes, to, "forward"), spread(routes, from, "back")),
    );
  }
  const up = trace.kind === "down" ? null : spread(routes, from, "back");
  const down = trace.kind === "up" ? null : spread(routes, from, "forward");
  if (up && down) return either(scene, up, down);
  return counted(scene, (up ?? down)!);
}

/** Where a trace begins: boxes, and edges where the path is a value's. */
interface Seeds {
  boxes: readonly number[];
  /** boxes with the path on a row: only what is downstream of them follows */
  rows: readonly number[];
  edges: readonly number[];
}

/** What a path means in the picture; the nearest group around it where it is hidden. */
function seedsOf(scene: Scene, at: Paths): Seeds | null {
  const boxes = scene.boxesAt(at);
  const rows = scene.rowsAt(at).map(({ box }) => box);
  const edges = scene.edgesAt(at);
  if (boxes.length > 0 || rows.length > 0 || edges.length > 0) {
    return { boxes, rows, edges };
  }
  const path = typeof at === "string" ? at : (at[0] ?? "");
  for (let end = path.lastIndexOf("/", path.length - 2); end > 0; ) {
    const around = scene.boxesAt(path.slice(0, end + 1));
    if (around.length > 0) return { boxes: around, rows: [], edges: [] };
    end = path.lastIndexOf("/", end - 1);
  }
  return null;
}

interface Reach {
  boxes: Uint8Array;
  edges: Uint8Array;
}

/** Everything that is reached from the seeds: each edge is followed once. */
function spread(routes: Routes, seeds: Seeds, step: Step): Reach {
  const { scene } = routes;
  const boxes = new Uint8Array(scene.boxCount);
  const edges = new Uint8Array(scene.edgeCount);
  const stubbed = new Set<string>();
  const pending: number[] = [];
  const follow = (found: readonly number[]): void => {
    for (const edge of found) {
      if (edges[edge]) continue;
      edges[edge] = 1;
      pending.push(edge);
    }
  };
  const reachBox = (box: number): void => {
    if (boxes[box]) return;
    boxes[box] = 1;
    follow(routes.edgesFrom(box, step));
  };
  // all stubs of a value are one place: they are left together, once
  const reachStub = (stub: number, edge: number): void => {
    const news = scene.pathsOf(stub).filter((path) => !stubbed.has(path));
    boxes[stub] = 1;
    if (news.length === 0) return;
    for (const path of news) stubbed.add(path);
    for (const other of routes.standIns(stub)) {
      if (step === "back" || (scene.flagsOf(other) & STUB) !== 0) boxes[other] = 1;
    }
    follow(routes.onward(edge, step) ?? []);
  };
  for (const box of seeds.boxes) {
    reachBox(box);
    if ((scene.flagsOf(box) & STUB) === 0) continue;
    for (const other of routes.standIns(box)) reachBox(other);
  }
  for (const box of seeds.rows) {
    if (step === "forward") reachBox(box);
    else boxes[box] = 1;
  }
  follow(seeds.edges);
  while (pending.length > 0) {
    const edge = pending.pop()!;
    const end = routes.farEnd(edge, step);
    if (end < 0) continue;
    if ((scene.flagsOf(end) & STUB) !== 0) {
      reachStub(end, edge);
      continue;
    }
    const onward = routes.onward(edge, step);
    if (onward === null) reachBox(end);
    else follow(onward);
  }
  lightInside(scene, seeds.boxes, boxes);
  return { boxes, edges };
}

/** What is inside an open group that is the origin belongs to it. */
function lightInside(scene: Scene, origins: readonly number[], boxes: Uint8Array): void {
  const open = origins.filter((box) => scene.isOpen(box));
  if (open.length === 0) return;
  const inside = new Set(open);
  for (let box = Math.min(...open) + 1; box < scene.boxCount; box++) {
    if (!inside.has(scene.parentOf(box))) continue;
    inside.add(box);
    boxes[box] = 1;
  }
}

function both(one: Reach, other: Reach): Reach {
  return {
    boxes: one.boxes.map((lit, k) => lit & other.boxes[k]),
    edges: one.edges.map((lit, k) => lit & other.edges[k]),
  };
}

function either(scene: Scene, one: Reach, other: Reach): Lit {
  return counted(scene, {
    boxes: one.boxes.map((lit, k) => lit | other.boxes[k]),
    edges: one.edges.map((lit, k) => lit | other.edges[k]),
  });
}

function counted(scene: Scene, { boxes, edges }: Reach): Lit {
  let count = 0;
  for (let box = 0; box < boxes.length; box++) {
    if (boxes[box] && !scene.isOpen(box) && (scene.flagsOf(box) & STUB) === 0) count++;
  }
  return { boxes, edges, around: withGroupsAround(scene, boxes), count };
}

/** Boxes that are lit, and the open groups around them. */
export function withGroupsAround(scene: Scene, boxes: Uint8Array): Uint8Array {
  const around = boxes.slice();
  // what is inside stands after what is around it
  for (let box = boxes.length - 1; box >= 0; box--) {
    const parent = scene.parentOf(box);
    if (around[box] && parent >= 0) around[parent] = 1;
  }
  return around;
}
