/** Errors and notices along the top of the canvas. */

import { iconButton, makeElement } from "./elements";

/** Errors and notices along the top; each can be dismissed, none touches the picture. */
export class Strip {
  readonly element = makeElement("div", "nl-strip");
  private notices = "";

  constructor() {
    this.element.setAttribute("role", "alert");
  }

  get isShown(): boolean {
    return this.element.childElementCount > 0;
  }

  showError(message: string): void {
    this.element.querySelector(".nl-error")?.remove();
    this.add("nl-error", message);
  }

  /** Show what a scene has to say, unless the same was shown before. */
  showNotices(notices: string[]): void {
    const all = notices.join("\n");
    if (all === this.notices) return;
    this.notices = all;
    this.element.querySelectorAll(".nl-notice:not(.nl-offer-line, .nl-told)").forEach((line) => line.remove());
    for (const notice of notices) this.add("nl-notice", notice);
  }

  /** Show a single notice beside those of the scene, in place of the last one. */
  showNotice(notice: string): void {
    this.element.querySelector(".nl-told")?.remove();
    this.add("nl-notice nl-told", notice);
  }

  /**
   * Say that something is no longer so and offer to renew it; nothing where it is so again.
   *
   * @param press null where it cannot be renewed
   */
  showOffer(message: string, label: string, press: (() => void) | null): void {
    this.element.querySelector(".nl-offer-line")?.remove();
    if (message === "") return;
    const line = this.add("nl-notice nl-offer-line", message);
    if (!press) return;
    const button = makeElement("button", "nl-cancel");
    button.type = "button";
    button.textContent = label;
    button.addEventListener("click", press);
    line.lastElementChild?.before(button);
  }

  clear(): void {
    this.element.replaceChildren();
  }

  private add(className: string, message: string): HTMLElement {
    const line = makeElement("div", className);
    const text = makeElement("span", "nl-strip-text");
    text.textContent = message;
    line.append(text, iconButton("close", "Dismiss", () => line.remove()));
    this.element.append(line);
    return line;
  }
}
