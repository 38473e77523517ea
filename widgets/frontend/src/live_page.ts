/** The explorer of a model that a server on loopback has open: netloupe/live/server.py. */

import { showExplorer } from "./explorer_page";
import type { HostWords } from "./host/host";
import type { CanvasTraits } from "./host/traits";
import { LiveHost } from "./live/live_host";
import { makeInspector } from "./remote_inspector";

export interface LivePage {
  /** where the socket is, seen from the page */
  readonly live: string;
  readonly traits: Partial<CanvasTraits>;
  /** what is said in place of the words of `netloupe open` */
  readonly words?: Partial<HostWords>;
}

/** Show what the server has open. */
export function showServed({ live, traits, words }: LivePage): void {
  const address = new URL(live + location.search, document.baseURI);
  address.protocol = address.protocol.replace("http", "ws");
  const host = new LiveHost(address, traits, words);
  const inspector = makeInspector(host.traits, host.questions, (path) => host.follow(path));
  host.onRenewed(() => inspector.renew());
  inspector.showReview(host.review);
  showExplorer(host, inspector);
}
