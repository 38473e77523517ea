/**
 * Composition: the insides of open boxes put into one another, as explorer/layout/compose.py does
 * it. Each level has been laid out beforehand with everything closed; where boxes inside are open
 * its places are stretched to make room.
 */

import { ARROW, OPEN, STREAM } from "../scene/scene";
import { type Inside, type Level, type Places, type Size, type Title, BELOW_BAND, arrange } from "./arrange";
import {
  type Levels,
  type Form,
  type FormBox,
  type Placement,
  type PreparedLevel,
  isGroup,
  isStub,
} from "./book";
import { drawAlike, stretch } from "./stretch";

/** Which level is open, and which of the boxes inside are. */
export interface Opened {
  readonly level: number;
  /** by the number of the box */
  readonly inner: ReadonlyMap<number, Opened>;
}

/** An edge as it is drawn: the values that flow along it, and whether it ends in an arrow. */
export interface DrawnEdge {
  /** false where the values flow along another edge between the same boxes */
  readonly isDrawn: boolean;
  readonly flags: number;
  /** paths of its values where these are several */
  readonly bundle: readonly string[];
  /** text beside it and its centre */
  readonly label: { readonly text: string; readonly x: number; readonly y: number } | null;
}

/** An open box with everything inside. Never changed. */
export interface Composed {
  readonly id: number;
  readonly level: PreparedLevel;
  readonly inside: Inside;
  readonly edges: readonly DrawnEdge[];
  /** by the number of the box */
  readonly inner: ReadonlyMap<number, Composed>;
}

export class Composer {
  private count = 0;
  /** what has been composed, by what was open; what has not changed is not composed again */
  private readonly known = new WeakMap<Opened, Composed>();

  constructor(private readonly book: Levels) {}

  compose(opened: Opened): Composed {
    const known = this.known.get(opened);
    if (known) return known;
    const level = this.book.level(opened.level);
    const inner = new Map<number, Composed>();
    for (const [box, inside] of opened.inner) inner.set(box, this.compose(inside));
    const composed = { ...this.place(level, inner), id: ++this.count, level, inner };
    this.known.set(opened, composed);
    return composed;
  }

  private place(
    level: PreparedLevel,
    inner: ReadonlyMap<number, Composed>,
  ): { inside: Inside; edges: DrawnEdge[] } {
    const { form, names } = level;
    const lines = mergeEdges(form, names, inner);
    const placement = choosePlacement(form.placements, inner);
    const { sizes, before, slots } = this.measure(form, placement, inner);
    const stretched = stretch(placement.places, before, slots);
    const wiring = wire(form, names, inner);
    const { sources, targets } = wiring;
    const places: Places = {
      ...stretched,
      edges: drawAlike(stretched.edges, sources, targets, (edge) => lines[edge].isDrawn),
    };
    const rounds = Uint8Array.from(form.boxes, ({ face }, box) =>
      Number(!inner.has(box) && this.book.faces[face].outline === "junction"),
    );
    const { direction } = this.book;
    const title: Title | null = level.frame && {
      left: level.frame.width - level.frame.aside,
      right: level.frame.aside,
      height: level.frame.header + BELOW_BAND,
    };
    const full: Level = { ...wiring, direction, sizes, rounds };
    const inside = arrange(full, places, title);
    const edges = form.edges.map((edge, number) => ({
      isDrawn: lines[number].isDrawn,
      flags: edge.flags | (hasArrow(number, edge.target, wiring, inner) ? ARROW : 0),
      bundle: lines[number].bundle,
      label: null as DrawnEdge["label"],
    }));
    const moved = moveLabels(placement, before, slots, stretched);
    for (const [k, { edge, text, values }] of placement.labels.entries()) {
      const line = lines[edge];
      const count = Math.max(line.bundle.length, 1);
      const isSaid = values > 1 ? count === values : !inner.has(form.edges[edge].source);
      if (!line.isDrawn || !isSaid) continue;
      const [x, y] = moved[k];
      edges[edge].label = { text, x: x + inside.shift[0], y: y + inside.shift[1] };
    }
    return { inside, edges };
  }

  /** Sizes of all boxes; the room that each has in a placement, and that it gets. */
  private measure(
    form: Form,
    placement: Placement,
    inner: ReadonlyMap<number, Composed>,
  ): { sizes: Float64Array; before: Float64Array; slots: Float64Array } {
    const count = form.boxes.length;
    const [sizes, before] = [new Float64Array(2 * count), new Float64Array(2 * count)];
    form.boxes.forEach(({ face }, box) => {
      const closed = this.book.faces[face];
      const size: Size = inner.get(box)?.inside ?? closed;
      sizes.set([size.width, size.height], 2 * box);
      before.set(placement.opened.get(box) ?? [closed.width, closed.height], 2 * box);
    });
    const slots = sizes.map((size, k) => (size > before[k] + ROUNDING ? size : before[k]));
    return { sizes, before, slots };
  }
}

/** placements know sizes to so many pixels */
const ROUNDING = 0.5;

/** The placement in which most of what is open was open, and nothing else. */
function choosePlacement(
  placements: readonly Placement[],
  inner: ReadonlyMap<number, Composed>,
): Placement {
  let best = placements[0];
  for (const placement of placements) {
    const fits = [...placement.opened.keys()].every((box) => inner.has(box));
    if (fits && placement.opened.size > best.opened.size) best = placement;
  }
  return best;
}

