/**
 * The text of a description: what it says, and links that the kernel follows.
 *
 * The kernel's side is widgets/description_text.py, with a trait of the same name.
 */

import { makeWidget } from "./host/anywidget";
import type { Connection } from "./host/connection";
import { keepKeys } from "./host/kept_keys";
import type { DescriptionRequest } from "./host/messages";
import { DESCRIPTION_TRAITS, type DescriptionTraits } from "./host/traits";

function showDescription(
  connection: Connection<DescriptionTraits, DescriptionRequest>,
  parent: HTMLElement,
): () => void {
  const text = document.createElement("div");
  text.className = "nl-inspector-part";
  text.tabIndex = -1;
  keepKeys(text);
  let isLonger = false;
  let isLost = false;

  const show = (): void => {
    const buttons = (): HTMLElement[] => [...text.querySelectorAll("button")];
    const place = buttons().indexOf(document.activeElement as HTMLElement);
    text.innerHTML = connection.traits.get("html");
    // who pressed a key goes on from the first new row, or from the beginning of what is new
    if (place >= 0) ((isLonger && buttons()[place]) || text).focus({ preventScroll: true });
    // another description is read from its beginning
    const inspector = text.closest(".nl-inspector");
    if (!isLonger && inspector) inspector.scrollTop = 0;
    isLonger = false;
  };
  const lose = (): void => {
    isLost = true;
    for (const button of text.querySelectorAll("button")) button.disabled = true;
  };
  const onClick = (event: MouseEvent): void => {
    const button = (event.target as Element).closest<HTMLElement>("button");
    if (!button || isLost) return;
    const { path, more } = button.dataset;
    isLonger = more !== undefined;
    if (path !== undefined) connection.send({ follow: path });
    else if (isLonger) connection.send({ more: Number(more) });
  };
  text.addEventListener("click", onClick);
  const stops = [connection.traits.follow("html", show), connection.onLost(lose)];
  show();
  parent.append(text);
  return () => {
    for (const stop of stops) stop();
    text.remove();
  };
}

export default makeWidget(DESCRIPTION_TRAITS, showDescription);
