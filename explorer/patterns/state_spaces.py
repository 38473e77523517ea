"""Selective state spaces: what Mamba has where a transformer has attention."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from .convolution_details import ConvolutionDetails
from .details import FeatureDetails, StateSpaceDetails, span_features
from .found_blocks import FoundBlock, FoundBlocks
from .linear import write_widths
from .operations import OUTSIDE, Operations
from .transformer_details import AttentionDetails
from .weight_sizes import read_width

#: what may stand between the first projection and the convolution
_BEFORE = frozenset({"Mul", "Pad", "Slice", "Split"})
_MOST_BEFORE = 6
_MOST_OF_MIXER = 200
#: what a step size goes through before a decay is an exponential of it
_BEFORE_DECAYS = frozenset(
    {"Add", "Clip", "CumSum", "Einsum", "MatMul", "Max", "Min", "Mul", "Neg", "Pad", "ReduceSum"}
    | {"Gather", "Slice", "Split", "Sub", "Tile", "Trilu", "Where"}
)
#: what only limits it
_LIMITING = frozenset({"Clip", "Max", "Min", "Where"})
_MOST_OF_DECAY = 24


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
    steps = [number for number in numbers if operations.kinds[number] == "Softplus"]
    if not any(_discretises(operations, number) for number in steps):
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


def find_state_spaces(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find a block of a selective state-space model.

    Features are convolved along the sequence, each alone, and activated; step sizes by softplus
    of a linear layer make exp(Δ·A) of the recurrence, and Δ·B of what it takes up, and the result
    is gated (A. Gu and T. Dao, Mamba, 2023, figure 3 and algorithm 2).
    """
    operations = blocks.operations
    counts = Counter(operations.kinds)
    linears = list({id(f): f for f in blocks.owner if f is not None}.values())
    dense = [f for f in linears if f.kind == "linear"]
    deep = [f for f in linears if f.kind == "conv" and _goes_along_in_groups(f)]
    activated = [f for f in linears if f.name == "SiLU" or f.name.endswith("SiLU")]
    if len(deep) != 1 or not 2 <= len(dense) <= 6 or not activated:
        return
    if any(f.kind == "mlp" for f in linears):
        return  # a layer that has more than the mixer
    if counts["Softplus"] != 1 or counts["Exp"] < 1 or counts["Softmax"] or counts["Erf"]:
        return
    if not _discretises(operations, operations.kinds.index("Softplus")):
        return
    first, last = dense[0], dense[-1]
    if not _is_gated(blocks, last):
        return
    widths = span_features(first.details, last.details)
    inner = deep[0].details.read_as(ConvolutionDetails).groups
    facts = []
    if widths is not None and inner is not None:
        facts.append(write_widths(widths[0], inner, widths[1]))
    numbers = frozenset(range(len(operations)))
    details = StateSpaceDetails(inner=inner)
    end = len(operations) - 1
    yield FoundBlock("mixer", "Mamba block", numbers, end, tuple(facts), details, tuple(linears))


def _is_gated(blocks: FoundBlocks, last: FoundBlock) -> bool:
    """Return whether a layer takes a product with what is activated by SiLU."""
    operations = blocks.operations
    product = operations.giver(operations.operands[min(last.numbers)][0])
    norm = blocks.holding(product, "norm")
    if norm is not None:
        product = operations.giver(operations.operands[min(norm.numbers)][0])
    if product is None or operations.kinds[product] != "Mul":
        return False
    factors = [blocks.ending(giver, "activation") for giver in operations.givers(product)]
    return any(one is not None and one.name == "SiLU" for one in factors)


def _goes_along_in_groups(found: FoundBlock) -> bool:
    """Return whether a convolution in groups goes along a sequence."""
    details = found.details.read_as(ConvolutionDetails)
    return details.groups is not None and details.is_along_one_axis


def _discretises(operations: Operations, softplus: int) -> bool:
    """Return whether step sizes both decay a state and scale what it takes up.

    A. Gu and T. Dao, Mamba, 2023, equation 4: exp(Δ·A), and Δ·B or Δ·x. What makes a decay alone is
    the gate of another recurrence.
    """
    pending, uses = [softplus], set[int]()
    for _ in range(_MOST_OF_DECAY):
        if not pending:
            break
        for user in operations.users[pending.pop()]:
            if user < 0 or user in uses:
                continue
            if operations.kinds[user] in _LIMITING:
                pending.append(user)
            else:
                uses.add(user)
    decays = {user for user in uses if _leads_to_decay(operations, user)}
    scaling = {n for n in uses - decays if operations.kinds[n] in ("Einsum", "MatMul", "Mul")}
    return bool(decays and scaling)


def _leads_to_decay(operations: Operations, start: int) -> bool:
    """Return whether an exponential is taken of what an operation gives."""
    pending, seen = [start], {start}
    while pending and len(seen) < _MOST_OF_DECAY:
        number = pending.pop(0)
        if operations.kinds[number] == "Exp":
            return True
        if operations.kinds[number] in _BEFORE_DECAYS:
            users = [user for user in operations.users[number] if user >= 0 and user not in seen]
            seen.update(users)
            pending += users
    return False
