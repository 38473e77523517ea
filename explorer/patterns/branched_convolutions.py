"""Convolutions that are written as several beside one another, whose sum is one convolution."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from netloupe.explorer.model import Value

from .convolution_details import ConvolutionDetails
from .convolutions import describe_convolution
from .found_blocks import FoundBlock, FoundBlocks

#: what such a convolution is among others
BRANCHED = "multi-branch"
_IDENTITY = "identity"
_BOTH = 2
#: MobileOne has 4 of one size, one of another and the value itself; more is another idea
_MOST_TERMS = 12


class _Branches(NamedTuple):
    """What is added up.

    Parameters
    ----------
    convolutions
        Those of one value.
    numbers
        All operations, with the sums.
    has_identity
        Whether the value itself, perhaps normalized, is among the terms.
    """

    convolutions: list[FoundBlock]
    numbers: set[int]
    has_identity: bool


def find_branched_convolutions(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find sums of convolutions of one value, with its norm, and no activation before the sum.

    So a network is trained that has one convolution in its place afterwards (X. Ding and others,
    RepVGG, 2021, figure 2b; P. Vasu and others, MobileOne, 2023, figure 3).
    """
    operations = blocks.operations
    for end, kind in enumerate(operations.kinds):
        user = operations.only_user(end)
        if kind != "Add" or (user is not None and operations.kinds[user] == "Add"):
            continue
        found = _read_branches(blocks, end)
        if found is None:
            continue
        details = _join_details([_read(one) for one in found.convolutions])
        if details is None:
            continue
        last, words = end, "Multi-branch conv"
        numbers = {*found.numbers}
        activation = blocks.holding(user, "activation")
        if activation is not None and activation.numbers.issuperset(operations.users[end]):
            numbers |= activation.numbers
            last = activation.end
            words += f" · {activation.name}"
        own = _write_branches(found.convolutions, has_identity=found.has_identity)
        told = describe_convolution(replace(details, form=""))
        facts = (own, *told[1:])
        parts = (*found.convolutions, *([activation] if last != end and activation else []))
        yield FoundBlock("conv", words, frozenset(numbers), last, facts, details, parts)


def _read_branches(blocks: FoundBlocks, end: int) -> _Branches | None:
    """Return what a sum is of, where that is convolutions of one value, and perhaps itself."""
    operations = blocks.operations
    numbers = {end}
    terms = [*operations.operands[end]]
    place = 0
    while place < len(terms) <= _MOST_TERMS:
        number = operations.given_by(terms[place], "Add")
        if number is None or operations.only_user(number) not in numbers or blocks.owner[number]:
            place += 1
            continue
        numbers.add(number)
        terms[place : place + 1] = operations.operands[number]
    if len(terms) > _MOST_TERMS:
        return None
    convolutions: list[FoundBlock] = []
    starts: dict[Value, None] = {}
    others: list[Value] = []
    for value in terms:
        giver = operations.giver(value)
        found = blocks.ending(giver, "conv", "norm")
        if found is None:
            others.append(value)
            continue
        if operations.only_user(found.end) not in numbers:
            # what something else takes as well may be the value itself
            others.append(value)
            continue
        taken = operations.operands[min(found.numbers)]
        if len(taken) != 1 or " · " in found.name.replace(" · BN", ""):
            return None  # an activation stands before the sum
        starts[taken[0]] = None
        numbers |= found.numbers
        if found.kind == "conv":
            convolutions.append(found)
        elif found.name != "BatchNorm":
            return None
    count = len(terms) - len(convolutions)
    is_one = len(starts) == 1 and all(value in starts for value in others) and count <= 1
    if len(convolutions) < _BOTH or not is_one or not operations.is_closed(numbers, end):
        return None
    return _Branches(convolutions, numbers, bool(count))


def _read(found: FoundBlock) -> ConvolutionDetails:
    return found.details.read_as(ConvolutionDetails)


def _join_details(branches: Sequence[ConvolutionDetails]) -> ConvolutionDetails | None:
    """Return what is known of the one convolution that several amount to; None for no one."""
    alike = {
        (one.in_out, one.stride, one.groups, one.transposed, len(one.kernel)) for one in branches
    }
    is_plain = not any(one.dilation or one.form or not one.kernel for one in branches)
    if len(alike) != 1 or not is_plain or branches[0].transposed:
        return None
    kernel = tuple(map(max, zip(*(one.kernel for one in branches), strict=True)))
    return replace(branches[0], kernel=kernel, form=BRANCHED)


def _write_branches(branches: Sequence[FoundBlock], *, has_identity: bool) -> str:
    """Return ``3×3 + 1×1 + identity``, ``4 of 3×3 + 1×1``."""
    sizes = Counter(_read(one).kernel for one in branches)
    words = [
        f"{count} of {size}" if count > 1 else size
        for kernel, count in sorted(sizes.items(), reverse=True)
        for size in ["×".join(map(str, kernel)) if len(kernel) > 1 else f"kernel {kernel[0]}"]
    ]
    return " + ".join([*words, *([_IDENTITY] if has_identity else [])])
