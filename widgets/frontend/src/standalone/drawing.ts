/** A page's levels for one of the ways in which the picture can run, with what composes them. */

import type { Levels } from "./book";
import { Composer, type Opened } from "./compose";
import { Openings } from "./opened";
import { Places } from "./places";

export class Drawing<Shown extends Levels = Levels> {
  readonly composer: Composer;
  readonly places: Places;
  readonly openings: Openings;

  constructor(readonly book: Shown) {
    this.composer = new Composer(book);
    this.places = new Places(book);
    this.openings = new Openings(book, this.places);
  }
}

/** What is open by the keys of boxes: of each the number of its state, and what is inside. */
export interface KeyedState {
  readonly [key: string]: readonly [number, KeyedState];
}

/** What is open in a level where some keys are. */
export function openKeys(book: Levels, number: number, state: KeyedState): Opened {
  const level = book.level(number);
  const inner = new Map<number, Opened>();
  for (const [box, insides] of level.insides) {
    const wanted = state[level.names[level.form.boxes[box].key]];
    if (!wanted) continue;
    const states = book.listStates(insides);
    const inside = states[wanted[0] < 0 ? states.length - 1 : wanted[0]];
    if (inside !== undefined) inner.set(box, openKeys(book, inside, wanted[1]));
  }
  return { level: number, inner };
}
