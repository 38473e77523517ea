"""Gates and norms that another value steers: products with what a second branch gives."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.model import Value

from .convolutions import read_convolution
from .details import NormDetails
from .found_blocks import FoundBlock, FoundBlocks
from .leading import find_leading
from .operations import PICKING, Operations

_GATES = ("Sigmoid", "HardSigmoid", "SiLU", "GELU")
_CONTENT = ("activation", "conv", "linear", "norm")
_MOST_STEPS = 6
_MOST_PICKED = 3


def find_gates(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find a product of a branch and of how much of it counts, between 0 and 1.

    Where the branch is a tanh it is the gated activation unit (A. van den Oord and others, WaveNet,
    2016, equation 2), where both are parts of one value a gated linear unit (Y. Dauphin and others,
    Language Modeling with Gated Convolutional Networks, 2017, equation 1). Parts of one projection
    gate one another without that, too (M. Poli and others, Hyena Hierarchy, 2023, section 3.1).
    """
    operations = blocks.operations
    for end, kind in enumerate(operations.kinds):
        taken = operations.operands[end]
        if kind != "Mul" or len(taken) != 2 or blocks.owner[end] is not None:
            continue
        for gate_value, value in (taken, taken[::-1]):
            gate = _find_branch(blocks, gate_value, end)
            if gate is not None and gate.name.rpartition(" · ")[2] in _GATES[:2]:
                yield _make_gate(blocks, end, gate, value)
                break
        else:
            if _is_of_one(blocks, *taken) or _is_of_one(blocks, *taken[::-1]):
                yield FoundBlock("gate", "Gate", frozenset({end}), end)


def _is_of_one(blocks: FoundBlocks, part: Value, other: Value) -> bool:
    """Return whether a value is a part of a projection, and another one comes of it, too."""
    operations = blocks.operations
    whole = part
    for _ in range(_MOST_PICKED):
        pick = operations.giver(whole)
        if pick is None or not operations.nodes[pick].operator.has(*PICKING):
            break
        if not operations.operands[pick]:  # it takes parts of what is stored
            break
        whole = operations.operands[pick][0]
    if whole is part or blocks.ending(operations.giver(whole), "conv", "linear") is None:
        return False
    for _ in range(_MOST_STEPS):
        giver = operations.giver(other)
        if giver is None or not operations.operands[giver]:
            return False
        owner = blocks.owner[giver]
        giver = min(owner.numbers) if owner is not None else giver
        other = operations.operands[giver][0]
        if other is whole:
            return True
    return False


def _find_branch(blocks: FoundBlocks, value: Value, end: int) -> FoundBlock | None:
    """Return the block that gives a value to a product alone."""
    found = blocks.ending(blocks.operations.giver(value), *_CONTENT)
    if found is None or blocks.operations.only_user(found.end) != end:
        return None
    return found


def _make_gate(blocks: FoundBlocks, end: int, gate: FoundBlock, value: Value) -> FoundBlock:
    operations = blocks.operations
    content = _find_branch(blocks, value, end)
    parts = [gate, *([content] if content is not None and content is not gate else [])]
    numbers = frozenset({end}).union(*(part.numbers for part in parts))
    givers = {giver for n in numbers for giver in operations.givers(n)} - numbers
    if content is None and (giver := operations.giver(value)) is not None:
        givers.add(giver)
    split = givers.pop() if len(givers) == 1 else None
    name = "Gate"
    is_split = split is not None and operations.nodes[split].operator.has("splits")
    if split is not None and is_split and numbers.issuperset(operations.users[split]):
        numbers |= {split}
        name = "GLU"
    told: tuple[str, ...] = ()
    activation = _find_activation(operations, content)
    if activation == "tanh" or (activation and name == "GLU"):
        name = "Gated unit"  # of a GLU what counts is linear (Y. Dauphin and others, 2017)
        told = () if activation == "tanh" else (activation,)
    described = next((part for part in (content, gate) if part is not None and part.facts), gate)
    facts = (*described.facts, *told)
    return FoundBlock("gate", name, numbers, end, facts, described.details, tuple(parts))


def _find_activation(operations: Operations, content: FoundBlock | None) -> str:
    """Return the activation that a branch ends with; "" for none."""
    if content is None:
        return ""
    ends = operations.nodes[content.end].operator.has("activates")
    return content.name.rpartition(" · ")[2] if content.kind == "activation" or ends else ""


