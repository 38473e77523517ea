/** The picture in its window: holds the scene, the viewport and the marks, and paints on demand. */

import { type Point, type Rectangle, type Size, boxRectangle } from "../scene/geometry";
import { type Hit, Picker } from "../scene/pick";
import { Wiring } from "../scene/routes";
import type { Paths, Scene } from "../scene/scene";
import type { Lit } from "../scene/trace";
import { paint } from "./draw_scene";
import { markHits, markHover, markSelection } from "./emphasis";
import { bringIn, fits, putInMiddle, roomBeside } from "./go_to";
import { boundsOf, findPoint, startOf, targetOf, targetOfBox } from "./locate";
import { Minimap } from "./minimap";
import { type Transition, advance, keepPlace, planTransition, titlePoint } from "./motion";
import { type Marks, noMarks } from "./pass";
import type { Palette } from "./theme";
import { Tiles } from "./tiles";
import {
  READABLE_ZOOM,
  type Viewport,
  between,
  centreOn,
  firstView,
  fitWhole,
  keepInSight,
  panBy,
  placeAt,
  toScene,
  toWindow,
  visiblePart,
  zoomAt,
} from "./viewport";

const TRANSITION = 180;
/** Scenes with fewer boxes are painted box by box at any zoom. */
const TILED_BOXES = 4000;
/** Milliseconds of a frame that go into bitmaps for the next ones. */
const TILE_TIME = 6;
/** How far beside a line a click still counts, in pixels of the screen. */
const SLACK = 5;
/** What is zoomed to is shown at most this large, and with this much around it. */
const CLOSE_ZOOM = 1.25;
const AROUND = 28;

export interface Arrival {
  /** path of the box that stays where it is on the screen */
  anchor?: string;
  /** path, or those of several things, to move into the middle */
  center?: Paths;
  /** show the scene as when it is first opened */
  fit?: boolean;
  /** where the window goes, whatever else is said */
  view?: Viewport;
}

export class Stage {
  readonly canvas = document.createElement("canvas");
  readonly minimap = new Minimap();
  scene: Scene | null = null;
  view: Viewport = { x: 0, y: 0, zoom: 1 };
  visible = 0;
  frameMs = 0;
  wiring: Wiring | null = null;
  private picker: Picker | null = null;
  private marks: Marks = noMarks();
  private tiles: Tiles | null = null;
  private litTiles: Tiles | null = null;
  size: Size = { width: 0, height: 0 };
  private ratio = 1;
  private request = 0;
  private awaitsFirstView = false;
  /** what the first view has in its middle; null once the window was moved or something chosen */
  private firstView: { centre: Paths | undefined } | null = null;
  private glide: { from: Viewport; to: Viewport; transition: Transition | null; start: number } | null =
    null;

  constructor(
    private palette: Palette,
    /** called after each frame */
    private readonly painted: () => void,
    /** what lies over the window, in its coordinates */
    private readonly covers: () => Rectangle[],
  ) {
    this.canvas.className = "nl-picture";
  }

  dispose(): void {
    cancelAnimationFrame(this.request);
    this.request = 0;
    this.minimap.dispose();
    this.scene = null;
    this.tiles = this.litTiles = null;
  }

  setPalette(palette: Palette): void {
    this.palette = palette;
    this.makeTiles();
    this.minimap.reset();
    this.redraw();
  }

  /** The window's size in CSS pixels; 0 while it is hidden. */
  resize(size: Size, ratio: number): void {
    const had = this.size;
    if (had.width === size.width && had.height === size.height && this.ratio === ratio) return;
    this.size = size;
    this.ratio = ratio;
    this.canvas.width = Math.max(1, Math.round(size.width * ratio));
    this.canvas.height = Math.max(1, Math.round(size.height * ratio));
    this.minimap.reset();
    if (this.isHidden) return;
    if (this.awaitsFirstView || this.firstView) {
      this.showFirstView();
    } else if (had.width > 0 && had.height > 0) {
      // What was in the middle across stays there.
      const shift = (size.width - had.width) / 2 / this.view.zoom;
      this.view = { ...this.view, x: this.view.x - shift };
    }
    this.paintNow();
  }

