"""The first layer of a decoder with learned queries, as a part beside the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from netloupe.explorer.patterns import Ingredient, count_queries
from netloupe.explorer.patterns.transformer_details import TransformerDetails

_DECODER = "Transformer decoder block"


def leave_crossing_open(ingredients: Sequence[Ingredient]) -> Sequence[Ingredient]:
    """Return parts without the word that a block of learned queries only attends to others.

    That is where blocks of a decoder are beside it. The queries of its first layer attend to
    themselves whatever comes in, so that this may be stored (N. Carion and others, End-to-End
    Object Detection with Transformers, 2020, section A.3).
    """
    if all(one.name != _DECODER for one in ingredients):
        return ingredients
    return [_leave_open(one) if count_queries(one.facts) else one for one in ingredients]


def _leave_open(one: Ingredient) -> Ingredient:
    details = one.details
    if not isinstance(details, TransformerDetails) or details.attention is None:
        return one
    attention = replace(details.attention, attention=None)
    return one._replace(details=replace(details, attention=attention))
