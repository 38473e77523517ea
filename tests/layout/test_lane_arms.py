"""Arms are lanes where one leads through rows that others have, too."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from netloupe.explorer.layout.lane_arms import Arm
from netloupe.explorer.layout.lane_shape import are_lanes


def _arm(*rows: int) -> Arm:
    return Arm((*range(len(rows)),), rows, rows[0] > rows[-1], (min(rows), max(rows)))


@pytest.mark.parametrize(
    ("columns", "are"),
    [
        # a pyramid: a way down, and a head for each of three rows
        ([[_arm(0, 1, 2, 3, 4)], [_arm(2), _arm(3), _arm(4)]], True),
        ([[_arm(0, 1, 2)], [_arm(1), _arm(2)]], True),
        # one way up from what has all maps, with something beside its last row
        ([[_arm(0), _arm(0)], [_arm(3)], [_arm(5)], [_arm(4, 3, 2, 1, 1)], [_arm(1)]], False),
        # two inputs side by side are no row that is led through
        ([[_arm(0), _arm(0)], [_arm(1, 2, 3)], [_arm(2)]], False),
        ([[_arm(0)], [_arm(0)], [_arm(1)], [_arm(1)], [_arm(2)]], False),
    ],
)
def test_arms_share_rows_that_one_leads_through(
    columns: Sequence[Sequence[Arm]], are: bool
) -> None:
    assert are_lanes(columns, set()) == are
