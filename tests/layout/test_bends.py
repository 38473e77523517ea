"""Ways along straight lines with round corners."""

from __future__ import annotations

import pytest

from netloupe.explorer.layout.bends import round_corners


@pytest.mark.parametrize(("first", "pieces"), [(20.0, 3), (10.0, 2), (8.0, 2)])
def test_a_corner_that_begins_at_once_has_no_empty_line_before_it(
    first: float, pieces: int
) -> None:
    points = [0.0, 0.0, *round_corners([(0, 0), (0, first), (90, first)], 10.0)]
    joints = list(zip(points[::6], points[1::6], strict=True))
    assert len(joints) == len(set(joints)) == pieces + 1
    assert joints[-1] == (90, first)
