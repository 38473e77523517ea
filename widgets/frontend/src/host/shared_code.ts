/**
 * The module of a widget whose code is brought once in a page, whichever widget comes first.
 *
 * The kernel's side is widgets/shared_code.py: the code is in a widget of its own, which all widgets
 * of a kind refer to. A page that has it from an earlier one, of this kernel or another, never looks
 * at it. Where the page does not find that widget, the kernel is asked for what is in it.
 */

import type { WidgetModel, WidgetModule } from "./anywidget";

/** What a widget tells of its code; beside it a host may give what finds other widgets. */
interface Place {
  readonly model: WidgetModel & {
    readonly widget_manager?: {
      get_model(id: string): Promise<{ get(name: string): unknown } | undefined>;
    };
  };
  readonly el: HTMLElement;
}

interface Code {
  readonly code: string;
  readonly style: string;
}

const REFERENCE = "IPY_MODEL_";
/** where a page keeps modules, by names that tell their code apart */
const KEPT = Symbol.for("netloupe.modules");

type Kept = Map<string, Promise<WidgetModule>>;

function findKept(): Kept {
  const page = globalThis as unknown as Record<symbol, Kept | undefined>;
  return (page[KEPT] ??= new Map());
}

/** Return the module of a widget, which is brought where the page does not have it. */
function bring(model: Place["model"]): Promise<WidgetModule> {
  const kept = findKept();
  const name = String(model.get("_code_name"));
  let module = kept.get(name);
  if (!module) {
    module = readCode(model).then(load);
    kept.set(name, module);
    module.catch(() => kept.delete(name)); // the next widget may have more luck
  }
  return module;
}

async function load({ code, style }: Code): Promise<WidgetModule> {
  addStyle(style);
  const address = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  try {
    return ((await import(address)) as { default: WidgetModule }).default;
  } finally {
    URL.revokeObjectURL(address);
  }
}

/** Add the style sheet of the page around widgets, which several kinds of them bring. */
function addStyle(text: string): void {
  const known = document.querySelectorAll("style[data-netloupe-style]");
  if ([...known].some((style) => style.textContent === text)) return;
  const style = document.createElement("style");
  style.dataset.netloupeStyle = "";
  style.textContent = text;
  document.head.append(style);
}

async function readCode(model: Place["model"]): Promise<Code> {
  const reference = model.get("_code");
  if (typeof reference === "string" && model.widget_manager) {
    try {
      const holder = await model.widget_manager.get_model(reference.slice(REFERENCE.length));
      const [code, style] = [holder?.get("code"), holder?.get("style")];
      if (typeof code === "string" && code) return { code, style: String(style) };
    } catch {
      // a host that keeps widgets apart
    }
  }
  return new Promise((resolve) => {
    const take = (message: unknown): void => {
      const given = (message as { code?: Code } | null)?.code;
      if (!given) return;
      model.off("msg:custom", take);
      resolve(given);
    };
    model.on("msg:custom", take);
    model.send({ code: true });
  });
}

export default {
  // what is brought is on its way before there is anything to show
  initialize: ({ model }: Place): void => {
    bring(model).catch(() => undefined); // told where it is shown
  },
  render: async ({ model, el }: Place): Promise<() => void> =>
    (await bring(model)).render({ model, el }),
};
