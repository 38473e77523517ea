"""On which line each rung stands."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from netloupe.explorer.ladder.order import order_lines
from netloupe.explorer.ladder.rungs import Rung


def arrange(left: str, right: str) -> list[str]:
    """Return the lines of two columns in which equal letters are pairs: ``ab`` for a beside b."""
    lefts, rights = ([Rung(letter, (), ()) for letter in text] for text in (left, right))
    named = {rung.label: rung for rung in rights}
    pairs = {rung: named[rung.label] for rung in lefts if rung.label in named}
    lines = order_lines(lefts, rights, pairs)
    return ["".join(rung.label if rung else "." for rung in line) for line in lines]


def test_what_one_side_has_alone_has_a_line_of_its_own() -> None:
    assert arrange("abcd", "abd") == ["aa", "bb", "c.", "dd"]
    assert arrange("ad", "abcd") == ["aa", ".b", ".c", "dd"]
    assert arrange("axb", "ayb") == ["aa", "x.", ".y", "bb"]


def test_neighbours_that_are_exchanged_stay_where_they_are() -> None:
    assert arrange("abcd", "acbd") == ["aa", "bc", "cb", "dd"]
    assert arrange("abcde", "ebcda") == ["ae", "bb", "cc", "dd", "ea"]


def test_all_but_the_one_that_moved_stay_on_one_line() -> None:
    assert arrange("abcdef", "acdefb") == ["aa", "b.", "cc", "dd", "ee", "ff", ".b"]


@given(st.permutations("abcdefgh"), st.permutations("defghijk"), st.integers(0, 8))
def test_both_columns_keep_their_order(left: list[str], right: list[str], count: int) -> None:
    one, other = "".join(left[:count]), "".join(right)
    lines = arrange(one, other)
    assert "".join(line[0] for line in lines).replace(".", "") == one
    assert "".join(line[1] for line in lines).replace(".", "") == other
    for line in lines:
        if line[0] not in other:  # "." too
            assert line[1] == "." or line[0] == "."
