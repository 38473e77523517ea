/** What is open in a page, as a text that its address keeps. */

import { LinkError } from "../address/link";
import type { Levels } from "./book";
import type { Opened } from "./compose";

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
