/** The review that a file holds: explorer/standalone/review_block.py. */

import type { Traits } from "../host/connection";
import type { CanvasTraits } from "../host/traits";
import type { PaintsByPath } from "../scene/paints_by_path";
import type { ReviewConnection, ReviewMessage, ReviewRequest } from "../review/connection";
import { type Block, BlockError } from "./block";

export interface FileReviewActions {
  read(): Promise<Block>;
  /** show and select what is at a path */
  goTo(path: string): void;
}

export class FileReview implements ReviewConnection {
  readonly canCheck = false;
  private readonly receivers = new Set<(message: ReviewMessage) => void>();
  private block: Promise<Block> | null = null;

  constructor(
    private readonly traits: Traits<CanvasTraits>,
    private readonly actions: FileReviewActions,
  ) {}

  send(request: ReviewRequest): void {
    if ("ask" in request) void this.tell();
    else if ("show" in request) this.actions.goTo(request.show);
    else if ("marks" in request) void this.mark(request.marks);
  }

  onMessage(receive: (message: ReviewMessage) => void): () => void {
    this.receivers.add(receive);
    return () => this.receivers.delete(receive);
  }

  onLost(): () => void {
    return () => undefined;
  }

  private read(): Promise<Block> {
    this.block ??= this.actions.read();
    return this.block;
  }

  private async tell(): Promise<void> {
    const marks = Object.keys(this.traits.get("marks")).length > 0;
    let review: unknown = null;
    let error = "";
    try {
      review = (await this.read()).value("review");
    } catch (problem) {
      if (!(problem instanceof BlockError)) throw problem;
      error = problem.message;
    }
    this.emit({ type: "review", review, marks });
    this.emit({ type: "progress", stage: "checked", share: null, error });
  }

  private async mark(isWanted: boolean): Promise<void> {
    const marks = isWanted ? ((await this.read()).value("marks") as PaintsByPath) : {};
    this.traits.set({ marks });
  }

  private emit(message: ReviewMessage): void {
    for (const receive of [...this.receivers]) receive(message);
  }
}
