/** The legend of a page: of the words of explorer/render/legend.json those that its picture needs. */

import type { LegendEntry } from "../host/messages";
import type { ThemeName } from "../scene/options";
import { CAPTURED, CONTROL, FORMER, NEWER, NODE } from "../scene/scene";
import { CALL, type OpenCalls, type PaintsByPath, paintCalls } from "../scene/paints_by_path";
import sizes from "../scene/sizes";
import type { Block } from "./block";
import type { Levels } from "./book";
import type { Composed } from "./compose";

/** kind, key and text of an entry, and its small pictures, light and dark */
type Written = readonly [kind: string, key: string, text: string, light: string, dark: string];

/** tones that an overlay explains itself */
const OF_OVERLAYS = new Set(["scale", "diverging", "category", "missing"]);

/** by sign the kind of difference that it marks, and in which tone */
const SIGNS_OF_DIFFERENCES: Readonly<Record<string, readonly [string, string]>> = {
  "+": ["added", "added"],
  "−": ["removed", "removed"],
  Δ: ["changed", "changed"],
  "⇄": ["moved", "changed"],
};

export class LegendWords {
  private readonly entries: readonly Written[];

  constructor(block: Block) {
    this.entries = block.value("entries") as Written[];
  }

  /**
   * What the legend of a picture says.
   *
   * @param hasOverlay whether an overlay explains its tones itself
   */
  list(
    book: Levels,
    shown: Composed,
    paints: PaintsByPath,
    theme: ThemeName,
    hasOverlay = false,
  ): LegendEntry[] {
    const found = collect(book, shown, paintCalls(paints, listOpenCalls(shown)));
    return this.entries
      .filter(([kind, key]) => found.has(`${kind} ${key}`))
      .filter(([kind, key]) => !(hasOverlay && kind === "tones" && OF_OVERLAYS.has(key)))
      .map(([, , text, light, dark]) => ({ text, svg: theme === "dark" ? dark : light }));
  }
}

/** Which difference of two models a mark in a tone tells of; as find_difference of the kernel. */
function differenceOf(mark = "", tone = ""): string {
  if (/^\d/.test(mark)) return tone === "changed" ? "count" : "";
  const [found = "", usual] = SIGNS_OF_DIFFERENCES[mark] ?? [];
  return usual === tone ? found : "";
}

/** The open calls of a picture; as Scene.openCalls. */
function listOpenCalls(shown: Composed): OpenCalls {
  const calls = new Map<string, string[]>();
  const pending = [shown];
  while (pending.length > 0) {
    const { level, inner } = pending.pop()!;
    for (const [place, open] of inner) {
      pending.push(open);
      const { flags, path } = level.form.boxes[place];
      const [called] = open.level.rows;
      if ((flags & NODE) === 0 || called === undefined) continue;
      calls.set(called, [...(calls.get(called) ?? []), level.names[path] + CALL]);
    }
  }
  return calls;
}

/** The kinds and keys of all that a picture has to explain; as list_legend of the kernel. */
function collect(book: Levels, shown: Composed, paints: PaintsByPath): Set<string> {
  const found = new Set<string>();
  const addPaint = (path: string): string => {
    const [tone = "", , ring, mark, markTone] = paints[path] ?? [];
    const difference = differenceOf(mark, markTone || ring || tone);
    if (difference) {
      found.add(`differences ${difference}`);
      return tone;
    }
    for (const each of [tone, ring, markTone]) {
      if (each) found.add(`tones ${each.split("-")[0]}`);
    }
    return tone;
  };
  const hasDifferences = Object.values(paints).some(
    ([tone, , ring, mark, markTone]) => differenceOf(mark, markTone || ring || tone) !== "",
  );
  const pending = [shown];
  while (pending.length > 0) {
    const { level, inner, edges } = pending.pop()!;
    const { form, names } = level;
    if (form.ports.length > 0) found.add("signs port");
    form.boxes.forEach((box, place) => {
      const tone = addPaint(names[box.path]);
      const open = inner.get(place);
      if (open) {
        found.add("signs frame");
        pending.push(open);
        return;
      }
      const { outline, category, texts, stack, bar, badges } = book.faces[box.face];
      if (outline === "stub" || outline === "junction" || outline === "caption") {
        if (texts.length > 0) found.add(`signs ${outline}`);
      } else if (!tone) {
        found.add(`categories ${category}`);
      }
      if (stack) found.add("signs stack");
      if (bar && bar[3] > 0) found.add(`signs share-${bar[0]}`);
      for (const badge of badges) found.add(badge[5] ? "signs chip" : "signs badge");
      if (texts.some(([, , text, , anchor]) => text === sizes.opener && anchor === "end")) {
        found.add("signs opener");
      }
    });
    edges.forEach(({ isDrawn, flags }, number) => {
      if (!isDrawn) return;
      const kind = flags & CAPTURED ? "captured" : flags & CONTROL ? "control" : "data";
      const differing = flags & FORMER ? "former" : flags & NEWER ? "newer" : null;
      found.add(`signs ${differing ?? kind}`);
      if (!hasDifferences) addPaint(names[form.edges[number].path]);
    });
  }
  return found;
}
