"""Maps of several sizes that are added by learned shares."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from netloupe.explorer.model import Node, Value
from netloupe.explorer.notation import write_count

from .found_blocks import FoundBlock, FoundBlocks
from .operations import PICKING, Operations
from .readings import read_scalar

_MOST_MAPS = 8
_BOTH = 2
#: shares and what keeps their sum from 0
_ROUNDING = 5e-3
_SCALING = ("Mul", "Div")
_MOST_SCALINGS = 2


class _Term(NamedTuple):
    """A map and its share.

    Parameters
    ----------
    value
        The map.
    numbers
        What multiplies it.
    share
        By how much, where that is stored as a number; else None.
    of
        What the share is a part of, where it is computed of stored numbers.
    """

    value: Value
    numbers: set[int]
    share: float | None
    of: Value | None


def find_weighted_fusions(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find maps that are each multiplied by one number, all of which are 1 together, and added.

    M. Tan and others, EfficientDet, 2020, section 3.3: fast normalized fusion of a feature pyramid,
    some of whose maps were made larger or smaller before.
    """
    operations = blocks.operations
    for end in range(len(operations)):
        if blocks.owner[end] is not None:
            continue
        found = _list_summed(operations, end)
        if found is None:
            continue
        values, numbers = found
        terms = [_read_term(blocks, value, numbers) for value in values]
        known = [term for term in terms if term is not None]
        if len(known) < len(terms) or len({term.value for term in known}) < len(terms):
            continue
        if not _are_shares(known) or not any(_is_resized(operations, one.value) for one in known):
            continue
        every = numbers.union(*(term.numbers for term in known))
        if operations.is_closed(every, end):
            facts = (write_count(len(known), "map"),)
            yield FoundBlock("unit", "Weighted fusion", frozenset(every), end, facts)


def _list_summed(operations: Operations, end: int) -> tuple[list[Value], set[int]] | None:
    """Return what is added up in the end, one after the other or side by side, and the sums."""
    kind = operations.kinds[end]
    if kind == "ReduceSum" and operations.operands[end]:
        join = operations.giver(operations.operands[end][0])
        is_join = join is not None and operations.nodes[join].operator.has("joins")
        if join is None or not is_join or operations.only_user(join) != end:
            return None
        return (
            (operations.operands[join], {join, end}) if _fits(operations.operands[join]) else None
        )
    user = operations.only_user(end)
    if kind not in ("Add", "Sum") or (user is not None and operations.kinds[user] == "Add"):
        return None
    numbers = {end}
    values = [*operations.operands[end]]
    place = 0
    while place < len(values) <= _MOST_MAPS:
        number = operations.given_by(values[place], "Add")
        if number is None or operations.only_user(number) not in numbers:
            place += 1
            continue
        numbers.add(number)
        values[place : place + 1] = operations.operands[number]
    return (values, numbers) if _fits(values) else None


def _fits(values: list[Value]) -> bool:
    return _BOTH <= len(values) <= _MOST_MAPS


def _read_term(blocks: FoundBlocks, value: Value, inside: set[int]) -> _Term | None:
    """Return the map that a value is, times a number."""
    operations = blocks.operations
    numbers: set[int] = set()
    share: float | None = 1.0
    of: Value | None = None
    for _ in range(_MOST_SCALINGS):
        number = operations.given_by(value, *_SCALING)
        fixed = operations.fixed(number) if number is not None else []
        if number is None or blocks.owner[number] is not None or len(fixed) != 1:
            break
        if not {*operations.users[number]} <= inside | numbers:
            break
        node = operations.nodes[number]
        scalar = read_scalar(fixed[0])
        if scalar is None:
            whole = _find_whole(fixed[0].producer)
            of = of or whole
            if whole is None and operations.kinds[number] == "Mul":
                return None
            share = None
        elif share is not None:
            is_divided = operations.kinds[number] == "Div"
            if is_divided and (scalar == 0 or operations.is_fixed(node.input(0))):
                return None
            share = share / scalar if is_divided else share * scalar
        numbers.add(number)
        value = operations.operands[number][0]
    return _Term(value, numbers, share, of) if numbers else None


def _find_whole(node: Node | None) -> Value | None:
    """Return of which value a node takes a part."""
    while node is not None and node.operator.has("casts", "inserts_axes", "reshapes"):
        first = node.input(0)
        node = first.producer if first is not None else None
    return node.input(0) if node is not None and node.operator.has(*PICKING, "splits") else None


def _are_shares(terms: list[_Term]) -> bool:
    """Return whether numbers are 1 together, or parts of one value that is divided by its sum."""
    shares = [term.share for term in terms if term.share is not None]
    if len(shares) == len(terms):
        return all(share >= 0 for share in shares) and abs(sum(shares) - 1) < _ROUNDING
    wholes = {term.of for term in terms}
    whole = wholes.pop() if len(wholes) == 1 else None
    node = whole.producer if whole is not None else None
    return node is not None and (
        node.operator.has("distributes") or node.op_type in ("Div", "Relu")
    )


def _is_resized(operations: Operations, value: Value) -> bool:
    """Return whether a map was made larger or smaller."""
    number = operations.giver(value)
    node = operations.nodes[number] if number is not None else value.producer
    return node is not None and node.operator.has("resamples", "pools")
