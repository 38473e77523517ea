/** A page that a server on loopback answers: everything travels through one socket. */

import type { CanvasConnection } from "../host/connection";
import { makeHost, type HostWords } from "../host/host";
import { ALL_ABILITIES, type Request } from "../host/messages";
import { LocalTraits } from "../host/local_traits";
import type { ReviewConnection, ReviewMessage } from "../review/connection";
import { followSelection } from "../review/selection";
import { CANVAS_TRAITS, type CanvasTraits } from "../host/traits";
import { readFrame } from "./frames";

type Receive = (message: unknown, buffers: ArrayBufferView[]) => void;

/** An answer to what an inspector asks. */
interface Answer {
  readonly content: Record<string, unknown>;
  readonly buffers: ArrayBufferView[];
}

const LOST = "The program that drew this has ended. Run `netloupe open` again to go on.";

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

export class LiveHost implements CanvasConnection {
  private readonly words: { -readonly [Name in keyof HostWords]: string } = {
    waiting: "Opening the model …",
    absent: LOST,
    silent: "The program that drew this does not answer.",
    lost: LOST,
    renew: "run `netloupe open` again",
  };
  readonly host = makeHost(ALL_ABILITIES, {
    hasInspector: true,
    words: this.words,
    // a model may take minutes to be read
    patience: { first: null, answer: null },
  });
  readonly traits: SharedTraits;
  private readonly socket: WebSocket;
  private readonly receivers = new Set<Receive>();
  private readonly losses = new Set<() => void>();
  private readonly renewals = new Set<() => void>();
  private readonly reviewers = new Set<(message: ReviewMessage) => void>();
  private readonly asked = new Map<number, (answer: Answer | null) => void>();
  /** what was sent before the socket was open */
  private early: string[] | null = [];
  private isLost = false;
  private count = 0;

  constructor(address: URL, traits: Partial<CanvasTraits>, words: Partial<HostWords> = {}) {
    Object.assign(this.words, words);
    if (words.lost !== undefined) this.words.absent = words.lost;
    this.traits = new SharedTraits({ ...CANVAS_TRAITS, ...traits }, (values) => {
      const news = Object.entries(values).filter(([name]) => TOLD.has(name));
      if (news.length > 0 && !this.isLost) this.write({ traits: Object.fromEntries(news) });
    });
    this.socket = new WebSocket(address);
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = () => {
      const early = this.early ?? [];
      this.early = null;
      for (const text of early) this.socket.send(text);
    };
    this.socket.onmessage = ({ data }) => this.receive(data);
    this.socket.onclose = () => this.lose();
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

  /** What a review tab talks with. */
  get review(): ReviewConnection {
    return {
      canCheck: true,
      notesFile: null,
      owns: () => true,
      send: (request) => {
        if (!this.isLost) this.write({ review: request });
      },
      onMessage: (receive) => {
        this.reviewers.add(receive);
        const stop = followSelection(this.traits, receive);
        return () => {
          this.reviewers.delete(receive);
          stop();
        };
      },
      onLost: (lost) => this.onLost(lost),
    };
  }

  /** Show and select what is at a path; what no picture shows is selected alone. */
  follow(path: string): void {
    if (!this.isLost) this.write({ follow: path });
  }

  /** The description of what is at a path, as HTML. */
  async describe(path: string): Promise<string> {
    const { content } = await this.ask({ describe: path });
    return String(content.html);
  }

  /** The description of what is at several paths, as HTML. */
  async describeSeveral(paths: readonly string[]): Promise<string> {
    const { content } = await this.ask({ describe: paths });
    return String(content.html);
  }

  /** What is said of the elements of a weight: a block of explorer/standalone/weights.py. */
  async readWeight(weight: number): Promise<Uint8Array> {
    const [buffer] = (await this.ask({ weight })).buffers;
    return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
  }

  private async ask(question: Record<string, unknown>): Promise<Answer> {
    const id = ++this.count;
    const answer = await new Promise<Answer | null>((resolve) => {
      this.asked.set(id, resolve);
      if (this.isLost) resolve(null);
      else this.write({ ...question, id });
    });
    if (!answer) throw new Error(this.words.lost);
    if (typeof answer.content.error === "string") throw new Error(answer.content.error);
    return answer;
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
      const answer = content.answer as Record<string, unknown>;
      const resolve = this.asked.get(Number(answer.id));
      this.asked.delete(Number(answer.id));
      resolve?.({ content: answer, buffers });
    } else if ("review" in content) {
      for (const receive of [...this.reviewers]) receive(content.review as ReviewMessage);
    } else if ("renew" in content) {
      for (const renew of this.renewals) renew();
    } else if ("ended" in content) {
      this.words.lost = this.words.absent = String(content.ended);
      this.lose();
    }
  }

  private lose(): void {
    if (this.isLost) return;
    this.isLost = true;
    for (const resolve of this.asked.values()) resolve(null);
    this.asked.clear();
    for (const lost of [...this.losses]) lost();
  }
}
