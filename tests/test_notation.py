"""Numbers, bytes and lists in words."""

from __future__ import annotations

import math

import numpy as np
import pytest

from netloupe.explorer.notation import (
    clip_text,
    join_parts,
    write_bytes,
    write_count,
    write_dims,
    write_float,
    write_number,
)


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (999, "999 bytes"),
        (1000, "1.0 kB"),
        (1024, "1.0 kB"),
        (1536, "1.5 kB"),
        (99_940, "99.9 kB"),
        (99_960, "100 kB"),
        (999_499, "999 kB"),
        (999_500, "1.0 MB"),
        (123_400_000, "123 MB"),
        (5 * 10**12, "5.0 TB"),
        (999 * 10**18, "999 EB"),
        (10**400, "over 1,000 EB"),
    ],
)
def test_bytes_have_a_unit_and_at_most_three_digits(count: int, text: str) -> None:
    assert write_bytes(count) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.5, "0.5"),
        (float(np.float32(0.1)), "0.1"),
        (float(np.float32(16777217.0)), "16777216"),
        (0.1, "0.1"),
        (1 / 3, "0.3333333333333333"),
        (float(np.float32(1 / 3)), "0.333333343"),
        (math.nan, "nan"),
        (-math.inf, "-inf"),
        (1e300, "1e+300"),
    ],
)
def test_floats_are_short_and_exact(number: float, text: str) -> None:
    assert write_float(number) == text
    assert number != number or float(np.float64(text)) == pytest.approx(number, rel=1e-7)


def test_numbers_have_six_digits() -> None:
    assert write_number(1e-5) == "1e-5"
    assert write_number(0.1 + 0.2) == "0.3"
    assert write_number(float("-inf")) == "-inf"
    assert write_number(1234567) == "1.23457e6"


def test_lists_are_bounded() -> None:
    assert write_dims((64, 3, 7, 7)) == "[64, 3, 7, 7]"
    assert write_dims(()) == ""
    assert write_dims(range(5_000), 2) == "[0, 1, … 4,998 more]"
    assert join_parts(["a", "b"], 2) == "a, b"
    assert join_parts(["a"], 4_901) == "a, … 4,900 more"
    assert join_parts([], 0) == ""


def test_counts_and_clipped_texts() -> None:
    assert (write_count(1, "node"), write_count(4900, "node")) == ("1 node", "4,900 nodes")
    assert (clip_text("abcd", 4), clip_text("abcde", 4)) == ("abcd", "abc…")
