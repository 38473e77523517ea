/** How a new scene takes the place of the one before: where the window goes, what moves. */

import { type Point, type Size, boxRectangle, titleBand } from "../scene/geometry";
import type { Picker } from "../scene/pick";
import { OPEN, type Scene } from "../scene/scene";
import type { Motion } from "./pass";
import { titleCentre } from "./text";
import { type Viewport, placeAt, toWindow, visiblePart } from "./viewport";

/** With more boxes in the window the picture changes at once. */
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
  readonly from: Float64Array;
}

/** A scene in a window: what is to be seen of it. */
export interface Sight {
  readonly scene: Scene;
  readonly picker: Picker;
  readonly view: Viewport;
}

/**
 * Prepare the way of the boxes from their old places on the screen to the new ones.
 *
 * @param target the window at the end, which is where the eye ends up
 * @returns null where too many boxes would move
 */
export function planTransition(
  before: Sight,
  after: Sight,
  target: Viewport,
  size: Size,
): Transition | null {
  const seen = new Set<number>();
  for (const view of [after.view, target]) {
    const found = after.picker.boxesIn(visiblePart(view, size));
    if (found.length > MOST_MOVING) return null;
    for (const box of found) seen.add(box);
  }
  const gone = before.picker.boxesIn(visiblePart(before.view, size));
  if (gone.length > MOST_MOVING) return null;
  for (const old of gone) {
    const box = after.scene.boxByKey(before.scene.keyOf(old));
    if (box !== undefined) seen.add(box);
  }
  const boxes = Float64Array.from(after.scene.boxes);
  const fresh = new Uint8Array(after.scene.boxCount);
  const shrink = before.view.zoom / after.view.zoom;
  for (const box of seen) {
    const old = before.scene.boxByKey(after.scene.keyOf(box));
    if (old === undefined) {
      fresh[box] = 1;
      continue;
    }
    const { x, y, width, height } = boxRectangle(before.scene, old);
    boxes[box * 4] = (x - before.view.x) * shrink + after.view.x;
    boxes[box * 4 + 1] = (y - before.view.y) * shrink + after.view.y;
    boxes[box * 4 + 2] = width * shrink;
    boxes[box * 4 + 3] = height * shrink;
    if (((before.scene.flagsOf(old) ^ after.scene.flagsOf(box)) & OPEN) !== 0) fresh[box] = 1;
  }
  const visible = Uint32Array.from(seen).sort();
  return { motion: { visible, boxes, fresh, share: 0 }, from: Float64Array.from(boxes) };
}

/** Move every box to its place at a share of the way. */
export function advance(transition: Transition, after: Scene, share: number): void {
  const { motion, from } = transition;
  motion.share = share;
  for (let k = 0; k < motion.visible.length; k++) {
    const at = motion.visible[k] * 4;
    for (let side = at; side < at + 4; side++) {
      motion.boxes[side] = from[side] + (after.boxes[side] - from[side]) * share;
    }
  }
}
