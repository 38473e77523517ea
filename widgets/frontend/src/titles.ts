/** Titles of open groups seen from afar: where there is room above what is inside, or not at all. */

import { type Picture, shareOf } from "./picture";
import type { Picker } from "./pick";
import { TEXT_STYLES, fontOf, measureText } from "./text";
import { frameOf } from "./theme";
import type { Rectangle } from "./viewport";

/** Sizes of the text on the screen, the preferred one first. */
const SIZES = [10.5, 8.5, 7];
/** Height of the ground behind the text in sizes of the text. */
const HEIGHT = 1.4;
const INSET = 4;
const PADDING = 5;
/** A frame's title takes at most this part of its height. */
const MOST_OF_HEIGHT = 1 / 3;
const FEWEST_LETTERS = 4;

export interface PlacedTitle {
  readonly box: number;
  readonly text: string;
  /** size of the text in the scene's pixels */
  readonly size: number;
  readonly ground: Rectangle;
}

/**
 * Place the titles of the open groups among `boxes`: in the top left corner, shortened to the
 * group's width, and only where they lie on no box inside and on no other title.
 *
 * @param measure width of a text at size 1
 * @param isFree whether a rectangle lies on nothing but the group and what is around it
 */
export function placeTitles(
  picture: Pick<Picture, "scene" | "boxes" | "positions" | "zoom">,
  measure: (text: string) => number,
  isFree: (ground: Rectangle, box: number) => boolean,
): PlacedTitle[] {
  const { scene, boxes, positions, zoom } = picture;
  const placed: PlacedTitle[] = [];
  for (let k = 0; k < boxes.length; k++) {
    const box = boxes[k];
    if (!scene.isOpen(box)) continue;
    const at = box * 4;
    const width = positions[at + 2];
    const height = positions[at + 3];
    const title = scene.faceOf(box).texts.find((run) => run[3] === "title")?.[2];
    if (!title || height * zoom * MOST_OF_HEIGHT < SIZES[SIZES.length - 1] * HEIGHT) continue;
    for (const onScreen of SIZES) {
      const size = onScreen / zoom;
      const inset = Math.min(INSET / zoom, size / 2);
      const room = width - 2 * inset - (2 * PADDING) / zoom;
      const text = elide(title, room / (measure(title) * size));
      if (!text) continue;
      const ground = {
        x: positions[at] + inset,
        y: positions[at + 1] + inset / 2,
        width: Math.min(measure(text) * size, room) + (2 * PADDING) / zoom,
        height: size * HEIGHT,
      };
      if (ground.height > height * MOST_OF_HEIGHT) continue;
      if (placed.some((other) => touch(other.ground, ground)) || !isFree(ground, box)) continue;
      placed.push({ box, text, size, ground });
      break;
    }
  }
  return placed;
}

/** Whether nothing but a group, what is around it and its own wall lies in a rectangle. */
export function isFreeIn(picker: Picker, picture: Picture): (r: Rectangle, box: number) => boolean {
  const { scene } = picture;
  return (ground, box) => {
    for (const other of picker.boxesIn(ground)) {
      let around = box;
      while (around >= 0 && around !== other) around = scene.parentOf(around);
      if (around < 0) return false;
    }
    return true;
  };
}

export function drawTitles(picture: Picture, picker: Picker): void {
  const { context, scene, palette, zoom } = picture;
  const measure = (text: string): number => measureText(text, "title") / TEXT_STYLES.title[0];
  // while boxes move, the index knows where they will be and not where they are
  const isFree = picture.motion ? (): boolean => true : isFreeIn(picker, picture);
  context.textAlign = "left";
  context.textBaseline = "alphabetic";
  for (const { box, text, size, ground } of placeTitles(picture, measure, isFree)) {
    const share = shareOf(picture, box);
    context.font = fontOf("title", size);
    context.globalAlpha = 0.85 * share;
    context.fillStyle = frameOf(palette, scene.depthOf(box)).fill;
    context.beginPath();
    context.roundRect(ground.x, ground.y, ground.width, ground.height, 4 / zoom);
    context.fill();
    context.globalAlpha = share;
    context.fillStyle = palette.frame_text;
    context.fillText(text, ground.x + PADDING / zoom, ground.y + ground.height * 0.74);
  }
  context.globalAlpha = 1;
}

/** About that share of a text, the rest as an ellipsis; nothing where too little is left. */
export function elide(text: string, share: number): string {
  if (share >= 0.995) return text;
  const letters = [...text];
  const kept = Math.floor(letters.length * share) - 1;
  return kept < FEWEST_LETTERS - 1 ? "" : `${letters.slice(0, kept).join("").trimEnd()}…`;
}

function touch(one: Rectangle, other: Rectangle): boolean {
  return (
    one.x < other.x + other.width &&
    other.x < one.x + one.width &&
    one.y < other.y + other.height &&
    other.y < one.y + one.height
  );
}
