/** Points and rectangles, and where the boxes and edges of a Scene lie. */

import sizes from "./sizes";
import type { Scene } from "./scene";

/** The middle of a window in the coordinates of a scene, and the zoom. */
export interface WindowPlace extends Point {
  readonly zoom: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface Rectangle extends Size {
  readonly x: number;
  readonly y: number;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

const LABEL_GLYPH = 5.8;
const STEPS = 12;
/** height of the band of an open group's title where its face has no header */
const FRAME_TITLE = sizes.header;

export function boxRectangle(scene: Scene, box: number): Rectangle {
  const at = box * 4;
  const { boxes } = scene;
  return { x: boxes[at], y: boxes[at + 1], width: boxes[at + 2], height: boxes[at + 3] };
}

/** Height of the band in which an open frame's title stands. */
export function titleBand(scene: Scene, box: number): number {
  return scene.faceOf(box).header || FRAME_TITLE;
}

/** The pill around an edge's label; empty where it has none. */
export function labelRectangle(scene: Scene, edge: number): Rectangle {
  const label = scene.edgeLabel(edge);
  const width = label ? label.length * LABEL_GLYPH + 2 * sizes.edge_label.padding : 0;
  const height = label ? sizes.edge_label.height : 0;
  return {
    x: scene.labels[edge * 2] - width / 2,
    y: scene.labels[edge * 2 + 1] - height / 2,
    width,
    height,
  };
}

export function distanceToEdge(scene: Scene, edge: number, point: Point): number {
  let nearest = Infinity;
  let previous: Point | null = null;
  for (const place of alongEdge(scene, edge)) {
    if (previous) nearest = Math.min(nearest, distanceToSegment(point, previous, place));
    previous = place;
  }
  return nearest;
}

/** A point of the edge halfway along its pieces. */
export function middleOfEdge(scene: Scene, edge: number): Point {
  const places = [...alongEdge(scene, edge)];
  return places[places.length >> 1] ?? { x: scene.labels[edge * 2], y: scene.labels[edge * 2 + 1] };
}

function* alongEdge(scene: Scene, edge: number): Generator<Point> {
  const { points } = scene;
  const end = scene.pointsEnd(edge);
  let at = scene.pointsStart(edge);
  if (end - at < 2) return;
  yield { x: points[at], y: points[at + 1] };
  for (; at + 7 < end; at += 6) {
    for (let step = 1; step <= STEPS; step++) {
      const t = step / STEPS;
      const s = 1 - t;
      const a = s * s * s;
      const b = 3 * s * s * t;
      const c = 3 * s * t * t;
      const d = t * t * t;
      yield {
        x: a * points[at] + b * points[at + 2] + c * points[at + 4] + d * points[at + 6],
        y: a * points[at + 1] + b * points[at + 3] + c * points[at + 5] + d * points[at + 7],
      };
    }
  }
}

function distanceToSegment(point: Point, from: Point, to: Point): number {
  const dx = to.x - from.x;
  const dy = to.y - from.y;
  const length = dx * dx + dy * dy;
  const along = length === 0 ? 0 : ((point.x - from.x) * dx + (point.y - from.y) * dy) / length;
  const share = Math.min(Math.max(along, 0), 1);
  return Math.hypot(point.x - from.x - share * dx, point.y - from.y - share * dy);
}

/** Bézier curves stay inside the hull of their points, so its bounds hold the curve. */
export function edgeBounds(scene: Scene, edge: number): Rectangle {
  let left = Infinity;
  let top = Infinity;
  let right = -Infinity;
  let bottom = -Infinity;
  const end = scene.pointsEnd(edge);
  for (let at = scene.pointsStart(edge); at + 1 < end; at += 2) {
    left = Math.min(left, scene.points[at]);
    right = Math.max(right, scene.points[at]);
    top = Math.min(top, scene.points[at + 1]);
    bottom = Math.max(bottom, scene.points[at + 1]);
  }
  if (scene.edgeLabel(edge)) {
    const label = labelRectangle(scene, edge);
    left = Math.min(left, label.x);
    right = Math.max(right, label.x + label.width);
    top = Math.min(top, label.y);
    bottom = Math.max(bottom, label.y + label.height);
  }
  if (left > right) return { x: 0, y: 0, width: 0, height: 0 };
  return { x: left, y: top, width: right - left, height: bottom - top };
}

export function contains(part: Rectangle, point: Point): boolean {
  return (
    part.width > 0 &&
    point.x >= part.x &&
    point.x <= part.x + part.width &&
    point.y >= part.y &&
    point.y <= part.y + part.height
  );
}

/** The area that two rectangles have in common. */
export function measureCommon(one: Rectangle, other: Rectangle): number {
  const width = Math.min(one.x + one.width, other.x + other.width) - Math.max(one.x, other.x);
  const height = Math.min(one.y + one.height, other.y + other.height) - Math.max(one.y, other.y);
  return Math.max(width, 0) * Math.max(height, 0);
}
