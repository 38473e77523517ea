/**
 * Keeps the levels of Scenes and puts them together, as explorer/render/wire.py takes them apart.
 *
 * What comes is checked here, so that the rest can trust it.
 */

import type { Face } from "./face";
import { OPEN, Scene, type SceneParts } from "./scene";
import { type Header, WireError, checkHeader } from "./wire_header";

const BOX_INTEGERS = 6;
const EDGE_INTEGERS = 7;
const BUNDLE_INTEGERS = 3;

/** The scene builds on one that is not here: ask for a whole one. */
export class StaleError extends WireError {}

/** What levels that look alike share. */
interface Form {
  readonly boxes: Float32Array;
  readonly ports: Float32Array;
  readonly labels: Float32Array;
  readonly points: Float32Array;
  /** path, key, face, flags, first row, count of rows of each box */
  readonly boxTable: Int32Array;
  readonly portPaths: Int32Array;
  /** path, label, source, target, flags, first and count of points of each edge */
  readonly edgeTable: Int32Array;
  /** of edges along which several values flow: edge, first name and count of their paths */
  readonly bundles: Int32Array;
}

/** The inside of one open item. */
interface Level {
  readonly form: Form;
  readonly names: readonly string[];
  /** one for each open box of the form */
  readonly inner: readonly Level[];
  /** of the level and all inside it */
  readonly boxes: number;
  readonly ports: number;
  readonly edges: number;
  readonly numbers: number;
}

export class LevelStore {
  private number: number | null = null;
  private faces: Face[] = [];
  private texts: string[] = [];
  private forms = new Map<number, Form>();
  private levels = new Map<number, Level>();

  /**
   * Take a message and put its scene together. Where it cannot be, what was kept stays.
   *
   * @throws StaleError where it builds on a scene that is not the last one here
   * @throws WireError where the message does not fit
   */
  receive(header: unknown, buffers: readonly ArrayBufferView[]): Scene {
    const checked = checkHeader(header);
    if (checked.since !== null && checked.since !== this.number) {
      throw new StaleError("the picture builds on one that is not here");
    }
    if (!Array.isArray(buffers) || buffers.length !== 3) {
      throw new WireError(`the scene came with ${buffers?.length ?? 0} buffers instead of 3`);
    }
    const whole = checked.since === null;
    const faces = whole ? checked.faces : [...this.faces, ...checked.faces];
    const texts = whole ? checked.labels : [...this.texts, ...checked.labels];
    const forms = new Map(whole ? [] : this.forms);
    const levels = new Map(whole ? [] : this.levels);
    const floats = new Float32Array(copyBytes(buffers[0]));
    const integers = new Int32Array(copyBytes(buffers[1]));
    const at = readShapes(checked, floats, integers, forms, faces.length, texts.length);
    readLevels(checked, integers, at, buffers[2], forms, levels);
    const root = levels.get(checked.root);
    if (!root) throw new WireError("the scene has no outermost level");
    const { boxes, ports, edges } = checked.counts;
    if (root.boxes !== boxes || root.ports !== ports || root.edges !== edges) {
      throw new WireError("the scene does not have the size that its header says");
    }
    const scene = assemble(checked, root, faces, texts);
    this.number = checked.number;
    this.faces = faces;
    this.texts = texts;
    [this.levels, this.forms] = reached(checked.root, levels, forms);
    return scene;
  }
}

function readShapes(
  header: Header,
  floats: Float32Array,
  integers: Int32Array,
  forms: Map<number, Form>,
  faceCount: number,
  textCount: number,
): number {
  let f = 0;
  let i = 0;
  const takeFloats = (count: number): Float32Array => floats.subarray(f, (f += count));
  const takeIntegers = (count: number): Int32Array => integers.subarray(i, (i += count));
  for (const [id, boxes, ports, edges, numbers, bundles] of header.forms) {
    const form: Form = {
      boxes: takeFloats(boxes * 4),
      ports: takeFloats(ports * 2),
      labels: takeFloats(edges * 2),
      points: takeFloats(numbers),
      boxTable: takeIntegers(boxes * BOX_INTEGERS),
      portPaths: takeIntegers(ports),
      edgeTable: takeIntegers(edges * EDGE_INTEGERS),
      bundles: takeIntegers(bundles * BUNDLE_INTEGERS),
    };
    if (f > floats.length || i > integers.length) {
      throw new WireError("the scene's buffers are shorter than its header says");
    }
    checkShape(form, faceCount, textCount);
    forms.set(id, form);
  }
  if (f !== floats.length) throw new WireError("the scene's buffers are longer than its header says");
  return i;
}

