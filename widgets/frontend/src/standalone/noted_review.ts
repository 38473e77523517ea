/** A review as explorer/review/wire.py writes it, with notes that were written in the browser. */

import type { FileNote, NoteChange } from "./file_notes";

type Row = unknown[];

/** where things stand in a row of an item */
const [KIND, LEVEL, TITLE, ID, ACCEPTED, COUNT] = [0, 1, 2, 4, 8, 9];
const [EVIDENCE, PATHS, FINGERPRINT] = [10, 11, 12];
const LONGEST_TITLE = 120;

interface Written {
  readonly items: Row[];
  readonly texts: string[];
  readonly kinds: string[];
  readonly levels: Array<[string, ...unknown[]]>;
}

/** A review with notes that were written in the browser. */
export interface NotedReview {
  readonly review: unknown;
  /**
   * by the number of an item of the file, and behind them of each note that was written here, that
   * of its level; -1 where it was removed or accepted, and so is not marked
   */
  readonly levels: readonly number[];
}

/**
 * Return the review with notes behind its other items, and with what they accept; its own notes as
 * they were changed.
 */
export function addNotes(
  written: unknown,
  notes: readonly FileNote[],
  changes: readonly NoteChange[] = [],
): NotedReview {
  const review = written as Written;
  const texts = new Texts(review.texts);
  const levelOf = (row: Row | null): number =>
    row === null || texts.at(row[ACCEPTED]) ? -1 : (row[LEVEL] as number);
  if (notes.length === 0 && changes.length === 0) {
    return { review, levels: review.items.map(levelOf) };
  }
  const own = changeNotes(review, changes, texts).map((row) => {
    if (row === null) return null;
    const [rule, fingerprint] = [texts.at(row[ID]), texts.at(row[FINGERPRINT])];
    const accepting = notes.find(
      ({ accepts }) => accepts?.rule === rule && accepts.fingerprint === fingerprint,
    );
    return accepting ? withText(row, ACCEPTED, texts.number(accepting.text)) : row;
  });
  const items = own.filter((row) => row !== null);
  const [kind, level] = [
    review.kinds.indexOf("note"),
    review.levels.findIndex(([name]) => name === "noted"),
  ];
  for (const note of notes) {
    const row: Row = [];
    row[KIND] = kind;
    row[LEVEL] = level;
    const more = note.paths.length > 1 ? ` and ${note.paths.length - 1} more` : "";
    const where = (note.paths[0] ?? "").replace(/^main\//, "").replace(/^%/, "") + more;
    [writeTitle(note.text), where, "note", "", "", "", ""].forEach((text, k) => {
      row[TITLE + k] = texts.number(text);
    });
    row[COUNT] = Math.max(1, note.paths.length);
    const evidence = ["note", note.text, "written", writeTime(note.at)];
    if (note.accepts) evidence.push("accepts", note.accepts.rule);
    row[EVIDENCE] = evidence.map((text) => texts.number(text));
    row[PATHS] = [...note.paths];
    row[FINGERPRINT] = texts.number(note.id);
    items.push(row);
  }
  const levels = [...own.map(levelOf), ...notes.map(() => level)];
  return { review: { ...review, items, texts: texts.list() }, levels };
}

/**
 * Return the rows of a review, its own notes and what they accept as they were changed; null for a
 * note that was removed.
 */
function changeNotes(
  review: Written,
  changes: readonly NoteChange[],
  texts: Texts,
): Array<Row | null> {
  const kind = review.kinds.indexOf("note");
  const byNote = new Map(changes.map((change) => [change.known.id, change]));
  const accepting = new Map(
    changes.flatMap((change) => change.known.accepts.map((each) => [each.join("\n"), change])),
  );
  return review.items.map((row) => {
    const fingerprint = texts.at(row[FINGERPRINT]);
    if (row[KIND] !== kind) {
      const change = accepting.get([texts.at(row[ID]), fingerprint].join("\n"));
      return change ? withText(row, ACCEPTED, texts.number(writeAcceptance(change, row, texts))) : row;
    }
    const change = byNote.get(fingerprint);
    if (change?.isRemoved) return null;
    if (!change?.written) return row;
    const { text, at } = change.written;
    const changed = withText(row, TITLE, texts.number(writeTitle(text)));
    changed[EVIDENCE] = changeEvidence(row[EVIDENCE] as number[], text, at, texts);
    return changed;
  });
}

function writeAcceptance({ known, isRemoved, written }: NoteChange, row: Row, texts: Texts): string {
  if (isRemoved) return "";
  if (!written) return texts.at(row[ACCEPTED]);
  return known.author ? `${known.author}: ${written.text}` : written.text;
}

/** Return labels and texts with another text of the note, and when it was changed. */
function changeEvidence(rows: readonly number[], text: string, at: string, texts: Texts): number[] {
  const changed: number[] = [];
  for (let k = 0; k + 1 < rows.length; k += 2) {
    const isText = texts.at(rows[k]) === "note";
    changed.push(rows[k], isText ? texts.number(text) : rows[k + 1]);
  }
  return [...changed, texts.number("changed here"), texts.number(writeTime(at))];
}

function withText(row: Row, place: number, text: number): Row {
  const changed = [...row];
  changed[place] = text;
  return changed;
}

function writeTitle(text: string): string {
  const [first] = text.split("\n");
  return `“${first.length > LONGEST_TITLE ? `${first.slice(0, LONGEST_TITLE - 1)}…` : first}”`;
}

function writeTime(at: string): string {
  return `${at.slice(0, 16).replace("T", " ")} UTC`;
}

/** The texts of a review, which rows have by their numbers. */
class Texts {
  private readonly texts: string[];
  private readonly numbers: Map<string, number>;

  constructor(texts: readonly string[]) {
    this.texts = [...texts];
    this.numbers = new Map(texts.map((text, number) => [text, number]));
  }

  at(number: unknown): string {
    return this.texts[number as number] ?? "";
  }

  number(text: string): number {
    const known = this.numbers.get(text);
    if (known !== undefined) return known;
    this.numbers.set(text, this.texts.length);
    return this.texts.push(text) - 1;
  }

  list(): string[] {
    return this.texts;
  }
}
