"""A list of boxes without edges, such as five hundred inputs: in columns, read downwards."""

from __future__ import annotations

import math

from .level import Level
from .placement import Placement

#: a list is about so much wider than high
_RATIO = 1.6
_GAP = 10.0
#: between columns, where boxes of other widths may stand
_GUTTER = 14.0


def place_columns(level: Level) -> Placement:
    """Place boxes in as many columns as make a page of a screen's proportions."""
    children = level.children
    count = max(len(children), 1)
    breadth = sum(child.width + _GUTTER for child in children) / count
    length = sum(child.height + _GAP for child in children) / count
    columns = max(1, math.ceil(math.sqrt(_RATIO * count * length / breadth)) if breadth else 1)
    rows = math.ceil(count / columns)
    boxes = []
    left = bottom = 0.0
    for start in range(0, len(children), rows):
        column = children[start : start + rows]
        width = max(child.width for child in column)
        top = 0.0
        for child in column:
            boxes.append((left + child.width / 2, top + child.height / 2))
            top += child.height + _GAP
        left += width + _GUTTER
        bottom = max(bottom, top)
    width, height = max(left - _GUTTER, 0.0), max(bottom - _GAP, 0.0)
    return Placement(width, height, boxes, [], [], [])
