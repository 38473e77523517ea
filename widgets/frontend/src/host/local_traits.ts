/** Traits that the page itself keeps. */

import type { Traits } from "./connection";

export class LocalTraits<Values extends object> implements Traits<Values> {
  private readonly followers = new Map<keyof Values, Set<() => void>>();

  constructor(private values: Values) {}

  get<Name extends keyof Values>(name: Name): Values[Name] {
    return this.values[name];
  }

  set(values: Partial<Values>): void {
    const changed = (Object.keys(values) as Array<keyof Values>).filter(
      (name) => values[name] !== this.values[name],
    );
    this.values = { ...this.values, ...values };
    for (const name of changed) for (const follow of [...(this.followers.get(name) ?? [])]) follow();
  }

  follow(name: keyof Values, changed: () => void): () => void {
    const followers = this.followers.get(name) ?? new Set();
    followers.add(changed);
    this.followers.set(name, followers);
    return () => followers.delete(changed);
  }
}
