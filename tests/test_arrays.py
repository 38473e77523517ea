"""Distinct numbers are those that numpy finds."""

from __future__ import annotations

import numpy as np
import pytest

from netloupe.explorer.arrays import sort_distinct


@pytest.mark.parametrize(
    "numbers",
    [
        np.array([], np.int64),
        np.array([3]),
        np.array([2, -1, 2, 2, 7, -1]),
        np.array([[2, 1], [1, 0]]),
        np.array([2**64 - 1, 0, 2**63], np.uint64),
        np.array([0.5, -0.5, 0.5, np.inf]),
        np.random.default_rng(0).integers(0, 500, 10_000),
    ],
)
def test_distinct_numbers_are_sorted(numbers: np.ndarray) -> None:
    found = sort_distinct(numbers)
    assert found.dtype == numbers.dtype
    assert found.tolist() == np.unique(numbers).tolist()
