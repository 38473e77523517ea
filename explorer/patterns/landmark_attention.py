"""Attention by a few landmarks, whose shares of one another are inverted step by step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.model import Value
from netloupe.explorer.notation import write_count

from .attention_extent import add_feeders, add_projections
from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations
from .transformer_details import AttentionDetails
from .walks import walk_back

NYSTROM = "Nystrom attention"

_SCORING = ("Add", "Div", "Mul", "Sub", "Where")
_MEANS, _SCALING = frozenset({"AveragePool", "ReduceMean", "ReduceSum"}), {"Div", "Mul"}
_MOST_SCORING, _MOST_OF_MEAN = 4, 8
#: so many operations invert the shares of landmarks, in 6 steps of 11 as a rule
_MOST_OF_INVERSE = 160
_INVERTING = frozenset(
    {"Abs", "Add", "Div", "Max", "MatMul", "Mul", "Neg", "Reciprocal", "ReduceMax", "ReduceSum"}
    | {"Sub"}
)
#: so often a step of the inverse multiplies, besides the product that it ends in
_LEAST_PRODUCTS = 3
_LEAST_FACTORS, _MOST_FACTORS = 4, 8
#: tokens in heads, and the last two axes of what is multiplied
_WITH_HEADS = 4


class _Shares(NamedTuple):
    """What a Softmax makes of the products of queries and keys.

    Parameters
    ----------
    softmax
        The operation.
    numbers
        It, and what stands between it and the products.
    query, key
        What is compared.
    """

    softmax: int
    numbers: set[int]
    query: Value
    key: Value


def find_landmark_attentions(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find softmax(q·k̃ᵀ)·Z·(softmax(q̃·kᵀ)·v), Z the inverse of softmax(q̃·k̃ᵀ), by products.

    Landmarks q̃ and k̃ are means of neighbouring queries and keys (Y. Xiong and others,
    Nystromformer, 2021, equations 13 and 14 and algorithm 1); a convolution of the values may be
    added.
    """
    operations = blocks.operations
    for end, kind in enumerate(operations.kinds):
        if kind != "MatMul" or len(operations.operands[end]) != 2:
            continue
        factors, numbers = _list_factors(operations, end)
        if len(factors) < _LEAST_FACTORS:
            continue
        first, last = (_read_shares(operations, factors[place]) for place in (0, -2))
        if first is None or last is None or first.softmax == last.softmax:
            continue
        inner = _find_inverse(operations, factors[1:-2])
        among = _read_shares(operations, inner[0]) if inner is not None else None
        if inner is None or among is None:
            continue
        is_joined = among.key is first.key and among.query is last.query
        means = [
            _find_mean(operations, few, many)
            for few, many in ((among.query, first.query), (among.key, last.key))
        ]
        if not is_joined or means[0] is None or means[1] is None:
            continue
        core = numbers | first.numbers | last.numbers | among.numbers | inner[1]
        core = core.union(*(one for one in means if one is not None))
        yield _complete(blocks, core, end, factors[-1], among)


def _list_factors(operations: Operations, end: int) -> tuple[list[Value], set[int]]:
    """Return what is multiplied in a row, and the products: ``(a·b)·(c·d)`` is of four."""
    numbers = {end}
    factors = [*operations.operands[end]]
    place = 0
    while place < len(factors) and len(factors) < _MOST_FACTORS:
        number = operations.given_by(factors[place], "MatMul")
        if number is None or operations.only_user(number) not in numbers:
            place += 1
            continue
        numbers.add(number)
        factors[place : place + 1] = operations.operands[number]
    return factors, numbers


def _read_shares(operations: Operations, value: Value) -> _Shares | None:
    """Return what gives shares of one product."""
    softmax = operations.given_by(value, "Softmax")
    if softmax is None:
        return None
    numbers = {softmax}
    number = operations.giver(operations.operands[softmax][0])
    for _ in range(_MOST_SCORING):
        if number is None:
            return None
        numbers.add(number)
        taken = operations.operands[number]
        if operations.kinds[number] in ("Einsum", "MatMul"):
            return _Shares(softmax, numbers, *taken) if len(taken) == 2 else None
        if operations.kinds[number] not in _SCORING:
            return None
        scored = [v for v in taken if operations.given_by(v, "MatMul", "Einsum", *_SCORING)]
        number = operations.giver(scored[0]) if scored else None
    return None


def _find_inverse(
    operations: Operations, factors: Sequence[Value]
) -> tuple[Value, set[int]] | None:
    """Return shares that factors are made of alone, by products and differences, and these."""
    numbers: set[int] = set()
    shares: dict[Value, None] = {}
    pending = [*factors]
    while pending and len(numbers) < _MOST_OF_INVERSE:
        value = pending.pop()
        number = operations.giver(value)
        if number is None:
            return None
        if operations.kinds[number] == "Softmax":
            shares[value] = None
        elif operations.kinds[number] not in _INVERTING:
            return None
        elif number not in numbers:
            numbers.add(number)
            pending += operations.operands[number]
    kinds = [operations.kinds[number] for number in numbers]
    is_scaled = "ReduceMax" in kinds and "ReduceSum" in kinds
    is_stepwise = kinds.count("MatMul") >= _LEAST_PRODUCTS and "Sub" in kinds
    if pending or len(shares) != 1 or not is_scaled or not is_stepwise:
        return None
    return next(iter(shares)), numbers


def _find_mean(operations: Operations, few: Value, many: Value) -> set[int] | None:
    """Return what makes means of many values."""
    numbers = walk_back(operations, few, [many], _MOST_OF_MEAN)
    kinds = {operations.kinds[number] for number in numbers or ()}
    return numbers if kinds & _MEANS and kinds <= _MEANS | _SCALING else None


def _complete(
    blocks: FoundBlocks, core: set[int], end: int, value: Value, among: _Shares
) -> FoundBlock:
    """Add what is added of values, and the projections."""
    operations = blocks.operations
    total = operations.only_user(end)
    facts: list[str] = []
    if total is not None and operations.kinds[total] == "Add":
        others = [v for v in operations.operands[total] if operations.giver(v) != end]
        convolved = operations.given_by(others[0], "Conv") if others else None
        if convolved is not None and operations.operands[convolved] == [value]:
            core |= {total, convolved}
            end = total
            facts.append("convolution of values beside")
    whole = {*core}
    add_projections(blocks, whole)
    add_feeders(blocks, core, whole)
    behind = blocks.holding(operations.only_user(end), "linear")
    if behind is not None:
        whole |= behind.numbers
        end = behind.end
    known = find_value_facts(operations.context.graph.model)
    dims = known.find_dims(operations.nodes[among.softmax].output(0))
    widths = known.find_dims(among.query)
    count, heads, width = None, None, None
    if dims:
        count = dims[-1]
    if dims and len(dims) == _WITH_HEADS and isinstance(dims[1], int):
        heads = dims[1]
        width = widths[-1] if widths and isinstance(widths[-1], int) else None
        noun = write_count(heads, "head")
        facts.insert(0, f"{noun} × {width}" if width else noun)
    if isinstance(count, int):
        facts.insert(0 if heads is None else 1, write_count(count, "landmark"))
    details = AttentionDetails(
        landmarks=count if isinstance(count, int) else None,
        heads=heads,
        head_width=width,
        attention=NYSTROM,
    )
    return FoundBlock("attention", NYSTROM, frozenset(whole), end, tuple(facts), details)
