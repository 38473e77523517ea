/**
 * Keeps two panes at the same place: what is selected, open and in the window of the one that is
 * used is shown in the other one too, by the pairs of both models.
 */

import type { OpenBox, Pane, PaneChange } from "./pane";
import type { OpenState } from "../standalone/change";
import { type PlacedPair, align } from "./align";
import type { Pairs, Side } from "./pairs";

export interface SynchronisedActions {
  /** paths of one side were selected there: of which no pair is on the other side */
  selected(side: Side, paths: readonly string[], alone: readonly string[]): void;
}

/** How often the window is looked for while what is shown changes, in milliseconds. */
const SOON = 60;

export class Synchronised {
  /** the side that the user is at; the other one follows */
  private leader: Side = 1;
  private readonly open: [ReadonlyMap<string, OpenBox>, ReadonlyMap<string, OpenBox>];
  /** what both show; null where it is to be found anew */
  private shown: readonly PlacedPair[] | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** what is done on the follower, one thing behind the other */
  private work: Promise<void> = Promise.resolve();
  /** how often something else was to be selected there: what was wanted before is left out */
  private wanted = 0;

  /**
   * @param isOn whether the other side follows
   * @param isFirst whether both show what they open, and not what somebody looked at before
   */
  constructor(
    private readonly panes: readonly [Pane, Pane],
    private readonly pairs: Pairs,
    private readonly actions: SynchronisedActions,
    private isOn: boolean,
    isFirst: boolean,
  ) {
    this.open = [panes[0].listOpen(), panes[1].listOpen()];
    for (const side of [0, 1] as const) panes[side].watch((change) => this.follow(side, change));
    if (isFirst) this.matchZoom();
  }

  get isSynchronised(): boolean {
    return this.isOn;
  }

  /** Let the other side follow, or go its own way. */
  synchronise(isOn: boolean): void {
    this.isOn = isOn;
    if (isOn) this.takeOver();
  }

  /** The user is at a side from now on. */
  lead(side: Side): void {
    if (this.leader === side) return;
    this.leader = side;
    this.shown = null;
  }

  /** Show an element of one side, and its pair on the other, whether synchronised or not. */
  async show(side: Side, path: string): Promise<void> {
    this.lead(side);
    const [own, other] = this.sides();
    const wanted = ++this.wanted;
    await own.show([path]);
    if (wanted !== this.wanted) return;
    this.passTo(other, this.findPairs([path]));
    this.tell([path]);
  }

  /** Select nothing on either side. */
  clear(): void {
    const [own, other] = this.sides();
    this.wanted += 1;
    own.select([]);
    this.passTo(other, []);
  }

  private sides(): readonly [Pane, Pane] {
    const { panes, leader } = this;
    return leader === 0 ? panes : [panes[1], panes[0]];
  }

  private follow(side: Side, change: PaneChange): void {
    if (change === "scene") {
      this.shown = null;
      const before = this.open[side];
      this.open[side] = this.panes[side].listOpen();
      if (side === this.leader && this.isOn) this.passOpen(before);
    }
    if (change === "looks" && side === this.leader) this.passLooks();
    if (change === "selection" && side === this.leader) this.passSelection();
    if (!this.isOn) return;
    if (change === "place" ? side === this.leader : change !== "looks") this.passPlace();
  }

  /** Do the same on the other side, behind what is being done there. */
  private do(task: () => Promise<void>): void {
    this.work = this.work.then(task).then(
      () => this.passSoon(),
      () => undefined, // the pane says itself what it cannot show
    );
  }

  private findPairs(paths: readonly string[]): string[] {
    return [...new Set(paths.flatMap((path) => this.pairs.find(this.leader, path)))];
  }

  // ------------------------------------------------------------------ what is passed on

  private passLooks(): void {
    const [own, other] = this.sides();
    const { theme, direction } = own.looks;
    const had = other.looks;
    if (had.theme !== theme || had.direction !== direction) other.look({ theme, direction });
  }

  private passSelection(): void {
    const [own, other] = this.sides();
    const { selected } = own;
    this.tell(selected);
    if (!this.isOn) return;
    const found = this.findPairs(selected);
    if (!isSame(found, other.selected)) this.passTo(other, found);
  }

