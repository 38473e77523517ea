"""Linear attention by random features of queries and keys, which stand for an exponential."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from netloupe.explorer.model import Value

from .found_blocks import FoundBlock, FoundBlocks
from .layers_around import add_layers_around
from .leading import find_leading
from .operations import Operations
from .transformer_details import AttentionDetails
from .weight_sizes import read_features

_PRODUCTS = ("Einsum", "MatMul")
_MOST_OF_MAP = 16
_MOST_BEHIND = 3
#: what features of a product become an exponential by
_INSIDE = ("Add", "Div", "Mul", "Neg", "Pow", "ReduceMax", "ReduceSum", "Sub")
_LEAST_MAPS = 2
_INVERTING = ("Add", "Clip", "Div", "Max", "Reciprocal")


class _Map(NamedTuple):
    """exp(w·x - |x|²/2), with what scales it: the operations, the result, and how many w."""

    numbers: frozenset[int]
    result: Value
    features: int


def find_random_features(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find φ(q)·(φ(k)ᵀ·v) over φ(q)·Σφ(k), φ being exp(w·x - |x|²/2) for many stored w.

    K. Choromanski and others, Rethinking Attention with Performers, 2021, equations 4 and 5 and
    lemma 1 (FAVOR+).
    """
    operations = blocks.operations
    maps = {
        found.result: found
        for number, kind in enumerate(operations.kinds)
        if kind == "Exp" and (found := _read_map(blocks, number)) is not None
    }
    if len(maps) < _LEAST_MAPS:
        return
    for end, kind in enumerate(operations.kinds):
        taken = operations.operands[end]
        if kind not in _PRODUCTS or blocks.owner[end] is not None:
            continue
        query = next((maps[value] for value in taken if value in maps), None)
        for value in taken:
            inner = operations.given_by(value, *_PRODUCTS)
            given = operations.operands[inner] if inner is not None else []
            key = next((maps[one] for one in given if one in maps), None)
            is_whole = len(given) == len(("keys", "values")) and query is not None
            if inner is None or key is None or query is None or not is_whole or key is query:
                continue
            numbers = {end, inner, *query.numbers, *key.numbers}
            others = [v for v in taken if v not in (query.result, value)]
            last = end
            user = operations.only_user(end)
            if not others and user is not None and operations.kinds[user] in ("Div", "Mul"):
                others = [v for v in operations.operands[user] if operations.giver(v) != end]
                numbers.add(user)
                last = user
            stops = [query.result, key.result]
            leading = find_leading(operations, numbers, others, stops, _MOST_OF_MAP)
            if leading is None or leading.sources != {*stops}:
                continue
            if not _sums_keys(operations, leading.numbers, key.result):
                continue
            numbers, last = add_layers_around(blocks, numbers | leading.numbers, last)
            facts = (f"{key.features} random features",) if key.features else ()
            details = AttentionDetails(attention="Linear attention")
            name = "Linear attention"
            yield FoundBlock("attention", name, frozenset(numbers), last, facts, details)
            break


def _sums_keys(operations: Operations, numbers: frozenset[int], keys: Value) -> bool:
    """Return whether operations are the products of queries with the sum of all keys, inverted."""
    kinds = {
        operations.kinds[number]
        for number in numbers
        if operations.kinds[number] != "Mul" or operations.scalar(number) != 1.0  # of 1 / sum
    }
    sums = [n for n in numbers if operations.kinds[n] == "ReduceSum"]
    is_of_keys = len(sums) == 1 and operations.operands[sums[0]] == [keys]
    return is_of_keys and kinds <= {*_PRODUCTS, *_INVERTING, "ReduceSum"}


def _read_map(blocks: FoundBlocks, power: int) -> _Map | None:
    operations = blocks.operations
    numbers = {power}
    products: list[int] = []
    squares: list[Value] = []
    pending = [*operations.operands[power]]
    while pending:
        value = pending.pop()
        giver = operations.giver(value)
        if giver is None or giver in numbers:
            continue
        layer = blocks.ending(giver, "linear")
        if layer is not None:
            numbers |= layer.numbers
            products.append(giver)
            continue
        kind = operations.kinds[giver]
        if kind not in _INSIDE or blocks.owner[giver] is not None or len(numbers) > _MOST_OF_MAP:
            return None
        numbers.add(giver)
        if kind == "Pow" and operations.scalar(giver) == 2.0:
            squares += operations.operands[giver]
        elif kind == "Mul" and len({*operations.operands[giver]}) < len(operations.operands[giver]):
            squares += operations.operands[giver][:1]
        else:
            pending += operations.operands[giver]
    if len(products) != 1 or len(squares) != 1:
        return None
    taken = operations.operands[min(_own(blocks, products[0]))][0]
    if taken is not squares[0]:  # it is scaled before it is multiplied by w, its square behind
        scale = operations.given_by(taken, "Mul")
        if scale is None or operations.operands[scale] != [squares[0]] or blocks.owner[scale]:
            return None
        numbers.add(scale)
    end = power
    for _ in range(_MOST_BEHIND):
        user = operations.only_user(end)
        if user is None or operations.kinds[user] not in ("Add", "Mul"):
            break
        if len(operations.operands[user]) != 1:
            break
        numbers.add(user)
        end = user
    result = operations.nodes[end].output(0)
    count = read_features(operations.nodes[products[0]])[1]
    return _Map(frozenset(numbers), result, count) if result is not None else None


def _own(blocks: FoundBlocks, number: int) -> frozenset[int]:
    owner = blocks.owner[number]
    return owner.numbers if owner is not None else frozenset({number})
