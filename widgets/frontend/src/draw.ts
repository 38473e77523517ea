/** Paints the part of a Scene that lies in the window on a 2D canvas. */

import { drawBlocks, drawBoxes, drawFrameTitles, drawFrames, drawRings } from "./boxes";
import { drawEdges, drawLabels, drawPorts } from "./edges";
import type { Picker } from "./pick";
import type { Palette } from "./theme";
import { type Rectangle, type Size, type Viewport, visiblePart } from "./viewport";
import type { Scene } from "./wire";

/** What is selected, pointed at and found. */
export interface Marks {
  boxes: Set<number>;
  edges: Set<number>;
  /** parts of boxes: box, top and bottom in the box's coordinates */
  rows: Array<[number, number, number]>;
  hoverBoxes: Set<number>;
  hoverEdges: Set<number>;
  hits: Set<number>;
  currentHit: number;
}

export function noMarks(): Marks {
  return {
    boxes: new Set(),
    edges: new Set(),
    rows: [],
    hoverBoxes: new Set(),
    hoverEdges: new Set(),
    hits: new Set(),
    currentHit: -1,
  };
}

/** Boxes on their way from where they were to where they are. */
export interface Motion {
  /** x, y, width, height of every box now */
  boxes: Float32Array;
  /** 1 for boxes that were not there before or look different */
  fresh: Uint8Array;
  /** 0 at the start, 1 at the end */
  share: number;
}

/** How much is drawn: all; tinted boxes with titles; tinted boxes. */
export type Detail = "full" | "titles" | "blocks";

const FULL_ZOOM = 0.45;
const TITLES_ZOOM = 0.25;
const MOST_BOXES_WITH_TEXT = 2500;

export interface Picture {
  readonly context: CanvasRenderingContext2D;
  readonly scene: Scene;
  readonly palette: Palette;
  readonly marks: Marks;
  readonly motion: Motion | null;
  /** x, y, width, height of every box as drawn */
  readonly positions: Float32Array;
  readonly part: Rectangle;
  readonly zoom: number;
  readonly detail: Detail;
  /** boxes and edges that touch the window, outer boxes before inner ones */
  readonly boxes: ArrayLike<number>;
  readonly edges: ArrayLike<number>;
  /** how much of what has no place to come from is to be seen */
  readonly share: number;
}

export interface Painting {
  scene: Scene;
  picker: Picker;
  view: Viewport;
  size: Size;
  ratio: number;
  palette: Palette;
  marks: Marks;
  motion: Motion | null;
  overview: Overview | null;
}

/**
 * Paint one frame.
 *
 * @param ratio device pixels for one CSS pixel
 * @returns number of boxes painted one by one
 */
export function paint(context: CanvasRenderingContext2D, painting: Painting): number {
  const { scene, view, size, ratio, palette, marks, motion } = painting;
  const part = visiblePart(view, size);
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.globalAlpha = 1;
  context.fillStyle = palette.page;
  context.fillRect(0, 0, Math.ceil(size.width * ratio), Math.ceil(size.height * ratio));
  const scale = view.zoom * ratio;
  context.setTransform(scale, 0, 0, scale, -view.x * scale, -view.y * scale);
  if (painting.overview && !motion && scale <= painting.overview.scale * OVERVIEW_STRETCH) {
    const { bitmap, scale: drawn } = painting.overview;
    context.imageSmoothingEnabled = true;
    context.drawImage(bitmap, 0, 0, bitmap.width / drawn, bitmap.height / drawn);
    const marked = markedIn(painting, part);
    const picture: Picture = {
      ...{ context, scene, palette, marks, motion, part },
      ...{ positions: scene.boxes, zoom: view.zoom, detail: "blocks", share: 1 },
      ...{ boxes: marked.boxes, edges: marked.edges },
    };
    drawEdges(picture);
    drawFrameTitles({ ...picture, boxes: largeFramesIn(scene, part) });
    drawRings(picture);
    return marked.boxes.length;
  }
  const boxes = motion ? movingBoxesIn(motion, part) : painting.picker.boxesIn(part);
  const edges = painting.picker.edgesIn(part);
  const detail: Detail =
    view.zoom < TITLES_ZOOM || boxes.length > MOST_BOXES_WITH_TEXT
      ? "blocks"
      : view.zoom < FULL_ZOOM
        ? "titles"
        : "full";
  const picture: Picture = {
    ...{ context, scene, palette, marks, motion, part, boxes, edges, detail },
    positions: motion ? motion.boxes : scene.boxes,
    zoom: view.zoom,
    share: motion ? motion.share : 1,
  };
  drawFrames(picture);
  drawEdges(picture);
  if (boxes.length > MOST_BOXES_WITH_TEXT) {
    drawBlocks(picture);
    drawFrameTitles(picture);
  } else {
    drawBoxes(picture);
  }
  drawPorts(picture);
  drawLabels(picture);
  drawRings(picture);
  return boxes.length;
}

