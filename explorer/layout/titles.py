"""Titles of open items: the room that they take in the upper corners, which edges keep clear of."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .level import Level
from .placement import Curves, Floats, Places, sample_pieces

#: room between an open item's border and what is inside, at its sides
SIDE = 18.0
#: an open item is turned round, left for right, where it can be so much narrower then
LEAST_GAIN = 16.0
#: from the letters of a title to what is below it
_BELOW = 7.0
#: how near to the letters' ends edges may come
_GAP = 2.0
#: points on each piece of a curve by which it is found how near to a title it comes
_STEPS = 24


class Title(NamedTuple):
    """The room of a title in the upper corners of an open item.

    Parameters
    ----------
    left, right
        How far it reaches from the left and from the right border, 0 where there is nothing.
    height
        Where its letters end.
    """

    left: float
    right: float
    height: float

    @property
    def width(self) -> float:
        """The least width of the item."""
        return self.left + self.right

    @property
    def band(self) -> float:
        """Height at which what is below the title may begin."""
        return self.height + _BELOW


def fit_title(places: Places, title: Title) -> tuple[float, float]:
    """Return the width of an open item, and how far its inside is from its left border.

    What comes in does so between the two parts of the title, which no edge may run through.
    """
    width = max(places.width + 2 * SIDE, title.width)
    shift = (width - places.width) / 2
    if len(places.inputs):
        first, last = float(places.inputs[:, 0].min()), float(places.inputs[:, 0].max())
        shift = max(shift, title.left - first)
        width = max(width, shift + last + title.right)
    return max(width, shift + places.width + SIDE), shift


def is_better_mirrored(level: Level, places: Places, title: Title) -> bool:
    """Return whether an open item would be narrower with left and right exchanged.

    It is where what comes in beside its main stream, such as a mask, does so at the left, where
    most of the title stands.
    """
    if level.direction != "TB" or not len(places.inputs):
        return False
    width, _ = fit_title(places, title)
    return fit_title(places.mirrored(), title)[0] < width - LEAST_GAIN


def list_areas(title: Title, width: float) -> Floats:
    """Return the areas of a title in an item of some width: left, top, right, bottom of each."""
    areas = [(0.0, 0.0, title.left, title.height), (width - title.right, 0.0, width, title.height)]
    return np.array([area for area in areas if area[2] > area[0]], np.float64).reshape(-1, 4)


def measure_lead(edges: Curves, shift: tuple[float, float], areas: Floats) -> float:
    """Return how much lower edges must be for none to bend into a title's areas.

    Those that come in may turn aside below the border, and those from one box to another rise.
    """
    controls = edges.list_controls()
    if not len(controls) or not len(areas):
        return 0.0
    points = (sample_pieces(controls, _STEPS) + np.array(shift)).reshape(-1, 2)
    left, _, right, bottom = areas.T[:, None]
    x, y = points[:, 0, None], points[:, 1, None]
    meets = (x > left + _GAP) & (x < right - _GAP) & (y < bottom)
    lowest = float(areas[:, 3].max())
    highest = float(points[meets.any(axis=1), 1].min(initial=lowest))
    return float(min(math.ceil(lowest - highest), lowest + 1.0))


def measure_room(corners: Floats, sizes: Floats, title: Title, width: float) -> float:
    """Return how much lower boxes, given by upper left corners and sizes, have to be.

    None touches the title then.
    """
    near = (corners[:, 0] < title.left) | (corners[:, 0] + sizes[:, 0] > width - title.right)
    return max(title.band - float(corners[near, 1].min(initial=title.band)), 0.0)
