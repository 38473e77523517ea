"""Parts of channels that are convolved in turn, each with what came of the one before."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.model import Value

from .convolution_details import ConvolutionDetails
from .found_blocks import FoundBlock, FoundBlocks
from .walks import find_whole

_LEAST_CONVOLUTIONS = 2
_MOST_PARTS = 16
_BOTH = 2
_PARTING = ("slices", "splits", "picks")


def find_split_scales(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find parts of channels, of which each is convolved with what the convolution before gave.

    One stays as it is, or is made smaller, and all are put side by side again (S. Gao and others,
    Res2Net: A New Multi-scale Backbone Architecture, 2019, equation 1). Norms may stand behind the
    activations (B. Desplanques and others, ECAPA-TDNN, 2020, figure 1).
    """
    operations = blocks.operations
    for join, node in enumerate(operations.nodes):
        taken = operations.operands[join]
        if not node.operator.has("joins") or not _LEAST_CONVOLUTIONS < len(taken) <= _MOST_PARTS:
            continue
        numbers = {join}
        wholes: set[Value] = set()
        kernels: set[object] = set()
        before: Value | None = None
        convolutions: list[FoundBlock] = []
        sums = 0
        for value in taken:
            found, own = _find_convolution(blocks, value)
            part = value
            if found is not None:
                convolutions.append(found)
                numbers |= own
                details = found.details.read_as(ConvolutionDetails)
                kernels.add((details.kernel, details.groups, details.in_out))
                if details.is_depthwise:
                    break
                first = operations.operands[min(found.numbers)]
                part = first[0] if first else value
                pad = operations.giver(part)
                if pad is not None and operations.nodes[pad].operator.has("pads"):
                    numbers.add(pad)  # as a mirror image, say, which convolutions do not
                    part = operations.operands[pad][0]
                total = operations.given_by(part, "Add")
                others = operations.operands[total] if total is not None else []
                if total is not None and before in others and len(others) == _BOTH:
                    sums += 1
                    numbers.add(total)
                    part = others[0] if others[1] is before else others[1]
                before = value
            else:
                pool = operations.giver(value)
                pooled = operations.operands[pool] if pool is not None else []
                if pool is not None and pooled and operations.nodes[pool].operator.has("pools"):
                    numbers.add(pool)
                    part = pooled[0]
            whole = find_whole(operations, part, _PARTING)
            if whole is None:
                break
            wholes.add(whole[0])
            numbers.add(whole[1])
        else:
            count = len(convolutions)
            # where a stage begins, parts are convolved that have nothing of one another
            is_row = 1 < count < len(taken) and sums in (0, count - 1)
            is_alike = len(wholes) == len(kernels) == 1
            if is_row and is_alike and operations.is_closed(numbers, join):
                facts = (f"scale {len(taken)}",)
                every = frozenset(numbers)
                parts = tuple(convolutions)
                yield FoundBlock("unit", "Res2Net module", every, join, facts, parts=parts)


def _find_convolution(
    blocks: FoundBlocks, value: Value
) -> tuple[FoundBlock | None, frozenset[int]]:
    """Return the convolution that gives a value, and its operations with a norm behind them."""
    operations = blocks.operations
    norm = blocks.ending(operations.giver(value), "norm")
    own = norm.numbers if norm is not None else frozenset()
    if norm is not None:
        taken = operations.operands[min(norm.numbers)]
        value = taken[0] if taken else value
    found = blocks.ending(operations.giver(value), "conv")
    if found is None or (norm is not None and not own.issuperset(operations.users[found.end])):
        return None, frozenset()
    return found, own | found.numbers
