/**
 * The element of a canvas and what its traits say about it: theme, title, breadcrumb.
 *
 * All that is seen stands in a shadow root, with a style sheet of its own: no rule of the page
 * around reaches it. The element around carries what scripts and screen readers ask for.
 */

import styleSheet from "../canvas.css";
import type { CanvasConnection } from "../host/connection";
import { keepKeys } from "../host/kept_keys";
import { detectTheme, watchTheme } from "../host/page_theme";
import type { CanvasTraits } from "../host/traits";
import { type Palette, paletteOf, setVariables } from "../paint/theme";
import type { ThemeName } from "../scene/options";
import { fillBreadcrumb, readCrumbs } from "./breadcrumb";
import { makeElement } from "./elements";
import { isOffered, readKey } from "./keys";

export interface PageActions {
  /** show another graph */
  enter(path: string): void;
  themed(palette: Palette): void;
}

export class Page {
  readonly element = document.createElement("div");
  /** what holds everything that is seen */
  readonly frame = makeElement("div", "nl-canvas");
  readonly live = makeElement("div", "nl-unseen");
  readonly breadcrumb = makeElement("nav", "nl-breadcrumb");
  readonly absent = makeElement("div", "nl-absent");
  private readonly stops: Array<() => void> = [];

  constructor(
    private readonly connection: Pick<CanvasConnection, "host" | "traits">,
    private readonly actions: PageActions,
  ) {
    const { element, frame } = this;
    const style = document.createElement("style");
    style.textContent = styleSheet;
    element.attachShadow({ mode: "open" }).append(style, frame);
    element.dataset.netloupe = "canvas";
    element.dataset.selected = "";
    keepKeys(element, (stroke) => {
      const command = readKey(stroke);
      return command !== null && isOffered(command, this.connection.host);
    });
    element.tabIndex = 0;
    element.setAttribute("role", "application");
    this.live.setAttribute("aria-live", "polite");
    this.absent.hidden = true;
    this.breadcrumb.setAttribute("aria-label", "Graphs");
    this.onTrait("theme", () => this.applyTheme());
    this.onTrait("title", () => this.applyTitle());
    this.onTrait("breadcrumb", () => this.applyBreadcrumb());
    this.stops.push(watchTheme(() => this.applyTheme()));
    this.applyTheme();
    this.applyTitle();
    this.applyBreadcrumb();
  }

  /** Call `changed` when a trait of the widget changes, until the page is disposed of. */
  onTrait(name: keyof CanvasTraits, changed: () => void): void {
    this.stops.push(this.connection.traits.follow(name, changed));
  }

  /** Call something when the page is disposed of. */
  later(stop: () => void): void {
    this.stops.push(stop);
  }

  dispose(): void {
    for (const stop of this.stops) stop();
    this.element.remove();
  }

  get themeName(): ThemeName {
    const wanted = this.connection.traits.get("theme");
    return wanted === "auto" ? detectTheme() : wanted;
  }

  /** Say that nobody answers, in place of everything else. */
  showAbsence(isAbsent: boolean): void {
    this.absent.textContent = this.connection.host.words.absent;
    this.absent.hidden = !isAbsent;
    this.frame.classList.toggle("nl-unanswered", isAbsent);
  }

  /** Whether the keyboard is here. */
  get hasFocus(): boolean {
    return this.element.matches(":focus-within");
  }

  focus(): void {
    this.element.focus({ preventScroll: true });
  }

  private applyTheme(): void {
    const name = this.themeName;
    if (this.element.dataset.theme === name) return;
    this.element.dataset.theme = name;
    const palette = paletteOf(name);
    setVariables(this.frame, name, palette);
    this.actions.themed(palette);
    const { traits } = this.connection;
    if (traits.get("shown_theme") !== name) traits.set({ shown_theme: name });
  }

  private applyTitle(): void {
    const title = this.connection.traits.get("title") || "Neural network graph";
    this.element.setAttribute("aria-label", title);
  }

  private applyBreadcrumb(): void {
    const crumbs = readCrumbs(this.connection.traits.get("breadcrumb"));
    const enter = (path: string): void => this.actions.enter(path);
    fillBreadcrumb(this.breadcrumb, crumbs, this.connection.host.can("enter") ? enter : null);
  }
}
