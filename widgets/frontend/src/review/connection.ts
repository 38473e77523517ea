/**
 * What a review tab asks of what is behind it, and hears from there. It has the same names and
 * fields in explorer/session/review_messages.py.
 */

/** What is asked for; one field each. */
export type ReviewRequest =
  /** the list, and how far a check is */
  | { ask: "review" }
  /** show and select what is at a path, that of an item of this number */
  | { show: string; item: number }
  /** apply rules: those that read no weights, or those that do as well */
  | { check: "rules" | "weights" }
  /** end the check that is under way */
  | { stop: true }
  /** mark items in the picture, or mark nothing */
  | { marks: boolean }
  /** write a note on the elements at some paths */
  | { note: string; paths: readonly string[] }
  /** accept the finding that the item of a number is; the note says why */
  | { accept: number; note: string }
  /** let the note of an id say something else */
  | { edit: string; note: string }
  /** remove the note of an id */
  | { remove: string };

/** What comes in. */
export type ReviewMessage =
  /** as explorer/review/wire.py writes it; null before anything is known */
  | { readonly type: "review"; readonly review: unknown; readonly marks: boolean }
  /** whether items are marked: where it changes, and as the answer to whoever asked for it */
  | { readonly type: "marks"; readonly marks: boolean }
  | ({ readonly type: "progress" } & CheckProgress)
  /** select an item of this number; -1 for none */
  | { readonly type: "go"; readonly item: number }
  /** a note was written, changed or removed, or why not: `error` is "" where it was */
  | { readonly type: "noted"; readonly error: string }
  /** other elements are selected in the picture: what a note would be on */
  | { readonly type: "selection"; readonly paths: readonly string[] };

/** How far a check is. */
export interface CheckProgress {
  readonly stage: CheckStage;
  /** what of it is done, 0 to 1, or null where that is not known */
  readonly share: number | null;
  /** what went wrong; "" for nothing */
  readonly error: string;
}

/** Nothing was checked; rules are applied; those that read weights are; it is over. */
export type CheckStage = "unchecked" | "checking" | "reading" | "checked";

export interface ReviewConnection {
  /** whether rules can be applied: a file holds what was found when it was written */
  readonly canCheck: boolean;
  /** what is offered for all notes together, beside reading and writing them; null for nothing */
  readonly notesFile: NotesFile | null;
  /** whether the note of an id can be changed and removed */
  owns(note: string): boolean;
  send(request: ReviewRequest): void;
  /** Call something with each message; returns what ends it. */
  onMessage(receive: (message: ReviewMessage) => void): () => void;
  /** Call something once nothing will come in any more; returns what ends it. */
  onLost(lost: () => void): () => void;
}

/** The file that notes are taken along as, where they are kept in the browser. */
export interface NotesFile {
  /** how many events it has; none is offered where there are none */
  readonly count: number;
  /** what is to be said of where notes are kept */
  readonly remark: string;
  save(): void;
}
