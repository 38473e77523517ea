/** Keeps what is seen of a page in its address, and shows what an address says. */

import type { Traits } from "../host/connection";
import type { CanvasTraits } from "../host/traits";
import type { TabName } from "../host/host";
import type { WindowPlace } from "../scene/geometry";
import { type Choices, type Focus, type Link, explainRefusal, readLink, writeLink } from "./link";

/** What keeps the text of an address. */
export interface Keeper {
  /** "" where there is none */
  read(): string;
  write(text: string): void;
  /** Call something where someone else has changed it. */
  onChange(changed: () => void): void;
}

/** What can say and show what is open. */
export interface LinkedHost {
  readonly traits: Traits<CanvasTraits>;
  /** What is open, as {@link follow} reads it; null where that is too much. */
  writeOpened(): Promise<string | null>;
  /** The neighbourhood that alone is shown; null where all is. */
  readonly shownFocus: Focus | null;
  /** What else is chosen of the view and not as at first. */
  readonly choices: Choices;
  /** Show what an address says. Rejects with what does not fit: then all stays as it is. */
  follow(link: Link): Promise<void>;
  /** Say what is wrong with the page. */
  warn(message: string): void;
  /** Call something after each change of what is open. */
  onChange(watch: () => void): void;
}

/** Where the window stands on the picture. */
export interface LinkedView {
  /** null while there is nothing to be seen */
  readonly place: WindowPlace | null;
  standAt(place: WindowPlace): void;
  /** Call something after each frame. */
  onFrame(watch: () => void): void;
}

/** What knows which tab is shown beside the picture. */
export interface TabKeeper {
  readonly tab: TabName;
  showTab(tab: TabName): void;
  /** Call something where another tab is shown. */
  onTab(changed: () => void): void;
}

/** milliseconds after which the address follows what is seen */
const SOON = 250;

export class Address {
  /** as it was when the page was opened */
  readonly first: Link | null;
  /** why it does not fit; null where it does, or was empty */
  readonly error: unknown = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private tabs: TabKeeper | null = null;
  private note: () => void = () => undefined;

  /**
   * @param mark tells pages apart: of another model it is another
   * @param movedFromOutside whether the window is moved by others than the user of the page
   */
  constructor(
    private readonly mark: string,
    private readonly keeper: Keeper,
    private readonly movedFromOutside = false,
  ) {
    let first: Link | null = null;
    const text = keeper.read();
    try {
      if (text) first = readLink(text, mark);
    } catch (error) {
      this.error = error;
    }
    this.first = first;
  }

  /** Keep which tab is shown, too, and show the one that the address says. */
  keepTab(tabs: TabKeeper): void {
    this.tabs = tabs;
    if (this.first) tabs.showTab(this.first.tab);
    tabs.onTab(() => this.note());
  }

  /** Write the address soon, and show what it says where someone else has changed it. */
  follow(host: LinkedHost, view: LinkedView): void {
    const note = (): void => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => void this.write(host, view), SOON);
    };
    this.note = note;
    host.onChange(note);
    for (const name of ["selection", "selected_paths", "direction"] as const) {
      host.traits.follow(name, note);
    }
    for (const event of ["pointerup", "wheel", "keyup"]) {
      addEventListener(event, note, { passive: true });
    }
    if (this.movedFromOutside) view.onFrame(note);
    this.keeper.onChange(() => void this.show(host, view));
  }

  private async show(host: LinkedHost, view: LinkedView): Promise<void> {
    try {
      const link = readLink(this.keeper.read(), this.mark);
      await host.follow(link);
      this.tabs?.showTab(link.tab);
      if (link.place) view.standAt(link.place);
    } catch (error) {
      host.warn(explainRefusal(error));
    }
  }

  private async write(host: LinkedHost, view: LinkedView): Promise<void> {
    const { traits } = host;
    const all = traits.get("selected_paths");
    const path = traits.get("selection");
    const link = {
      direction: traits.get("direction"),
      selected: all.length > 1 && all[0] === path ? all : path ? [path] : [],
      place: view.place,
      opened: await host.writeOpened(),
      focus: host.shownFocus,
      tab: this.tabs?.tab ?? "inspect",
      choices: host.choices,
    };
    this.keeper.write(writeLink(link, this.mark));
  }
}
