import { expect, test } from "vitest";

import {
  type ThingActions,
  type ViewActions,
  type ViewState,
  thingMenu,
  viewMenu,
} from "../../src/controls/menu_entries";
import { KERNEL } from "../../src/host/anywidget";
import type { Host } from "../../src/host/host";
import { ALL_ABILITIES, type Ability } from "../../src/host/messages";
import options, { listEntries } from "../../src/scene/options";
import { NAMED, REPEAT, type Scene } from "../../src/scene/scene";
import { hostThatCan } from "../hosts";

const STATE: ViewState = {
  ...{ direction: "LR", theme: "dark", grouping: "repeats", wrapped: true, details: "all" },
  share: "bytes",
  ...{ hasSelection: false, inspector: null, legend: false, screen: null, canUndo: false, canRedo: false },
};

function openMenu(state: ViewState, host: Host = KERNEL) {
  const calls: unknown[][] = [];
  const actions = new Proxy({} as ViewActions, {
    get: (_, name) => (...given: unknown[]) => calls.push([name, ...given]),
  });
  return { entries: viewMenu(state, actions, host).flat(), calls };
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
    for (const [word, menu] of listEntries<string>(option.choices)) {
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

const FULL: ViewState = { ...STATE, hasSelection: true, legend: true, screen: false, canUndo: true, canRedo: true };
/** The menu of an open stack whose name is recognised, beside another thing that is selected. */
function openThingMenu(host: Host): string[] {
  const scene = { isOpen: () => true, isOpenable: () => true, flagsOf: () => REPEAT | NAMED };
  const groups = thingMenu(scene as unknown as Scene, 0, "main/a", "main/b", {} as ThingActions, host);
  return groups.flat().map((entry) => entry.label);
}
const menus = (host: Host): string[] => [
  ...openMenu(FULL, host).entries.map((entry) => entry.label),
  ...openThingMenu(host),
];
const labelsOf = (choices: Record<string, { meaning: string; menu?: string }>): string[] =>
  Object.values(choices).flatMap(({ menu }) => menu ?? []);

test("the menus have exactly what the canvas does by itself where the host can do nothing", () => {
  expect(menus(hostThatCan())).toEqual([
    ...["Show all", "Zoom to selection"],
    ...["Colours of the page", ...labelsOf(options.theme.choices)],
    ...["Full screen", "Save picture…", "Copy as SVG", "Copy as PNG", "Copy path", "Keys"],
    ...["Zoom to it", "Light up upstream", "Light up downstream"],
    ...["Light up paths from the selection", "Copy path"],
  ]);
});

test("each thing that a host can do brings its entries, and no others", () => {
  const entries: { [what in Ability]: string[] } = {
    begin: [],
    open: ["Close"],
    expand: labelsOf(options.expand.choices),
    enter: [],
    search: ["Search"],
    regex: [],
    focus: ["Focus: neighbourhood"],
    step: [],
    unroll: ["Show all repetitions", "Show one repetition"],
    unname: ["Wrong name: show its nodes"],
    group: labelsOf(options.grouping.choices),
    direction: [options.direction.choices.LR.menu],
    wrap: [options.wrap.choices.yes.menu],
    details: [options.details.choices.all.menu],
    share: labelsOf(options.share.choices),
    overlay: [],
    legend: ["Legend"],
    picture: [],
    command: ["Copy command"],
    undo: ["Undo", "Redo"],
    reload: [],
    cancel: [],
  };
  const least = menus(hostThatCan());
  for (const ability of ALL_ABILITIES) {
    const more = menus(hostThatCan(ability)).filter((label) => !least.includes(label));
    expect([ability, more]).toEqual([ability, entries[ability]]);
  }
  expect(menus(KERNEL)).toHaveLength(least.length + Object.values(entries).flat().length);
});
