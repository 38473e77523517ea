/** A Scene in memory: boxes, ports and edges in flat arrays, and ways to find them. */

import type { Face } from "./face";
import type { Direction } from "./options";
import { CALL, type OpenCalls } from "./paints_by_path";

/** top and bottom of a constant's row, and the path that a click on it selects */
export type RowTarget = [number, number, number, string];

export const OPEN = 1;
export const OPENABLE = 2;
export const NODE = 4;
export const GROUP = 8;
export const INPUT = 16;
export const OUTPUT = 32;
export const CONSTANT = 64;
/** a pill in place of a value from elsewhere; all pills of a value have its path */
export const STUB = 128;
/** boxes that stand for values, perhaps for several */
const VALUES = INPUT | OUTPUT | CONSTANT | STUB;
/** repetitions of one block: closed a stack of them, open one of them or all */
export const REPEAT = 256;
export const NAMED = 512;

export const ARROW = 1;
export const CAPTURED = 2;
export const CONTROL = 4;
/** with CONTROL: what a node took in an older model alone, where the model was made of two */
export const FORMER = 8;
/** what a node takes in the newer model alone, likewise */
export const NEWER = 16;
/** of the main stream, which is drawn bold */
export const STREAM = 32;
/** the back edge of a loop, in two pieces that both begin and end at the open loop itself */
export const LOOP = 64;

/** One path, or those of all values that one thing in the picture stands for. */
export type Paths = string | readonly string[];

/** By path the keys of the boxes that show or hide what is there. */
export type PlacesByPath = Readonly<Record<string, readonly string[]>>;

/** What a Scene is made of. Boxes come before the boxes inside them. */
export interface SceneParts {
  width: number;
  height: number;
  direction: Direction;
  /** whether the outermost level is cut into columns or rows */
  wrapped: boolean;
  /** whether the picture is so long that wrapping it should be offered */
  extreme: boolean;
  notices: string[];
  faces: readonly Face[];
  /** texts of edge labels */
  texts: readonly string[];
  /** x, y, width, height of each box */
  boxes: Float64Array;
  /** face, parent, depth, flags of each box */
  boxTable: Int32Array;
  boxPaths: string[];
  boxKeys: string[];
  /**
   * what else is told of a box: of one with constants their paths, in the order of its face's
   * targets; of a pill, an input or an output for several values the paths of all of them; of an
   * open repeat the number of repetitions, which is shown, and its path; of an open call the path
   * of the function
   */
  rows: Map<number, string[]>;
  /** x, y of each port */
  ports: Float64Array;
  portBoxes: Int32Array;
  portPaths: string[];
  /** x, y of each edge's label */
  labels: Float64Array;
  /** the points of all edges */
  points: Float64Array;
  /** label, source, target, flags, first and count of numbers in the points, of each edge */
  edgeTable: Int32Array;
  edgePaths: string[];
  /** of edges along which several values flow: the paths of all of them */
  bundles: Map<number, string[]>;
}

export const BOX_FIELDS = 4;
export const EDGE_FIELDS = 6;

export class Scene {
  readonly width: number;
  readonly height: number;
  readonly direction: Direction;
  readonly wrapped: boolean;
  readonly extreme: boolean;
  readonly notices: string[];
  readonly boxCount: number;
  readonly portCount: number;
  readonly edgeCount: number;
  readonly boxes: Float64Array;
  readonly ports: Float64Array;
  readonly labels: Float64Array;
  readonly points: Float64Array;
  private readonly boxTable: Int32Array;
  private readonly edgeTable: Int32Array;
  private boxIndexes: Map<string, number[]> | null = null;
  private keyIndexes: Map<string, number> | null = null;
  private edgeIndexes: Map<string, number[]> | null = null;
  /** by path the boxes that stand in for what has no box, row or edge of its own */
  private standIns = new Map<string, readonly number[]>();
  private rowIndexes: Map<string, Array<{ box: number; target: RowTarget }>> | null = null;
  private family: { starts: Int32Array; boxes: Int32Array } | null = null;
  private incidence: { starts: Int32Array; edges: Int32Array } | null = null;

  constructor(private readonly parts: SceneParts) {
    this.width = parts.width;
    this.height = parts.height;
    this.direction = parts.direction;
    this.wrapped = parts.wrapped;
    this.extreme = parts.extreme;
    this.notices = parts.notices;
    this.boxCount = parts.boxPaths.length;
    this.portCount = parts.portPaths.length;
    this.edgeCount = parts.edgePaths.length;
    this.boxes = parts.boxes;
    this.ports = parts.ports;
    this.labels = parts.labels;
    this.points = parts.points;
    this.boxTable = parts.boxTable;
    this.edgeTable = parts.edgeTable;
  }

