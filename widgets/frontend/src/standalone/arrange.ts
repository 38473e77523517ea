/**
 * From a placement to the inside of an open box: its border, its title's room, exact ends of
 * edges. The same as explorer/layout/arrange.py and titles.py; tests/standalone/test_composition.py
 * compares both.
 */

import type { Direction } from "../scene/options";
import { attach } from "./attach";
import { endAtSides } from "./circles";
import { type Curves, countPieces, countPoints, evaluate } from "./curves";

/** room between an open box's border and what is inside */
const SIDE = 18;
const END = 16;
const MARGIN = 16;
/** from the band of a title to where its letters end, from there to what is below, and beside */
export const BELOW_BAND = 1;
const BELOW_TITLE = 7;
const TITLE_GAP = 2;
const TITLE_STEPS = 24;
/** border ports are placed as if they were nodes of so much above the border */
const PORT_HALF = 3;

export interface Size {
  width: number;
  height: number;
}

/** Boxes and wires to place, as explorer/layout/level.py describes them. */
export interface Level {
  readonly direction: Direction;
  /** width and height of each box */
  readonly sizes: Float64Array;
  /** whether each box is a circle */
  readonly rounds: Uint8Array;
  readonly inputs: number;
  readonly outputs: number;
  /** ends of wires: boxes, or -1 - n for ports on the border */
  readonly sources: Int32Array;
  readonly targets: Int32Array;
  /** where along its box's side each wire ends, from the left (LR: the top); NaN for the middle */
  readonly leaving: Float64Array;
  readonly entering: Float64Array;
}

/** Where everything of a level is, before it has a border. */
export interface Places {
  readonly width: number;
  readonly height: number;
  /** centres, x and y in turn */
  readonly boxes: Float64Array;
  readonly inputs: Float64Array;
  readonly outputs: Float64Array;
  readonly edges: Curves;
}

/** Where the contents of an open box are, from its top left corner. */
export interface Inside extends Size {
  /** x, y, width, height of each box */
  readonly boxes: Float64Array;
  readonly edges: Curves;
  /** offsets of the ports along the border */
  readonly inputs: Float64Array;
  readonly outputs: Float64Array;
  /** x, y of each port, inputs first */
  readonly ports: Float64Array;
  /** by how much what was placed has been moved */
  readonly shift: readonly [number, number];
}

/** How far a title reaches from the left and the right border, and where its letters end. */
export interface Title {
  readonly left: number;
  readonly right: number;
  readonly height: number;
}

/** @param title what stands in the upper corners; null for what is outermost */
export function arrange(level: Level, places: Places, title: Title | null): Inside {
  if (!title) {
    const size = { width: places.width + 2 * MARGIN, height: places.height + 2 * MARGIN };
    return fill(level, places, size, [MARGIN, MARGIN], false);
  }
  const band = title.height + BELOW_TITLE;
  if (level.direction === "LR") {
    const left = level.inputs > 0 ? -PORT_HALF : SIDE;
    const right = level.outputs > 0 ? -PORT_HALF : SIDE;
    const width = Math.max(places.width + left + right, title.left + title.right);
    return fill(level, places, { width, height: places.height + band + END }, [left, band], true);
  }
  const { width, left } = fitTitle(places, title);
  const top = level.inputs > 0 ? -PORT_HALF : band;
  const bottom = level.outputs > 0 ? -PORT_HALF : END;
  let height = places.height + top + bottom;
  if (level.inputs > 0 && level.sources.length === 0) height += band;
  const lead = Math.max(
    measureLead(level, places, left, top, title, width),
    measureRoom(level, places, left, top, title, width),
  );
  const led = lead > 0 ? { ...places, edges: leadIn(level, places.edges, lead) } : places;
  return fill(level, led, { width, height: height + lead }, [left, top + lead], true);
}

/** The width of an open box, and how far its inside is from its left border. */
function fitTitle(places: Places, title: Title): { width: number; left: number } {
  let width = Math.max(places.width + 2 * SIDE, title.left + title.right);
  let left = (width - places.width) / 2;
  const { inputs } = places;
  if (inputs.length > 0) {
    let [first, last] = [Infinity, -Infinity];
    for (let k = 0; k < inputs.length; k += 2) {
      first = Math.min(first, inputs[k]);
      last = Math.max(last, inputs[k]);
    }
    left = Math.max(left, title.left - first);
    width = Math.max(width, left + last + title.right);
  }
  return { width: Math.max(width, left + places.width + SIDE), left };
}

/** How much lower edges that come in beside the title must be not to bend into it. */
function measureLead(
  level: Level,
  { edges }: Places,
  left: number,
  top: number,
  title: Title,
  width: number,
): number {
  const letters = title.height;
  let highest = Infinity;
  for (let edge = 0; edge < level.sources.length; edge++) {
    if (level.sources[edge] >= 0) continue;
    for (let piece = 0; piece < countPieces(edges, edge); piece++) {
      const at = 2 * (edges.starts[edge] + 3 * piece);
      for (let step = 0; step <= TITLE_STEPS; step++) {
        const x = evaluate(edges.points, at, step / TITLE_STEPS) + left;
        const y = evaluate(edges.points, at + 1, step / TITLE_STEPS) + top;
        const isUnder =
          (x > TITLE_GAP && x < title.left - TITLE_GAP) ||
          (x > width - title.right + TITLE_GAP && x < width - TITLE_GAP);
        if (isUnder && y < letters) highest = Math.min(highest, y);
      }
    }
  }
  return highest === Infinity ? 0 : Math.min(Math.ceil(letters - highest), letters + 1);
}

