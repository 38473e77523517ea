"""Residual blocks of convolutions: what is added to what they take, and of which kind they are."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from fractions import Fraction
from typing import Literal, NamedTuple

from netloupe.explorer.model import Value

from .convolution_details import ConvolutionDetails, ResidualDetails
from .convolutions import CONVOLUTIONS, read_convolution, read_fused_activation
from .found_blocks import FoundBlock, FoundBlocks
from .joined_branches import joins_branches
from .linear import write_widths
from .operations import Operations
from .readings import read_ints
from .resampling import read_scale
from .residual_kinds import (
    BOTTLENECK,
    INVERTED_BOTTLENECK,
    PLAIN_RESIDUAL,
    WITH,
    add_units,
    name_residual,
)
from .shuffles import SHUFFLE, UNSHUFFLE, read_shuffle

_SHORTCUT = frozenset({"AveragePool", "BatchNormalization", "MaxPool", "Pad", "Resize", "Slice"})
#: what a sum adds to a branch: the branch's own operand, a convolution of it, or another branch
_Shortcut = Literal["identity", "projection", "branch"]
#: what stands for a convolution beside one
_AS_CONVOLUTIONS = frozenset({"adaptive norm", "linear", "mlp", "unit"})
#: what a shortcut may change the width by; two convolutions that are one block do so beside ghost
#: modules (K. Han and others, GhostNet, 2020, section 3.2)
_PROJECTING = frozenset({"conv", "linear", "separable"})
_BOTH = 2
_GATES = frozenset({"HardSigmoid", "Sigmoid"})
_MOST_SHORTCUT = 4
_MOST_NODES = 96
#: a picture has so many maps at most; flow and depth have fewer
MOST_COLOURS = 3
#: what holds no inverted residual, which ends linearly
_BOTTLENECKS = frozenset({BOTTLENECK, INVERTED_BOTTLENECK})
#: what of these gives other channels than it takes
_PARTING = frozenset({"Slice", "Split"})
_CHANGING = frozenset({"Pad", "Slice"})


class _Sides(NamedTuple):
    """Both sides of a sum.

    Parameters
    ----------
    numbers
        All operations of both, and the sum.
    chain
        Those of the shortcut, and the sum.
    shortcut
        What the shortcut is.
    main
        What the other side gives.
    """

    numbers: set[int]
    chain: frozenset[int]
    shortcut: _Shortcut
    main: Value


def find_residuals(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find sums of a value, or a projection of it, and of what convolutions make of it.

    K. He and others, Deep Residual Learning, 2016, figure 5 (two of 3×3: basic; 1×1, 3×3, 1×1:
    bottleneck) and section 3.3 (projection); M. Sandler and others, MobileNetV2, 2018, figure 4
    (inverted); Z. Liu and others, A ConvNet for the 2020s, 2022, figure 4 (ConvNeXt: depthwise,
    LayerNorm, and an MLP that is wider inside).
    """
    operations = blocks.operations
    for end, kind in enumerate(operations.kinds):
        taken = operations.operands[end]
        if kind != "Add" or len(taken) != 2:
            continue
        sides = _find_sides(blocks, end, taken[0], taken[1])
        sides = sides or _find_sides(blocks, end, taken[1], taken[0])
        if sides is None:
            continue
        numbers = {*sides.numbers}
        users = operations.users[end]
        last = end
        activation = blocks.holding(users[0] if users else None, "activation")
        if (
            activation is not None
            and activation.numbers.issuperset(users)
            and all(operations.nodes[n].operator.has("elementwise") for n in activation.numbers)
        ):
            numbers |= activation.numbers
            last = activation.end
        found = _name_residual(blocks, sides, numbers, last)
        if found is not None:
            yield found


