"""Whether controls overlap, leave what they stand in, or have text that is cut.

A control is what can be pressed, typed into or dragged, and each piece of text. Menus, the help
and the list of hits lie over the picture for a moment: while one is open, it is what is looked at.
"""

from __future__ import annotations

import time
from typing import Any

#: the minimap fades when the window has come to rest
PATIENCE_SECONDS = 8.0

#: returns a list of complaints
CHECK = """() => {
  const host = document.querySelector('[data-netloupe="canvas"]');
  const root = host.shadowRoot;
  const frame = root.querySelector(".nl-canvas");
  const inspector = document.querySelector(".nl-inspector");
  const complaints = [];
  const SLACK = 1;

  const isShown = (element) => element.getClientRects().length > 0
    && element.checkVisibility({ visibilityProperty: true })
    && !element.closest(".nl-unseen");
  const name = (element) =>
    `${element.tagName.toLowerCase()}.${element.getAttribute("class") ?? ""}`
    + `[${(element.title || element.textContent).trim().slice(0, 24)}]`;
  const write = ({ left, top, right, bottom }) =>
    [left, top, right, bottom].map(Math.round).join(" ");
  const cutBy = (rect, box) => rect.left < box.left - SLACK || rect.right > box.right + SLACK
    || rect.top < box.top - SLACK || rect.bottom > box.bottom + SLACK;
  const overlap = (a, b) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > SLACK
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > SLACK;
  const parentOf = (element) => element.parentElement ?? element.getRootNode().host ?? null;

  // what scrolls may hide the rest of it, in that direction
  const look = (layer, whole) => {
    const shown = [...layer.querySelectorAll("*")].filter(isShown);
    const controls = shown.filter((element) =>
      element.matches("button, input, select, summary, [role=separator], .nl-zoom, .nl-minimap"));
    const texts = [];
    for (const element of shown) {
      if (element.closest("svg, style, option") || element.matches("canvas, input")) continue;
      const own = [...element.childNodes]
        .filter((node) => node.nodeType === 3 && /[^\\s\\u200b]/.test(node.textContent));
      if (own.length > 0) texts.push([element, own]);
    }
    for (const element of controls) {
      const rect = element.getBoundingClientRect();
      if (rect.width < 4 || rect.height < 4) complaints.push(`${name(element)} is too small`);
      if (!scrolls(layer) && !isScrolled(element, layer) && cutBy(rect, whole))
        complaints.push(`${name(element)} at ${write(rect)} leaves ${write(whole)}`);
    }
    controls.forEach((a, k) => controls.slice(k + 1).forEach((b) => {
      if (a.contains(b) || b.contains(a)) return;
      if (isScrolled(a, layer) || isScrolled(b, layer)) return;
      if (overlap(a.getBoundingClientRect(), b.getBoundingClientRect()))
        complaints.push(`${name(a)} and ${name(b)} overlap`);
    }));
    for (const [element, own] of texts) {
      const style = getComputedStyle(element);
      const elided = style.textOverflow === "ellipsis" && style.overflowX !== "visible";
      const range = document.createRange();
      range.selectNodeContents(own[0]);
      const rect = range.getBoundingClientRect();
      if (elided) {
        if (element.scrollWidth <= element.clientWidth + SLACK) continue;
        if (element.clientWidth < 8) complaints.push(`${name(element)} has no room`);
        if (!element.closest("[title]"))
          complaints.push(`${name(element)} is cut and not told in full`);
        continue;
      }
      if (element.clientWidth > 0 && element.scrollWidth > element.clientWidth + SLACK
          && style.overflowX !== "auto" && style.overflowX !== "scroll")
        complaints.push(`${name(element)} is cut at ${element.clientWidth} pixels`);
      for (let box = parentOf(element); box && box !== layer; box = parentOf(box)) {
        const { overflowX, overflowY } = getComputedStyle(box);
        if (overflowX === "visible" && overflowY === "visible") continue;
        const around = box.getBoundingClientRect();
        const across = rect.left < around.left - SLACK || rect.right > around.right + SLACK;
        const down = rect.top < around.top - SLACK || rect.bottom > around.bottom + SLACK;
        if ((across && overflowX === "hidden") || (down && overflowY === "hidden"))
          complaints.push(`${name(element)} is cut by ${name(box)}`);
        if (overflowX === "auto" || overflowY === "auto") break;
      }
    }
    const boxes = texts.map(([element, own]) => {
      const range = document.createRange();
      range.selectNodeContents(own[0]);
      return [element, range.getBoundingClientRect()];
    });
    boxes.forEach(([a, left], k) => boxes.slice(k + 1).forEach(([b, right]) => {
      if (isScrolled(a, layer) !== isScrolled(b, layer) || a.contains(b) || b.contains(a)) return;
      if (isElided(a) || isElided(b)) return;
      if (overlap(left, right)) complaints.push(`the texts ${name(a)} and ${name(b)} overlap`);
    }));
  };
  const isElided = (element) => getComputedStyle(element).textOverflow === "ellipsis";
  const scrolls = (box) => ["auto", "scroll"].includes(getComputedStyle(box).overflowY)
    && box.scrollHeight > box.clientHeight + SLACK;
  const isScrolled = (element, layer) => {
    for (let box = element; box && box !== layer; box = parentOf(box))
      if (box !== element && scrolls(box)) return true;
    return false;
  };

  const window_ = { left: 0, top: 0, right: innerWidth, bottom: Infinity };
  const around = host.getBoundingClientRect();
  if (cutBy(around, window_)) complaints.push(`the canvas at ${write(around)} leaves the page`);
  if (frame.clientWidth < 200 || root.querySelector(".nl-room").clientHeight < 60)
    complaints.push("the picture has no room");
  const over = [".nl-menu", ".nl-help", ".nl-search-panel", ".nl-question"]
    .map((name) => root.querySelector(name)).find(isShown);
  if (over) {
    const rect = over.getBoundingClientRect();
    if (cutBy(rect, frame.getBoundingClientRect()))
      complaints.push(`${name(over)} at ${write(rect)} leaves the canvas`);
    look(over, frame.getBoundingClientRect());
  } else {
    look(frame, frame.getBoundingClientRect());
    for (const handle of root.querySelectorAll(".nl-handle")) {
      if (isShown(handle) && cutBy(handle.getBoundingClientRect(), around))
        complaints.push(`${name(handle)} leaves the canvas`);
    }
  }
  if (inspector && isShown(inspector)) {
    const rect = inspector.getBoundingClientRect();
    if (overlap(rect, around)) complaints.push("inspector and canvas overlap");
    if (cutBy(rect, window_)) complaints.push(`the inspector at ${write(rect)} leaves the page`);
    if (inspector.scrollWidth > inspector.clientWidth + SLACK)
      complaints.push(`the inspector is cut: ${inspector.scrollWidth} of ${inspector.clientWidth}`);
    look(inspector, { ...rect.toJSON(), top: -Infinity, bottom: Infinity });
  }

  // what stands in the picture covers neither boxes nor their texts
  const at = (path) => host.netloupe.bounds(path);
  const paths = host.netloupe.paths();
  const boxes = paths.map((path) => ({ path, ...at(path) }))
    .map((box) => ({ ...box, left: box.x, top: box.y, right: box.x + box.width,
      bottom: box.y + box.height }));
  for (const control of root.querySelectorAll(".nl-stepper, .nl-minimap")) {
    if (!isShown(control)) continue;
    const rect = control.getBoundingClientRect();
    for (const box of boxes) {
      const isAround = box.left <= rect.left + SLACK && box.top <= rect.top + SLACK
        && box.right >= rect.right - SLACK && box.bottom >= rect.bottom - SLACK;
      if (!isAround && overlap(rect, box)) complaints.push(`${name(control)} covers ${box.path}`);
    }
  }
  return [...new Set(complaints)];
}"""


def find_faults(page: Any, *, after_fading: bool = True) -> list[str]:
    """Return what is wrong with the layout of an explorer once it rests; nothing where all is well.

    Parameters
    ----------
    page
        A Playwright page with one explorer, or one canvas alone.
    after_fading
        Whether the minimap is waited for, which covers boxes until it fades: with many looks at
        one page it is enough to see that at one of them.
    """
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        found = [str(complaint) for complaint in page.evaluate(CHECK)]
        if not after_fading:
            found = [each for each in found if not _is_covered_by_minimap(each)]
        if not found or time.monotonic() > end:
            return found
        page.wait_for_timeout(200)


def _is_covered_by_minimap(complaint: str) -> bool:
    return "nl-minimap" in complaint and " covers " in complaint
