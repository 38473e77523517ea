/** The picture in its window: holds the scene and the emphasis, and paints on demand. */

import { type Point, type Rectangle, type Size, boxRectangle, measureCommon } from "../scene/geometry";
import { type Hit, Picker } from "../scene/pick";
import { Routes } from "../scene/routes";
import type { Paths, Scene } from "../scene/scene";
import type { Lit } from "../scene/trace";
import { type Arrival, Camera } from "./camera";
import { paintScene } from "./draw_scene";
import { markHits, markHover, markSelection } from "./emphasis";
import { Minimap } from "./minimap";
import { Pace } from "./pace";
import { type Emphasis, noEmphasis } from "./pass";
import type { PaintsByPath } from "../scene/paints_by_path";
import { NO_PAINTS, type Paints, placePaints } from "./paints";
import { Titles } from "./place_titles";
import type { Still } from "./still";
import type { Palette } from "./theme";
import { Tiles } from "./tiles";
import { type Viewport, toScene, visiblePart } from "./viewport";

/** Scenes with fewer boxes are painted box by box at any zoom. */
const TILED_BOXES = 4000;
/** How far beside a line a click still counts, in pixels of the screen. */
const SLACK = 5;

export class Stage {
  readonly canvas = document.createElement("canvas");
  readonly minimap = new Minimap();
  readonly camera: Camera;
  scene: Scene | null = null;
  visible = 0;
  frameMs = 0;
  routes: Routes | null = null;
  private picker: Picker | null = null;
  private titles: Titles | null = null;
  private emphasis: Emphasis = noEmphasis();
  private byPath: PaintsByPath = {};
  paints: Paints = NO_PAINTS;
  private tiles: Tiles | null = null;
  private litTiles: Tiles | null = null;
  private readonly pace = new Pace();
  private seen: Viewport | null = null;
  private ratio = 1;
  private request = 0;

  private isOnPaper = false;

  constructor(
    private palette: Palette,
    /** called after each frame */
    private readonly painted: () => void,
    /** what lies over the window, in its coordinates */
    covers: () => Rectangle[],
  ) {
    const { minimap } = this;
    this.camera = new Camera(covers, () => minimap.place, () => this.redraw());
    this.canvas.className = "nl-picture";
  }

  dispose(): void {
    cancelAnimationFrame(this.request);
    this.request = 0;
    this.minimap.dispose();
    this.camera.leave();
    this.scene = null;
    this.tiles = this.litTiles = null;
  }

  setPalette(palette: Palette): void {
    this.palette = palette;
    this.makeTiles();
    this.minimap.reset();
    this.redraw();
  }

  /** Paint boxes and edges, by path; all others lose their paint. */
  setPaints(byPath: PaintsByPath): void {
    this.byPath = byPath;
    if (!this.scene) return;
    this.paints = placePaints(this.scene, byPath);
    this.makeTiles();
    this.minimap.reset();
    this.redraw();
  }

  /** The window's size in CSS pixels; 0 while it is hidden. */
  resize(size: Size, ratio: number): void {
    if (this.isOnPaper) return;
    const had = this.camera.size;
    if (had.width === size.width && had.height === size.height && this.ratio === ratio) return;
    this.ratio = ratio;
    this.canvas.width = Math.max(1, Math.round(size.width * ratio));
    this.canvas.height = Math.max(1, Math.round(size.height * ratio));
    this.minimap.reset();
    this.camera.resize(size);
    this.paintNow();
  }

  /** Draw what is in the window for paper: sharper, and whole at once, until it leaves again. */
  paintForPaper(palette: Palette, ratio: number): void {
    const { scene, picker, titles, camera, emphasis, paints } = this;
    const context = this.canvas.getContext("2d");
    if (!scene || !picker || !titles || !context || camera.isHidden) return;
    const { view, size } = camera;
    this.isOnPaper = true;
    this.canvas.width = Math.round(size.width * ratio);
    this.canvas.height = Math.round(size.height * ratio);
    paintScene(context, {
      ...{ scene, picker, titles, size, palette, view, ratio, emphasis, paints },
      ...{ motion: null, tiles: null, litTiles: null },
    });
  }

  leavePaper(): void {
    this.isOnPaper = false;
    const { width, height } = this.camera.size;
    this.canvas.width = Math.max(1, Math.round(width * this.ratio));
    this.canvas.height = Math.max(1, Math.round(height * this.ratio));
    this.paintNow();
  }

  show(scene: Scene, arrival: Arrival): void {
    this.scene = scene;
    this.routes = new Routes(scene);
    this.picker = new Picker(scene);
    this.titles = new Titles(scene, this.picker);
    this.emphasis = noEmphasis();
    this.paints = placePaints(scene, this.byPath);
    this.makeTiles();
    this.minimap.reset();
    this.camera.show(scene, this.picker, arrival);
    this.redraw();
  }

  /** Bring a box into the middle and mark it as the place that was jumped to. */
  jumpTo(box: number): void {
    if (!this.scene) return;
    this.emphasis.place = box;
    this.camera.jumpTo(box);
  }

