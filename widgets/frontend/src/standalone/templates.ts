/** Texts that are alike but for some words: as explorer/standalone/templates.py writes them. */

import { type Block, BlockError, type Integers, type Texts } from "./block";

type Template = ReadonlyArray<string | null>;

/** What stands before a slot that holds a path. */
const PATH = 'data-path="';

export class Templates {
  private readonly texts: Texts;
  private readonly kinds: Template[];
  private readonly used: Integers;
  private readonly slots: Integers;
  /** of each template where its slots begin, and how many texts it has */
  private readonly starts: number[] = [];
  private readonly sizes: number[];

  constructor(block: Block) {
    this.texts = block.texts();
    this.kinds = block.value("kinds") as Template[];
    this.used = block.integers("templates");
    this.slots = block.integers("slots");
    this.sizes = this.kinds.map(() => 0);
    for (const kind of this.used) this.sizes[kind]++;
    let start = 0;
    this.kinds.forEach((template, kind) => {
      this.starts.push(start);
      start += this.sizes[kind] * template.filter((part) => part === null).length;
    });
    if (start !== this.slots.length) throw new BlockError("The descriptions of this file are damaged.");
  }

  /** The text at a place, with its slots filled. */
  write(place: number): string {
    const kind = this.used[place];
    let row = 0;
    for (let k = 0; k < place; k++) if (this.used[k] === kind) row++;
    let slot = 0;
    const written: string[] = [];
    this.kinds[kind].forEach((part, k) => {
      let text = part ?? this.texts.at(this.slots[this.starts[kind] + this.sizes[kind] * slot++ + row]);
      if (k % 2 === 1 && written[k - 1].endsWith(PATH)) text = quotePath(text);
      written.push(text);
    });
    return written.join("");
  }
}

/** A path as the value of an attribute. */
export function quotePath(path: string): string {
  try {
    return encodeURIComponent(path);
  } catch {
    return ""; // half a surrogate pair
  }
}
