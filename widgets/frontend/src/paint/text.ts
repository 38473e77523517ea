/** Fonts of the text styles, as in explorer/render/face.py, and widths of texts. */

import { TEXT_STYLES, type Face, type TextRun, type TextStyle } from "../scene/face";
import sizes from "../scene/sizes";

export function fontOf(style: TextStyle, size = TEXT_STYLES[style][0]): string {
  return `${TEXT_STYLES[style][1] ? "bold " : ""}${size}px ${sizes.font_family}`;
}

let ruler: CanvasRenderingContext2D | null = null;
const widths = new Map<string, number>();
const KEPT_WIDTHS = 20_000;
const FEWEST_LETTERS = 4;

/** Width in pixels at the style's own size. */
export function measureText(text: string, style: TextStyle): number {
  const key = `${style}\n${text}`;
  let width = widths.get(key);
  if (width === undefined) {
    ruler ??= document.createElement("canvas").getContext("2d")!;
    ruler.font = fontOf(style);
    width = ruler.measureText(text).width;
    if (widths.size >= KEPT_WIDTHS) widths.clear();
    widths.set(key, width);
  }
  return width;
}

/** The face's title and what stands beside it. */
export function titleOf(face: Face): string {
  return face.texts
    .filter((run) => (run[3] === "title" || run[3] === "title-muted") && run[2] !== sizes.opener)
    .map((run) => run[2])
    .join(" ");
}

/** Centre of the face's title in the box's coordinates; the box's middle where it has none. */
export function titleCentre(face: Face): { x: number; y: number } {
  const run = face.texts.find((candidate) => candidate[3] === "title");
  if (!run) return { x: face.width / 2, y: face.height / 2 };
  const [x, baseline, text, style, anchor] = run;
  const width = measureText(text, style);
  const shift = anchor === "start" ? width / 2 : anchor === "end" ? -width / 2 : 0;
  return { x: x + shift, y: baseline - TEXT_STYLES[style][0] * 0.36 };
}

/** Where the first line of a frame's title ends, in the box's coordinates. */
export function titleEnd(face: Face): number {
  const ends = firstLine(face)
    .filter((run) => run[4] === "start")
    .map((run) => run[0] + measureText(run[2], run[3]));
  return Math.max(0, ...ends);
}

/** How far what stands at the right end of that line reaches from the box's right border. */
export function numberReach(face: Face): number {
  const reaches = firstLine(face)
    .filter((run) => run[4] === "end")
    .map((run) => face.width - run[0] + measureText(run[2], run[3]));
  return Math.max(0, ...reaches);
}

/** How far the end of that is from the box's right border; null where nothing stands there. */
export function numberGap(face: Face): number | null {
  const gaps = firstLine(face)
    .filter((run) => run[4] === "end")
    .map((run) => face.width - run[0]);
  return gaps.length > 0 ? Math.min(...gaps) : null;
}

function firstLine(face: Face): TextRun[] {
  return face.texts.filter((run) => run[1] === face.texts[0][1]);
}

/** About that share of a text, the rest as an ellipsis; nothing where too little is left. */
export function elide(text: string, share: number): string {
  if (share >= 0.995) return text;
  const letters = [...text];
  const kept = Math.floor(letters.length * share) - 1;
  // the ellipsis of a range such as "layers.0 … 11" is not to stand twice
  return kept < FEWEST_LETTERS - 1 ? "" : letters.slice(0, kept).join("").replace(/[ …]*$/, "…");
}