/** How much lower what is inside must be for no box to touch the title. */
function measureRoom(
  { sizes, inputs }: Level,
  { boxes }: Places,
  left: number,
  top: number,
  title: Title,
  width: number,
): number {
  const band = title.height + BELOW_TITLE;
  if (inputs === 0) return 0;
  let highest = band;
  for (let k = 0; k < boxes.length; k += 2) {
    const [begin, end] = [boxes[k] + left - sizes[k] / 2, boxes[k] + left + sizes[k] / 2];
    if (begin < title.left || end > width - title.right) {
      highest = Math.min(highest, boxes[k + 1] + top - sizes[k + 1] / 2);
    }
  }
  return Math.max(band - highest, 0);
}

/** Let edges that come in at the border run straight down before they do anything else. */
function leadIn({ sources }: Level, edges: Curves, lead: number): Curves {
  const count = sources.length;
  const starts = new Int32Array(count + 1);
  const isLed = (edge: number): boolean => sources[edge] < 0 && countPoints(edges, edge) > 0;
  for (let edge = 0; edge < count; edge++) {
    starts[edge + 1] = starts[edge] + countPoints(edges, edge) + (isLed(edge) ? 3 : 0);
  }
  const points = new Float64Array(2 * starts[count]);
  for (let edge = 0; edge < count; edge++) {
    let write = 2 * starts[edge];
    const first = 2 * edges.starts[edge];
    if (isLed(edge)) {
      for (const part of [3, 2, 1]) {
        points[write++] = edges.points[first];
        points[write++] = edges.points[first + 1] - (lead * part) / 3;
      }
    }
    points.set(edges.points.subarray(first, 2 * edges.starts[edge + 1]), write);
  }
  return { points, starts };
}

function fill(
  level: Level,
  places: Places,
  size: Size,
  shift: readonly [number, number],
  hasPorts: boolean,
): Inside {
  const { sizes, sources, targets } = level;
  const axis = level.direction === "TB" ? 0 : 1;
  const boxes = new Float64Array(2 * sizes.length);
  for (let k = 0; k < sizes.length; k += 2) {
    for (const side of [0, 1]) {
      boxes[2 * k + side] = places.boxes[k + side] + shift[side] - sizes[k + side] / 2;
      boxes[2 * k + 2 + side] = sizes[k + side];
    }
  }
  const offsetsOf = (ports: Float64Array): Float64Array =>
    hasPorts ? ports.filter((_, k) => k % 2 === axis).map((place) => place + shift[axis]) : none;
  const inputs = offsetsOf(places.inputs);
  const outputs = offsetsOf(places.outputs);
  const end = axis === 0 ? size.height : size.width;
  const ports = new Float64Array(2 * (inputs.length + outputs.length));
  inputs.forEach((offset, port) => (ports[2 * port + axis] = offset));
  outputs.forEach((offset, port) => {
    ports[2 * (inputs.length + port) + axis] = offset;
    ports[2 * (inputs.length + port) + 1 - axis] = end;
  });
  const { starts } = places.edges;
  const points = Float64Array.from(places.edges.points, (place, k) => place + shift[k % 2]);
  for (let edge = 0; edge < sources.length; edge++) {
    if (starts[edge] === starts[edge + 1]) continue;
    const [tail, head] = [2 * starts[edge], 2 * (starts[edge + 1] - 1)];
    const [source, target] = [sources[edge], targets[edge]];
    const count = starts[edge + 1] - starts[edge];
    if (source < 0) setPoint(points, tail, ports, 2 * (-1 - source));
    else {
      const place = endAt(boxes, source, level.leaving[edge], axis, true);
      attach(points, { at: tail, inwards: 2, count }, place, axis, boxes);
    }
    if (target < 0) setPoint(points, head, ports, 2 * (inputs.length - 1 - target));
    else {
      const place = endAt(boxes, target, level.entering[edge], axis, false);
      attach(points, { at: head, inwards: -2, count }, place, axis, boxes);
    }
  }
  endAtSides(points, starts, boxes, level, axis);
  return {
    ...size,
    ...{ boxes, inputs, outputs, shift },
    edges: { points: points.map(round), starts },
    ports: ports.map(round),
  };
}

const none = new Float64Array(0);

function setPoint(points: Float64Array, at: number, from: Float64Array, place: number): void {
  points[at] = from[place];
  points[at + 1] = from[place + 1];
}

/** Where an edge leaves a box or comes to it: along its side, and across. */
function endAt(
  boxes: Float64Array,
  box: number,
  offset: number,
  axis: number,
  isSource: boolean,
): [number, number] {
  const at = 4 * box;
  const along = boxes[at + axis] + (Number.isNaN(offset) ? boxes[at + 2 + axis] / 2 : offset);
  return [along, boxes[at + 1 - axis] + (isSource ? boxes[at + 3 - axis] : 0)];
}

function round(place: number): number {
  return Math.round(place * 100) / 100;
}