  pathOf(box: number): string {
    return this.parts.boxPaths[box];
  }
  keyOf(box: number): string {
    return this.parts.boxKeys[box];
  }
  faceOf(box: number): Face {
    return this.parts.faces[this.boxTable[box * BOX_FIELDS]];
  }
  parentOf(box: number): number {
    return this.boxTable[box * BOX_FIELDS + 1];
  }
  depthOf(box: number): number {
    return this.boxTable[box * BOX_FIELDS + 2];
  }
  flagsOf(box: number): number {
    return this.boxTable[box * BOX_FIELDS + 3];
  }
  isOpen(box: number): boolean {
    return (this.flagsOf(box) & OPEN) !== 0;
  }
  isOpenable(box: number): boolean {
    return (this.flagsOf(box) & OPENABLE) !== 0;
  }

  portBox(port: number): number {
    return this.parts.portBoxes[port];
  }
  portPath(port: number): string {
    return this.parts.portPaths[port];
  }

  edgePath(edge: number): string {
    return this.parts.edgePaths[edge];
  }
  edgeLabel(edge: number): string {
    const label = this.edgeTable[edge * EDGE_FIELDS];
    return label < 0 ? "" : this.parts.texts[label];
  }
  sourceOf(edge: number): number {
    return this.edgeTable[edge * EDGE_FIELDS + 1];
  }
  targetOf(edge: number): number {
    return this.edgeTable[edge * EDGE_FIELDS + 2];
  }
  edgeFlags(edge: number): number {
    return this.edgeTable[edge * EDGE_FIELDS + 3];
  }
  /** First number of the edge's points in `points`. */
  pointsStart(edge: number): number {
    return this.edgeTable[edge * EDGE_FIELDS + 4];
  }
  /** Just past the last number of the edge's points in `points`. */
  pointsEnd(edge: number): number {
    return this.pointsStart(edge) + this.edgeTable[edge * EDGE_FIELDS + 5];
  }

  /**
   * What is selected by a click on a box: its path; the paths of all the values it stands for;
   * of an open repeat that of the repetition it shows.
   */
  pathsOf(box: number): readonly string[] {
    const rows = this.parts.rows.get(box);
    if (rows) {
      const flags = this.flagsOf(box);
      if ((flags & VALUES) !== 0) return rows;
      if ((flags & REPEAT) !== 0 && this.isOpen(box) && rows.length > 2) return [rows[2]];
    }
    return [this.pathOf(box)];
  }
  /** What is selected by a click on an open box when it is closed: of a repeat all repetitions. */
  closedPathsOf(box: number): readonly string[] {
    return (this.flagsOf(box) & VALUES) !== 0 ? this.pathsOf(box) : [this.pathOf(box)];
  }
  /** The boxes that have a path or stand for what is there, or else that show or hide it. */
  boxesAt(at: Paths): readonly number[] {
    const own = lookUp(this.boxMap(), at);
    if (this.standIns.size === 0) return own;
    const others = [at].flat().flatMap((path) => this.standInsOf(path));
    return others.length === 0 ? own : [...new Set([...own, ...others])];
  }

  /** Learn from the host which boxes show or hide what may have nothing of its own here. */
  standIn(places: PlacesByPath): void {
    this.standIns = new Map(
      Object.entries(places).map(([path, keys]) => [
        path,
        keys.flatMap((key) => this.boxByKey(key) ?? []),
      ]),
    );
  }

  /** The boxes that show or hide what is at a path; none where it has a place of its own. */
  standInsOf(path: string): readonly number[] {
    const boxes = this.standIns.get(path) ?? [];
    return boxes.length > 0 && !this.hasOwn(path) ? boxes : [];
  }

  /** Whether a path has a box, a row or an edge of its own. */
  private hasOwn(path: string): boolean {
    return (
      this.boxMap().has(path) || this.rowsAt(path).length > 0 || this.edgesAt(path).length > 0
    );
  }
  boxByKey(key: string): number | undefined {
    if (!this.keyIndexes) {
      this.keyIndexes = new Map();
      for (let box = 0; box < this.boxCount; box++) this.keyIndexes.set(this.keyOf(box), box);
    }
    return this.keyIndexes.get(key);
  }
  paths(): string[] {
    return [...this.boxMap().keys()];
  }

  /** The paths of all values that flow along an edge. */
  edgePathsOf(edge: number): readonly string[] {
    return this.parts.bundles.get(edge) ?? [this.edgePath(edge)];
  }
  /** The edges along which the value at a path flows, alone or with others. */
  edgesAt(at: Paths): readonly number[] {
    return lookUp(this.edgeMap(), at);
  }
  edgePaths(): string[] {
    return [...this.edgeMap().keys()];
  }

  /** What the rows of a box stand for, as sent; of open repeats other things than paths. */
  rowPathsOf(box: number): readonly string[] {
    return this.parts.rows.get(box) ?? [];
  }

  /** By the path of a function what paths in it begin with in each call that is open. */
  openCalls(): OpenCalls {
    const calls = new Map<string, string[]>();
    for (const [box, rows] of this.parts.rows) {
      if ((this.flagsOf(box) & NODE) === 0 || !this.isOpen(box)) continue;
      append(calls, rows[0], this.pathOf(box) + CALL);
    }
    return calls;
  }

