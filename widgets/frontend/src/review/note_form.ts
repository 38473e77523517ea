/** A few lines to write a note in. */

import { makeElement } from "../controls/elements";

/** as LONGEST_TEXT in explorer/notes/event.py */
const LONGEST = 100_000;

export class NoteForm {
  /** no form: in a frame of a saved notebook none can be sent */
  readonly element = makeElement("div", "nl-review-form");
  private readonly label = makeElement("label", "");
  private readonly text = makeElement("textarea", "nl-review-text");
  private readonly error = makeElement("p", "nl-review-error");
  private readonly send = makeElement("button", "nl-review-button nl-primary");
  private written: (text: string) => void = () => undefined;
  /** what has the keyboard again once it is put away */
  private before: Element | null = null;
  private key = "";

  /** @param drafts what was typed and not sent, by what it is about; Escape leaves it there */
  constructor(private readonly drafts: Map<string, string>) {
    const cancel = makeElement("button", "nl-review-button");
    cancel.type = "button";
    cancel.textContent = "cancel";
    cancel.addEventListener("click", () => {
      this.drafts.delete(this.key);
      this.close();
    });
    this.text.rows = 3;
    this.text.maxLength = LONGEST;
    this.error.setAttribute("role", "alert");
    this.label.append(makeElement("span", ""), this.text);
    const buttons = makeElement("div", "nl-review-buttons");
    buttons.append(this.send, cancel);
    this.element.append(this.label, this.error, buttons);
    this.element.hidden = true;
    this.send.type = "button";
    this.send.addEventListener("click", () => this.submit());
    this.text.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.putAside();
      else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.submit();
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
  }

  get isOpen(): boolean {
    return !this.element.hidden;
  }

  /**
   * Open it with a text, or with what was typed of the same and put aside.
   *
   * @param written called with what was written, once the button called `send` is pressed
   */
  open(label: string, send: string, text: string, written: (text: string) => void): void {
    if (this.isOpen) this.keepDraft(); // of something else
    this.before = (this.element.getRootNode() as ShadowRoot).activeElement;
    this.label.querySelector("span")!.textContent = label;
    this.send.textContent = send;
    this.key = `${label}\n${text}`;
    this.text.value = this.drafts.get(this.key) ?? text;
    this.error.textContent = "";
    this.written = written;
    this.element.hidden = false;
    this.text.focus();
  }

  /** It was not written: what was typed stays. */
  refuse(error: string): void {
    this.error.textContent = error;
  }

  close(): void {
    this.element.hidden = true;
    this.text.value = "";
    (this.before as HTMLElement | null)?.focus?.({ preventScroll: true });
  }

  /** Close it; what was typed is there when it is opened again. */
  private putAside(): void {
    this.keepDraft();
    this.close();
  }

  private keepDraft(): void {
    if (this.text.value.trim()) this.drafts.set(this.key, this.text.value);
    else this.drafts.delete(this.key);
  }

  private submit(): void {
    const text = this.text.value.trim();
    this.drafts.delete(this.key);
    if (text) this.written(text);
    else this.refuse("Write something first.");
  }
}
