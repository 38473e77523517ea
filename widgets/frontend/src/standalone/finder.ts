/** What can be found in a page, read when something is searched first. */

import type { HitsMessage } from "../host/messages";
import type { Opened } from "./compose";
import type { Drawing } from "./drawing";
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
