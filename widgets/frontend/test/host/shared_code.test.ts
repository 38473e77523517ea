import { afterEach, beforeEach, expect, test, vi } from "vitest";
import shared from "../../src/host/shared_code";
import { FakeModel } from "../fake_model.js";

const KEPT = Symbol.for("netloupe.modules");
const page = globalThis as any;
/** A module that notes each time it is loaded, and each element that it shows something in. */
const CODE = `
  globalThis.loaded = (globalThis.loaded ?? 0) + 1;
  export default { render: ({ el }) => { el.shown = true; return () => { el.shown = false; }; } };
`;
let styles: { textContent: string; dataset: Record<string, string> }[];

/** A widget whose code another one holds, in a page that finds that one. */
function widgetOf(name: string, code: string | null): any {
  const model: any = new FakeModel({ _code_name: name, _code: "IPY_MODEL_7f" });
  const holder = new FakeModel({ code, style: "p {}" });
  model.asked = [];
  model.widget_manager = {
    get_model: async (id: string) => {
      model.asked.push(id);
      if (code === null) throw new Error("widgets are kept apart here");
      return holder;
    },
  };
  return model;
}

beforeEach(() => {
  delete page[KEPT];
  delete page.loaded;
  styles = [];
  vi.stubGlobal("document", {
    createElement: () => ({ dataset: {}, textContent: "" }),
    querySelectorAll: () => styles,
    head: { append: (style: any) => styles.push(style) },
  });
  // what a browser makes addresses of, as Node loads modules
  vi.stubGlobal("Blob", class { constructor(readonly parts: string[]) {} });
  const make = (blob: any): string =>
    `data:text/javascript,${encodeURIComponent(blob.parts[0] + `// ${Math.random()}`)}`;
  vi.stubGlobal("URL", { createObjectURL: make, revokeObjectURL: () => undefined });
});
afterEach(() => vi.unstubAllGlobals());

test("the code is loaded once, whichever widget comes first, and so is the style sheet", async () => {
  const [first, second, other] = [widgetOf("a", CODE), widgetOf("a", CODE), widgetOf("b", CODE)];
  const places: any[] = [{}, {}, {}];
  const [away] = await Promise.all([
    shared.render({ model: first, el: places[0] }),
    shared.render({ model: second, el: places[1] }),
  ]);
  expect(page.loaded).toBe(1);
  expect([first.asked, second.asked]).toEqual([["7f"], []]);
  await shared.render({ model: other, el: places[2] });
  expect(page.loaded).toBe(2);
  expect(styles.map(({ textContent }) => textContent)).toEqual(["p {}"]);
  expect(places.map(({ shown }) => shown)).toEqual([true, true, true]);
  away();
  expect(places[0].shown).toBe(false);
});

test("a page that does not find the holder of the code asks the kernel", async () => {
  const model = widgetOf("a", null);
  const place: any = {};
  const shown = shared.render({ model, el: place });
  await vi.waitFor(() => expect(model.sent).toEqual([{ code: true }]));
  model.receive({ type: "idle" });
  model.receive({ code: { code: CODE, style: "" } });
  await shown;
  expect(place.shown).toBe(true);
  expect(model.listening).toBe(0);
});

test("code that could not be loaded is looked for again by the next widget", async () => {
  const broken = shared.render({ model: widgetOf("a", "export default (;"), el: {} as any });
  await expect(broken).rejects.toThrow();
  const place: any = {};
  await shared.render({ model: widgetOf("a", CODE), el: place });
  expect(place.shown).toBe(true);
});
