"""Blocks that are found only among all operations of a graph, put together from their parts."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator, Sequence
from itertools import pairwise

from netloupe.explorer.model import Node, Value
from netloupe.explorer.patterns import (
    BlockDetails,
    FeatureDetails,
    FoundBlock,
    Operations,
    find_blocks,
)
from netloupe.explorer.patterns.convolution_details import ConvolutionDetails, StridedDetails
from netloupe.explorer.patterns.details import span_features
from netloupe.explorer.patterns.transformer_details import ExpertsDetails

from .outline import Outline, OutlinePart

_MOST_BRANCHES = 16
_MOST_IN_BRANCH = 12
_IN_BRANCH = frozenset({"activation", "conv", "norm", "Affine"})
#: so many sums and products scale and shift features between two convolutions
_MOST_STEERED = 4
#: activations, as patterns call blocks, by which a router weighs experts
_ROUTING = frozenset({"Sigmoid", "Softmax"})
#: so many nodes are looked at for a mixture of experts
_MOST_OF_EXPERTS = 2_000

Merge = tuple[list[OutlinePart], OutlinePart]


def add_composites(outline: Outline) -> None:
    """Put parts together that are one block: experts, inverted residuals."""
    for find in (_find_experts, _find_inverted, _find_steered):
        merged = list(find(outline))
        if merged:
            outline.merge(merged)


def make_part(
    parts: Sequence[OutlinePart], kind: str, name: str, details: BlockDetails
) -> OutlinePart:
    """Return one part in place of several, the last of which gives its result."""
    return OutlinePart(
        kind,
        frozenset().union(*(part.numbers for part in parts)),
        max(part.end for part in parts),
        name,
        details,
        tuple(found for part in parts for found in part.parts),
    )


def skip_pads(outline: Outline, part: OutlinePart) -> tuple[OutlinePart | None, list[OutlinePart]]:
    """Return the one part that takes a part's result, and what only pads it before."""
    passed: list[OutlinePart] = []
    user = outline.only_user(part)
    while user is not None and user.kind == "Pad" and len(passed) < 4:
        passed.append(user)
        user = outline.only_user(user)
    return user, passed


def _find_inverted(outline: Outline) -> Iterator[Merge]:
    """Find inverted residuals whose convolutions are padded by an operator of its own.

    M. Sandler and others, MobileNetV2, 2018, table 1: 1×1 that widens, depthwise, 1×1 that narrows
    and is not activated; the first block does not widen.
    """
    for deep in outline.of_kind("conv", "separable"):
        parts = [deep]
        behind = deep
        if deep.kind == "conv":
            following, passed = skip_pads(outline, deep)
            if not deep.is_depthwise or len(deep.kernel) != 2:
                continue
            if following is None or not following.is_pointwise:
                continue
            behind = following
            parts += [*passed, behind]
        first = deep
        before = outline.givers(deep)
        pads: list[OutlinePart] = []
        while len(before) == 1 and before[0].kind == "Pad":
            pads.append(before[0])
            before = outline.givers(before[0])
        wide = before[0] if len(before) == 1 else None
        if wide is not None and _expands(outline, wide, behind):
            parts += [wide, *pads]
            first = wide
        if len(parts) == 1:
            continue
        name = "Inverted residual" if first is not deep else "Depthwise-separable conv"
        kind = "inverted" if first is not deep else "separable"
        details = StridedDetails(stride=deep.stride)
        details = details.with_features(span_features(first.details, behind.details))
        yield parts, make_part(parts, kind, name, details)


def _expands(outline: Outline, wide: OutlinePart, behind: OutlinePart) -> bool:
    """Return whether a 1×1 convolution gives more to a block alone, which the block projects."""
    last = behind.parts[-1] if behind.parts else None
    while last is not None and last.kind != "activation" and last.parts:
        last = last.parts[-1]
    is_activated = last is not None and last.kind == "activation"
    return (
        wide.is_pointwise
        and wide.in_features < wide.out_features > behind.out_features
        and outline.only_user(wide) is not None
        and not is_activated
    )


