/**
 * All that is asked from the outside by what stands on a page: what is behind it, traits that both
 * sides set, and messages. Whoever gives a canvas one of these can show it, in a notebook or
 * elsewhere.
 */

import type { Host } from "./host";
import type { Request } from "./messages";
import type { CanvasTraits } from "./traits";

/** State that both sides may read, set and follow. */
export interface Traits<Values> {
  get<Name extends keyof Values>(name: Name): Values[Name];
  /** Set some of them; the other side learns of all at once. */
  set(values: Partial<Values>): void;
  /** Call something after each change of a trait, whoever has made it; returns what ends it. */
  follow(name: keyof Values, changed: () => void): () => void;
}

export interface Connection<Values, Sent> {
  readonly host: Host;
  readonly traits: Traits<Values>;
  /** @throws Error where nothing can be sent any more */
  send(message: Sent): void;
  /** Call something with each message that comes in; returns what ends it. */
  onMessage(receive: (message: unknown, buffers: ArrayBufferView[]) => void): () => void;
  /** Call something once nothing will come in any more; returns what ends it. */
  onLost(lost: () => void): () => void;
}

export type CanvasConnection = Connection<CanvasTraits, Request & { id: string }>;
