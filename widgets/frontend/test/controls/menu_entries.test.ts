import { expect, test } from "vitest";

import { type ViewActions, type ViewState, viewMenu } from "../../src/controls/menu_entries";
import options from "../../src/scene/options";

const STATE: ViewState = {
  ...{ direction: "LR", theme: "dark", grouping: "repeats", wrapped: true, details: "all" },
  share: "bytes",
  ...{ hasSelection: false, inspector: null, legend: false, screen: null, canUndo: false, canRedo: false },
};

function openMenu(state: ViewState) {
  const calls: unknown[][] = [];
  const actions = new Proxy({} as ViewActions, {
    get: (_, name) => (...given: unknown[]) => calls.push([name, ...given]),
  });
  return { entries: viewMenu(state, actions).flat(), calls };
}

test("the menu of the picture has every entry of the table of options", () => {
  const labels: string[] = [];
  for (const option of Object.values(options)) {
    const choices = "choices" in option ? Object.values(option.choices) : [];
    for (const choice of choices) if ("menu" in choice) labels.push(choice.menu as string);
  }
  expect(labels.length).toBeGreaterThan(10);
  const shown = openMenu(STATE).entries.map((entry) => entry.label);
  for (const label of labels) expect(shown.filter((one) => one === label)).toHaveLength(1);
});

test("entries of groups, openness and colours ask for the choice that they are called by", () => {
  const { entries, calls } = openMenu(STATE);
  for (const [action, option] of [
    ["expand", options.expand],
    ["group", options.grouping],
    ["share", options.share],
    ["theme", options.theme],
  ] as const) {
    for (const [word, { menu }] of Object.entries(option.choices)) {
      entries.find((entry) => entry.label === menu)!.press();
      expect(calls.pop()).toEqual([action, word]);
    }
  }
  entries.find((entry) => entry.label === options.direction.choices.LR.menu)!.press();
  entries.find((entry) => entry.label === options.wrap.choices.yes.menu)!.press();
  entries.find((entry) => entry.label === options.details.choices.all.menu)!.press();
  expect(calls.map(([name]) => name)).toEqual(["turn", "wrap", "detail"]);
});

test("what holds is checked", () => {
  const checked = openMenu(STATE).entries.filter((entry) => entry.checked);
  expect(checked.map((entry) => entry.label)).toEqual([
    options.grouping.choices.repeats.menu,
    options.direction.choices.LR.menu,
    options.wrap.choices.yes.menu,
    options.details.choices.all.menu,
    options.share.choices.bytes.menu,
    options.theme.choices.dark.menu,
  ]);
  const plain: ViewState = { ...STATE, direction: "TB", theme: "auto", wrapped: false, details: "facts" };
  expect(openMenu(plain).entries.filter((entry) => entry.checked)).toHaveLength(3);
});
