"""Nodes of two models that do the same, and what tells it."""

from __future__ import annotations

from dataclasses import dataclass

from netloupe.explorer.model import Node


@dataclass(frozen=True, slots=True)
class Pair:
    """Nodes of two models that do the same.

    Parameters
    ----------
    left, right
        One node each; several where one exporter writes as several operators what the other
        writes as fewer, such as a convolution and the batch normalization behind it, or query, key
        and value as one projection.
    key
        What they were paired by: ``"wiring"`` (both graphs are the same but for names and
        numbers), ``"weights"``, ``"name"``, ``"origin"`` (what the exporter says of it),
        ``"surroundings"`` (operators, attributes and sizes of weights are the same, and so is what
        is around, or how many layers are before and behind), ``"similar surroundings"`` (kinds of
        operators and sizes of the largest weights are), ``"numbered name"`` (such as
        ``Conv_12``), ``"neighbours"`` (of another pair) or ``"place"`` (all that they take and
        all that takes from them is paired; their operators or sizes are not the same);
        ``"by hand"`` where a person has made the pair.
    confidence
        From 0 to 1: what the strongest key is worth that tells the pair from all others, whichever
        key found it. By hand, equal wiring and names: 1; largest weights: 0.99, others: 0.95;
        origin: 0.9; surroundings: 0.7 to 0.9, similar ones: 0.5 to 0.7; numbered names: 0.6; place:
        0.5. A neighbour that nothing else tells from others has 0.9 times what the pair has that it
        was found by, or 0.35 to 0.6 where what is around agrees only in part; what is left at the
        end, such as constants and nodes that only pass a value on, has 0.8. So below 0.5 a pair
        rests on its neighbours alone, seven steps or more away from what is told from others.
        These are no probabilities: they put pairs in an order.
    """

    left: tuple[Node, ...]
    right: tuple[Node, ...]
    key: str
    confidence: float
