/** What is open in a page after a request. */

import type { Request, SceneMessage } from "../host/messages";
import type { Opened } from "./compose";
import { type Drawing, type KeyedState, openKeys } from "./drawing";
import { Neighbourhood } from "./neighbourhood";
import type { Chain } from "./opened";

/** How a scene is to be shown, and what is open in it where that is something else. */
export type Answer = Omit<SceneMessage, "type" | "header"> & {
  readonly root?: Opened;
  /** what is to be said of it */
  readonly notices?: readonly string[];
};

/** How a box is to be: closed, open as it usually is, or open with one repetition; all for -1. */
type State = "closed" | "usual" | number;
export interface OpenState {
  readonly path: string;
  readonly state: State;
}

/**
 * What is open after a request, and how that is to be shown.
 *
 * @param first what is open at first
 * @throws Error where the file has nothing of the kind
 */
export function change(drawing: Drawing, root: Opened, request: Request, first: KeyedState): Answer {
  const { openings } = drawing;
  switch (request.type) {
    case "toggle": {
      const chain = find(drawing, root, request.path);
      const isOpen = openings.at(root, chain) !== undefined;
      const changed = isOpen ? openings.close(root, chain) : openings.open(root, chain);
      return { root: changed, anchor: request.path };
    }
    case "open": {
      const { root: shown, chain } = reveal(drawing, root, request.path);
      const isOpen = openings.at(shown, chain) !== undefined;
      return { root: isOpen ? shown : openings.open(shown, chain), anchor: request.path };
    }
    case "close":
      return {
        root: openings.close(root, find(drawing, root, request.path)),
        anchor: request.path,
      };
    case "shown":
      return showState(drawing, root, request.path, request.index);
    case "unroll":
      return showState(drawing, root, request.path, -1);
    case "fold": {
      const chain = find(drawing, root, request.path);
      return { root: openings.fold(root, chain), anchor: request.path };
    }
    case "reveal": {
      const { root: shown } = reveal(drawing, root, request.path);
      return { root: shown, select: request.path, center: request.path };
    }
    case "expand":
      return expand(drawing, request.mode, first);
    default:
      throw new Error("This file has nothing behind it that could answer that.");
  }
}

/** What is open once a box is as wanted; what the file does not have stays as it is. */
export function putInState(drawing: Drawing, root: Opened, { path, state }: OpenState): Opened {
  const { openings, places } = drawing;
  try {
    if (state === "closed") {
      const chain = places.findShown(root, path);
      return chain && openings.at(root, chain) ? openings.close(root, chain) : root;
    }
    const found = openings.reveal(root, path);
    if (!found) return root;
    if (state !== "usual") return openings.show(found.root, found.chain, state);
    const isOpen = openings.at(found.root, found.chain) !== undefined;
    return isOpen ? found.root : openings.open(found.root, found.chain);
  } catch {
    return root; // the inside of it is not in the file
  }
}

function showState(drawing: Drawing, root: Opened, path: string, index: number): Answer {
  const chain = find(drawing, root, path);
  return { root: drawing.openings.show(root, chain, index), anchor: path };
}

function expand({ book, openings }: Drawing, mode: string, first: KeyedState): Answer {
  if (mode === "all") return { ...openings.openAll(), fit: true };
  if (book instanceof Neighbourhood) return { root: book.root, fit: true };
  if (mode === "none") return { root: { level: 0, inner: new Map() }, fit: true };
  return { root: openKeys(book, 0, first), fit: true };
}

/** The box at a path that is drawn now. */
function find({ places }: Drawing, root: Opened, path: string): Chain {
  const chain = places.findShown(root, path);
  if (!chain) throw new Error(`There is nothing at ${JSON.stringify(path)} in this file.`);
  return chain;
}

function reveal({ openings }: Drawing, root: Opened, path: string): { root: Opened; chain: Chain } {
  const found = openings.reveal(root, path);
  if (!found) throw new Error(`There is nothing at ${JSON.stringify(path)} in this file.`);
  return found;
}
