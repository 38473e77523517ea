/** The items of a review, as explorer/review/wire.py writes them. */

export interface LevelStyle {
  readonly name: string;
  /** one character, in a disc */
  readonly sign: string;
  /** a key of the tones of a theme */
  readonly tone: string;
  readonly meaning: string;
}

export interface ReviewItem {
  readonly number: number;
  readonly kind: string;
  readonly level: LevelStyle;
  readonly title: string;
  readonly where: string;
  readonly id: string;
  readonly why: string;
  readonly remedy: string;
  readonly source: string;
  /** who accepted it and why; "" where nobody did */
  readonly accepted: string;
  /** of a finding what stays the same in another version, of a note its id; "" for neither */
  readonly fingerprint: string;
  /** how many places it stands for; `paths` may name fewer */
  readonly count: number;
  readonly evidence: ReadonlyArray<readonly [string, string]>;
  readonly paths: readonly string[];
}

export interface ReviewList {
  readonly headline: string;
  readonly summary: string;
  /** a reason why something was not looked at, and what that is */
  readonly unchecked: ReadonlyArray<readonly [string, string]>;
  /** whether rules were left out since they read weights */
  readonly lacksWeights: boolean;
  readonly levels: readonly LevelStyle[];
  readonly items: readonly ReviewItem[];
}

export class ReviewError extends Error {}

/** @throws ReviewError where it is not what explorer/review/wire.py writes */
export function readReview(written: unknown): ReviewList {
  if (!isRecord(written)) throw damaged("it is no object");
  const texts = readTexts(written.texts, "texts");
  const kinds = readTexts(written.kinds, "kinds");
  const levels = readRows(written.levels, "levels").map(readLevel);
  const at = <Entry>(list: readonly Entry[], number: unknown, what: string): Entry => {
    const entry = typeof number === "number" ? list[number] : undefined;
    if (entry === undefined) throw damaged(`${what} ${String(number)} is missing`);
    return entry;
  };
  const items = readRows(written.items, "items").map((row, number): ReviewItem => {
    const text = (place: number): string => at(texts, row[place], "text");
    const told = Array.isArray(row[10]) ? row[10].map((each) => at(texts, each, "text")) : null;
    if (!told || typeof row[9] !== "number") throw damaged(`item ${number} is cut short`);
    const evidence: Array<readonly [string, string]> = [];
    for (let k = 0; k + 1 < told.length; k += 2) evidence.push([told[k], told[k + 1]]);
    return {
      number,
      kind: at(kinds, row[0], "kind"),
      level: at(levels, row[1], "level"),
      title: text(2),
      where: text(3),
      id: text(4),
      why: text(5),
      remedy: text(6),
      source: text(7),
      accepted: text(8),
      count: row[9],
      evidence,
      paths: readTexts(row[11], "paths"),
      fingerprint: text(12),
    };
  });
  return {
    headline: String(written.headline ?? ""),
    summary: String(written.summary ?? ""),
    unchecked: readRows(written.unchecked, "unchecked").map(([why, what]) => [
      String(why),
      String(what),
    ]),
    lacksWeights: written.lacks_weights === true,
    levels,
    items,
  };
}

/** The levels of differences in what a model does or computes; as in explorer/compare/entry.py. */
const REAL_LEVELS: ReadonlySet<string> = new Set(["removed", "added", "changed"]);

/** Whether it says in what two models differ, and not only how one is written. */
export function isDifference({ kind, level }: ReviewItem): boolean {
  return kind === "difference" && REAL_LEVELS.has(level.name);
}

/** What is counted, by kind or level of items, and what it is called; no noun has no plural. */
const COUNTED: ReadonlyArray<readonly [string, (item: ReviewItem) => boolean, "said"?]> = [
  ["error", ({ level }) => level.name === "error"],
  ["warning", ({ level }) => level.name === "warning"],
  ["difference", isDifference],
  ["moved", ({ level }) => level.name === "moved", "said"],
  ["could not be read", ({ level }) => level.name === "unread", "said"],
  ["minor finding", ({ level }) => level.name === "minor"],
  ["equal by calculation", ({ level }) => level.name === "equal", "said"],
  ["other version", ({ level }) => level.name === "version"],
  ["only written otherwise", ({ level }) => level.name === "written", "said"],
  ["note", ({ kind }) => kind === "note"],
];

/** How much there is, in a line; as `Review.verdict` in explorer/review/review.py. */
export function writeVerdict(items: readonly ReviewItem[]): string {
  const open = items.filter(({ accepted }) => accepted === "");
  const told = COUNTED.map(([words, isOne, said]) =>
    writeCount(open.filter(isOne).length, words, said === "said"),
  );
  const accepted = items.length - open.length;
  const counts = [...told, accepted ? `${accepted.toLocaleString("en")} accepted` : ""];
  return counts.filter(Boolean).join(", ") || "nothing found";
}

function writeCount(count: number, words: string, isSaid: boolean): string {
  return count ? `${count.toLocaleString("en")} ${words}${count === 1 || isSaid ? "" : "s"}` : "";
}

function readLevel([name, sign, tone, meaning]: readonly unknown[]): LevelStyle {
  return { name: String(name), sign: String(sign), tone: String(tone), meaning: String(meaning) };
}

function readTexts(written: unknown, what: string): string[] {
  if (!Array.isArray(written)) throw damaged(`its ${what} are no list`);
  return written.map(String);
}

function readRows(written: unknown, what: string): unknown[][] {
  if (!Array.isArray(written) || !written.every(Array.isArray)) {
    throw damaged(`its ${what} are no lists`);
  }
  return written;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function damaged(why: string): ReviewError {
  return new ReviewError(`The review cannot be read: ${why}.`);
}