  show(scene: Scene, arrival: Arrival): void {
    const [before, wasPicker, was] = [this.scene, this.picker, this.view];
    this.glide = null;
    this.scene = scene;
    this.wiring = new Wiring(scene);
    this.picker = new Picker(scene);
    this.marks = noMarks();
    this.makeTiles();
    this.minimap.reset();
    if (!before || !wasPicker || (arrival.fit && !arrival.view) || this.awaitsFirstView) {
      this.firstView = { centre: arrival.center };
      this.awaitsFirstView = this.isHidden;
      if (!this.isHidden) this.showFirstView();
      this.redraw();
      return;
    }
    this.firstView = null;
    const kept = keepPlace(before, scene, was, this.size, arrival.anchor);
    const target =
      arrival.view ??
      (arrival.center === undefined ? null : this.viewAt(arrival.center, kept)) ??
      this.seeSomething(
        this.viewAround(arrival.anchor, before, keepInSight(kept, scene, this.size)),
      );
    // Boxes start from where they were on the screen, seen from where the window now is.
    const transition = prefersStill() ? null : planTransition(
      { scene: before, picker: wasPicker, view: was },
      { scene, picker: this.picker, view: kept },
      ...([target, this.size] as const),
    );
    this.view = kept;
    this.glideTo(target, transition);
  }

  /** Show the scene as when it is opened: again whenever the window's size changes untouched. */
  private showFirstView(): void {
    const { scene } = this;
    if (!scene) return;
    this.awaitsFirstView = false;
    this.glide = null;
    const { width, height } = this.size;
    const reach = (scene.direction === "TB" ? width : height) / READABLE_ZOOM;
    this.view = firstView(scene, this.size, scene.direction, startOf(scene, reach));
    const centre = this.firstView?.centre;
    const centred = centre === undefined ? null : this.viewAt(centre, this.view);
    this.view = centred ?? this.seeSomething(this.view);
  }

  /** From now on the window stands where it was put. */
  private keepView(): void {
    if (!this.awaitsFirstView) this.firstView = null;
  }

  /** Where the window stands once nothing moves any more. */
  get destination(): Viewport {
    return this.glide ? this.glide.to : this.view;
  }

  /** Whether another frame is on its way: something moves, or bitmaps are being painted. */
  get isBusy(): boolean {
    return this.request !== 0;
  }

  get isHidden(): boolean {
    return this.size.width === 0 || this.size.height === 0;
  }

  // ------------------------------------------------------------------ the window

  pan(dx: number, dy: number): void {
    this.moveTo(panBy(this.view, dx, dy));
  }

  zoom(factor: number, pivot: Point = { x: this.size.width / 2, y: this.size.height / 2 }): void {
    this.moveTo(zoomAt(this.view, pivot, factor, this.viewOfWhole?.zoom));
  }

  actualSize(): void {
    this.zoom(1 / this.view.zoom);
  }

  fit(): void {
    const view = this.viewOfWhole;
    if (view) this.glideTo(view, null);
  }

  private get viewOfWhole(): Viewport | null {
    if (!this.scene) return null;
    const { width, height } = this.scene;
    return fitWhole({ x: 0, y: 0, width, height }, this.size);
  }

  /** Show all of what is at some paths, as large as is good to read. */
  zoomTo(at: Paths): void {
    const part = this.scene && boundsOf(this.scene, at);
    if (!part) return;
    const { x, y, width, height } = this.room();
    const [across, down] = [Math.max(width - 2 * AROUND, 1), Math.max(height - 2 * AROUND, 1)];
    const zoom = Math.min(across / part.width, down / part.height, CLOSE_ZOOM);
    const middle = { x: part.x + part.width / 2, y: part.y + part.height / 2 };
    this.glideTo(placeAt(middle, { x: x + width / 2, y: y + height / 2 }, zoom), null);
  }

  /** Bring a box into the middle and mark it as the place that was jumped to. */
  jumpTo(box: number): void {
    const { scene } = this;
    if (!scene) return;
    this.marks.place = box;
    this.glideTo(putInMiddle(this.view, targetOfBox(scene, box), this.room()), null);
  }