def find_adaptive_norms(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find a norm whose scale and shift another value gives.

    Of the mean and deviation of another picture's features (X. Huang and S. Belongie, Arbitrary
    Style Transfer, 2017, equation 8), of a projection of a class and a step (E. Perez and others,
    FiLM, 2018, equation 1; W. Peebles and S. Xie, Scalable Diffusion Models with Transformers,
    2023, figure 3: adaLN). Of convolutions of another map it is spatially adaptive (T. Park and
    others, Semantic Image Synthesis with Spatially-Adaptive Normalization, 2019, equation 1).
    """
    operations = blocks.operations
    for end, kind in enumerate(operations.kinds):
        taken = operations.operands[end]
        if kind != "Add" or len(taken) != 2 or blocks.owner[end] is not None:
            continue
        for scaled, shift in (taken, taken[::-1]):
            product = operations.given_by(scaled, "Mul")
            if product is None or operations.only_user(product) != end:
                continue
            found = _find_normal(blocks, product)
            if found is None:
                continue
            norm, scale = found
            numbers = {end, product, *norm.numbers}
            above = operations.given_by(scale, "Add")  # 1 + scale
            is_one = above is not None and len(operations.operands[above]) == 1
            if above is not None and is_one and operations.only_user(above) == product:
                if blocks.owner[above] is None:
                    numbers.add(above)
                scale = operations.operands[above][0]
            if not _is_given(blocks, scale, norm) or not _is_given(blocks, shift, norm):
                continue
            width = norm.details.read_as(NormDetails).width
            makers = [_read_maker(operations, value) for value in (scale, shift)]
            name = f"Adaptive {norm.name}"
            if all(makers):  # convolutions of another map than the norm takes
                leading = find_leading(
                    operations, numbers, (scale, shift), _list_taken(blocks, norm)
                )
                if leading is not None and not _is_cut(blocks, leading.numbers | numbers):
                    numbers |= leading.numbers
                if max(makers) > 1:
                    name = f"Spatially-adaptive {norm.name}"
            yield FoundBlock(
                "adaptive norm",
                name,
                frozenset(numbers),
                end,
                (),
                NormDetails(width=width),
                (norm,),
            )
            break


def _read_maker(operations: Operations, value: Value) -> int:
    """Return how large the kernel of the convolution is that gives a value; 0 where none does."""
    for _ in range(_MOST_PICKED):
        number = operations.giver(value)
        if number is None or not operations.operands[number]:
            return 0
        if operations.kinds[number] == "Conv":
            return max(read_convolution(operations, number).kernel, default=0)
        if not operations.nodes[number].operator.has(*PICKING, "splits"):
            return 0
        value = operations.operands[number][0]
    return 0


def _list_taken(blocks: FoundBlocks, norm: FoundBlock) -> set[Value]:
    """Return what a norm takes."""
    operations = blocks.operations
    return {
        source
        for number in norm.numbers
        for source in operations.operands[number]
        if operations.giver(source) not in norm.numbers
    }


def _is_cut(blocks: FoundBlocks, numbers: frozenset[int]) -> bool:
    """Return whether some operations hold a part of a block that was found before."""
    return any(
        (owner := blocks.owner[number]) is not None and not owner.numbers <= numbers
        for number in numbers
    )


def _find_normal(blocks: FoundBlocks, product: int) -> tuple[FoundBlock, Value] | None:
    """Return the norm whose result a product alone takes, and what that is multiplied by."""
    operations = blocks.operations
    taken = operations.operands[product]
    if len(taken) != 2 or blocks.owner[product] is not None:
        return None
    for normal, scale in (taken, taken[::-1]):
        norm = blocks.ending(operations.giver(normal), "norm")
        if norm is not None and operations.only_user(norm.end) == product:
            return norm, scale
    return None


def _is_given(blocks: FoundBlocks, value: Value, norm: FoundBlock) -> bool:
    """Return whether a value is a part or projection of another one than a norm takes."""
    operations = blocks.operations
    taken = _list_taken(blocks, norm)
    is_bent = False  # by an activation: what is before that may be anything else
    for _ in range(_MOST_STEPS):
        if value in taken:
            return False
        giver = operations.giver(value)
        if giver is None:
            return True
        owner = blocks.owner[giver]
        if owner is not None and owner.kind in ("activation", "linear", "mlp"):
            is_bent |= owner.kind != "linear"
            giver = min(owner.numbers)
        elif operations.kinds[giver] == "Conv":
            is_bent = True
        elif owner is not None or not operations.nodes[giver].operator.has(*PICKING, "adds"):
            return is_bent or (owner is not None and owner.kind == "embedding")
        if not operations.operands[giver]:
            return True
        value = operations.operands[giver][0]
    return True
