/** Two explorers side by side: what explorer/panes/document.py writes, brought to life. */

import { Block } from "./standalone/block";
import type { Pane } from "./panes/pane";
import { PanesAddress } from "./panes/address";
import { ChangeList } from "./panes/change_list";
import { makeFrame } from "./panes/frame";
import { Pairs, type Side } from "./panes/pairs";
import { Synchronised, type SynchronisedActions } from "./panes/synchronised";
import { type ReviewItem, isDifference } from "./review/items";

/** What stands in the page. */
interface PanesData {
  readonly theme: string;
  readonly names: readonly [string, string];
  readonly review: unknown;
  /** the block of pairs in base64 */
  readonly pairs: string;
  /** what stands ahead of the data of either frame */
  readonly head: string;
  /** of each frame what its script is told, and the elements of its blocks */
  readonly panes: ReadonlyArray<readonly [string, string]>;
}

const SIDES: readonly Side[] = [0, 1];
const KEYS = "J: next · K: previous · L: list · S: synchronised";
/** so many letters of a path are said */
const LONGEST = 80;

function readData(): PanesData {
  const text = document.getElementById("nlp-data")?.textContent ?? "";
  return JSON.parse(text) as PanesData;
}

function find<Kind extends HTMLElement = HTMLElement>(selector: string): Kind {
  const found = document.querySelector<Kind>(selector);
  if (!found) throw new Error(`The page has no ${selector}.`);
  return found;
}

class PanesPage {
  private readonly status = find(".nlp-told");
  private readonly list: ChangeList;
  private synchronised: Synchronised | null = null;
  private readonly address = new PanesAddress();

  constructor(private readonly data: PanesData) {
    this.list = new ChangeList(find(".nlp-list"), data.review, {
      show: (side, path) => void this.synchronised?.show(side, path),
      clear: () => this.synchronised?.clear(),
      chosen: (...told) => this.tellChosen(...told),
    });
    this.follow();
  }

  async begin(): Promise<void> {
    const { head, panes: parts, names } = this.data;
    const { address } = this;
    const [isOn, isFirst] = [address.isSynchronised, address.isEmpty];
    const block = Block.read("pairs", this.data.pairs);
    const made = SIDES.map((side) => {
      const [data, blocks] = parts[side];
      return makeFrame(find(`${place(side)} .nlp-frame`), names[side], {
        ...{ head, data, blocks, address: address.of(side) },
        seen: (seen) => address.note(side, seen),
      });
    });
    const panes = (await Promise.all(made)) as [Pane, Pane];
    const actions: SynchronisedActions = {
      selected: (side, paths, alone) => this.tellSelected(side, paths, alone),
    };
    const pairs = new Pairs(await block);
    this.synchronised = new Synchronised(panes, pairs, actions, isOn, isFirst);
    this.tellSynchronised();
    for (const side of SIDES) this.followFrame(side, panes[side]);
    this.applyTheme(panes[0]);
    document.body.dataset.ready = "true";
  }

  private follow(): void {
    for (const button of document.querySelectorAll<HTMLElement>("[data-step]")) {
      const by = button.dataset.step === "1" ? 1 : -1;
      button.addEventListener("click", () => this.list.step(by));
    }
    find("[data-list]").addEventListener("click", () => this.toggleList());
    find("[data-synchronised]").addEventListener("click", () => this.toggleSynchronised());
    addEventListener("keydown", (event) => this.onKey(event));
  }

  /** What the user does in a frame makes its side the one that leads. */
  private followFrame(side: Side, pane: Pane): void {
    const inside = find<HTMLIFrameElement>(`${place(side)} iframe`).contentWindow;
    for (const name of ["pointerdown", "wheel", "keydown", "focusin"]) {
      const lead = (): void => this.synchronised?.lead(side);
      inside?.addEventListener(name, lead, { capture: true, passive: true });
    }
    // ahead of the explorer, which keeps keys to itself
    inside?.addEventListener("keydown", (event) => this.onKey(event), { capture: true });
    pane.watch((change) => {
      if (change === "looks") this.applyTheme(pane);
    });
  }

  private onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const target = event.composedPath()[0];
    // what was made in a frame is an element of another window
    if (/^(input|textarea|select)$/i.test((target as Element).nodeName)) return;
    const keys = new Map([
      ["j", () => this.list.step(1)],
      ["k", () => this.list.step(-1)],
      ["l", () => this.toggleList()],
      ["s", () => this.toggleSynchronised()],
    ]);
    const act = keys.get(event.key.toLowerCase());
    if (!act) return;
    event.preventDefault();
    act();
  }

  private toggleList(): void {
    this.list.setShown(!this.list.isShown);
    find("[data-list]").setAttribute("aria-expanded", String(this.list.isShown));
  }

  private toggleSynchronised(): void {
    const { synchronised } = this;
    if (!synchronised) return;
    synchronised.synchronise(!synchronised.isSynchronised);
    this.address.synchronise(synchronised.isSynchronised);
    this.tellSynchronised();
  }

  private tellSynchronised(): void {
    const isOn = this.synchronised?.isSynchronised ?? true;
    find("[data-synchronised]").setAttribute("aria-checked", String(isOn));
  }

  private applyTheme(pane: Pane): void {
    const theme = pane.looks.shownTheme === "dark" ? "dark" : "light";
    document.documentElement.dataset.theme = theme;
    this.list.setTheme(theme);
  }

  private tellChosen(item: ReviewItem | null, differences: number, total: number): void {
    const button = find("[data-list]");
    const noun = differences === 1 ? "difference" : "differences";
    const place = item && isDifference(item) ? item.number + 1 : 0;
    button.textContent = place
      ? `${place.toLocaleString("en")} of ${differences.toLocaleString("en")}`
      : (item?.level.meaning ?? `${differences.toLocaleString("en")} ${noun}`);
    for (const each of document.querySelectorAll<HTMLButtonElement>(".nlp-steps button")) {
      each.disabled = total === 0;
    }
    this.status.textContent = item ? `${item.level.sign} ${item.title} · ${item.where}` : KEYS;
    this.status.dataset.tone = item?.level.tone ?? "";
  }

  /** Say what of a selection the other model does not have. */
  private tellSelected(side: Side, paths: readonly string[], alone: readonly string[]): void {
    const other = side === 0 ? 1 : 0;
    for (const each of SIDES) find(`${place(each)} .nlp-alone`).textContent = "";
    if (alone.length > 0) {
      const what = alone.length === 1 ? shorten(alone[0]) : `${alone.length} of ${paths.length}`;
      const words = document.createElement("span");
      words.textContent = "No pair here: ";
      const named = document.createElement("span");
      named.className = "nlp-what";
      named.title = what;
      // the line is cut at its beginning, and what stands in it is read from left to right
      named.append(document.createElement("bdi"));
      named.children[0].textContent = what;
      find(`${place(other)} .nlp-alone`).replaceChildren(words, named);
    }
  }
}

function place(side: Side): string {
  return `.nlp-pane[data-side="${side === 0 ? "old" : "new"}"]`;
}

/** The end of a path tells more than its beginning. */
function shorten(path: string): string {
  return path.length > LONGEST ? `…${path.slice(1 - LONGEST)}` : path;
}

async function begin(): Promise<void> {
  try {
    await new PanesPage(readData()).begin();
  } catch (error) {
    const message = error instanceof Error && !(error instanceof SyntaxError) ? error.message : "";
    const damaged = "This file is damaged: it seems to have been cut short.";
    find(".nlp-told").textContent = message || damaged;
  }
}

if (document.readyState === "loading") addEventListener("DOMContentLoaded", () => void begin());
else void begin();
