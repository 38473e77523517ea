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
#: so many graphs inside of nodes are looked at
_MOST_GRAPHS = 100
_OTHERS = "others"
#: an operator's name that can be said as it is; others are counted only
_NAME = re.compile(r"[A-Za-z]\w{0,39}", re.ASCII)


def tell_operators(graph: Graph) -> Sketch | None:
    """Return how many operators a graph has, and of which kinds the most; None for few.

    Where nodes have graphs of their own, those inside of them count, too, and it is said which
    nodes these are.
    """
    counts: Counter[str] = Counter()
    choosing: Counter[str] = Counter()
    pending = [graph]
    seen = 0
    while pending and seen < _MOST_GRAPHS:
        seen += 1
        for node in pending.pop().nodes:
            operator = node.operator
            if operator.has("stores_constant"):
                continue
            is_plain = node.function is None and _NAME.fullmatch(operator.form)
            if is_plain and node.subgraphs:
                choosing[operator.form] += 1
            else:
                counts[operator.form if is_plain else _OTHERS] += 1
            pending += node.subgraphs
    total = counts.total() + choosing.total()
    named = [(name, count) for name, count in counts.most_common() if name != _OTHERS]
    if total < _LEAST or not named or pending:
        return None
    told = [f"{count:,} {name}" for name, count in named[:_MOST_KINDS]]
    rest = counts.total() - sum(count for _, count in named[:_MOST_KINDS])
    if rest:
        told.append(write_count(rest, "other"))
    flow = ", ".join(f"{count:,} {name}" for name, count in choosing.most_common())
    title = f"Graph of {total:,} operators" + (f" with control flow ({flow})" if flow else "")
    return Sketch("", title, tuple(told), is_network=False)
