/** The inspector of a page that stands alone: the description of what is selected. */

import { makeElement } from "../controls/elements";
import { keepKeys } from "../host/kept_keys";
import type { Traits } from "../host/connection";
import type { CanvasTraits } from "../host/traits";
import { showWeight } from "./weight_panel";
import type { Weight } from "./weights";

export interface InspectorActions {
  /** The description of what is at a path, as HTML; null where there is none. */
  describe(path: string): Promise<string | null>;
  /** What is said of the elements of a weight that a description names. */
  readWeight(number: number): Promise<Weight>;
  /** show and select what is at a path */
  goTo(path: string): void;
}

export class Inspector {
  readonly element = makeElement("div", "nl-inspector");
  private readonly text = makeElement("div", "nl-inspector-part");
  private asked = 0;

  constructor(
    private readonly traits: Traits<CanvasTraits>,
    private readonly actions: InspectorActions,
  ) {
    this.element.append(this.text);
    this.text.tabIndex = -1;
    keepKeys(this.text);
    this.text.addEventListener("click", (event) => this.onClick(event));
    traits.follow("selection", () => void this.show());
    traits.follow("selected_paths", () => void this.show());
    traits.follow("shown_theme", () => this.applyTheme());
    this.applyTheme();
    void this.show();
  }

  private applyTheme(): void {
    const dark = this.traits.get("shown_theme") === "dark";
    this.element.classList.toggle("nl-inspector-dark", dark);
  }

  private async show(): Promise<void> {
    const asked = ++this.asked;
    const path = this.traits.get("selection");
    const all = this.traits.get("selected_paths");
    let html: string;
    try {
      html =
        all.length > 1 && all[0] === path
          ? listPaths(all)
          : ((await this.actions.describe(path)) ?? listPaths([path]) + NOT_HERE);
    } catch (error) {
      html = writeError(error instanceof Error ? error.message : String(error));
    }
    if (asked !== this.asked) return;
    this.text.innerHTML = html;
    this.element.scrollTop = 0;
    for (const place of this.text.querySelectorAll<HTMLElement>(".nl-inspector-weight")) {
      void this.fill(place);
    }
  }

  /** Show a weight where its description has a place for it. */
  private async fill(place: HTMLElement): Promise<void> {
    try {
      showWeight(place, await this.actions.readWeight(Number(place.dataset.weight)));
    } catch (error) {
      place.innerHTML = writeError(error instanceof Error ? error.message : String(error));
    }
  }

  private onClick(event: MouseEvent): void {
    const button = (event.target as Element).closest<HTMLElement>("button");
    const path = button?.dataset.path;
    if (path) this.actions.goTo(decodeURIComponent(path));
  }
}

function writeError(message: string): string {
  return `<div class="nl-inspector-error" role="alert">${escapeText(message)}</div>`;
}

/** Paths of which no more is said here. */
function listPaths(paths: readonly string[]): string {
  const title = paths.length > 1 ? `${paths.length.toLocaleString("en")} selected` : "Selected";
  const links = paths.slice(0, MOST_LISTED).map(
    (path) =>
      `<button type="button" class="nl-inspector-link" data-path="${encodeURIComponent(path)}">` +
      `<span class="nl-inspector-link-head">${escapeText(path)}</span></button>`,
  );
  return (
    `<div class="nl-inspector-header"><div class="nl-inspector-title">${title}</div></div>` +
    links.join("")
  );
}

const MOST_LISTED = 200;

const NOT_HERE = '<div class="nl-inspector-text">Its description is not in this file.</div>';

function escapeText(text: string): string {
  const element = document.createElement("span");
  element.textContent = text;
  return element.innerHTML.replace(/"/g, "&quot;");
}
