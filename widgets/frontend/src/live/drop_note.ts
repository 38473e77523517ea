/** What a page of an explorer says of a file that is dropped on it. */

import { type DropWords, takeDrops } from "./dropping";

const STYLE = `
:host { position: fixed; inset: auto 16px 48px; z-index: 9; display: grid; justify-content: center; }
:host([hidden]) { display: none; }
div { display: flex; gap: 12px; align-items: center; max-width: 640px; padding: 10px 14px;
  border: 1px solid #8a94a3; border-radius: 8px; background: Canvas; color: CanvasText;
  box-shadow: 0 6px 24px #0004; font: 14px/1.4 "DejaVu Sans", Verdana, sans-serif;
  overflow-wrap: anywhere; }
button { flex: none; padding: 2px 8px; font: inherit; }
`;

class DropNote implements DropWords {
  private readonly element = document.createElement("div");
  private readonly text = document.createElement("span");
  private readonly button = document.createElement("button");

  constructor() {
    const style = document.createElement("style");
    style.textContent = STYLE;
    const box = document.createElement("div");
    this.button.textContent = "Dismiss";
    this.button.addEventListener("click", () => this.hide());
    box.setAttribute("role", "status");
    box.append(this.text, this.button);
    this.element.attachShadow({ mode: "open" }).append(style, box);
    this.hide();
    document.body.append(this.element);
  }

  over(is: boolean): void {
    if (is) this.show("Drop the model file to open it in place of this one.", false);
    else this.hide();
  }

  sending(name: string, share: number | null): void {
    if (share === null) this.hide();
    else this.show(`Sending ${name}: ${Math.round(share * 100)} %`, false);
  }

  problem(message: string): void {
    this.show(message, true);
  }

  private show(message: string, isDismissed: boolean): void {
    const { theme } = document.documentElement.dataset;
    this.element.style.colorScheme = theme === "dark" ? "dark" : "light";
    this.text.textContent = message;
    this.button.hidden = !isDismissed;
    this.element.hidden = false;
  }

  private hide(): void {
    this.element.hidden = true;
  }
}

/** @param most bytes that a file may have */
export function noteDrops(most: number): void {
  takeDrops(most, new DropNote());
}
