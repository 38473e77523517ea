/** The part of a page's address behind the `#`. */

import type { Keeper } from "./address";

export class Hash implements Keeper {
  private known = location.hash;

  read(): string {
    return location.hash.slice(1);
  }

  write(text: string): void {
    try {
      history.replaceState(null, "", `#${text}`);
      this.known = location.hash;
    } catch {
      // some viewers of files do not let a page change its address
    }
  }

  onChange(changed: () => void): void {
    addEventListener("hashchange", () => {
      if (location.hash !== this.known) changed();
    });
  }
}
