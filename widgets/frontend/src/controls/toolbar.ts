/** The buttons at the top right of the canvas. */

import options, { type Expand, listEntries } from "../scene/options";
import { iconButton, makeElement } from "./elements";

export interface ToolbarActions {
  zoom(factor: number): void;
  fit(): void;
  zoomToSelection(): void;
  expand(mode: Expand): void;
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
    ...listEntries(options.expand.choices).map(([mode, label]) =>
      apart(iconButton(mode, label, () => actions.expand(mode)), "nl-seldom"),
    ),
    apart(iconButton("turn", "Run downwards or to the right", () => actions.turn()), "nl-seldom"),
    makeElement("span", "nl-gap"),
    inspector,
    apart(screen, "nl-rare"),
    apart(iconButton("help", "Keys (?)", () => actions.help()), "nl-rare"),
    more,
  );
  return { element: bar, screen, inspector };
}
