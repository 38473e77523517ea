/**
 * What is behind a canvas, and what it can do. The canvas asks for this and never for where it is:
 * what its host cannot do is offered nowhere, neither in menus and bars nor by keys.
 */

import type { Ability } from "./messages";

/** The tabs beside the picture: what is said of the selection, and what there is to review. */
export type TabName = "inspect" | "review";

/** What is said of a host. */
export interface HostWords {
  /** until the first scene is there */
  readonly waiting: string;
  /** in place of the canvas, where the first scene does not come */
  readonly absent: string;
  /** where the answer to a later request does not come */
  readonly silent: string;
  /** once nothing comes in any more; what is drawn stays */
  readonly lost: string;
  /** what to do where canvas and scene are of different versions */
  readonly renew: string;
}

/** Milliseconds after which a request is given up, null for never; who is busy is waited for. */
export interface HostPatience {
  readonly first: number | null;
  readonly answer: number | null;
}

export interface Host {
  can(what: Ability): boolean;
  /** whether it fills an inspector that stands beside the canvas */
  readonly hasInspector: boolean;
  readonly words: HostWords;
  readonly patience: HostPatience;
  /** what is to be known of all that is shown, in short and in full */
  readonly remark?: readonly [short: string, full: string];
  /** the address of the page on which another model is chosen */
  readonly home?: string;
}

/** Make a host of what it can do and what else is known of it. */
export function makeHost(abilities: Iterable<Ability>, facts: Omit<Host, "can">): Host {
  const able = new Set(abilities);
  return { ...facts, can: (what) => able.has(what) };
}
