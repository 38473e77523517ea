/** Titles of open groups seen from afar: above what is inside where there is room, else over it. */

import { TEXT_STYLES } from "../scene/face";
import type { Rectangle } from "../scene/geometry";
import type { Picker } from "../scene/pick";
import { type Pass, type PlacedTitle, shareOf } from "./pass";
import { fontOf, measureText } from "./text";
import { frameOf } from "./theme";

/** Sizes of the text on the screen, the preferred one first. */
const SIZES = [10.5, 8.5, 7];
/** Height of the ground behind the text in sizes of the text. */
const HEIGHT = 1.4;
const INSET = 4;
const PADDING = 5;
/** A frame's title takes at most this part of its height. */
const MOST_OF_HEIGHT = 1 / 3;
const FEWEST_LETTERS = 4;
/** How much of what is under a title is covered. */
const GROUND = 0.92;

/**
 * Place the titles of the open groups among `boxes`, outer groups first: in the top left corner,
 * beside or below the titles that are there already, shortened to the group's width. One that
 * finds no room above the boxes inside is laid over them, since the group tells more than what is
 * in it; over another title none is laid.
 *
 * @param measure width of a text at size 1
 * @param isFree whether a rectangle lies on nothing but the group and what is around it
 */
export function placeTitles(
  pass: Pick<Pass, "scene" | "boxes" | "positions" | "zoom">,
  measure: (text: string) => number,
  isFree: (ground: Rectangle, box: number) => boolean,
): PlacedTitle[] {
  const { scene } = pass;
  const open = Array.from(pass.boxes).filter((box) => scene.isOpen(box));
  open.sort((one, other) => scene.depthOf(one) - scene.depthOf(other));
  const placed: PlacedTitle[] = [];
  for (const box of open) {
    const grounds = placed.map(({ ground }) => ground);
    const fitting = SIZES.flatMap((size) => titlesOf(pass, box, size, grounds, measure));
    const whole = fitting.find(({ text }) => !text.endsWith("…"));
    const title = fitting.find(({ ground }) => isFree(ground, box)) ?? whole ?? fitting[0];
    if (title) placed.push(title);
  }
  return placed;
}

/** The title of an open group in the places where it fits, the best first. */
function titlesOf(
  { scene, positions, zoom }: Pick<Pass, "scene" | "positions" | "zoom">,
  box: number,
  sizeOnScreen: number,
  taken: readonly Rectangle[],
  measure: (text: string) => number,
): PlacedTitle[] {
  const [left, top, width, height] = positions.subarray(box * 4, box * 4 + 4);
  const title = scene.faceOf(box).texts.find((run) => run[3] === "title")?.[2];
  const size = sizeOnScreen / zoom;
  const room = height * MOST_OF_HEIGHT;
  if (!title || size * HEIGHT > room) return [];
  const inset = Math.min(INSET / zoom, size / 2);
  const placeAt = (x: number, y: number): PlacedTitle | null => {
    const most = left + width - inset - x - (2 * PADDING) / zoom;
    const text = elide(title, most / (measure(title) * size));
    if (!text || y + size * HEIGHT > top + Math.max(room, height / 2)) return null;
    const across = Math.min(measure(text) * size, most) + (2 * PADDING) / zoom;
    return { box, text, size, ground: { x, y, width: across, height: size * HEIGHT } };
  };
  const first = placeAt(left + inset, top + inset / 2);
  const inWay = first ? taken.filter((ground) => touch(ground, first.ground)) : [];
  if (!first || inWay.length === 0) return first ? [first] : [];
  const right = Math.max(...inWay.map((ground) => ground.x + ground.width));
  const below = Math.max(...inWay.map((ground) => ground.y + ground.height));
  const beside = [placeAt(right + 1 / zoom, first.ground.y), placeAt(first.ground.x, below + 1 / zoom)];
  return beside.filter(
    (one) => one !== null && !taken.some((ground) => touch(ground, one.ground)),
  ) as PlacedTitle[];
}

/** Whether nothing but a group, what is around it and its own wall lies in a rectangle. */
export function isFreeIn(
  picker: Picker,
  { scene }: Pick<Pass, "scene">,
): (r: Rectangle, box: number) => boolean {
  return (ground, box) => {
    for (const other of picker.boxesIn(ground)) {
      let around = box;
      while (around >= 0 && around !== other) around = scene.parentOf(around);
      if (around < 0) return false;
    }
    return true;
  };
}

/** The titles of the open groups in a picture that is seen from afar. */
export function planTitles(
  pass: Pick<Pass, "scene" | "boxes" | "positions" | "zoom" | "motion">,
  picker: Picker,
): PlacedTitle[] {
  const measure = (text: string): number => measureText(text, "title") / TEXT_STYLES.title[0];
  // while boxes move, the index knows where they will be and not where they are
  const isFree = pass.motion ? (): boolean => true : isFreeIn(picker, pass);
  return placeTitles(pass, measure, isFree);
}

export function drawTitles(pass: Pass): void {
  const { context, scene, palette, zoom } = pass;
  context.textAlign = "left";
  context.textBaseline = "alphabetic";
  for (const { box, text, size, ground } of pass.titles) {
    const share = shareOf(pass, box);
    context.font = fontOf("title", size);
    context.globalAlpha = GROUND * share;
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

/** Whether a title of a group lies on a rectangle. */
export function isUnderTitle({ titles }: Pick<Pass, "titles">, place: Rectangle): boolean {
  return titles.some(({ ground }) => touch(ground, place));
}

/** About that share of a text, the rest as an ellipsis; nothing where too little is left. */
export function elide(text: string, share: number): string {
  if (share >= 0.995) return text;
  const letters = [...text];
  const kept = Math.floor(letters.length * share) - 1;
  // the ellipsis of a range such as "layers.0 … 11" is not to stand twice
  return kept < FEWEST_LETTERS - 1 ? "" : letters.slice(0, kept).join("").replace(/[ …]*$/, "…");
}

function touch(one: Rectangle, other: Rectangle): boolean {
  return (
    one.x < other.x + other.width &&
    other.x < one.x + one.width &&
    one.y < other.y + other.height &&
    other.y < one.y + one.height
  );
}
