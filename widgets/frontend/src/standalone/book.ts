/**
 * All levels of a page, as explorer/standalone/level_block.py writes them: what every box shows
 * when it is opened, and where. A level, a form or a placement is made when it is first asked for.
 */

import type { Face } from "../scene/face";
import type { Direction } from "../scene/options";
import { GROUP, NODE, OPENABLE, REPEAT, STUB } from "../scene/scene";
import { completeFace } from "../scene/wire_header";
import type { Places } from "./arrange";
import { type Block, BlockError, type Integers, type Texts } from "./block";

/** coordinates are written in so many parts of a pixel */
const PARTS = 4;

/** A box of a form; texts are numbers of the level's names. */
export interface FormBox {
  readonly path: number;
  readonly key: number;
  readonly face: number;
  readonly flags: number;
  readonly rows: readonly number[];
}

/** A wire of a form; texts are numbers of the level's names. */
export interface FormEdge {
  readonly path: number;
  readonly source: number;
  readonly target: number;
  readonly flags: number;
  /** at either end the value's name there, or at the border the number of its port */
  readonly leaves: number;
  readonly enters: number;
  readonly bundle: readonly number[];
  /** how many values flow along it */
  readonly times: number;
}

/** A text beside an edge. */
export interface Label {
  readonly edge: number;
  readonly text: string;
  readonly x: number;
  readonly y: number;
  /** how many values it says; 1 where it tells a type */
  readonly values: number;
}

export interface Placement {
  readonly places: Places;
  readonly labels: readonly Label[];
  /** width and height of the boxes that were open */
  readonly opened: ReadonlyMap<number, readonly [number, number]>;
}

/** All about a level but its names. */
export interface Form {
  readonly isTerminal: boolean;
  readonly inputs: number;
  /** those of the inputs that something inside uses; they come first */
  readonly used: number;
  readonly outputs: number;
  /** those of the outputs that something inside gives; they come first */
  readonly given: number;
  readonly boxes: readonly FormBox[];
  readonly edges: readonly FormEdge[];
  readonly ports: readonly number[];
  /** the first has everything closed */
  readonly placements: readonly Placement[];
}

export interface PreparedLevel {
  readonly number: number;
  readonly form: Form;
  readonly frame: Face | null;
  readonly frameNumber: number;
  readonly names: readonly string[];
  /** by the number of a box that can be opened: the levels it can show; none without */
  readonly insides: ReadonlyMap<number, Insides>;
  /** what else is told of the box that the level is the inside of */
  readonly rows: readonly string[];
}

/** The levels of one box: one; of a repeat one for each repetition, and one with all. */
export interface Insides {
  readonly first: number;
  /** which is shown when it is opened */
  readonly usual: number;
}

/** What is known of levels, all of a page or a part of them. */
export interface Levels {
  readonly direction: Direction;
  readonly faces: readonly Face[];
  readonly notices: readonly string[];
  /** all names and labels */
  readonly texts: Texts;
  /** The numbers of all levels. */
  listLevels(): Iterable<number>;
  /** Return a level by its number; 0 is the outermost. */
  level(number: number): PreparedLevel;
  /** The numbers of the texts that are the names of a level. */
  listNames(number: number): Integers;
  /** The levels that a box can show: of a repeat the last is that with all repetitions. */
  listStates(insides: Insides): number[];
  /** Whether a level shows only a part of what is in a box. */
  isPart?(number: number): boolean;
}

export class Book implements Levels {
  readonly faces: readonly Face[];
  readonly notices: readonly string[];
  /** all names and labels */
  readonly texts: Texts;
  private readonly table: Record<string, Integers> = {};
  private readonly starts: Record<string, Int32Array> = {};
  private readonly levels = new Map<number, PreparedLevel>();
  private readonly forms = new Map<number, Form>();
  private readonly placements = new Map<number, Placement>();
  readonly count: number;

