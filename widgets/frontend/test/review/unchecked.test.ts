import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { makeUnchecked } from "../../src/review/unchecked";

/** As much of an element as a line of text needs. */
class Part {
  className = "";
  textContent = "";
  readonly children: Part[] = [];
  constructor(readonly tag: string) {}
  append(...parts: Part[]): void {
    this.children.push(...parts);
  }
}

beforeEach(() => vi.stubGlobal("document", { createElement: (tag: string) => new Part(tag) }));
afterEach(() => vi.unstubAllGlobals());

const make = (reason: string, what: string): Part => makeUnchecked(reason, what) as unknown as Part;

test("what was not looked at stands in a line with its reason", () => {
  expect(make("weights were not read", "NL-N01 nan-weight")).toMatchObject({
    ...{ tag: "p", textContent: "NL-N01 nan-weight: weights were not read" },
  });
  expect(make("rules were not applied", "").textContent).toBe("rules were not applied");
});

test("a long list is folded behind its first entries and their count, and is whole inside", () => {
  const what = Array.from({ length: 15 }, (_, k) => `NL-N${k + 10} some-rule-name`).join(", ");
  const { tag, children } = make("weights were not read", what);
  expect([tag, ...children.map((each) => each.tag)]).toEqual(["details", "summary", "p"]);
  expect(children[0].textContent).toMatch(
    /^Weights were not read: NL-N10 some-rule-name, .*some-rule-name and more, 15 in all$/,
  );
  expect(children[1].textContent).toBe(what);
});

test("a long sentence is no list: it stands whole", () => {
  const what = "one thing, and another, ".repeat(12);
  expect(make("it needs data", what)).toMatchObject({ tag: "p", textContent: `${what}: it needs data` });
});
