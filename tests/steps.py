"""How much work something is, counted and not timed: the same on every machine, however busy."""

from __future__ import annotations

import sys
from collections.abc import Callable
from cProfile import Profile
from itertools import count
from types import FrameType
from typing import Any, TypeVar

Result = TypeVar("Result")


def count_steps(work: Callable[[], Result]) -> tuple[int, Result]:
    """Return how many lines of Python run during some work, and its result.

    What one line has done elsewhere, such as numpy's work on an array, counts as one.
    """
    steps = count()

    def look(_frame: FrameType, event: str, _argument: Any) -> Any:
        if event == "line":
            next(steps)
        return look

    before = sys.gettrace()
    sys.settrace(look)
    try:
        result = work()
    finally:
        sys.settrace(before)
    return next(steps), result


def count_calls(work: Callable[[], object]) -> int:
    """Return how many functions are called during some work, those written in C too.

    Quicker than to count lines, and blind to a loop that calls nothing.
    """
    before = sys.getprofile()
    sys.setprofile(None)
    profile = Profile()  # counts in C: a function of ours for each call would take half the time
    try:
        profile.runcall(work)
    finally:
        sys.setprofile(before)
    return sum(entry.callcount for entry in profile.getstats())
