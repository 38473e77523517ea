/**
 * What is seen of a page in the part of its address behind the `#`: what is open and selected, the
 * direction, and where the window stands. Whoever opens that address sees the same.
 */

import type { TabName } from "../host/host";
import type { WindowPlace } from "../scene/geometry";
import options, { type Direction } from "../scene/options";

const VERSION = "1";
const DIRECTIONS = Object.keys(options.direction.choices) as Direction[];
/** characters; longer addresses are not read, nor made */
const LONGEST = 60_000;
/** what else is chosen of a view where a program has the model open: session/page_link.py */
const CHOICES = ["graph", "grouping", "unnamed", "wrap", "details", "share"] as const;

export interface Link {
  readonly direction: Direction;
  /** paths of what is selected */
  readonly selected: readonly string[];
  readonly place: WindowPlace | null;
  /** what is open, as the host writes it; null for what is open at first */
  readonly opened: string | null;
  /** the neighbourhood that alone is shown */
  readonly focus: Focus | null;
  /** which tab is shown beside the picture */
  readonly tab: TabName;
  /** what else is chosen of the view, where it is not as at first */
  readonly choices: Choices;
}

export type Choices = Readonly<Partial<Record<(typeof CHOICES)[number], string>>>;

/** What is at most so many edges away from an element. */
export interface Focus {
  readonly path: string;
  readonly hops: number;
}

/** An address that does not fit the page. */
export class LinkError extends Error {}

/** What is said of an address that is not followed. */
export function explainRefusal(error: unknown): string {
  const why = error instanceof Error ? error.message : String(error);
  return `The address of this page does not fit it: ${why.replace(/\.$/, "")}.`;
}

/**
 * Write what is seen. Where all of it is too long, what is open is left out; where that does not
 * help, the address is empty.
 *
 * @param mark tells pages apart: what is open in one means nothing in another
 */
export function writeLink(link: Link, mark: string): string {
  const text = writeFields(link, mark);
  if (text.length <= LONGEST) return text;
  const rest = writeFields({ ...link, opened: null }, mark);
  return rest.length <= LONGEST ? rest : "";
}

function writeFields(link: Link, mark: string): string {
  const fields = new URLSearchParams({ v: VERSION, of: mark });
  if (link.opened !== null) fields.set("open", link.opened);
  if (link.direction !== DIRECTIONS[0]) fields.set("direction", link.direction);
  if (link.focus) {
    fields.set("focus", link.focus.path);
    fields.set("hops", String(link.focus.hops));
  }
  if (link.tab !== "inspect") fields.set("tab", link.tab);
  for (const name of CHOICES) {
    const choice = link.choices[name];
    if (choice !== undefined) fields.set(name, choice);
  }
  for (const path of link.selected) fields.append("select", path);
  if (link.place) {
    const { x, y, zoom } = link.place;
    fields.set("at", [Math.round(x), Math.round(y), Number(zoom.toPrecision(3))].join(","));
  }
  return fields.toString();
}

/**
 * @param text without the `#`
 * @throws LinkError where it is no address of this page
 */
export function readLink(text: string, mark: string): Link {
  if (text.length > LONGEST) throw new LinkError("it is too long");
  const fields = new URLSearchParams(text);
  if (fields.get("v") !== VERSION) throw new LinkError("it is not one of this page's addresses");
  if (fields.get("of") !== mark) throw new LinkError("it is the address of another file");
  const direction = fields.get("direction") ?? DIRECTIONS[0];
  if (!isDirection(direction)) throw new LinkError("its direction is unknown");
  const choices = CHOICES.flatMap((name) => {
    const choice = fields.get(name);
    return choice === null ? [] : [[name, choice] as const];
  });
  return {
    direction,
    selected: fields.getAll("select"),
    place: readPlace(fields.get("at")),
    opened: fields.get("open"),
    focus: readFocus(fields),
    tab: fields.get("tab") === "review" ? "review" : "inspect",
    choices: Object.fromEntries(choices),
  };
}

function readFocus(fields: URLSearchParams): Focus | null {
  const [path, hops] = [fields.get("focus"), fields.get("hops")];
  if (path === null) return null;
  if (hops === null || !/^[1-9]\d?$/.test(hops)) throw new LinkError("its neighbourhood is damaged");
  return { path, hops: Number(hops) };
}

function isDirection(text: string): text is Direction {
  return (DIRECTIONS as string[]).includes(text);
}

function readPlace(text: string | null): WindowPlace | null {
  if (text === null) return null;
  const numbers = text.split(",").map(Number);
  const [x, y, zoom] = numbers;
  if (numbers.length !== 3 || !numbers.every(Number.isFinite) || zoom <= 0) {
    throw new LinkError("the place of its window is damaged");
  }
  return { x, y, zoom };
}
