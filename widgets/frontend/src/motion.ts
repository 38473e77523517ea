/** How a new scene takes the place of the one before: where the window goes, what moves. */

import type { Motion } from "./draw";
import { boxRectangle, titleBand } from "./pick";
import { titleCentre } from "./text";
import { type Point, type Size, type Viewport, placeAt, toWindow } from "./viewport";
import { OPEN, type Scene } from "./wire";

/** Larger scenes change at once: moving them would take longer than looking at them. */
const MOST_MOVING = 5000;

/** Centre of a box's title in the scene. */
export function titlePoint(scene: Scene, box: number): Point {
  const { x, y, width, height } = boxRectangle(scene, box);
  const centre = titleCentre(scene.faceOf(box));
  return {
    x: x + Math.min(centre.x, width),
    y: y + Math.min(scene.isOpen(box) ? Math.min(centre.y, titleBand(scene, box)) : centre.y, height),
  };
}

/**
 * The viewport in which a box's title stands where it stood before.
 *
 * @param anchor path of the box; without one, the box nearest to the window's middle stays
 */
export function keepPlace(
  before: Scene,
  after: Scene,
  view: Viewport,
  size: Size,
  anchor: string | undefined,
): Viewport {
  const pair = anchoredPair(before, after, anchor) ?? middlePair(before, after, view, size);
  if (!pair) return view;
  const place = toWindow(view, titlePoint(before, pair[0]));
  return placeAt(titlePoint(after, pair[1]), place, view.zoom);
}

function anchoredPair(
  before: Scene,
  after: Scene,
  anchor: string | undefined,
): [number, number] | null {
  if (anchor === undefined) return null;
  const was = before.boxesAt(anchor)[0];
  const is = after.boxesAt(anchor)[0];
  return was === undefined || is === undefined ? null : [was, is];
}

function middlePair(
  before: Scene,
  after: Scene,
  view: Viewport,
  size: Size,
): [number, number] | null {
  let nearest: [number, number] | null = null;
  let distance = Infinity;
  for (let was = 0; was < before.boxCount; was++) {
    const place = toWindow(view, titlePoint(before, was));
    const away = Math.hypot(place.x - size.width / 2, place.y - size.height / 2);
    if (away >= distance) continue;
    const is = after.boxByKey(before.keyOf(was));
    if (is === undefined) continue;
    nearest = [was, is];
    distance = away;
  }
  return nearest;
}

export interface Transition {
  readonly motion: Motion;
  /** Where boxes come from, in the new scene's coordinates. */
  readonly from: Float32Array;
}

/** Prepare the way of every box from its old place on the screen; null where too many move. */
export function planTransition(
  before: Scene,
  after: Scene,
  was: Viewport,
  is: Viewport,
): Transition | null {
  if (before.boxCount > MOST_MOVING || after.boxCount > MOST_MOVING) return null;
  const from = Float32Array.from(after.boxes);
  const fresh = new Uint8Array(after.boxCount);
  const shrink = was.zoom / is.zoom;
  for (let box = 0; box < after.boxCount; box++) {
    const old = before.boxByKey(after.keyOf(box));
    if (old === undefined) {
      fresh[box] = 1;
      continue;
    }
    const { x, y, width, height } = boxRectangle(before, old);
    from.set(
      [
        (x - was.x) * shrink + is.x,
        (y - was.y) * shrink + is.y,
        width * shrink,
        height * shrink,
      ],
      box * 4,
    );
    if (((before.flagsOf(old) ^ after.flagsOf(box)) & OPEN) !== 0) fresh[box] = 1;
  }
  return { motion: { boxes: Float32Array.from(from), fresh, share: 0 }, from };
}

/** Move every box to its place at a share of the way. */
export function advance(transition: Transition, after: Scene, share: number): void {
  const { motion, from } = transition;
  motion.share = share;
  for (let k = 0; k < from.length; k++) {
    motion.boxes[k] = from[k] + (after.boxes[k] - from[k]) * share;
  }
}
