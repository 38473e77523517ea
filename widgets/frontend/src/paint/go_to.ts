/** Where the window goes so that something is seen: all of it where it fits, else its beginning. */

import type { Point, Rectangle, Size } from "../scene/geometry";
import { READABLE_ZOOM, type Viewport } from "./viewport";

/** Something in the scene that is gone to. */
export interface Target {
  readonly part: Rectangle;
  /** what of it is seen where not all fits */
  readonly begin: Point;
}

/** What is jumped to is shown at least this large. */
const JUMP_ZOOM = 0.6;
/** Between what is gone to and the edge of the window, or what lies over it. */
const AROUND = 12;
/** A place to go to is at most so much smaller than what was looked at before. */
const MOST_SMALLER = 2;

/**
 * The largest part of the window that is not covered.
 *
 * @param covers what lies over the window, in its coordinates
 */
export function roomBeside(size: Size, covers: readonly Rectangle[]): Rectangle {
  let room: Rectangle = { x: 0, y: 0, ...size };
  const largestFirst = [...covers].sort((a, b) => areaOf(b) - areaOf(a));
  for (const cover of largestFirst) room = cutOff(room, cover);
  const [dx, dy] = [Math.min(AROUND, room.width / 4), Math.min(AROUND, room.height / 4)];
  return {
    x: room.x + dx,
    y: room.y + dy,
    width: Math.max(room.width - 2 * dx, 1),
    height: Math.max(room.height - 2 * dy, 1),
  };
}

function cutOff(room: Rectangle, cover: Rectangle): Rectangle {
  const [right, bottom] = [room.x + room.width, room.y + room.height];
  const [coverRight, coverBottom] = [cover.x + cover.width, cover.y + cover.height];
  const isAside = cover.x >= right || coverRight <= room.x;
  const isAboveOrBelow = cover.y >= bottom || coverBottom <= room.y;
  if (areaOf(cover) === 0 || isAside || isAboveOrBelow) return room;
  const left: Rectangle[] = [
    { ...room, width: cover.x - room.x },
    { ...room, height: cover.y - room.y },
    { ...room, x: coverRight, width: right - coverRight },
    { ...room, y: coverBottom, height: bottom - coverBottom },
  ];
  const best = left.reduce((one, other) => (areaOf(other) > areaOf(one) ? other : one));
  return areaOf(best) > 0 ? best : room;
}

function areaOf({ width, height }: Size): number {
  return Math.max(width, 0) * Math.max(height, 0);
}

/** Move the window no more than it takes; where the target does not fit, show it smaller. */
export function bringIn(view: Viewport, target: Target, room: Rectangle): Viewport {
  const zoom = zoomFor(view.zoom, target.part, room);
  const middle = { x: room.x + room.width / 2, y: room.y + room.height / 2 };
  const kept = {
    x: view.x + middle.x / view.zoom - middle.x / zoom,
    y: view.y + middle.y / view.zoom - middle.y / zoom,
  };
  return {
    x: nearest(kept.x, target.part.x, target.part.width, target.begin.x, room.x, room.width, zoom),
    y: nearest(kept.y, target.part.y, target.part.height, target.begin.y, room.y, room.height, zoom),
    zoom,
  };
}

/** Show a target in the middle, large enough to be read. */
export function putInMiddle(view: Viewport, target: Target, room: Rectangle): Viewport {
  const { part } = target;
  const zoom = zoomFor(Math.max(view.zoom, JUMP_ZOOM), part, room);
  const centred = {
    x: part.x + part.width / 2 - (room.x + room.width / 2) / zoom,
    y: part.y + part.height / 2 - (room.y + room.height / 2) / zoom,
    zoom,
  };
  return bringIn(centred, target, room);
}

/** Whether a part of the scene fits into the room at a zoom. */
export function fits(part: Size, room: Size, zoom: number): boolean {
  return part.width * zoom <= room.width + 0.5 && part.height * zoom <= room.height + 0.5;
}

/** The zoom at which a target is shown: the one there is, or a smaller one at which more fits. */
function zoomFor(zoom: number, part: Size, room: Size): number {
  const least = Math.min(zoom, Math.max(READABLE_ZOOM, Math.min(zoom, 1) / MOST_SMALLER));
  const across = room.width / Math.max(part.width, 1);
  const whole = Math.min(across, room.height / Math.max(part.height, 1));
  if (whole >= least) return Math.min(whole, zoom);
  return across >= least ? Math.min(across, zoom, 1) : Math.max(least, Math.min(zoom, 1));
}

/**
 * The window's coordinate along one axis, nearest to a given one, at which a stretch of the scene
 * is whole in the room; where it is too long, at which its beginning is in the room.
 */
function nearest(
  view: number,
  start: number,
  length: number,
  begin: number,
  roomStart: number,
  roomLength: number,
  zoom: number,
): number {
  const atStart = start - roomStart / zoom;
  const atEnd = start + length - (roomStart + roomLength) / zoom;
  if (length * zoom <= roomLength + 0.5) return Math.min(Math.max(view, atEnd), atStart);
  const wanted = begin - (roomStart + roomLength / 2) / zoom;
  return Math.min(Math.max(wanted, atStart), atEnd);
}
