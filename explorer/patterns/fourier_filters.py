"""Tokens mixed by weights of their frequencies, between a Fourier transform and its inverse."""

from __future__ import annotations

from collections.abc import Iterator

from .found_blocks import FoundBlock, FoundBlocks
from .operations import OUTSIDE, Operations
from .readings import read_int, read_scalar
from .weight_sizes import read_dims

_MOST_OF_FILTER = 80
_MOST_AXES = 3
#: groups of features, and what each takes and gives
_RANK_OF_BLOCKS = 3


def find_fourier_filters(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find a Fourier transform, weights of what it gives, and its inverse.

    The weights are one complex number for each frequency (Y. Rao and others, Global Filter
    Networks, 2021, equation 5), a matrix for each of the lowest (Z. Li and others, Fourier Neural
    Operator, 2021, section 4), or a complex MLP of groups of features that all frequencies share
    (J. Guibas and others, Adaptive Fourier Neural Operators, 2022, section 4).
    """
    operations = blocks.operations
    taken: set[int] = set()
    for first, kind in enumerate(operations.kinds):
        if kind != "DFT" or first in taken or _is_inverse(operations, first):
            continue
        forward = _follow_transforms(operations, first)
        taken |= forward
        between = _follow_weights(blocks, forward)
        if between is None:
            continue
        numbers, start = between
        back = _follow_transforms(operations, start)
        end = max(back)
        known = forward | numbers | back
        axes = sum(operations.kinds[number] == "DFT" for number in forward)
        weights = [
            dims
            for number in sorted(numbers)
            if operations.nodes[number].operator.has("multiplies", "multiplies_elements")
            for value in operations.fixed(number)
            if len(dims := [dim for dim in read_dims(value) if dim != 1]) > 1
        ]
        if not weights or not operations.is_closed(known, end):
            continue
        facts = [f"{axes}-D"] if axes > 1 else []
        activations = {
            owner.name
            for number in numbers
            if (owner := blocks.owner[number]) is not None and owner.kind == "activation"
        }
        groups = weights[0][-3:] if len(weights[0]) >= _RANK_OF_BLOCKS else []
        if activations and len(groups) == _RANK_OF_BLOCKS:
            count, one, other = groups
            facts.append(f"complex MLP, {count} blocks × {one} → {other}")
        elif activations:
            facts.append("complex MLP")
        yield FoundBlock("mixer", "Fourier filter", frozenset(known), end, tuple(facts))


def _is_inverse(operations: Operations, number: int) -> bool:
    return bool(read_int(operations.nodes[number], "inverse"))


def _follow_transforms(operations: Operations, first: int) -> set[int]:
    """Return transforms of one direction in a row, with the numbers that scale them."""
    found = {first}
    inverse = _is_inverse(operations, first)
    end = first
    count = 1
    while True:
        pending = [end]
        user = operations.only_user(end)
        if user is not None and _scales(operations, user):
            pending.append(user)
            user = operations.only_user(user)
        is_next = user is not None and operations.kinds[user] == "DFT" and count < _MOST_AXES
        if user is None or not is_next or _is_inverse(operations, user) != inverse:
            if inverse:
                found.update(pending)
            break
        found.update((*pending, user))
        end = user
        count += 1
    before = operations.givers(first)
    is_scaled = not inverse and len(before) == 1 and _scales(operations, before[0])
    if is_scaled and operations.only_user(before[0]) == first:
        found.add(before[0])
    return found


def _scales(operations: Operations, number: int) -> bool:
    """Return whether an operation multiplies by one number."""
    is_product = operations.nodes[number].operator.has("multiplies_elements", "divides")
    fixed = operations.fixed(number)
    return is_product and len(fixed) == 1 and read_scalar(fixed[0]) is not None


def _follow_weights(blocks: FoundBlocks, forward: set[int]) -> tuple[set[int], int] | None:
    """Return what stands between transforms and the first inverse one, and that one."""
    operations = blocks.operations
    numbers: set[int] = set()
    inverse: set[int] = set()
    pending = list(operations.users[max(forward)])
    while pending:
        number = pending.pop()
        if number == OUTSIDE or len(numbers) > _MOST_OF_FILTER:
            return None
        if number in numbers or number in inverse:
            continue
        owner = blocks.owner[number]
        if owner is not None and owner.kind not in ("activation", "linear", "mlp"):
            return None
        if operations.kinds[number] == "DFT":
            if not _is_inverse(operations, number):
                return None
            inverse.add(number)
            continue
        own = owner.numbers if owner is not None else frozenset({number})
        numbers |= own
        pending += [user for one in own for user in operations.users[one]]
    return (numbers, inverse.pop()) if len(inverse) == 1 else None
