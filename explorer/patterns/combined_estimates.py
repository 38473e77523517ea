"""Two estimates of a network put together: with a condition and without, real and imaginary."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from netloupe.explorer.model import Node, Value

from .found_blocks import FoundBlock, FoundBlocks
from .operations import ARRANGING, PICKING, Operations
from .picked_parts import read_parts
from .readings import read_int
from .weight_sizes import read_dims

_BOTH = 2
_MOST_STEPS = 8
#: masks of several bands are joined, and each may be gated (Y. Luo and J. Yu, Music Source
#: Separation with Band-Split RNN, 2023, section 3.3)
_OF_BANDS = ("joins", "multiplies_elements")
_PARTING = (*PICKING, "splits", "slices")


def find_guidances(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find u + s · (c - u), u and c being the two halves of a batch that one network gave.

    J. Ho and T. Salimans, Classifier-Free Diffusion Guidance, 2021, equation 6.
    """
    operations = blocks.operations
    for end, kind in enumerate(operations.kinds):
        taken = operations.operands[end]
        if kind != "Add" or len(taken) != _BOTH or blocks.owner[end] is not None:
            continue
        for plain, scaled in (taken, taken[::-1]):
            product = operations.given_by(scaled, "Mul")
            factors = operations.operands[product] if product is not None else []
            apart = [n for v in factors if (n := operations.given_by(v, "Sub")) is not None]
            if product is None or len(apart) != 1 or operations.only_user(product) != end:
                continue
            if not _has_one_scale(operations, product):
                continue
            told, *others = operations.operands[apart[0]]
            if others != [plain] or operations.only_user(apart[0]) != product:
                continue
            wholes = {_find_half(operations, value) for value in (told, plain)}
            if len(wholes) != 1 or None in wholes or told is plain:
                continue
            numbers = {end, product, *apart}
            for value in (told, plain):
                half = operations.giver(value)
                if half is not None and numbers.issuperset(operations.users[half]):
                    numbers.add(half)
            yield FoundBlock("unit", "Classifier-free guidance", frozenset(numbers), end)
            break


def _has_one_scale(operations: Operations, product: int) -> bool:
    """Return whether a difference is multiplied by one number; places between others have many."""
    fixed = operations.fixed(product)
    return all(prod(read_dims(value)) == 1 for value in fixed)


def _find_half(operations: Operations, value: Value) -> Value | None:
    """Return of which batch another value is a part."""
    node = value.producer
    if node is None or not node.operator.has(*_PARTING):
        return None
    if _list_axes(node) - {0, None}:
        return None
    first = node.input(0)
    return operations.source(first) if first is not None else None


def _list_axes(node: Node) -> set[int | None]:
    """Return along which axes a node takes parts."""
    if node.operator.has("slices"):
        return {part.axis for part in read_parts(node)}
    return {read_int(node, "axis") or 0}


def find_complex_masks(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find a complex product of a spectrum and of a mask that a network gives.

    D. Williamson and others, Complex Ratio Masking for Monaural Speech Separation, 2016, equations
    8 and 9: real · real - imaginary · imaginary, and real · imaginary + imaginary · real.
    """
    operations = blocks.operations
    sums = {
        frozenset(pair): number
        for number, kind in enumerate(operations.kinds)
        if kind == "Add" and (pair := _list_products(operations, number))
    }
    for apart, kind in enumerate(operations.kinds):
        products = _list_products(operations, apart) if kind == "Sub" and sums else []
        if not products or blocks.owner[apart] is not None:
            continue
        (a, b), (c, d) = products
        for one, two in (((a, b), (c, d)), ((a, b), (d, c))):
            real, imaginary = one[0], two[0]
            masks = one[1], two[1]
            wanted = frozenset({_Pair((real, masks[1])).key, _Pair((imaginary, masks[0])).key})
            total = next(
                (n for pair, n in sums.items() if {_Pair(p).key for p in pair} == wanted), None
            )
            if total is None or blocks.owner[total] is not None:
                continue
            found = _make_mask(operations, apart, total, (real, imaginary), masks)
            found = found or _make_mask(operations, apart, total, masks, (real, imaginary))
            if found is not None:
                yield found
                break


class _Pair:
    """Two factors, in whatever order."""

    def __init__(self, factors: tuple[Value, Value]) -> None:
        self.key = frozenset(factors)


def _list_products(operations: Operations, number: int) -> list[tuple[Value, Value]]:
    """Return the factors of the two products that are added or subtracted."""
    products = [operations.given_by(value, "Mul") for value in operations.operands[number]]
    pairs = [
        (taken[0], taken[1])
        for one in products
        if one is not None and len(taken := operations.operands[one]) == _BOTH
    ]
    return pairs if len(pairs) == len(products) == _BOTH else []


def _make_mask(
    operations: Operations,
    apart: int,
    total: int,
    spectrum: tuple[Value, Value],
    masks: tuple[Value, Value],
) -> FoundBlock | None:
    wholes = {_find_whole(operations, value) for value in spectrum}
    makers = {_find_maker(operations, value, *_OF_BANDS) for value in masks}
    if len(wholes) != 1 or None in wholes or None in makers:
        return None
    whole = wholes.pop()
    if whole is None or (whole.producer is not None and _find_maker(operations, whole) is not None):
        return None
    products = {*operations.givers(apart), *operations.givers(total)}
    join = {*operations.users[apart]} & {*operations.users[total]} - {-1}
    joined = join.pop() if len(join) == 1 else None
    numbers, end = {apart, total, *products}, max(apart, total)
    if joined is None or not operations.nodes[joined].operator.has("joins"):
        return None
    numbers.add(joined)
    return FoundBlock("unit", "Complex mask", frozenset(numbers), joined or end)


def _find_whole(operations: Operations, value: Value) -> Value | None:
    node = value.producer
    if node is None or not node.operator.has(*_PARTING):
        return None
    first = node.input(0)
    return operations.source(first) if first is not None else None


def _find_maker(operations: Operations, value: Value, *passing: str) -> Node | None:
    """Return the layer that gives a value, seen through activations, parts and some others."""
    for _ in range(_MOST_STEPS):
        node = operations.source(value).producer
        first = node.input(0) if node is not None else None
        if node is None or first is None:
            return None
        if node.operator.has("convolves", "multiplies"):
            return node
        if not node.operator.has(*_PARTING, *ARRANGING, "activates", "squashes", *passing):
            return None
        value = first
    return None
