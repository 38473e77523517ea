/** Turns pointer, wheel and touch events into pan, zoom, click and hover. */

import type { Point } from "../scene/geometry";

export interface GestureActions {
  pan(dx: number, dy: number): void;
  zoom(pivot: Point, factor: number): void;
  /** @param second shift is held: what is clicked is the second of two ends */
  click(point: Point, second: boolean): void;
  doubleClick(point: Point): void;
  /** the second button, or a long press */
  menu(point: Point): void;
  /** null when the pointer has left */
  hover(point: Point | null): void;
  /** whether plain turns of the wheel are meant for the canvas and not for the page */
  takesWheel(): boolean;
  /** a plain turn of the wheel went to the page */
  wheelPassed(): void;
}

const CLICK_SLACK = 4;
/** Turns of the wheel in quick succession are one gesture and mean the same. */
const SAME_GESTURE = 180;

/** Listen on a surface; returns what stops it. Points are relative to the surface. */
export function followGestures(surface: HTMLElement, actions: GestureActions): () => void {
  const pointers = new Map<number, Point>();
  let pressed: Point | null = null;
  let dragged = false;
  let lastTurn = 0;
  let meaning: "zoom" | "pan" = "zoom";

  const pointOf = (event: MouseEvent): Point => {
    const place = surface.getBoundingClientRect();
    return { x: event.clientX - place.left, y: event.clientY - place.top };
  };

  const press = (event: PointerEvent): void => {
    if (event.pointerType === "mouse" && event.button > 1) return;
    const point = pointOf(event);
    pointers.set(event.pointerId, point);
    surface.setPointerCapture(event.pointerId);
    dragged = pointers.size > 1 || event.button === 1;
    pressed = point;
    if (event.button === 1) event.preventDefault();
  };

  const move = (event: PointerEvent): void => {
    const point = pointOf(event);
    const previous = pointers.get(event.pointerId);
    if (!previous) {
      if (event.pointerType !== "touch") actions.hover(point);
      return;
    }
    if (pointers.size === 2) {
      const other = [...pointers].find(([id]) => id !== event.pointerId)![1];
      pinch(previous, point, other);
      pointers.set(event.pointerId, point);
      return;
    }
    if (!dragged && pressed) {
      if (Math.hypot(point.x - pressed.x, point.y - pressed.y) < CLICK_SLACK) return;
      dragged = true;
      surface.classList.add("nl-dragging");
      actions.hover(null);
    }
    actions.pan(point.x - previous.x, point.y - previous.y);
    pointers.set(event.pointerId, point);
  };

  const pinch = (before: Point, now: Point, other: Point): void => {
    dragged = true;
    const was = Math.hypot(before.x - other.x, before.y - other.y);
    const is = Math.hypot(now.x - other.x, now.y - other.y);
    actions.pan((now.x - before.x) / 2, (now.y - before.y) / 2);
    if (was > 0 && is > 0) {
      actions.zoom({ x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 }, is / was);
    }
  };

  const release = (event: PointerEvent): void => {
    const known = pointers.delete(event.pointerId);
    if (pointers.size > 0) return;
    surface.classList.remove("nl-dragging");
    if (known && !dragged && event.type === "pointerup") {
      actions.click(pointOf(event), event.shiftKey);
    }
    pressed = null;
  };

  const leave = (): void => {
    if (pointers.size === 0) actions.hover(null);
  };

  const openMenu = (event: MouseEvent): void => {
    // with shift held the browser's own menu is wanted
    if (event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    actions.menu(pointOf(event));
  };

  const doubleClick = (event: MouseEvent): void => {
    event.preventDefault();
    actions.doubleClick(pointOf(event));
  };

  const turn = (event: WheelEvent): void => {
    const wanted = event.ctrlKey || event.metaKey || actions.takesWheel();
    if (!wanted) {
      actions.wheelPassed();
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    const held = event.ctrlKey || event.metaKey || event.shiftKey;
    if (held || event.timeStamp - lastTurn > SAME_GESTURE) meaning = readWheel(event);
    lastTurn = event.timeStamp;
    if (meaning === "zoom") {
      actions.zoom(pointOf(event), wheelFactor(event));
    } else if (event.shiftKey && event.deltaX === 0) {
      actions.pan(-event.deltaY, 0);
    } else {
      actions.pan(-event.deltaX, -event.deltaY);
    }
  };

  surface.addEventListener("pointerdown", press);
  surface.addEventListener("pointermove", move);
  surface.addEventListener("pointerup", release);
  surface.addEventListener("pointercancel", release);
  surface.addEventListener("pointerleave", leave);
  surface.addEventListener("dblclick", doubleClick);
  surface.addEventListener("contextmenu", openMenu);
  surface.addEventListener("wheel", turn, { passive: false });
  return () => {
    surface.removeEventListener("pointerdown", press);
    surface.removeEventListener("pointermove", move);
    surface.removeEventListener("pointerup", release);
    surface.removeEventListener("pointercancel", release);
    surface.removeEventListener("pointerleave", leave);
    surface.removeEventListener("dblclick", doubleClick);
    surface.removeEventListener("contextmenu", openMenu);
    surface.removeEventListener("wheel", turn);
  };
}

export interface WheelTurn {
  readonly deltaX: number;
  readonly deltaY: number;
  readonly deltaMode: number;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly shiftKey: boolean;
}

/**
 * Whether a turn of the wheel zooms or pans. Browsers do not say whether a wheel or a track pad
 * was used; a wheel gives large steps straight up or down.
 */
export function readWheel(turn: WheelTurn): "zoom" | "pan" {
  if (turn.ctrlKey || turn.metaKey) return "zoom";
  if (turn.shiftKey) return "pan";
  if (turn.deltaMode !== 0) return turn.deltaX === 0 ? "zoom" : "pan";
  const straight = turn.deltaX === 0 && turn.deltaY !== 0;
  return straight && Math.abs(turn.deltaY) >= 50 ? "zoom" : "pan";
}

/** The factor by which a turn of the wheel zooms. */
export function wheelFactor(turn: WheelTurn): number {
  const unit = turn.deltaMode === 1 ? 16 : turn.deltaMode === 2 ? 400 : 1;
  const pixels = Math.min(Math.max(turn.deltaY * unit, -150), 150);
  return Math.exp(-pixels * (turn.ctrlKey && Math.abs(turn.deltaY) < 50 ? 0.01 : 0.0022));
}
