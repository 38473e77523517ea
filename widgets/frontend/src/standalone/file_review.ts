/**
 * The review that a file holds: explorer/standalone/review_block.py; and the notes that somebody
 * writes in it.
 */

import type { Traits } from "../host/connection";
import type { CanvasTraits } from "../host/traits";
import type {
  NotesFile,
  ReviewConnection,
  ReviewMessage,
  ReviewRequest,
} from "../review/connection";
import { readReview } from "../review/items";
import { followSelection } from "../review/selection";
import { type Block, BlockError } from "./block";
import { FileNotes, type Kept, type KnownNote, NOTES_KEY } from "./file_notes";
import { ItemMarks, type ItemPlaces } from "./item_marks";
import { type NotedReview, addNotes } from "./noted_review";
import type { Around } from "./places";

export interface FileReviewActions {
  read(): Promise<Block>;
  /** show and select what is at a path */
  goTo(path: string): void;
  /** find where the picture shows what is at a path */
  findAround(path: string): Promise<Around>;
  /** let the browser download a text as a file */
  download(name: string, text: string): void;
  /** where the browser keeps notes; null where it keeps nothing */
  readonly kept: Kept | null;
}

const KEPT = "Notes are kept in this browser.";
const LOST = "Notes are lost when this page is closed.";

export class FileReview implements ReviewConnection {
  readonly canCheck = false;
  private readonly receivers = new Set<(message: ReviewMessage) => void>();
  private block: Promise<Block> | null = null;
  private notes: FileNotes | null = null;
  private shown: unknown = null;
  /** whether items are marked in the picture */
  private isMarked: boolean;
  /** counts how often the list was made: what is found late of an earlier one is not shown */
  private turn = 0;

  constructor(
    private readonly traits: Traits<CanvasTraits>,
    private readonly actions: FileReviewActions,
  ) {
    this.isMarked = Object.keys(traits.get("marks")).length > 0;
    // what was done to notes before is to be seen though nobody opens the tab
    if (this.isMarked && hasNotes(actions.kept)) void this.tell();
  }

  send(request: ReviewRequest): void {
    if ("ask" in request) void this.tell();
    else if ("show" in request) this.actions.goTo(request.show);
    else if ("marks" in request) void this.mark(request.marks);
    else if ("note" in request || "remove" in request) void this.note(request);
  }

  owns(note: string): boolean {
    return this.notes?.owns(note) ?? false;
  }

  get notesFile(): NotesFile | null {
    const { notes } = this;
    if (!notes) return null;
    return {
      count: notes.count,
      remark: notes.isKept ? KEPT : LOST,
      save: () => {
        const model = this.traits.get("file_name") || "model";
        this.actions.download(`${model}.notes.jsonl`, notes.text());
      },
    };
  }

  onMessage(receive: (message: ReviewMessage) => void): () => void {
    this.receivers.add(receive);
    const stop = followSelection(this.traits, receive);
    return () => {
      this.receivers.delete(receive);
      stop();
    };
  }

  onLost(): () => void {
    return () => undefined;
  }

  private read(): Promise<Block> {
    this.block ??= this.actions.read();
    return this.block;
  }

  private async tell(): Promise<void> {
    let review: unknown = null;
    let error = "";
    try {
      review = await this.list();
    } catch (problem) {
      if (!(problem instanceof BlockError)) throw problem;
      error = problem.message;
    }
    this.shown = review;
    this.emit({ type: "review", review, marks: this.isMarked });
    this.emit({ type: "progress", stage: "checked", share: null, error });
  }

  private async mark(isWanted: boolean): Promise<void> {
    this.isMarked = isWanted;
    this.emit({ type: "marks", marks: isWanted });
    if (!isWanted) this.traits.set({ marks: {} });
    else await this.list().catch(passDamage); // of which the list tells who asks for it
  }

  /** Return the review with its notes as they now are, and mark its items in the picture. */
  private async list(): Promise<unknown> {
    const turn = ++this.turn;
    const block = await this.read();
    const known = (block.value("notes") ?? []) as KnownNote[];
    this.notes ??= new FileNotes(String(block.value("structure")), this.actions.kept, known);
    const noted = addNotes(block.value("review"), this.notes.list(), this.notes.listChanges());
    const places = block.value("places") as ItemPlaces;
    // without its levels there is no picture either
    if (this.isMarked) await this.markItems(places, noted, turn).catch(passDamage);
    return noted.review;
  }

  private async markItems(
    places: ItemPlaces,
    { review, levels }: NotedReview,
    turn: number,
  ): Promise<void> {
    const marks = new ItemMarks(places);
    const notes = this.notes!.list();
    for (const [k, { paths }] of notes.entries()) {
      for (const path of paths) {
        marks.add(levels.length - notes.length + k, await this.actions.findAround(path));
      }
    }
    if (!this.isMarked || turn !== this.turn) return;
    this.traits.set({ marks: marks.paint(readReview(review).levels, levels) });
  }

  private async note(request: ReviewRequest): Promise<void> {
    const { notes } = this;
    if (!notes) return;
    let error = "";
    try {
      if ("accept" in request) this.accept(notes, request.accept, request.note);
      else if ("edit" in request) notes.edit(request.edit, request.note);
      else if ("remove" in request) notes.remove(request.remove);
      else if ("note" in request) notes.add(request.note, request.paths);
    } catch (problem) {
      error = problem instanceof Error ? problem.message : String(problem);
    }
    this.emit({ type: "noted", error });
    if (!error) await this.tell();
  }

  private accept(notes: FileNotes, number: number, text: string): void {
    const item = readReview(this.shown).items[number];
    if (!item) throw new Error("This finding is not in the list any more.");
    const { id: rule, fingerprint, count, evidence, paths } = item;
    const message = evidence.find(([label]) => label === "found")?.[1] ?? "";
    notes.add(text, paths, { rule, fingerprint, count, message });
  }

  private emit(message: ReviewMessage): void {
    for (const receive of [...this.receivers]) receive(message);
  }
}

/** Pass over a part of the file that is damaged. */
function passDamage(problem: unknown): void {
  if (!(problem instanceof BlockError)) throw problem;
}

/** Whether the browser keeps notes, of whatever model. */
function hasNotes(kept: Kept | null): boolean {
  return kept !== null && Object.keys(kept).some((key) => key.startsWith(NOTES_KEY));
}