  /** What still pictures are drawn of; null before the first scene. */
  get still(): Still | null {
    const { scene, picker, palette, paints } = this;
    return scene && picker && { scene, picker, palette, paints };
  }

  /** The part of the scene that is in the window, or will be. */
  get part(): Rectangle {
    return visiblePart(this.camera.destination, this.camera.size);
  }

  /** How many pixels of closed boxes and of the minimap are under a place in the window. */
  measureUnder(place: Rectangle): number {
    const { scene, picker, minimap } = this;
    if (!scene || !picker) return 0;
    const view = this.camera.destination;
    const { x, y } = toScene(view, place);
    const part = { x, y, width: place.width / view.zoom, height: place.height / view.zoom };
    let inScene = 0;
    for (const box of picker.boxesIn(part)) {
      if (!scene.isOpen(box)) inScene += measureCommon(part, boxRectangle(scene, box));
    }
    return inScene * view.zoom ** 2 + measureCommon(place, minimap.place);
  }

  /** What is at a point of the window. */
  hitAt(point: Point): Hit | null {
    if (!this.picker) return null;
    const view = this.camera.destination;
    return this.picker.at(toScene(view, point), SLACK / view.zoom);
  }

  /** Whether another frame is on its way: something moves, or bitmaps are being painted. */
  get isBusy(): boolean {
    return this.request !== 0;
  }

  // ------------------------------------------------------------------ emphasis

  markSelection(at: Paths): void {
    if (!this.scene) return;
    markSelection(this.emphasis, this.scene, at);
    // what was chosen in the window does not move away from under the hand
    if (at.length > 0) this.camera.keepView();
    this.emphasis.place = -1;
    this.redraw();
  }

  markHover(at: Paths): void {
    if (!this.scene) return;
    markHover(this.emphasis, this.scene, at);
    this.redraw();
  }

  markHits(paths: Iterable<string>, current: string | null): void {
    if (!this.scene) return;
    markHits(this.emphasis, this.scene, paths, current);
    this.redraw();
  }

  /** Light up something and dim all else; null for nothing dimmed. */
  light(lit: Lit | null): void {
    if (this.emphasis.lit === lit) return;
    this.emphasis.lit = lit;
    this.litTiles = this.makeLitTiles();
    this.redraw();
  }

  get lit(): Lit | null {
    return this.emphasis.lit;
  }

  // ------------------------------------------------------------------ painting

  redraw(): void {
    if (this.request || !this.scene) return;
    this.request = requestAnimationFrame(() => {
      this.request = 0;
      this.paintNow();
    });
  }

  private paintNow(): void {
    const { scene, picker, titles, palette, camera } = this;
    const context = this.canvas.getContext("2d");
    if (!scene || !picker || !titles || !context || camera.isHidden || this.isOnPaper) return;
    const start = performance.now();
    camera.step(start);
    const { ratio, emphasis, paints, tiles, litTiles } = this;
    const { view, size, motion } = camera;
    const { count, tiled } = paintScene(context, {
      ...{ scene, picker, titles, size, palette, view, ratio, emphasis, paints, motion },
      ...{ tiles, litTiles },
    });
    this.visible = count;
    this.minimap.paint(scene, picker, view, size, ratio, palette, paints, tiles);
    const isMoving = this.seen !== null && !isSame(this.seen, view);
    this.seen = view;
    const more = this.paintTiles(tiled, this.pace.begin(start, isMoving));
    if (more) this.pace.painted(start);
    this.frameMs = performance.now() - start;
    if (camera.isMoving || more) this.redraw();
    this.painted();
  }

  /** Prepare bitmaps for the next frames for so many milliseconds; whether something is left. */
  private paintTiles(tiled: boolean, time: number): boolean {
    const { tiles, litTiles, ratio } = this;
    const { view, size } = this.camera;
    const until = performance.now() + time;
    if (!tiles) return false;
    // The bitmap of the whole is wanted in any case: the minimap shows it.
    if (!tiled) return tiles.workOnWhole(until);
    const more = tiles.work(view, size, ratio, until);
    const moreLit = litTiles ? litTiles.work(view, size, ratio, until) : false;
    return more || moreLit;
  }

  private makeTiles(): void {
    const { scene, picker, palette, paints } = this;
    const large = scene !== null && picker !== null && scene.boxCount > TILED_BOXES;
    this.tiles = large ? new Tiles(scene, picker, palette, paints) : null;
    this.litTiles = this.makeLitTiles();
  }

  private makeLitTiles(): Tiles | null {
    const { scene, picker, palette, paints, tiles, emphasis } = this;
    if (!scene || !picker || !tiles || !emphasis.lit) return null;
    return new Tiles(scene, picker, palette, paints, emphasis.lit);
  }
}

function isSame(one: Viewport, other: Viewport): boolean {
  return one.x === other.x && one.y === other.y && one.zoom === other.zoom;
}
