/**
 * What is seen of a page in the part of its address behind the `#`: what is open and selected, the
 * direction, and where the window stands. Whoever opens that address sees the same.
 */

import type { WindowPlace } from "../scene/geometry";
import options, { type Direction } from "../scene/options";
import type { Levels } from "./book";
import type { Opened } from "./compose";

const VERSION = "1";
const DIRECTIONS = Object.keys(options.direction.choices) as Direction[];
/** longer addresses are not read, nor made */
const LONGEST = 60_000;

export interface Link {
  readonly direction: Direction;
  /** paths of what is selected */
  readonly selected: readonly string[];
  readonly place: WindowPlace | null;
  /** what is open, as {@link writeOpened} writes it */
  readonly opened: string;
  /** the neighbourhood that alone is shown */
  readonly focus: Focus | null;
}

/** What is at most so many edges away from an element. */
export interface Focus {
  readonly path: string;
  readonly hops: number;
}

/** An address that does not fit the page. */
export class LinkError extends Error {}

/** @param mark tells pages apart: what is open in one means nothing in another */
export function writeLink(link: Link, mark: string): string {
  const fields = new URLSearchParams({ v: VERSION, of: mark, open: link.opened });
  if (link.direction !== DIRECTIONS[0]) fields.set("direction", link.direction);
  if (link.focus) {
    fields.set("focus", link.focus.path);
    fields.set("hops", String(link.focus.hops));
  }
  for (const path of link.selected) fields.append("select", path);
  if (link.place) {
    const { x, y, zoom } = link.place;
    fields.set("at", [Math.round(x), Math.round(y), Number(zoom.toPrecision(3))].join(","));
  }
  const text = fields.toString();
  return text.length > LONGEST ? "" : text;
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
  return {
    direction,
    selected: fields.getAll("select"),
    place: readPlace(fields.get("at")),
    opened: fields.get("open") ?? "",
    focus: readFocus(fields),
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

/** What is open: of each open box its number, its state and, in brackets, what is open inside. */
export function writeOpened(book: Levels, { level, inner }: Opened): string {
  const { insides } = book.level(level);
  return [...inner]
    .sort(([a], [b]) => a - b)
    .map(([box, inside]) => {
      const state = book.listStates(insides.get(box)!).indexOf(inside.level);
      const within = writeOpened(book, inside);
      return `${box}${state > 0 ? `.${state}` : ""}${within ? `(${within})` : ""}`;
    })
    .join("~");
}

/** @throws LinkError where the text does not fit the levels */
export function readOpened(book: Levels, text: string): Opened {
  let at = 0;
  const readNumber = (): number => {
    const [digits] = /^\d{1,9}/.exec(text.slice(at, at + 9)) ?? [""];
    if (!digits) throw new LinkError("what it says to be open is damaged");
    at += digits.length;
    return Number(digits);
  };
  const readInside = (level: number): Opened => {
    const inner = new Map<number, Opened>();
    const { insides } = book.level(level);
    while (at < text.length && text[at] !== ")") {
      if (inner.size > 0) {
        if (text[at] !== "~") throw new LinkError("what it says to be open is damaged");
        at++;
      }
      const box = readNumber();
      let state = 0;
      if (text[at] === ".") {
        at++;
        state = readNumber();
      }
      const found = insides.get(box);
      const number = found && book.listStates(found)[state];
      if (number === undefined || inner.has(box)) {
        throw new LinkError("what it says to be open is not in this file");
      }
      let inside: Opened = { level: number, inner: new Map() };
      if (text[at] === "(") {
        at++;
        inside = readInside(number);
        if (text[at] !== ")") throw new LinkError("what it says to be open is damaged");
        at++;
      }
      inner.set(box, inside);
    }
    return { level, inner };
  };
  const root = readInside(0);
  if (at < text.length) throw new LinkError("what it says to be open is damaged");
  return root;
}
