"""What lacks one part of a pattern of sequences, graphs or heads is not told to be one."""

from __future__ import annotations

import pytest
from _pytest.mark import ParameterSet

from netloupe.explorer.patterns import recognise
from netloupe.explorer.patterns.known_patterns import PATTERNS

from .example_models import list_block, read_example
from .near_misses_sequence import NearMiss, read_near_misses, read_spellings

_KNOWN = {pattern.id: pattern for pattern in PATTERNS}
_NEAR_MISSES = read_near_misses()
_SPELLINGS = read_spellings()
_LEAST = 2
#: families of operators that these patterns are coloured as, and some more are of no family
_FAMILIES = {"attention", "recurrent"}


def test_every_pattern_has_two_near_misses() -> None:
    assert _NEAR_MISSES.keys() >= {one.id for one in PATTERNS if one.family in _FAMILIES}
    assert _NEAR_MISSES.keys() <= _KNOWN.keys()
    assert all(len(several) >= _LEAST for several in _NEAR_MISSES.values())


def tell(name: str, given: NearMiss) -> str:
    """Return what the example of a pattern is told to be with some changes."""
    text = _KNOWN[name].example
    for old, new in given.edits:
        assert old in text, old
        text = text.replace(old, new)
    found = recognise(list_block(read_example(text)))
    return found.text if found is not None else ""


def list_cases(given: dict[str, list[NearMiss]]) -> list[ParameterSet]:
    return [
        pytest.param(name, one, id=f"{name}-{one.lacks}")
        for name, several in given.items()
        for one in several
    ]


@pytest.mark.parametrize(("name", "near_miss"), list_cases(_NEAR_MISSES))
def test_what_lacks_a_part_is_none(name: str, near_miss: NearMiss) -> None:
    assert tell(name, near_miss) == near_miss.told != _KNOWN[name].told


@pytest.mark.parametrize(("name", "spelling"), list_cases(_SPELLINGS))
def test_other_spellings_are_known(name: str, spelling: NearMiss) -> None:
    assert tell(name, spelling) == (spelling.told or _KNOWN[name].told)
