"""Products with what convolutions make of the same value, which stand in the place of attention."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.model import Value

from .convolutions import CONVOLUTIONS, read_convolution
from .found_blocks import FoundBlock, FoundBlocks
from .leading import find_leading
from .operations import PARTING, Operations

_BOTH = 2
#: so many convolutions make the factor of a product
_MOST_IN_CHAIN = 14
#: a kernel is large that spans so many places
_LARGE = 11
_LEAST_ORDER = 2
_MOST_PICKED = 3


def find_convolutional_attentions(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find a value times what depthwise convolutions of it give, without an activation.

    M. Guo and others, Visual Attention Network, 2022, equations 1 and 2: depthwise, depthwise and
    dilated, 1×1, so that the kernel is large. M. Guo and others, SegNeXt, 2022, equation 1 has
    several in parallel.
    """
    operations = blocks.operations
    for end, kind in enumerate(operations.kinds):
        taken = operations.operands[end]
        if kind != "Mul" or len(taken) != _BOTH or blocks.owner[end] is not None:
            continue
        for factor, start in (taken, taken[::-1]):
            giver = operations.giver(factor)
            if giver is None or operations.kinds[giver] not in CONVOLUTIONS:
                continue
            leading = find_leading(operations, {end}, [factor], [start], _MOST_IN_CHAIN)
            if leading is None or leading.sources != {start}:
                continue
            if any(operations.kinds[n] not in ("Conv", "Add", "Sum") for n in leading.numbers):
                continue
            convolutions = [n for n in sorted(leading.numbers) if operations.kinds[n] == "Conv"]
            details = [read_convolution(operations, n) for n in convolutions]
            deep = [one for one in details if one.is_depthwise]
            if not deep or not any(one.is_pointwise for one in details):
                continue
            spans = [
                max(one.kernel, default=1) * (one.dilation or 1) - (one.dilation or 1) + 1
                for one in deep
            ]
            is_large = sum(spans) - len(spans) + 1 >= _LARGE
            name = "Large kernel attention" if is_large else "Convolutional attention"
            facts = tuple(
                "×".join(map(str, one.kernel))
                + (f" dilation {one.dilation}" if one.dilation else "")
                for one in deep[:_BOTH]
            )
            numbers = frozenset({end, *leading.numbers})
            yield FoundBlock("unit", name, numbers, end, facts)
            break


