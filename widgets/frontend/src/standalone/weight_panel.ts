/** The part of the inspector that is about a weight's elements: a histogram and statistics. */

import { makeElement } from "../controls/elements";
import { drawHistogram, writeNotes } from "./histogram";
import type { Weight } from "./weights";

/** a picture is drawn no narrower than this */
const LEAST_WIDTH = 160;

/** Keep room for a histogram, and say that its weight is being read where that takes its time. */
export function awaitWeight(place: HTMLElement, patience: number): void {
  const room = makeElement("div", "nl-inspector-awaited nl-inspector-room");
  place.replaceChildren(room);
  setTimeout(() => (room.textContent = "Reading its elements …"), patience);
}

/** Show a weight in an element, and draw its histogram again whenever the width changes. */
export function showWeight(place: HTMLElement, weight: Weight): void {
  const { words, histogram } = weight;
  const picture = makeElement("div", "nl-histogram");
  const text = makeElement("div", "");
  text.innerHTML = words;
  place.replaceChildren(...(histogram ? [picture] : []), text);
  if (!histogram) return;
  const { facts, counts } = histogram;
  let drawn = 0;
  const draw = (): void => {
    const width = Math.max(Math.floor(place.clientWidth), LEAST_WIDTH);
    if (width === drawn) return;
    drawn = width;
    picture.innerHTML = writeNotes(facts) + drawHistogram(facts, counts, width);
  };
  const observer = new ResizeObserver(() => {
    if (place.isConnected) draw();
    else observer.disconnect();
  });
  observer.observe(place);
  draw();
}
