/** Where the window stands on the scene, and how it gets from one place to another. */

import { type Point, type Rectangle, type Size, type WindowPlace, boxRectangle } from "../scene/geometry";
import type { Picker } from "../scene/pick";
import type { Paths, Scene } from "../scene/scene";
import { bringIn, fits, putInMiddle, roomBeside } from "./go_to";
import { boundsOf, findPoint, startOf, targetOf, targetOfBox } from "./locate";
import { type Transition, advance, keepPlace, planTransition, titlePoint } from "./motion";
import type { Motion } from "./pass";
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

/** Milliseconds that the window takes to get to another place. */
const TRANSITION = 180;
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

export class Camera {
  view: Viewport = { x: 0, y: 0, zoom: 1 };
  /** the window's size in CSS pixels; 0 while it is hidden */
  size: Size = { width: 0, height: 0 };
  private scene: Scene | null = null;
  private picker: Picker | null = null;
  /** whether the first view of the scene waits for a window that has a size */
  private awaitsFirstView = false;
  /** what the first view has in its middle; null once the window was moved or something chosen */
  private firstView: { centre: Paths | undefined } | null = null;
  private glide: {
    readonly from: Viewport;
    readonly to: Viewport;
    readonly transition: Transition | null;
    readonly start: number;
  } | null = null;

  constructor(
    /** what lies over the window, in its coordinates */
    private readonly covers: () => Rectangle[],
    /** what the minimap takes of the window */
    private readonly minimap: () => Rectangle,
    /** called when the window is to be painted anew */
    private readonly redraw: () => void,
  ) {}

  /** Take another size; in what is shown already the middle across stays there. */
  resize(size: Size): void {
    const had = this.size;
    this.size = size;
    if (this.isHidden) return;
    if (this.awaitsFirstView || this.firstView) {
      this.showFirstView();
    } else if (had.width > 0 && had.height > 0) {
      const shift = (size.width - had.width) / 2 / this.view.zoom;
      this.view = { ...this.view, x: this.view.x - shift };
    }
  }

  /** Go to a new scene: to where it is opened, or as near as can be to what was looked at. */
  show(scene: Scene, picker: Picker, arrival: Arrival): void {
    const [before, wasPicker, was] = [this.scene, this.picker, this.view];
    this.glide = null;
    this.scene = scene;
    this.picker = picker;
    if (!before || !wasPicker || (arrival.fit && !arrival.view) || this.awaitsFirstView) {
      this.firstView = { centre: arrival.center };
      this.awaitsFirstView = this.isHidden;
      if (!this.isHidden) this.showFirstView();
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
    const from = { scene: before, picker: wasPicker, view: was };
    const to = { scene, picker, view: kept };
    const transition = prefersStill() ? null : planTransition(from, to, target, this.size);
    this.view = kept;
    this.glideTo(target, transition);
  }

  /** Forget the scene. */
  leave(): void {
    this.scene = this.picker = this.glide = null;
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
  keepView(): void {
    if (!this.awaitsFirstView) this.firstView = null;
  }

  /** Where the window stands once nothing moves any more. */
  get destination(): Viewport {
    return this.glide ? this.glide.to : this.view;
  }

  get isHidden(): boolean {
    return this.size.width === 0 || this.size.height === 0;
  }

  get isMoving(): boolean {
    return this.glide !== null;
  }

  /** The boxes on their way while a new scene takes the place of another. */
  get motion(): Motion | null {
    return this.glide?.transition?.motion ?? null;
  }

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

  /** Bring a box into the middle. */
  jumpTo(box: number): void {
    const { scene } = this;
    if (!scene) return;
    this.glideTo(putInMiddle(this.view, targetOfBox(scene, box), this.room()), null);
  }

  /** The middle of the window in the scene, and its zoom, once nothing moves; null while hidden. */
  get place(): WindowPlace | null {
    if (!this.scene || this.isHidden) return null;
    const { width, height } = this.size;
    const view = this.destination;
    return { ...toScene(view, { x: width / 2, y: height / 2 }), zoom: view.zoom };
  }

  /** Let the window stand where it was. */
  standAt(place: WindowPlace): void {
    this.moveTo(centreOn(place, this.size, place.zoom));
  }

  centreOnPoint(point: Point): void {
    this.moveTo(centreOn(point, this.size, this.view.zoom));
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
    return roomBeside(this.size, withMinimap ? [...covers, this.minimap()] : covers);
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

  /** Where a path stands in the window; null where it is outside. */
  locate(path: string): Point | null {
    const point = this.scene && findPoint(this.scene, path);
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

  /** Move on to where the window is at a time, as `performance.now()` counts. */
  step(now: number): void {
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
