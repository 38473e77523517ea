"""One matrix of scores that two sequences share: each attends to the other by it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from netloupe.explorer.model import Node, Value

from .found_blocks import FoundBlock, FoundBlocks
from .leading import find_arranged_root, find_leading
from .operations import Operations
from .readings import read_int

_BOTH = 2
#: what hides scores, or scales them
_BEFORE_SHARES = ("Add", "Clip", "Div", "Max", "Mul", "Sub", "Where")
_MOST_STEPS = 12
_MOST_SCORING = 12
#: so many values are looked at that scores are made of
_MOST_MET = 40


class _Mix(NamedTuple):
    """Values mixed by shares of scores.

    Parameters
    ----------
    numbers
        The operations, from what the scores go through to the product.
    end
        The product.
    values
        What is mixed.
    scores
        What the shares are of, the nearest first, back to products.
    products
        Those products.
    has_maxima
        Whether they are of the largest score of each place.
    axis
        Along which the shares add up to 1; None where that is not said.
    is_turned
        Whether the scores were transposed before.
    """

    numbers: frozenset[int]
    end: int
    values: Value
    scores: tuple[Value, ...]
    products: frozenset[Value]
    has_maxima: bool
    axis: int | None
    is_turned: bool


def find_attention_flows(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find two sequences of which each is mixed by shares of the same scores.

    By shares along both axes it is co-attention (C. Xiong and others, Dynamic Coattention Networks,
    2017, equations 1 to 3). The bidirectional attention flow mixes one of them by the largest score
    of each of its places, and joins all of it (M. Seo and others, Bidirectional Attention Flow for
    Machine Comprehension, 2017, equations 1 to 5), whose scores are a product with what is between
    each two, or a sum of products of each and of that.
    """
    operations = blocks.operations
    by_products: dict[frozenset[Value], list[_Mix]] = {}
    for number, kind in enumerate(operations.kinds):
        mix = _read_mix(blocks, number) if kind == "Softmax" else None
        if mix is not None and mix.products:
            by_products.setdefault(mix.products, []).append(mix)
    for sharing in by_products.values():
        if len(sharing) != _BOTH:
            continue
        one, other = sorted(sharing, key=lambda mix: mix.has_maxima)
        if one.has_maxima or one.values is other.values or not _is_along_both(one, other):
            continue
        name = "Bidirectional attention flow" if other.has_maxima else "Co-attention"
        scores = next(value for value in one.scores if value in other.scores)
        if not _compares(blocks, scores, one.values, other.values):
            continue
        found = _make(blocks, one, other, name)
        if found is not None:
            yield found


def _is_along_both(one: _Mix, other: _Mix) -> bool:
    """Return whether the shares are along different axes of the scores."""
    if other.has_maxima:
        return True
    axes = {-1 if mix.axis is None else mix.axis for mix in (one, other)}
    return (len(axes) == _BOTH) != (one.is_turned != other.is_turned)


def _compares(blocks: FoundBlocks, scores: Value, *values: Value) -> bool:
    """Return whether scores are of some values, or of what these are projections of."""
    operations = blocks.operations
    met, pending = {scores}, [scores]
    while pending and len(met) < _MOST_MET:
        number = operations.giver(pending.pop())
        if number is None:
            continue
        is_joining = operations.nodes[number].operator.has("joins")
        if is_joining or operations.kinds[number] in (*_BEFORE_SHARES, "Gemm", "MatMul"):
            pending += [v for v in operations.operands[number] if v not in met]
            met.update(operations.operands[number])
    roots = {find_arranged_root(value) for value in met}
    projected = [(value, _find_projected(blocks, value)) for value in values]
    return all(
        roots & {find_arranged_root(one), find_arranged_root(other)} for one, other in projected
    )


def _find_projected(blocks: FoundBlocks, value: Value) -> Value:
    """Return what a value is a projection of, or the value itself."""
    layer = blocks.ending(blocks.operations.giver(value), "linear")
    return value if layer is None else blocks.operations.operands[min(layer.numbers)][0]


def _read_mix(blocks: FoundBlocks, softmax: int) -> _Mix | None:
    operations = blocks.operations
    product = operations.only_user(softmax)
    if product is None or operations.kinds[product] != "MatMul":
        return None
    others = [v for v in operations.operands[product] if operations.giver(v) != softmax]
    if len(others) != 1 or operations.is_fixed(others[0]):
        return None
    node = operations.nodes[softmax]
    numbers, scores = {softmax, product}, list(operations.operands[softmax])
    products: set[Value] = set()
    has_maxima = False
    is_turned = _turns(operations, node)
    for value in scores:  # grows on the way
        number = operations.giver(value)
        if number is None or number in numbers:
            continue
        kind = operations.kinds[number]
        if kind in ("Gemm", "MatMul") or blocks.ending(number, "linear") is not None:
            products.add(value)
            continue
        if kind not in (*_BEFORE_SHARES, "ReduceMax") or len(numbers) > _MOST_STEPS:
            return None
        has_maxima |= kind == "ReduceMax" and operations.only_user(number) == softmax
        numbers.add(number)
        is_turned ^= _turns(operations, operations.nodes[number])
        scores += operations.operands[number]
    axis = read_int(node, "axis")
    return _Mix(
        frozenset(numbers),
        product,
        others[0],
        tuple(scores),
        frozenset(products),
        has_maxima,
        axis,
        is_turned,
    )


def _turns(operations: Operations, node: Node) -> bool:
    return any(one.operator.has("permutes") for one in operations.path(node.input(0)))


def _make(blocks: FoundBlocks, one: _Mix, other: _Mix, name: str) -> FoundBlock | None:
    """Return the block of two mixes with what gives their scores, and what joins them."""
    operations = blocks.operations
    core = {*one.numbers, *other.numbers}
    givers = {number for value in one.products if (number := operations.giver(value)) is not None}
    mixed = [one.values, other.values]
    leading = find_leading(operations, core, one.products, mixed, most=_MOST_SCORING)
    if leading is not None and givers and givers <= leading.numbers:
        roots = {find_arranged_root(value) for value in leading.sources}
        if {*map(find_arranged_root, mixed)} <= roots:
            core |= leading.numbers
        else:
            for giver in givers:
                owner = blocks.owner[giver]
                core |= owner.numbers if owner is not None else {giver}
    end = max(one.end, other.end)
    for number in (one.end, other.end):
        for user in operations.users[number]:
            if user >= 0 and operations.kinds[user] == "Mul" and blocks.owner[user] is None:
                core.add(user)
    joins = {u for n in core for u in operations.users[n] if u >= 0} - core
    join = joins.pop() if len(joins) == 1 else None
    if join is not None and operations.nodes[join].operator.has("joins"):
        core.add(join)
        end = join
    cut = [o for n in core if (o := blocks.owner[n]) is not None and not o.numbers <= core]
    if cut:
        return None
    return FoundBlock("attention", name, frozenset(core), end)
