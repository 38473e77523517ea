/** Rows of the list of hits: names that are too long keep what tells them apart. */

import type { SearchHit } from "../host/messages";

/** Of a name's end so many characters are always shown, or fewer that begin with a word. */
const TAIL = 24;
/** A part that tells names apart is shown up to this length. */
const MOST_KEPT = 28;

/** A piece of a name; one that is not kept gives way, from its end, where room is short. */
export interface Piece {
  readonly text: string;
  readonly kept: boolean;
}

/** The name of each hit; the path where several hits have the same name. */
export function namesOf(hits: readonly SearchHit[]): string[] {
  const count = new Map<string, number>();
  for (const { title } of hits) count.set(title, (count.get(title) ?? 0) + 1);
  return hits.map(({ title, path }) => ((count.get(title) ?? 0) > 1 ? path : title));
}

/**
 * Cut names into pieces: the end, and where names have the same end the words in which they
 * differ (`layer.7` of `encoder/layer.7/attention/query`) are kept.
 */
export function cutNames(names: readonly string[]): Piece[][] {
  const alike = new Map<string, string[]>();
  for (const name of names) {
    const tail = name.slice(tailOf(name));
    const members = alike.get(tail);
    if (members) members.push(name);
    else alike.set(tail, [name]);
  }
  return names.map((name) => {
    const end = tailOf(name);
    const kept: Array<[number, number]> = [];
    for (const other of alike.get(name.slice(end)) ?? []) {
      const place = firstDifference(name, other);
      if (place >= 0 && place < end && !kept.some(([from, to]) => from <= place && place < to)) {
        kept.push(wordAround(name, place, end));
      }
    }
    return piecesOf(name, kept, end);
  });
}

/** Where the end of a name that is always shown begins. */
function tailOf(name: string): number {
  const most = Math.max(name.length - TAIL, 0);
  const word = most === 0 ? -1 : name.slice(most, -1).search(/[/.]/);
  return word < 0 ? most : most + word;
}

function firstDifference(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  for (let place = 0; place < length; place++) if (one[place] !== other[place]) return place;
  return one.length === other.length ? -1 : length;
}

/** The word at a place; of a number also the word that it counts: `layer.7`, `block_12`. */
function wordAround(name: string, place: number, end: number): [number, number] {
  let from = place;
  let to = place;
  while (from > 0 && isDigit(name[from - 1])) from--;
  if (isDigit(name[from] ?? "") && from > 1 && "._-".includes(name[from - 1])) from -= 2;
  while (from > 0 && isLetter(name[from - 1])) from--;
  while (to < end && (isLetter(name[to]) || isDigit(name[to]))) to++;
  return [Math.max(from, to - MOST_KEPT), to];
}

function isDigit(sign: string): boolean {
  return sign >= "0" && sign <= "9";
}

function isLetter(sign: string): boolean {
  return !"/._-: ".includes(sign) && !isDigit(sign);
}

function piecesOf(name: string, kept: Array<[number, number]>, end: number): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  for (const [from, to] of [...kept.sort(([a], [b]) => a - b), [end, name.length] as const]) {
    if (from > at) pieces.push({ text: name.slice(at, from), kept: false });
    if (to > Math.max(from, at)) pieces.push({ text: name.slice(Math.max(from, at), to), kept: true });
    at = Math.max(at, to);
  }
  return pieces;
}
