import { describe, expect, it } from "vitest";
import { type Link, LinkError, explainRefusal, readLink, writeLink } from "../../src/address/link";

const LINK: Link = {
  direction: "LR",
  selected: ["main/a b", "main/%x~&="],
  place: { x: 12, y: -3, zoom: 0.25 },
  opened: "0:main/~5*:é/",
  focus: { path: "main/c", hops: 3 },
  tab: "review",
  choices: { graph: "main/If/then", details: "all" },
};

describe("the address of a page", () => {
  it("says what is seen", () => {
    expect(readLink(writeLink(LINK, "12345678"), "12345678")).toEqual(LINK);
  });

  it("says nothing of what is as at first", () => {
    const plain: Link = {
      ...{ direction: "TB", selected: [], place: null, opened: null, focus: null },
      ...{ tab: "inspect", choices: {} },
    };
    expect(writeLink(plain, "12345678")).toBe("v=1&of=12345678");
    expect(readLink("v=1&of=12345678", "12345678")).toEqual(plain);
    expect(readLink("v=1&of=12345678&open=", "12345678").opened).toBe("");
  });

  it("leaves out what is open where all would be too long, and then everything", () => {
    const long = "x".repeat(70_000);
    const without = writeLink({ ...LINK, opened: long }, "12345678");
    expect(readLink(without, "12345678")).toEqual({ ...LINK, opened: null });
    expect(writeLink({ ...LINK, selected: [long] }, "12345678")).toBe("");
  });

  it.each([
    ["", "not one of this page's"],
    ["v=2&of=12345678", "not one of this page's"],
    ["v=1&of=87654321", "another file"],
    ["v=1&of=12345678&direction=up", "direction"],
    ["v=1&of=12345678&at=1,2", "place"],
    ["v=1&of=12345678&at=1,2,0", "place"],
    ["v=1&of=12345678&focus=a", "neighbourhood"],
    ["v=1&of=12345678&focus=a&hops=0", "neighbourhood"],
    [`v=1&of=12345678&open=${"9".repeat(60_000)}`, "too long"],
  ])("is refused where it does not fit: %.40s", (text, why) => {
    expect(() => readLink(text, "12345678")).toThrow(LinkError);
    expect(() => readLink(text, "12345678")).toThrow(why);
  });

  it("keeps nothing but what is known of a view", () => {
    const { choices } = readLink("v=1&of=12345678&share=none&theme=dark&token=x", "12345678");
    expect(choices).toEqual({ share: "none" });
  });

  it("tells why in one sentence", () => {
    const told = "The address of this page does not fit it: it is too long.";
    expect(explainRefusal(new LinkError("it is too long"))).toBe(told);
    expect(explainRefusal("it is too long.")).toBe(told);
  });
});
