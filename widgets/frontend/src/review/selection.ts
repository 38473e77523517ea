/** Tells a review what is selected in the picture. */

import type { Traits } from "../host/connection";
import type { CanvasTraits } from "../host/traits";
import type { ReviewMessage } from "./connection";

/** Send a message now, and whenever something else is selected; returns what ends it. */
export function followSelection(
  traits: Traits<CanvasTraits>,
  receive: (message: ReviewMessage) => void,
): () => void {
  let isDue = false;
  const tell = (): void => {
    isDue = false;
    const [path, all] = [traits.get("selection"), traits.get("selected_paths")];
    const paths = path === "" ? [] : all[0] === path ? all : [path];
    receive({ type: "selection", paths });
  };
  const tellSoon = (): void => {
    // both traits are set one after the other
    if (!isDue) queueMicrotask(tell);
    isDue = true;
  };
  const stops = [traits.follow("selection", tellSoon), traits.follow("selected_paths", tellSoon)];
  tellSoon();
  return () => stops.forEach((stop) => stop());
}
