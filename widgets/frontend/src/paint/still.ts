/** Still pictures of a scene, or of a part of it: without what is marked, all texts drawn. */

import type { Rectangle } from "../scene/geometry";
import type { Picker } from "../scene/pick";
import type { Scene } from "../scene/scene";
import sizes from "../scene/sizes";
import { drawBoxes, drawFrames } from "./draw_boxes";
import { drawEdges, drawLabels, drawPorts } from "./draw_edges";
import type { Paints } from "./paints";
import { noEmphasis } from "./pass";
import { SvgContext, escapeText } from "./svg_context";
import type { Palette } from "./theme";

/** What a still picture is drawn of. */
export interface Still {
  readonly scene: Scene;
  readonly picker: Picker;
  readonly palette: Palette;
  readonly paints: Paints;
}

/** Pixels of a PNG for each of the scene, at most. */
const PNG_SCALE = 2;
/** As for explorer/render/raster.py: browsers draw no larger ones. */
const LONGEST_SIDE = 16_000;
const MOST_PIXELS = 64_000_000;

/** The whole of a scene. */
export function wholeOf({ width, height }: Scene): Rectangle {
  return { x: 0, y: 0, width, height };
}

/** What of a rectangle lies in a scene; null for nothing. */
export function clipTo(scene: Scene, { x, y, width, height }: Rectangle): Rectangle | null {
  const [left, top] = [Math.max(x, 0), Math.max(y, 0)];
  const [right, bottom] = [Math.min(x + width, scene.width), Math.min(y + height, scene.height)];
  if (right - left < 1 || bottom - top < 1) return null;
  return { x: left, y: top, width: right - left, height: bottom - top };
}

export function drawSvg(still: Still, part: Rectangle, title: string): string {
  const context = new SvgContext();
  paint(context as unknown as CanvasRenderingContext2D, still, part);
  const [x, y, width, height] = [part.x, part.y, part.width, part.height].map(
    (value) => Math.round(value * 100) / 100,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"` +
      ` viewBox="${x} ${y} ${width} ${height}" font-family="${escapeText(sizes.font_family)}">`,
    `<title>${escapeText(title || "Model graph")}</title>`,
    context.elements,
    "</svg>\n",
  ].join("\n");
}

/** @returns the picture, and a notice where it had to be smaller than usual */
export async function drawPng(still: Still, part: Rectangle): Promise<[Blob, string]> {
  const scale = choosePngScale(part);
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.floor(part.width * scale));
  canvas.height = Math.max(1, Math.floor(part.height * scale));
  const context = canvas.getContext("2d");
  if (!context) throw new Error("The browser has no room for a picture of this size.");
  context.setTransform(scale, 0, 0, scale, -part.x * scale, -part.y * scale);
  paint(context, still, part);
  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/png"));
  if (!blob) throw new Error("The browser has no room for a picture of this size.");
  const notice =
    scale < PNG_SCALE
      ? `The PNG is drawn at ${scale.toPrecision(3)} instead of ${PNG_SCALE} pixels per unit, ` +
        "because it would be too large. SVG has no such limit."
      : "";
  return [blob, notice];
}

export function choosePngScale({ width, height }: Rectangle): number {
  const most = Math.sqrt(MOST_PIXELS / (width * height));
  return Math.min(PNG_SCALE, LONGEST_SIDE / width, LONGEST_SIDE / height, most);
}

function paint(context: CanvasRenderingContext2D, still: Still, part: Rectangle): void {
  const { scene, picker, palette, paints } = still;
  context.fillStyle = palette.page;
  context.fillRect(part.x, part.y, part.width, part.height);
  const pass = {
    ...{ context, scene, palette, paints, part, emphasis: noEmphasis(), motion: null, titles: [] },
    ...{ positions: scene.boxes, zoom: 1, share: 1, isLit: false, detail: "full" as const },
    boxes: picker.boxesIn(part),
    edges: picker.edgesIn(part),
    ports: picker.portsIn(part),
  };
  drawFrames(pass);
  drawEdges(pass, false);
  drawBoxes(pass);
  drawPorts(pass);
  drawLabels(pass);
}
