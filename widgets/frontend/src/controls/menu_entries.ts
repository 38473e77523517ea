/** What stands in the menus: of the view, and of a thing in it. */

import type { Host } from "../host/host";
import type { Ability } from "../host/messages";
import type { CanvasTraits } from "../host/traits";
import options, {
  type Details,
  type Expand,
  type Grouping,
  type Share,
  listEntries,
} from "../scene/options";
import { NAMED, REPEAT, type Scene } from "../scene/scene";
import type { MenuEntry, MenuGroups } from "./menu";

/** what only the canvas can do: a picture has no page around it */
const PAGE_COLOURS = "Colours of the page";

const COPIES = [
  ["svg", "Copy as SVG"],
  ["png", "Copy as PNG"],
] as const;

export interface ViewState {
  readonly direction: string;
  readonly theme: string;
  readonly grouping: string;
  readonly wrapped: boolean;
  readonly details: Details;
  readonly share: Share;
  readonly hasSelection: boolean;
  /** whether the inspector is shown; null where there is none */
  readonly inspector: boolean | null;
  /** whether the legend is shown */
  readonly legend: boolean;
  /** whether the screen is full; null where it cannot be */
  readonly screen: boolean | null;
  /** whether there is anything to take back, or to do again */
  readonly canUndo: boolean;
  readonly canRedo: boolean;
}

export interface ViewActions {
  fit(): void;
  zoomToSelection(): void;
  expand(mode: Expand): void;
  group(grouping: Grouping): void;
  turn(): void;
  wrap(): void;
  detail(): void;
  share(what: Share): void;
  theme(name: CanvasTraits["theme"]): void;
  search(): void;
  toggleInspector(): void;
  toggleLegend(): void;
  fillScreen(): void;
  undo(): void;
  redo(): void;
  save(): void;
  copyPicture(format: "svg" | "png"): void;
  copyPath(): void;
  copyCommand(): void;
  help(): void;
}

/** Offers entries where the host can do what they ask for. */
function offers(host: Host): (what: Ability, ...entries: MenuEntry[]) => readonly MenuEntry[] {
  return (what, ...entries) => (host.can(what) ? entries : []);
}

export function viewMenu(state: ViewState, actions: ViewActions, host: Host): MenuGroups {
  const offer = offers(host);
  return [
    [
      { label: "Show all", key: "F", press: () => actions.fit() },
      ...(state.hasSelection
        ? [{ label: "Zoom to selection", key: "Z", press: () => actions.zoomToSelection() }]
        : []),
      ...offer("search", { label: "Search", key: "/", press: () => actions.search() }),
    ],
    offer(
      "undo",
      ...(state.canUndo ? [{ label: "Undo", key: "Ctrl Z", press: () => actions.undo() }] : []),
      ...(state.canRedo ? [{ label: "Redo", key: "Ctrl Shift Z", press: () => actions.redo() }] : []),
    ),
    offer(
      "expand",
      ...listEntries(options.expand.choices).map(([mode, label]) => ({
        label,
        press: () => actions.expand(mode),
      })),
    ),
    offer(
      "group",
      ...listEntries(options.grouping.choices).map(([name, label]) => ({
        label,
        checked: state.grouping === name,
        press: () => actions.group(name),
      })),
    ),
    [
      ...offer("direction", {
        label: options.direction.choices.LR.menu,
        checked: state.direction === "LR",
        press: () => actions.turn(),
      }),
      ...offer("wrap", {
        label: options.wrap.choices.yes.menu,
        checked: state.wrapped,
        press: () => actions.wrap(),
      }),
      ...offer("details", {
        label: options.details.choices.all.menu,
        checked: state.details === "all",
        press: () => actions.detail(),
      }),
    ],
    offer(
      "share",
      ...listEntries(options.share.choices).map(([what, label]) => ({
        label,
        checked: state.share === what,
        press: () => actions.share(what as Share),
      })),
    ),
    [["auto", PAGE_COLOURS] as const, ...listEntries(options.theme.choices)].map(([name, label]) => ({
      label,
      checked: state.theme === name,
      press: () => actions.theme(name),
    })),
    [
      ...(state.inspector === null
        ? []
        : [
            {
              label: "Inspector",
              checked: state.inspector,
              press: () => actions.toggleInspector(),
            },
          ]),
      ...offer("legend", {
        label: "Legend",
        checked: state.legend,
        press: () => actions.toggleLegend(),
      }),
      ...(state.screen === null
        ? []
        : [{ label: "Full screen", checked: state.screen, press: () => actions.fillScreen() }]),
    ],
    [
      { label: "Save picture…", press: () => actions.save() },
      ...COPIES.map(([format, label]) => ({
        ...{ label, hint: "What is seen in the window" },
        press: () => actions.copyPicture(format),
      })),
      ...(state.hasSelection ? [{ label: "Copy path", press: () => actions.copyPath() }] : []),
      ...offer("command", {
        label: "Copy command",
        hint: "netloupe render, with the options that say most of this picture; you are told what it leaves out",
        press: () => actions.copyCommand(),
      }),
    ],
    [{ label: "Keys", key: "?", press: () => actions.help() }],
  ];
}

export interface ThingActions {
  toggle(): void;
  fold(): void;
  unname(): void;
  unroll(): void;
  focus(): void;
  trace(kind: "up" | "down"): void;
  between(): void;
  closeUp(): void;
  copyPath(): void;
}

/**
 * The menu of a box, a row, an edge or a port.
 *
 * @param box index of the box; -1 for what is none
 * @param selected the path selected before
 */
export function thingMenu(
  scene: Scene,
  box: number,
  path: string,
  selected: string,
  actions: ThingActions,
  host: Host,
): MenuGroups {
  const offer = offers(host);
  const isBox = box >= 0;
  const open = isBox && scene.isOpen(box);
  const repeat = open && (scene.flagsOf(box) & REPEAT) !== 0;
  const isNamed = isBox && (scene.flagsOf(box) & NAMED) !== 0;
  const canToggle = isBox && (open || scene.isOpenable(box));
  return [
    [
      ...(canToggle
        ? offer("open", {
            label: open ? "Close" : "Open",
            key: "Enter",
            press: () => actions.toggle(),
          })
        : []),
      ...(repeat
        ? offer(
            "unroll",
            { label: "Show all repetitions", press: () => actions.unroll() },
            { label: "Show one repetition", press: () => actions.fold() },
          )
        : []),
      ...(isNamed
        ? offer("unname", { label: "Wrong name: show its nodes", press: () => actions.unname() })
        : []),
      { label: "Zoom to it", key: "Z", press: () => actions.closeUp() },
    ],
    [
      { label: "Light up upstream", key: "U", press: () => actions.trace("up") },
      { label: "Light up downstream", key: "D", press: () => actions.trace("down") },
      ...(selected && selected !== path
        ? [{ label: "Light up paths from the selection", press: () => actions.between() }]
        : []),
      ...offer("focus", { label: "Focus: neighbourhood", key: "H", press: () => actions.focus() }),
    ],
    [{ label: "Copy path", press: () => actions.copyPath() }],
  ];
}