  /**
   * @param before the texts of the block that was written before
   * @throws BlockError where the block does not hold levels
   */
  constructor(
    block: Block,
    readonly direction: Direction,
    before: Texts | null = null,
  ) {
    this.texts = block.texts(before);
    const faces = block.value("faces");
    if (!Array.isArray(faces)) throw new BlockError("The levels of this file have no faces.");
    this.faces = faces.map(completeFace);
    this.notices = block.list("notices");
    for (const column of COLUMNS) this.table[column] = block.integers(column);
    for (const [column, [counts, width, places]] of Object.entries(COUNTED)) {
      this.starts[column] = this.countStarts(counts, width, places);
    }
    const pointStarts = addUp(this.table.point_counts);
    this.starts.points = this.starts.point_counts.map((edge) => pointStarts[edge]);
    for (const [column, starts] of Object.entries(this.starts)) {
      if (starts[starts.length - 1] * WIDTHS[column] !== this.table[column].length) {
        throw new BlockError(`The levels of this file are damaged: their ${column} do not fit.`);
      }
    }
    this.count = this.table.levels.length / 3;
  }

  level(number: number): PreparedLevel {
    const known = this.levels.get(number);
    if (known) return known;
    this.check(number, this.count);
    const [formNumber, face] = this.row("levels", number, 3);
    const form = this.form(formNumber);
    const insides = new Map<number, Insides>();
    const listed = this.part("insides", number);
    let inside = 0;
    form.boxes.forEach((box, k) => {
      if ((box.flags & OPENABLE) === 0) return;
      const [first, usual] = [listed[2 * inside], listed[2 * inside + 1]];
      inside++;
      if (first >= 0) insides.set(k, { first, usual });
    });
    const level = {
      ...{ number, form, insides, frameNumber: face },
      frame: face < 0 ? null : this.faces[face],
      names: this.part("names", number).map((text) => this.texts.at(text)),
      rows: this.part("rows", number).map((text) => this.texts.at(text)),
    };
    this.levels.set(number, level);
    return level;
  }

  listLevels(): Iterable<number> {
    return Array(this.count).keys();
  }

  /** The numbers of the texts that are the names of a level. */
  listNames(number: number): Integers {
    const starts = this.starts.names;
    return this.table.names.subarray(starts[number], starts[number + 1]);
  }

  /** The levels that a box can show: of a repeat the last is that with all repetitions. */
  listStates({ first }: Insides): number[] {
    const found: number[] = [];
    for (let number = first; number >= 0; number = this.table.levels[3 * number + 2]) {
      found.push(number);
      if (found.length > this.count) throw new BlockError("The levels of this file go in circles.");
    }
    return found;
  }

  private form(number: number): Form {
    const known = this.forms.get(number);
    if (known) return known;
    this.check(number, this.table.forms.length / 5);
    const [isTerminal, inputs, used, outputs, given] = this.row("forms", number, 5);
    const boxRows = this.part("box_rows", number);
    let rowsAt = 0;
    const boxes = chunk(this.part("boxes", number), WIDTHS.boxes).map(
      ([path, key, face, boxFlags, rows]) => ({
        ...{ path, key, face, flags: boxFlags },
        rows: boxRows.slice(rowsAt, (rowsAt += rows)),
      }),
    );
    const bundled = this.part("bundled", number);
    let bundleAt = 0;
    const edges = chunk(this.part("edges", number), WIDTHS.edges).map(
      ([path, source, target, edgeFlags, leaves, enters, bundle, times]) => ({
        ...{ path, source, target, flags: edgeFlags, leaves, enters, times },
        bundle: bundled.slice(bundleAt, (bundleAt += bundle)),
      }),
    );
    const placed = (): Placement[] => this.part("placed", number).map((k) => this.placement(k));
    let placements: Placement[] | null = null;
    const form = {
      isTerminal: isTerminal === 1,
      ...{ inputs, used, outputs, given, boxes, edges },
      ports: this.part("ports", number),
      // where things are is not asked for while something is looked for
      get placements() {
        return (placements ??= placed());
      },
    };
    this.forms.set(number, form);
    return form;
  }

