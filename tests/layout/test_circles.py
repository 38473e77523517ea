"""Edges come to circles from the side, unless a box stands there."""

from __future__ import annotations

import numpy as np
import pytest

from netloupe.explorer.layout.circles import end_at_sides

#: a circle of 22 pixels at (200, 100), and what comes to its top from the left above
CIRCLE = (200.0, 100.0, 22.0, 22.0)
CURVE = np.array([(50.0, 20.0), (50.0, 80.0), (100.0, 60.0), (211.0, 100.0)])


def end(*boxes: tuple[float, float, float, float], axis: int = 0) -> tuple[float, float]:
    """Return where the curve ends at the circle, with other boxes around it."""
    places = np.array([CIRCLE, *boxes])
    points = CURVE.copy()
    if axis:
        points, places = points[:, ::-1].copy(), places[:, [1, 0, 3, 2]]
    end_at_sides(points, np.array([3]), places, np.array([0]), axis)
    x, y = points[3, ::-1] if axis else points[3]
    return float(x), float(y)


@pytest.mark.parametrize("axis", [0, 1])
def test_an_edge_from_aside_ends_at_the_side(axis: int) -> None:
    assert end(axis=axis) == (200.0, 111.0)
    assert end((0.0, 0.0, 60.0, 20.0), (260.0, 90.0, 60.0, 40.0), axis=axis) == (200.0, 111.0)


@pytest.mark.parametrize("axis", [0, 1])
def test_an_edge_stays_where_a_box_beside_the_circle_is_in_the_way(axis: int) -> None:
    assert end((120.0, 95.0, 60.0, 30.0), axis=axis) == (211.0, 100.0)
