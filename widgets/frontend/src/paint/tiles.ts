/**
 * Bitmaps of a large Scene seen from afar, painted a little in every frame.
 *
 * One bitmap of the whole, and tiles at scales of powers of two: moving the window then costs
 * as much as copying pixels, however many boxes are in it. What is not painted yet is shown
 * from the bitmap of the whole, enlarged.
 */

import type { Rectangle, Size } from "../scene/geometry";
import type { Picker } from "../scene/pick";
import type { Scene } from "../scene/scene";
import type { Lit } from "../scene/trace";
import { drawBlocks, drawFrames } from "./draw_boxes";
import { drawEdges } from "./draw_edges";
import { type Pass, noEmphasis } from "./pass";
import type { Paints } from "./paints";
import type { Palette } from "./theme";
import { type Viewport, visiblePart } from "./viewport";

const TILE = 512;
/** Tiles in memory, of a megabyte each; more only where one window needs more. */
const MOST_TILES = 96;
const WHOLE_SIDE = 4096;
const WHOLE_PIXELS = 2_500_000;
const WHOLE_SCALE = 0.25;
/** A whole scene is shown at least so wide and high, in pixels of the screen. */
const LEAST_SIDE = 3;
/** So many boxes or edges are painted between two looks at the clock. */
const CHUNK = 400;
/** A tile with more edges has them as straight lines. */
const MOST_CURVES = 1500;

/** A picture of the whole scene. */
export interface Overview {
  readonly bitmap: HTMLCanvasElement;
  /** bitmap pixels for one pixel of the scene */
  readonly scale: number;
}

/** Where a whole scene is drawn: one that is all length is widened until it can be seen. */
export function placeWhole(scene: Size, zoom: number): Rectangle {
  const width = Math.max(scene.width, LEAST_SIDE / zoom);
  const height = Math.max(scene.height, LEAST_SIDE / zoom);
  return { x: (scene.width - width) / 2, y: (scene.height - height) / 2, width, height };
}

interface Bitmap {
  readonly bitmap: HTMLCanvasElement;
  /** what is still to be painted; null when all is there */
  job: Iterator<void> | null;
  used: number;
}

/** How a window is covered: the scale of its tiles and which of them. */
export interface Cover {
  readonly scale: number;
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** The tiles for a window; the scale is the power of two from 0.7 to 1.4 times the window's. */
export function planCover(view: Viewport, size: Size, ratio: number, scene: Size): Cover {
  const scale = 2 ** Math.round(Math.log2(view.zoom * ratio));
  const part = visiblePart(view, size);
  const side = TILE / scale;
  const last = (length: number): number => Math.max(Math.ceil(length / side) - 1, 0);
  const clamp = (at: number, most: number): number => Math.min(Math.max(at, 0), most);
  return {
    scale,
    left: clamp(Math.floor(part.x / side), last(scene.width)),
    top: clamp(Math.floor(part.y / side), last(scene.height)),
    right: clamp(Math.floor((part.x + part.width) / side), last(scene.width)),
    bottom: clamp(Math.floor((part.y + part.height) / side), last(scene.height)),
  };
}

/** A tile: its scale, column and row. */
interface Place {
  readonly scale: number;
  readonly x: number;
  readonly y: number;
}

const QUARTERS = [
  [0, 0],
  [1, 0],
  [0, 1],
  [1, 1],
] as const;

export class Tiles {
  private readonly tiles = new Map<string, Bitmap>();
  /** bitmaps of forgotten tiles */
  private readonly spare: HTMLCanvasElement[] = [];
  private readonly whole: Bitmap;
  private readonly wholeScale: number;
  private clock = 0;

  /** @param lit paint only this, without frames */
  constructor(
    private readonly scene: Scene,
    private readonly picker: Picker,
    private readonly palette: Palette,
    private readonly paints: Paints,
    private readonly lit: Lit | null = null,
  ) {
    const width = Math.max(scene.width, 1);
    const height = Math.max(scene.height, 1);
    this.wholeScale = Math.min(
      ...[WHOLE_SIDE / width, WHOLE_SIDE / height, WHOLE_SCALE],
      Math.sqrt(WHOLE_PIXELS / (width * height)),
    );
    const bitmap = makeBitmap(
      Math.max(1, Math.ceil(width * this.wholeScale)),
      Math.max(1, Math.ceil(height * this.wholeScale)),
    );
    this.whole = this.begin(bitmap, { x: 0, y: 0, width, height }, this.wholeScale);
  }

