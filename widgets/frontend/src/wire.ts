/**
 * Decodes a Scene as explorer/render/wire.py encodes it: a JSON header and two little-endian
 * buffers, floats and integers. Everything is checked here, so that the rest can trust it.
 */

export type TextStyle = "title" | "title-muted" | "name" | "text" | "muted" | "badge";
export type Anchor = "start" | "middle" | "end";
/** x, baseline, text, style, anchor */
export type TextRun = [number, number, string, TextStyle, Anchor];
/** x, y, width, height, text */
export type Badge = [number, number, number, number, string];
/** top and bottom of a constant's row, and the path that a click on it selects */
export type RowTarget = [number, number, string];

export interface Face {
  shape: "node" | "group" | "terminal" | "constant" | "stub" | "frame";
  category: string;
  width: number;
  height: number;
  header: number;
  rules: number[];
  stack: number;
  texts: TextRun[];
  badges: Badge[];
  /** top and bottom of the rows that stand for constants */
  targets: Array<[number, number]>;
}

export const OPEN = 1;
export const OPENABLE = 2;
export const NODE = 4;
export const GROUP = 8;
export const INPUT = 16;
export const OUTPUT = 32;
export const CONSTANT = 64;
/** a pill in place of a value from elsewhere; all pills of a value have its path */
export const STUB = 128;

export const ARROW = 1;
export const CAPTURED = 2;
export const CONTROL = 4;

const VERSION = 1;
const BOX_FLOATS = 4;
const BOX_INTEGERS = 6;
const PORT_INTEGERS = 2;
const EDGE_INTEGERS = 7;

export class WireError extends Error {}

/** A decoded Scene. Boxes come before the boxes inside them. */
export class Scene {
  readonly width: number;
  readonly height: number;
  readonly direction: "TB" | "LR";
  readonly notices: string[];
  readonly boxCount: number;
  readonly portCount: number;
  readonly edgeCount: number;
  /** x, y, width, height of each box */
  readonly boxes: Float32Array;
  /** x, y of each port */
  readonly ports: Float32Array;
  /** x, y of each edge's label */
  readonly labels: Float32Array;
  /** the points of all edges */
  readonly points: Float32Array;
  private readonly strings: string[];
  private readonly faces: Face[];
  /** per box with constants: their paths, in the order of its face's targets */
  private readonly rows = new Map<number, string[]>();
  private readonly boxTable: Int32Array;
  private readonly portTable: Int32Array;
  private readonly edgeTable: Int32Array;
  private readonly boxIndexes = new Map<string, number[]>();
  private readonly keyIndexes = new Map<string, number>();
  private edgeIndexes: Map<string, number[]> | null = null;
  private rowIndexes: Map<string, Array<{ box: number; target: RowTarget }>> | null = null;
  private incidence: { starts: Int32Array; edges: Int32Array } | null = null;

  constructor(header: Header, floats: Float32Array, integers: Int32Array) {
    const { boxes, ports, edges } = header.counts;
    this.width = header.width;
    this.height = header.height;
    this.direction = header.direction;
    this.notices = header.notices;
    this.strings = header.strings;
    this.faces = header.faces;
    for (const [box, ...paths] of header.rows) {
      this.rows.set(
        box,
        paths.map((path) => header.strings[path]),
      );
    }
    this.boxCount = boxes;
    this.portCount = ports;
    this.edgeCount = edges;
    const portsAt = boxes * BOX_FLOATS;
    const labelsAt = portsAt + ports * 2;
    const pointsAt = labelsAt + edges * 2;
    this.boxes = floats.subarray(0, portsAt);
    this.ports = floats.subarray(portsAt, labelsAt);
    this.labels = floats.subarray(labelsAt, pointsAt);
    this.points = floats.subarray(pointsAt);
    const portTableAt = boxes * BOX_INTEGERS;
    const edgeTableAt = portTableAt + ports * PORT_INTEGERS;
    this.boxTable = integers.subarray(0, portTableAt);
    this.portTable = integers.subarray(portTableAt, edgeTableAt);
    this.edgeTable = integers.subarray(edgeTableAt);
    for (let box = 0; box < boxes; box++) {
      append(this.boxIndexes, this.pathOf(box), box);
      this.keyIndexes.set(this.keyOf(box), box);
    }
  }

