/** Paint: colours and marks by path, laid over faces and edges that stay as they are. */

import type { Face } from "../scene/face";
import { type PaintsByPath, type WrittenPaint, paintCalls } from "../scene/paints_by_path";
import type { Scene } from "../scene/scene";
import { type Category, type Palette, type Tone, categoryOf, findTone } from "./theme";

/** How one box or edge is painted; as Paint of explorer/render/paint.py. */
export interface Paint {
  /** a tone of the themes, "" where colours stay */
  readonly tone: string;
  /** what the pill on a box says */
  readonly text: string;
  /** tone of the ring around a box */
  readonly ring: string;
  /** a sign or a count in the corner of a box */
  readonly mark: string;
  readonly markTone: string;
  readonly dashed: boolean;
  readonly hatched: boolean;
}

/** What of a scene is painted, by the numbers of its boxes and edges. */
export interface Paints {
  readonly boxes: ReadonlyMap<number, Paint>;
  readonly edges: ReadonlyMap<number, Paint>;
}

export const NO_PAINTS: Paints = { boxes: new Map(), edges: new Map() };

/** Find what is painted in a scene; costs what is painted, not what is shown. */
export function placePaints(scene: Scene, byPath: PaintsByPath): Paints {
  const boxes = new Map<number, Paint>();
  const edges = new Map<number, Paint>();
  for (const [path, written] of Object.entries(paintCalls(byPath, scene.openCalls()))) {
    const paint = readPaint(written);
    for (const box of scene.boxesAt(path)) if (scene.pathOf(box) === path) boxes.set(box, paint);
    for (const edge of scene.edgesAt(path)) {
      if (scene.edgePath(edge) === path) edges.set(edge, paint);
    }
  }
  return { boxes, edges };
}

function readPaint(written: WrittenPaint): Paint {
  const [tone, text = "", ring = "", mark = "", markTone = "", flags = 0] = written;
  return { tone, text, ring, mark, markTone, dashed: (flags & 1) > 0, hatched: (flags & 2) > 0 };
}

/** The tone of the border of an open group, and of an edge. */
export function lineToneOf(palette: Palette, paint: Paint | undefined): string | undefined {
  if (!paint) return undefined;
  return findTone(palette, paint.ring)?.strong ?? findTone(palette, paint.tone)?.border;
}

/** The colours of a tone; nothing for what is not filled, or in a tone that no theme has. */
export function toneOf(palette: Palette, paint: Paint | undefined): Tone | undefined {
  return paint && findTone(palette, paint.tone);
}

/** The colours of a box that is not open: those of its paint, else of its category. */
export function coloursOf(palette: Palette, face: Face, paint: Paint | undefined): Category {
  const tone = toneOf(palette, paint);
  if (tone) return { tint: tone.fill, border: tone.border, text: tone.text, frame: tone.fill };
  if (face.outline === "caption") {
    const { muted } = palette;
    return { tint: palette.page, border: muted, text: muted, frame: palette.body };
  }
  if (face.outline !== "junction") return categoryOf(palette, face.category);
  // it belongs to the stream
  const { body, stream, ink } = palette;
  return { tint: face.texts.length > 0 ? body : stream, border: stream, text: ink, frame: body };
}

/** The colours of a box that is drawn without its face: a ring is seen from afar too. */
export function coloursFromAfar(palette: Palette, face: Face, paint: Paint | undefined): Category {
  const ring = paint && findTone(palette, paint.ring);
  const own = coloursOf(palette, face, paint);
  if (!ring) return own;
  return { tint: paint.tone ? own.tint : ring.fill, border: ring.strong, text: own.text, frame: own.frame };
}