  /** The whole scene; null until it is painted. */
  get overview(): Overview | null {
    return this.whole.job ? null : { bitmap: this.whole.bitmap, scale: this.wholeScale };
  }

  /** Draw what there is of the window. The context's unit is the scene's pixel. */
  draw(context: CanvasRenderingContext2D, view: Viewport, size: Size, ratio: number): void {
    const { scene } = this;
    this.clock++;
    context.imageSmoothingEnabled = true;
    if (view.zoom * ratio <= this.wholeScale * 1.2) {
      const { x, y, width, height } = placeWhole(scene, view.zoom);
      context.drawImage(this.whole.bitmap, x, y, width, height);
      return;
    }
    const cover = planCover(view, size, ratio, scene);
    const side = TILE / cover.scale;
    for (const { key, x, y } of tilesOf(cover)) {
      const tile = this.tiles.get(key);
      if (tile) tile.used = this.clock;
      if (tile && !tile.job) context.drawImage(tile.bitmap, x * side, y * side, side, side);
      else this.drawInstead(context, { scale: cover.scale, x, y });
    }
  }

  /** Draw what there is of a tile at other scales: until it is painted that is better than nothing. */
  private drawInstead(context: CanvasRenderingContext2D, { scale, x, y }: Place): void {
    const side = TILE / scale;
    if (!this.drawPart(context, { scale, x, y })) {
      this.drawWhole(context, { x: x * side, y: y * side, width: side, height: side });
    }
    for (const [right, below] of QUARTERS) {
      const quarter = this.painted({ scale: scale * 2, x: x * 2 + right, y: y * 2 + below });
      if (!quarter) continue;
      const [left, top] = [(x + right / 2) * side, (y + below / 2) * side];
      context.drawImage(quarter, left, top, side / 2, side / 2);
    }
  }

  /** Draw a tile as a part of one of half the scale, enlarged; whether there is one. */
  private drawPart(context: CanvasRenderingContext2D, { scale, x, y }: Place): boolean {
    const larger = this.painted({ scale: scale / 2, x: x >> 1, y: y >> 1 });
    if (!larger) return false;
    const side = TILE / scale;
    const half = TILE / 2;
    context.drawImage(
      ...([larger, (x & 1) * half, (y & 1) * half, half, half] as const),
      ...([x * side, y * side, side, side] as const),
    );
    return true;
  }

  /** The bitmap of a tile; null where it is not painted. */
  private painted(place: Place): HTMLCanvasElement | null {
    const tile = this.tiles.get(keyOf(place));
    if (!tile || tile.job) return null;
    tile.used = this.clock;
    return tile.bitmap;
  }

  /**
   * Paint what the window lacks until the clock says stop.
   *
   * @param until as `performance.now()` counts
   * @returns whether something is left to paint
   */
  work(view: Viewport, size: Size, ratio: number, until: number): boolean {
    if (!finish(this.whole, until)) return true;
    if (view.zoom * ratio <= this.wholeScale * 1.2) return false;
    const cover = planCover(view, size, ratio, this.scene);
    const wanted = tilesOf(cover);
    const middleX = (cover.left + cover.right) / 2;
    const middleY = (cover.top + cover.bottom) / 2;
    wanted.sort(
      (a, b) =>
        Math.hypot(a.x - middleX, a.y - middleY) - Math.hypot(b.x - middleX, b.y - middleY),
    );
    for (const { key, x, y } of wanted) {
      let tile = this.tiles.get(key);
      if (!tile) {
        const side = TILE / cover.scale;
        const part = { x: x * side, y: y * side, width: side, height: side };
        this.forget(Math.max(MOST_TILES, 2 * wanted.length) - 1);
        tile = this.begin(this.spare.pop() ?? makeBitmap(TILE, TILE), part, cover.scale);
        this.tiles.set(key, tile);
      }
      if (!finish(tile, until)) return true;
    }
    return false;
  }

