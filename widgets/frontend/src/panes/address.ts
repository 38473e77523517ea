/**
 * What is seen of both panes, in the part of the page's address behind the `#`: an address of each, as
 * `../address/link.ts` has it, and whether they are synchronised.
 */

import type { Side } from "./pairs";

const NAMES = ["old", "new"] as const;
/** longer addresses are not made: what some viewers and messengers still keep */
const LONGEST = 60_000;

export class PanesAddress {
  private readonly seen: [string, string];
  private isOn: boolean;
  /** whether it said nothing when the page was opened */
  readonly isEmpty: boolean;

  constructor(hash = location.hash) {
    const fields = new URLSearchParams(hash.slice(1));
    this.seen = [fields.get(NAMES[0]) ?? "", fields.get(NAMES[1]) ?? ""];
    this.isOn = fields.get("synchronised") !== "no";
    this.isEmpty = this.seen.every((each) => each === "");
  }

  get isSynchronised(): boolean {
    return this.isOn;
  }

  /** What is to be seen of a side; "" for what the page opens. */
  of(side: Side): string {
    return this.seen[side];
  }

  note(side: Side, address: string): void {
    this.seen[side] = address;
    this.write();
  }

  synchronise(isOn: boolean): void {
    this.isOn = isOn;
    this.write();
  }

  toString(): string {
    const fields = new URLSearchParams({ [NAMES[0]]: this.seen[0], [NAMES[1]]: this.seen[1] });
    if (!this.isOn) fields.set("synchronised", "no");
    const text = fields.toString();
    return text.length > LONGEST ? "" : text;
  }

  private write(): void {
    try {
      history.replaceState(null, "", `#${String(this)}`);
    } catch {
      // some viewers of files do not let a page change its address
    }
  }
}