  centreOnPoint(point: Point): void {
    this.moveTo(centreOn(point, this.size, this.view.zoom));
  }

  /** Bring a path into the middle; false where it is not in the scene. */
  centre(path: Paths): boolean {
    const target = this.viewAt(path, this.view);
    if (target) this.glideTo(target, null);
    return target !== null;
  }

  /** Move the window no more than needed to show a box. */
  bringIntoSight(box: number): void {
    if (!this.scene) return;
    const { view } = this;
    const part = boxRectangle(this.scene, box);
    const room = this.roomFor(part, view.zoom);
    const whole = { part, begin: titlePoint(this.scene, box) };
    // walking past a large group does not change the zoom: its title is enough
    const title = { part: { ...whole.begin, width: 0, height: 0 }, begin: whole.begin };
    const target = bringIn(view, fits(part, room, view.zoom) ? whole : title, room);
    if (target.x !== view.x || target.y !== view.y) this.glideTo(target, null);
  }

  /** The part of the window that nothing lies over. */
  private room(withMinimap = false): Rectangle {
    const covers = this.covers();
    return roomBeside(this.size, withMinimap ? [...covers, this.minimap.place] : covers);
  }

  /** The room beside the minimap too, where something fits there. */
  private roomFor(part: Size, zoom: number): Rectangle {
    const beside = this.room(true);
    return fits(part, beside, zoom) ? beside : this.room();
  }

  /** The view around a box that stays where it is: all of it where it has just been opened. */
  private viewAround(anchor: string | undefined, before: Scene, view: Viewport): Viewport {
    const { scene } = this;
    const box = anchor === undefined ? undefined : scene?.boxesAt(anchor)[0];
    if (!scene || anchor === undefined || box === undefined) return view;
    const was = before.boxesAt(anchor)[0];
    const isOpened = scene.isOpen(box) && (was === undefined || !before.isOpen(was));
    const begin = titlePoint(scene, box);
    const target = isOpened
      ? targetOfBox(scene, box)
      : { part: { ...begin, width: 0, height: 0 }, begin };
    return bringIn(view, target, this.roomFor(target.part, view.zoom));
  }

  /** The view itself, or one nearby that has more in it than the ground of open groups. */
  private seeSomething(view: Viewport): Viewport {
    const { scene, picker } = this;
    if (!scene || !picker || this.isHidden) return view;
    if (picker.boxesIn(visiblePart(view, this.size)).some((box) => !scene.isOpen(box))) return view;
    const room = this.room();
    const middle = toScene(view, { x: room.x + room.width / 2, y: room.y + room.height / 2 });
    const box = picker.nearestBox(middle);
    return box === undefined ? view : bringIn(view, targetOfBox(scene, box), room);
  }

  private moveTo(view: Viewport): void {
    if (!this.scene) return;
    this.glide = null;
    this.keepView();
    this.view = keepInSight(view, this.scene, this.size);
    this.redraw();
  }

  private viewAt(at: Paths, view: Viewport): Viewport | null {
    const { scene } = this;
    const all = scene && targetOf(scene, at);
    if (!scene || !all) return null;
    const room = this.room();
    // of several things that are far apart the first is gone to
    const isTogether = typeof at === "string" || fits(all.part, room, READABLE_ZOOM);
    const target = isTogether ? all : (targetOf(scene, at.slice(0, 1)) ?? all);
    return putInMiddle(view, target, room);
  }

  private glideTo(to: Viewport, transition: Transition | null): void {
    this.keepView();
    if (prefersStill() || this.isHidden) {
      this.view = to;
    } else {
      this.glide = { from: this.view, to, transition, start: performance.now() };
    }
    this.redraw();
  }

  // ------------------------------------------------------------------ what is where

  /** Where a path stands in the scene; null where it is not drawn. */
  private find(path: string): Point | null {
    return this.scene && findPoint(this.scene, path);
  }

