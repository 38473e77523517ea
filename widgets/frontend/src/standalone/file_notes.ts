/**
 * Notes that somebody writes in a file: kept in the browser, and taken along as a file of notes as
 * docs/notes_format.md describes it.
 */

/** One line of a file of notes. */
export interface NoteEvent {
  readonly format: "netloupe-notes-1";
  readonly event: string;
  readonly note: string;
  readonly turn: number;
  readonly at: string;
  readonly author: string;
  readonly removed?: true;
  readonly text?: string;
  readonly anchors?: ReadonlyArray<{ readonly path: string; readonly structure: string }>;
  readonly accepts?: Accepted;
}

/** The finding that a note accepts. */
export interface Accepted {
  readonly rule: string;
  readonly fingerprint: string;
  readonly count: number;
  readonly message: string;
}

/** What a note says after all that was done to it. */
export interface FileNote {
  readonly id: string;
  readonly text: string;
  readonly paths: readonly string[];
  readonly at: string;
  readonly accepts: Accepted | null;
}

/** Which event set something last: its turn, time and id, as `docs/notes_format.md` ranks them. */
export type Rank = readonly [turn: number, at: string, event: string];

/** What is known of a note that the file was made with; explorer/standalone/review_block.py writes it. */
export interface KnownNote {
  readonly id: string;
  /** the greatest turn of the events that write it, and of those that remove it; 0 for none */
  readonly kept: number;
  readonly removed: number;
  /** what set its text last */
  readonly text: Rank;
  readonly author: string;
  /** rule and fingerprint of each finding that it accepts */
  readonly accepts: ReadonlyArray<readonly [rule: string, fingerprint: string]>;
}

/** What was done here to a note that the file was made with. */
export interface NoteChange {
  readonly known: KnownNote;
  readonly isRemoved: boolean;
  /** what it says now, and since when; null where it says what the file has */
  readonly written: { readonly text: string; readonly at: string } | null;
}

/** as MOST_ANCHORS in explorer/notes/event.py */
const MOST_PATHS = 1_000;

/** what the keys begin with under which the browser keeps notes, ahead of the digest of a model */
export const NOTES_KEY = "netloupe-notes-";

/** The part of the browser's storage that is used; it may refuse. */
export type Kept = Pick<Storage, "getItem" | "setItem">;

export class FileNotes {
  private readonly events: NoteEvent[] = [];
  private readonly known: ReadonlyMap<string, KnownNote>;
  /** whether the browser keeps them beyond this page */
  isKept = false;

  /**
   * @param structure the digest of the model that notes are of
   * @param kept where the browser keeps them; null where it does not
   * @param known the notes that the file was made with, those removed before included
   */
  constructor(
    private readonly structure: string,
    private readonly kept: Kept | null,
    known: readonly KnownNote[] = [],
  ) {
    this.known = new Map(known.map((note) => [note.id, note]));
    try {
      this.events = readEvents(kept?.getItem(this.key) ?? "");
      this.isKept = kept !== null;
    } catch {
      // a page in a frame, or one whose browser keeps nothing
    }
  }

  get count(): number {
    return this.events.length;
  }

  add(text: string, paths: readonly string[], accepts?: Accepted): void {
    if (paths.length === 0) throw new Error("Select something to write a note on it.");
    const { structure } = this;
    const anchors = paths.slice(0, MOST_PATHS).map((path) => ({ path, structure }));
    this.write(makeId(), 1, { text, anchors, ...(accepts && { accepts }) });
  }

  edit(note: string, text: string): void {
    this.write(note, this.turnOf(note), { text });
  }

  remove(note: string): void {
    this.write(note, this.turnOf(note), { removed: true });
  }

  owns(note: string): boolean {
    return this.known.has(note) || this.events.some((event) => event.note === note);
  }

