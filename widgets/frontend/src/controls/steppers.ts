/**
 * Small controls for open repeats: which repetition is shown, and all of them. They stand at the
 * right end of the first line of the repeat's title, as large as the picture is drawn: whole, over
 * the number of repetitions, which they say too, or the two arrows alone beside it where there is
 * less room. Where there is none they stand on the frame's upper border while the
 * pointer is in the frame, or it or something in it is selected. For the repeat around the
 * selection they also stand below the picture.
 */

import type { Host } from "../host/host";
import { markReach } from "../paint/draw_paints";
import type { Paints } from "../paint/paints";
import { numberGap, numberReach, titleEnd, titleOf } from "../paint/text";
import { groundOf } from "../paint/theme";
import { type Viewport, toWindow } from "../paint/viewport";
import { type Point, type Size, boxRectangle, contains } from "../scene/geometry";
import { type Scene, repetitionOf } from "../scene/scene";
import { iconButton, makeElement } from "./elements";

export interface StepperActions {
  /** show another repetition, counted from 0 */
  shown(path: string, index: number): void;
  unroll(path: string): void;
  fold(path: string): void;
}

/** at smaller zooms they could not be hit */
const LEAST_ZOOM = 0.5;
/** so that it ends above the second line of the title, and from the frame's border down to it */
const HEIGHT = 20;
const TOP = 1;
/** between the control, the frame and its title, at actual size */
const GAP = 6;
const MOST = 12;

/** How far a control on a frame's border reaches into the frame. */
const OVERLAP = 4;
/** How long one on the border stays after the pointer has left its frame, in milliseconds. */
const LINGER = 300;

/** `short`: the arrows alone; `over`: on the frame's border, shown only when it is asked for. */
export type StepperForm = "whole" | "short" | "over";

/** Where a control stands in the window, and how much smaller than it is. */
export interface StepperPlace extends Point {
  readonly scale: number;
  readonly form: StepperForm;
}

/** Where a repeat's frame is in the window, and what stands in the first line of its title. */
export interface StepperFrame {
  readonly top: number;
  readonly right: number;
  /** where the title ends, and where the number of repetitions begins and ends; 0 for no number */
  readonly titleEnd: number;
  readonly numberStart: number;
  readonly numberEnd: number;
}

/**
 * Place a control at the right end of a title's line, shortened where it would cover the title,
 * and above the line where it still would; null where it would be cut by the window. The number
 * of repetitions is covered altogether, by the whole control, or not at all.
 */
export function placeStepper(
  frame: StepperFrame,
  widths: { whole: number; short: number },
  zoom: number,
  size: Size,
): StepperPlace | null {
  const scale = Math.min(zoom, 1);
  const inner = Math.min(frame.right, size.width) - GAP * scale;
  // a mark in the corner leaves less than the usual gap, but lies above the number
  const isNumberShown = frame.numberStart < size.width;
  const right = isNumberShown ? Math.max(inner, Math.min(frame.numberEnd, size.width)) : inner;
  const y = frame.top + TOP * scale;
  if (y < 0 || y + HEIGHT * scale > size.height) return null;
  const beside = Math.min(right, frame.numberStart - GAP * scale);
  const covers = right - widths.whole * scale <= frame.numberStart;
  for (const form of ["whole", "short"] as const) {
    const x = (form === "whole" && covers ? right : beside) - widths[form] * scale;
    if (x >= Math.max(frame.titleEnd, 0) + GAP * scale) return { x, y, scale, form };
  }
  const x = Math.max(right - widths.whole * scale, 0);
  const above = frame.top - (HEIGHT - OVERLAP) * scale;
  return { x, y: above < 0 ? frame.top + HEIGHT * scale : above, scale, form: "over" };
}

export class Steppers {
  readonly element = makeElement("div", "nl-steppers");
  /** the control of the repeat around the selection, below the picture */
  readonly bar = makeElement("div", "nl-chip");
  private readonly shown = new Map<string, HTMLElement>();
  private readonly widths = new WeakMap<HTMLElement, { whole: number; short: number }>();
  /** the repeats that hold the pointer and the selection */
  private hovered: string | null = null;
  private selected: string | null = null;
  private leaving: ReturnType<typeof setTimeout> | undefined;
  private scene: Scene | null = null;
  private repeats: number[] = [];
  /** the button that had the keyboard in the scene before: its repeat and its title */
  private held: { repeat: string; title: string } | null = null;