interface Wiring extends Pick<Level, "inputs" | "outputs"> {
  readonly sources: Int32Array;
  readonly targets: Int32Array;
  readonly leaving: Float64Array;
  readonly entering: Float64Array;
  /** the port of an open box at which each wire ends there; -1 for none */
  readonly ports: Int32Array;
}

/** Where all wires of a form begin and end. */
function wire(
  form: Form,
  names: readonly string[],
  inner: ReadonlyMap<number, Composed>,
): Wiring {
  const count = form.edges.length;
  const [sources, targets, ports] = [0, 1, 2].map(() => new Int32Array(count).fill(-1));
  const [leaving, entering] = [0, 1].map(() => new Float64Array(count).fill(NaN));
  const borders = new Map<Composed, [Map<string, number>, Map<string, number>]>();
  const bordersOf = (box: Composed): [Map<string, number>, Map<string, number>] => {
    const { form: within, names: texts } = box.level;
    const paths = within.ports.map((name) => texts[name]);
    let found = borders.get(box);
    if (!found) {
      found = [numberPorts(paths.slice(0, within.inputs)), numberPorts(paths.slice(within.inputs))];
      borders.set(box, found);
    }
    return found;
  };
  form.edges.forEach(({ source, target, leaves, enters }, edge) => {
    sources[edge] = source < 0 ? -1 - leaves : source;
    targets[edge] = target < 0 ? -1 - enters : target;
    const from = inner.get(source);
    if (from) {
      const port = bordersOf(from)[1].get(names[leaves]);
      if (port !== undefined) leaving[edge] = from.inside.outputs[port];
    }
    const to = inner.get(target);
    if (to) {
      const port = bordersOf(to)[0].get(names[enters]);
      if (port === undefined) return;
      ports[edge] = port;
      entering[edge] = to.inside.inputs[port];
    }
  });
  return { inputs: form.inputs, outputs: form.outputs, sources, targets, leaving, entering, ports };
}

function numberPorts(paths: readonly string[]): Map<string, number> {
  const numbers = new Map<string, number>();
  paths.forEach((path, port) => {
    if (!numbers.has(path)) numbers.set(path, port);
  });
  return numbers;
}

/** Whether an edge ends in an arrow: what goes on inside an open box has none. */
function hasArrow(
  edge: number,
  target: number,
  { ports }: Wiring,
  inner: ReadonlyMap<number, Composed>,
): boolean {
  if (target < 0) return false;
  const open = inner.get(target);
  if (!open) return true;
  const { form } = open.level;
  return form.isTerminal || ports[edge] >= form.used;
}

interface Line {
  readonly isDrawn: boolean;
  readonly bundle: readonly string[];
}

/** Edges between the same two places as one: the same as explorer/layout/merging.py. */
export function mergeEdges(
  form: Form,
  names: readonly string[],
  inner: ReadonlyMap<number, unknown>,
): Line[] {
  const lines: Line[] = form.edges.map(({ bundle }) => ({
    isDrawn: true,
    bundle: bundle.map((name) => names[name]),
  }));
  if (!form.boxes.some(isGroup)) return lines;
  const between = new Map<string, number[]>();
  form.edges.forEach(({ source, target, flags, leaves, enters }, edge) => {
    if (source < 0 || target < 0 || source === target) return;
    const ends = [source, target, flags & ~(ARROW | STREAM)];
    const key = [...ends, inner.has(source) ? leaves : -1, inner.has(target) ? enters : -1].join();
    const edges = between.get(key);
    if (edges) edges.push(edge);
    else between.set(key, [edge]);
  });
  for (const edges of between.values()) {
    if (edges.length < 2 || !mayMerge(form, names, edges)) continue;
    const paths = new Set<string>();
    for (const edge of edges) {
      const { bundle, path } = form.edges[edge];
      for (const name of bundle.length > 0 ? bundle : [path]) paths.add(names[name]);
      lines[edge] = { isDrawn: false, bundle: lines[edge].bundle };
    }
    lines[edges[0]] = { isDrawn: true, bundle: [...paths] };
  }
  return lines;
}

function mayMerge(form: Form, names: readonly string[], edges: readonly number[]): boolean {
  const { source, target } = form.edges[edges[0]];
  const ends: FormBox[] = [form.boxes[source], form.boxes[target]];
  if (ends.some(isStub) || !ends.some(isGroup)) return false;
  const paths = ends.map(({ path }) => names[path]);
  return !edges.some((edge) => paths.includes(names[form.edges[edge].path]));
}

/** Where labels are once boxes have grown: with what is around them. */
function moveLabels(
  placement: Placement,
  before: Float64Array,
  slots: Float64Array,
  stretched: Places,
): Array<readonly [number, number]> {
  const { labels, places } = placement;
  if (stretched === places) return labels.map(({ x, y }) => [x, y] as const);
  const points = Float64Array.from(labels.flatMap(({ x, y }) => [x, y]));
  const moved = stretch({ ...places, inputs: points, edges: NO_CURVES }, before, slots);
  return labels.map((_, k) => [moved.inputs[2 * k], moved.inputs[2 * k + 1]] as const);
}

const NO_CURVES = { points: new Float64Array(0), starts: Int32Array.from([0]) };

/** The flags of a box that is drawn: open or not. */
export function flagsOf(box: FormBox, isOpen: boolean): number {
  return isOpen ? box.flags | OPEN : box.flags & ~OPEN;
}