  pathOf(box: number): string {
    return this.strings[this.boxTable[box * BOX_INTEGERS]];
  }
  keyOf(box: number): string {
    return this.strings[this.boxTable[box * BOX_INTEGERS + 1]];
  }
  faceOf(box: number): Face {
    return this.faces[this.boxTable[box * BOX_INTEGERS + 2]];
  }
  faceIndexOf(box: number): number {
    return this.boxTable[box * BOX_INTEGERS + 2];
  }
  parentOf(box: number): number {
    return this.boxTable[box * BOX_INTEGERS + 3];
  }
  depthOf(box: number): number {
    return this.boxTable[box * BOX_INTEGERS + 4];
  }
  flagsOf(box: number): number {
    return this.boxTable[box * BOX_INTEGERS + 5];
  }
  isOpen(box: number): boolean {
    return (this.flagsOf(box) & OPEN) !== 0;
  }
  isOpenable(box: number): boolean {
    return (this.flagsOf(box) & OPENABLE) !== 0;
  }

  portBox(port: number): number {
    return this.portTable[port * PORT_INTEGERS];
  }
  portPath(port: number): string {
    return this.strings[this.portTable[port * PORT_INTEGERS + 1]];
  }

  edgePath(edge: number): string {
    return this.strings[this.edgeTable[edge * EDGE_INTEGERS]];
  }
  edgeLabel(edge: number): string {
    const label = this.edgeTable[edge * EDGE_INTEGERS + 1];
    return label < 0 ? "" : this.strings[label];
  }
  sourceOf(edge: number): number {
    return this.edgeTable[edge * EDGE_INTEGERS + 2];
  }
  targetOf(edge: number): number {
    return this.edgeTable[edge * EDGE_INTEGERS + 3];
  }
  edgeFlags(edge: number): number {
    return this.edgeTable[edge * EDGE_INTEGERS + 4];
  }
  /** First number of the edge's points in `points`. */
  pointsStart(edge: number): number {
    return this.edgeTable[edge * EDGE_INTEGERS + 5];
  }
  /** Just past the last number of the edge's points in `points`. */
  pointsEnd(edge: number): number {
    return this.pointsStart(edge) + this.edgeTable[edge * EDGE_INTEGERS + 6];
  }

  boxesAt(path: string): number[] {
    return this.boxIndexes.get(path) ?? [];
  }
  boxByKey(key: string): number | undefined {
    return this.keyIndexes.get(key);
  }
  paths(): string[] {
    return [...this.boxIndexes.keys()];
  }

  edgesAt(path: string): number[] {
    return this.edgeMap().get(path) ?? [];
  }
  edgePaths(): string[] {
    return [...this.edgeMap().keys()];
  }

  /** The rows of a box's face that can be selected. */
  targetsOf(box: number): RowTarget[] {
    const paths = this.rows.get(box) ?? [];
    return this.faceOf(box)
      .targets.slice(0, paths.length)
      .map(([top, bottom], row) => [top, bottom, paths[row]]);
  }

  /** The rows on faces that select the path. */
  rowsAt(path: string): Array<{ box: number; target: RowTarget }> {
    if (!this.rowIndexes) {
      this.rowIndexes = new Map();
      for (const box of this.rows.keys()) {
        for (const target of this.targetsOf(box)) {
          append(this.rowIndexes, target[2], { box, target });
        }
      }
    }
    return this.rowIndexes.get(path) ?? [];
  }

  /** The edges that start or end at the box. */
  edgesOf(box: number): Int32Array {
    if (!this.incidence) this.incidence = this.collectIncidence();
    const { starts, edges } = this.incidence;
    return edges.subarray(starts[box], starts[box + 1]);
  }

