/**
 * The small picture of the whole scene with the window marked in it. It shows while the window
 * moves; where it would cover boxes it then fades away.
 */

import type { Point, Rectangle, Size } from "../scene/geometry";
import type { Picker } from "../scene/pick";
import type { Scene } from "../scene/scene";
import { type Paints, coloursOf } from "./paints";
import { type Palette, categoryOf } from "./theme";
import { type Tiles, placeWhole } from "./tiles";
import { type Viewport, toScene, visiblePart } from "./viewport";

const LARGEST: Size = { width: 150, height: 130 };
const SMALLEST_SIDE = 36;
const MARGIN = 4;
/** between the minimap and the window's edges, as in canvas.css */
const APART = 8;
/** It stays so long after the window has moved, in milliseconds. */
const REST = 1_500;

/** How a scene lies in the minimap: its scale and the minimap's size. */
export interface MapPlan {
  readonly size: Size;
  readonly scale: number;
  readonly offset: Point;
}

/** Plan the minimap of a scene; null where the window shows all of it. */
export function planMap(scene: Size, view: Viewport, size: Size): MapPlan | null {
  const part = visiblePart(view, size);
  const slack = 1;
  const whole =
    part.x <= slack &&
    part.y <= slack &&
    part.x + part.width >= scene.width - slack &&
    part.y + part.height >= scene.height - slack;
  if (whole || scene.width <= 0 || scene.height <= 0) return null;
  if (size.width < 2.5 * LARGEST.width || size.height < 1.8 * LARGEST.height) return null;
  const scale = Math.min(
    (LARGEST.width - 2 * MARGIN) / scene.width,
    (LARGEST.height - 2 * MARGIN) / scene.height,
  );
  const width = Math.max(SMALLEST_SIDE, scene.width * scale + 2 * MARGIN);
  const height = Math.max(SMALLEST_SIDE, scene.height * scale + 2 * MARGIN);
  return {
    size: { width, height },
    scale,
    offset: { x: (width - scene.width * scale) / 2, y: (height - scene.height * scale) / 2 },
  };
}

/** The scene's point under a point of the minimap. */
export function fromMap(plan: MapPlan, point: Point): Point {
  return {
    x: (point.x - plan.offset.x) / plan.scale,
    y: (point.y - plan.offset.y) / plan.scale,
  };
}

/** The window's place in the minimap, at least a few pixels large. */
export function windowInMap(plan: MapPlan, view: Viewport, size: Size): Rectangle {
  const part = visiblePart(view, size);
  const left = Math.max(plan.offset.x + part.x * plan.scale, 1);
  const top = Math.max(plan.offset.y + part.y * plan.scale, 1);
  const right = Math.min(plan.offset.x + (part.x + part.width) * plan.scale, plan.size.width - 1);
  const bottom = Math.min(
    plan.offset.y + (part.y + part.height) * plan.scale,
    plan.size.height - 1,
  );
  return {
    x: left,
    y: top,
    width: Math.max(right - left, 4),
    height: Math.max(bottom - top, 4),
  };
}

/** Paints the minimap; what does not change with the window is painted once. */
export class Minimap {
  readonly canvas = document.createElement("canvas");
  private plan: MapPlan | null = null;
  private ground: HTMLCanvasElement | null = null;
  private painted = "";
  private picker: Picker | null = null;
  private last: { view: Viewport; size: Size } | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** What it takes of the window; nothing while it is not shown. */
  get place(): Rectangle {
    const { offsetLeft: x, offsetTop: y, offsetWidth: width, offsetHeight: height } = this.canvas;
    return { x, y, width, height };
  }

  constructor() {
    this.canvas.className = "nl-minimap";
    this.canvas.setAttribute("aria-hidden", "true");
    this.canvas.hidden = true;
  }

  /** Forget what was painted: the scene, its paint or the theme has changed. */
  reset(): void {
    this.painted = "";
  }

