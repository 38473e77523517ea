"""Depthwise-separable convolutions, inverted residuals, and how they weight channels."""

from __future__ import annotations

from collections.abc import Iterator

from .branched_convolutions import BRANCHED
from .convolution_details import ConvolutionDetails, SeparableDetails
from .convolutions import describe_convolution, is_pointwise, narrows, widens
from .details import FeatureDetails, span_features
from .found_blocks import FoundBlock, FoundBlocks
from .linear import write_widths
from .operations import Operations
from .readings import read_axes, read_ints
from .weight_sizes import read_type_dims

#: what tells how much of a channel counts
_SQUASHING = frozenset({"HardSigmoid", "Sigmoid"})
_BOTH = 2


def find_excitations(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find channels that are weighted by what a small MLP makes of their means over all places.

    J. Hu and others, Squeeze-and-Excitation Networks, 2018, figure 3: two layers and a sigmoid.
    With one layer, or without a sigmoid, it is channel attention of another form (Y. Lee and J.
    Park, CenterMask, 2020, figure 4; L. Chen and others, Simple Baselines for Image Restoration,
    2022, figure 3b).
    """
    operations = blocks.operations
    for product, kind in enumerate(operations.kinds):
        taken = operations.operands[product]
        if kind != "Mul" or len(taken) != 2:
            continue
        for weights, start in (taken, taken[::-1]):
            numbers = {product}
            number = operations.giver(weights)
            linears: list[FoundBlock] = []
            last = ""
            for _ in range(8):
                if number is None or not numbers.issuperset(operations.users[number]):
                    break
                part = blocks.ending(number, "activation", "linear", "conv", "mlp")
                if part is not None:
                    last = last or part.name.rpartition(" · ")[2]
                    numbers |= part.numbers
                    if part.kind in ("linear", "conv"):
                        linears.append(part)
                    elif part.kind == "mlp":
                        linears += [p for p in part.parts[::-1] if p.kind == "linear"]
                    outer = {
                        giver for n in part.numbers for giver in operations.givers(n)
                    } - part.numbers
                    number = outer.pop() if len(outer) == 1 else None
                    continue
                is_mean = operations.operands[number] == [start] and averages_places(
                    operations, number, is_linear=any(one.kind == "linear" for one in linears)
                )
                if is_mean and 1 <= len(linears) <= _BOTH:
                    yield _make_excitation({number, *numbers}, product, linears, last)
                break


def averages_places(operations: Operations, number: int, *, is_linear: bool) -> bool:
    """Return whether an operation takes the mean of each channel over all places.

    Parameters
    ----------
    operations
        The operations.
    number
        That operation.
    is_linear
        Whether a linear layer takes the means, so that channels may come last.
    """
    kind, node = operations.kinds[number], operations.nodes[number]
    if kind == "GlobalAveragePool":
        return True
    if kind == "ReduceMean":
        axes = read_axes(node) or ()
        rank = len(read_type_dims(node.input(0)))
        channels = {1, 1 - rank if rank else -3}
        return bool(axes) and (is_linear or not channels & {*axes})
    if kind != "AveragePool" or read_ints(node, "pads"):
        return False
    # a window as large as the map, as old exporters write it
    sizes = read_type_dims(node.output(0))[2:]
    return not sizes or {*sizes} <= {1, None}


def _make_excitation(
    numbers: set[int], end: int, linears: list[FoundBlock], last: str
) -> FoundBlock:
    first, given = linears[-1].details.in_out, linears[0].details.in_out
    facts: tuple[str, ...] = ()
    if first is not None and given is not None:
        facts = (write_widths(*first, *given[1:] if len(linears) == _BOTH else ()),)
    is_excitation = len(linears) == _BOTH and last in _SQUASHING
    return FoundBlock(
        "excitation",
        "Squeeze-and-excitation" if is_excitation else "Channel attention",
        frozenset(numbers),
        end,
        facts,
        parts=tuple(linears),
    )


def find_separable(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find a depthwise convolution and the pointwise one that alone takes its result.

    L. Sifre 2014; A. Howard and others, MobileNets, 2017, figure 3. With a pointwise one before
    that widens, and one behind that narrows and is not activated, it is the body of an inverted
    residual (M. Sandler and others, MobileNetV2, 2018, table 1), which has no shortcut where it
    changes size. Those of 1×1 may be in groups there (K. Sun and others, IGCV3, 2018, figure 2).
    """
    operations = blocks.operations
    for number in range(len(operations)):
        depthwise = blocks.ending(number, "conv")
        if depthwise is None or not _is_depthwise(depthwise):
            continue
        numbers = set(depthwise.numbers)
        parts = [depthwise]
        end = depthwise.end
        users = operations.users[end]
        weighted = blocks.holding(users[0] if users else None, "excitation")
        if weighted is not None and weighted.numbers.issuperset(users):
            numbers |= weighted.numbers
            parts.append(weighted)
            end = weighted.end
            user = operations.only_user(end)
            late = blocks.ending(user, "activation")
            if late is not None:  # MobileNetV3 activates what is weighted
                numbers |= late.numbers
                end = late.end
        behind = _only_following(blocks, end)
        if behind is None or not _is_of_places(behind):
            continue
        numbers |= behind.numbers
        before = _only_preceding(blocks, depthwise)
        is_wider = (
            before is not None
            and _is_of_places(before)
            and widens(before.details.read_as(FeatureDetails))
        )
        first = depthwise
        name, kind = "Depthwise-separable conv", "separable"
        is_linear = not behind.parts or behind.parts[-1].kind != "activation"
        projects = narrows(behind.details.read_as(FeatureDetails))
        if is_wider and before is not None and is_linear and projects:
            numbers |= before.numbers
            first = before
            name, kind = "Inverted residual", "inverted"
        elif not is_pointwise(behind):
            continue
        deep = depthwise.details.read_as(ConvolutionDetails)
        form = BRANCHED if deep.form == BRANCHED else ""
        details = SeparableDetails(kernel=deep.kernel, stride=deep.stride, form=form)
        details = details.with_features(span_features(first.details, behind.details))
        facts = describe_convolution(details)
        yield FoundBlock(
            kind, name, frozenset(numbers), behind.end, facts, details, (*parts, behind)
        )


def _is_of_places(found: FoundBlock) -> bool:
    """Return whether a convolution takes each place alone, perhaps in groups of channels."""
    return {*found.details.read_as(ConvolutionDetails).kernel} == {1}


def _only_following(blocks: FoundBlocks, end: int) -> FoundBlock | None:
    users = blocks.operations.users[end]
    found = blocks.holding(users[0] if users else None, "conv")
    return found if found is not None and found.numbers.issuperset(users) else None


def _only_preceding(blocks: FoundBlocks, found: FoundBlock) -> FoundBlock | None:
    """Return the convolution whose result a block alone takes."""
    operations = blocks.operations
    givers = operations.givers(min(found.numbers))
    before = blocks.ending(givers[0], "conv") if givers else None
    if before is None or not found.numbers.issuperset(operations.users[before.end]):
        return None
    return before


def _is_depthwise(found: FoundBlock) -> bool:
    """Return whether a convolution takes each channel alone, or has groups of unknown channels."""
    details = found.details.read_as(ConvolutionDetails)
    return details.groups is not None and details.in_features in (details.groups, None)
