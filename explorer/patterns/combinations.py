"""What combines many values of one kind: pairs of features, dilated branches, edges of a graph."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.model import Value

from .convolution_details import ConvolutionDetails
from .details import FeatureDetails
from .found_blocks import FoundBlock, FoundBlocks
from .linear import write_widths
from .operations import PICKING, Operations
from .readings import read_ints, read_str
from .weight_sizes import read_type_dims

_LEAST_BRANCHES = 3
#: what looks for the largest
_CHOOSING = frozenset({"ArgMax", "TopK"})
_MOST_STEPS = 24
_MOST_SEEN = 60
#: what tells how far edges reach is a block of its own
_TOLD_ALONE = frozenset({"basis", "graph network"})
#: what puts together at nodes what edges hold, and is told to be more
_TOLD_OTHERWISE = frozenset({"attention", "coordinates", "edge softmax", "graph network"})
#: so many operations stand between the number of messages and the division by it
_MOST_BEFORE_COUNT = 4
#: how messages are put together, in words
REDUCTIONS = {"add": "sum", "max": "maximum", "min": "minimum", "mul": "product"}


def find_interactions(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find the dot products of all pairs of several features.

    M. Naumov and others, Deep Learning Recommendation Model for Personalization and
    Recommendation Systems, 2019, section 2.1.4; S. Rendle, Factorization Machines, 2010.
    """
    operations = blocks.operations
    for number, kind in enumerate(operations.kinds):
        taken = operations.operands[number]
        if kind != "MatMul" or len(taken) != 2 or taken[0] is not taken[1]:
            continue
        if blocks.owner[number] is not None:
            continue
        join = operations.giver(taken[0])
        if join is None or not operations.nodes[join].operator.has("joins"):
            continue
        count = len(operations.operands[join])
        if count < _LEAST_BRANCHES:
            continue
        numbers, end = {number}, number
        if {*operations.users[join]} == {number}:
            numbers.add(join)
        user = operations.only_user(number)  # each pair once
        if user is not None and operations.nodes[user].operator.has(*PICKING):
            numbers.add(user)
            end = user
        facts = (f"{count} features",)
        yield FoundBlock("interaction", "Dot interaction", frozenset(numbers), end, facts)


