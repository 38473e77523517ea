/** What can be found in a page, read when something is searched first. */

import type { HitsMessage } from "../host/messages";
import type { Opened } from "./compose";
import type { Drawing } from "./drawing";
import type { Around } from "./places";
import type { SearchIndex } from "./search";

/** the list of hits is this long */
const MOST_HITS = 100;

export class Finder {
  private index: Promise<SearchIndex> | null = null;

  constructor(private readonly read: () => Promise<SearchIndex>) {}

  /** What a text finds, and which of it is drawn. */
  async search(
    { places }: Drawing,
    root: Opened,
    text: string,
    regex: boolean,
  ): Promise<HitsMessage> {
    const { found, total } = (await this.readIndex()).search(text, regex, MOST_HITS);
    const hits = found.map(({ place, ...hit }) => {
      const chain = places.findShown(root, place);
      return { ...hit, shown: chain && places.pathAt(root, chain) };
    });
    return { type: "hits", hits, total };
  }

  /** Where something is shown that has no box of its own; null where that is unknown. */
  async findPlace(path: string): Promise<string | null> {
    return (await this.readIndex()).placeOf(path);
  }

  /** The nodes by which the picture shows what is at a path, and what is around these. */
  async findAround({ places }: Drawing, path: string): Promise<Around> {
    if (places.has(path)) return places.findAround(path);
    const place = await this.findPlace(path);
    const around = places.findAround(place ?? path);
    if (place === null) return around;
    // a node that is nowhere drawn is in what is around the one that stands for it
    return { ...around, marked: new Set([path, ...(path.includes("%") ? around.marked : [])]) };
  }

  /** What is asked for in the place of something that was found and has no box of its own. */
  async place<Placed extends { path: string }>(request: Placed): Promise<Placed> {
    const place = this.index && (await this.index).placeOf(request.path);
    return place === null ? request : { ...request, path: place };
  }

  private readIndex(): Promise<SearchIndex> {
    this.index ??= this.read();
    return this.index;
  }
}