function checkShape(form: Form, faces: number, texts: number): void {
  const { boxTable, edgeTable, points, bundles } = form;
  const boxes = boxTable.length / BOX_INTEGERS;
  for (let at = 0; at < boxTable.length; at += BOX_INTEGERS) check(boxTable[at + 2], 0, faces);
  for (let at = 0; at < edgeTable.length; at += EDGE_INTEGERS) {
    check(edgeTable[at + 1], -1, texts);
    check(edgeTable[at + 2], -1, boxes);
    check(edgeTable[at + 3], -1, boxes);
    check(edgeTable[at + 5], 0, points.length + 1);
    check(edgeTable[at + 6], 0, points.length - edgeTable[at + 5] + 1);
  }
  const edges = edgeTable.length / EDGE_INTEGERS;
  for (let at = 0; at < bundles.length; at += BUNDLE_INTEGERS) check(bundles[at], 0, edges);
}

function readLevels(
  header: Header,
  integers: Int32Array,
  start: number,
  names: ArrayBufferView,
  forms: Map<number, Form>,
  levels: Map<number, Level>,
): void {
  let at = start;
  const next = (): number => {
    if (at >= integers.length) {
      throw new WireError("the scene's buffers are shorter than its header says");
    }
    return integers[at++];
  };
  const decoder = new TextDecoder();
  for (let count = 0; count < header.levels; count++) {
    const id = next();
    const form = forms.get(next());
    const [first, length] = [next(), next()];
    const inner: Level[] = [];
    for (let number = next(); number > 0; number--) {
      const level = levels.get(next());
      if (!level) throw new WireError("the scene refers to something it lacks");
      inner.push(level);
    }
    if (!form) throw new WireError("the scene refers to something it lacks");
    check(first, 0, names.byteLength + 1);
    check(length, 0, names.byteLength - first + 1);
    const bytes = new Uint8Array(names.buffer, names.byteOffset + first, length);
    levels.set(id, makeLevel(form, parseNames(decoder.decode(bytes)), inner));
  }
  if (at !== integers.length) {
    throw new WireError("the scene's buffers are longer than its header says");
  }
}

function parseNames(text: string): string[] {
  try {
    const names: unknown = JSON.parse(text);
    if (Array.isArray(names)) return names.map(String);
  } catch {
    // told below
  }
  throw new WireError("the scene's names are damaged");
}

function makeLevel(form: Form, names: string[], inner: Level[]): Level {
  const { boxTable, portPaths, edgeTable, bundles } = form;
  let open = 0;
  for (let at = 0; at < boxTable.length; at += BOX_INTEGERS) {
    check(boxTable[at], 0, names.length);
    check(boxTable[at + 1], 0, names.length);
    check(boxTable[at + 4], 0, names.length + 1);
    check(boxTable[at + 5], 0, names.length - boxTable[at + 4] + 1);
    open += boxTable[at + 3] & OPEN;
  }
  for (const path of portPaths) check(path, 0, names.length);
  for (let at = 0; at < edgeTable.length; at += EDGE_INTEGERS) check(edgeTable[at], 0, names.length);
  for (let at = 0; at < bundles.length; at += BUNDLE_INTEGERS) {
    check(bundles[at + 1], 0, names.length + 1);
    check(bundles[at + 2], 1, names.length - bundles[at + 1] + 1);
  }
  if (open !== inner.length) throw new WireError("an open box of the scene has no inside");
  const sum = (of: (level: Level) => number): number =>
    inner.reduce((total, level) => total + of(level), 0);
  return {
    form,
    names,
    inner,
    boxes: boxTable.length / BOX_INTEGERS + sum((level) => level.boxes),
    ports: portPaths.length + sum((level) => level.ports),
    edges: countDrawn(edgeTable) + sum((level) => level.edges),
    numbers: form.points.length + sum((level) => level.numbers),
  };
}

/** How many edges have points; the values of the others flow along one between the same boxes. */
function countDrawn(edgeTable: Int32Array): number {
  let count = 0;
  for (let at = 6; at < edgeTable.length; at += EDGE_INTEGERS) if (edgeTable[at] > 0) count++;
  return count;
}

