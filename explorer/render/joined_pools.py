"""Pools of one value side by side, told as one part: the largest value and the mean of places.

So a head describes a sequence by both, joined (J. Howard and S. Ruder, Universal Language Model
Fine-tuning for Text Classification, 2018, section 3.3, concat pooling).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from netloupe.explorer.patterns import Ingredient

#: what names of pools say of what they take of all places
_TAKEN = {"Average": "mean", "Max": "max", "Mean": "mean"}
_POOLING = re.compile(rf"(?:Global|Reduce)?({'|'.join(_TAKEN)})(?:Pool)?")
_BOTH = "Max and mean pool"


def join_pools(ingredients: Sequence[Ingredient]) -> Sequence[Ingredient]:
    """Return parts with a maximum and a mean beside each other, of the same, as one part."""
    kept: list[Ingredient] = []
    #: by place, which of those kept a part is
    places: list[int] = []
    for one in ingredients:
        one = replace(one, before=frozenset(places[n] for n in one.before if n < len(places)))
        last = kept[-1] if kept else None
        if last is not None and _are_both(last, one):
            kept[-1] = replace(last, name=_BOTH, kind=_BOTH, facts=())
        else:
            kept.append(one)
        places.append(len(kept) - 1)
    return kept if len(kept) < len(ingredients) else ingredients


def _are_both(one: Ingredient, other: Ingredient) -> bool:
    """Return whether two parts are a maximum and a mean of what the same parts give."""
    kinds = {_tell_taken(part.name) for part in (one, other)}
    return kinds == {"max", "mean"} and one.before == other.before and one.times == other.times == 1


def _tell_taken(name: str) -> str:
    """Return whether a part takes the largest or the mean of all places; "" for neither."""
    match = _POOLING.fullmatch(name)
    is_pool = match is not None and name not in _TAKEN  # else it is of several operands
    return _TAKEN[match[1]] if match is not None and is_pool else ""
