/** Hosts that can do less than a kernel. */

import { type Host, makeHost } from "../src/host/host";
import type { Ability } from "../src/host/messages";

/** A host that can do nothing but what is named, and is never given up. */
export function hostThatCan(...abilities: Ability[]): Host {
  return makeHost(abilities, {
    hasInspector: false,
    words: {
      waiting: "Unpacking …",
      absent: "Nothing here",
      silent: "No answer",
      lost: "The page has gone",
      renew: "write it again",
    },
    patience: { first: null, answer: null },
  });
}
