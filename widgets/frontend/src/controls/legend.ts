/** The legend over the picture: what its colours and signs mean, of those that occur in it. */

import { messageOf } from "../host/conversation";
import type { LegendEntry } from "../host/messages";
import { iconButton, makeElement } from "./elements";

export interface LegendActions {
  /** ask for what the picture that is shown has to explain */
  ask(): Promise<LegendEntry[]>;
  /** it is put away: give the keyboard back */
  left(): void;
}

export class Legend {
  readonly element = makeElement("section", "nl-legend");
  private readonly list = makeElement("ul", "nl-legend-list");
  /** counts what was asked: only the last answer is shown */
  private asked = 0;

  constructor(private readonly actions: LegendActions) {
    this.element.setAttribute("aria-label", "Legend");
    this.element.hidden = true;
    const head = makeElement("div", "nl-help-head");
    head.textContent = "Legend";
    head.append(iconButton("close", "Close the legend", () => this.hide()));
    this.element.append(head, this.list);
    this.element.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      event.stopPropagation();
      this.hide();
    });
  }

  get isShown(): boolean {
    return !this.element.hidden;
  }

  toggle(): void {
    if (this.isShown) {
      this.hide();
      return;
    }
    this.element.hidden = false;
    void this.refresh();
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
      if (number === this.asked) this.list.replaceChildren(makeRow(messageOf(error)));
    }
  }

  private fill(entries: readonly LegendEntry[]): void {
    this.list.replaceChildren(...entries.map(({ text, svg }) => makeRow(text, svg)));
  }
}

function makeRow(text: string, svg?: string): HTMLLIElement {
  const row = makeElement("li", "nl-legend-row");
  if (svg !== undefined) {
    const picture = makeElement("img", "nl-legend-sample");
    picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
    picture.alt = "";
    row.append(picture);
  }
  row.append(text);
  return row;
}
