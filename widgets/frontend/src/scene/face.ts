/** Faces: what is drawn on a box, in the box's own coordinates; made by explorer/render/faces.py. */

import sizes from "./sizes";

export type TextStyle = "title" | "title-muted" | "name" | "text" | "muted" | "badge" | "mark" | "label";
export type Anchor = "start" | "middle" | "end";
/** x, baseline, text, style, anchor */
export type TextRun = [number, number, string, TextStyle, Anchor];
/** x, y, width, height, text, and 1 for the quiet ones within a row */
export type Badge = [number, number, number, number, string, number?];
/** of what, x, y of its middle, width, and the same in words */
export type Bar = [string, number, number, number, string];
export interface Face {
  outline: "node" | "group" | "terminal" | "constant" | "stub" | "frame" | "junction" | "caption";
  category: string;
  width: number;
  height: number;
  header: number;
  rules: number[];
  stack: number;
  texts: TextRun[];
  badges: Badge[];
  /** left end, top and bottom of the rows that stand for constants */
  targets: Array<[number, number, number]>;
  /** the whole title where the texts have it shortened, else empty */
  title: string;
  /** the share of the model that the box holds */
  bar: Bar | null;
  /** of frames: how far what stands at the right reaches from the right border */
  aside: number;
}

/** size in pixels and whether bold */
export const TEXT_STYLES = sizes.text_styles as unknown as Record<TextStyle, readonly [number, boolean]>;
