/** The inspector of a page of its own: the description of what is selected. */

import { makeElement } from "../controls/elements";
import { keepKeys } from "../host/kept_keys";
import type { Traits } from "../host/connection";
import type { CanvasTraits } from "../host/traits";
import type { ReviewConnection } from "../review/connection";
import { ReviewView } from "../review/review_view";
import { quotePath } from "./templates";
import { awaitWeight, showWeight } from "./weight_panel";
import type { Weight } from "./weights";

export interface InspectorActions {
  /** The description of what is at a path, as HTML; null where there is none. */
  describe(path: string): Promise<string | null>;
  /** The description of several elements together; without it each is told by its own. */
  describeSeveral?(paths: readonly string[]): Promise<string>;
  /** What is said of the elements of a weight that a description names. */
  readWeight(number: number): Promise<Weight>;
  /** show and select what is at a path */
  goTo(path: string): void;
}

export class Inspector {
  readonly element = makeElement("div", "nl-inspector");
  private readonly text = makeElement("div", "nl-inspector-part");
  private asked = 0;
  private html = "";
  private isDue = false;
  /** weights that are shown, and need not be asked for again */
  private readonly read = new WeakSet<HTMLElement>();

  constructor(
    private readonly traits: Traits<CanvasTraits>,
    private readonly actions: InspectorActions,
  ) {
    this.element.append(this.text);
    this.text.tabIndex = -1;
    keepKeys(this.text);
    this.text.addEventListener("click", (event) => this.onClick(event));
    traits.follow("selection", () => this.showSoon());
    traits.follow("selected_paths", () => this.showSoon());
    traits.follow("shown_theme", () => this.applyTheme());
    this.applyTheme();
    void this.show();
  }

  /** Put tabs above what is said, one of which shows a review. */
  showReview(connection: ReviewConnection): ReviewView {
    const holder = makeElement("div", "nl-review-holder");
    this.element.prepend(holder);
    return new ReviewView(connection, holder);
  }

  private applyTheme(): void {
    const dark = this.traits.get("shown_theme") === "dark";
    this.element.classList.toggle("nl-inspector-dark", dark);
  }

  /** Show what is selected, once both traits that tell it are set. */
  private showSoon(): void {
    if (this.isDue) return;
    this.isDue = true;
    queueMicrotask(() => {
      this.isDue = false;
      void this.show();
    });
  }

  /** Ask again for what is shown, of which more is known now; what was unfolded stays so. */
  renew(): void {
    void this.show(true);
  }

  private async show(isRenewed = false): Promise<void> {
    const asked = ++this.asked;
    const path = this.traits.get("selection");
    const all = this.traits.get("selected_paths");
    // what is still shown is of something else: said once the answer is late
    const late = setTimeout(() => {
      if (!isRenewed && asked === this.asked) this.markStale(true);
    }, LATE_MS);
    let html: string;
    try {
      html =
        all.length > 1 && all[0] === path
          ? await (this.actions.describeSeveral?.(all) ?? this.listSeveral(all))
          : ((await this.actions.describe(path)) ?? listPath(path) + NOT_HERE);
    } catch (error) {
      html = writeError(error instanceof Error ? error.message : String(error));
    }
    clearTimeout(late);
    if (asked !== this.asked) return;
    this.markStale(false);
    const shown = isRenewed ? this.listWeights() : [];
    if (!isRenewed || html !== this.html) this.write(html, isRenewed);
    if (!isRenewed) this.element.scrollTop = 0;
    for (const place of this.listWeights()) {
      const before = shown.find((one) => one.dataset.weight === place.dataset.weight);
      if (before && this.read.has(before)) {
        if (before !== place) place.replaceWith(before);
        continue;
      }
      // another element, since an answer may still come for this one
      const fresh = place.cloneNode() as HTMLElement;
      place.replaceWith(fresh);
      void this.fill(fresh);
    }
  }

  private write(html: string, isRenewed: boolean): void {
    const unfolded = isRenewed ? this.listUnfolded() : new Set<string>();
    this.html = html;
    this.text.innerHTML = html;
    for (const part of this.text.querySelectorAll("details")) {
      part.open ||= unfolded.has(titleOf(part));
    }
  }

