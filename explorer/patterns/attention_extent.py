"""What belongs to an attention besides its core: projections, and what masks are made of."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from .attention_forms import is_latent, skip_scale
from .attention_heads import BEFORE_PRODUCTS
from .attention_scores import MASK_TRAITS
from .convolutions import read_convolution
from .found_blocks import FoundBlock, FoundBlocks
from .operations import OUTSIDE, Operations

_MOST_OF_ATTENTION = 120


def add_projections(
    blocks: FoundBlocks, core: set[int], passed: frozenset[str] = frozenset()
) -> list[FoundBlock]:
    """Add what alone leads to the core, back to the projections and these.

    ``passed`` are operators that may stand between besides.
    """
    operations = blocks.operations
    projections: list[FoundBlock] = []
    latent: set[int] = set()
    scales: dict[int, int] = {}
    pending = [-giver for number in core for giver in operations.givers(number)]
    heapq.heapify(pending)
    first = len(core)
    # users come later in the order, so that those that belong are in already
    while pending and len(core) - first < _MOST_OF_ATTENTION:
        number = -heapq.heappop(pending)
        # what is kept of keys and values for the next step goes outside, too
        users = {*operations.users[number]} - {OUTSIDE, scales.get(number, OUTSIDE)} - core
        if number in core or any(operations.users[user] for user in users):
            continue  # but of some only the shape is taken
        core |= users
        linear = blocks.ending(number, "linear")
        if linear is not None:
            core |= linear.numbers
            projections.append(linear)
            for giver in operations.givers(min(linear.numbers)):
                last = skip_scale(operations, giver)
                if blocks.ending(last, "norm") is not None and last not in latent:
                    latent.add(last)
                    if last != giver:
                        scales[last] = giver
                    heapq.heappush(pending, -last)
            continue
        norm = blocks.holding(number, "norm")
        if number in latent and (norm is None or not is_latent(blocks, norm, core)):
            continue
        if norm is not None:
            # a norm of queries or keys; not one before the projections, nor of both
            is_own = norm.end == number and not _are_compared_and_summed(operations, number)
            if is_own and operations.is_closed(set(norm.numbers), number):
                core |= norm.numbers
                core.update({scales[number]} if number in scales else ())
                for inner in norm.numbers:
                    for giver in operations.givers(inner):
                        heapq.heappush(pending, -giver)
            continue
        kind, owner = operations.kinds[number], blocks.owner[number]
        is_alone = owner is None or (kind in passed and len(owner.numbers) == 1)
        if not is_alone or kind not in BEFORE_PRODUCTS | passed:
            continue
        core.add(number)
        for giver in operations.givers(number):
            heapq.heappush(pending, -giver)
    return projections


def add_convolved(
    blocks: FoundBlocks, whole: set[int], projections: Sequence[FoundBlock]
) -> tuple[int, ...]:
    """Add the convolutions of each channel that projections take, and return what all have.

    H. Wu and others, CvT: Introducing Convolutions to Vision Transformers, 2021, section 3.2: with
    a stride in those of keys and values. A norm may stand between.

    Returns
    -------
    tuple of int
        Their kernel; empty where projections take something else, or kernels differ.
    """
    operations = blocks.operations
    kernels: set[tuple[int, ...]] = set()
    splits: set[int] = set()
    for projection in projections:
        givers = operations.givers(min(projection.numbers))
        number = givers[0] if len(givers) == 1 else OUTSIDE
        # around the convolution a class token goes
        join = number if number >= 0 and operations.kinds[number] == "Concat" else OUTSIDE
        if join >= 0 and {*operations.users[join]} <= whole:
            beside = [one for one in operations.givers(join) if _picks(operations, one)]
            others = [one for one in operations.givers(join) if one not in beside]
            number = others[0] if len(beside) == len(others) == 1 else OUTSIDE
            splits.update(beside)
        norm = blocks.holding(number, "norm") if number >= 0 else None
        between: frozenset[int] = frozenset()
        if norm is not None and norm.end == number:
            between = norm.numbers
            before = {one for inner in between for one in operations.givers(inner)} - between
            number = before.pop() if len(before) == 1 else OUTSIDE
        kernel: tuple[int, ...] = ()
        if number >= 0 and operations.kinds[number] == "Conv":
            found = read_convolution(operations, number)
            is_own = {*operations.users[number]} <= whole | {join} | between
            if found.is_depthwise and is_own and blocks.owner[number] is None:
                kernel = found.kernel
                whole |= {number, *between, *([join] if join >= 0 else ())}
        kernels.add(kernel)
    whole |= {one for one in splits if {*operations.users[one]} <= whole}
    return kernels.pop() if len(kernels) == 1 else ()


def _picks(operations: Operations, number: int) -> bool:
    return operations.nodes[number].operator.has("slices", "splits")


def _are_compared_and_summed(operations: Operations, number: int) -> bool:
    """Return whether what an operation gives is keys and values in one, as no projection makes."""
    users = {user for user in operations.users[number] if user != OUTSIDE}
    are_products = all(operations.nodes[user].operator.has("multiplies") for user in users)
    is_summed = any(len(operations.operands[user]) > 1 for user in users)  # by shares
    return len(users) > 1 and are_products and is_summed


def add_feeders(blocks: FoundBlocks, core: set[int], whole: set[int]) -> None:
    """Add masks and the like that only the scores use; no weights are among them."""
    operations = blocks.operations
    pending = [-giver for number in core for giver in operations.givers(number)]
    heapq.heapify(pending)
    added = 0
    while pending and added < _MOST_OF_ATTENTION:
        number = -heapq.heappop(pending)
        if number in whole or not whole.issuperset(operations.users[number]):
            continue
        if (
            not operations.nodes[number].operator.has(*MASK_TRAITS)
            or blocks.owner[number] is not None
        ):
            continue
        whole.add(number)
        added += 1
        for giver in operations.givers(number):
            heapq.heappush(pending, -giver)
