/** Asks how a picture is to be saved, and shows what the browser does not let one copy. */

import type { Host } from "../host/host";
import type { PictureFormat } from "../host/messages";
import { iconButton, makeElement } from "./elements";

/** How a picture is wanted. */
export interface Wanted {
  readonly format: PictureFormat;
  /** only what is seen in the window */
  readonly seen: boolean;
}

const FORMATS: ReadonlyArray<readonly [PictureFormat, string]> = [
  ["svg", "drawing, sharp at any size"],
  ["png", "pixels, two for each of the drawing"],
  ["pdf", "one page, for papers"],
  ["html", "page to explore, always whole"],
];

/** The formats that there are where a host can do more or less. */
export function listFormats(host: Host): ReadonlyArray<readonly [PictureFormat, string]> {
  // the canvas draws two by itself
  return host.can("picture") ? FORMATS : FORMATS.slice(0, 2);
}

/** Something that lies over the picture until it is closed; it is in the page only so long. */
class Dialog {
  readonly element = makeElement("div", "nl-question");
  private around: HTMLElement | null = null;

  constructor(
    title: string,
    private readonly left: () => void,
  ) {
    this.element.setAttribute("role", "dialog");
    this.element.setAttribute("aria-label", title);
    const head = makeElement("div", "nl-help-head");
    head.textContent = title;
    head.append(iconButton("close", "Close", () => this.hide()));
    this.element.append(head);
    this.element.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Escape") this.hide();
    });
  }

  get isShown(): boolean {
    return this.element.parentElement !== null;
  }

  /** Tell what it is to lie over. */
  standIn(around: HTMLElement): void {
    this.around = around;
  }

  hide(): void {
    this.element.remove();
    this.left();
  }

  protected appear(): void {
    this.around?.append(this.element);
  }
}

export class SaveDialog extends Dialog {
  private readonly form = makeElement("form", "nl-saving");
  private format: PictureFormat = "svg";
  private seen = false;
  private readonly parts: HTMLInputElement[] = [];

  /** @param save does what is wanted */
  constructor(
    host: Host,
    private readonly save: (wanted: Wanted) => void,
    left: () => void,
  ) {
    super("Save picture", left);
    const formats = makeElement("fieldset", "nl-choices");
    for (const [format, meaning] of listFormats(host)) {
      const choice = this.choice("format", format.toUpperCase(), meaning, format === this.format);
      choice.addEventListener("change", () => {
        this.format = format;
        for (const part of this.parts) part.disabled = format === "html";
      });
      formats.append(choice.parentElement!);
    }
    const parts = makeElement("fieldset", "nl-choices");
    for (const [seen, label] of [
      [false, "The whole picture"],
      [true, "What is seen in the window"],
    ] as const) {
      const choice = this.choice("part", label, "", seen === this.seen);
      choice.addEventListener("change", () => {
        this.seen = seen;
      });
      this.parts.push(choice);
      parts.append(choice.parentElement!);
    }
    const row = makeElement("div", "nl-question-row");
    const leave = makeElement("button", "nl-cancel");
    leave.type = "button";
    leave.textContent = "Cancel";
    leave.addEventListener("click", () => this.hide());
    const yes = makeElement("button", "nl-cancel nl-yes");
    yes.type = "button";
    yes.textContent = "Save";
    const done = (): void => {
      this.hide();
      this.save({ format: this.format, seen: this.seen && this.format !== "html" });
    };
    // nothing is submitted: in the frame of a saved notebook no form may be
    yes.addEventListener("click", done);
    this.form.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.target as Element).matches("input")) return;
      event.preventDefault();
      done();
    });
    row.append(leave, yes);
    this.form.append(formats, parts, row);
    this.element.append(this.form);
  }

  show(): void {
    this.appear();
    this.form.querySelector<HTMLInputElement>("input:checked")?.focus({ preventScroll: true });
  }

  private choice(name: string, text: string, meaning: string, checked: boolean): HTMLInputElement {
    const label = makeElement("label", "nl-choice");
    const input = makeElement("input", "");
    input.type = "radio";
    input.name = name;
    input.checked = checked;
    const said = makeElement("span", "");
    said.textContent = text;
    const more = makeElement("span", "nl-choice-meaning");
    more.textContent = meaning;
    label.append(input, said, more);
    return input;
  }
}

/** Shows a text, selected, where the browser lets no page copy. */
export class CopyByHand extends Dialog {
  private readonly text = makeElement("textarea", "nl-by-hand");

  constructor(left: () => void) {
    super("Copy by hand", left);
    const said = makeElement("p", "");
    said.textContent = "The browser does not let this page copy. The text is selected: press Ctrl+C.";
    this.text.readOnly = true;
    this.text.rows = 5;
    this.text.setAttribute("aria-label", "Text to copy");
    this.element.append(said, this.text);
  }

  show(text: string): void {
    this.text.value = text;
    this.appear();
    this.text.focus({ preventScroll: true });
    this.text.select();
  }
}
