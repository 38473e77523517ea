"""State-space mixers: what Mamba-2 has where a transformer has attention."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from .convolution_details import ConvolutionDetails
from .details import FeatureDetails
from .found_blocks import FoundBlock, FoundBlocks
from .operations import OUTSIDE
from .transformer_details import AttentionDetails
from .weight_sizes import read_width

#: what may stand between the first projection and the convolution
_BEFORE = frozenset({"Mul", "Pad", "Slice", "Split"})
_MOST_BEFORE = 6
_MOST_OF_MIXER = 200


def find_mixers(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find mixers of Mamba-2, whose one projection gives all that the state takes.

    A linear layer gives a gate, what is mixed, and a step for each head; a depthwise convolution
    goes along the sequence; steps are positive by a softplus, and decays are exponentials of what
    they sum up to; the result is gated and goes through another linear layer (T. Dao and A. Gu,
    Transformers are SSMs, 2024, section 7.1, figure 6 and listing 1).
    """
    for number in range(len(blocks.operations)):
        convolution = blocks.ending(number, "conv")
        if convolution is not None and _goes_along(convolution):
            mixer = _find_around(blocks, convolution)
            if mixer is not None:
                yield mixer


def _goes_along(convolution: FoundBlock) -> bool:
    """Return whether a convolution takes each channel alone, along a sequence."""
    details = convolution.details.read_as(ConvolutionDetails)
    return details.is_along_one_axis and details.is_depthwise


def _find_around(blocks: FoundBlocks, convolution: FoundBlock) -> FoundBlock | None:
    operations = blocks.operations
    first = _find_projection(blocks, min(convolution.numbers))
    if first is None:
        return None
    numbers = set(first.numbers)
    pending = [*operations.users[first.end]]
    lasts: dict[int, FoundBlock] = {}
    while pending and len(numbers) < _MOST_OF_MIXER:
        number = pending.pop()
        if number in numbers or number == OUTSIDE:
            continue
        owner = blocks.owner[number]
        if owner is not None and owner.kind == "linear":
            lasts[owner.end] = owner
            continue
        if owner is not None and owner.kind in ("attention", "experts", "mlp"):
            return None
        own = owner.numbers if owner is not None else frozenset({number})
        numbers |= own
        pending += [user for one in own for user in operations.users[one]]
    if pending or len(lasts) != 1:
        return None
    last = next(iter(lasts.values()))
    numbers |= last.numbers
    before, behind = first.details.read_as(FeatureDetails), last.details.read_as(FeatureDetails)
    kinds = {operations.kinds[number] for number in numbers}
    if not {"CumSum", "Exp", "Softplus"} <= kinds or "Softmax" in kinds:
        return None
    is_closed = operations.is_closed(numbers, last.end)
    if behind.out_features != before.in_features or not is_closed:
        return None
    inner = behind.in_features or 0
    return _make(blocks, frozenset(numbers | _find_mask(blocks, first)), last.end, inner)


def _find_projection(blocks: FoundBlocks, number: int) -> FoundBlock | None:
    """Return the linear layer that a convolution takes a part of."""
    operations = blocks.operations
    for _ in range(_MOST_BEFORE):
        givers = operations.givers(number)
        if not givers:
            return None
        found = blocks.ending(givers[0], "linear")
        if found is not None or operations.kinds[givers[0]] not in _BEFORE:
            return found
        number = givers[0]
    return None


def _find_mask(blocks: FoundBlocks, first: FoundBlock) -> set[int]:
    """Return what leaves out padded places before the first projection, if there is such."""
    operations = blocks.operations
    givers = operations.givers(min(first.numbers))
    if len(givers) != 1 or operations.kinds[givers[0]] != "Mul":
        return set()
    product = givers[0]
    is_alone = operations.only_user(product) in first.numbers
    before = operations.givers(product)
    is_first = not before or any(blocks.ending(giver, "norm") is not None for giver in before)
    return {product} if is_alone and blocks.owner[product] is None and is_first else set()


def _make(blocks: FoundBlocks, numbers: frozenset[int], end: int, inner: int) -> FoundBlock:
    operations = blocks.operations
    facts: list[str] = []
    details = AttentionDetails(causal=True, attention="Mamba-2")
    heads = 0
    for number in numbers:  # each head has a step of its own
        if operations.kinds[number] == "Softplus":
            for giver in operations.givers(number):
                biases = operations.fixed(giver)
                heads = read_width(biases[0]) if len(biases) == 1 else 0
    if heads > 1 and inner and inner % heads == 0:
        details = replace(details, heads=heads, head_width=inner // heads)
        facts.append(f"{heads} heads × {inner // heads}")
    facts.append("causal")
    return FoundBlock("attention", "Mamba-2", numbers, end, tuple(facts), details)
