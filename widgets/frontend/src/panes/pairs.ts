/** The pairs of two models, as explorer/panes/pairs.py writes them. */

import type { Block, Integers } from "../standalone/block";

/** Which of both models: the older one is 0. */
export type Side = 0 | 1;

/** what is behind the path of a call, ahead of the path inside its function */
const CALL = "()";

export class Pairs {
  /** by path of each side those of the other side */
  private readonly partners: readonly [Map<string, string[]>, Map<string, string[]>];
  /** by path of a call that of its function */
  private readonly functions: readonly [Map<string, string>, Map<string, string>];
  /** by path of a repetition of each side its place in its repeat */
  private readonly places: readonly [Map<string, number>, Map<string, number>];

  constructor(block: Block) {
    const texts = block.texts().list();
    const [left, right] = [block.integers("left"), block.integers("right")];
    this.partners = [new Map(), new Map()];
    left.forEach((path: number, row: number) => {
      append(this.partners[0], texts[path], texts[right[row]]);
      append(this.partners[1], texts[right[row]], texts[path]);
    });
    this.places = [new Map(), new Map()];
    const [lefts, rights] = [block.integers("left_places"), block.integers("right_places")];
    block.integers("repetitions").forEach((row: number, k: number) => {
      this.places[0].set(texts[left[row]], lefts[k]);
      this.places[1].set(texts[right[row]], rights[k]);
    });
    this.functions = [
      readCalls(block.integers("left_calls"), texts),
      readCalls(block.integers("right_calls"), texts),
    ];
  }

  /** What is the same on the other side; of what is in a function, in the call there. */
  find(side: Side, path: string): readonly string[] {
    const known = this.partners[side].get(path);
    if (known) return known;
    const { calls, inner } = this.leaveCalls(side, path);
    if (calls.length === 0) return [];
    const begin = this.findCalls(side, calls);
    if (begin === null) return [];
    const found = this.partners[side].get(inner) ?? [];
    return found.flatMap((other) => {
      const rest = inside(other, begin.function);
      return rest === null ? [] : [`${begin.path}${CALL}${rest}`];
    });
  }

  /** Which repetition of its repeat the pair of a repetition is; null where that is not known. */
  placeOf(side: Side, path: string): number | null {
    return this.places[side].get(path) ?? null;
  }

  /** The calls that a path goes through, each by its own path, and the path in the last function. */
  private leaveCalls(side: Side, path: string): { calls: string[]; inner: string } {
    const calls: string[] = [];
    let inner = path;
    let at = inner.indexOf(CALL);
    while (at >= 0) {
      const call = inner.slice(0, at);
      const within = this.functions[side].get(call);
      if (within === undefined) {
        at = inner.indexOf(CALL, at + 1);
        continue;
      }
      calls.push(call);
      inner = within + inner.slice(at + CALL.length);
      at = inner.indexOf(CALL, within.length);
    }
    return { calls, inner };
  }

  /** Where the other side goes through the pairs of some calls, and into which function. */
  private findCalls(side: Side, calls: readonly string[]): { path: string; function: string } | null {
    const other: Side = side === 0 ? 1 : 0;
    let path = "";
    let around: string | null = null;
    for (const call of calls) {
      const partner: string | undefined = this.partners[side].get(call)?.[0];
      const within = partner === undefined ? undefined : this.functions[other].get(partner);
      const rest = partner === undefined || around === null ? partner : inside(partner, around);
      if (rest === undefined || rest === null || within === undefined) return null;
      path = around === null ? rest : `${path}${CALL}${rest}`;
      around = within;
    }
    return around === null ? null : { path, function: around };
  }
}

/** What of a path is behind that of the graph that it is in; null where it is in another. */
function inside(path: string, graph: string): string | null {
  return path.startsWith(`${graph}/`) || path.startsWith(`${graph}%`) ? path.slice(graph.length) : null;
}

function readCalls(numbers: Integers, texts: readonly string[]): Map<string, string> {
  const calls = new Map<string, string>();
  for (let k = 0; k + 1 < numbers.length; k += 2) calls.set(texts[numbers[k]], texts[numbers[k + 1]]);
  return calls;
}

function append(map: Map<string, string[]>, key: string, entry: string): void {
  const known = map.get(key);
  if (known) known.push(entry);
  else map.set(key, [entry]);
}