/** The whole scene as a bitmap, for windows that show most of a large scene. */
export interface Overview {
  readonly bitmap: HTMLCanvasElement;
  /** bitmap pixels for one pixel of the scene */
  readonly scale: number;
}

const OVERVIEW_STRETCH = 1.5;
const OVERVIEW_SIDE = 4096;
const OVERVIEW_PIXELS = 8_000_000;
/** Scenes with fewer boxes are painted box by box at any zoom. */
export const OVERVIEW_BOXES = 4000;

export function drawOverview(scene: Scene, picker: Picker, palette: Palette): Overview {
  const width = Math.max(scene.width, 1);
  const height = Math.max(scene.height, 1);
  const scale = Math.min(
    OVERVIEW_SIDE / width,
    OVERVIEW_SIDE / height,
    Math.sqrt(OVERVIEW_PIXELS / (width * height)),
    TITLES_ZOOM,
  );
  const bitmap = document.createElement("canvas");
  bitmap.width = Math.max(1, Math.ceil(width * scale));
  bitmap.height = Math.max(1, Math.ceil(height * scale));
  const context = bitmap.getContext("2d")!;
  const part = { x: 0, y: 0, width, height };
  context.setTransform(scale, 0, 0, scale, 0, 0);
  const picture: Picture = {
    ...{ context, scene, palette, part, marks: noMarks(), motion: null },
    ...{ positions: scene.boxes, zoom: scale, detail: "blocks", share: 1 },
    ...{ boxes: picker.boxesIn(part), edges: picker.edgesIn(part) },
  };
  drawFrames(picture);
  drawEdges(picture);
  drawBlocks(picture);
  return { bitmap, scale };
}

function movingBoxesIn(motion: Motion, part: Rectangle): number[] {
  const { boxes } = motion;
  const found: number[] = [];
  for (let at = 0; at < boxes.length; at += 4) {
    if (
      boxes[at] <= part.x + part.width &&
      boxes[at] + boxes[at + 2] >= part.x &&
      boxes[at + 1] <= part.y + part.height &&
      boxes[at + 1] + boxes[at + 3] >= part.y
    ) {
      found.push(at / 4);
    }
  }
  return found;
}

/** Open groups that are large in the window, for which there may be room for a title. */
function largeFramesIn(scene: Scene, part: Rectangle): number[] {
  const { boxes } = scene;
  const found: number[] = [];
  const least = Math.max(part.height, part.width) / 25;
  for (let box = 0; box < scene.boxCount; box++) {
    const at = box * 4;
    if (boxes[at + 3] < least || !scene.isOpen(box)) continue;
    if (boxes[at + 1] > part.y + part.height || boxes[at + 1] + boxes[at + 3] < part.y) continue;
    found.push(box);
  }
  return found;
}

function markedIn(painting: Painting, part: Rectangle): { boxes: number[]; edges: number[] } {
  const { marks, scene } = painting;
  const boxes = [...marks.boxes, ...marks.hoverBoxes, ...marks.hits].filter((box) => {
    const at = box * 4;
    return (
      scene.boxes[at + 1] <= part.y + part.height &&
      scene.boxes[at + 1] + scene.boxes[at + 3] >= part.y
    );
  });
  return { boxes, edges: [...marks.edges, ...marks.hoverEdges] };
}