def _find_sides(blocks: FoundBlocks, end: int, shortcut: Value, main: Value) -> _Sides | None:
    """Return the operations of a block that ends in a sum, and what its shortcut is."""
    operations = blocks.operations
    start = shortcut
    chain: set[int] = set()
    kind: _Shortcut = "identity"
    for _ in range(_MOST_SHORTCUT):
        numbers = _walk_back(blocks, {end, *chain}, main, start)
        if numbers is not None:
            return _Sides(numbers, frozenset({end, *chain}), kind, main)
        giver = operations.giver(start)
        if giver is None:
            return None
        part = blocks.ending(giver, "adaptive norm", "conv", "norm", "separable")
        if part is None and operations.nodes[giver].operator.has("convolves"):
            # of single places, where what comes in was turned: it is written as a linear layer
            part = blocks.ending(giver, "linear")
        inner = part.numbers if part is not None else frozenset({giver})
        if part is None and operations.kinds[giver] not in _SHORTCUT:
            return None
        if not {end, *chain}.issuperset(operations.users[giver]):
            return None
        if part is not None and _is_activated(operations, part):
            kind = "branch"
        elif part is not None and part.kind in _PROJECTING and kind == "identity":
            if part.kind == "separable" and not _holds_units(blocks, main):
                return None
            kind = "projection"
        chain |= inner
        steered = part is not None and part.kind == "adaptive norm" and part.parts
        taken = operations.operands[min(steered[0].numbers if steered else inner)]
        if not taken:
            return None
        start = taken[0]
    return None


def _holds_units(blocks: FoundBlocks, main: Value) -> bool:
    """Return whether what one side gives ends in an idea of a paper, as a ghost module."""
    return blocks.ending(blocks.operations.giver(main), "unit") is not None


def _is_activated(operations: Operations, found: FoundBlock) -> bool:
    """Return whether a convolution ends in an activation, which no shortcut does."""
    return (bool(found.parts) and found.parts[-1].kind == "activation") or any(
        read_fused_activation(operations.nodes[number]) for number in found.numbers
    )


def _walk_back(blocks: FoundBlocks, core: set[int], main: Value, start: Value) -> set[int] | None:
    """Return a core with all that only leads to it from where a value begins."""
    operations = blocks.operations
    barrier = operations.giver(start)
    first = operations.giver(main)
    if first is None or first == barrier:
        return None
    core = set(core)
    pending = [-first]
    convolutions, reached = 0, False
    while pending:
        number = -heapq.heappop(pending)
        if number in core or not core.issuperset(operations.users[number]):
            continue
        core.add(number)
        if len(core) > _MOST_NODES:
            return None
        owner = blocks.owner[number]
        if owner is not None and owner.kind == "attention":
            return None
        ends_layer = owner is not None and owner.kind in _AS_CONVOLUTIONS and owner.end == number
        # one of single places may be both
        convolutions += operations.kinds[number] in CONVOLUTIONS or ends_layer
        taken = operations.operands[number]
        reached = reached or start in taken or any(_activates(v, start) for v in taken)
        for giver in operations.givers(number):
            if giver != barrier and giver not in core:
                heapq.heappush(pending, -giver)
    is_own = convolutions > 1 and not (
        _joins_others(operations, core, start) or _convolves_others(blocks, core, start)
    )
    return core if reached and is_own else None


def _joins_others(operations: Operations, core: set[int], start: Value) -> bool:
    """Return whether channels of other values are put beside what a block takes.

    As where a head takes features and an estimate, and corrects the latter.
    """
    barrier = operations.giver(start)
    for number in core:
        if operations.nodes[number].operator.has("joins"):
            for value in operations.operands[number]:
                giver = operations.giver(value)
                is_own = giver is not None and (giver in core or giver == barrier)
                if not (is_own or value is start or _activates(value, start)):
                    return True
    return False


