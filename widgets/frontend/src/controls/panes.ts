/**
 * How canvas and inspector share their room: beside each other with a handle between them, or
 * one above the other where the explorer is narrow; how high they are; and full screen.
 *
 * The inspector stands beside the canvas's element, in the page; what it looks like there is in
 * explorer.css, which is told by classes and variables of the element around both.
 */

import type { Traits } from "../host/connection";
import { CANVAS_TRAITS, type CanvasTraits } from "../host/traits";
import { makeElement } from "./elements";

/** In narrower explorers the inspector goes under the canvas. */
export const STACKED_BELOW = 760;
const LEAST_HEIGHT = 220;
const MOST_HEIGHT = 4000;
const LEAST_WIDTH = 200;
/** so much is left to the canvas */
const LEAST_CANVAS = 300;
const { inspector_width: USUAL_WIDTH, height: USUAL_HEIGHT } = CANVAS_TRAITS;
/** for a page that holds nothing else */
const WINDOW_HEIGHT = "calc(100vh - 24px)";
/** what the canvas gets of a height that is that of the window */
const SHARE = 0.6;
const STEP = 20;

export interface PaneActions {
  /** where the inspector stands, or whether the screen is full, is another */
  changed(): void;
}

export class Panes {
  /** between canvas and inspector */
  readonly side = makeElement("div", "nl-handle nl-side-handle");
  /** along the lower edge */
  readonly bottom = makeElement("div", "nl-handle nl-bottom-handle");
  private around: HTMLElement | null = null;
  private readonly observer = new ResizeObserver(() => this.apply());
  private readonly stops: Array<() => void> = [];

  /** @param fillsInspector whether an inspector beside the canvas would be filled */
  constructor(
    private readonly traits: Traits<CanvasTraits>,
    private readonly element: HTMLElement,
    private readonly frame: HTMLElement,
    private readonly fillsInspector: boolean,
    private readonly actions: PaneActions,
  ) {
    makeHandle(this.side, "vertical", "Width of the inspector", {
      size: () => this.width,
      resize: (size) => this.set({ inspector_width: this.clampWidth(size) }),
      usual: USUAL_WIDTH,
      grows: -1,
      limits: () => [LEAST_WIDTH, this.mostWidth],
      fold: () => this.toggleInspector(),
    });
    makeHandle(this.bottom, "horizontal", "Height of the picture", {
      size: () => frame.offsetHeight,
      resize: (size) => this.set({ height: clamp(size, LEAST_HEIGHT, MOST_HEIGHT) }),
      usual: USUAL_HEIGHT,
      grows: 1,
      limits: () => [LEAST_HEIGHT, MOST_HEIGHT],
    });
    for (const trait of ["height", "inspector_width", "inspector_shown", "shown_theme"] as const) {
      this.stops.push(traits.follow(trait, () => this.apply()));
    }
    const screen = (): void => this.apply();
    document.addEventListener("fullscreenchange", screen);
    this.stops.push(() => document.removeEventListener("fullscreenchange", screen));
    this.observer.observe(element);
    this.apply();
  }

  dispose(): void {
    this.observer.disconnect();
    for (const stop of this.stops) stop();
  }

  /** Whether there is an inspector beside the canvas, shown or not. */
  get hasInspector(): boolean {
    return this.around !== null;
  }

  get isInspectorShown(): boolean {
    return this.hasInspector && this.traits.get("inspector_shown");
  }

  get canFillScreen(): boolean {
    return document.fullscreenEnabled;
  }

  get isScreenFull(): boolean {
    return document.fullscreenElement !== null && document.fullscreenElement === this.whole;
  }

  toggleInspector(): void {
    this.set({ inspector_shown: !this.isInspectorShown });
  }

  toggleScreen(): void {
    // a browser may refuse, in a frame that may not fill the screen
    if (this.isScreenFull) void document.exitFullscreen().catch(() => undefined);
    else void this.whole.requestFullscreen().catch(() => undefined);
  }

  private get whole(): HTMLElement {
    return this.around ?? this.element;
  }

