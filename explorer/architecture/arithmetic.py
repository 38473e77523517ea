"""Graphs without any block that is known: how many operators of which kind there are."""

from __future__ import annotations

import re
from collections import Counter

from netloupe.explorer.model import Graph
from netloupe.explorer.notation import write_count

from .sketch import Sketch

#: fewer boxes are read as fast as a sentence
_LEAST = 5
_MOST_KINDS = 3
#: an operator's name that can be said as it is; others are counted only
_NAME = re.compile(r"[A-Za-z]\w{0,39}", re.ASCII)


def tell_operators(graph: Graph) -> Sketch | None:
    """Return how many operators a graph has, and of which kinds the most; None for few."""
    counts: Counter[str] = Counter()
    for node in graph.nodes:
        if not node.operator.has("stores_constant"):
            name = node.operator.form
            is_plain = node.function is None and _NAME.fullmatch(name)
            counts[name if is_plain else "others"] += 1
    total = counts.total()
    named = [(name, count) for name, count in counts.most_common() if name != "others"]
    if total < _LEAST or not named:
        return None
    told = [f"{count:,} {name}" for name, count in named[:_MOST_KINDS]]
    rest = total - sum(count for _, count in named[:_MOST_KINDS])
    if rest:
        told.append(write_count(rest, "other"))
    return Sketch("", f"Graph of {total:,} operators", tuple(told), is_network=False)