def _convolves_others(blocks: FoundBlocks, core: set[int], start: Value) -> bool:
    """Return whether maps are convolved that come of nothing that a block takes.

    But as another map steers a norm that was found (T. Park and others, Semantic Image Synthesis
    with Spatially-Adaptive Normalization, 2019, figure 3).
    """
    operations = blocks.operations
    own: set[int] = set()
    barrier = operations.giver(start)
    for number in sorted(core):
        taken = operations.operands[number]
        givers = operations.givers(number)
        is_own = start in taken or barrier in givers or not own.isdisjoint(givers)
        is_steering = blocks.holding(number, "adaptive norm") is not None
        if is_own or is_steering or any(_activates(v, start) for v in taken):
            own.add(number)
        elif operations.kinds[number] in CONVOLUTIONS and not _is_of_places(operations, number):
            return True
    return False


def _is_of_places(operations: Operations, number: int) -> bool:
    """Return whether a convolution is of single places, as it is of what has one."""
    return {*read_convolution(operations, number).kernel} == {1}


def _activates(value: Value, start: Value) -> bool:
    """Return whether a value is the activation of another, which several branches may share.

    J. Kong and others, HiFi-GAN, 2020, figure 1.
    """
    node = value.producer
    return node is not None and node.operator.has("activates") and node.input(0) is start


def _name_residual(
    blocks: FoundBlocks, sides: _Sides, numbers: set[int], last: int
) -> FoundBlock | None:
    operations = blocks.operations
    parts: dict[int, FoundBlock] = {}
    for number in sorted(numbers):
        owner = blocks.owner[number]
        if owner is not None:
            if not owner.numbers <= numbers:
                return None
            parts[owner.end] = owner
    beside = {n for part in parts.values() for n in _list_weighing(part)}
    convolving = [
        number
        for number in sorted(numbers)
        if operations.kinds[number] in CONVOLUTIONS and not _is_layer(blocks.owner[number])
    ]
    convolving = [number for number in convolving if number not in beside]
    # what one side convolves may be added to what the other multiplies by weights
    numbered = [number for number in convolving if number not in sides.chain] or convolving
    main = [read_convolution(operations, number) for number in numbered]
    if not main:
        return None
    linears = [part for part in parts.values() if part.kind in ("mlp", "linear")]
    has_layer_norm = any(map(_normalizes_features, parts.values()))
    layers = [min(part.numbers) for part in linears]
    name = name_residual(
        main,
        linears,
        has_layer_norm=has_layer_norm,
        is_activated=last not in sides.chain,
        convolves_first=numbered[0] < min(layers, default=0),
    )
    if not name or (sides.shortcut == "identity" and not _keeps_features(operations, sides, main)):
        return None
    if sides.shortcut == "projection" and _estimates_twice(operations, sides):
        return None
    if sides.shortcut == "branch":
        name = "Summed branches"
    branches = _count_joined(operations, numbers, numbered)
    if branches and name in _BOTTLENECKS:
        name = PLAIN_RESIDUAL  # branches beside one another are no convolutions in a row
    facts: list[str] = []
    widths = _find_widths(operations, sides, main)
    scale = _find_scale(operations, sides)
    if widths is not None:
        facts.append(write_widths(*widths))
    stride = None if scale == 1 else max(scale.numerator, scale.denominator)
    if stride is not None:
        facts.append(f"{'×' if scale > 1 else '/'}{stride}")
    if sides.shortcut == "projection":
        facts.append("with projection")
    # of kernels that read places apart: F. Yu and V. Koltun, Multi-Scale Context Aggregation by
    # Dilated Convolutions, 2016, section 2
    dilations = {one.dilation or 1 for one in main if max(one.kernel, default=1) > 1}
    if len(dilations) == 1 and dilations != {1}:
        facts.append(f"dilation {dilations.pop()}")
    inner = [
        one
        for part in parts.values()
        for one in (part.parts if part.kind == "inverted" else (part,))
    ]
    details = ResidualDetails(
        stride=stride, enlarges=scale > 1, projection=sides.shortcut == "projection"
    )
    told = add_units(name, parts.values(), has_gate=_has_gate(blocks, numbers))
    is_nested = any(part.kind in ("inverted", "residual") for part in parts.values())
    if branches and told == PLAIN_RESIDUAL and not is_nested:
        told += f"{WITH}Inception"
    return FoundBlock(
        "branches" if sides.shortcut == "branch" else "residual",
        told,
        frozenset(numbers),
        last,
        tuple(facts),
        details.with_features(widths),
        tuple(inner if name in _BOTTLENECKS else parts.values()),
    )