def find_atrous_pyramids(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find branches that convolve one value with kernels of several dilations, side by side.

    L. Chen and others, Rethinking Atrous Convolution for Semantic Image Segmentation, 2017,
    figure 5 (ASPP).
    """
    operations = blocks.operations
    for join, node in enumerate(operations.nodes):
        taken = operations.operands[join]
        if not node.operator.has("joins") or len(taken) < _LEAST_BRANCHES:
            continue
        if blocks.owner[join] is not None:
            continue
        branches = [blocks.ending(operations.giver(value), "conv", "separable") for value in taken]
        convolutions = [one for one in branches if one is not None]
        rates = [_read_rate(operations, one) for one in convolutions]
        starts = {operations.operands[min(one.numbers)][0] for one in convolutions}
        dilated = {rate for rate in rates if rate > 1}
        if len(dilated) < _LEAST_BRANCHES - 1 or len(starts) != 1:
            continue
        numbers = {join}.union(*(one.numbers for one in convolutions))
        start = next(iter(starts))
        for value, branch in zip(taken, branches, strict=True):
            if branch is None:
                numbers |= _walk_branch(blocks, value, start, join)
        facts = [f"rates {', '.join(str(rate) for rate in sorted(dilated))}"]
        end = join
        last = blocks.holding(operations.only_user(join), "conv")
        if last is not None and last.details.read_as(ConvolutionDetails).is_pointwise:
            numbers |= last.numbers
            end = last.end
            first = convolutions[0].details.in_out
            if first is not None and last.details.in_out is not None:
                facts.append(write_widths(first[0], last.details.in_out[1]))
        widths = FeatureDetails()
        yield FoundBlock(
            "atrous pyramid", "Atrous pyramid", frozenset(numbers), end, tuple(facts), widths
        )


def find_pyramid_poolings(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find a value beside what is left of it on coarse grids, each convolved and made larger.

    H. Zhao and others, Pyramid Scene Parsing Network, 2017, figure 3.
    """
    operations = blocks.operations
    for join, node in enumerate(operations.nodes):
        taken = operations.operands[join]
        if not node.operator.has("joins") or len(taken) < _LEAST_BRANCHES:
            continue
        if blocks.owner[join] is not None:
            continue
        branches = [_walk_pooled(blocks, value, join) for value in taken]
        known = [branch for branch in branches if branch is not None]
        starts = {start for start, _ in known}
        others = [v for v, branch in zip(taken, branches, strict=True) if branch is None]
        grids = {_read_grid(operations, min(inner)) for _, inner in known}
        if len(known) < _LEAST_BRANCHES - 1 or {*others} != starts or len(grids) < len(known):
            continue
        numbers, end = {join}.union(*(inner for _, inner in known)), join
        last = blocks.holding(operations.only_user(join), "conv")
        if last is not None:
            numbers |= last.numbers
            end = last.end
        facts = (f"{len(known)} scales",)
        yield FoundBlock("pyramid pooling", "Pyramid pooling", frozenset(numbers), end, facts)


def _walk_pooled(blocks: FoundBlocks, value: Value, join: int) -> tuple[Value, set[int]] | None:
    """Return what a branch pools, convolves and makes larger, and its operations."""
    operations = blocks.operations
    numbers: set[int] = set()
    number = operations.giver(value)
    has_convolved = has_resized = False
    while number is not None and len(numbers) < _MOST_STEPS:
        if not {join, *numbers}.issuperset(operations.users[number]):
            return None
        node, owner = operations.nodes[number], blocks.owner[number]
        taken = operations.operands[number]
        if owner is not None and owner.kind == "conv":
            numbers |= owner.numbers
            has_convolved = True
            taken = operations.operands[min(owner.numbers)]
        elif owner is not None:
            return None
        else:
            numbers.add(number)
            has_resized |= node.operator.has("resamples")
            if node.operator.has("pools", "pools_all") and has_convolved and has_resized:
                return taken[0], numbers
            if not node.operator.has("resamples"):
                return None
        number = operations.giver(taken[0]) if taken else None
    return None


def _read_grid(operations: Operations, number: int) -> tuple[object, ...]:
    """Return what tells pools apart: how large windows are, how far apart, and what is left."""
    node = operations.nodes[number]
    sizes = (read_ints(node, "kernel_shape"), read_ints(node, "strides"))
    return (operations.kinds[number], *sizes, read_type_dims(node.output(0)))


def _read_rate(operations: Operations, found: FoundBlock) -> int:
    """Return the largest dilation in a block."""
    dilations = [1]
    for part in (found, *found.parts):
        dilations.append(part.details.read_as(ConvolutionDetails).dilation or 1)
    return max(dilations)


def _walk_branch(blocks: FoundBlocks, value: Value, start: Value, join: int) -> set[int]:
    """Return what leads from a value to one that is joined, and to nothing else."""
    operations = blocks.operations
    found: set[int] = set()
    pending = [operations.giver(value)]
    while pending and len(found) < _MOST_STEPS:
        number = pending.pop()
        if number is None or number == operations.giver(start) or number in found:
            continue
        owner = blocks.owner[number]
        inner = owner.numbers if owner is not None else frozenset({number})
        if not {join, *found, *inner}.issuperset(u for n in inner for u in operations.users[n]):
            continue
        found |= inner
        pending += [giver for n in inner for giver in operations.givers(n)]
    return found


def find_messages(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find features of nodes that are gathered along edges, and put together where these end.

    J. Gilmer and others, Neural Message Passing for Quantum Chemistry, 2017, equations 1 and 2.
    """
    operations = blocks.operations
    for end, node in enumerate(operations.nodes):
        reduction = read_str(node, "reduction") if node.operator.has("scatters") else ""
        if reduction not in REDUCTIONS:
            continue
        owner = blocks.owner[end]
        if is_divisor(operations, end) or (owner is not None and owner.kind in _TOLD_OTHERWISE):
            continue
        found = _walk_messages(blocks, end)
        if found is None and _takes_gathered(operations, end):
            found = {end}  # what is gathered is compared with more than that
        if found is None:
            continue
        how, last = REDUCTIONS[reduction], end
        counted = _find_count(blocks, end) if reduction == "add" else None
        if counted is not None:
            numbers, last, how = counted
            found |= numbers
            _add_givers(blocks, found)
        facts = (f"gather, {how} of messages",)
        yield FoundBlock("message passing", "Message passing", frozenset(found), last, facts)


def is_divisor(operations: Operations, scatter: int) -> bool:
    """Return whether sums where edges end divide others alone: they are no messages."""
    number: int | None = scatter
    for _ in range(_MOST_BEFORE_COUNT):
        user = operations.only_user(number) if number is not None else None
        if user is None or len(operations.operands[user]) != 1:
            break
        number = user
    if user is None or operations.kinds[user] != "Div" or number is None:
        return False
    divided = operations.giver(operations.operands[user][0])
    is_sum = divided is not None and operations.nodes[divided].operator.has("scatters")
    return is_sum and divided != number


def _find_count(blocks: FoundBlocks, end: int) -> tuple[set[int], int, str] | None:
    """Return what divides sums of messages, the division, and what it makes of them.

    Divided by how many there are, which is a sum of ones that are put where edges end, it is their
    mean; by the sum of what each is multiplied by, their weighted mean (X. Bresson and T. Laurent,
    Residual Gated Graph ConvNets, 2017, equation 11).
    """
    operations = blocks.operations
    division = operations.only_user(end)
    if division is None or operations.kinds[division] != "Div" or blocks.owner[division]:
        return None
    first, *others = operations.operands[division]
    number = operations.giver(others[0]) if len(others) == 1 else None
    if operations.giver(first) != end or number == end:
        return None
    numbers = {division}
    for _ in range(_MOST_BEFORE_COUNT):
        if number is None or blocks.owner[number] is not None:
            return None
        if not numbers.issuperset(operations.users[number]):
            return None
        numbers.add(number)
        node = operations.nodes[number]
        if node.operator.has("scatters"):
            place = node.operator.operands.find("updates")
            value = node.input(place) if place is not None else None
            if operations.is_fixed(value):
                return (numbers, division, "mean") if value is not None else None
            is_weight = value is not None and operations.source(value) in _list_factors(
                operations, end
            )
            return (numbers, division, "weighted mean") if is_weight else None
        if operations.kinds[number] not in ("Add", "Clip", "Max"):
            return None
        givers = operations.givers(number)
        number = givers[0] if len(givers) == 1 else None
    return None


def _add_givers(blocks: FoundBlocks, found: set[int]) -> None:
    """Add what gives factors of messages and their sums alone."""
    operations = blocks.operations
    pending = sorted({giver for n in found for giver in operations.givers(n)} - found)
    while pending and len(found) < _MOST_STEPS:
        number = pending.pop()
        owner = blocks.owner[number]
        inner = owner.numbers if owner is not None else frozenset({number})
        users = {user for n in inner for user in operations.users[n]}
        is_lookup = operations.nodes[number].operator.has("looks_up")
        if number in found or is_lookup or not found.union(inner).issuperset(users):
            continue
        found |= inner
        pending += [giver for n in inner for giver in operations.givers(n)]


def _list_factors(operations: Operations, scatter: int) -> list[Value]:
    """Return what is multiplied to give the messages that are put where edges end."""
    node = operations.nodes[scatter]
    place = node.operator.operands.find("updates")
    value = node.input(place) if place is not None else None
    product = operations.given_by(operations.source(value), "Mul") if value is not None else None
    return operations.operands[product] if product is not None else []


def _walk_messages(blocks: FoundBlocks, end: int) -> set[int] | None:
    """Return what leads to a scatter alone, back to lookups by places that are computed."""
    operations = blocks.operations
    found, is_gathered = {end}, False
    pending = [*operations.givers(end)]
    while pending and len(found) < _MOST_STEPS:
        number = pending.pop(0)
        owner = blocks.owner[number]
        inner = owner.numbers if owner is not None else frozenset({number})
        users = {user for n in inner for user in operations.users[n]}
        is_told = owner is not None and owner.kind in _TOLD_ALONE
        if number in found or is_told or not found.union(inner).issuperset(users):
            continue
        found |= inner
        looks_up = operations.nodes[number].operator.has("looks_up")
        if looks_up and moves_rows(operations, number, end):
            is_gathered = True  # its places are given: what it takes is of the step before
            continue
        pending += [giver for n in inner for giver in operations.givers(n)]
    return found if is_gathered else None


def _takes_gathered(operations: Operations, end: int) -> bool:
    """Return whether a scatter takes what comes of a lookup by places that are given."""
    pending, seen = [end], {end}
    while pending and len(seen) < _MOST_SEEN:
        for giver in operations.givers(pending.pop(0)):
            looks_up = operations.nodes[giver].operator.has("looks_up")
            if looks_up and moves_rows(operations, giver, end):
                return True
            if giver not in seen:
                seen.add(giver)
                pending.append(giver)
    return False


def moves_rows(operations: Operations, lookup: int, scatter: int) -> bool:
    """Return whether a lookup takes rows of other places than a scatter writes to.

    The places of both are given with the data. What is written back to where it came from, as
    tokens are behind an expert, is sent to nobody; nor what is chosen by the largest. Rows of a
    stored table are of words, and no node's.
    """
    rows, place = operations.nodes[lookup].input(0), operations.nodes[lookup].input(1)
    if rows is None or operations.is_fixed(rows):
        return False
    target = operations.nodes[scatter].input(1)
    if place is None or target is None or operations.is_fixed(place):
        return False
    if operations.source(place) is operations.source(target):
        return False
    return not _is_chosen(target)


def _is_chosen(place: Value) -> bool:
    """Return whether places follow from which of several numbers are the largest, as of a router.

    Edges end at each node in turn, also where they come from the nearest of all.
    """
    pending, seen = [place], {place}
    while pending and len(seen) < _MOST_SEEN:
        node = pending.pop().producer
        if node is None:
            continue
        if node.operator.form in _CHOOSING:
            return True
        taken = [v for v in node.inputs if v is not None and v not in seen]
        seen.update(taken)
        pending += taken
    return False