def _find_steered(outline: Outline) -> Iterator[Merge]:
    """Find a residual block with a projection whose features another value scales or shifts.

    So are the blocks of a network that removes noise, by its step (J. Ho and others, Denoising
    Diffusion Probabilistic Models, 2020, appendix B).
    """
    for total in outline.parts:
        givers = outline.givers(total)
        if not total.has("adds") or len(givers) != 2:
            continue
        for last, shortcut in (givers, givers[::-1]):
            if last.kind != "conv" or shortcut.kind not in ("conv", "linear"):
                continue
            if outline.only_user(last) is not total or outline.only_user(shortcut) is not total:
                continue
            parts = _walk_steered(outline, last)
            first = parts[-1]
            if len(parts) < 3 or first.kind != "conv":
                continue
            if outline.operands(first) != outline.operands(shortcut):
                continue
            details = FeatureDetails(in_features=first.in_features, out_features=last.out_features)
            members = [*parts, shortcut, total]
            yield members, make_part(members, "residual", "Residual block", details)
            break


def _walk_steered(outline: Outline, last: OutlinePart) -> list[OutlinePart]:
    """Return a convolution, what scales and shifts what it takes, and the one before these."""
    parts = [last]
    for _ in range(_MOST_STEERED):
        given = [one for one in outline.givers(parts[-1]) if outline.only_user(one) is parts[-1]]
        found = [one for one in given if one.has("adds", "multiplies_elements")]
        found = found or [one for one in given if one.kind == "conv"]
        if len(found) != 1:
            break
        parts += found
        if found[0].kind == "conv":
            break
    return parts


def _find_experts(outline: Outline) -> Iterator[Merge]:
    """Find mixtures of experts between two attentions, in graphs that are large."""
    choices = [
        part
        for part in outline.of_kind("ArgMax", "TopK")
        if any(_gives_choice(outline, giver) for giver in outline.givers(part))
    ]
    if not choices:
        return
    nodes = outline.operations.nodes
    attentions = outline.of_kind("attention")
    numbers = {node: number for number, node in enumerate(nodes)}
    places = [part.place for part in attentions]
    stretches = dict.fromkeys(bisect(places, choice.place) for choice in choices)
    for number in stretches:  # that between two attentions
        low = nodes[attentions[number - 1].end].index + 1 if number else 0
        is_last = number == len(attentions)
        high = len(outline.graph.nodes)
        if not is_last:  # a mask that is its own may have been made before
            indices = [nodes[inner].index for inner in attentions[number].numbers]
            high = min((index for index in indices if index >= low), default=low)
        if high - low > _MOST_OF_EXPERTS:
            continue
        for found, its_nodes in _recognise_experts(outline, outline.graph.nodes[low:high]):
            own = {numbers[node] for node in its_nodes if node in numbers}
            parts = [part for part in outline.parts if part.numbers <= own]
            if not parts or sum(len(part.numbers) for part in parts) != len(own):
                continue
            details = found.details.read_as(ExpertsDetails)
            yield parts, make_part(parts, "experts", found.name, details)


def _gives_choice(outline: Outline, part: OutlinePart) -> bool:
    """Return whether a part gives weights of experts; a bias may be added to these."""
    if part.kind == "Add":
        givers = outline.givers(part)
        return any(giver.name == "Sigmoid" or giver.kind == "linear" for giver in givers)
    return part.kind == "linear" or part.name in _ROUTING


def _recognise_experts(
    outline: Outline, nodes: Sequence[Node]
) -> Iterator[tuple[FoundBlock, list[Node]]]:
    operations = Operations(nodes, outline.operations.context)
    for entry in find_blocks(operations).list_outermost():
        if isinstance(entry, FoundBlock) and entry.kind == "experts":
            yield entry, [operations.nodes[number] for number in sorted(entry.numbers)]


