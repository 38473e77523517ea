"""A pattern's name is told only where all of what makes it one is there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import pytest
from _pytest.mark import ParameterSet

from netloupe.explorer.model import Node
from netloupe.explorer.patterns import find_ingredients, name_block, recognise
from netloupe.explorer.patterns.known_patterns import PATTERNS
from netloupe.explorer.patterns.pattern_examples import EXAMPLES

from .example_models import list_block, read_example
from .near_misses import ChangedExample, read_changes
from .near_misses_estimates import TEXT as OF_ESTIMATES
from .near_misses_fields import TEXT as OF_FIELDS
from .near_misses_images import TEXT as OF_IMAGES
from .near_misses_layers import TEXT as OF_LAYERS
from .near_misses_maps import TEXT as OF_MAPS
from .near_misses_mixing import SPELLINGS as SPELLINGS_OF_MIXING
from .near_misses_mixing import TEXT as OF_MIXING
from .near_misses_sequence import SPELLINGS
from .near_misses_sequence import TEXT as OF_SEQUENCES
from .near_misses_signals import SPELLINGS as SPELLINGS_OF_SIGNALS
from .near_misses_signals import TEXT as OF_SIGNALS
from .near_misses_streams import SPELLINGS as SPELLINGS_OF_STREAMS
from .near_misses_streams import TEXT as OF_STREAMS
from .near_misses_units import TEXT as OF_UNITS

_KNOWN = {pattern.id: pattern for pattern in PATTERNS}
_TEXTS = (
    OF_ESTIMATES,
    OF_FIELDS,
    OF_IMAGES,
    OF_LAYERS,
    OF_MAPS,
    OF_MIXING,
    OF_SEQUENCES,
    OF_SIGNALS,
    OF_STREAMS,
    OF_UNITS,
)
_SPELLINGS = (SPELLINGS, SPELLINGS_OF_MIXING, SPELLINGS_OF_SIGNALS, SPELLINGS_OF_STREAMS)
_LEAST = 2
#: of these nothing but the name of an operator makes a block one
_BY_OPERATOR = {"estimator"}
#: what is left of these is one of the same name that lacks something else, or holds such ones
_OF_SUCH = {"joined-block", "same"}
#: these are kinds of what is left, told apart by facts; a stack is named after attention and MLP
_BY_FACTS = {"low-rank-attention", "recurrent-layers", "reduced-attention", "rotated-attention"}
_BY_PARTS = {"sublayer", "transformer-block"}
_KEEPING_THE_NAME = _OF_SUCH | _BY_FACTS | _BY_PARTS


def _list_cases(texts: Sequence[str]) -> Iterator[ParameterSet]:
    for text in texts:
        for name, several in read_changes(text).items():
            for one in several:
                yield pytest.param(name, one, id=f"{name}-{one.change}")


def _tell(nodes: Sequence[Node]) -> str:
    found = recognise(nodes)
    return found.text if found is not None else ""


def test_every_pattern_has_two_near_misses() -> None:
    counts = Counter(
        name for text in _TEXTS for name, several in read_changes(text).items() for _ in several
    )
    assert counts.keys() == _KNOWN.keys() - _BY_OPERATOR
    assert min(counts.values()) >= _LEAST


@pytest.mark.parametrize(("name", "near_miss"), [*_list_cases(_TEXTS)])
def test_what_lacks_a_part_is_none(name: str, near_miss: ChangedExample) -> None:
    text, told = EXAMPLES[name]
    nodes = near_miss.read(text)
    assert _tell(nodes) == near_miss.told != told
    whole = recognise(list_block(read_example(text)))
    assert whole is not None
    found = {name_block(nodes), *(one.name for one in find_ingredients(nodes))}
    assert name in _KEEPING_THE_NAME or whole.name not in found


@pytest.mark.parametrize(("name", "spelling"), [*_list_cases(_SPELLINGS)])
def test_other_spellings_are_known(name: str, spelling: ChangedExample) -> None:
    text, told = EXAMPLES[name]
    assert _tell(spelling.read(text)) == (spelling.told or told)
