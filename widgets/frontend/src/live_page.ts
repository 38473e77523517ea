/** The explorer of a model that a server on loopback has open: netloupe/live/server.py. */

import { Address, type TabKeeper } from "./address/address";
import { Hash } from "./address/hash";
import { explainRefusal } from "./address/link";
import type { CanvasView } from "./canvas";
import { makeElement } from "./controls/elements";
import { showExplorer } from "./explorer_page";
import type { HostWords } from "./host/host";
import type { CanvasTraits } from "./host/traits";
import { noteDrops } from "./live/drop_note";
import { findAddress } from "./live/dropping";
import { LiveHost } from "./live/live_host";
import { findPlace } from "./standalone/around";
import { makeInspector } from "./remote_inspector";

export interface LivePage {
  /** where the socket is, seen from the page */
  readonly live: string;
  /** tells models apart in addresses; missing where the page has no address of its own */
  readonly mark?: string;
  readonly traits: Partial<CanvasTraits>;
  /** bytes of the largest file that may be dropped on the page; null where none may be */
  readonly most_dropped?: number | null;
  /** where another model is chosen, seen from the page; null where there is nothing else */
  readonly start?: string | null;
  /** whether the server ends where this model cannot be shown */
  readonly ends_with_it?: boolean;
  /** what is said in place of the words of `netloupe open` */
  readonly words?: Partial<HostWords>;
}

/** Show what the server has open. */
export function showServed(page: LivePage): void {
  const { live, mark, traits, most_dropped, words } = page;
  const home = typeof page.start === "string" ? findAddress(page.start) : undefined;
  const socket = new URL(live + location.search, document.baseURI);
  socket.protocol = socket.protocol.replace("http", "ws");
  const failed = (why: string): void => {
    const message = makeElement("p", "nl-page-error");
    message.setAttribute("role", "alert");
    message.textContent = why;
    const whole = makeElement("main", "");
    const heading = makeElement("h1", "nl-page-heading");
    heading.textContent = "This model cannot be shown";
    whole.append(heading, message);
    findPlace().replaceChildren(whole);
    if (home === undefined || page.ends_with_it) return;
    const link = makeElement("a", "nl-page-link");
    link.href = home;
    link.textContent = "Open another model";
    whole.append(link);
  };
  const host = new LiveHost(socket, traits, failed, words, home);
  // asked ahead of the first picture, which so shows it
  const address = mark === undefined ? null : new LiveAddress(mark, host);
  const inspector = makeInspector(host.traits, host.questions, (path) => host.goTo(path));
  host.onRenewed(() => inspector.renew());
  address?.keepTab(inspector.showReview(host.review));
  const view = showExplorer(host, inspector, () => void address?.begin(view));
  if (typeof most_dropped === "number") noteDrops(most_dropped);
}

/** The address of a page whose program shows what it says. */
class LiveAddress {
  private readonly address: Address;
  /** resolves with why it is not shown; with null where it is */
  private readonly refusal: Promise<unknown>;

  constructor(
    mark: string,
    private readonly host: LiveHost,
  ) {
    this.address = new Address(mark, new Hash());
    const { first, error } = this.address;
    const followed = first ? host.follow(first).then(() => null) : Promise.resolve(error);
    this.refusal = followed.catch((why: unknown) => why);
  }

  /** Keep in the address which tab is shown, and show the one that it says. */
  keepTab(tabs: TabKeeper): void {
    this.address.keepTab(tabs);
  }

  /** Let the window stand where the address says, and keep the address from now on. */
  async begin(view: CanvasView): Promise<void> {
    const { address, host } = this;
    const error = await this.refusal;
    if (error !== null) host.warn(explainRefusal(error));
    else if (address.first?.place) view.standAt(address.first.place);
    address.follow(host, view);
  }
}
