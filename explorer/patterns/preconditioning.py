"""What a network of noisy values gives, put together with these by how large the noise is."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.model import Node, Value

from .found_blocks import FoundBlock, FoundBlocks
from .operations import ARRANGING
from .readings import read_scalar
from .walks import keep_own, leads_to

_BOTH = 2
_MOST_OF_SCALE = 12
_MOST_OF_NETWORK = 20_000
_ARITHMETIC = ("Add", "Clip", "Div", "Mul", "Neg", "Pow", "Reciprocal", "Sqrt", "Sub")


def find_preconditionings(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find c(σ) · x + d(σ) · F, F being what a network makes of x.

    Both scales are of one noise level σ, by the sum of its square and of another one (T. Karras and
    others, Elucidating the Design Space of Diffusion-Based Generative Models, 2022, equation 7; Y.
    Song and others, Consistency Models, 2023, equation 5).
    """
    operations = blocks.operations
    for end, kind in enumerate(operations.kinds):
        taken = operations.operands[end]
        if kind != "Add" or len(taken) != _BOTH or blocks.owner[end] is not None:
            continue
        products = [operations.given_by(value, "Mul") for value in taken]
        known = [product for product in products if product is not None]
        if len(known) != _BOTH or known[0] == known[1]:
            continue
        found = _read_scales(blocks, known)
        if found is not None:
            numbers = keep_own(operations, {*known, *found}, end)
            yield FoundBlock("unit", "Preconditioning", frozenset(numbers), end)


def _read_scales(blocks: FoundBlocks, products: list[int]) -> set[int] | None:
    """Return the operations of both scales; None where these are no such products."""
    operations = blocks.operations
    numbers: set[int] = set()
    levels: list[Value] = []
    values: list[Value] = []
    for product in products:
        factors = operations.operands[product]
        if len(factors) != _BOTH or blocks.owner[product] is not None:
            return None
        scales = [(v, scale) for v in factors if (scale := _walk_scale(blocks, v)) is not None]
        if len(scales) != 1:
            return None
        value, (own, level) = scales[0]
        numbers |= own
        levels.append(level)
        values += [other for other in factors if other is not value]
    if len(values) != _BOTH or levels[0] is not levels[1]:
        return None
    is_made = any(
        leads_to(operations, one, other, _MOST_OF_NETWORK) for one, other in (values, values[::-1])
    )
    return numbers if is_made else None


def _walk_scale(blocks: FoundBlocks, value: Value) -> tuple[set[int], Value] | None:
    """Return the operations of a formula with the sum of a square, and the one value it is of.

    What scales have in common, and others take as well, may be outside of the operations.
    """
    operations = blocks.operations
    numbers: set[int] = set()
    met = {value}
    sources: set[Value] = set()
    pending = [value] if _is_formula(value.producer) else []
    has_square = False
    while pending:
        node = pending.pop().producer
        form = node.operator.form if node is not None else ""
        given = [] if node is None else [v for v in node.inputs if not operations.is_fixed(v)]
        computed = [v for v in given if v is not None]
        for one in computed:
            if not _is_formula(one.producer):
                sources.add(one)
            elif one not in met:
                met.add(one)
                pending.append(one)
        has_square |= form == "Add" and len(computed) == 1 and _is_square(computed[0])
        if len(met) > _MOST_OF_SCALE or len(sources) > 1:
            return None
    numbers = {n for one in met if (n := operations.giver(one)) is not None}
    level = next(iter(sources), None)
    return (numbers, level) if level is not None and has_square else None


def _is_formula(node: Node | None) -> bool:
    if node is None:
        return False
    return node.operator.has(*ARRANGING) or node.operator.form in _ARITHMETIC


def _is_square(value: Value) -> bool:
    """Return whether a value is the square of another one."""
    node = value.producer
    if node is None or len(node.inputs) != _BOTH:
        return False
    if node.operator.form == "Pow":
        return read_scalar(node.input(1)) == float(_BOTH)
    return node.operator.form == "Mul" and node.input(0) is node.input(1)
