/** Small controls on the titles of open repeats: which repetition is shown, and all of them. */

import { iconButton, makeElement } from "./elements";
import { boxRectangle } from "./pick";
import { type Scene, repetitionOf } from "./scene";
import { titleEnd } from "./text";
import { type Size, type Viewport, toWindow } from "./viewport";

export interface StepperActions {
  /** show another repetition, counted from 0 */
  shown(path: string, index: number): void;
  unroll(path: string): void;
  fold(path: string): void;
}

const LEAST_ZOOM = 0.4;
const HEIGHT = 22;
/** between the control, the frame and its title, on the screen */
const GAP = 6;
const MOST = 12;

/** Top of a control at a frame's right end: on its title's line, or above where both find no room. */
export function stepperTop(
  frame: { top: number; right: number; titleEnd: number },
  width: number,
): number {
  const fits = frame.titleEnd + GAP <= frame.right - GAP - width;
  return fits ? frame.top + 2 : frame.top - HEIGHT - 2;
}

export class Steppers {
  readonly element = makeElement("div", "nl-steppers");
  private readonly shown = new Map<string, HTMLElement>();
  private readonly widths = new WeakMap<HTMLElement, number>();
  private scene: Scene | null = null;
  private repeats: number[] = [];

  constructor(private readonly actions: StepperActions) {}

  /** Find the open repeats of a new scene. */
  take(scene: Scene): void {
    this.scene = scene;
    this.repeats = [];
    for (let box = 0; box < scene.boxCount; box++) {
      if (repetitionOf(scene, box)) this.repeats.push(box);
    }
    this.shown.clear();
    this.element.replaceChildren();
  }

  /** Put the controls where the titles are in the window. */
  place(view: Viewport, size: Size): void {
    const { scene } = this;
    if (!scene || this.repeats.length === 0) return;
    const wanted = new Set<string>();
    for (const box of view.zoom < LEAST_ZOOM ? [] : this.repeats) {
      const { x, y, width } = boxRectangle(scene, box);
      const right = toWindow(view, { x: x + width, y });
      if (right.x < 0 || right.y < -HEIGHT || right.y > size.height + HEIGHT || wanted.size >= MOST) continue;
      const left = toWindow(view, { x, y }).x;
      if (left > size.width) continue;
      const key = scene.keyOf(box);
      wanted.add(key);
      let control = this.shown.get(key);
      if (!control) {
        control = this.make(scene, box);
        this.shown.set(key, control);
        this.element.append(control);
      }
      const at = Math.min(right.x, size.width);
      const end = left + titleEnd(scene.faceOf(box)) * view.zoom;
      const top = stepperTop({ top: right.y, right: at, titleEnd: end }, this.widthOf(control));
      control.style.transform = `translate(${at - GAP}px, ${top}px) translateX(-100%)`;
    }
    for (const [key, control] of this.shown) {
      if (wanted.has(key)) continue;
      control.remove();
      this.shown.delete(key);
    }
  }

  /** Width of a control; asking the browser at each move would make it lay out the page. */
  private widthOf(control: HTMLElement): number {
    let width = this.widths.get(control);
    if (width === undefined) this.widths.set(control, (width = control.offsetWidth));
    return width;
  }

  private make(scene: Scene, box: number): HTMLElement {
    const path = scene.pathOf(box);
    const { count, index } = repetitionOf(scene, box)!;
    const control = makeElement("div", "nl-stepper");
    control.dataset.netloupeRepeat = path;
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
      return control;
    }
    const step = (by: number): void =>
      this.actions.shown(path, (index + by + count) % count);
    const text = makeElement("span", "nl-chip-count");
    text.textContent = `${(index + 1).toLocaleString("en")} of ${count.toLocaleString("en")}`;
    control.append(
      iconButton("back", "Previous repetition", () => step(-1)),
      text,
      iconButton("forward", "Next repetition", () => step(1)),
      button("all", "Show all repetitions", () => this.actions.unroll(path)),
    );
    return control;
  }
}