def _count_joined(operations: Operations, numbers: set[int], convolutions: list[int]) -> int:
    """Return how many branches of a block are concatenated, some of several convolutions each.

    C. Szegedy and others, Inception-v4, Inception-ResNet, 2016, figure 10.
    """
    return max(
        (
            len(operations.operands[join])
            for join in numbers
            if operations.kinds[join] == "Concat"
            and joins_branches(
                operations, join, sum(n < join for n in convolutions), _BOTH, numbers
            )
        ),
        default=0,
    )


def _has_gate(blocks: FoundBlocks, numbers: set[int]) -> bool:
    """Return whether something is multiplied by a sigmoid, or parts of one value by one another.

    And no block that was found has that in it. One part may be activated (S. Zamir and others,
    Restormer, 2022, equation 2).
    """
    operations = blocks.operations
    for number in numbers:
        taken = operations.operands[number]
        if operations.kinds[number] != "Mul" or len(taken) != _BOTH or blocks.owner[number]:
            continue
        bases = [_find_activated(blocks, value) for value in taken]
        givers = [operations.giver(value) for value in bases]
        if None in givers or not {*givers} <= numbers:
            continue
        kinds = [operations.kinds[giver] for giver in givers if giver is not None]
        splits = [operations.nodes[giver] for giver in givers if giver is not None]
        are_parts = all(node.operator.has("splits", "slices", "picks") for node in splits)
        wholes = {
            whole
            for giver in givers
            if giver is not None
            for whole in operations.operands[giver][:1]
        }
        if {*kinds} & _GATES or (are_parts and len(wholes) == 1 and bases[0] is not bases[1]):
            return True
    return False


def _find_activated(blocks: FoundBlocks, value: Value) -> Value:
    """Return what is activated to give a value; the value itself where it is no activation."""
    found = blocks.ending(blocks.operations.giver(value), "activation")
    taken = blocks.operations.operands[min(found.numbers)] if found is not None else []
    is_gate = found is not None and blocks.operations.kinds[found.end] in _GATES
    return taken[0] if taken and not is_gate else value


def _keeps_features(operations: Operations, sides: _Sides, main: list[ConvolutionDetails]) -> bool:
    """Return whether a block gives features, and as many maps as it takes.

    One map that is added to many is not what a block takes; and what gives as few maps as a
    picture or an estimate has corrects that.
    """
    taken, given = main[0].in_features, _count_given(operations, sides) or main[-1].out_features
    if taken is None or given is None:
        return True
    return given > MOST_COLOURS and (taken > 1 or main[0].groups is not None)


def _estimates_twice(operations: Operations, sides: _Sides) -> bool:
    """Return whether what a projection gives is an estimate, made of several places, of few maps.

    So a context network corrects a flow that one more convolution predicts of the same features (D.
    Sun and others, PWC-Net, 2018, section 3).
    """
    found = [
        read_convolution(operations, number)
        for number in sides.chain
        if operations.kinds[number] in CONVOLUTIONS
    ]
    return any(
        max(one.kernel, default=1) > 1 and 0 < (one.out_features or 0) <= MOST_COLOURS
        for one in found
    )


def _normalizes_features(part: FoundBlock) -> bool:
    """Return whether there is a LayerNorm in a block."""
    is_norm = part.kind == "norm" and part.name == "LayerNorm"
    return is_norm or any(map(_normalizes_features, part.parts))


def _list_weighing(part: FoundBlock) -> frozenset[int]:
    """Return the operations that weigh channels, which are not on the way through a block."""
    if part.kind in ("adaptive norm", "excitation"):
        return part.numbers
    if part.kind == "unit":
        return part.numbers.difference(*(inner.numbers for inner in part.parts))
    return frozenset().union(*map(_list_weighing, part.parts))