def find_gated_convolutions(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find products with parts of one depthwise convolution, one after another.

    Y. Rao and others, HorNet, 2022, equations 3 to 5 (recursive gated convolution): each product is
    projected before it is multiplied by the next part.
    """
    operations = blocks.operations
    for end, kind in enumerate(operations.kinds):
        if kind != "Mul" or blocks.owner[end] is not None:
            continue
        chain = _walk_products(operations, end)
        if len(chain.products) < _LEAST_ORDER or not chain.starts:
            continue
        user = operations.only_user(end)
        is_last = user is None or not _goes_on(operations, user, chain.whole)
        if is_last:
            facts = (f"order {len(chain.products)}",)
            leading = find_leading(operations, {end}, operations.operands[end], chain.starts)
            numbers = frozenset({end, *(leading.numbers if leading is not None else ())})
            carriers = [blocks.ending(n, "conv") for n in sorted(numbers)]
            parts = tuple(block for block in carriers if block is not None)
            yield FoundBlock(
                "unit", "Recursive gated convolution", numbers, end, facts, parts=parts
            )


class _Products:
    """Products one after another, with parts of one value."""

    def __init__(self) -> None:
        self.products: list[int] = []
        self.whole: Value | None = None
        #: what the projection takes that all of this is made of
        self.starts: tuple[Value, ...] = ()


def _walk_products(operations: Operations, end: int) -> _Products:
    """Return the products before one, each with a part of the same depthwise convolution."""
    found = _Products()
    number: int | None = end
    while number is not None and operations.kinds[number] == "Mul":
        taken = operations.operands[number]
        part = next((v for v in taken if _find_whole(operations, v) is not None), None)
        if part is None or len(taken) != _BOTH:
            break
        # the first product is of a part of the projection, and a part of the convolution
        wholes = [_find_whole(operations, value) for value in taken]
        known = [one for one in wholes if one is not None and _is_deep(operations, one)]
        if not known or (found.whole is not None and known[0] is not found.whole):
            break
        found.whole = known[0]
        found.products.append(number)
        other = taken[1 - wholes.index(known[0])]
        first = _find_whole(operations, other)
        maker = operations.given_by(first, "Conv", "Gemm") if first is not None else None
        if maker is not None and first is not found.whole and _is_at_each_place(operations, maker):
            found.starts = (*operations.operands[maker],)
            break
        projection = operations.given_by(other, "Conv", "Gemm")
        if projection is None or operations.only_user(projection) != number:
            break
        if not _is_at_each_place(operations, projection):
            break
        before = operations.giver(operations.operands[projection][0])
        if before is None or operations.kinds[before] != "Mul":
            break
        number = before
    return found


def _is_at_each_place(operations: Operations, number: int) -> bool:
    """Return whether a layer takes each place alone."""
    is_linear = operations.kinds[number] == "Gemm"
    return is_linear or read_convolution(operations, number).is_pointwise


def _goes_on(operations: Operations, user: int, whole: Value | None) -> bool:
    behind = operations.only_user(user)
    if behind is None or operations.kinds[behind] != "Mul":
        return False
    return any(_find_whole(operations, value) is whole for value in operations.operands[behind])


def _find_whole(operations: Operations, value: Value) -> Value | None:
    """Return of which value another one is a part, or a part of a part; None where it is whole."""
    whole: Value | None = None
    for _ in range(_MOST_PICKED):
        number = operations.giver(whole or value)
        picks = number is not None and operations.nodes[number].operator.has(*PARTING)
        if number is None or not picks or not operations.operands[number]:
            break
        whole = operations.operands[number][0]
    scaled = operations.given_by(whole, "Mul") if whole is not None else None
    if scaled is not None and len(operations.operands[scaled]) == 1:
        whole = operations.operands[scaled][0]
    return whole


def _is_deep(operations: Operations, value: Value) -> bool:
    number = operations.given_by(value, "Conv")
    return number is not None and read_convolution(operations, number).is_depthwise


def find_focal_modulations(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find queries times a projection of what gates take of contexts that grow step by step.

    J. Yang and others, Focal Modulation Networks, 2022, equations 4 to 6: each context is a
    depthwise convolution of the one before, and each gate a channel of the projection that queries
    are a part of.
    """
    operations = blocks.operations
    for end, kind in enumerate(operations.kinds):
        taken = operations.operands[end]
        if kind != "Mul" or len(taken) != _BOTH:
            continue
        for modulator, query in (taken, taken[::-1]):
            layer = operations.given_by(modulator, "Conv", "Gemm")
            whole = _find_whole(operations, query)
            if layer is None or whole is None or operations.only_user(layer) != end:
                continue
            leading = find_leading(operations, {end}, [modulator], [whole], most=60)
            if leading is None:
                continue
            gated = [
                n
                for n in leading.numbers
                if operations.kinds[n] == "Mul"
                and any(_find_whole(operations, v) is whole for v in operations.operands[n])
            ]
            deep = [
                n
                for n in leading.numbers
                if operations.kinds[n] == "Conv" and read_convolution(operations, n).is_depthwise
            ]
            if len(gated) < _BOTH or not deep or len(gated) < len(deep):
                continue
            numbers = frozenset({end, *leading.numbers} - {operations.giver(whole) or -1})
            facts = (f"{len(deep)} levels",) if len(deep) > 1 else ()
            yield FoundBlock("unit", "Focal modulation", numbers, end, facts)
            break
