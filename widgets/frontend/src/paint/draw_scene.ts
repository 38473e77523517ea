/** Paints the part of a Scene that lies in the window on a 2D canvas. */

import type { Rectangle, Size } from "../scene/geometry";
import type { Picker } from "../scene/pick";
import type { Scene } from "../scene/scene";
import type { Lit } from "../scene/trace";
import { drawBlocks, drawBoxes, drawFrames, drawRings } from "./draw_boxes";
import { drawEdges, drawLabels, drawPorts } from "./draw_edges";
import { drawTitles } from "./draw_titles";
import { TITLES_ZOOM, type Detail, type Emphasis, type Motion, type Pass } from "./pass";
import type { Paints } from "./paints";
import type { Titles } from "./place_titles";
import type { Palette } from "./theme";
import type { Tiles } from "./tiles";
import { type Viewport, visiblePart } from "./viewport";

const FULL_ZOOM = 0.45;
/** With more boxes in the window they lose their texts. */
export const MOST_BOXES_WITH_TEXT = 2500;
/** Frames of which less than this height is on the screen get no title. */
const LEAST_TITLED = 20;
/** How much of what is not lit is covered. */
const VEIL = 0.72;
/** More lit edges than these are left to the bitmaps. */
const MOST_LIT_EDGES = 5000;

export interface Painting {
  scene: Scene;
  picker: Picker;
  view: Viewport;
  size: Size;
  ratio: number;
  palette: Palette;
  emphasis: Emphasis;
  paints: Paints;
  motion: Motion | null;
  titles: Titles;
  /** bitmaps of the scene, for windows that show much of a large one */
  tiles: Tiles | null;
  /** bitmaps of what is lit */
  litTiles: Tiles | null;
}

/**
 * Paint one frame.
 *
 * @returns number of boxes painted one by one, and whether bitmaps stand for the others
 */
export function paintScene(
  context: CanvasRenderingContext2D,
  painting: Painting,
): { count: number; tiled: boolean } {
  const { scene, view, size, ratio, palette, emphasis, paints, motion, picker } = painting;
  const part = visiblePart(view, size);
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.globalAlpha = 1;
  context.fillStyle = palette.page;
  context.fillRect(0, 0, Math.ceil(size.width * ratio), Math.ceil(size.height * ratio));
  const scale = view.zoom * ratio;
  context.setTransform(scale, 0, 0, scale, -view.x * scale, -view.y * scale);
  const ground = {
    ...{ context, scene, palette, emphasis, paints, motion, part, zoom: view.zoom },
    positions: motion ? motion.boxes : scene.boxes,
    share: motion ? motion.share : 1,
    ...{ isLit: false, titles: [] },
  };
  if (!motion && painting.tiles && view.zoom < TITLES_ZOOM) {
    return { count: paintTiled(painting, ground, part), tiled: true };
  }
  const boxes = motion ? movingBoxesIn(motion, part) : picker.boxesIn(part);
  const crowded = boxes.length > MOST_BOXES_WITH_TEXT;
  if (!motion && painting.tiles && crowded) {
    return { count: paintTiled(painting, ground, part), tiled: true };
  }
  const edges = picker.edgesIn(part);
  const ports = picker.portsIn(part);
  const detail: Detail =
    view.zoom < TITLES_ZOOM || crowded ? "blocks" : view.zoom < FULL_ZOOM ? "titles" : "full";
  const titles = detail === "full" ? [] : painting.titles.place({ ...ground, boxes });
  const pass: Pass = { ...ground, boxes, edges, ports, detail, titles };
  paintOneByOne(pass, crowded);
  const { lit } = emphasis;
  if (lit) {
    drawTitles({ ...pass, titles: titles.filter(({ box }) => !lit.around[box]) });
    drawVeil(pass);
    paintOneByOne(onlyLit(pass, lit), crowded);
    // the texts of groups around what is lit, as from afar
    const around = Array.from(boxes).filter((box) => lit.around[box] && scene.isOpen(box));
    if (detail === "full") drawBoxes({ ...pass, boxes: around });
  }
  drawRings(pass);
  drawTitles({ ...pass, titles: titles.filter(({ box }) => !lit || lit.around[box]) });
  return { count: boxes.length, tiled: false };
}

