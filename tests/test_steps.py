"""Work is counted: the square of an input has sixteen times the steps for four times of it."""

from __future__ import annotations

import sys

import pytest

from tests.steps import count_calls, count_steps


def visit_pairs(count: int) -> int:
    found = 0
    for _ in range(count):
        for _ in range(count):
            found += 1
    return found


def test_lines_are_counted_and_the_result_comes_back() -> None:
    (few, _), (many, found) = (count_steps(lambda n=n: visit_pairs(n)) for n in (50, 200))
    assert found == 40_000
    assert 15 < many / few < 17
    assert count_steps(lambda: visit_pairs(50))[0] == few


def test_calls_are_counted() -> None:
    few, many = (count_calls(lambda n=n: [abs(each) for each in range(n)]) for n in (1_000, 4_000))
    assert 3.9 < many / few < 4.1


def test_whoever_looked_before_looks_again_also_after_an_error() -> None:
    before = sys.gettrace(), sys.getprofile()
    for count in (count_steps, count_calls):
        with pytest.raises(ZeroDivisionError):
            count(lambda: 1 // 0)
    assert (sys.gettrace(), sys.getprofile()) == before