  private edgeMap(): Map<string, number[]> {
    if (!this.edgeIndexes) {
      this.edgeIndexes = new Map();
      for (let edge = 0; edge < this.edgeCount; edge++) {
        append(this.edgeIndexes, this.edgePath(edge), edge);
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

interface Header {
  width: number;
  height: number;
  direction: "TB" | "LR";
  notices: string[];
  counts: { boxes: number; ports: number; edges: number };
  rows: number[][];
  strings: string[];
  faces: Face[];
}

/**
 * Decode a Scene and check it: version, lengths, and every index.
 *
 * @throws WireError where the message does not fit
 */
export function decodeScene(header: unknown, buffers: readonly ArrayBufferView[]): Scene {
  const checked = checkHeader(header);
  if (!Array.isArray(buffers) || buffers.length !== 2) {
    throw new WireError(`the scene came with ${buffers?.length ?? 0} buffers instead of 2`);
  }
  const floats = new Float32Array(copyBytes(buffers[0]));
  const integers = new Int32Array(copyBytes(buffers[1]));
  const { boxes, ports, edges } = checked.counts;
  const fixed = boxes * BOX_FLOATS + ports * 2 + edges * 2;
  const table = boxes * BOX_INTEGERS + ports * PORT_INTEGERS + edges * EDGE_INTEGERS;
  if (floats.length < fixed || integers.length !== table) {
    throw new WireError("the scene's buffers do not have the length that its header says");
  }
  const scene = new Scene(checked, floats, integers);
  checkIndexes(scene, checked, integers);
  return scene;
}

/** Copy a view into bytes of its own: it may start at an odd place in a larger message. */
function copyBytes(view: ArrayBufferView): ArrayBuffer {
  if (!ArrayBuffer.isView(view) || view.byteLength % 4 !== 0) {
    throw new WireError("a buffer of the scene is damaged");
  }
  const bytes = new Uint8Array(view.byteLength);
  bytes.set(new Uint8Array(view.buffer, view.byteOffset, view.byteLength));
  return bytes.buffer;
}

function checkHeader(header: unknown): Header {
  const fields = header as Record<string, any> | null;
  if (typeof fields !== "object" || fields === null) throw new WireError("the scene has no header");
  if (fields.version !== VERSION) {
    throw new WireError(
      `the scene has version ${String(fields.version)}, this canvas draws version ${VERSION}: ` +
        "restart the kernel and reload the page",
    );
  }
  const counts = fields.counts ?? {};
  for (const name of ["boxes", "ports", "edges"]) {
    if (!Number.isInteger(counts[name]) || counts[name] < 0) {
      throw new WireError(`the scene's header does not count its ${name}`);
    }
  }
  for (const name of ["strings", "faces"]) {
    if (!Array.isArray(fields[name])) throw new WireError(`the scene's header has no ${name}`);
  }
  return {
    width: finiteOrZero(fields.width),
    height: finiteOrZero(fields.height),
    direction: fields.direction === "LR" ? "LR" : "TB",
    notices: Array.isArray(fields.notices) ? fields.notices.map(String) : [],
    counts,
    rows: Array.isArray(fields.rows) ? fields.rows : [],
    strings: fields.strings,
    faces: fields.faces.map(completeFace),
  };
}

function completeFace(face: Partial<Face>): Face {
  return {
    shape: face.shape ?? "node",
    category: face.category ?? "other",
    width: face.width ?? 0,
    height: face.height ?? 0,
    header: face.header ?? 0,
    rules: face.rules ?? [],
    stack: face.stack ?? 0,
    texts: face.texts ?? [],
    badges: face.badges ?? [],
    targets: face.targets ?? [],
  };
}

function checkIndexes(scene: Scene, header: Header, integers: Int32Array): void {
  const { boxes, ports, edges } = header.counts;
  const strings = header.strings.length;
  const check = (value: number, low: number, high: number): void => {
    if (value < low || value >= high) throw new WireError("the scene refers to something it lacks");
  };
  for (const [box, ...paths] of header.rows) {
    check(box, 0, boxes);
    for (const path of paths) check(path, 0, strings);
  }
  let at = 0;
  for (let box = 0; box < boxes; box++, at += BOX_INTEGERS) {
    check(integers[at], 0, strings);
    check(integers[at + 1], 0, strings);
    check(integers[at + 2], 0, header.faces.length);
    check(integers[at + 3], -1, box);
  }
  for (let port = 0; port < ports; port++, at += PORT_INTEGERS) {
    check(integers[at], -1, boxes);
    check(integers[at + 1], 0, strings);
  }
  for (let edge = 0; edge < edges; edge++, at += EDGE_INTEGERS) {
    check(integers[at], 0, strings);
    check(integers[at + 1], -1, strings);
    check(integers[at + 2], -1, boxes);
    check(integers[at + 3], -1, boxes);
    check(integers[at + 5], 0, scene.points.length + 1);
    check(integers[at + 6], 0, scene.points.length - integers[at + 5] + 1);
  }
}

function finiteOrZero(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

function append<Entry>(map: Map<string, Entry[]>, key: string, entry: Entry): void {
  const entries = map.get(key);
  if (entries) entries.push(entry);
  else map.set(key, [entry]);
}
