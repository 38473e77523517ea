/** The explorer in one file: what explorer/standalone/page.py puts into it, shown. */

import { Address } from "./address/address";
import { Hash } from "./address/hash";
import { explainRefusal } from "./address/link";
import { showExplorer } from "./explorer_page";
import type { CanvasTraits } from "./host/traits";
import { download } from "./controls/taking";
import { FrameAddress, offerPane } from "./panes/pane";
import type { Direction } from "./scene/options";
import { followPage } from "./standalone/around";
import { Block } from "./standalone/block";
import { Book } from "./standalone/book";
import type { CommandStart } from "./standalone/command";
import { FileReview } from "./standalone/file_review";
import type { KeyedState } from "./standalone/drawing";
import { Facts } from "./standalone/facts";
import { Inspector } from "./standalone/inspector";
import { LegendWords } from "./standalone/legend";
import { Links } from "./standalone/links";
import { Overlays } from "./standalone/overlays";
import type { Around } from "./standalone/places";
import { SearchIndex } from "./standalone/search";
import { StaticHost } from "./standalone/static_host";
import { findBlock, isCutShort } from "./standalone/stored";
import { Weights } from "./standalone/weights";

/** What stands in the page beside its blocks. */
export interface StaticPage {
  /** tells pages apart: of another model it is another */
  readonly mark: string;
  readonly first: KeyedState;
  readonly command: CommandStart;
  /** what is to be said of the page */
  readonly notices: readonly string[];
  readonly traits: Partial<CanvasTraits>;
  /** whether it says which nodes are one edge apart */
  readonly has_links: boolean;
  /** whether it lists what there is to review */
  readonly has_review: boolean;
  /** how many elements each block of descriptions has */
  readonly described: readonly number[];
  /** how many weights each block of statistics has */
  readonly weights: readonly number[];
  /** whether it is one of two that are side by side */
  readonly in_pane?: boolean;
}

/** The levels for each direction, once they have been asked for. */
const books = new Map<Direction, Promise<Book>>();

function readBook(direction: Direction): Promise<Book> {
  let book = books.get(direction);
  if (!book) {
    book = readLevels(direction);
    books.set(direction, book);
  }
  return book;
}

async function readLevels(direction: Direction): Promise<Book> {
  const before = direction === FIRST ? null : (await readBook(FIRST)).texts;
  const block = await Block.read("levels", findBlock(`levels-${direction}`));
  return new Book(block, direction, before);
}

/** the direction whose block has the texts of both */
const FIRST: Direction = "TB";

async function readLinks(): Promise<Links> {
  return new Links(await Block.read("links", findBlock("links")));
}

async function readLegend(): Promise<LegendWords> {
  return new LegendWords(await Block.read("legend", findBlock("legend")));
}

async function readOverlays(): Promise<Overlays> {
  const { texts } = await readBook(FIRST);
  return new Overlays(await Block.read("overlays", findBlock("overlays")), texts);
}

async function readSearch(): Promise<SearchIndex> {
  const { texts } = await readBook(FIRST);
  return new SearchIndex(await Block.read("search", findBlock("search")), texts);
}

async function readReview(): Promise<Block> {
  return Block.read("review", findBlock("review"));
}

/** What the browser keeps for this page; null where it keeps nothing. */
function findStorage(): Storage | null {
  try {
    return localStorage;
  } catch {
    return null; // a frame without an origin
  }
}

/** Finds descriptions by path. */
class Describer {
  private facts: Promise<{ facts: Facts; linked: readonly string[] }> | null = null;
  private numbers: Promise<Map<string, number>> | null = null;

  constructor(private readonly data: StaticPage) {}

  async describe(path: string): Promise<string | null> {
    this.facts ??= this.read();
    const { facts, linked } = await this.facts;
    // the model is told first, before anyone needs the numbers of all paths
    if (path === "") return facts.describe(MODEL);
    this.numbers ??= this.numberPaths(linked);
    const number = (await this.numbers).get(path);
    return number === undefined ? null : facts.describe(number);
  }

  private async read(): Promise<{ facts: Facts; linked: readonly string[] }> {
    const index = await Block.read("descriptions", findBlock("elements"));
    const find = (number: number): Promise<string> => findBlock(`facts-${number}`);
    const facts = new Facts(find, this.data.described, index.integers("elements"));
    return { facts, linked: index.list("linked") };
  }

  private async numberPaths(linked: readonly string[]): Promise<Map<string, number>> {
    const { texts } = await readBook(FIRST);
    const numbers = new Map(texts.list().map((text, number) => [text, number]));
    linked.forEach((path, place) => numbers.set(path, LINKED - place));
    return numbers;
  }
}

/** the number of the description of the whole model */
const MODEL = -1;
/** the number of the first element that has no box of its own; those of others go down from it */
const LINKED = -2;

/** Show what a file holds. */
export function showFile(data: StaticPage): void {
  const frame = data.in_pane ? window.frameElement : null;
  // the page around a pane has the title of both
  if (frame) document.title = data.traits.title ?? "";
  // the window of a pane is moved from outside, too
  const address = new Address(data.mark, frame ? new FrameAddress(frame) : new Hash(), frame !== null);
  const { first: link } = address;
  const selected = link?.selected ?? data.traits.selected_paths ?? [];
  const traits: Partial<CanvasTraits> = {
    ...data.traits,
    ...(link && { direction: link.direction }),
    ...{ selection: selected[0] ?? "", selected_paths: selected },
  };
  const { first, command, notices } = data;
  const [opened, focus] = [link && link.opened, link && link.focus];
  const host = new StaticHost({
    ...{ readBook, readSearch, readLegend, readOverlays, first, command, notices, opened },
    ...{ focus, traits },
    readLinks: data.has_links ? readLinks : null,
  });
  // what is said beside the picture is read and shown once that is seen
  let show: () => void = () => undefined;
  const seen = new Promise<void>((resolve) => (show = resolve));
  setTimeout(show, TIME_TO_BE_PAINTED); // nobody may be looking
  const describer = new Describer(data);
  const weights = new Weights(data.weights, (block) => findBlock(`weights-${block}`));
  const inspector = new Inspector(host.traits, {
    describe: (path) => seen.then(() => describer.describe(path)),
    readWeight: (number) => weights.read(number),
    goTo: (path) => void host.goTo(path),
  });
  followPage(host);
  if (data.has_review) {
    const goTo = (path: string): void => void host.goTo(path);
    const kept = findStorage();
    const findAround = (path: string): Promise<Around> => host.findAround(path);
    const read = (): Promise<Block> => seen.then(readReview);
    const actions = { read, goTo, findAround, download, kept };
    address.keepTab(inspector.showReview(new FileReview(host.traits, actions)));
  }
  const view = showExplorer(host, inspector, () => {
    setTimeout(show); // not in the frame that shows it
    if (link?.place) view.standAt(link.place);
    if (address.error) host.warn(explainRefusal(address.error));
    address.follow(host, view);
    if (data.in_pane) offerPane(host, view);
    void isCutShort().then((is) => is && host.warn(CUT_SHORT));
  });
}

/** After so many milliseconds what waits for the first picture begins without it. */
const TIME_TO_BE_PAINTED = 1_000;
const CUT_SHORT = "This file was cut short: a part of what it tells is missing.";
