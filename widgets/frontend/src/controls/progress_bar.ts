/** A slim line under the controls, and words below the picture: what the host is doing, how far it is, and a way to stop it. */

import { makeElement } from "./elements";

/** Short work is not talked about. */
const PAUSE = 300;

export class Progress {
  readonly element = makeElement("div", "nl-chip nl-progress");
  readonly line = makeElement("div", "nl-progress-line");
  private readonly text = makeElement("span", "nl-chip-text");
  private readonly button = makeElement("button", "nl-cancel");
  private timer: ReturnType<typeof setTimeout> | undefined;
  private isShown = false;
  private cancel: (() => void) | null = null;

  constructor() {
    this.element.setAttribute("role", "progressbar");
    this.element.hidden = true;
    this.button.type = "button";
    this.button.textContent = "Cancel";
    this.button.addEventListener("click", () => this.cancel?.());
    this.element.append(this.text, this.button);
  }

  /**
   * @param share how much is done, from 0 to 1; null where that is not known
   * @param cancel null where it cannot be stopped
   */
  show(message: string, share: number | null, cancel: (() => void) | null): void {
    this.cancel = cancel;
    this.button.hidden = cancel === null;
    const percent = share === null ? null : Math.round(Math.min(Math.max(share, 0), 1) * 100);
    this.text.textContent = (message || "Working …") + (percent === null ? "" : ` ${percent} %`);
    this.line.classList.toggle("nl-measured", percent !== null);
    this.line.style.width = percent === null ? "" : `${percent}%`;
    this.element.setAttribute("aria-valuetext", this.text.textContent);
    if (percent === null) this.element.removeAttribute("aria-valuenow");
    else this.element.setAttribute("aria-valuenow", String(percent));
    if (this.isShown) return;
    this.isShown = true;
    this.line.classList.add("nl-running");
    this.timer = setTimeout(() => {
      this.element.hidden = false;
    }, PAUSE);
  }

  hide(): void {
    clearTimeout(this.timer);
    this.isShown = false;
    this.line.classList.remove("nl-running");
    this.element.hidden = true;
    this.cancel = null;
  }
}
