"""Where the blocks of a run begin: what repeats without an end can be cut at many places.

An author numbers what belongs together alike, and few values lead from one block to the next: in a
network with residuals the stream alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from netloupe.explorer.model import Node

from .group import Group
from .member_nodes import list_nodes_inside
from .runs import Run

Child = Group | Node

_NUMBER = re.compile(r"\d+")
#: so many users of a value are asked where they are
_MOST_USERS = 1_000


def are_of_one_number(labels: Sequence[str]) -> bool:
    """Return whether several modules have the same number: ``sa.1`` and ``ca.1``."""
    found = [match[0] for label in labels if (match := _NUMBER.search(label)) is not None]
    return len(found) > 1 and len(found) == len(labels) and len({*found}) == 1


def count_crossing(children: Sequence[Child], run: Run) -> list[int]:
    """Return how many values lead on from before each place of a period in a run, by that place.

    Counted are those that two periods give, as all others do; not what several periods take at one
    place, which is made for all of them. Linear in the nodes of the run.
    """
    period = run.period
    places = {
        node: place
        for place in range(run.low, run.high)
        for node in list_nodes_inside([children[place]])
    }
    middle = run.low + max((run.high - run.low) // period // 2, 1) * period
    crossing = [0] * period
    for place in range(middle - period, min(middle + period, run.high)):
        for node in list_nodes_inside([children[place]]):
            for value in node.outputs:
                users = value.users[:_MOST_USERS] if value is not None else ()
                taken = {places[user] for user in users if user in places}
                if taken.isdisjoint(other + period for other in taken):
                    last = min(max(taken, default=place), place + period)
                    for border in range(place + 1, last + 1):
                        crossing[(border - run.low) % period] += 1
    return crossing