  private markStale(isStale: boolean): void {
    this.text.classList.toggle("nl-inspector-stale", isStale);
    this.text.setAttribute("aria-busy", String(isStale));
  }

  private listWeights(): HTMLElement[] {
    return [...this.text.querySelectorAll<HTMLElement>(".nl-inspector-weight")];
  }

  private listUnfolded(): Set<string> {
    return new Set([...this.text.querySelectorAll("details")].filter(({ open }) => open).map(titleOf));
  }

  /** What is selected together: each by its title, its kind or type, and its path. */
  private async listSeveral(paths: readonly string[]): Promise<string> {
    const some = paths.slice(0, MOST_LISTED);
    const headers = await Promise.all(
      some.map(async (path) => readHeader((await this.actions.describe(path)) ?? "")),
    );
    const kinds = new Map<string, number>();
    for (const { kind } of headers) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    const isWhole = some.length === paths.length && !kinds.has("");
    const counts = [...kinds].map(([kind, count]) => writeCount(count, kind)).join(", ");
    const more = (paths.length - 1).toLocaleString("en");
    const [only] = kinds.keys();
    const kind = kinds.size === 1 && only ? `${only}s` : "elements";
    const title = `${headers[0].title || some[0]} and ${more} more`;
    const rows = some.map((path, k) => {
      const { kind, title: name, subtitle } = headers[k];
      return kind === "value" ? writeLink(path, name, subtitle, path) : writeLink(path, name, path);
    });
    const left = paths.length - some.length;
    const rest = left > 0 ? `… ${left.toLocaleString("en")} more` : "";
    return (
      `<div class="nl-inspector-header"><div class="nl-inspector-kind">${escapeText(kind)}</div>` +
      `<div class="nl-inspector-title" role="heading" aria-level="2">${escapeText(title)}</div>` +
      `<div class="nl-inspector-subtitle">${escapeText(isWhole ? counts : writeCount(paths.length, "element"))}</div></div>` +
      `<div class="nl-inspector-section-title" role="heading" aria-level="3">Selected</div>${rows.join("")}` +
      (rest && `<div class="nl-inspector-text">${rest}</div>`)
    );
  }

  /** Show a weight where its description has a place for it, and until then that it is read. */
  private async fill(place: HTMLElement): Promise<void> {
    awaitWeight(place, LATE_MS);
    try {
      showWeight(place, await this.actions.readWeight(Number(place.dataset.weight)));
      this.read.add(place);
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

function titleOf(part: HTMLDetailsElement): string {
  return part.querySelector("summary")?.textContent ?? "";
}

function writeError(message: string): string {
  return `<div class="nl-inspector-error" role="alert">${escapeText(message)}</div>`;
}

/** What stands at the top of a description. */
function readHeader(html: string): { kind: string; title: string; subtitle: string } {
  const part = document.createElement("template");
  part.innerHTML = html;
  const read = (name: string): string =>
    part.content.querySelector(`.nl-inspector-header .nl-inspector-${name}`)?.textContent ?? "";
  return { kind: read("kind"), title: read("title"), subtitle: read("subtitle") };
}

function writeCount(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

/** A path of which no more is said here. */
function listPath(path: string): string {
  return (
    '<div class="nl-inspector-header">' +
    '<div class="nl-inspector-title" role="heading" aria-level="2">Selected</div></div>' +
    writeLink(path, "", path)
  );
}

/** A row that leads to a path, as explorer/page/description_html.py writes it. */
function writeLink(path: string, name: string, text: string, note = ""): string {
  const head = [name, text].filter(Boolean).map(escapeText).join("\u00a0\u00a0\u00a0");
  return (
    `<button type="button" class="nl-inspector-link" data-path="${quotePath(path)}">` +
    `<span class="nl-inspector-link-head">${head}</span>` +
    (note && `<span class="nl-inspector-link-note">${escapeText(note)}</span>`) +
    "</button>"
  );
}

const MOST_LISTED = 200;
/** an answer that comes sooner is not waited for in words */
const LATE_MS = 150;

const NOT_HERE = '<div class="nl-inspector-text">Its description is not in this file.</div>';

function escapeText(text: string): string {
  const element = document.createElement("span");
  element.textContent = text;
  return element.innerHTML.replace(/"/g, "&quot;");
}
