import { expect, test, vi } from "vitest";

import { PanesAddress } from "../../src/panes/address";

test("what is seen is read again as it was written", () => {
  vi.stubGlobal("history", { replaceState: () => undefined });
  const address = new PanesAddress("");
  expect(address.isEmpty).toBe(true);
  expect(address.isSynchronised).toBe(true);
  address.note(0, "v=1&of=a&open=0~2(1)&select=main/%x");
  address.note(1, "v=1&of=b&open=");
  address.synchronise(false);
  const again = new PanesAddress(`#${String(address)}`);
  expect([again.of(0), again.of(1)]).toEqual([
    "v=1&of=a&open=0~2(1)&select=main/%x",
    "v=1&of=b&open=",
  ]);
  expect(again.isSynchronised).toBe(false);
  expect(again.isEmpty).toBe(false);
  vi.unstubAllGlobals();
});

test("an address that is too long is not made, and one that may not be changed does not matter", () => {
  vi.stubGlobal("history", {
    replaceState: () => {
      throw new Error("not allowed");
    },
  });
  const address = new PanesAddress("#nonsense");
  address.note(0, "x".repeat(70_000));
  expect(String(address)).toBe("");
  vi.unstubAllGlobals();
});
