"""What lacks one part of a pattern of sequences, graphs or heads is not told to be one."""

from __future__ import annotations

import pytest

from netloupe.explorer.patterns import recognise
from netloupe.explorer.patterns.known_patterns import PATTERNS

from .example_models import list_block, read_example
from .near_misses_sequence import NearMiss, read_near_misses

_KNOWN = {pattern.id: pattern for pattern in PATTERNS}
_NEAR_MISSES = read_near_misses()
_LEAST = 2
#: families of operators that these patterns are coloured as, and some more are of no family
_FAMILIES = {"attention", "recurrent"}


def test_every_pattern_has_two_near_misses() -> None:
    assert _NEAR_MISSES.keys() >= {one.id for one in PATTERNS if one.family in _FAMILIES}
    assert _NEAR_MISSES.keys() <= _KNOWN.keys()
    assert all(len(several) >= _LEAST for several in _NEAR_MISSES.values())


@pytest.mark.parametrize(
    ("name", "near_miss"),
    [
        pytest.param(name, one, id=f"{name}-{one.lacks}")
        for name, several in _NEAR_MISSES.items()
        for one in several
    ],
)
def test_what_lacks_a_part_is_none(name: str, near_miss: NearMiss) -> None:
    text = _KNOWN[name].example
    for old, new in near_miss.edits:
        assert old in text, old
        text = text.replace(old, new)
    found = recognise(list_block(read_example(text)))
    assert (found.text if found is not None else "") == near_miss.told != _KNOWN[name].told