  /** Go on with the bitmap of the whole; whether something of it is left to paint. */
  workOnWhole(until: number): boolean {
    return !finish(this.whole, until);
  }

  /** Draw a part of the whole, enlarged, in place of a tile. */
  private drawWhole(context: CanvasRenderingContext2D, place: Rectangle): void {
    const { bitmap } = this.whole;
    const scale = this.wholeScale;
    const width = Math.min(place.width, bitmap.width / scale - place.x);
    const height = Math.min(place.height, bitmap.height / scale - place.y);
    if (width <= 0 || height <= 0) return;
    context.drawImage(
      ...([bitmap, place.x * scale, place.y * scale, width * scale, height * scale] as const),
      ...([place.x, place.y, width, height] as const),
    );
  }

  private begin(bitmap: HTMLCanvasElement, part: Rectangle, scale: number): Bitmap {
    return { bitmap, job: this.paint(bitmap, part, scale), used: this.clock };
  }

  private *paint(bitmap: HTMLCanvasElement, part: Rectangle, scale: number): Iterator<void> {
    const { scene, picker, palette, paints, lit } = this;
    const context = bitmap.getContext("2d");
    if (!context) return;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, bitmap.width, bitmap.height);
    context.setTransform(scale, 0, 0, scale, -part.x * scale, -part.y * scale);
    yield; // a new bitmap takes its time
    let boxes: Uint32Array = picker.boxesIn(part);
    yield;
    let edges: Uint32Array = picker.edgesIn(part);
    yield;
    if (lit) {
      boxes = boxes.filter((box) => lit.boxes[box]);
      edges = edges.filter((edge) => lit.edges[edge]);
    }
    const pass: Pass = {
      ...{ context, scene, palette, part, paints, emphasis: noEmphasis(), motion: null, ports: [] },
      ...{ positions: scene.boxes, zoom: scale, detail: "blocks", share: 1, boxes, edges },
      ...{ isLit: lit !== null, titles: [] },
    };
    if (!lit) {
      for (const chunk of chunksOf(boxes)) {
        drawFrames({ ...pass, boxes: chunk });
        yield;
      }
    }
    const rough = edges.length > MOST_CURVES;
    for (const chunk of chunksOf(edges)) {
      drawEdges({ ...pass, edges: chunk }, rough);
      yield;
    }
    for (const chunk of chunksOf(boxes)) {
      drawBlocks({ ...pass, boxes: chunk });
      yield;
    }
  }

  /** Give up the tiles that were not drawn for longest, and keep their bitmaps for others. */
  private forget(most: number): void {
    if (this.tiles.size <= most) return;
    const oldest = [...this.tiles].sort(([, a], [, b]) => a.used - b.used);
    for (const [key, { bitmap }] of oldest.slice(0, this.tiles.size - most)) {
      this.tiles.delete(key);
      this.spare.push(bitmap);
    }
  }
}

function tilesOf(cover: Cover): Array<{ key: string; x: number; y: number }> {
  const found = [];
  for (let y = cover.top; y <= cover.bottom; y++) {
    for (let x = cover.left; x <= cover.right; x++) {
      found.push({ key: keyOf({ scale: cover.scale, x, y }), x, y });
    }
  }
  return found;
}

function keyOf({ scale, x, y }: Place): string {
  return `${scale} ${x} ${y}`;
}

function makeBitmap(width: number, height: number): HTMLCanvasElement {
  const bitmap = document.createElement("canvas");
  bitmap.width = width;
  bitmap.height = height;
  return bitmap;
}

/** Go on with a bitmap until it is finished or the time is over; whether it is finished. */
function finish(bitmap: Bitmap, until: number): boolean {
  while (bitmap.job) {
    if (performance.now() >= until) return false;
    if (bitmap.job.next().done) bitmap.job = null;
  }
  return true;
}

function* chunksOf(numbers: Uint32Array): Generator<Uint32Array> {
  for (let at = 0; at < numbers.length; at += CHUNK) yield numbers.subarray(at, at + CHUNK);
}
