/** What is said of weights' elements: as explorer/standalone/weight_statistics.py writes it. */

import { Block, BlockError, type Integers } from "./block";
import type { HistogramFacts } from "./histogram";
import { Templates } from "./templates";

/** Statistics as HTML, and what is drawn above them. */
export interface Weight {
  readonly words: string;
  readonly histogram: { readonly facts: HistogramFacts; readonly counts: Integers } | null;
}

export class Weights {
  private readonly blocks = new Map<number, Promise<WeightBlock>>();

  /**
   * @param sizes how many weights each block has
   * @param find gives a block in base64
   */
  constructor(
    private readonly sizes: readonly number[],
    private readonly find: (block: number) => Promise<string>,
  ) {}

  /**
   * What is said of a weight.
   *
   * @throws BlockError where the file is damaged
   */
  async read(weight: number): Promise<Weight> {
    let number = 0;
    let place = weight;
    while (number < this.sizes.length && place >= this.sizes[number]) place -= this.sizes[number++];
    if (!(number < this.sizes.length && place >= 0)) throw damaged();
    return (await this.block(number)).read(place);
  }

  private block(number: number): Promise<WeightBlock> {
    let block = this.blocks.get(number);
    if (!block) {
      block = this.unpack(number);
      this.blocks.set(number, block);
    }
    return block;
  }

  private async unpack(number: number): Promise<WeightBlock> {
    return new WeightBlock(await Block.read("statistics", this.find(number)));
  }
}

/** A block of explorer/standalone/weight_statistics.py. */
export class WeightBlock {
  private readonly records: Integers;
  private readonly words: Templates;
  private readonly histograms: ReadonlyArray<HistogramFacts | null>;
  private readonly counts: Integers;
  /** of each record where its counts begin */
  private readonly starts: number[] = [];

  constructor(block: Block) {
    this.records = block.integers("records");
    this.words = new Templates(block);
    this.histograms = block.value("histograms") as Array<HistogramFacts | null>;
    this.counts = block.integers("counts");
    let start = 0;
    for (const facts of this.histograms) {
      this.starts.push(start);
      start += facts?.bins ?? 0;
    }
    if (start !== this.counts.length) throw damaged();
  }

  read(place: number): Weight {
    const record = this.records[place];
    if (!(record in this.starts)) throw damaged();
    const facts = this.histograms[record];
    const start = this.starts[record];
    return {
      words: this.words.write(record),
      histogram: facts && { facts, counts: this.counts.slice(start, start + facts.bins) },
    };
  }
}

function damaged(): BlockError {
  return new BlockError("The statistics of this file are damaged.");
}
