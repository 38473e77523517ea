/**
 * What an inspector asks of the program behind its page, as explorer/standalone/inspecting.py answers
 * it; and what an address asks, as netloupe/live/exploration.py does.
 */

import type { Link } from "../address/link";

/** An answer to one question. */
interface Answer {
  readonly content: Readonly<Record<string, unknown>>;
  readonly buffers: readonly ArrayBufferView[];
}

/** Questions by their numbers, until each is answered. */
export class Questions {
  private readonly asked = new Map<number, (answer: Answer | null) => void>();
  // answers to questions of one view come to all views of a widget
  private count = Math.floor(Math.random() * 2 ** 40);
  private isLost = false;

  /**
   * @param send takes a question to the program
   * @param lost says why no answer comes any more
   */
  constructor(
    private readonly send: (question: Record<string, unknown>) => void,
    private readonly lost: () => string,
  ) {}

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

  /** What is said of a weight's elements: a block of explorer/standalone/weight_statistics.py. */
  async readWeight(weight: number): Promise<Uint8Array> {
    const [buffer] = (await this.ask({ weight })).buffers;
    return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
  }

  /** Show what an address says. Rejects with what does not fit. */
  async followLink(link: Link): Promise<void> {
    const { direction, opened, focus, selected, choices } = link;
    await this.ask({ link: { direction, opened, focus, selected, choices } });
  }

  /** Take an answer. */
  take(content: Readonly<Record<string, unknown>>, buffers: readonly ArrayBufferView[]): void {
    const resolve = this.asked.get(Number(content.id));
    this.asked.delete(Number(content.id));
    resolve?.({ content, buffers });
  }

  /** Wait no more: the program is gone. */
  lose(): void {
    this.isLost = true;
    for (const resolve of this.asked.values()) resolve(null);
    this.asked.clear();
  }

  private async ask(question: Record<string, unknown>): Promise<Answer> {
    const id = ++this.count;
    const answer = await new Promise<Answer | null>((resolve) => {
      this.asked.set(id, resolve);
      if (this.isLost) resolve(null);
      else this.send({ ...question, id });
    });
    if (!answer) throw new Error(this.lost());
    if (typeof answer.content.error === "string") throw new Error(answer.content.error);
    return answer;
  }
}
