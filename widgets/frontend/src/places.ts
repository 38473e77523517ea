/** Where a value is given and used in the picture: what lights up, and where one can jump. */

import { boxRectangle } from "./pick";
import type { Lit } from "./trace";
import { CONSTANT, INPUT, STUB, type Scene } from "./scene";
import type { Wiring } from "./wiring";

export interface Places {
  readonly path: string;
  /** the box that gives the value; undefined where none is drawn */
  readonly producer: number | undefined;
  /** the boxes that use it, in the order in which the graph runs */
  readonly consumers: readonly number[];
  /** whether pills stand in for the value's edges */
  readonly stubbed: boolean;
}

/** The places of the value at a path; null where the path is no value that is drawn. */
export function placesOf(wiring: Wiring, path: string): Places | null {
  const { scene } = wiring;
  const edges = path ? scene.edgesAt(path) : [];
  const rows = path ? scene.rowsAt(path) : [];
  const stand = path ? scene.boxesAt(path) : [];
  const valueBoxes = stand.filter(
    (box) => (scene.flagsOf(box) & (STUB | INPUT | CONSTANT)) !== 0,
  );
  if (edges.length === 0 && rows.length === 0 && valueBoxes.length === 0) return null;
  let producer = valueBoxes.find((box) => (scene.flagsOf(box) & STUB) === 0);
  const consumers = new Set<number>(rows.map(({ box }) => box));
  for (const edge of edges) {
    const source = scene.sourceOf(edge);
    const target = scene.targetOf(edge);
    if (source >= 0 && isEnd(wiring, edge, source)) producer = preferClosed(scene, producer, source);
    if (target >= 0 && isEnd(wiring, edge, target)) consumers.add(target);
  }
  return {
    path,
    producer,
    // an open group that the value enters only passes it on
    consumers: [...consumers]
      .filter((box) => !scene.isOpen(box) || !passesOn(wiring, path, box))
      .sort((a, b) => order(scene, a, b)),
    stubbed: valueBoxes.some((box) => (scene.flagsOf(box) & STUB) !== 0),
  };
}

/** All that carries a value, as what is to be lit. */
export function lightPlaces(scene: Scene, places: Places): Lit {
  const boxes = new Uint8Array(scene.boxCount);
  const edges = new Uint8Array(scene.edgeCount);
  for (const box of scene.boxesAt(places.path)) boxes[box] = 1;
  for (const box of places.consumers) boxes[box] = 1;
  if (places.producer !== undefined) boxes[places.producer] = 1;
  for (const edge of scene.edgesAt(places.path)) edges[edge] = 1;
  return { boxes, edges, count: places.consumers.length };
}

/** Which of the consumers is at a box: itself, or the one that its stub belongs to; -1: none. */
export function consumerAt(wiring: Wiring, places: Places, box: number): number {
  const { scene } = wiring;
  const own = places.consumers.indexOf(box);
  if (own >= 0 || box < 0 || (scene.flagsOf(box) & STUB) === 0) return own;
  for (const edge of scene.edgesOf(box)) {
    const at = places.consumers.indexOf(scene.targetOf(edge));
    if (at >= 0) return at;
  }
  return -1;
}

function isEnd(wiring: Wiring, edge: number, box: number): boolean {
  const { scene } = wiring;
  return (scene.flagsOf(box) & STUB) === 0 && !wiring.isInside(edge, box);
}

function preferClosed(scene: Scene, known: number | undefined, box: number): number {
  return known === undefined || scene.isOpen(known) ? box : known;
}

function passesOn(wiring: Wiring, path: string, box: number): boolean {
  const { scene } = wiring;
  for (const edge of scene.edgesOf(box)) {
    if (scene.edgePath(edge) === path && wiring.isInside(edge, box)) return true;
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
