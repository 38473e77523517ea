/** What is said of every element: as explorer/standalone/facts.py writes it. */

import { Block, type Integers } from "./block";
import { Templates } from "./templates";

export class Facts {
  private readonly blocks = new Map<number, Promise<Templates>>();

  /**
   * @param find gives a block, in base64
   * @param counts how many elements each has
   * @param elements the numbers of all elements, block by block
   */
  constructor(
    private readonly find: (number: number) => Promise<string>,
    private readonly counts: readonly number[],
    private readonly elements: Integers,
  ) {}

  /** The description of an element as HTML; null where there is none. */
  async describe(element: number): Promise<string | null> {
    let place = this.elements.indexOf(element);
    if (place < 0) return null;
    let number = 0;
    while (place >= this.counts[number]) place -= this.counts[number++];
    return (await this.block(number)).write(place);
  }

  private block(number: number): Promise<Templates> {
    let block = this.blocks.get(number);
    if (!block) {
      block = Block.read("descriptions", this.find(number)).then((read) => new Templates(read));
      this.blocks.set(number, block);
    }
    return block;
  }
}
