/** The legend over the picture: what its colours and signs mean, of those that occur in it. */

import { messageOf } from "../host/conversation";
import type { LegendEntry } from "../host/messages";
import type { Rectangle } from "../scene/geometry";
import { iconButton, makeElement } from "./elements";
import { Place } from "./place";

export interface LegendActions {
  /** ask for what the picture that is shown has to explain */
  ask(): Promise<LegendEntry[]>;
  /** colour boxes by another column, -1 for none */
  colour(overlay: number): void;
  /** how much of the picture would be under a place in it */
  weigh(place: Rectangle): number;
  /** it is put away: give the keyboard back */
  left(): void;
}

/** what is chosen for no colouring */
const NONE = -1;

export class Legend {
  readonly element = makeElement("section", "nl-legend");
  private readonly body = makeElement("div", "nl-legend-body");
  private readonly list = makeElement("ul", "nl-legend-list");
  private readonly own = makeElement("ul", "nl-legend-list");
  private readonly signs = makeElement("details", "nl-legend-signs");
  /** whether somebody has unfolded the signs */
  private wantsSigns = false;
  private readonly choice = makeElement("label", "nl-legend-choice");
  private readonly select = makeElement("select", "nl-select");
  private readonly folder = iconButton("fold", "Fold the legend", () => this.fold(!this.isFolded));
  private readonly place: Place;
  /** counts what was asked: only the last answer is shown */
  private asked = 0;

  constructor(private readonly actions: LegendActions) {
    this.element.setAttribute("aria-label", "Legend");
    this.element.hidden = true;
    const head = makeElement("div", "nl-help-head nl-legend-head");
    const grip = iconButton("move", "Move the legend: drag it, or press arrow keys", () => undefined);
    this.place = new Place(this.element, head, grip, (place) => actions.weigh(place));
    const title = makeElement("span", "nl-legend-title");
    title.textContent = "Legend";
    head.append(
      ...[grip, title, this.folder],
      iconButton("close", "Close the legend", () => this.hide()),
    );
    this.choice.append("Colour by ", this.select);
    this.choice.hidden = true;
    this.select.addEventListener("change", () => actions.colour(Number(this.select.value)));
    const summary = makeElement("summary", "nl-legend-summary");
    summary.textContent = "Signs";
    summary.addEventListener("click", () => (this.wantsSigns = !this.signs.open));
    this.signs.append(summary, this.list);
    this.body.append(this.choice, this.own, this.signs);
    this.element.append(head, this.body);
    this.fold(false);
    this.element.addEventListener("keydown", (event) => {
      // arrows choose a column, and do not walk through the picture
      const isOwn = event.target === this.select || event.target === summary;
      if (isOwn && event.key !== "Tab" && event.key !== "Escape") event.stopPropagation();
      if (event.key !== "Escape") return;
      event.preventDefault();
      event.stopPropagation();
      this.hide();
    });
  }

  /** Offer the columns that boxes can be coloured by. */
  offer(names: readonly string[], chosen: number): void {
    const options = ["None", ...names].map((name, place) => {
      const option = makeElement("option", "");
      option.value = String(place + NONE);
      option.textContent = name;
      return option;
    });
    this.select.replaceChildren(...options);
    this.select.value = String(chosen);
    this.choice.hidden = names.length === 0;
  }

  get isShown(): boolean {
    return !this.element.hidden;
  }

  toggle(): void {
    if (this.isShown) {
      this.hide();
      return;
    }
    this.show();
  }

  /** Show it where it covers least; folded, it leaves the picture nearly whole. */
  show(isFolded = false): void {
    this.element.hidden = false;
    this.fold(isFolded);
    this.place.choose();
    void this.refresh();
  }

  /** Stand well in a picture that may have got another size. */
  follow(): void {
    if (this.isShown) this.place.follow();
  }

  private get isFolded(): boolean {
    return this.body.hidden;
  }

  private fold(isFolded: boolean): void {
    this.body.hidden = isFolded;
    this.element.classList.toggle("nl-legend-folded", isFolded);
    this.folder.title = isFolded ? "Unfold the legend" : "Fold the legend";
    this.folder.setAttribute("aria-label", this.folder.title);
    this.folder.setAttribute("aria-expanded", String(!isFolded));
    if (this.isShown) this.place.keepInside();
  }

  hide(): void {
    this.element.hidden = true;
    this.actions.left();
  }

  /** Ask again: the picture or its colours have changed. */
  async refresh(): Promise<void> {
    if (!this.isShown) return;
    const number = ++this.asked;
    try {
      const entries = await this.actions.ask();
      if (number === this.asked) this.fill(entries);
    } catch (error) {
      if (number === this.asked) {
        this.own.replaceChildren();
        this.list.replaceChildren(makeRow(messageOf(error)));
      }
    }
  }

  private fill(entries: readonly LegendEntry[]): void {
    const rows = (overlay: boolean): HTMLLIElement[] =>
      entries
        .filter((entry) => (entry.overlay ?? false) === overlay)
        .map(({ text, svg }) => makeRow(text, svg));
    const own = rows(true);
    this.own.replaceChildren(...own);
    this.list.replaceChildren(...rows(false));
    // colours by numbers are read again and again, signs are learnt once
    this.signs.open = own.length === 0 || this.wantsSigns;
    this.signs.classList.toggle("nl-legend-folds", own.length > 0);
    this.place.settle();
  }
}

function makeRow(text: string, svg?: string): HTMLLIElement {
  const row = makeElement("li", "nl-legend-row");
  if (svg) {
    const picture = makeElement("img", "nl-legend-sample");
    picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
    picture.alt = "";
    row.append(picture);
  }
  if (svg === "") row.classList.add("nl-legend-words");
  row.append(text);
  return row;
}
