import { expect, test } from "vitest";
import { isOffered, listKeys, readKey } from "../../src/controls/keys";
import { KERNEL } from "../../src/host/anywidget";
import { hostThatCan } from "../hosts";

const stroke = { key: "", ctrlKey: false, metaKey: false, altKey: false, shiftKey: false };

/** What the help says beside some keys; undefined where it does not list them. */
function helpOf(keys: string, ...can: Parameters<typeof hostThatCan>): string | undefined {
  return new Map(listKeys(hostThatCan(...can))).get(keys);
}

test("with a kernel the help lists every key", () => {
  expect(listKeys(KERNEL)).toEqual([
    ["← ↑ → ↓", "walk along the edges, or to a neighbour"],
    ["Home", "select where the graph begins"],
    ["Enter", "open or close what is selected; double click does the same"],
    ["Esc", "put away what is lit or shown; then close the group around the selection"],
    ["/", "search"],
    ["F", "show all"],
    ["Z", "zoom to the selection"],
    ["+ − 0", "zoom in, out, to actual size"],
    ["N P", "next, previous place where the selected value is used"],
    ["G", "where the selected value is given"],
    ["U D", "light up all that is upstream, downstream"],
    ["Shift click", "light up the paths between the selection and what is clicked"],
    ["H", "focus: only the neighbourhood of the selection"],
    ["Ctrl Z", "take back what was opened, closed, stepped, grouped or entered"],
    ["Ctrl Shift Z", "do it again; so does Ctrl Y"],
    ["Ctrl C", "copy the path of what is selected"],
    ["M", "menu of the selection; right click does the same"],
    ["?", "this help"],
  ]);
});

test("the help of a host that can do nothing has only what the canvas does by itself", () => {
  const keys = listKeys(hostThatCan()).map(([names]) => names);
  const asked = ["Enter", "/", "H", "Ctrl Z", "Ctrl Shift Z"];
  const all = listKeys(KERNEL).map(([names]) => names);
  expect(keys).toEqual(all.filter((names) => !asked.includes(names)));
  expect(helpOf("Esc")).toBe("put away what is lit or shown; then select nothing");
});

test("each key is listed with what it asks for", () => {
  expect(helpOf("Enter", "open")).toContain("open or close");
  expect(helpOf("/", "search")).toBe("search");
  expect(helpOf("H", "focus")).toContain("neighbourhood");
  expect(helpOf("Ctrl Shift Z", "undo")).toContain("Ctrl Y");
});

test("what can be taken back is what can be done", () => {
  expect(helpOf("Ctrl Z", "undo")).toBe("take back what was changed");
  expect(helpOf("Ctrl Z", "undo", "step")).toBe("take back what was stepped");
  expect(helpOf("Ctrl Z", "undo", "open", "group")).toBe(
    "take back what was opened, closed or grouped",
  );
});

test("keys that ask for what a host cannot do are none", () => {
  const little = hostThatCan();
  for (const key of ["Enter", "/", "h", "Ctrl z", "Ctrl y"]) {
    const ctrlKey = key.startsWith("Ctrl ");
    const command = readKey({ ...stroke, key: key.replace("Ctrl ", ""), ctrlKey })!;
    expect(isOffered(command, KERNEL)).toBe(true);
    expect(isOffered(command, little)).toBe(false);
  }
  for (const key of ["ArrowUp", "Escape", "f", "z", "0", "+", "n", "g", "u", "m", "?"]) {
    expect(isOffered(readKey({ ...stroke, key })!, little)).toBe(true);
  }
});
