/** Where values are given and used in the picture: what lights up, and where one can jump. */

import { boxRectangle } from "./geometry";
import type { Routes } from "./routes";
import { CONSTANT, INPUT, STUB, type Paths, type Scene } from "./scene";
import { type Lit, withGroupsAround } from "./trace";

export interface Places {
  readonly at: Paths;
  /** the boxes that give the values, as far as they are drawn, in the order of the graph */
  readonly producers: readonly number[];
  /** the boxes that use any of them, in the order in which the graph runs */
  readonly consumers: readonly number[];
  /** whether pills stand in for their edges */
  readonly stubbed: boolean;
}

/** The places of one value or several; null where none of them is drawn. */
export function placesOf(routes: Routes, at: Paths): Places | null {
  const { scene } = routes;
  const edges = scene.edgesAt(at);
  const rows = scene.rowsAt(at);
  const valueBoxes = scene
    .boxesAt(at)
    .filter((box) => (scene.flagsOf(box) & (STUB | INPUT | CONSTANT)) !== 0);
  const standIns = [at].flat().flatMap((path) => (isValue(path) ? scene.standInsOf(path) : []));
  if (edges.length + rows.length + valueBoxes.length + standIns.length === 0) return null;
  const producers = new Set(valueBoxes.filter((box) => (scene.flagsOf(box) & STUB) === 0));
  // what has no edge is not drawn but by those that use it, or what hides them
  const consumers = new Set([...rows.map(({ box }) => box), ...standIns]);
  for (const edge of edges) {
    const source = scene.sourceOf(edge);
    const target = scene.targetOf(edge);
    if (source >= 0 && isEnd(routes, edge, source)) producers.add(source);
    if (target >= 0 && isEnd(routes, edge, target)) consumers.add(target);
  }
  const carrying = new Set(edges);
  // an open group that a value enters or leaves only passes it on
  const ends = (boxes: Set<number>): number[] =>
    [...boxes]
      .filter((box) => !scene.isOpen(box) || !passesOn(routes, carrying, box))
      .sort((a, b) => order(scene, a, b));
  return {
    at,
    producers: ends(producers),
    consumers: ends(consumers),
    stubbed: valueBoxes.some((box) => (scene.flagsOf(box) & STUB) !== 0),
  };
}

function isValue(path: string): boolean {
  return /(^|\/)%/.test(path);
}

/** All that carries the values, as what is to be lit. */
export function lightPlaces(scene: Scene, places: Places): Lit {
  const boxes = new Uint8Array(scene.boxCount);
  const edges = new Uint8Array(scene.edgeCount);
  for (const box of scene.boxesAt(places.at)) boxes[box] = 1;
  for (const box of places.consumers) boxes[box] = 1;
  for (const box of places.producers) boxes[box] = 1;
  for (const edge of scene.edgesAt(places.at)) edges[edge] = 1;
  const around = withGroupsAround(scene, boxes);
  return { boxes, edges, around, count: places.consumers.length };
}

/** Which of the consumers is at a box: itself, or the one that its stub belongs to; -1: none. */
export function consumerAt(routes: Routes, places: Places, box: number): number {
  const { scene } = routes;
  const own = places.consumers.indexOf(box);
  if (own >= 0 || box < 0 || (scene.flagsOf(box) & STUB) === 0) return own;
  for (const edge of scene.edgesOf(box)) {
    const at = places.consumers.indexOf(scene.targetOf(edge));
    if (at >= 0) return at;
  }
  return -1;
}

function isEnd(routes: Routes, edge: number, box: number): boolean {
  const { scene } = routes;
  return (scene.flagsOf(box) & STUB) === 0 && !routes.isInside(edge, box);
}

function passesOn(routes: Routes, edges: ReadonlySet<number>, box: number): boolean {
  for (const edge of routes.scene.edgesOf(box)) {
    if (edges.has(edge) && routes.isInside(edge, box)) return true;
  }
  return false;
}

function order(scene: Scene, a: number, b: number): number {
  const one = boxRectangle(scene, a);
  const other = boxRectangle(scene, b);
  return scene.direction === "TB"
    ? one.y - other.y || one.x - other.x
    : one.x - other.x || one.y - other.y;
}