  /** The notes that were written here and are not in the file, the earliest first. */
  list(): FileNote[] {
    return [...this.byNote()]
      .filter(([id, events]) => !this.known.has(id) && !isRemoved(events))
      .map(([id, events]) => {
        const said = (name: "text" | "anchors" | "accepts"): NoteEvent | undefined =>
          events.filter((event) => event[name] !== undefined).reduce(later, undefined);
        return {
          id,
          text: said("text")?.text ?? "",
          paths: (said("anchors")?.anchors ?? []).map(({ path }) => path),
          at: events[0].at,
          accepts: said("accepts")?.accepts ?? null,
        };
      });
  }

  /** What was done here to notes that are in the file, and is not in it. */
  listChanges(): NoteChange[] {
    const changes: NoteChange[] = [];
    for (const [id, events] of this.byNote()) {
      const known = this.known.get(id);
      if (!known) continue;
      const said = events.filter(({ text }) => text !== undefined).reduce(later, undefined);
      const isNewer = said !== undefined && isLater([said.turn, said.at, said.event], known.text);
      changes.push({
        known,
        isRemoved: isRemoved(events, known),
        written: isNewer ? { text: said.text!, at: said.at } : null,
      });
    }
    return changes;
  }

  private byNote(): Map<string, NoteEvent[]> {
    const notes = new Map<string, NoteEvent[]>();
    for (const event of this.events) {
      notes.set(event.note, [...(notes.get(event.note) ?? []), event]);
    }
    return notes;
  }

  /** The file: a line for each event. */
  text(): string {
    return this.events.map((event) => `${JSON.stringify(event)}\n`).join("");
  }

  private get key(): string {
    return `${NOTES_KEY}${this.structure}`;
  }

  private turnOf(note: string): number {
    const turns = this.events.filter((event) => event.note === note).map(({ turn }) => turn);
    const known = this.known.get(note);
    if (known) turns.push(known.kept, known.removed);
    if (turns.length === 0) throw new Error("This note is not in the list any more.");
    return Math.max(...turns) + 1;
  }

  private write(note: string, turn: number, changes: Partial<NoteEvent>): void {
    const at = new Date().toISOString().replace("Z", "000Z");
    const said = { format: "netloupe-notes-1", event: makeId(), note, turn, at, author: "" } as const;
    this.events.push({ ...said, ...changes });
    try {
      this.kept?.setItem(this.key, this.text());
    } catch {
      this.isKept = false; // it is full, or not allowed
    }
  }
}

/** The events of lines; what is none is left out. */
function readEvents(text: string): NoteEvent[] {
  return text
    .split("\n")
    .map((line): unknown => {
      try {
        return JSON.parse(line);
      } catch {
        return null;
      }
    })
    .filter(isEvent);
}

function isEvent(value: unknown): value is NoteEvent {
  if (typeof value !== "object" || value === null) return false;
  const event = value as Record<string, unknown>;
  return (
    event.format === "netloupe-notes-1" &&
    typeof event.note === "string" &&
    typeof event.turn === "number" &&
    typeof event.at === "string" &&
    (event.text === undefined || typeof event.text === "string") &&
    (event.anchors === undefined || Array.isArray(event.anchors))
  );
}

function later(one: NoteEvent | undefined, other: NoteEvent): NoteEvent {
  if (!one) return other;
  const [a, b] = [one, other].map(({ turn, at, event }): Rank => [turn, at, event]);
  return isLater(a, b) ? one : other;
}

function isLater(one: Rank, other: Rank): boolean {
  const place = one.findIndex((part, k) => part !== other[k]);
  return place >= 0 && one[place] > other[place];
}

/** Whether a removal came after all else; as is_removed in explorer/notes/record.py. */
function isRemoved(events: readonly NoteEvent[], known?: KnownNote): boolean {
  const turns = (removed: boolean): number[] =>
    events.filter((event) => (event.removed === true) === removed).map(({ turn }) => turn);
  const removed = Math.max(known?.removed ?? 0, ...turns(true));
  return removed > Math.max(known?.kept ?? 0, ...turns(false));
}

/** A random UUID (RFC 9562, version 4), also where `crypto.randomUUID` is not allowed. */
function makeId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const digits = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