function paintOneByOne(pass: Pass, crowded: boolean): void {
  drawFrames(pass);
  drawEdges(pass);
  if (crowded) drawBlocks(pass);
  else drawBoxes(pass);
  drawPorts(pass);
  drawLabels(pass);
}

type Ground = Omit<Pass, "boxes" | "edges" | "ports" | "detail">;

/** Copy bitmaps, and draw over them what is marked. */
function paintTiled(painting: Painting, ground: Ground, part: Rectangle): number {
  const { emphasis, picker, view, size, ratio, tiles, litTiles } = painting;
  const { context } = ground;
  const marked = markedIn(painting, part);
  const pass: Pass = { ...ground, ...marked, ports: [], detail: "blocks" };
  const frames = picker.framesIn(part, LEAST_TITLED / view.zoom);
  const titles = painting.titles.place({ ...ground, boxes: frames });
  const { lit } = emphasis;
  tiles?.draw(context, view, size, ratio);
  if (lit) {
    drawTitles({ ...pass, titles: titles.filter(({ box }) => !lit.around[box]) });
    drawVeil(ground);
    litTiles?.draw(context, view, size, ratio);
    drawLitEdges(painting, ground, part);
  }
  drawEdges(pass);
  drawRings(pass);
  drawTitles({ ...pass, titles: titles.filter(({ box }) => !lit || lit.around[box]) });
  return marked.boxes.length;
}

/** Draw lit edges as wide as they are to be on the screen; bitmaps that are shrunk thin them. */
function drawLitEdges({ emphasis, picker }: Painting, ground: Ground, part: Rectangle): void {
  const { lit } = emphasis;
  const edges = lit ? picker.edgesIn(part).filter((edge) => lit.edges[edge]) : [];
  if (edges.length > MOST_LIT_EDGES) return;
  drawEdges({ ...ground, boxes: [], edges, ports: [], detail: "blocks", isLit: true });
}

function drawVeil({ context, part, palette, share }: Ground): void {
  context.globalAlpha = VEIL * share;
  context.fillStyle = palette.page;
  context.fillRect(part.x, part.y, part.width, part.height);
  context.globalAlpha = 1;
}

/** What is lit of a picture; frames stay under the veil. */
function onlyLit(pass: Pass, lit: Lit): Pass {
  const { scene } = pass;
  const boxes = Array.from(pass.boxes).filter((box) => lit.boxes[box] && !scene.isOpen(box));
  const edges = Array.from(pass.edges).filter((edge) => lit.edges[edge]);
  const values = new Set(edges.map((edge) => scene.edgePath(edge)));
  const ports = Array.from(pass.ports).filter((port) => values.has(scene.portPath(port)));
  return { ...pass, boxes, edges, ports, isLit: true };
}

function movingBoxesIn(motion: Motion, part: Rectangle): number[] {
  const { boxes, visible } = motion;
  return Array.from(visible).filter((box) => {
    const at = box * 4;
    return (
      boxes[at] <= part.x + part.width &&
      boxes[at] + boxes[at + 2] >= part.x &&
      boxes[at + 1] <= part.y + part.height &&
      boxes[at + 1] + boxes[at + 3] >= part.y
    );
  });
}

function markedIn(painting: Painting, part: Rectangle): { boxes: number[]; edges: number[] } {
  const { emphasis, scene } = painting;
  const all = [...emphasis.boxes, ...emphasis.hoverBoxes, ...emphasis.hits, emphasis.place];
  const boxes = all.filter((box) => {
    const at = box * 4;
    return (
      box >= 0 &&
      scene.boxes[at + 1] <= part.y + part.height &&
      scene.boxes[at + 1] + scene.boxes[at + 3] >= part.y
    );
  });
  return { boxes, edges: [...emphasis.edges, ...emphasis.hoverEdges] };
}
