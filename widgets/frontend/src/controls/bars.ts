/** Small bars along the bottom: what is traced, where a value is used, what is in focus. */

import options from "../scene/options";
import { iconButton, makeElement } from "./elements";

/** Says what is lit, and puts it out. */
export class TraceChip {
  readonly element = makeElement("div", "nl-chip");
  private readonly text = makeElement("span", "nl-chip-text");

  constructor(clear: () => void) {
    this.element.hidden = true;
    this.element.dataset.netloupeChip = "trace";
    this.element.setAttribute("role", "status");
    this.element.append(this.text, iconButton("close", "Put out (Esc)", clear));
  }

  show(text: string): void {
    this.text.textContent = text;
    this.text.title = text;
    this.element.hidden = false;
  }

  hide(): void {
    this.element.hidden = true;
  }
}

export interface PlaceActions {
  step(by: 1 | -1): void;
  producer(): void;
}

/** Steps through the places where a value is used: `mask · 1 of 25 · ‹ › · producer`. */
export class PlaceBar {
  readonly element = makeElement("div", "nl-chip");
  private readonly name = makeElement("span", "nl-chip-text");
  private readonly count = makeElement("span", "nl-chip-count");
  private readonly steps: HTMLButtonElement[];
  private readonly source = makeElement("button", "nl-crumb");

  constructor(actions: PlaceActions) {
    this.element.hidden = true;
    this.element.dataset.netloupeChip = "places";
    this.element.setAttribute("role", "group");
    this.element.setAttribute("aria-label", "Places of the selected value");
    this.steps = [
      iconButton("back", "Previous place (P)", () => actions.step(-1)),
      iconButton("forward", "Next place (N)", () => actions.step(1)),
    ];
    this.source.type = "button";
    this.source.addEventListener("click", () => actions.producer());
    this.element.append(this.name, this.count, ...this.steps, this.source);
  }

  /**
   * @param current which place is shown, from 0; -1 for none of them
   * @param producers how many boxes give the values
   */
  show(name: string, current: number, count: number, producers: number): void {
    this.name.textContent = name;
    this.name.title = name;
    const all = count.toLocaleString("en");
    this.count.textContent =
      current < 0
        ? `${all} ${count === 1 ? "place" : "places"}`
        : `${(current + 1).toLocaleString("en")} of ${all}`;
    for (const button of this.steps) button.disabled = count === 0;
    this.source.textContent = producers > 1 ? `${producers.toLocaleString("en")} producers` : "producer";
    this.source.title =
      producers > 1 ? "Where the values are given, one by one (G)" : "Where the value is given (G)";
    this.source.hidden = producers === 0;
    this.element.hidden = false;
  }

  hide(): void {
    this.element.hidden = true;
  }
}

/** Offers to cut a very long picture into columns. */
export class WrapOffer {
  readonly element = makeElement("div", "nl-chip");
  private declined = false;

  constructor(accept: () => void) {
    this.element.hidden = true;
    this.element.dataset.netloupeChip = "wrap";
    this.element.setAttribute("role", "group");
    this.element.setAttribute("aria-label", "Long picture");
    const text = makeElement("span", "nl-chip-text");
    text.textContent = "A long picture";
    const button = makeElement("button", "nl-crumb");
    button.type = "button";
    button.textContent = options.wrap.choices.yes.menu;
    button.addEventListener("click", accept);
    const decline = (): void => {
      this.declined = true;
      this.element.hidden = true;
    };
    this.element.append(text, button, iconButton("close", "Leave it as it is", decline));
  }

  /** Offer it where it would help, until it is declined. */
  show(isLong: boolean): void {
    this.element.hidden = !isLong || this.declined;
  }
}

export interface FocusActions {
  hops(hops: number): void;
  leave(): void;
}

export const MOST_HOPS = 5;

/** Says that only a neighbourhood is shown, widens and narrows it, and leads back. */
export class FocusBar {
  readonly element = makeElement("div", "nl-chip");
  private readonly text = makeElement("span", "nl-chip-text");
  private readonly count = makeElement("span", "nl-chip-count");
  private readonly less: HTMLButtonElement;
  private readonly more: HTMLButtonElement;
  private hops = 0;

  /** @param actions null where another neighbourhood cannot be had: then it only says what is shown */
  constructor(actions: FocusActions | null) {
    this.element.hidden = true;
    this.element.dataset.netloupeChip = "focus";
    this.element.setAttribute("role", "group");
    this.element.setAttribute("aria-label", "Focus");
    this.less = iconButton("zoom-out", "A hop less", () => actions?.hops(this.hops - 1));
    this.more = iconButton("zoom-in", "A hop more", () => actions?.hops(this.hops + 1));
    this.element.append(this.text, this.count);
    if (!actions) return;
    this.count.before(this.less);
    this.element.append(
      this.more,
      iconButton("close", "Back to the whole graph (Esc)", () => actions.leave()),
    );
  }

  get isShown(): boolean {
    return !this.element.hidden;
  }

  /** @param name what is in focus, "" for nothing */
  show(name: string, hops: number): void {
    this.hops = hops;
    this.element.hidden = name === "";
    this.text.textContent = `Focus: ${name}`;
    this.text.title = name;
    this.count.textContent = hops === 1 ? "1 hop" : `${hops} hops`;
    this.less.disabled = hops <= 1;
    this.more.disabled = hops >= MOST_HOPS;
  }
}
