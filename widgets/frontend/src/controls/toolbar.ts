/** The buttons at the top right of the canvas. */

import type { Host } from "../host/host";
import options, { type Expand, listEntries } from "../scene/options";
import { type Icon, iconButton, makeElement } from "./elements";

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

/** What is asked of the host: icon, title and what is done. */
export function listAsked(
  actions: Pick<ToolbarActions, "expand" | "turn">,
  host: Host,
): Array<readonly [Icon, string, () => void]> {
  const buttons: Array<readonly [Icon, string, () => void]> = [];
  if (host.can("expand")) {
    for (const [mode, label] of listEntries(options.expand.choices)) {
      buttons.push([mode, label, () => actions.expand(mode)]);
    }
  }
  if (host.can("direction")) {
    buttons.push(["turn", "Run downwards or to the right", () => actions.turn()]);
  }
  return buttons;
}

/** Where there is little room only the first and last few stand; the menu has the others. */
export function makeToolbar(actions: ToolbarActions, host: Host): Toolbar {
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
  const asked = listAsked(actions, host).map(([icon, title, press]) =>
    apart(iconButton(icon, title, press), "nl-seldom"),
  );
  bar.append(
    iconButton("zoom-in", "Zoom in (+)", () => actions.zoom(1.3)),
    iconButton("zoom-out", "Zoom out (−)", () => actions.zoom(1 / 1.3)),
    iconButton("fit", "Show all (F)", () => actions.fit()),
    apart(
      iconButton("selection", "Zoom to the selection (Z)", () => actions.zoomToSelection()),
      "nl-rare",
    ),
    ...(asked.length > 0 ? [makeElement("span", "nl-gap nl-seldom"), ...asked] : []),
    makeElement("span", "nl-gap"),
    ...(host.hasInspector ? [inspector] : []),
    apart(screen, "nl-rare"),
    apart(iconButton("help", "Keys (?)", () => actions.help()), "nl-rare"),
    more,
  );
  return { element: bar, screen, inspector };
}
