/** Where on the scene the window stands. Pure arithmetic; zoom 1 is one pixel for one pixel. */

import type { Point, Rectangle, Size } from "../scene/geometry";
import type { Direction } from "../scene/options";

/** (x, y) is the scene's point in the window's top left corner. */
export interface Viewport {
  readonly x: number;
  readonly y: number;
  readonly zoom: number;
}

export const MAX_ZOOM = 4;
/** The smallest zoom at which titles are still readable. */
export const READABLE_ZOOM = 0.35;
/** A picture that is read at this zoom is shown whole at first: what is open was chosen for it. */
export const WHOLE_ZOOM = 0.5;
/** A picture that does not fit even so may be made smaller, until it does. */
const MIN_ZOOM = 0.0005;
const MARGIN = 24;
/** At least this much of the scene stays in the window. */
const KEPT = 60;

export function toWindow(view: Viewport, point: Point): Point {
  return { x: (point.x - view.x) * view.zoom, y: (point.y - view.y) * view.zoom };
}

export function toScene(view: Viewport, point: Point): Point {
  return { x: point.x / view.zoom + view.x, y: point.y / view.zoom + view.y };
}

/** The part of the scene in the window, in the scene's coordinates. */
export function visiblePart(view: Viewport, size: Size): Rectangle {
  return { x: view.x, y: view.y, width: size.width / view.zoom, height: size.height / view.zoom };
}

export function panBy(view: Viewport, dx: number, dy: number): Viewport {
  return { x: view.x - dx / view.zoom, y: view.y - dy / view.zoom, zoom: view.zoom };
}

/**
 * Zoom by a factor; the scene's point under `pivot` (in the window) stays there.
 *
 * @param whole zoom at which the window shows the whole scene: it can be reached however small
 */
export function zoomAt(view: Viewport, pivot: Point, factor: number, whole = MIN_ZOOM): Viewport {
  const zoom = clamp(view.zoom * factor, Math.min(MIN_ZOOM, whole), MAX_ZOOM);
  return placeAt(toScene(view, pivot), pivot, zoom);
}

/** The viewport at which the scene's point stands at a place in the window. */
export function placeAt(point: Point, place: Point, zoom: number): Viewport {
  return { x: point.x - place.x / zoom, y: point.y - place.y / zoom, zoom };
}

export function centreOn(point: Point, size: Size, zoom: number): Viewport {
  return placeAt(point, { x: size.width / 2, y: size.height / 2 }, zoom);
}

/** The whole rectangle in the window, never enlarged. */
export function fitWhole(part: Rectangle, size: Size): Viewport {
  const zoom = Math.min(
    ...[roomAcross(size) / Math.max(part.width, 1), roomDown(size) / Math.max(part.height, 1), 1],
  );
  const centre = { x: part.x + part.width / 2, y: part.y + part.height / 2 };
  return placeAt(centre, middleOfRoom(size), zoom);
}

function roomAcross(size: Size): number {
  return Math.max(size.width - 2 * MARGIN, 1);
}

function roomDown(size: Size): number {
  return Math.max(size.height - 2 * MARGIN, 1);
}

function middleOfRoom(size: Size): Point {
  return { x: size.width / 2, y: MARGIN + roomDown(size) / 2 };
}

/**
 * The view that opens: as wide as the graph (as high, where it runs from left to right), not
 * enlarged, and never so small that titles cannot be read; then it shows where the graph begins.
 *
 * @param start centre of the first boxes, what to show where not all fits
 */
export function firstView(
  scene: Size,
  size: Size,
  direction: Direction,
  start: Point,
): Viewport {
  const whole = fitWhole({ x: 0, y: 0, width: scene.width, height: scene.height }, size);
  if (whole.zoom >= WHOLE_ZOOM) return whole;
  const across =
    direction === "TB"
      ? roomAcross(size) / Math.max(scene.width, 1)
      : roomDown(size) / Math.max(scene.height, 1);
  const zoom = clamp(across, READABLE_ZOOM, 1);
  const fitsAcross = scene.width * zoom <= roomAcross(size) + 1;
  const fitsDown = scene.height * zoom <= roomDown(size) + 1;
  const middle = middleOfRoom(size);
  const centred = placeAt({ x: scene.width / 2, y: scene.height / 2 }, middle, zoom);
  const begin = placeAt(start, middle, zoom);
  return {
    x: fitsAcross ? centred.x : direction === "LR" ? -MARGIN / zoom : begin.x,
    y: fitsDown ? centred.y : direction === "TB" ? -MARGIN / zoom : begin.y,
    zoom,
  };
}

/** Keep part of the scene in the window, so that it cannot get lost. */
export function keepInSight(view: Viewport, scene: Size, size: Size): Viewport {
  const keptX = Math.min(KEPT, size.width / 2) / view.zoom;
  const keptY = Math.min(KEPT, size.height / 2) / view.zoom;
  const x = clamp(view.x, keptX - size.width / view.zoom, scene.width - keptX);
  const y = clamp(view.y, keptY - size.height / view.zoom, scene.height - keptY);
  return { x, y, zoom: view.zoom };
}

/** The viewport between two others; zoom runs geometrically. */
export function between(from: Viewport, to: Viewport, share: number): Viewport {
  if (share >= 1) return to;
  const zoom = from.zoom * (to.zoom / from.zoom) ** share;
  return {
    x: from.x + (to.x - from.x) * share,
    y: from.y + (to.y - from.y) * share,
    zoom,
  };
}

function clamp(value: number, low: number, high: number): number {
  return low > high ? (low + high) / 2 : Math.min(Math.max(value, low), high);
}
