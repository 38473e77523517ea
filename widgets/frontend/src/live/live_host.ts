/** A page that a server on loopback answers: everything travels through one socket. */

import type { LinkedHost } from "../address/address";
import type { Choices, Focus, Link } from "../address/link";
import type { CanvasConnection } from "../host/connection";
import { type Host, makeHost, type HostWords } from "../host/host";
import { ALL_ABILITIES, type Request } from "../host/messages";
import { LocalTraits } from "../host/local_traits";
import type { ReviewMessage } from "../review/connection";
import { CANVAS_TRAITS, type CanvasTraits } from "../host/traits";
import { readFrame } from "./frames";
import { Questions } from "./questions";
import { RemoteReview } from "./remote_review";

type Receive = (message: unknown, buffers: ArrayBufferView[]) => void;

const LOST = "The program that drew this has ended. Run `netloupe open` again to go on.";
/** what closes a socket beside the end of the program, by its code */
const REASONS: ReadonlyMap<number, string> = new Map([
  [1008, "This page has asked for too much at once. Load it again to go on."],
]);

/** traits that the server has to know of */
const TOLD: ReadonlySet<string> = new Set(["selection", "selected_paths", "direction"]);

/** Traits that the server sets too. */
class SharedTraits extends LocalTraits<CanvasTraits> {
  constructor(
    values: CanvasTraits,
    private readonly tell: (values: Partial<CanvasTraits>) => void,
  ) {
    super(values);
  }

  override set(values: Partial<CanvasTraits>): void {
    super.set(values);
    this.tell(values);
  }

  /** Set what the server has set. */
  take(values: Partial<CanvasTraits>): void {
    super.set(values);
  }
}

/** What an address keeps beside what the page knows itself: explorer/session/page_link.py. */
interface Seen {
  readonly opened: string | null;
  readonly choices: Choices;
}

export class LiveHost implements CanvasConnection, LinkedHost {
  /** what is said of it; where it cannot show anything that is why */
  private readonly words: { -readonly [Name in keyof HostWords]: string } = {
    waiting: "Opening the model …",
    absent: LOST,
    silent: "The program that drew this does not answer.",
    lost: LOST,
    renew: "run `netloupe open` again",
  };
  readonly host: Host;
  readonly traits: SharedTraits;
  /** what a review tab talks with */
  readonly review: RemoteReview;
  private readonly socket: WebSocket;
  private readonly receivers = new Set<Receive>();
  private readonly losses = new Set<() => void>();
  private readonly renewals = new Set<() => void>();
  private readonly watchers = new Set<() => void>();
  private seen: Seen | null = null;
  /** what an inspector or an address asks */
  readonly questions = new Questions((question) => this.write(question), () => this.words.lost);
  /** what was sent before the socket was open */
  private early: string[] | null = [];
  private isLost = false;

  /**
   * @param failed called with why there is nothing to show
   * @param words what is said in place of our own words
   * @param home the address of the page on which another model is chosen
   */
  constructor(
    address: URL,
    traits: Partial<CanvasTraits>,
    private readonly failed: (why: string) => void,
    words: Partial<HostWords> = {},
    home?: string,
  ) {
    this.host = makeHost(ALL_ABILITIES, {
      hasInspector: true,
      words: this.words,
      // a model may take minutes to be read
      patience: { first: null, answer: null },
      ...(home !== undefined && { home }),
    });
    Object.assign(this.words, words);
    if (words.lost !== undefined) this.words.absent = words.lost;
    this.traits = new SharedTraits({ ...CANVAS_TRAITS, ...traits }, (values) => {
      const news = Object.entries(values).filter(([name]) => TOLD.has(name));
      if (news.length > 0 && !this.isLost) this.write({ traits: Object.fromEntries(news) });
    });
    this.review = new RemoteReview(
      this.traits,
      (request) => {
        if (!this.isLost) this.write({ review: request });
      },
      (lost) => this.onLost(lost),
    );
    this.socket = new WebSocket(address);
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = () => {
      const early = this.early ?? [];
      this.early = null;
      for (const text of early) this.socket.send(text);
    };
    this.socket.onmessage = ({ data }) => this.receive(data);
    this.socket.onclose = ({ code }) => this.lose(REASONS.get(code) ?? this.words.lost);
  }

  send(message: Request & { id: string }): void {
    this.write({ request: message });
  }

  onMessage(receive: Receive): () => void {
    this.receivers.add(receive);
    return () => this.receivers.delete(receive);
  }

  onLost(lost: () => void): () => void {
    this.losses.add(lost);
    if (this.isLost) lost();
    return () => this.losses.delete(lost);
  }

  /** Call something where more is known of what is described. */
  onRenewed(renew: () => void): void {
    this.renewals.add(renew);
  }

  /** Show and select what is at a path; what no picture shows is selected alone. */
  goTo(path: string): void {
    if (!this.isLost) this.write({ follow: path });
  }

  /** Show what an address says. Rejects with what does not fit, unless the program has ended. */
  async follow(link: Link): Promise<void> {
    try {
      await this.questions.followLink(link);
    } catch (error) {
      if (!this.isLost) throw error;
    }
  }

  writeOpened(): Promise<string | null> {
    return Promise.resolve(this.seen?.opened ?? null);
  }

  get shownFocus(): Focus | null {
    const path = this.traits.get("focus");
    return path ? { path, hops: this.traits.get("hops") } : null;
  }

  get choices(): Choices {
    return this.seen?.choices ?? {};
  }

  onChange(watch: () => void): void {
    this.watchers.add(watch);
  }

  warn(message: string): void {
    for (const receive of [...this.receivers]) receive({ type: "error", message }, []);
  }

  /** @throws Error where the socket is closed */
  private write(content: Record<string, unknown>): void {
    if (this.isLost) throw new Error(this.words.lost);
    const text = JSON.stringify(content);
    if (this.early) this.early.push(text);
    else this.socket.send(text);
  }

  private receive(data: unknown): void {
    const frame = readFrame(data);
    if (!frame) return;
    const { content, buffers } = frame;
    if ("traits" in content) {
      this.traits.take(content.traits as Partial<CanvasTraits>);
    } else if ("message" in content) {
      for (const receive of [...this.receivers]) receive(content.message, buffers);
    } else if ("answer" in content) {
      this.questions.take(content.answer as Record<string, unknown>, buffers);
    } else if ("review" in content) {
      this.review.take(content.review as ReviewMessage);
    } else if ("seen" in content) {
      const isFirst = this.seen === null;
      this.seen = content.seen as Seen;
      // an address says nothing until something has been changed
      if (!isFirst) for (const watch of this.watchers) watch();
    } else if ("renew" in content) {
      for (const renew of this.renewals) renew();
    } else if ("step" in content) {
      const step = content.step as Record<string, unknown>;
      const message = { ...step, type: "busy", id: null, stoppable: false };
      for (const receive of [...this.receivers]) receive(message, []);
    } else if (typeof content.failed === "string") {
      this.lose(content.failed);
      this.failed(content.failed);
    } else if (typeof content.ended === "string") {
      this.lose(content.ended); // what is drawn stays
    }
  }

  /** @param why what is said of it from now on */
  private lose(why: string): void {
    if (this.isLost) return;
    this.isLost = true;
    this.words.lost = this.words.absent = why;
    this.questions.lose();
    for (const lost of [...this.losses]) lost();
  }
}
