/** Paint: colours and marks by path, laid over faces and edges that stay as they are. */

import type { Face } from "../scene/face";
import type { Scene } from "../scene/scene";
import { type Category, type Palette, type Pill, categoryOf } from "./theme";

/** How one box or edge is painted: a tone of the themes, and what the pill on a box says. */
export interface Paint {
  readonly tone: string;
  readonly text: string;
}

/** What of a scene is painted, by the numbers of its boxes and edges. */
export interface Paints {
  readonly boxes: ReadonlyMap<number, Paint>;
  readonly edges: ReadonlyMap<number, Paint>;
}

/** Tone and text by path, as Python tells them. */
export type PaintsByPath = Readonly<Record<string, readonly [string, string]>>;

export const NO_PAINTS: Paints = { boxes: new Map(), edges: new Map() };

/** Find what is painted in a scene; costs what is painted, not what is shown. */
export function placePaints(scene: Scene, byPath: PaintsByPath): Paints {
  const boxes = new Map<number, Paint>();
  const edges = new Map<number, Paint>();
  for (const [path, [tone, text]] of Object.entries(byPath)) {
    const paint = { tone, text };
    for (const box of scene.boxesAt(path)) if (scene.pathOf(box) === path) boxes.set(box, paint);
    for (const edge of scene.edgesAt(path)) {
      if (scene.edgePath(edge) === path) edges.set(edge, paint);
    }
  }
  return { boxes, edges };
}

/** The colours of a tone; nothing for what is not painted, or in a tone that no theme has. */
export function toneOf(palette: Palette, paint: Paint | undefined): Pill | undefined {
  return paint && palette.tones[paint.tone];
}

/** The colours of a box that is not open: those of its paint, else of its category. */
export function coloursOf(palette: Palette, face: Face, paint: Paint | undefined): Category {
  const tone = toneOf(palette, paint);
  if (!tone) return categoryOf(palette, face.category);
  return { tint: tone.fill, border: tone.border, text: tone.text };
}