  constructor(
    private readonly host: Host,
    private readonly actions: StepperActions,
  ) {
    this.bar.hidden = true;
    this.bar.dataset.netloupeChip = "repeat";
  }

  /** Show the control of the repeat that a box is or stands in. */
  follow(box: number): void {
    const { scene } = this;
    let repeat = box;
    while (scene && repeat >= 0 && !this.hasControl(scene, repeat)) repeat = scene.parentOf(repeat);
    this.selected = scene && repeat >= 0 ? scene.keyOf(repeat) : null;
    this.showAsked();
    this.bar.hidden = !scene || repeat < 0;
    if (!scene || repeat < 0) return;
    const name = makeElement("span", "nl-chip-text");
    name.textContent = name.title = titleOf(scene.faceOf(repeat));
    const { activeElement } = this.bar.getRootNode() as Document | ShadowRoot;
    const held = this.bar.contains(activeElement) && (activeElement as HTMLElement).title;
    this.fill(this.bar, scene, repeat);
    this.bar.prepend(name);
    if (held) focusTitled(this.bar, held);
  }

  /** Show the control of the innermost repeat around a point of the scene; null for no point. */
  hover(point: Point | null): void {
    const { scene } = this;
    let around: string | null = null;
    let depth = -1;
    for (const box of scene && point ? this.repeats : []) {
      const key = scene!.keyOf(box);
      if (!this.shown.has(key) || scene!.depthOf(box) <= depth) continue;
      if (!contains(boxRectangle(scene!, box), point!)) continue;
      [around, depth] = [key, scene!.depthOf(box)];
    }
    this.holdHovered(around);
  }

  /** Keep the control of a repeat on the screen, and that of none a little later. */
  private holdHovered(key: string | null): void {
    clearTimeout(this.leaving);
    const change = (): void => {
      this.hovered = key;
      this.showAsked();
    };
    if (key === null) this.leaving = setTimeout(change, LINGER);
    else change();
  }

  /** Show those on borders that are asked for, and hide the others. */
  private showAsked(): void {
    const { activeElement } = this.element.getRootNode() as Document | ShadowRoot;
    for (const [key, control] of this.shown) {
      if (control.dataset.netloupeForm !== "over") continue;
      const isAsked = key === this.hovered || key === this.selected;
      control.hidden = !isAsked && !control.contains(activeElement);
    }
  }

  /** Find the open repeats of a new scene. */
  take(scene: Scene): void {
    this.scene = scene;
    this.repeats = [];
    for (let box = 0; box < scene.boxCount; box++) {
      if (this.hasControl(scene, box)) this.repeats.push(box);
    }
    this.held = this.findHeld() ?? this.held;
    this.shown.clear();
    this.element.replaceChildren();
  }

  /** Whether a box is an open repeat with which the host can do anything. */
  private hasControl(scene: Scene, box: number): boolean {
    const shown = repetitionOf(scene, box);
    if (!shown) return false;
    return this.host.can("unroll") || (shown.index >= 0 && this.host.can("step"));
  }

  private findHeld(): { repeat: string; title: string } | null {
    const { activeElement } = this.element.getRootNode() as Document | ShadowRoot;
    const control = activeElement?.closest<HTMLElement>("[data-netloupe-repeat]");
    if (!control || !this.element.contains(control)) return null;
    const { title } = activeElement as HTMLElement;
    return { repeat: control.dataset.netloupeRepeat ?? "", title };
  }

  /** Give the keyboard to the button that had it: who steps on by keys presses it again. */
  private holdAgain(control: HTMLElement): void {
    if (!this.held || control.dataset.netloupeRepeat !== this.held.repeat) return;
    focusTitled(control, this.held.title);
    this.held = null;
  }

