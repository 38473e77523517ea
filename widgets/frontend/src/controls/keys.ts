/** Which key does what while the canvas has the keyboard. */

import type { Host } from "../host/host";
import type { Keystroke } from "../host/kept_keys";
import type { Ability } from "../host/messages";
import type { Arrow } from "../scene/walk";

export type Command =
  | { do: "walk"; arrow: Arrow }
  | { do: "zoom"; factor: number }
  | { do: "place"; by: 1 | -1 }
  | { do: "trace"; kind: "up" | "down" }
  | {
      do:
        | "toggle"
        | "leave"
        | "search"
        | "fit"
        | "reset"
        | "first"
        | "close-up"
        | "producer"
        | "focus"
        | "help"
        | "menu"
        | "undo"
        | "redo"
        | "copy";
    };

const KEYS: Record<string, Command> = {
  ArrowUp: { do: "walk", arrow: "ArrowUp" },
  ArrowDown: { do: "walk", arrow: "ArrowDown" },
  ArrowLeft: { do: "walk", arrow: "ArrowLeft" },
  ArrowRight: { do: "walk", arrow: "ArrowRight" },
  "+": { do: "zoom", factor: 1.25 },
  "=": { do: "zoom", factor: 1.25 },
  "-": { do: "zoom", factor: 1 / 1.25 },
  _: { do: "zoom", factor: 1 / 1.25 },
  Enter: { do: "toggle" },
  Escape: { do: "leave" },
  "/": { do: "search" },
  f: { do: "fit" },
  z: { do: "close-up" },
  "0": { do: "reset" },
  Home: { do: "first" },
  n: { do: "place", by: 1 },
  p: { do: "place", by: -1 },
  g: { do: "producer" },
  u: { do: "trace", kind: "up" },
  d: { do: "trace", kind: "down" },
  h: { do: "focus" },
  m: { do: "menu" },
  ContextMenu: { do: "menu" },
  "?": { do: "help" },
};

/** What commands ask of the host; the others are done by the canvas alone. */
const ASKED: { readonly [Do in Command["do"]]?: Ability } = {
  toggle: "open",
  search: "search",
  focus: "focus",
  undo: "undo",
  redo: "undo",
};

/** What can be taken back, as the help calls it. */
const TAKEN_BACK: ReadonlyArray<readonly [string, Ability]> = [
  ["opened", "open"],
  ["closed", "open"],
  ["stepped", "step"],
  ["grouped", "group"],
  ["entered", "enter"],
];

/** Whether a command does anything where the canvas is. */
export function isOffered(command: Command, host: Host): boolean {
  const asked = ASKED[command.do];
  return asked === undefined || host.can(asked);
}

/** What the help says, in its order: keys and what they do. */
export function listKeys(host: Host): Array<readonly [string, string]> {
  const where = (what: Ability, ...rows: Array<readonly [string, string]>): typeof rows =>
    host.can(what) ? rows : [];
  const escape = host.can("open") ? "close the group around the selection" : "select nothing";
  const changes = TAKEN_BACK.flatMap(([change, what]) => (host.can(what) ? [change] : []));
  return [
    ["← ↑ → ↓", "walk along the edges, or to a neighbour"],
    ["Home", "select where the graph begins"],
    ...where("open", ["Enter", "open or close what is selected; double click does the same"]),
    ["Esc", `put away what is lit or shown; then ${escape}`],
    ...where("search", ["/", "search"]),
    ["F", "show all"],
    ["Z", "zoom to the selection"],
    ["+ − 0", "zoom in, out, to actual size"],
    ["N P", "next, previous place where the selected value is used"],
    ["G", "where the selected value is given"],
    ["U D", "light up all that is upstream, downstream"],
    ["Shift click", "light up the paths between the selection and what is clicked"],
    ...where("focus", ["H", "focus: only the neighbourhood of the selection"]),
    ...where(
      "undo",
      ["Ctrl Z", `take back what was ${joinWords(changes) || "changed"}`],
      ["Ctrl Shift Z", "do it again; so does Ctrl Y"],
    ),
    ["Ctrl C", "copy the path of what is selected"],
    ["M", "menu of the selection; right click does the same"],
    ["?", "this help"],
  ];
}

/** Write words as a sentence lists them: `opened, closed or entered`. */
function joinWords(words: readonly string[]): string {
  return words.length < 2 ? words.join() : `${words.slice(0, -1).join(", ")} or ${words[words.length - 1]}`;
}

/** The command of a keystroke; null for keys that mean nothing here. */
export function readKey({ key, ctrlKey, metaKey, altKey, shiftKey }: Keystroke): Command | null {
  if (altKey) return null;
  const known = key.length === 1 ? key.toLowerCase() : key;
  if (ctrlKey || metaKey) {
    if (known === "z") return { do: shiftKey ? "redo" : "undo" };
    if (known === "y" && !shiftKey) return { do: "redo" };
    return known === "c" && !shiftKey ? { do: "copy" } : null;
  }
  return Object.prototype.hasOwnProperty.call(KEYS, known) ? KEYS[known] : null;
}
