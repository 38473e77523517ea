/** What can be found in a page, read when something is searched first. */

import type { HitsMessage } from "../host/messages";
import type { Opened } from "./compose";
import type { Drawing } from "./drawing";
import type { PlacesByPath } from "../scene/scene";
import type { Around, Places } from "./places";
import type { SearchIndex } from "./search";

/** the list of hits is this long */
const MOST_HITS = 100;
/** of what is selected together the places of so many are found */
const MOST_PLACED = 200;

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
    const index = await this.readIndex();
    const takers = index.takersOf(path);
    const place = index.placeOf(path);
    if (takers.length === 0 && place === null) return places.findAround(path);
    const own = takers.length > 0 ? takers : [place ?? path];
    const found = own.map((place) => places.findAround(place));
    const marked = new Set(found.flatMap((around) => [...around.marked]));
    const holders = new Set(found.flatMap((around) => [...around.holders]));
    const repetitions = found.flatMap((around) => around.repetitions);
    if (takers.length > 0 || path.includes("%")) {
      if (path.includes("%")) marked.add(path);
      return { marked, holders, repetitions };
    }
    // a node that is nowhere drawn is counted on the one that has what it gives as a row
    for (const holder of marked) if (holder !== path) holders.add(holder);
    return { marked: new Set([path]), holders, repetitions };
  }

  /** By path the keys of the boxes drawn now that show or hide something. */
  async listPlaces(
    { places }: Drawing,
    root: Opened,
    paths: readonly string[],
  ): Promise<PlacesByPath> {
    const found: Record<string, string[]> = {};
    for (const path of paths.slice(0, MOST_PLACED)) {
      const keys = new Set<string>();
      for (const place of await this.listPlacesOf(places, path)) {
        for (const chain of places.listShown(root, place)) keys.add(places.keyAt(root, chain));
      }
      if (keys.size > 0) found[path] = [...keys];
    }
    return found;
  }

  private async listPlacesOf(places: Places, path: string): Promise<readonly string[]> {
    if (path === "" || places.has(path)) return [path];
    const index = await this.readIndex().catch(() => null); // of which a search tells
    const takers = index?.takersOf(path) ?? [];
    return takers.length > 0 ? takers : [index?.placeOf(path) ?? path];
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
