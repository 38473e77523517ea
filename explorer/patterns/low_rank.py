"""Attention to fewer keys and values than there are tokens, which stored weights sum up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from netloupe.explorer.roles import find_weight

from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations
from .readings import read_str
from .transformer_details import AttentionDetails
from .weight_sizes import read_dims


def find_low_rank_attentions(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find self-attention whose keys and values are projected along the tokens to fewer of them.

    S. Wang and others, Linformer, 2020, equation 7.
    """
    operations = blocks.operations
    for attention in blocks.list_outermost():
        if not isinstance(attention, FoundBlock) or attention.kind != "attention":
            continue
        ranks: set[int] = set()
        layers: list[FoundBlock] = []
        for number in sorted(attention.numbers):
            givers = operations.givers(number)
            layer = blocks.ending(givers[0], "linear") if len(givers) == 1 else None
            rank = _read_rank(operations, number) if layer is not None else 0
            if layer is not None and rank and operations.only_user(layer.end) == number:
                ranks.add(rank)
                layers.append(layer)
        numbers = attention.numbers.union(*(layer.numbers for layer in layers))
        outer = {
            value
            for number in numbers
            for value in operations.operands[number]
            if operations.giver(value) not in numbers
        }
        if len(layers) != len(("keys", "values")) or len(ranks) != 1 or len(outer) != 1:
            continue
        facts = (*attention.facts, f"low rank {ranks.pop()}")
        details = replace(attention.details.read_as(AttentionDetails), attention="Self-attention")
        parts = (attention, *layers)
        yield FoundBlock(
            "attention", "Self-attention", numbers, attention.end, facts, details, parts
        )


def _read_rank(operations: Operations, number: int) -> int:
    """Return to how many of more tokens an operation projects; 0 where it does not."""
    node = operations.nodes[number]
    fixed = operations.fixed(number)
    dims = read_dims(fixed[0]) if len(fixed) == 1 else ()
    if len(dims) != len(("tokens", "rank")):
        return 0
    if node.operator.form == "Einsum":
        terms, arrow, result = read_str(node, "equation").replace(" ", "").partition("->")
        first, _, second = terms.partition(",")
        data, stored = (first, second) if operations.is_fixed(node.input(1)) else (second, first)
        shared = {*data} & {*stored}
        if not arrow or len(shared) != 1 or len(stored) != len(dims) or data[-1:] in shared:
            return 0
        tokens = dims[stored.index(shared.pop())]
        rank = dims[1] if tokens == dims[0] and stored[0] in data else dims[0]
        return rank if rank < tokens and result[-1:] == data[-1:] else 0
    weight = find_weight(node)
    is_left = weight is not None and weight.is_left and node.operator.has("multiplies")
    return dims[0] if is_left and dims[0] < dims[1] else 0
