/** What appears over the picture for a moment: the tooltip, and a hint in words. */

import type { Point } from "../scene/geometry";
import { makeElement } from "./elements";

const TOOLTIP_PAUSE = 250;
const HINT_TIME = 1_400;

/** The text beside the pointer; it shows names in full that are shortened in the picture. */
export class Tooltip {
  readonly element = makeElement("div", "nl-tooltip");
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    this.element.hidden = true;
    this.element.setAttribute("aria-hidden", "true");
  }

  /** Show lines beside a point of the host after a short rest of the pointer. */
  showSoon(lines: string[], point: Point, host: HTMLElement): void {
    this.hide();
    this.timer = setTimeout(() => this.show(lines, point, host), TOOLTIP_PAUSE);
  }

  hide(): void {
    clearTimeout(this.timer);
    this.element.hidden = true;
  }

  private show(lines: string[], point: Point, host: HTMLElement): void {
    const { element } = this;
    const rows = lines.map((line) => {
      const row = makeElement("div", "");
      row.textContent = line;
      return row;
    });
    element.replaceChildren(...rows);
    element.hidden = false;
    const x = Math.min(point.x + 14, host.clientWidth - element.offsetWidth - 6);
    const below = point.y + 20 + element.offsetHeight < host.clientHeight;
    const y = below ? point.y + 20 : point.y - element.offsetHeight - 8;
    element.style.transform = `translate(${Math.max(6, x)}px, ${Math.max(4, y)}px)`;
  }
}

/** A short advice that goes away by itself. */
export class Hint {
  readonly element = makeElement("div", "nl-hint");
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    this.element.hidden = true;
  }

  get isShown(): boolean {
    return !this.element.hidden;
  }

  show(text: string): void {
    this.element.textContent = text;
    this.element.hidden = false;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.hide(), HINT_TIME);
  }

  hide(): void {
    clearTimeout(this.timer);
    this.element.hidden = true;
  }
}
