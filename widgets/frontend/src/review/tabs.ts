/** The two tabs beside the picture: what is said of the selection, and what there is to review. */

import { makeElement } from "../controls/elements";
import type { TabName } from "../host/host";

const TABS: ReadonlyArray<readonly [TabName, string]> = [
  ["inspect", "Inspect"],
  ["review", "Review"],
];

export class Tabs {
  readonly element = makeElement("div", "nl-tabs");
  private readonly tabs = new Map<TabName, HTMLButtonElement>();
  private readonly badge = makeElement("span", "nl-tab-badge");
  shown: TabName = "inspect";

  /** @param changed called when the user goes to another tab */
  constructor(private readonly changed: (tab: TabName) => void) {
    this.element.setAttribute("role", "tablist");
    this.element.setAttribute("aria-label", "Beside the picture");
    for (const [name, label] of TABS) {
      const tab = makeElement("button", "nl-tab");
      tab.type = "button";
      tab.id = `nl-tab-${name}`;
      tab.setAttribute("role", "tab");
      tab.append(label);
      tab.addEventListener("click", () => this.choose(name));
      this.tabs.set(name, tab);
      this.element.append(tab);
    }
    this.badge.hidden = true;
    this.tabs.get("review")!.append(this.badge);
    this.element.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
      event.preventDefault();
      event.stopPropagation();
      this.choose(this.shown === "inspect" ? "review" : "inspect");
      this.tabs.get(this.shown)!.focus();
    });
    this.show("inspect");
  }

  /** Show a tab; the one who asks knows. */
  show(name: TabName): void {
    this.shown = name;
    for (const [each, tab] of this.tabs) {
      tab.setAttribute("aria-selected", String(each === name));
      tab.tabIndex = each === name ? 0 : -1;
    }
  }

  /** Say how much there is to look at, and in words what that is; nothing for 0. */
  count(number: number, tone: string, words: string): void {
    this.badge.hidden = number === 0;
    this.badge.textContent = number > 999 ? "999+" : String(number);
    this.badge.dataset.tone = tone;
    this.badge.setAttribute("aria-label", `${number.toLocaleString("en")} to look at`);
    this.badge.title = words;
  }

  private choose(name: TabName): void {
    if (name === this.shown) return;
    this.show(name);
    this.changed(name);
  }
}
