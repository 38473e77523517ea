"""Pools of one value side by side, told as one part: the largest value and the mean of places.

So a head describes a sequence by both, joined (J. Howard and S. Ruder, Universal Language Model
Fine-tuning for Text Classification, 2018, section 3.3, concat pooling).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from netloupe.explorer.patterns import Ingredient

#: names of what takes the largest, and the mean, of all places
_LARGEST = re.compile(r"(?:Global|Reduce)Max(?:Pool)?|MaxPool")
_MEAN = r"(?:Global|Reduce)(?:AveragePool|Mean)|AveragePool"
_BOTH = "Max and mean pool"


def join_pools(ingredients: Sequence[Ingredient]) -> Sequence[Ingredient]:
    """Return parts with a maximum and a mean beside each other, of the same, as one part."""
    kept: list[Ingredient] = []
    #: by place, which of those kept a part is
    places: list[int] = []
    for one in ingredients:
        one = one._replace(before=frozenset(places[n] for n in one.before if n < len(places)))
        last = kept[-1] if kept else None
        if last is not None and _are_both(last, one):
            kept[-1] = last._replace(name=_BOTH, kind=_BOTH, facts=())
        else:
            kept.append(one)
        places.append(len(kept) - 1)
    return kept if len(kept) < len(ingredients) else ingredients


def _are_both(one: Ingredient, other: Ingredient) -> bool:
    """Return whether two parts are a maximum and a mean of what the same parts give."""
    is_each = any(
        _LARGEST.fullmatch(first.name) and re.fullmatch(_MEAN, second.name)
        for first, second in ((one, other), (other, one))
    )
    return is_each and one.before == other.before and one.times == other.times == 1
