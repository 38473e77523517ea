/** What is said of every element: as explorer/standalone/facts.py writes it. */

import { Block, fromBase64, type Integers } from "./block";
import { Templates } from "./templates";

export class Facts {
  private readonly blocks = new Map<number, Promise<Templates>>();
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

  private block(number: number): Promise<Templates> {
    let block = this.blocks.get(number);
    if (!block) {
      block = Block.read("descriptions", fromBase64(this.packed[number])).then(
        (read) => new Templates(read),
      );
      this.blocks.set(number, block);
    }
    return block;
  }
}
