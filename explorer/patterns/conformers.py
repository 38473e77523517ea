"""Conformer blocks and their convolution modules.

A. Gulati and others, Conformer: Convolution-augmented Transformer for Speech Recognition, 2020.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from .convolutions import read_convolution
from .details import FeatureDetails
from .found_blocks import FoundBlock, FoundBlocks
from .linear import write_widths
from .operations import Operations
from .transformer_details import (
    AttentionDetails,
    ConformerDetails,
    ConvolutionModuleDetails,
    MlpDetails,
)
from .whole_groups import make_whole_block

#: what rotary positions before the projections, gates and sums are made of
_BESIDE = frozenset({"Add", "Concat", "Mul", "Neg", "Slice", "Split"})
_MOST_BESIDE = 14
#: what turns features by cosines and sines of their positions
_ROTATION = Counter({"Slice": 2, "Mul": 2, "Add": 1, "Concat": 1, "Neg": 1})
#: half of a gated linear unit
_GATES = frozenset({"Mul", "Slice", "Split"})


def find_conformers(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find half an MLP, self-attention, a gated depthwise convolution, half an MLP, and a norm.

    Section 2.4, equation 1: each is added to what it takes, and both feed-forward modules are
    halved before that.
    """
    outline = blocks.list_outermost()
    feeding = [e for e in outline if isinstance(e, FoundBlock) and e.kind == "mlp"]
    attentions = [e for e in outline if isinstance(e, FoundBlock) and e.kind == "attention"]
    norms = [e for e in outline if isinstance(e, FoundBlock) and e.kind == "norm"]
    convolving = [
        e for e in outline if isinstance(e, FoundBlock) and _find_deep(blocks, e) is not None
    ]
    if (len(feeding), len(attentions), len(convolving)) != (2, 1, 1) or not norms:
        return
    first, last = feeding
    sums = [_find_half_sum(blocks, found) for found in feeding]
    if not 0 <= sums[0] < attentions[0].end or sums[1] < 0:
        return
    if not first.end < attentions[0].end < convolving[0].end < last.end < norms[-1].end:
        return
    others = [e for e in outline if e not in (*feeding, *attentions, *norms, *convolving)]
    if not _is_beside(blocks, others, _BESIDE) or len(others) > _MOST_BESIDE:
        return
    if not _has_gate(blocks, attentions[0].end, convolving[0].end):
        return
    kernel = _find_deep(blocks, convolving[0])
    facts = (*attentions[0].facts, " ".join((first.name, *first.facts[:1])))
    details = ConformerDetails(
        attention=attentions[0].details.read_as(AttentionDetails),
        feeding=first.details.read_as(MlpDetails),
        kernel=kernel or None,
    )
    if kernel:
        facts = (*facts, f"depthwise kernel {kernel}")
    yield make_whole_block(blocks, "conformer", "Conformer block", facts, details)


def _has_gate(blocks: FoundBlocks, low: int, high: int) -> bool:
    """Return whether a sigmoid between two operations is a factor there."""
    operations = blocks.operations
    for number in range(low + 1, high):
        user = operations.only_user(number) if operations.kinds[number] == "Sigmoid" else None
        if user is not None and operations.kinds[user] == "Mul":
            other = [v for v in operations.operands[user] if operations.giver(v) != number]
            squashed = operations.operands[number]
            if other and other != squashed and len(operations.operands[user]) > 1:
                return True  # else it is SiLU
    return False


def _find_half_sum(blocks: FoundBlocks, found: FoundBlock) -> int:
    """Return the operation that adds half of what a block gives to something; -1 for none."""
    operations = blocks.operations
    half = operations.only_user(found.end)
    factors = {"Mul": 0.5, "Div": 2.0}
    if half is None or operations.scalar(half) != factors.get(operations.kinds[half], 0.0):
        return -1
    total = operations.only_user(half)
    return total if total is not None and operations.kinds[total] == "Add" else -1


def _find_deep(blocks: FoundBlocks, found: FoundBlock) -> int | None:
    """Return the kernel of the one convolution of a block that has a group for each channel.

    0 where that is not known; None where there is none, or several.
    """
    operations = blocks.operations
    kernels = []
    for number in sorted(found.numbers):
        if operations.kinds[number] != "Conv":
            continue
        details = read_convolution(operations, number)
        if details.is_depthwise and details.in_features == details.out_features:
            kernels.append(details.kernel[0] if len(details.kernel) == 1 else 0)
    return kernels[0] if len(kernels) == 1 else None


