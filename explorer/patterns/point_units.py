"""What points make of their neighbours: attention by differences, and the largest of features."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.model import Node, Value

from .found_blocks import FoundBlock, FoundBlocks
from .leading import find_leading
from .operations import Operations
from .readings import read_int, read_str

_BOTH = 2
_MOST_STEPS = 14
_MOST_OF_IT = 50
_LOOKING = ("gathers", "looks_up", "picks")
_LAYERS = ("conv", "linear", "mlp", "norm", "activation")


def find_vector_attentions(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find values times shares for each channel, which differences of queries and keys give.

    H. Zhao and others, Point Transformer, 2021, equation 3.
    """
    operations = blocks.operations
    for softmax, kind in enumerate(operations.kinds):
        product = operations.only_user(softmax) if kind == "Softmax" else None
        if product is None or blocks.owner[product] is not None:
            continue
        is_both = _sums_products(operations.nodes[product], operations.nodes[softmax])
        end = product if is_both else operations.only_user(product)
        if end is None or blocks.owner[end] is not None:
            continue
        kinds = operations.kinds[product], operations.kinds[end]
        if not is_both and kinds != ("Mul", "ReduceSum"):
            continue
        if len(operations.operands[product]) != _BOTH:
            continue
        apart = _find_difference(blocks, operations.operands[softmax][0])
        if apart is None:
            continue
        starts = _list_projected(blocks, operations.operands[apart])
        if len(starts) != _BOTH:
            continue
        leading = find_leading(
            operations, {end}, operations.operands[end], starts, most=_MOST_OF_IT
        )
        if leading is None or apart not in leading.numbers:
            continue
        numbers = frozenset({end, *leading.numbers})
        yield FoundBlock("attention", "Vector attention", numbers, end)


def _find_difference(blocks: FoundBlocks, value: Value) -> int | None:
    """Return the difference that layers make shares of, perhaps with a sum before them."""
    operations = blocks.operations
    has_layer = False
    for _ in range(_MOST_STEPS):
        number = operations.giver(value)
        if number is None or not operations.operands[number]:
            return None
        owner = blocks.owner[number]
        if owner is not None and owner.kind in _LAYERS:
            has_layer |= owner.kind in ("conv", "linear", "mlp")
            value = operations.operands[min(owner.numbers)][0]
            continue
        if operations.kinds[number] == "Sub" and len(operations.operands[number]) == _BOTH:
            return number if has_layer and owner is None else None
        if operations.kinds[number] != "Add" or owner is not None:
            return None
        taken = [_look_behind(operations, one) for one in operations.operands[number]]
        inner = [n for v in taken if (n := operations.given_by(v, "Sub")) is not None]
        if len(inner) == 1 and has_layer and len(operations.operands[inner[0]]) == _BOTH:
            return inner[0]
        value = operations.operands[number][0]
    return None


def _sums_products(node: Node, softmax: Node) -> bool:
    """Return whether an Einsum multiplies number by number, and sums over the axis of the shares.

    Features are along the last axis: ``bijd,bijd->bid``.
    """
    if node.operator.form != "Einsum":
        return False
    terms, arrow, result = read_str(node, "equation").replace(" ", "").partition("->")
    one, _, two = terms.partition(",")
    gone = {*one} - {*result}
    if not arrow or one != two or len(gone) != 1 or one[-1:] != result[-1:]:
        return False
    axis = read_int(softmax, "axis")
    return axis is not None and axis % len(one) == one.index(gone.pop())


def _look_behind(operations: Operations, value: Value) -> Value:
    """Return of what the neighbours are that a value is."""
    number = operations.giver(value)
    if number is None or not operations.nodes[number].operator.has(*_LOOKING):
        return value
    return operations.operands[number][0] if operations.operands[number] else value


def _list_projected(blocks: FoundBlocks, values: list[Value]) -> list[Value]:
    """Return what the projections take that queries and keys are, looked up or not."""
    operations = blocks.operations
    found = []
    for start in values:
        value = start
        for _ in range(_BOTH + 1):
            number = operations.giver(value)
            if number is None or not operations.operands[number]:
                break
            owner = blocks.ending(number, "conv", "linear")
            if owner is not None:
                found.append(operations.operands[min(owner.numbers)][0])
                break
            if not operations.nodes[number].operator.has(*_LOOKING, "slices", "splits"):
                break
            value = operations.operands[number][0]
    return found


def find_set_abstractions(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find the largest of what layers make of neighbours, moved so that their centre is 0.

    C. Qi and others, PointNet++, 2017, section 3.2.
    """
    operations = blocks.operations
    for end, kind in enumerate(operations.kinds):
        if kind != "ReduceMax" or blocks.owner[end] is not None or not operations.operands[end]:
            continue
        value, layers = operations.operands[end][0], 0
        for _ in range(_MOST_STEPS):
            number = operations.giver(value)
            owner = blocks.owner[number] if number is not None else None
            if owner is None or owner.kind not in _LAYERS:
                break
            layers += owner.kind in ("conv", "linear", "mlp")
            taken = operations.operands[min(owner.numbers)]
            if not taken:
                break
            value = taken[0]
        centred = _find_centred(operations, value)
        if not layers or centred is None:
            continue
        leading = find_leading(operations, {end}, operations.operands[end], most=_MOST_OF_IT)
        if leading is None or centred not in leading.numbers:
            continue
        inner = {
            n
            for n in leading.numbers
            if n >= centred or operations.nodes[n].operator.has("gathers", "looks_up", "joins")
        }
        kept = {end}
        for n in sorted(inner, reverse=True):
            if kept.issuperset(operations.users[n]):
                kept.add(n)
        if centred in kept:
            yield FoundBlock("unit", "Set abstraction", frozenset(kept), end)


def _find_centred(operations: Operations, value: Value) -> int | None:
    """Return the difference of looked up points and others, joined to features or alone."""
    number = operations.giver(value)
    if number is not None and operations.nodes[number].operator.has("joins"):
        givers = [operations.giver(one) for one in operations.operands[number]]
        known = [one for one in givers if one is not None and operations.kinds[one] == "Sub"]
        others = [one for one in givers if one not in known]
        # beside what points differ by stand features of theirs, and no centre
        if len(known) != 1 or not all(_is_looked_up(operations, one) for one in others):
            return None
        (number,) = known
    if number is None or operations.kinds[number] != "Sub":
        return None
    taken = operations.operands[number]
    if len(taken) != _BOTH:
        return None
    return number if _is_looked_up(operations, operations.giver(taken[0])) else None


def _is_looked_up(operations: Operations, number: int | None) -> bool:
    return number is not None and operations.nodes[number].operator.has("gathers", "looks_up")
