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
  fold: "M3.5 6L8 10.5L12.5 6",
  move: "M8 2.5v11M2.5 8h11M6 4.5l2-2 2 2M6 11.5l2 2 2-2M4.5 6l-2 2 2 2M11.5 6l2 2-2 2",
  home: "M2.5 12.5v-9h4l1.5 2h5.5v2M2.5 12.5l2-5h10l-2 5z",
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
  button.addEventListener("click", press);
  return showIcon(button, icon, title);
}

/** A link that looks like a button with an icon. */
export function iconLink(icon: Icon, title: string, address: string): HTMLAnchorElement {
  const link = makeElement("a", "nl-button");
  link.href = address;
  return showIcon(link, icon, title);
}

function showIcon<Kind extends HTMLElement>(element: Kind, icon: Icon, title: string): Kind {
  element.title = title;
  element.setAttribute("aria-label", title);
  const picture = document.createElementNS(SVG, "svg");
  picture.setAttribute("viewBox", "0 0 16 16");
  picture.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", ICONS[icon]);
  picture.append(path);
  element.append(picture);
  return element;
}
