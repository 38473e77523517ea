"""What stands where in a drawn ladder: its texts and boxes, measured."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple
from xml.etree import ElementTree

from netloupe.explorer.render.text import measure_text

_SVG = "{http://www.w3.org/2000/svg}"


class Box(NamedTuple):
    """A rectangle on the page, and the text in it."""

    left: float
    top: float
    right: float
    bottom: float
    text: str = ""
    size: float = 0.0

    def overlaps(self, other: Box) -> bool:
        """Return whether two rectangles have more than a border in common."""
        across = min(self.right, other.right) - max(self.left, other.left)
        down = min(self.bottom, other.bottom) - max(self.top, other.top)
        return across > 0.5 and down > 0.5


def read_picture(svg: bytes) -> tuple[list[Box], list[Box], tuple[float, float]]:
    """Return the texts, the rectangles and the size of an SVG."""
    root = ElementTree.fromstring(svg)
    found = [*_walk(root, 0.0, 0.0)]
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    texts = [box for box in found if box.text]
    return texts, [box for box in found if not box.text], (width, height)


def _walk(element: ElementTree.Element, x: float, y: float) -> Iterator[Box]:
    moved = re.fullmatch(r"translate\(([-\d.]+) ([-\d.]+)\)", element.get("transform", ""))
    if moved is not None:
        x, y = x + float(moved[1]), y + float(moved[2])
    if element.tag == f"{_SVG}text":
        yield _measure(element, x, y)
    if element.tag == f"{_SVG}rect" and "x" in element.attrib:
        left, top, width, height = (
            float(element.attrib[name]) for name in ("x", "y", "width", "height")
        )
        yield Box(x + left, y + top, x + left + width, y + top + height)
    for child in element:
        yield from _walk(child, x, y)


def _measure(element: ElementTree.Element, x: float, y: float) -> Box:
    text, size = element.text or "", float(element.attrib["font-size"])
    width = measure_text(text, size, element.get("font-weight") == "bold")
    left, baseline = x + float(element.attrib["x"]), y + float(element.attrib["y"])
    left -= {"middle": width / 2, "end": width}.get(element.get("text-anchor", ""), 0.0)
    return Box(left, baseline - 0.75 * size, left + width, baseline + 0.2 * size, text, size)


def list_faults(svg: bytes) -> list[str]:
    """Return what is wrong with how a ladder is laid out: overlaps, small text, off the page."""
    texts, boxes, (width, height) = read_picture(svg)
    faults = []
    for place, one in enumerate(texts):
        if one.size < 12:
            faults.append(f"{one.text!r} is {one.size} px")
        faults += [
            f"{one.text!r} over {other.text!r}" for other in texts[:place] if one.overlaps(other)
        ]
    for one in (*texts, *boxes):
        if one.left < 0 or one.top < 0 or one.right > width or one.bottom > height:
            faults.append(f"off the page: {one}")
    for one in texts:  # a text that begins in a box ends in it
        for box in boxes:
            begins = box.left <= one.left <= box.right and box.top <= one.top <= box.bottom
            if begins and one.right > box.right + 0.5 and box.right - box.left > 2:
                faults.append(f"{one.text!r} leaves its box")
    return faults
