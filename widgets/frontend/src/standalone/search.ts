/**
 * What can be found in a page, as explorer/standalone/search_block.py writes it; found as
 * explorer/search/search.py does.
 */

import { type Block, BlockError, type Integers, type Texts } from "./block";
import { makeQuery, type Query, type Round, Text } from "./query";

/** by their numbers in the block */
const KINDS = ["graph", "group", "node", "value", "initializer"] as const;
const GROUP = KINDS.indexOf("group");
const VALUE = KINDS.indexOf("value");

/** What is alike of many entries. */
interface Likeness {
  readonly kind: number;
  /** whether the title is one of the entry's own texts */
  readonly isTitled: boolean;
  readonly detail: string;
  readonly own: readonly Text[];
  /** further own texts, which are told where something is found by them */
  readonly further: readonly Text[];
  readonly beside: readonly Text[];
}

interface Group {
  /** number of the group around, from 1 on; 0 without one */
  readonly around: number;
  readonly texts: readonly Text[];
}

/** Something that matches. */
export interface Found {
  readonly path: string;
  readonly title: string;
  readonly detail: string;
  readonly kind: string;
  /** path of what shows or holds it in the picture */
  readonly place: string;
}

/** What the texts of likenesses and groups have of the words of one round. */
interface Common {
  readonly round: Round;
  readonly own: Int32Array;
  readonly further: Int32Array;
  readonly beside: Int32Array;
  readonly groups: Int32Array;
}

export class SearchIndex {
  private readonly likenesses: Likeness[];
  private readonly groups: Group[];
  private readonly places: Integers;
  private readonly around: Integers;
  private readonly kinds: Integers;
  private readonly graphs: readonly (readonly [path: string, end: number])[];
  private readonly elsewhere = new Map<number, string>();
  private readonly titles: readonly Text[];
  private readonly takers = new Map<string, string[]>();
  private placesByPath: Map<string, string> | null = null;

  /**
   * @param names the texts of the levels that run downwards
   * @throws BlockError where the block is damaged
   */
  constructor(
    block: Block,
    private readonly names: Texts,
  ) {
    const texts = block.texts();
    const known = new Map<number, Text>();
    const textAt = (number: number): Text => {
      let text = known.get(number);
      if (text) return text;
      text = new Text(number < 0 ? names.at(-1 - number) : texts.at(number));
      known.set(number, text);
      return text;
    };
    this.likenesses = readLikenesses(block, textAt);
    this.groups = readGroups(block, textAt);
    this.places = block.integers("places");
    this.around = block.integers("around");
    this.kinds = block.integers("likenesses");
    const count = this.kinds.length;
    const graphs = block.integers("graphs");
    let end = 0;
    this.graphs = Array.from({ length: graphs.length / 2 }, (_, k) => {
      end += graphs[2 * k + 1];
      return [textAt(graphs[2 * k]).text, end] as const;
    });
    if (end !== count || this.places.length !== count || this.around.length !== count) {
      throw damaged();
    }
    for (let entry = 0; entry < count; entry++) {
      const isGroup = this.around[entry] >= 0 && this.around[entry] <= this.groups.length;
      if (!names.has(this.places[entry]) || !isGroup) throw damaged();
      if (!this.likenesses[this.kinds[entry]]) throw damaged();
    }
    for (const [entry, path] of pairs(block.integers("elsewhere"))) {
      this.elsewhere.set(entry, textAt(path).text);
    }
    for (const [entry, place] of pairs(block.integers("takers"))) {
      const path = this.pathOf(entry);
      const known = this.takers.get(path);
      if (known) known.push(names.at(place));
      else this.takers.set(path, [names.at(place)]);
    }
    this.titles = this.makeTitles(
      new Map([...pairs(block.integers("titles"))].map(([entry, title]) => [entry, textAt(title)])),
    );
  }

  /**
   * What matches, in the order in which a kernel lists it, and how much there is.
   *
   * @param most no more of it is listed
   * @throws Error for an invalid regular expression
   */
  search(text: string, regex: boolean, most: number): { found: Found[]; total: number } {
    if (!text.trim()) return { found: [], total: 0 };
    const query = makeQuery(text, regex);
    const common = query.rounds.map((round) => this.findCommon(round));
    const found: Found[] = [];
    let total = 0;
    for (let entry = 0; entry < this.kinds.length; entry++) {
      const isPlain = this.matches(entry, common, false);
      if (!isPlain && !this.matches(entry, common, true)) continue;
      if (total++ < most) found.push(this.tell(entry, query, isPlain));
    }
    return { found, total };
  }

  /** The path at which something is shown that has no box of its own; null where it is unknown. */
  placeOf(path: string): string | null {
    this.placesByPath ??= new Map(
      [...this.elsewhere].map(([entry, other]) => [other, this.names.at(this.places[entry])]),
    );
    return this.placesByPath.get(path) ?? null;
  }

