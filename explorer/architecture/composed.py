"""A sentence for any graph, composed from its blocks in order; no family is needed for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from netloupe.explorer.patterns import Detail

from .given import tell_given, tell_taken
from .ideas import add_ideas
from .item_words import count_items, join_words, name_item, write_run
from .items import Item, collapse_shared, list_items
from .layers import find_stacks
from .outline import Outline
from .runs import MOST_ITEMS, Run, find_runs
from .sketch import BlockSketch, Sketch

#: more runs are not told one by one: blocks are counted by kind
_MOST_RUNS = 8
_CONVOLUTIONS = frozenset({"conv", "gated", "inverted", "residual", "separable"})
_LINEAR = frozenset({"embedding", "linear", "mlp", "positions", "reparametrised"})


def compose(outline: Outline) -> Sketch | None:
    """Tell a graph by its blocks: repeated ones together, in the order of the file.

    Where they are too many to be told one by one, those of each kind are counted. None where there
    is no block at all.
    """
    add_ideas(outline)
    found = list_items(outline, find_stacks(outline))
    if not found or len(found) > MOST_ITEMS:
        return None
    taken, begin = tell_taken(outline, found)
    items = collapse_shared(outline, [item for item in found if id(item) not in begin])
    rows = [(uses, [*row]) for uses, row in groupby(items, key=lambda item: item.uses)]
    runs = [(uses, find_runs(outline, row)) for uses, row in rows]
    clauses: list[str] = []
    if sum(len(row) for _, row in runs) <= _MOST_RUNS:
        for uses, row in runs:
            words = [write_run(outline, run) for run in row]
            if uses > 1:
                words = [f"{uses:,} times with shared weights ({join_words(words)})"]
            clauses += words
    else:
        clauses = _count(outline, items)
    given, end = tell_given(outline)
    facts: dict[str, Detail] = {**taken.facts, **given}
    blocks = tuple(_sketch(outline, run) for _, row in runs for run in row if run.count > 1)
    return Sketch("", _name(items), (taken.text, *clauses, end), blocks, facts)


def _count(outline: Outline, items: Sequence[Item]) -> list[str]:
    """Return how many blocks of each kind there are, the most first."""
    kinds: dict[tuple[str, str], list[Item]] = {}
    for item in items:
        kinds.setdefault((item.kind, item.name), []).extend([item] * item.uses)
    return [count_items(outline, alike) for alike in sorted(kinds.values(), key=len, reverse=True)]


def _sketch(outline: Outline, run: Run) -> BlockSketch:
    names = list(dict.fromkeys(name_item(outline, [item]) for item in run.members[0]))
    nodes = outline.nodes(part for item in run.items for part in item.parts)
    return BlockSketch(join_words(names), run.count, nodes)


def _name(items: Sequence[Item]) -> str:
    """Return what a network is called by the kinds of its blocks."""
    kinds = Counter(item.kind for item in items)
    words = []
    if any(kinds[kind] for kind in _CONVOLUTIONS):
        words.append("convolutions")
    if kinds["unrolled"] or any(item.part.has("recurrent") for item in items):
        words.append("recurrent layers")
    if kinds["attention"] or kinds["transformer"]:
        words.append("attention")
    if kinds["fourier"]:
        words.append("Fourier transforms")
    if not words:
        return "Feed-forward network" if kinds.keys() <= _LINEAR else "Network"
    if words == ["convolutions"]:
        return "Convolutional network"
    if words == ["recurrent layers"]:
        return "Recurrent network"
    if words == ["attention"]:
        return "Transformer" if kinds["transformer"] else "Attention network"
    return f"Network of {join_words(words)}"
