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

/** as MOST_ANCHORS in explorer/notes/event.py */
const MOST_PATHS = 1_000;

/** The part of the browser's storage that is used; it may refuse. */
export type Kept = Pick<Storage, "getItem" | "setItem">;

export class FileNotes {
  private readonly events: NoteEvent[] = [];
  /** whether the browser keeps them beyond this page */
  isKept = false;

  /**
   * @param structure the digest of the model that notes are of
   * @param kept where the browser keeps them; null where it does not
   */
  constructor(
    private readonly structure: string,
    private readonly kept: Kept | null,
  ) {
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
    return this.events.some((event) => event.note === note);
  }

  /** The notes that there are, the earliest first. */
  list(): FileNote[] {
    const notes = new Map<string, NoteEvent[]>();
    for (const event of this.events) {
      notes.set(event.note, [...(notes.get(event.note) ?? []), event]);
    }
    return [...notes]
      .filter(([, events]) => !latest(events).removed)
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

  /** The file: a line for each event. */
  text(): string {
    return this.events.map((event) => `${JSON.stringify(event)}\n`).join("");
  }

  private get key(): string {
    return `netloupe-notes-${this.structure}`;
  }

  private turnOf(note: string): number {
    const turns = this.events.filter((event) => event.note === note).map(({ turn }) => turn);
    if (turns.length === 0) throw new Error("This note is of the file that the page was made of.");
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
  return one && one.turn > other.turn ? one : other;
}

function latest(events: readonly NoteEvent[]): NoteEvent {
  return events.reduce((one, other) => (one.turn > other.turn ? one : other));
}

/** A random UUID (RFC 9562, version 4), also where `crypto.randomUUID` is not allowed. */
function makeId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const digits = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