  /** Where a path stands in the window; null where it is outside. */
  locate(path: string): Point | null {
    const point = this.find(path);
    if (!point || this.isHidden) return null;
    const place = toWindow(this.destination, point);
    const inside =
      place.x >= 0 && place.y >= 0 && place.x <= this.size.width && place.y <= this.size.height;
    return inside ? place : null;
  }

  /** What the box of a path takes in the window, also outside of it; null where it is not drawn. */
  boundsOf(path: string): Rectangle | null {
    const { scene } = this;
    const box = scene?.boxesAt(path)[0];
    if (!scene || box === undefined || this.isHidden) return null;
    const view = this.destination;
    const { x, y, width, height } = boxRectangle(scene, box);
    return {
      ...toWindow(view, { x, y }),
      width: width * view.zoom,
      height: height * view.zoom,
    };
  }

  hitAt(point: Point): Hit | null {
    if (!this.picker) return null;
    const view = this.destination;
    return this.picker.at(toScene(view, point), SLACK / view.zoom);
  }

  // ------------------------------------------------------------------ marks

  markSelection(at: Paths): void {
    if (!this.scene) return;
    markSelection(this.marks, this.scene, at);
    // what was chosen in the window does not move away from under the hand
    if (at.length > 0) this.keepView();
    this.marks.place = -1;
    this.redraw();
  }

  markHover(at: Paths): void {
    if (!this.scene) return;
    markHover(this.marks, this.scene, at);
    this.redraw();
  }

  markHits(paths: Iterable<string>, current: string | null): void {
    if (!this.scene) return;
    markHits(this.marks, this.scene, paths, current);
    this.redraw();
  }

  /** Light up something and dim all else; null for nothing dimmed. */
  light(lit: Lit | null): void {
    if (this.marks.lit === lit) return;
    this.marks.lit = lit;
    this.litTiles = this.makeLitTiles();
    this.redraw();
  }

  get lit(): Lit | null {
    return this.marks.lit;
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
    const { scene, picker, size, palette } = this;
    const context = this.canvas.getContext("2d");
    if (!scene || !picker || !context || this.isHidden) return;
    const start = performance.now();
    this.stepGlide(start);
    const { view, ratio, marks, tiles, litTiles } = this;
    const { count, tiled } = paint(context, {
      ...{ scene, picker, size, palette, view, ratio, marks, tiles, litTiles },
      motion: this.glide?.transition?.motion ?? null,
    });
    this.visible = count;
    this.minimap.paint(scene, picker, view, size, ratio, palette, tiles);
    const more = this.paintTiles(tiled);
    this.frameMs = performance.now() - start;
    if (this.glide || more) this.redraw();
    this.painted();
  }

  /** Prepare bitmaps for the next frames; whether something is left to do. */
  private paintTiles(tiled: boolean): boolean {
    const { tiles, litTiles, view, size, ratio } = this;
    const until = performance.now() + TILE_TIME;
    if (!tiles) return false;
    // The bitmap of the whole is wanted in any case: the minimap shows it.
    if (!tiled) return tiles.workOnWhole(until);
    const more = tiles.work(view, size, ratio, until);
    const moreLit = litTiles ? litTiles.work(view, size, ratio, until) : false;
    return more || moreLit;
  }

  private makeTiles(): void {
    const { scene, picker, palette } = this;
    const large = scene !== null && picker !== null && scene.boxCount > TILED_BOXES;
    this.tiles = large ? new Tiles(scene, picker, palette) : null;
    this.litTiles = this.makeLitTiles();
  }

  private makeLitTiles(): Tiles | null {
    const { scene, picker, palette, tiles, marks } = this;
    if (!scene || !picker || !tiles || !marks.lit) return null;
    return new Tiles(scene, picker, palette, marks.lit);
  }

  private stepGlide(now: number): void {
    const { glide, scene } = this;
    if (!glide || !scene) return;
    const time = Math.min(Math.max((now - glide.start) / TRANSITION, 0), 1);
    const share = 1 - (1 - time) ** 3;
    this.view = between(glide.from, glide.to, share);
    if (time >= 1) this.glide = null;
    else if (glide.transition) advance(glide.transition, scene, share);
  }
}

function prefersStill(): boolean {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
