"""Heads that tell a distribution as a mixture of several."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.model import Value
from netloupe.explorer.notation import write_count

from .found_blocks import FoundBlock, FoundBlocks
from .operations import OUTSIDE, PARTING, Operations

_LEAST_COMPONENTS = 2
_MOST_PICKED = 3
_POSITIVE = ("Exp", "Softplus")


def find_mixture_heads(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find shares, positive widths and middles of several components, which all go out.

    Layers of one value give them, or they are parts of one (C. Bishop, Mixture Density Networks,
    1994, equations 22 to 25; A. Graves, Generating Sequences with Recurrent Neural Networks, 2013,
    equations 18 to 22).
    """
    operations = blocks.operations
    for softmax, kind in enumerate(operations.kinds):
        if kind != "Softmax" or operations.users[softmax] != [OUTSIDE]:
            continue
        owner = blocks.owner[softmax]
        if owner is not None and owner.kind != "activation":
            continue
        shares = operations.operands[softmax][0]
        whole = _find_whole(blocks, shares)
        count = _read_last(operations, shares)
        if whole is None or count < _LEAST_COMPONENTS:
            continue
        widths: set[int] = set()
        middles: set[int] = set()
        for number in range(len(operations)):
            result = operations.nodes[number].output(0)
            taken = operations.operands[number]
            if operations.kinds[number] in _POSITIVE and operations.users[number] == [OUTSIDE]:
                if _is_of(blocks, taken[0], whole, count):
                    widths.add(number)
            elif operations.nodes[number].operator.has("splits"):
                own = [v for v in operations.nodes[number].outputs if v is not None and v.is_output]
                middles |= {number for v in own if _is_of(blocks, v, whole, count)}
            elif result is not None and operations.users[number] == [OUTSIDE]:
                layer = blocks.ending(number, "linear")
                is_part = operations.nodes[number].operator.has(*PARTING)
                if (layer is not None or is_part) and _is_of(blocks, result, whole, count):
                    middles.add(number)
        sizes = {_read_last(operations, operations.operands[n][0]) for n in widths}
        sizes |= {
            _read_last(operations, v) for n in middles if (v := operations.nodes[n].output(0))
        }
        if widths and middles and len(sizes) == 1:
            numbers = _add_layers(blocks, {softmax, *widths, *middles})
            facts = (write_count(count, "component", "components"),)
            name = "Mixture density head"
            yield FoundBlock("unit", name, frozenset(numbers), max(numbers), facts)


def _find_whole(blocks: FoundBlocks, value: Value) -> Value | None:
    """Return what a value is a part of, or what a layer that gives it takes."""
    operations = blocks.operations
    for step in range(_MOST_PICKED):
        giver = operations.giver(value)
        if giver is None:
            return value if step else None
        layer = blocks.ending(giver, "linear")
        if layer is not None:
            return operations.operands[min(layer.numbers)][0]
        if not operations.nodes[giver].operator.has(*PARTING) or not operations.operands[giver]:
            return value if step else None
        value = operations.operands[giver][0]
    return None


def _is_of(blocks: FoundBlocks, value: Value, whole: Value, count: int) -> bool:
    """Return whether a value is of the same as shares are, and has numbers for each component."""
    last = _read_last(blocks.operations, value)
    return last >= count and last % count == 0 and _find_whole(blocks, value) is whole


def _read_last(operations: Operations, value: Value) -> int:
    """Return how many numbers there are along the last axis; 0 where that is not known."""
    dims = find_value_facts(operations.context.graph.model).find_dims(value)
    last = dims[-1] if dims else None
    return last if isinstance(last, int) else 0


def _add_layers(blocks: FoundBlocks, numbers: set[int]) -> set[int]:
    """Add the layers, or what cuts parts out, that lead to some operations alone."""
    operations = blocks.operations
    for number in sorted(numbers, reverse=True):
        for giver in operations.givers(number):
            owner = blocks.owner[giver]
            own = owner.numbers if owner is not None else frozenset({giver})
            is_part = operations.nodes[giver].operator.has(*PARTING)
            is_layer = owner is not None and owner.kind == "linear"
            if (is_part or is_layer) and numbers.issuperset(operations.users[giver]):
                numbers |= own
    for number in [*numbers]:
        owner = blocks.ending(number, "linear")
        numbers |= owner.numbers if owner is not None else set()
    return numbers