def _find_widths(
    operations: Operations, sides: _Sides, main: list[ConvolutionDetails]
) -> tuple[int, int] | None:
    """Return how many features a block takes and gives; None where unknown.

    What is added to it as it is has as many as the sum; a projection gives as many.
    """
    known = [one for one in main if one.in_out is not None]
    if not known or known[0].in_features is None:
        return None
    taken: int | None = known[0].in_features
    given = _count_given(operations, sides) or known[-1].out_features
    if _takes_a_part(operations, sides):
        taken = given
    chain = sorted(sides.chain)
    kinds = {operations.kinds[number] for number in chain}
    projections = [n for n in chain if operations.kinds[n] in CONVOLUTIONS]
    if projections:
        given = read_convolution(operations, projections[-1]).out_features or given
    elif not kinds & _CHANGING:
        given = taken
    return (taken, given) if taken is not None and given is not None else None


def _count_given(operations: Operations, sides: _Sides) -> int:
    """Return how many features convolutions give that are put together; 0 where unknown.

    M. Tan and Q. Le, MixConv: Mixed Depthwise Convolutional Kernels, 2019, figure 2: each takes a
    part of the channels.
    """
    pending = [sides.main]
    total = 0
    for _ in range(_MOST_NODES):
        if not pending:
            return total
        number = operations.giver(pending.pop())
        if number is None or number not in sides.numbers:
            return 0
        operands = [value for value in operations.operands[number] if value is not None]
        if operations.kinds[number] in CONVOLUTIONS:
            given = read_convolution(operations, number).out_features
            if not given:
                return 0
            total += given
        else:
            pending += operands if operations.kinds[number] == "Concat" else operands[:1]
    return 0


def _takes_a_part(operations: Operations, sides: _Sides) -> bool:
    """Return whether the first of the convolutions takes a part of the channels of a block."""
    first = min(n for n in sides.numbers if operations.kinds[n] in CONVOLUTIONS)
    value = operations.operands[first][0]
    number = None if value is None else operations.giver(value)
    return number in sides.numbers and operations.kinds[number] in _PARTING


def _find_scale(operations: Operations, sides: _Sides) -> Fraction:
    """Return by what the main side multiplies sizes; 1 where that is unknown."""
    scales: dict[int, Fraction] = {}
    for number in sorted(sides.numbers):
        before = [scales[giver] for giver in operations.givers(number) if giver in scales]
        # a mean over all places weighs what it is of
        scales[number] = max(before, default=Fraction(1)) * _read_scale(operations, number)
    giver = operations.giver(sides.main)
    found = scales.get(giver, Fraction(1)) if giver is not None else Fraction(1)
    return found if 1 in (found.numerator, found.denominator) else Fraction(1)


def _read_scale(operations: Operations, number: int) -> Fraction:
    """Return by what an operation multiplies sizes, where that is the same along all axes."""
    kind, node = operations.kinds[number], operations.nodes[number]
    if kind in CONVOLUTIONS:
        details = read_convolution(operations, number)
        stride = details.stride if isinstance(details.stride, int) else 1
        return Fraction(stride) if details.transposed else Fraction(1, stride)
    if kind in (SHUFFLE, UNSHUFFLE):
        shuffle = read_shuffle(node, operations.context)
        factor = shuffle[1] if shuffle is not None else 1
        return Fraction(factor) if kind == SHUFFLE else Fraction(1, factor)
    if node.operator.has("resamples"):
        return Fraction(read_scale(operations, number) or 1)
    if node.operator.has("pools") and not node.operator.has("pools_all"):
        strides = {*read_ints(node, "strides")}
        return Fraction(1, strides.pop()) if len(strides) == 1 and 0 not in strides else Fraction(1)
    return Fraction(1)


def _is_layer(owner: FoundBlock | None) -> bool:
    """Return whether a convolution was found to be a layer of an MLP, at each place alone."""
    return owner is not None and owner.kind == "mlp"
