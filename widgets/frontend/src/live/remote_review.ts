/** The review of a page behind which a program checks the model. */

import type { Traits } from "../host/connection";
import type { CanvasTraits } from "../host/traits";
import type { ReviewConnection, ReviewMessage, ReviewRequest } from "../review/connection";
import { followSelection } from "../review/selection";

export class RemoteReview implements ReviewConnection {
  readonly canCheck = true;
  readonly notesFile = null;
  private readonly receivers = new Set<(message: ReviewMessage) => void>();

  /** @param send takes a request to the program, if that is still there */
  constructor(
    private readonly traits: Traits<CanvasTraits>,
    readonly send: (request: ReviewRequest) => void,
    readonly onLost: (lost: () => void) => () => void,
  ) {}

  owns(): boolean {
    return true;
  }

  onMessage(receive: (message: ReviewMessage) => void): () => void {
    this.receivers.add(receive);
    const stop = followSelection(this.traits, receive);
    return () => {
      this.receivers.delete(receive);
      stop();
    };
  }

  /** Take what the program says. */
  take(message: ReviewMessage): void {
    for (const receive of [...this.receivers]) receive(message);
  }
}
