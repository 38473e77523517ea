/** What a page of its own shows: a canvas, and an inspector beside it. */

import { CanvasView } from "./canvas";
import { makeElement } from "./controls/elements";
import type { CanvasConnection } from "./host/connection";
import { findPlace } from "./standalone/around";
import type { Inspector } from "./standalone/inspector";

/**
 * Put them on the page.
 *
 * @param begun called once the first picture has been painted
 */
export function showExplorer(
  host: CanvasConnection,
  inspector: Inspector,
  begun: () => void = () => undefined,
): CanvasView {
  const around = makeElement("div", "nl-explorer");
  nameLandmarks(around, inspector.element, host.traits.get("title"));
  const canvas = makeElement("div", "nl-explorer-canvas");
  around.append(canvas, inspector.element);
  // the page may still be read: what comes later stands behind it
  findPlace().prepend(around);
  const follow = (): void => {
    document.documentElement.dataset.theme = host.traits.get("shown_theme");
  };
  host.traits.follow("shown_theme", follow);
  const view = new CanvasView(host, canvas, begun);
  // before anything in the page was clicked, nothing has the keyboard; and a description, which
  // keeps its keys, has no use for this one
  const onKey = (event: KeyboardEvent): void => {
    const { key, ctrlKey, metaKey, altKey } = event;
    const target = event.target as Element;
    const isFree = target === document.body || target === document.documentElement;
    if (key !== "/" || ctrlKey || metaKey || altKey) return;
    if (!isFree && !target.closest(".nl-inspector-part")) return;
    event.preventDefault();
    event.stopPropagation();
    view.beginSearch();
  };
  document.addEventListener("keydown", onKey, true);
  follow();
  return view;
}

/** Name the parts of the page for those who go from one to the next without seeing them. */
function nameLandmarks(around: HTMLElement, inspector: HTMLElement, title: string): void {
  inspector.setAttribute("role", "region");
  inspector.setAttribute("aria-label", "Inspector and review");
  // of a page around it this is a part
  const isWhole = document.querySelector("main, [role=main], h1") === null;
  around.setAttribute("role", isWhole ? "main" : "region");
  around.setAttribute("aria-label", "Explorer");
  if (!isWhole) return;
  const heading = makeElement("h1", "nl-page-heading");
  heading.textContent = title || document.title;
  around.append(heading);
}