  /** The places of the nodes that have something as a row, where no face shows the row. */
  takersOf(path: string): readonly string[] {
    return this.takers.get(path) ?? [];
  }

  /** Whether all words are in an entry or around it, and one at least in itself. */
  private matches(entry: number, rounds: readonly Common[], withFurther: boolean): boolean {
    const likeness = this.kinds[entry];
    const { isTitled, kind, further } = this.likenesses[likeness];
    if (withFurther && further.length === 0) return false;
    let isOwn = false;
    for (const common of rounds) {
      const { round } = common;
      let own = common.own[likeness];
      if (isTitled) own |= round.find(this.titles[entry]);
      if (withFurther) own |= common.further[likeness];
      isOwn ||= own !== 0 || (kind === GROUP && this.findEnd(entry, round));
      const around = common.beside[likeness] | common.groups[this.around[entry]];
      if ((own | around) !== round.all) return false;
    }
    return isOwn;
  }

  private findEnd(entry: number, round: Round): boolean {
    const path = this.pathOf(entry);
    return round.findEnd(path, path.replace(/\/+$/, "").lastIndexOf("/") + 1);
  }

  private tell(entry: number, query: Query, isPlain: boolean): Found {
    const { kind, detail, further } = this.likenesses[this.kinds[entry]];
    const told = isPlain
      ? undefined
      : further.find((text) => query.rounds.some((round) => round.find(text) !== 0));
    return {
      path: this.pathOf(entry),
      title: this.titles[entry].text,
      detail: told?.text ?? detail,
      kind: KINDS[kind],
      place: this.names.at(this.places[entry]),
    };
  }

  private pathOf(entry: number): string {
    return this.elsewhere.get(entry) ?? this.names.at(this.places[entry]);
  }

  private findCommon(round: Round): Common {
    const { likenesses } = this;
    const own = Int32Array.from(likenesses, (each) => findAny(round, each.own));
    const further = Int32Array.from(likenesses, (each) => findAny(round, each.further));
    const beside = Int32Array.from(likenesses, (each) => findAny(round, each.beside));
    const groups = new Int32Array(this.groups.length + 1);
    this.groups.forEach(({ around, texts }, k) => {
      groups[k + 1] = groups[around] | findAny(round, texts);
    });
    return { round, own, further, beside, groups };
  }

  private makeTitles(told: ReadonlyMap<number, Text>): Text[] {
    const titles: Text[] = [];
    for (const [graph, end] of this.graphs) {
      while (titles.length < end) {
        const entry = titles.length;
        const { kind } = this.likenesses[this.kinds[entry]];
        titles.push(told.get(entry) ?? new Text(endOfPath(graph, kind, this.pathOf(entry))));
      }
    }
    return titles;
  }
}

function findAny(round: Round, texts: readonly Text[]): number {
  let found = 0;
  for (const text of texts) found |= round.find(text);
  return found;
}

/** What the end of a path says of the name of what is there. */
function endOfPath(graph: string, kind: number, path: string): string {
  const end = path.slice(graph.length + (kind >= VALUE ? 2 : 1));
  return kind === GROUP ? end.replace(/\/+$/, "") : end;
}

function readLikenesses(block: Block, textAt: (number: number) => Text): Likeness[] {
  const [kinds, numbers] = [block.integers("kinds"), block.integers("kind_texts")];
  let at = 0;
  const take = (count: number): Text[] => {
    at += count;
    return Array.from(numbers.subarray(at - count, at), textAt);
  };
  return Array.from({ length: kinds.length / 6 }, (_, k) => {
    const [kind, titled, detail, own, further, beside] = kinds.subarray(6 * k, 6 * k + 6);
    if (!KINDS[kind]) throw damaged();
    return {
      ...{ kind, isTitled: titled !== 0, detail: textAt(detail).text },
      own: take(own),
      further: take(further),
      beside: take(beside),
    };
  });
}

function readGroups(block: Block, textAt: (number: number) => Text): Group[] {
  const [groups, numbers] = [block.integers("groups"), block.integers("group_texts")];
  let at = 0;
  return Array.from({ length: groups.length / 3 }, (_, k) => {
    const [around, path, count] = groups.subarray(3 * k, 3 * k + 3);
    if (!(around >= 0 && around <= k)) throw damaged();
    at += count;
    return { around, texts: [path, ...numbers.subarray(at - count, at)].map(textAt) };
  });
}

function* pairs(numbers: Integers): Iterable<[number, number]> {
  for (let k = 0; k + 1 < numbers.length; k += 2) yield [numbers[k], numbers[k + 1]];
}

function damaged(): BlockError {
  return new BlockError("What can be found in this file cannot be read: the file is damaged.");
}