def find_fires(outline: Outline) -> Iterator[Merge]:
    """Find fire modules: what one 1×1 convolution squeezes goes through a 1×1 and a 3×3 one.

    F. Iandola and others, SqueezeNet, 2016, figure 1.
    """
    for squeeze in outline.of_kind("conv"):
        users = outline.users(squeeze)
        if not squeeze.is_pointwise or len(users) != 2:
            continue
        if any(user.kind != "conv" for user in users):
            continue
        joins = {id(join): join for user in users if (join := outline.only_user(user)) is not None}
        kernels = sorted(max(user.kernel, default=0) for user in users)
        if len(joins) != 1 or kernels != [1, 3]:
            continue
        join = next(iter(joins.values()))
        if join.kind != "Concat" or len(outline.operands(join)) != 2:
            continue
        details = FeatureDetails(
            in_features=squeeze.in_features,
            out_features=sum(user.out_features for user in users),
        )
        parts = [squeeze, *users, join]
        yield parts, make_part(parts, "fire", "Fire module", details)


def find_inceptions(outline: Outline) -> Iterator[Merge]:
    """Find inception blocks: branches of convolutions and a pool of one value, side by side.

    C. Szegedy and others, Going Deeper with Convolutions, 2015, figure 2.
    """
    for join in outline.of_kind("Concat"):
        operands = outline.operands(join)
        if not 3 <= len(operands) <= _MOST_BRANCHES:
            continue
        ways = [_walk_back(outline, value) for value in operands]
        common = next(
            (value for value, _ in ways[0] if all(any(v is value for v, _ in w) for w in ways)),
            None,
        )
        if common is None or common in operands:
            continue
        members: dict[int, OutlinePart] = {}
        for way in ways:
            for value, giver in way:
                if value is common:
                    break
                if giver is not None:
                    members[id(giver)] = giver
        convolutions = [part for part in members.values() if part.kind == "conv"]
        if len(convolutions) < 4:
            continue
        strides = {part.stride for part in convolutions}
        details = StridedDetails(stride=2 if len(strides) > 1 else None)
        parts = [*members.values(), join]
        yield parts, make_part(parts, "inception", "Inception block", details)


def _walk_back(outline: Outline, value: Value) -> list[tuple[Value, OutlinePart | None]]:
    """Return values and what gives each, from one back to what is no branch."""
    way: list[tuple[Value, OutlinePart | None]] = []
    for _ in range(_MOST_IN_BRANCH):
        source = outline.operations.source(value)
        giver = outline.giver(source)
        way.append((source, giver))
        if giver is None:
            break
        if not (giver.kind in _IN_BRANCH or giver.is_pool or giver.has("pads")):
            break
        operands = outline.operands(giver)
        if len(operands) != 1:
            break
        value = operands[0]
    return way


def find_dense_layers(outline: Outline) -> list[list[OutlinePart]]:
    """Return the layers of a densely connected network, those of each block together.

    Each is a 1×1 and a 3×3 convolution whose few channels are put behind all that came before, so
    that every layer takes as many channels more as the one before it gave; between blocks a 1×1
    convolution has fewer channels and an average halves the size (G. Huang and others, Densely
    Connected Convolutional Networks, 2017, section 3 and table 1). Nothing where any does not fit.
    """
    layers: list[OutlinePart] = []
    for wide in outline.of_kind("conv"):
        givers = outline.givers(wide)
        narrow = givers[0] if len(givers) == 1 else None
        if narrow is None or not narrow.is_pointwise or outline.only_user(narrow) is not wide:
            continue
        users = outline.users(wide)
        convolution = wide.details.read_as(ConvolutionDetails)
        if {*convolution.kernel} != {3} or convolution.groups is not None or not users:
            continue
        if all(user.kind == "Concat" for user in users):
            widths = span_features(narrow.details, wide.details)
            details = FeatureDetails().with_features(widths)
            layers.append(make_part([narrow, wide], "dense", "Dense layer", details))
    growth = {part.out_features for part in layers}
    if len(layers) < 4 or len(growth) != 1:
        return []
    step = growth.pop()
    blocks = [[layers[0]]]
    for one, two in pairwise(layers):
        if two.in_features == one.in_features + step:
            blocks[-1].append(two)
        else:
            blocks.append([two])
    transitions = [
        part
        for part in outline.of_kind("conv")
        if part.is_pointwise
        and (user := outline.only_user(part)) is not None
        and user.kind == "AveragePool"
    ]
    starts = [block[0].in_features for block in blocks[1:]]
    if [part.out_features for part in transitions] != starts:
        return []
    return blocks