  private get width(): number {
    return this.clampWidth(this.traits.get("inspector_width") || USUAL_WIDTH);
  }

  private get mostWidth(): number {
    return Math.max(LEAST_WIDTH, this.whole.clientWidth - LEAST_CANVAS);
  }

  private clampWidth(size: number): number {
    return Math.round(clamp(size, LEAST_WIDTH, this.mostWidth));
  }

  private set(values: Partial<CanvasTraits>): void {
    this.traits.set(values);
    this.apply();
  }

  /** Find what is around the canvas: known only once the canvas stands in the page. */
  private find(): void {
    if (this.around || !this.fillsInspector || !this.element.isConnected) return;
    this.around = this.element.closest<HTMLElement>(".nl-explorer");
    if (this.around) this.observer.observe(this.around);
  }

  private apply(): void {
    this.find();
    const { around, frame } = this;
    const full = this.isScreenFull;
    const given = this.traits.get("height");
    const pixels = clamp(given, LEAST_HEIGHT, MOST_HEIGHT);
    const window = full ? "100vh" : given === 0 ? WINDOW_HEIGHT : null;
    const shown = this.isInspectorShown;
    const stacked = around !== null && around.clientWidth < STACKED_BELOW;
    const share = window !== null && stacked && shown;
    frame.style.height = share ? `calc(${window} * ${SHARE})` : (window ?? `${pixels}px`);
    this.side.hidden = !shown || stacked;
    this.bottom.hidden = window !== null;
    if (around) {
      around.classList.toggle("nl-stacked", stacked);
      around.classList.toggle("nl-inspector-closed", !shown);
      const { style } = around;
      style.setProperty("--nl-inspector-width", `${this.width}px`);
      style.setProperty("--nl-ground", frame.style.getPropertyValue("--nl-page"));
      style.setProperty(
        "--nl-inspector-height",
        share ? `calc(${window} * ${1 - SHARE})` : (window ?? `${pixels}px`),
      );
    }
    tell(this.side, this.width);
    tell(this.bottom, pixels);
    this.actions.changed();
  }
}

interface HandleActions {
  size(): number;
  resize(size: number): void;
  /** the size that a double click gives */
  readonly usual: number;
  /** whether what is sized grows along the axis (1) or against it (−1) */
  readonly grows: 1 | -1;
  limits(): [number, number];
  fold?(): void;
}

/** Make an element a handle that is dragged, or moved by the arrow keys. */
function makeHandle(
  handle: HTMLElement,
  orientation: "vertical" | "horizontal",
  label: string,
  actions: HandleActions,
): void {
  const along = (event: PointerEvent): number =>
    orientation === "vertical" ? event.clientX : event.clientY;
  handle.setAttribute("role", "separator");
  handle.setAttribute("aria-orientation", orientation);
  handle.setAttribute("aria-label", label);
  handle.title = `${label}: drag, or arrow keys`;
  handle.tabIndex = 0;
  let from: { place: number; size: number } | null = null;
  handle.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    handle.setPointerCapture(event.pointerId);
    from = { place: along(event), size: actions.size() };
    event.preventDefault();
    handle.focus({ preventScroll: true });
  });
  handle.addEventListener("pointermove", (event) => {
    if (from) actions.resize(from.size + actions.grows * (along(event) - from.place));
  });
  const end = (): void => {
    from = null;
  };
  handle.addEventListener("pointerup", end);
  handle.addEventListener("pointercancel", end);
  handle.addEventListener("dblclick", () => actions.resize(actions.usual));
  handle.addEventListener("keydown", (event) => {
    const [less, more] =
      orientation === "vertical" ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
    const [least, most] = actions.limits();
    const sizes: Record<string, number> = {
      [less]: actions.size() - actions.grows * STEP,
      [more]: actions.size() + actions.grows * STEP,
      Home: least,
      End: most,
    };
    if (event.key in sizes) actions.resize(sizes[event.key]);
    else if (event.key === "Enter" && actions.fold) actions.fold();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
}

function tell(handle: HTMLElement, size: number): void {
  handle.setAttribute("aria-valuenow", String(Math.round(size)));
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}