/** Lay all levels out in flat arrays, in the coordinates of the whole scene. */
function assemble(header: Header, root: Level, faces: Face[], texts: string[]): Scene {
  const parts: SceneParts = {
    ...{ width: header.width, height: header.height, direction: header.direction },
    ...{ wrapped: header.wrapped, extreme: header.extreme, notices: header.notices },
    ...{ faces, texts, rows: new Map(), bundles: new Map() },
    boxes: new Float64Array(root.boxes * 4),
    boxTable: new Int32Array(root.boxes * 4),
    boxPaths: new Array<string>(root.boxes),
    boxKeys: new Array<string>(root.boxes),
    ports: new Float64Array(root.ports * 2),
    portBoxes: new Int32Array(root.ports),
    portPaths: new Array<string>(root.ports),
    labels: new Float64Array(root.edges * 2),
    points: new Float64Array(root.numbers),
    edgeTable: new Int32Array(root.edges * 6),
    edgePaths: new Array<string>(root.edges),
  };
  const counts = { box: 0, port: 0, edge: 0, number: 0 };
  const pending = [{ level: root, parent: -1, depth: 0, x: 0, y: 0 }];
  while (pending.length > 0) {
    const { level, parent, depth, x, y } = pending.pop()!;
    const { form, names } = level;
    const firstBox = counts.box;
    const { boxes, boxTable, edgeTable } = form;
    let inside = 0;
    for (let k = 0; k * 4 < boxes.length; k++) {
      const box = counts.box++;
      const table = k * BOX_INTEGERS;
      parts.boxes[box * 4] = x + boxes[k * 4];
      parts.boxes[box * 4 + 1] = y + boxes[k * 4 + 1];
      parts.boxes[box * 4 + 2] = boxes[k * 4 + 2];
      parts.boxes[box * 4 + 3] = boxes[k * 4 + 3];
      parts.boxPaths[box] = names[boxTable[table]];
      parts.boxKeys[box] = names[boxTable[table + 1]];
      parts.boxTable[box * 4] = boxTable[table + 2];
      parts.boxTable[box * 4 + 1] = parent;
      parts.boxTable[box * 4 + 2] = depth;
      parts.boxTable[box * 4 + 3] = boxTable[table + 3];
      const [firstRow, rows] = [boxTable[table + 4], boxTable[table + 5]];
      if (rows > 0) parts.rows.set(box, names.slice(firstRow, firstRow + rows));
      if ((boxTable[table + 3] & OPEN) === 0) continue;
      pending.push({
        ...{ level: level.inner[inside++], parent: box, depth: depth + 1 },
        ...{ x: parts.boxes[box * 4], y: parts.boxes[box * 4 + 1] },
      });
    }
    for (let k = 0; k < form.portPaths.length; k++) {
      const port = counts.port++;
      parts.ports[port * 2] = x + form.ports[k * 2];
      parts.ports[port * 2 + 1] = y + form.ports[k * 2 + 1];
      parts.portBoxes[port] = parent;
      parts.portPaths[port] = names[form.portPaths[k]];
    }
    const firstNumber = counts.number;
    for (let k = 0; k < form.points.length; k += 2) {
      parts.points[counts.number++] = x + form.points[k];
      if (k + 1 < form.points.length) parts.points[counts.number++] = y + form.points[k + 1];
    }
    const edgeNumbers = form.bundles.length > 0 ? new Map<number, number>() : null;
    for (let k = 0; k * EDGE_INTEGERS < edgeTable.length; k++) {
      const table = k * EDGE_INTEGERS;
      if (edgeTable[table + 6] === 0) continue;
      const edge = counts.edge++;
      edgeNumbers?.set(k, edge);
      const [source, target] = [edgeTable[table + 2], edgeTable[table + 3]];
      parts.edgePaths[edge] = names[edgeTable[table]];
      parts.labels[edge * 2] = x + form.labels[k * 2];
      parts.labels[edge * 2 + 1] = y + form.labels[k * 2 + 1];
      parts.edgeTable[edge * 6] = edgeTable[table + 1];
      parts.edgeTable[edge * 6 + 1] = source < 0 ? parent : firstBox + source;
      parts.edgeTable[edge * 6 + 2] = target < 0 ? parent : firstBox + target;
      parts.edgeTable[edge * 6 + 3] = edgeTable[table + 4];
      parts.edgeTable[edge * 6 + 4] = firstNumber + edgeTable[table + 5];
      parts.edgeTable[edge * 6 + 5] = edgeTable[table + 6];
    }
    for (let at = 0; at < form.bundles.length; at += BUNDLE_INTEGERS) {
      const [number, first, count] = form.bundles.subarray(at, at + BUNDLE_INTEGERS);
      const edge = edgeNumbers?.get(number);
      if (edge !== undefined) parts.bundles.set(edge, names.slice(first, first + count));
    }
  }
  return new Scene(parts);
}

/** What the outermost level reaches; all else is forgotten. */
function reached(
  root: number,
  levels: Map<number, Level>,
  forms: Map<number, Form>,
): [Map<number, Level>, Map<number, Form>] {
  const kept = new Set<Level>();
  const pending = [levels.get(root)!];
  while (pending.length > 0) {
    const level = pending.pop()!;
    if (kept.has(level)) continue;
    kept.add(level);
    pending.push(...level.inner);
  }
  const used = new Set([...kept].map((level) => level.form));
  return [
    new Map([...levels].filter(([, level]) => kept.has(level))),
    new Map([...forms].filter(([, form]) => used.has(form))),
  ];
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

function check(value: number, low: number, high: number): void {
  if (value < low || value >= high) throw new WireError("the scene refers to something it lacks");
}