  /** Let a side have some elements selected, unless others are wanted until its turn comes. */
  private passTo(side: Pane, paths: readonly string[]): void {
    const wanted = ++this.wanted;
    this.do(async () => {
      if (wanted !== this.wanted) return;
      if (paths.length === 0) side.select([]);
      else await side.show(paths);
    });
  }

  private tell(paths: readonly string[]): void {
    const alone = paths.filter((path) => this.pairs.find(this.leader, path).length === 0);
    this.actions.selected(this.leader, paths, alone);
  }

  /** Open on the other side what was opened here, and close what was closed. */
  private passOpen(before: ReadonlyMap<string, OpenBox>): void {
    const [own, other] = this.sides();
    if (own.isFocused || other.isFocused) return;
    const now = this.open[this.leader];
    const there = this.open[this.leader === 0 ? 1 : 0];
    const changes: OpenState[] = [];
    for (const path of before.keys()) {
      if (!now.has(path)) changes.push(...this.list(path, there, "closed"));
    }
    for (const [path, box] of now) {
      if (before.get(path)?.shown === box.shown) continue;
      changes.push(...this.list(path, there, "usual", box));
    }
    if (changes.length > 0) this.do(() => other.open(changes));
  }

  /** What is to be done with the pairs of a box, where they are not so already. */
  private *list(
    path: string,
    there: ReadonlyMap<string, OpenBox>,
    wanted: "closed" | "usual",
    box?: OpenBox,
  ): Iterable<OpenState> {
    for (const partner of this.pairs.find(this.leader, path)) {
      const known = there.get(partner);
      if (wanted === "closed") {
        if (known) yield { path: partner, state: "closed" };
      } else if (box?.repetition) {
        const state = this.findRepetition(box);
        if (known?.repetition?.index !== state) yield { path: partner, state };
      } else if (!known) {
        yield { path: partner, state: "usual" };
      }
    }
  }

  /** Which repetition the other side is to show: that of the pair, else the one at that place. */
  private findRepetition({ repetition, shown }: OpenBox): number {
    if (!repetition || repetition.index < 0) return -1;
    const { leader, pairs } = this;
    const place = pairs.find(leader, shown).length > 0 ? this.otherPlace(shown) : null;
    return place ?? repetition.index;
  }

  private otherPlace(shown: string): number | null {
    const other: Side = this.leader === 0 ? 1 : 0;
    const [partner] = this.pairs.find(this.leader, shown);
    return this.pairs.placeOf(other, partner);
  }

  private passSoon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (this.isOn) this.passPlace();
    }, SOON);
  }

  /** Let the window of the other side stand where it shows the same. */
  private passPlace(): void {
    const [own, other] = this.sides();
    const { place, size } = own;
    if (!place || !other.place) return;
    const wanted = align(place, size, this.listShown(), this.placeSelection());
    const { x, y, zoom } = other.place;
    const isThere = Math.abs(wanted.x - x) + Math.abs(wanted.y - y) < 0.01 && wanted.zoom === zoom;
    if (!isThere) other.standAt(wanted);
  }

  private listShown(): readonly PlacedPair[] {
    if (this.shown) return this.shown;
    const [own, other] = this.sides();
    const there = other.listBoxes();
    const shown: PlacedPair[] = [];
    for (const [path, from] of own.listBoxes()) {
      for (const partner of this.pairs.find(this.leader, path)) {
        const to = there.get(partner);
        if (to) shown.push({ from, to });
      }
    }
    this.shown = shown;
    return shown;
  }

  private placeSelection(): PlacedPair | null {
    const [own, other] = this.sides();
    const [path] = own.selected;
    const [partner] = other.selected;
    if (path === undefined || partner === undefined) return null;
    if (!this.pairs.find(this.leader, path).includes(partner)) return null;
    const [from, to] = [own.findPoint(path), other.findPoint(partner)];
    return from && to && { from, to };
  }

  /** Let all that the leader shows be shown on the other side. */
  private takeOver(): void {
    this.passOpen(new Map());
    this.passSelection();
    this.passSoon();
  }

  /** Show both pictures equally large at first: as large as both are seen whole. */
  private matchZoom(): void {
    const [one, other] = this.panes.map((pane) => pane.place);
    if (!one || !other || one.zoom === other.zoom) return;
    const zoom = Math.min(one.zoom, other.zoom);
    this.panes[0].standAt({ ...one, zoom });
    this.panes[1].standAt({ ...other, zoom });
  }
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((path, k) => path === other[k]);
}
