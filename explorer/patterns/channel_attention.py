"""Weights of channels and places by what is there on average and at most."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.model import Value

from .found_blocks import FoundBlock, FoundBlocks
from .linear import list_widths, write_widths
from .operations import Operations
from .readings import read_axes, read_ints

_MEANS = ("GlobalAveragePool", "ReduceMean")
_LARGEST = ("GlobalMaxPool", "ReduceMax")
_CHANNELS = 1
_MOST_STEPS = 6
#: no pool between layers has so large windows
_LARGE = 7
_LAYERS = ("activation", "conv", "linear", "mlp")


def find_channel_attentions(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find weights of channels, or of places, by means and maxima.

    Channels are weighted by what one MLP makes of both over all places; places by a convolution of
    both over all channels (S. Woo and others, CBAM, 2018, equations 2 and 3).
    """
    operations = blocks.operations
    for product, kind in enumerate(operations.kinds):
        taken = operations.operands[product]
        if kind != "Mul" or len(taken) != 2:
            continue
        for weights, start in (taken, taken[::-1]):
            sigmoid = operations.given_by(weights, "Sigmoid")
            if sigmoid is None or operations.only_user(sigmoid) != product:
                continue
            found = _find_channels(blocks, sigmoid, start) or _find_places(blocks, sigmoid, start)
            if found is not None:
                name, numbers, facts = found
                numbers |= {product, sigmoid}
                yield FoundBlock("excitation", name, frozenset(numbers), product, facts)
                break


def _find_channels(
    blocks: FoundBlocks, sigmoid: int, start: Value
) -> tuple[str, set[int], tuple[str, ...]] | None:
    operations = blocks.operations
    total = operations.given_by(operations.operands[sigmoid][0], "Add")
    if total is None or len(operations.operands[total]) != 2:
        return None
    numbers, pools, widths = {total}, set[str](), set[tuple[int, ...]]()
    for value in operations.operands[total]:
        number, layers = operations.giver(value), list[FoundBlock]()
        for _ in range(_MOST_STEPS):
            owner = blocks.owner[number] if number is not None else None
            if number is None or owner is None or owner.kind not in _LAYERS:
                break
            numbers |= owner.numbers
            layers += [one for one in (*owner.parts, owner) if one.kind in ("conv", "linear")]
            outer = {g for n in owner.numbers for g in operations.givers(n)} - owner.numbers
            number = outer.pop() if len(outer) == 1 else None
        if number is None or operations.operands[number] != [start] or not layers:
            return None
        if not _is_over_places(operations, number) and not _is_large_window(operations, number):
            return None
        numbers.add(number)
        pools.add("largest" if operations.kinds[number] in (*_LARGEST, "MaxPool") else "mean")
        widths.add(list_widths(sorted(layers, key=lambda one: one.end)))
    if len(pools) != 2 or len(widths) != 1 or not operations.is_closed(numbers, total):
        return None
    known = next(iter(widths))
    return "Channel attention", numbers, (write_widths(*known),) if known else ()


def _is_over_places(operations: Operations, number: int) -> bool:
    """Return whether an operation takes the mean or the largest of each channel."""
    kind = operations.kinds[number]
    if kind in (_MEANS[0], _LARGEST[0]):
        return True
    axes = read_axes(operations.nodes[number])
    return kind in (*_MEANS, *_LARGEST) and bool(axes) and _CHANNELS not in (axes or ())


def _is_large_window(operations: Operations, number: int) -> bool:
    """Return whether an operation takes the largest of a whole map, written as a window.

    Its result is added to what comes of the mean of all places, so that one place is left.
    """
    node = operations.nodes[number]
    sizes = read_ints(node, "kernel_shape")
    is_whole = sizes == read_ints(node, "strides") or min(sizes, default=0) >= _LARGE
    return operations.kinds[number] == "MaxPool" and is_whole and not any(read_ints(node, "pads"))


def _find_places(
    blocks: FoundBlocks, sigmoid: int, start: Value
) -> tuple[str, set[int], tuple[str, ...]] | None:
    operations = blocks.operations
    number = operations.giver(operations.operands[sigmoid][0])
    owner = blocks.owner[number] if number is not None else None
    layers = [one for one in (owner, *owner.parts) if one.kind == "conv"] if owner else []
    layer = next((one for one in layers if number in one.numbers), None)
    if layer is None or layer.details.in_out != (2, 1):
        return None
    join = operations.giver(operations.operands[min(layer.numbers)][0])
    if join is None or not operations.nodes[join].operator.has("joins"):
        return None
    pools = [operations.giver(value) for value in operations.operands[join]]
    known = [pool for pool in pools if pool is not None]
    kinds = {operations.kinds[pool] for pool in known}
    if len(known) != 2 or kinds != {_MEANS[1], _LARGEST[1]}:
        return None
    for pool in known:
        is_alone = operations.only_user(pool) == join and operations.operands[pool] == [start]
        if not is_alone or read_axes(operations.nodes[pool]) != (_CHANNELS,):
            return None
    return "Spatial attention", {*layer.numbers, join, *known}, layer.facts[:1]
