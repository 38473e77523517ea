/** The explorer of a model that a server on loopback has open: netloupe/live/server.py. */

import { makeElement } from "./controls/elements";
import { showExplorer } from "./explorer_page";
import type { HostWords } from "./host/host";
import type { CanvasTraits } from "./host/traits";
import { noteDrops } from "./live/drop_note";
import { LiveHost } from "./live/live_host";
import { findPlace } from "./standalone/around";
import { makeInspector } from "./remote_inspector";

export interface LivePage {
  /** where the socket is, seen from the page */
  readonly live: string;
  readonly traits: Partial<CanvasTraits>;
  /** bytes of the largest file that may be dropped on the page; null where none may be */
  readonly most_dropped?: number | null;
  /** what is said in place of the words of `netloupe open` */
  readonly words?: Partial<HostWords>;
}

/** Show what the server has open. */
export function showServed({ live, traits, most_dropped, words }: LivePage): void {
  const address = new URL(live + location.search, document.baseURI);
  address.protocol = address.protocol.replace("http", "ws");
  const failed = (why: string): void => {
    const message = makeElement("p", "nl-page-error");
    message.setAttribute("role", "alert");
    message.textContent = why;
    findPlace().replaceChildren(message);
  };
  const host = new LiveHost(address, traits, failed, words);
  const inspector = makeInspector(host.traits, host.questions, (path) => host.follow(path));
  host.onRenewed(() => inspector.renew());
  inspector.showReview(host.review);
  showExplorer(host, inspector);
  if (typeof most_dropped === "number") noteDrops(most_dropped);
}
