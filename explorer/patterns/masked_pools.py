"""Sums and means over those places alone that a mask counts; parts that are each scaled."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.dataflow import find_source
from netloupe.explorer.model import TensorType, Value
from netloupe.explorer.operators import LAYOUT_TRAITS

from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations

#: what parts that are each scaled are called
SCALING = "Scaling"
_BOTH = 2
#: fewer parts are halves
_LEAST_PARTS = 3
#: what takes a part
_TAKING = ("gathers", "slices", "splits")
#: how a mask comes from an input
_HANDING = (*LAYOUT_TRAITS, "broadcasts")
#: what keeps a count from 0
_LEAST = ("Add", "Clip", "Max")


def find_masked_pools(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find Σ (x · m), where m is a mask or weights that are given, and the same divided by Σ m.

    Numbers that may be any weights are a mask where their name says so.
    So tokens become the vector of a sentence (N. Reimers and I. Gurevych, Sentence-BERT, 2019,
    section 3), and elements that of a set (M. Zaheer and others, Deep Sets, 2017, equation 2).
    """
    operations = blocks.operations
    for product, kind in enumerate(operations.kinds):
        total = operations.only_user(product) if kind == "Mul" else None
        if total is None or operations.kinds[total] != "ReduceSum":
            continue
        taken = operations.operands[product]
        masks = [value for value in taken if _is_mask(value)]
        rank = max((_find_rank(value) for value in taken), default=0)
        given = [value for value in taken if _is_weight(value, rank)] if not masks else []
        if len(taken) != _BOTH or len(masks) + len(given) != 1:
            continue
        how = "Masked" if masks else "Weighted"
        numbers, end, name = {product, total}, total, f"{how} sum"
        division = operations.only_user(total)
        counted = _find_count(operations, division, total, (*masks, *given)[0])
        if division is not None and counted is not None:
            numbers, end, name = numbers | counted | {division}, division, f"{how} mean"
        is_free = all(blocks.owner[number] is None for number in numbers)
        if is_free and operations.is_closed(numbers, end):
            yield FoundBlock("masked pool", name, frozenset(numbers), end)


def _is_mask(value: Value) -> bool:
    """Return whether a value is an input of zeros and ones: of truth, or called so."""
    source = find_source(value, *_HANDING)
    stated = source.type if source is not None and source.is_input else None
    if source is None or not isinstance(stated, TensorType):
        return False
    return stated.dtype.name == "bool" or "mask" in source.name.lower()


def _find_rank(value: Value) -> int:
    dims = find_value_facts(value.graph.model).find_dims(value)
    return 0 if dims is None else len(dims)


def _is_weight(value: Value, rank: int) -> bool:
    """Return whether a value is an input of one number for each place, not for each feature."""
    source = find_source(value, *_HANDING)
    stated = source.type if source is not None and source.is_input else None
    if not isinstance(stated, TensorType) or stated.shape is None:
        return False
    sizes = stated.shape
    return 1 < len(sizes) < rank or (len(sizes) == rank > 1 and sizes[-1].value == 1)


def _find_count(
    operations: Operations, division: int | None, total: int, mask: Value
) -> set[int] | None:
    """Return what adds up a mask, where a sum is divided by that."""
    if division is None or operations.kinds[division] != "Div":
        return None
    first, *others = operations.operands[division]
    if operations.giver(first) != total or len(others) != 1:
        return None
    number, numbers = operations.giver(others[0]), set[int]()
    if number is not None and operations.kinds[number] in _LEAST:
        numbers.add(number)
        givers = operations.givers(number)
        number = givers[0] if len(givers) == 1 else None
    if number is None or operations.kinds[number] != "ReduceSum":
        return None
    counted = find_source(operations.operands[number][0], *_HANDING)
    is_same = counted is find_source(mask, *_HANDING)
    return numbers | {number} if is_same else None


def find_scaled_parts(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find parts of one value that are each multiplied by a number that is known, and joined again.

    So coordinates of boxes that are relative to a picture become places in it (N. Carion and
    others, End-to-End Object Detection with Transformers, 2020, section 3.1), or places in one of
    another size (torchvision's ``resize_boxes``).
    """
    operations = blocks.operations
    for join, node in enumerate(operations.nodes):
        if not node.operator.has("joins") or blocks.owner[join] is not None:
            continue
        taken = operations.operands[join]
        parts: set[int] = set()
        numbers = {join}
        is_scaled = False
        for value in taken:
            number = operations.giver(value)
            if number is not None and operations.kinds[number] in ("Mul", "Div"):
                is_scaled = True
                numbers.add(number)
                first = operations.operands[number]
                number = operations.giver(first[0]) if len(first) == 1 else None
            if number is None or not _takes_part(operations, number):
                break
            parts.add(number)
        else:
            numbers |= parts
            of = {operations.operands[part][0] for part in parts}
            is_free = all(blocks.owner[number] is None for number in numbers)
            is_whole = len(taken) >= _LEAST_PARTS and len(of) == 1
            if is_whole and is_scaled and is_free and operations.is_closed(numbers, join):
                facts = (f"each of {len(taken)} parts",)
                yield FoundBlock("scaled parts", SCALING, frozenset(numbers), join, facts)


def _takes_part(operations: Operations, number: int) -> bool:
    """Return whether an operation takes a part of something that is computed, or given."""
    takes = operations.nodes[number].operator.has(*_TAKING)
    return takes and bool(operations.operands[number])