def _is_beside(
    blocks: FoundBlocks, entries: list[FoundBlock | int], allowed: frozenset[str]
) -> bool:
    kinds = {
        entry.name if isinstance(entry, FoundBlock) else blocks.operations.kinds[entry]
        for entry in entries
    }
    return kinds <= allowed | {"Linear", "Sigmoid"}


def find_convolution_modules(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find twice as many features, a gate, a depthwise convolution, and a linear layer.

    Figure 2 of the same: a norm, a pointwise convolution with a gated linear unit, a depthwise
    one of one axis with a norm and an activation, and a pointwise one.
    """
    operations = blocks.operations
    outline = blocks.list_outermost()
    start = 1 if isinstance(outline[0], FoundBlock) and outline[0].kind == "norm" else 0
    if not start + 4 <= len(outline) <= start + 6:
        return
    first, last = outline[start], outline[-1]
    if not isinstance(first, FoundBlock) or first.kind not in ("conv", "linear"):
        return
    if not isinstance(last, FoundBlock) or last.kind != "separable":
        return
    kernel = _find_deep(blocks, last)
    taken, doubled = first.details.in_out or (0, 0)
    given = last.details.read_as(FeatureDetails).out_features
    between = outline[start + 1 : -1]
    gates = [e for e in between if isinstance(e, FoundBlock)]
    names = [found.name for found in gates]
    numbers = [e for e in between if isinstance(e, int)]
    if not kernel or not taken or doubled != 2 * taken or names != ["Sigmoid"]:
        return
    if not _is_beside(blocks, [*numbers], _GATES):
        return
    product = next((n for n in numbers if operations.kinds[n] == "Mul"), None)
    if product is None or gates[0].end not in operations.givers(product):
        return
    facts = (f"kernel {kernel}", *([write_widths(taken, given)] if given else []))
    details = ConvolutionModuleDetails(kernel=kernel, in_features=taken)
    yield make_whole_block(blocks, "conformer", "Convolution module", facts, details)


def find_rotated_attentions(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find attention that is given positions by a rotation before its projections.

    Of what it takes, x · cos + rotate(x) · sin is what queries and keys are projected from
    (``Wav2Vec2ConformerSelfAttention`` of Hugging Face's transformers; J. Su and others, RoFormer,
    2021, equation 34, has it behind the projections).
    """
    operations = blocks.operations
    outline = blocks.list_outermost()
    rotation = [entry for entry in outline if not isinstance(entry, FoundBlock)]
    others = [entry for entry in outline if isinstance(entry, FoundBlock)]
    if len(others) != 1 or others[0].kind != "attention":
        return
    if Counter(operations.kinds[number] for number in rotation) != _ROTATION:
        return
    total = next(number for number in rotation if operations.kinds[number] == "Add")
    attention = others[0]
    if attention.numbers.issuperset(operations.users[total]) and _rotates(operations, total):
        numbers = frozenset(range(len(operations)))
        facts = (*attention.facts, "rotary")
        details = replace(attention.details.read_as(AttentionDetails), positions="rotary")
        yield FoundBlock(
            "attention", attention.name, numbers, attention.end, facts, details, (attention,)
        )


def _rotates(operations: Operations, total: int) -> bool:
    """Return whether a sum is x · cos + concat(-x2, x1) · sin, x1 and x2 being halves of x."""
    products = operations.givers(total)
    if [operations.kinds[number] for number in products] != ["Mul", "Mul"]:
        return False
    for plain, turned in (products, products[::-1]):
        halves = [n for n in operations.givers(turned) if operations.kinds[n] == "Concat"]
        if len(halves) != 1:
            continue
        parts = operations.givers(halves[0])
        if [operations.kinds[number] for number in parts] != ["Neg", "Slice"]:
            return False
        slices = [*operations.givers(parts[0]), parts[1]]
        if [operations.kinds[number] for number in slices] != ["Slice", "Slice"]:
            return False
        taken = operations.operands[slices[0]][:1]
        return operations.operands[slices[1]][:1] == taken and any(
            value is taken[0] for value in operations.operands[plain]
        )
    return False
