/** Small pieces of the page around the picture. Text goes in as text, never as markup. */

const SVG = "http://www.w3.org/2000/svg";

/** Strokes on a 16 × 16 grid. */
const ICONS = {
  "zoom-in": "M8 3.5v9M3.5 8h9",
  "zoom-out": "M3.5 8h9",
  fit: "M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10",
  auto: "M3 3h10v10H3zM5.5 5.5h5v2.2h-5zM5.5 10.3h2.2M10 10.3h.5",
  all: "M2.5 2.5h4.6v4.6H2.5zM8.9 2.5h4.6v4.6H8.9zM2.5 8.9h4.6v4.6H2.5zM8.9 8.9h4.6v4.6H8.9z",
  none: "M5 2.5h8.5V11M2.5 5H11v8.5H2.5z",
  regex: "M10 3v6M7.4 4.5l5.2 3M12.6 4.5l-5.2 3M4.4 12.4h.1",
  close: "M4 4l8 8M12 4l-8 8",
  selection: "M8 2v3M8 11v3M2 8h3M11 8h3M8 5.4a2.6 2.6 0 1 0 .01 0",
  turn: "M4 3v8M2 9l2 2.4L6 9M9 5h5M12 3l2.2 2L12 7",
  more: "M3 8h.1M8 8h.1M13 8h.1",
  help: "M6 6.2a2 2 0 1 1 2.9 1.8c-.6.3-.9.7-.9 1.4M8 12h.1",
  screen: "M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10M6 6h4v4H6z",
  inspector: "M2.5 3h11v10h-11zM9.5 3v10",
  back: "M10 3.5L5.5 8l4.5 4.5",
  forward: "M6 3.5L10.5 8L6 12.5",
} as const;

export type Icon = keyof typeof ICONS;

export function makeElement<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  className: string,
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  element.className = className;
  return element;
}

export function iconButton(icon: Icon, title: string, press: () => void): HTMLButtonElement {
  const button = makeElement("button", "nl-button");
  button.type = "button";
  button.title = title;
  button.setAttribute("aria-label", title);
  const picture = document.createElementNS(SVG, "svg");
  picture.setAttribute("viewBox", "0 0 16 16");
  picture.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", ICONS[icon]);
  picture.append(path);
  button.append(picture);
  button.addEventListener("click", press);
  return button;
}

export interface ToolbarActions {
  zoom(factor: number): void;
  fit(): void;
  zoomToSelection(): void;
  expand(mode: "auto" | "all" | "none"): void;
  turn(): void;
  fillScreen(): void;
  toggleInspector(): void;
  menu(button: HTMLElement): void;
  help(): void;
}

export interface Toolbar {
  readonly element: HTMLElement;
  readonly screen: HTMLButtonElement;
  readonly inspector: HTMLButtonElement;
}

/** Where there is little room only the first and last few stand; the menu has the others. */
export function makeToolbar(actions: ToolbarActions): Toolbar {
  const bar = makeElement("div", "nl-toolbar");
  bar.setAttribute("role", "toolbar");
  bar.setAttribute("aria-label", "View");
  const more = iconButton("more", "More", () => actions.menu(more));
  more.setAttribute("aria-haspopup", "menu");
  const screen = iconButton("screen", "Full screen", () => actions.fillScreen());
  const inspector = iconButton("inspector", "Inspector", () => actions.toggleInspector());
  const apart = (button: HTMLElement, className: string): HTMLElement => {
    button.classList.add(className);
    return button;
  };
  bar.append(
    iconButton("zoom-in", "Zoom in (+)", () => actions.zoom(1.3)),
    iconButton("zoom-out", "Zoom out (−)", () => actions.zoom(1 / 1.3)),
    iconButton("fit", "Show all (F)", () => actions.fit()),
    apart(
      iconButton("selection", "Zoom to the selection (Z)", () => actions.zoomToSelection()),
      "nl-rare",
    ),
    makeElement("span", "nl-gap nl-seldom"),
    apart(iconButton("auto", "Open what fits", () => actions.expand("auto")), "nl-seldom"),
    apart(iconButton("all", "Open all groups", () => actions.expand("all")), "nl-seldom"),
    apart(iconButton("none", "Close all groups", () => actions.expand("none")), "nl-seldom"),
    apart(iconButton("turn", "Run downwards or to the right", () => actions.turn()), "nl-seldom"),
    makeElement("span", "nl-gap"),
    inspector,
    apart(screen, "nl-rare"),
    apart(iconButton("help", "Keys (?)", () => actions.help()), "nl-rare"),
    more,
  );
  return { element: bar, screen, inspector };
}

/** Path and label of each graph from the main one to the one shown. */
export type Crumb = readonly [string, string];

export function readCrumbs(value: unknown): Crumb[] {
  if (!Array.isArray(value)) return [];
  return value
    .filter((entry) => Array.isArray(entry) && entry.length >= 2)
    .map((entry) => [String(entry[0]), String(entry[1])] as const);
}

/** Of a longer trail only the ends are shown, and what opens its middle. */
const MOST_CRUMBS = 6;

export function fillBreadcrumb(
  bar: HTMLElement,
  crumbs: Crumb[],
  enter: (path: string) => void,
  whole = crumbs.length <= MOST_CRUMBS,
): void {
  bar.hidden = crumbs.length < 2;
  bar.replaceChildren();
  const hidden = whole ? 0 : crumbs.length - MOST_CRUMBS + 1;
  crumbs.forEach(([path, label], index) => {
    if (index > 1 && index <= hidden) return;
    if (index > 0) {
      const between = makeElement("span", "nl-crumb-between");
      between.textContent = "›";
      between.setAttribute("aria-hidden", "true");
      bar.append(between);
    }
    const last = index === crumbs.length - 1;
    const crumb = makeElement("button", "nl-crumb");
    crumb.type = "button";
    crumb.textContent = label;
    crumb.title = path;
    if (index === 1 && hidden > 0) {
      crumb.textContent = "…";
      crumb.title = `${hidden.toLocaleString("en")} more`;
      crumb.addEventListener("click", () => fillBreadcrumb(bar, crumbs, enter, true));
    } else if (last) crumb.setAttribute("aria-current", "page");
    else crumb.addEventListener("click", () => enter(path));
    bar.append(crumb);
  });
}

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
    this.element.querySelectorAll(".nl-notice:not(.nl-offer-line)").forEach((line) => line.remove());
    for (const notice of notices) this.add("nl-notice", notice);
  }

  /** Say that something is no longer so and offer to renew it; nothing where it is so again. */
  showOffer(message: string, label: string, press: () => void): void {
    this.element.querySelector(".nl-offer-line")?.remove();
    if (message === "") return;
    const button = makeElement("button", "nl-cancel");
    button.type = "button";
    button.textContent = label;
    button.addEventListener("click", press);
    this.add("nl-notice nl-offer-line", message, button);
  }

  clear(): void {
    this.element.replaceChildren();
  }

  private add(className: string, message: string, ...more: HTMLElement[]): void {
    const line = makeElement("div", className);
    const text = makeElement("span", "nl-strip-text");
    text.textContent = message;
    line.append(text, ...more, iconButton("close", "Dismiss", () => line.remove()));
    this.element.append(line);
  }
}
