/** What is said of every element: as explorer/standalone/facts.py writes it. */

import { Block, BlockError, fromBase64, type Integers } from "./block";

type Template = ReadonlyArray<string | null>;

/** What stands before a slot that holds a path. */
const PATH = 'data-path="';

export class Facts {
  private readonly blocks = new Map<number, Promise<FactBlock>>();
  private readonly elements = new Map<number, number>();

  /**
   * @param packed the blocks, in base64
   * @param counts how many elements each has
   * @param elements the numbers of all elements, block by block
   */
  constructor(
    private readonly packed: readonly string[],
    private readonly counts: readonly number[],
    elements: Integers,
  ) {
    elements.forEach((element, place) => this.elements.set(element, place));
  }

  /** The description of an element as HTML; null where there is none. */
  async describe(element: number): Promise<string | null> {
    let place = this.elements.get(element);
    if (place === undefined) return null;
    let number = 0;
    while (place >= this.counts[number]) place -= this.counts[number++];
    return (await this.block(number)).write(place);
  }

  private block(number: number): Promise<FactBlock> {
    let block = this.blocks.get(number);
    if (!block) {
      block = Block.read("descriptions", fromBase64(this.packed[number])).then(
        (read) => new FactBlock(read),
      );
      this.blocks.set(number, block);
    }
    return block;
  }
}

class FactBlock {
  private readonly texts: string[];
  private readonly kinds: Template[];
  private readonly used: Integers;
  private readonly slots: Integers;
  /** of each template where its slots begin, and how many texts it has */
  private readonly starts: number[] = [];
  private readonly sizes: number[];

  constructor(block: Block) {
    this.texts = block.texts("texts");
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

  write(place: number): string {
    const kind = this.used[place];
    let row = 0;
    for (let k = 0; k < place; k++) if (this.used[k] === kind) row++;
    let slot = 0;
    const written: string[] = [];
    this.kinds[kind].forEach((part, k) => {
      let text = part ?? this.texts[this.slots[this.starts[kind] + this.sizes[kind] * slot++ + row]];
      if (k % 2 === 1 && written[k - 1].endsWith(PATH)) text = quotePath(text);
      written.push(text);
    });
    return written.join("");
  }
}

/** A path as the value of an attribute. */
function quotePath(path: string): string {
  try {
    return encodeURIComponent(path);
  } catch {
    return ""; // half a surrogate pair
  }
}
