/** A review as explorer/review/wire.py writes it, with notes that were written in the browser. */

import type { FileNote } from "./file_notes";

type Row = unknown[];

/** where things stand in a row of an item */
const [KIND, LEVEL, ID, ACCEPTED, PATHS, FINGERPRINT] = [0, 1, 4, 8, 11, 12];
const LONGEST_TITLE = 120;

/** Return the review with notes behind its other items, and with what they accept. */
export function addNotes(written: unknown, notes: readonly FileNote[]): unknown {
  const review = written as {
    items: Row[];
    texts: string[];
    kinds: string[];
    levels: [string, ...unknown[]][];
  };
  if (notes.length === 0) return written;
  const texts = [...review.texts];
  const numbers = new Map(texts.map((text, number) => [text, number]));
  const number = (text: string): number => {
    const known = numbers.get(text);
    if (known !== undefined) return known;
    numbers.set(text, texts.length);
    return texts.push(text) - 1;
  };
  const items = review.items.map((row) => {
    const [rule, fingerprint] = [texts[row[ID] as number], texts[row[FINGERPRINT] as number]];
    const accepting = notes.find(
      ({ accepts }) => accepts?.rule === rule && accepts.fingerprint === fingerprint,
    );
    if (!accepting) return row;
    const changed = [...row];
    changed[ACCEPTED] = number(accepting.text);
    return changed;
  });
  const [kind, level] = [
    review.kinds.indexOf("note"),
    review.levels.findIndex(([name]) => name === "noted"),
  ];
  for (const note of notes) {
    const row: Row = [];
    row[KIND] = kind;
    row[LEVEL] = level;
    const [first] = note.text.split("\n");
    const title = first.length > LONGEST_TITLE ? `${first.slice(0, LONGEST_TITLE - 1)}…` : first;
    const more = note.paths.length > 1 ? ` and ${note.paths.length - 1} more` : "";
    const where = (note.paths[0] ?? "").replace(/^main\//, "").replace(/^%/, "") + more;
    [`“${title}”`, where, "note", "", "", "", ""].forEach((text, k) => (row[2 + k] = number(text)));
    row[9] = Math.max(1, note.paths.length);
    const evidence = ["note", note.text, "written", note.at.slice(0, 16).replace("T", " ") + " UTC"];
    if (note.accepts) evidence.push("accepts", note.accepts.rule);
    row[10] = evidence.map(number);
    row[PATHS] = [...note.paths];
    row[FINGERPRINT] = number(note.id);
    items.push(row);
  }
  return { ...review, items, texts };
}
