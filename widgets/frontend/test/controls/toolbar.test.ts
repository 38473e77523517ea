import { expect, test, vi } from "vitest";
import { listAsked } from "../../src/controls/toolbar";
import { KERNEL } from "../../src/host/anywidget";
import { hostThatCan } from "../hosts";

const actions = { expand: vi.fn(), turn: vi.fn() };
const icons = (...can: Parameters<typeof hostThatCan>): string[] =>
  listAsked(actions, hostThatCan(...can)).map(([icon]) => icon);

test("buttons that ask the host for something are there where it can do it", () => {
  expect(listAsked(actions, KERNEL).map(([icon]) => icon)).toEqual(["auto", "all", "none", "turn"]);
  expect(icons("direction")).toEqual(["turn"]);
  expect(icons("expand")).toEqual(["auto", "all", "none"]);
  expect(icons()).toEqual([]);
});

test("they ask for what their icon shows", () => {
  for (const [, , press] of listAsked(actions, KERNEL)) press();
  expect(actions.expand.mock.calls).toEqual([["auto"], ["all"], ["none"]]);
  expect(actions.turn).toHaveBeenCalledOnce();
});