  private placement(number: number): Placement {
    const known = this.placements.get(number);
    if (known) return known;
    this.check(number, this.table.placements.length / 2);
    const [width, height] = this.row("placements", number, 2).map(toPixels);
    const [boxes, inputs, outputs] = this.row("placement_counts", number, 6);
    const places = Float64Array.from(this.part("centres", number), toPixels);
    const starts = new Int32Array(this.part("point_counts", number).length + 1);
    this.part("point_counts", number).forEach((count, edge) => {
      starts[edge + 1] = starts[edge] + count;
    });
    const steps = this.part("points", number);
    const points = new Float64Array(steps.length);
    for (let edge = 0; edge + 1 < starts.length; edge++) {
      for (let k = 2 * starts[edge]; k < 2 * starts[edge + 1]; k++) {
        points[k] = steps[k] / PARTS + (k < 2 * starts[edge] + 2 ? 0 : points[k - 2]);
      }
    }
    const placement = {
      places: {
        ...{ width, height },
        boxes: places.subarray(0, 2 * boxes),
        inputs: places.subarray(2 * boxes, 2 * (boxes + inputs)),
        outputs: places.subarray(2 * (boxes + inputs), 2 * (boxes + inputs + outputs)),
        edges: { points, starts },
      },
      labels: chunk(this.part("labels", number), WIDTHS.labels).map(
        ([edge, text, x, y, values]) => ({
          ...{ edge, values, text: this.texts.at(text) },
          ...{ x: toPixels(x), y: toPixels(y) },
        }),
      ),
      opened: new Map(
        chunk(this.part("opened", number), WIDTHS.opened).map(([box, w, h]) => [
          box,
          [toPixels(w), toPixels(h)] as const,
        ]),
      ),
    };
    this.placements.set(number, placement);
    return placement;
  }

  /** Where the entries of each level, form or placement begin in a column, and the end. */
  private countStarts(counts: string, width: number, places: readonly number[]): Int32Array {
    const table = this.table[counts];
    const totals = new Int32Array(Math.floor(table.length / width));
    for (let k = 0; k < totals.length; k++) {
      for (const place of places) totals[k] += Math.max(table[k * width + place], 0);
    }
    return addUp(totals);
  }

  private row(column: string, number: number, width: number): number[] {
    return [...this.table[column].slice(number * width, (number + 1) * width)];
  }

  private part(column: string, number: number): number[] {
    const starts = this.starts[column];
    const width = WIDTHS[column];
    const [from, to] = [starts[number] * width, starts[number + 1] * width];
    return Array.from(this.table[column].subarray(from, to));
  }

  private check(number: number, count: number): void {
    if (!(number >= 0 && number < count)) {
      throw new BlockError("The levels of this file are damaged: one of them is missing.");
    }
  }
}

/** For each column which other counts its entries, how wide that is, and at which places. */
const COUNTED: Record<string, readonly [string, number, readonly number[]]> = {
  names: ["level_counts", 3, [0]],
  insides: ["level_counts", 3, [1]],
  rows: ["level_counts", 3, [2]],
  boxes: ["form_counts", 6, [0]],
  box_rows: ["form_counts", 6, [1]],
  edges: ["form_counts", 6, [2]],
  bundled: ["form_counts", 6, [3]],
  ports: ["form_counts", 6, [4]],
  placed: ["form_counts", 6, [5]],
  centres: ["placement_counts", 6, [0, 1, 2]],
  point_counts: ["placement_counts", 6, [3]],
  labels: ["placement_counts", 6, [4]],
  opened: ["placement_counts", 6, [5]],
};
/** How many numbers an entry of a column has. */
const WIDTHS: Record<string, number> = {
  ...{ names: 1, insides: 2, rows: 1 },
  ...{ boxes: 5, box_rows: 1, edges: 8, bundled: 1, ports: 1, placed: 1 },
  ...{ centres: 2, point_counts: 1, points: 2, labels: 5, opened: 3 },
};
const COLUMNS = [
  ...["levels", "level_counts", "names", "insides", "rows", "forms", "form_counts", "boxes"],
  ...["box_rows", "edges", "bundled", "ports", "placed", "placements", "placement_counts"],
  ...["centres", "point_counts", "points", "labels", "opened"],
];

function addUp(counts: ArrayLike<number>): Int32Array {
  const starts = new Int32Array(counts.length + 1);
  for (let k = 0; k < counts.length; k++) starts[k + 1] = starts[k] + counts[k];
  return starts;
}

function toPixels(parts: number): number {
  return parts / PARTS;
}

function chunk(numbers: readonly number[], width: number): number[][] {
  const found: number[][] = [];
  for (let at = 0; at < numbers.length; at += width) found.push(numbers.slice(at, at + width));
  return found;
}

/** Whether a box stands for several nodes: a group, a call, a branch, an If or a Loop. */
export function isGroup({ flags }: FormBox): boolean {
  return (flags & GROUP) !== 0 || ((flags & NODE) !== 0 && (flags & OPENABLE) !== 0);
}

export function isStub({ flags }: FormBox): boolean {
  return (flags & STUB) !== 0;
}

export function isRepeat({ flags }: FormBox): boolean {
  return (flags & REPEAT) !== 0;
}