  /** The rows of a box's face that can be selected. */
  targetsOf(box: number): RowTarget[] {
    const none = (this.flagsOf(box) & (OPEN | VALUES)) !== 0;
    const paths = none ? [] : this.rowPathsOf(box);
    return this.faceOf(box)
      .targets.slice(0, paths.length)
      .map(([left, top, bottom], row) => [left, top, bottom, paths[row]]);
  }

  /** The rows on faces that select the path. */
  rowsAt(at: Paths): ReadonlyArray<{ box: number; target: RowTarget }> {
    if (!this.rowIndexes) {
      this.rowIndexes = new Map();
      for (const box of this.parts.rows.keys()) {
        for (const target of this.targetsOf(box)) {
          append(this.rowIndexes, target[3], { box, target });
        }
      }
    }
    return lookUp(this.rowIndexes, at);
  }

  /** The edges that start or end at the box. */
  edgesOf(box: number): Int32Array {
    if (!this.incidence) this.incidence = this.collectIncidence();
    const { starts, edges } = this.incidence;
    return edges.subarray(starts[box], starts[box + 1]);
  }

  /** The boxes directly inside a box; inside none of them for -1. */
  childrenOf(box: number): Int32Array {
    if (!this.family) this.family = this.collectFamily();
    const { starts, boxes } = this.family;
    return boxes.subarray(starts[box + 1], starts[box + 2]);
  }

  private collectFamily(): { starts: Int32Array; boxes: Int32Array } {
    const starts = new Int32Array(this.boxCount + 3);
    for (let box = 0; box < this.boxCount; box++) starts[this.parentOf(box) + 3]++;
    for (let k = 1; k < starts.length; k++) starts[k] += starts[k - 1];
    const boxes = new Int32Array(this.boxCount);
    for (let box = 0; box < this.boxCount; box++) {
      boxes[starts[this.parentOf(box) + 2]++] = box;
    }
    return { starts, boxes };
  }

  private boxMap(): Map<string, number[]> {
    if (!this.boxIndexes) {
      this.boxIndexes = new Map();
      for (let box = 0; box < this.boxCount; box++) {
        const path = this.pathOf(box);
        append(this.boxIndexes, path, box);
        for (const other of this.pathsOf(box)) {
          if (other !== path) append(this.boxIndexes, other, box);
        }
      }
    }
    return this.boxIndexes;
  }

  private edgeMap(): Map<string, number[]> {
    if (!this.edgeIndexes) {
      this.edgeIndexes = new Map();
      for (let edge = 0; edge < this.edgeCount; edge++) {
        for (const path of this.edgePathsOf(edge)) append(this.edgeIndexes, path, edge);
      }
    }
    return this.edgeIndexes;
  }

  private collectIncidence(): { starts: Int32Array; edges: Int32Array } {
    const starts = new Int32Array(this.boxCount + 2);
    const visitEnds = (visit: (box: number, edge: number) => void): void => {
      for (let edge = 0; edge < this.edgeCount; edge++) {
        const source = this.sourceOf(edge);
        const target = this.targetOf(edge);
        if (source >= 0) visit(source, edge);
        if (target >= 0 && target !== source) visit(target, edge);
      }
    };
    visitEnds((box) => starts[box + 2]++);
    for (let box = 2; box < starts.length; box++) starts[box] += starts[box - 1];
    const edges = new Int32Array(starts[starts.length - 1]);
    visitEnds((box, edge) => {
      edges[starts[box + 1]++] = edge;
    });
    return { starts, edges };
  }
}

/** What is entered at any of some paths, each once. */
function lookUp<Entry>(map: Map<string, Entry[]>, at: Paths): readonly Entry[] {
  if (typeof at === "string" || at.length === 1) {
    return map.get(typeof at === "string" ? at : at[0]) ?? [];
  }
  return [...new Set(at.flatMap((path) => map.get(path) ?? []))];
}

function append<Entry>(map: Map<string, Entry[]>, key: string, entry: Entry): void {
  const entries = map.get(key);
  if (entries) entries.push(entry);
  else map.set(key, [entry]);
}

/** Which repetition an open repeat shows: one of them, or all. */
export interface Repetition {
  readonly count: number;
  /** from 0; -1 for all */
  readonly index: number;
}

/** What an open repeat shows; null for other boxes. */
export function repetitionOf(scene: Scene, box: number): Repetition | null {
  if (!scene.isOpen(box) || (scene.flagsOf(box) & REPEAT) === 0) return null;
  const [count, index] = scene.rowPathsOf(box).map(Number);
  return Number.isInteger(count) && count > 0 && Number.isInteger(index) ? { count, index } : null;
}

/** Whether the row of a box that begins at a height stands for folded shape arithmetic. */
export function isChip(scene: Scene, box: number, top: number): boolean {
  const target = scene.faceOf(box).targets.find(([, begin]) => begin === top);
  if (!target) return false;
  return scene
    .faceOf(box)
    .badges.some(([, y, , , , chip]) => chip === 1 && y >= target[1] && y < target[2]);
}
