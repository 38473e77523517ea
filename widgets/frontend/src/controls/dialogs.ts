/** What lies over the picture until it is answered or put away: the help, and a question. */

import type { Host } from "../host/host";
import { iconButton, makeElement } from "./elements";
import { listKeys } from "./keys";

export class Help {
  readonly element = makeElement("div", "nl-help");

  /** @param left gives the keyboard back when it is put away */
  constructor(
    host: Host,
    private readonly left: () => void,
  ) {
    this.element.setAttribute("role", "dialog");
    this.element.setAttribute("aria-label", "Keys");
    this.element.tabIndex = -1;
    this.element.hidden = true;
    const head = makeElement("div", "nl-help-head");
    head.textContent = "Keys";
    head.append(iconButton("close", "Close", () => this.hide()));
    const list = makeElement("dl", "nl-help-keys");
    for (const [keys, meaning] of listKeys(host)) {
      const term = makeElement("dt", "");
      for (const key of keys.split(" ")) {
        const cap = makeElement("kbd", "");
        cap.textContent = key;
        term.append(cap);
      }
      const text = makeElement("dd", "");
      text.textContent = meaning;
      list.append(term, text);
    }
    this.element.append(head, list);
    this.element.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (!["Escape", "?", "Enter"].includes(event.key)) return;
      event.preventDefault();
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
    this.element.focus({ preventScroll: true });
  }

  hide(): void {
    this.element.hidden = true;
    this.left();
  }
}

/** Asks before something that takes long. */
export class Question {
  readonly element = makeElement("div", "nl-question");
  private readonly text = makeElement("p", "");
  private readonly yes = makeElement("button", "nl-cancel nl-yes");
  private readonly no = makeElement("button", "nl-cancel");
  private answer: ((sure: boolean) => void) | null = null;

  constructor(private readonly left: () => void) {
    this.element.setAttribute("role", "alertdialog");
    this.element.hidden = true;
    this.yes.type = this.no.type = "button";
    this.yes.textContent = "Draw it";
    this.no.textContent = "Leave it";
    this.yes.addEventListener("click", () => this.end(true));
    this.no.addEventListener("click", () => this.end(false));
    const row = makeElement("div", "nl-question-row");
    row.append(this.no, this.yes);
    this.element.append(this.text, row);
    this.element.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Escape") this.end(false);
    });
  }

  get isShown(): boolean {
    return !this.element.hidden;
  }

  /** Ask; a question that still stands is answered with no. */
  ask(text: string): Promise<boolean> {
    this.answer?.(false);
    this.text.textContent = text;
    this.element.setAttribute("aria-label", text);
    this.element.hidden = false;
    this.no.focus({ preventScroll: true });
    return new Promise((resolve) => {
      this.answer = resolve;
    });
  }

  end(sure: boolean): void {
    this.element.hidden = true;
    const { answer } = this;
    this.answer = null;
    this.left();
    answer?.(sure);
  }
}