  /** Put the controls where the titles are in the window. */
  place(view: Viewport, size: Size, paints: Paints): void {
    const { scene } = this;
    if (!scene || this.repeats.length === 0) return;
    const wanted = new Set<string>();
    for (const box of view.zoom < LEAST_ZOOM ? [] : this.repeats) {
      const { x, y, width } = boxRectangle(scene, box);
      const { x: left, y: top } = toWindow(view, { x, y });
      // a mark stands in the corner where the control ends else
      const reach = markReach(paints.boxes.get(box), width, view.zoom);
      const right = left + (width - reach) * view.zoom;
      if (right < 0 || left > size.width || top < 0 || top > size.height) continue;
      if (wanted.size >= MOST) break;
      const key = scene.keyOf(box);
      wanted.add(key);
      let control = this.shown.get(key);
      if (!control) {
        control = this.make(scene, box);
        this.shown.set(key, control);
        this.element.append(control);
        this.holdAgain(control);
      }
      const face = scene.faceOf(box);
      const end = left + titleEnd(face) * view.zoom;
      const numberStart = Math.min(right, left + (width - numberReach(face)) * view.zoom);
      const gap = numberGap(face);
      const numberEnd = gap === null ? 0 : left + (width - gap) * view.zoom;
      const frame = { top, right, titleEnd: end, numberStart, numberEnd };
      const place = placeStepper(frame, this.widthsOf(control), view.zoom, size);
      control.hidden = place === null;
      control.dataset.netloupeForm = place?.form ?? "";
      if (!place) continue;
      control.style.transform = `translate(${place.x}px, ${place.y}px) scale(${place.scale})`;
    }
    for (const [key, control] of this.shown) {
      if (wanted.has(key)) continue;
      control.remove();
      this.shown.delete(key);
    }
    this.showAsked();
  }

  /** Widths of a control; asking the browser at each move would make it lay out the page. */
  private widthsOf(control: HTMLElement): { whole: number; short: number } {
    let widths = this.widths.get(control);
    if (widths === undefined) {
      const whole = control.offsetWidth;
      control.dataset.netloupeForm = "short";
      widths = { whole, short: control.offsetWidth };
      this.widths.set(control, widths);
    }
    return widths;
  }

  private make(scene: Scene, box: number): HTMLElement {
    const control = makeElement("div", "nl-stepper");
    control.dataset.netloupeRepeat = scene.pathOf(box);
    // an edge on its way through the group does not run through the words
    control.style.background = groundOf(scene.faceOf(box).category);
    const key = scene.keyOf(box);
    control.addEventListener("pointerenter", () => this.holdHovered(key));
    control.addEventListener("pointerleave", () => this.holdHovered(null));
    // once the focus has gone where it goes
    control.addEventListener("focusout", () => setTimeout(() => this.showAsked()));
    this.fill(control, scene, box);
    return control;
  }

  private fill(control: HTMLElement, scene: Scene, box: number): void {
    const path = scene.pathOf(box);
    const { count, index } = repetitionOf(scene, box)!;
    control.replaceChildren();
    control.setAttribute("role", "group");
    control.setAttribute("aria-label", "Repetitions");
    const button = (text: string, title: string, press: () => void): HTMLButtonElement => {
      const made = makeElement("button", "nl-crumb");
      made.type = "button";
      made.textContent = text;
      made.title = title;
      made.addEventListener("click", press);
      return made;
    };
    if (index < 0) {
      control.append(button("one", "Show one repetition", () => this.actions.fold(path)));
      return;
    }
    const step = (by: number): void =>
      this.actions.shown(path, (index + by + count) % count);
    const text = makeElement("span", "nl-chip-count");
    text.textContent = `${(index + 1).toLocaleString("en")} of ${count.toLocaleString("en")}`;
    control.append(text);
    if (this.host.can("step")) {
      text.before(iconButton("back", "Previous repetition", () => step(-1)));
      text.after(iconButton("forward", "Next repetition", () => step(1)));
    }
    if (this.host.can("unroll")) {
      control.append(button("all", "Show all repetitions", () => this.actions.unroll(path)));
    }
  }
}

/** Give the keyboard to the button of a control that has a title. */
function focusTitled(control: HTMLElement, title: string): void {
  for (const button of control.querySelectorAll("button")) {
    if (button.title === title) button.focus({ preventScroll: true });
  }
}