  paint(
    scene: Scene,
    picker: Picker,
    view: Viewport,
    size: Size,
    ratio: number,
    palette: Palette,
    paints: Paints,
    tiles: Tiles | null,
  ): void {
    const plan = planMap(scene, view, size);
    this.plan = plan;
    this.canvas.hidden = plan === null;
    if (!plan) return;
    this.wake(picker, view, size);
    const pixels = {
      width: Math.round(plan.size.width * ratio),
      height: Math.round(plan.size.height * ratio),
    };
    const overview = tiles?.overview ?? null;
    const state = `${pixels.width} ${pixels.height} ${ratio} ${overview !== null}`;
    if (this.painted !== state) {
      this.painted = state;
      this.canvas.width = pixels.width;
      this.canvas.height = pixels.height;
      this.canvas.style.width = `${plan.size.width}px`;
      this.canvas.style.height = `${plan.size.height}px`;
      this.ground = paintGround(scene, plan, pixels, ratio, palette, paints, tiles);
    }
    const context = this.canvas.getContext("2d");
    if (!context || !this.ground) return;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(this.ground, 0, 0);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const mark = windowInMap(plan, view, size);
    context.fillStyle = palette.accent;
    context.strokeStyle = palette.accent;
    context.globalAlpha = 0.1;
    context.fillRect(mark.x, mark.y, mark.width, mark.height);
    context.globalAlpha = 0.9;
    context.lineWidth = 1.2;
    context.strokeRect(mark.x, mark.y, mark.width, mark.height);
    context.globalAlpha = 1;
  }

  dispose(): void {
    clearTimeout(this.timer);
  }

  /** Show while the window moves; afterwards only where nothing is underneath. */
  private wake(picker: Picker, view: Viewport, size: Size): void {
    const { view: was, size: had } = this.last ?? {};
    if (was === view && had === size && this.picker === picker) return;
    this.last = { view, size };
    this.picker = picker;
    this.canvas.classList.remove("nl-faded");
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.fade(), REST);
  }

  private fade(): void {
    const { plan, picker, last, canvas } = this;
    if (!plan || !picker || !last) return;
    if (canvas.matches(":hover, :active")) {
      this.timer = setTimeout(() => this.fade(), REST);
      return;
    }
    const { x, y } = toScene(last.view, {
      x: last.size.width - plan.size.width - 2 * APART,
      y: last.size.height - plan.size.height - 2 * APART,
    });
    const width = (plan.size.width + 2 * APART) / last.view.zoom;
    const height = (plan.size.height + 2 * APART) / last.view.zoom;
    canvas.classList.toggle("nl-faded", picker.isTaken({ x, y, width, height }));
  }

  /** Call `go` with the scene's point that is pressed or dragged to; returns what stops it. */
  follow(go: (point: Point) => void): () => void {
    const move = (event: PointerEvent): void => {
      if (!this.plan || (event.buttons & 1) === 0) return;
      const place = this.canvas.getBoundingClientRect();
      go(fromMap(this.plan, { x: event.clientX - place.left, y: event.clientY - place.top }));
      event.preventDefault();
    };
    const press = (event: PointerEvent): void => {
      this.canvas.setPointerCapture(event.pointerId);
      move(event);
    };
    this.canvas.addEventListener("pointerdown", press);
    this.canvas.addEventListener("pointermove", move);
    return () => {
      this.canvas.removeEventListener("pointerdown", press);
      this.canvas.removeEventListener("pointermove", move);
    };
  }
}

function paintGround(
  scene: Scene,
  plan: MapPlan,
  pixels: Size,
  ratio: number,
  palette: Palette,
  paints: Paints,
  tiles: Tiles | null,
): HTMLCanvasElement {
  const ground = document.createElement("canvas");
  ground.width = pixels.width;
  ground.height = pixels.height;
  const context = ground.getContext("2d")!;
  context.fillStyle = palette.page;
  context.fillRect(0, 0, pixels.width, pixels.height);
  const scale = plan.scale * ratio;
  context.setTransform(scale, 0, 0, scale, plan.offset.x * ratio, plan.offset.y * ratio);
  if (tiles) {
    const { overview } = tiles; // empty until the bitmap of the whole is painted
    if (!overview) return ground;
    const { x, y, width, height } = placeWhole(scene, plan.scale);
    context.drawImage(overview.bitmap, x, y, width, height);
    return ground;
  }
  const smallest = 1.5 / plan.scale;
  for (let box = 0; box < scene.boxCount; box++) {
    const at = box * 4;
    const frame = scene.isOpen(box);
    context.fillStyle = frame
      ? categoryOf(palette, scene.faceOf(box).category).frame
      : coloursOf(palette, scene.faceOf(box), paints.boxes.get(box)).border;
    context.fillRect(
      scene.boxes[at],
      scene.boxes[at + 1],
      Math.max(scene.boxes[at + 2], smallest),
      Math.max(scene.boxes[at + 3], smallest),
    );
  }
  return ground;
}
