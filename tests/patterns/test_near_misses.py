"""A pattern's name is told only where all of what makes it one is there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from netloupe.explorer.patterns import find_ingredients, name_block, recognise
from netloupe.explorer.patterns.known_patterns import PATTERNS

from .example_models import list_block, read_example
from .near_misses import NearMiss, read_near_misses
from .near_misses_images import TEXT as OF_IMAGES
from .near_misses_layers import TEXT as OF_LAYERS
from .near_misses_sequence import read_near_misses as read_near_misses_of_sequences

_KNOWN = {pattern.id: pattern for pattern in PATTERNS}
_NEAR_MISSES = read_near_misses(OF_IMAGES) | read_near_misses(OF_LAYERS)
_LEAST = 2
#: of these nothing but the name of an operator makes a block one
_BY_OPERATOR = {"estimator"}
#: what is left of these is one of the same name that lacks something else, or holds such ones
_OF_SUCH = {"joined-block", "same"}


def _list_near_misses() -> Iterator[object]:
    for name, several in _NEAR_MISSES.items():
        for one in several:
            yield pytest.param(name, one, id=f"{name}-{one.lacks}")


def test_every_pattern_has_two_near_misses() -> None:
    others = read_near_misses_of_sequences().keys()
    assert _NEAR_MISSES.keys() | others == _KNOWN.keys() - _BY_OPERATOR
    assert all(len(several) >= _LEAST for several in _NEAR_MISSES.values())


@pytest.mark.parametrize(("name", "near_miss"), [*_list_near_misses()])
def test_what_lacks_a_part_is_none(name: str, near_miss: NearMiss) -> None:
    pattern = _KNOWN[name]
    nodes = near_miss.read(pattern.example)
    found = recognise(nodes)
    assert (found.text if found is not None else "") == near_miss.told != pattern.told
    whole = recognise(list_block(read_example(pattern.example)))
    assert whole is not None
    told = {name_block(nodes), *(one.name for one in find_ingredients(nodes))}
    assert name in _OF_SUCH or whole.name not in told
