/** What the painters are given: a part of a Scene, what is marked in it, and how it is seen. */

import type { Rectangle } from "../scene/geometry";
import type { Scene } from "../scene/scene";
import type { Lit } from "../scene/trace";
import type { Paints } from "./paints";
import type { Palette } from "./theme";

/** From here on boxes have titles. */
export const TITLES_ZOOM = 0.25;

/** What is selected, pointed at, found and lit. */
export interface Emphasis {
  boxes: Set<number>;
  edges: Set<number>;
  /** parts of boxes: box, top and bottom in the box's coordinates */
  rows: Array<[number, number, number, number]>;
  hoverBoxes: Set<number>;
  hoverEdges: Set<number>;
  hits: Set<number>;
  currentHit: number;
  /** the box that a jump along a value has led to, -1 for none */
  place: number;
  /** what is lit while all else is dimmed */
  lit: Lit | null;
}

export function noEmphasis(): Emphasis {
  return {
    boxes: new Set(),
    edges: new Set(),
    rows: [],
    hoverBoxes: new Set(),
    hoverEdges: new Set(),
    hits: new Set(),
    currentHit: -1,
    place: -1,
    lit: null,
  };
}

/** Boxes on their way from where they were to where they are. */
export interface Motion {
  /** the boxes that are to be seen on the way, outer boxes before inner ones */
  readonly visible: ArrayLike<number>;
  /** x, y, width, height of every box now */
  readonly boxes: Float64Array;
  /** 1 for boxes that were not there before or look different */
  readonly fresh: Uint8Array;
  /** 0 at the start, 1 at the end */
  share: number;
}

/** How much is drawn: all; tinted boxes with titles; tinted boxes. */
export type Detail = "full" | "titles" | "blocks";

export interface Pass {
  readonly context: CanvasRenderingContext2D;
  readonly scene: Scene;
  readonly palette: Palette;
  readonly emphasis: Emphasis;
  readonly paints: Paints;
  readonly motion: Motion | null;
  /** x, y, width, height of every box as drawn */
  readonly positions: Float64Array;
  readonly part: Rectangle;
  readonly zoom: number;
  readonly detail: Detail;
  /** boxes, edges and ports that touch the window, outer boxes before inner ones */
  readonly boxes: ArrayLike<number>;
  readonly edges: ArrayLike<number>;
  readonly ports: ArrayLike<number>;
  /** how much of what has no place to come from is to be seen */
  readonly share: number;
  /** whether this is what is lit: its edges keep a width on the screen and a strong colour */
  readonly isLit: boolean;
  /** titles of open groups that are drawn over the boxes; texts of these make way */
  readonly titles: readonly PlacedTitle[];
}

/** The title of an open group seen from afar, and where it stands. */
export interface PlacedTitle {
  readonly box: number;
  readonly text: string;
  /** size of the text on the screen */
  readonly size: number;
  /** in the scene's pixels */
  readonly ground: Rectangle;
}

/** How much of a box is to be seen: what is new fades in. */
export function shareOf({ motion }: Pass, box: number): number {
  return motion && motion.fresh[box] ? motion.share : 1;
}
