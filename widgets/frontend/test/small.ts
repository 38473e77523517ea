import { readFileSync } from "node:fs";
import type { Face } from "../src/scene/face";
import { GROUP, NODE, OPEN, OPENABLE, Scene } from "../src/scene/scene";
import { LevelStore } from "../src/scene/wire";

interface Encoded {
  header: Record<string, any>;
  buffers: string[];
}

/** The scene as tests/widgets/test_canvas.py wrote it. */
export function readEncoded(): { header: Record<string, any>; bytes: Uint8Array[] } {
  const file = new URL("scene.json", import.meta.url);
  const { header, buffers } = JSON.parse(readFileSync(file, "utf8")) as Encoded;
  return { header, bytes: buffers.map((text) => Uint8Array.from(Buffer.from(text, "base64"))) };
}

/** A view into a larger message at a place that is no multiple of four. */
export function shifted(bytes: Uint8Array): DataView {
  const message = new Uint8Array(bytes.length + 3);
  message.set(bytes, 1);
  return new DataView(message.buffer, 1, bytes.length);
}

export function readScene(changes: Record<string, unknown> = {}): Scene {
  const { header, bytes } = readEncoded();
  return new LevelStore().receive({ ...header, ...changes }, bytes.map(shifted));
}

/** Boxes and edges of the small scene. */
export const X = 0;
export const G = 1;
export const C = 2;
export const Y = 3;
export const CONV = 4;
export const RELU = 5;
export const X_TO_G = 0;
export const Y_OUT = 1;
export const X_TO_C = 2;
export const Z = 3;
export const X_INSIDE = 4;
export const T = 5;
export const Y_INSIDE = 6;

export function face(title: string, changes: Partial<Face> = {}): Face {
  return {
    ...{ outline: "node", category: "other", width: 80, height: 20, header: 20, rules: [] },
    ...{ stack: 0, badges: [], targets: [], title: "", bar: null, aside: 0, texts: [[8, 14, title, "title", "start"]] },
    ...changes,
  } as Face;
}

export interface BoxSpec {
  path: string;
  key?: string;
  flags?: number;
  parent?: number;
  at?: [number, number, number, number];
  rows?: string[];
  open?: boolean;
  face?: Partial<Face>;
}

/**
 * A scene from boxes and edges `[path, source, target]`; places follow from the order. Several
 * values along one edge have their paths with a blank in between.
 */
export function makeScene(
  boxes: BoxSpec[],
  edges: Array<[string, number, number, ...number[]]> = [],
  size: { width?: number; height?: number } = {},
  ports: Array<[path: string, box: number, x: number, y: number]> = [],
): Scene {
  const places = boxes.map((box, k) => box.at ?? [0, k * 40, 80, 20]);
  const points: number[] = [];
  const table: number[] = [];
  edges.forEach(([, source, target, ...given]) => {
    const from = source < 0 ? [0, 0, 0, 0] : places[source];
    const to = target < 0 ? [0, 0, 0, 0] : places[target];
    const [ax, ay, bx, by] = given.length
      ? given
      : [from[0] + from[2] / 2, from[1] + from[3], to[0] + to[2] / 2, to[1]];
    table.push(-1, source, target, 1, points.length, 8);
    points.push(ax, ay, ax, (ay + by) / 2, bx, (ay + by) / 2, bx, by);
  });
  const depths: number[] = [];
  boxes.forEach(({ parent = -1 }) => depths.push(parent < 0 ? 0 : depths[parent] + 1));
  return new Scene({
    ...{ width: size.width ?? 1000, height: size.height ?? 1000, direction: "TB" },
    ...{ wrapped: false, extreme: false, notices: [], texts: [] },
    faces: boxes.map((box) =>
      face(box.path, {
        targets: (box.rows ?? []).map((_, k) => [0, 20 + k * 10, 30 + k * 10]),
        ...box.face,
      }),
    ),
    boxes: Float64Array.from(places.flat()),
    boxTable: Int32Array.from(
      boxes.flatMap(({ flags = NODE, parent = -1, open }, k) => [
        ...[k, parent, depths[k]],
        open ? GROUP | OPENABLE | OPEN | flags : flags,
      ]),
    ),
    boxPaths: boxes.map((box) => box.path),
    boxKeys: boxes.map((box) => box.key ?? box.path),
    rows: new Map(boxes.flatMap(({ rows }, k) => (rows ? [[k, rows] as const] : []))),
    ports: Float64Array.from(ports.flatMap(([, , x, y]) => [x, y])),
    portBoxes: Int32Array.from(ports.map(([, box]) => box)),
    portPaths: ports.map(([path]) => path),
    labels: new Float64Array(edges.length * 2),
    points: Float64Array.from(points),
    edgeTable: Int32Array.from(table),
    edgePaths: edges.map(([path]) => path.split(" ")[0]),
    bundles: new Map(
      edges.flatMap(([path], k) => (path.includes(" ") ? [[k, path.split(" ")] as const] : [])),
    ),
  });
}
