/** Which nodes are one edge apart: see explorer/standalone/link_block.py. */

import { type Block, BlockError, type Integers } from "./block";

export class Links {
  private readonly paths: Integers;
  private readonly around: Integers;
  private readonly neighbours: Integers;
  private readonly starts: Int32Array;
  private readonly constants: ReadonlySet<number>;
  /** by the path of a value the nodes that give and use it */
  private readonly values = new Map<number, number[]>();

  constructor(block: Block) {
    this.paths = block.integers("paths");
    this.around = block.integers("around");
    this.neighbours = block.integers("neighbours");
    this.constants = new Set(block.integers("constants"));
    const counts = block.integers("counts");
    this.starts = new Int32Array(counts.length + 1);
    counts.forEach((count, node) => (this.starts[node + 1] = this.starts[node] + count));
    const [values, users] = [block.integers("values"), block.integers("users")];
    let at = 0;
    for (let k = 0; k < values.length; k += 3) {
      const nodes = values[k + 1] < 0 ? [] : [values[k + 1]];
      nodes.push(...users.subarray(at, (at += values[k + 2])));
      this.values.set(values[k], nodes);
    }
    if (this.starts[counts.length] !== this.neighbours.length || at !== users.length) {
      throw new BlockError("The links of this file are damaged.");
    }
  }

  /**
   * The nodes that an element consists of, or that give and use it.
   *
   * @param path the number of its path
   * @param groups the numbers of the paths of the group there and of all inside it; none for no group
   */
  findSeeds(path: number, groups: ReadonlySet<number>): number[] {
    const node = this.paths.indexOf(path);
    if (node >= 0) return this.constants.has(node) ? [node, ...this.list(node)] : [node];
    if (this.values.has(path)) return this.values.get(path)!;
    const found: number[] = [];
    this.around.forEach((group, each) => {
      if (groups.has(group)) found.push(each);
    });
    return found;
  }

  /** Numbers of the paths of the nodes at most so many edges away from some nodes. */
  findNeighbourhood(seeds: Iterable<number>, hops: number): Set<number> {
    const found = new Set(seeds);
    let border = [...found];
    for (let hop = 0; hop < hops && border.length > 0; hop++) {
      const following: number[] = [];
      for (const node of border) {
        for (const neighbour of this.list(node)) {
          if (found.has(neighbour)) continue;
          found.add(neighbour);
          following.push(neighbour);
        }
      }
      border = following;
    }
    const paths = new Set<number>();
    for (const node of found) if (this.paths[node] >= 0) paths.add(this.paths[node]);
    return paths;
  }

  private list(node: number): number[] {
    const part = this.neighbours.subarray(this.starts[node], this.starts[node + 1]);
    return Array.from(part, (difference) => node + difference);
  }
}
