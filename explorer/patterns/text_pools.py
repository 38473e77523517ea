"""Convolutions of several lengths along a text, of each of which the largest is taken."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.model import Value

from .convolution_details import ConvolutionDetails
from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations
from .readings import read_axes, read_ints

_LEAST_LENGTHS = 2
_MAXIMA = ("GlobalMaxPool", "MaxPool", "ReduceMax")


def find_text_pools(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find convolutions of several lengths of one value, each with its maximum over all places.

    Y. Kim, Convolutional Neural Networks for Sentence Classification, 2014, equations 2 to 4 and
    figure 1.
    """
    operations = blocks.operations
    for join, node in enumerate(operations.nodes):
        taken = operations.operands[join]
        if not node.operator.has("joins") or blocks.owner[join] is not None:
            continue
        numbers = {join}
        kernels: list[int] = []
        sources: set[Value] = set()
        for value in taken:
            pool = operations.given_by(value, *_MAXIMA)
            layer = _find_layer(blocks, pool)
            if pool is None or layer is None or operations.only_user(pool) != join:
                break
            length = _read_length(layer)
            if not length or not _is_over_all(operations, pool):
                break
            numbers |= {pool, *layer.numbers}
            kernels.append(length)
            sources.add(operations.operands[min(layer.numbers)][0])
        is_all = len(kernels) == len(taken) == len({*kernels}) and len(sources) == 1
        if is_all and len(kernels) >= _LEAST_LENGTHS:
            facts = (f"kernels {', '.join(map(str, kernels))}",)
            name = "Convolutions with max-over-time pooling"
            yield FoundBlock("unit", name, frozenset(numbers), join, facts)


def _find_layer(blocks: FoundBlocks, pool: int | None) -> FoundBlock | None:
    """Return the convolution whose result a pool alone takes."""
    operations = blocks.operations
    given = operations.operands[pool] if pool is not None else []
    layer = blocks.ending(operations.giver(given[0]), "conv") if given else None
    return layer if layer is not None and operations.only_user(layer.end) == pool else None


def _read_length(layer: FoundBlock) -> int:
    """Return how long a kernel is along the text; the other axis is that of features, if any."""
    details = layer.details.read_as(ConvolutionDetails)
    if not details.kernel or details.stride or details.groups or details.transposed:
        return 0
    return details.kernel[0] if len(details.kernel) <= len(("time", "features")) else 0


def _is_over_all(operations: Operations, pool: int) -> bool:
    """Return whether the maximum is over all places, and nothing of them is left."""
    node = operations.nodes[pool]
    if operations.kinds[pool] == "GlobalMaxPool":
        return True
    dims = find_value_facts(node.graph.model).find_dims(node.input(0))
    if operations.kinds[pool] == "MaxPool":
        window = read_ints(node, "kernel_shape")
        return dims is not None and window != () and tuple(dims[-len(window) :]) == window
    axes = read_axes(node)
    if axes is None or len(axes) != 1 or dims is None:
        return False
    places = axes[0] % len(dims)
    # channels stay, and the text goes
    return places == len(dims) - 1 or (places > 1 and {*dims[places + 1 :]} == {1})
