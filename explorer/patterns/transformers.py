"""Transformer blocks: attention and an MLP with residual sums and norms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from .attention_streams import REDUCTION
from .convolution_details import ConvolutionDetails
from .deformable_attention import DEFORMABLE
from .found_blocks import FoundBlock, FoundBlocks
from .image_windows import read_image_part
from .landmark_attention import NYSTROM
from .operations import PICKING, Operations
from .shifted_channels import TOKEN_SHIFT
from .transformer_details import (
    CLASS_ATTENTION,
    AttentionDetails,
    ExpertsDetails,
    MlpDetails,
    TransformerDetails,
)

_MIXERS = frozenset({"attention"})
_FEED_FORWARDS = frozenset({"mlp", "experts"})
#: attention of another kind than such a block is known for
_TOLD = frozenset(
    {"Cross-attention", "Cross-covariance attention", "Gated attention unit", "Linear attention"}
    | {"Cascaded group attention", "Channel self-attention", "Outlook attention"}
    | {"Additive self-attention", "Physics attention", "Pointwise attention"}
    | {CLASS_ATTENTION, DEFORMABLE, NYSTROM}
)
_NORMS = ("norm", "adaptive norm")


def find_transformers(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find operations that are one Transformer block altogether.

    A. Vaswani and others, Attention Is All You Need, 2017, figure 1, normalizes behind each sum;
    R. Xiong and others, On Layer Normalization in the Transformer Architecture, 2020, figure 1,
    compares that with norms before attention and MLP. A decoder's block has cross-attention
    between them. Where both take the same normalized value they are parallel (B. Wang and
    A. Komatsuzaki, GPT-J, 2021). Positions may be added to what attention compares in each block
    (N. Carion and others, End-to-End Object Detection with Transformers, 2020, figure 10). Norms
    may be adaptive, and what is added weighted (W. Peebles and S. Xie, Scalable Diffusion Models
    with Transformers, 2023, figure 3).
    """
    operations = blocks.operations
    outline = blocks.list_outermost()
    attentions = [f for f in outline if isinstance(f, FoundBlock) and f.kind in _MIXERS]
    feeding = [f for f in outline if isinstance(f, FoundBlock) and f.kind in _FEED_FORWARDS]
    norms = [f for f in outline if isinstance(f, FoundBlock) and f.kind in _NORMS]
    if not 1 <= len(attentions) <= 2 or len(feeding) != 1 or len(norms) > 6:
        return
    others = [f for f in outline if f not in attentions and f not in feeding and f not in norms]
    others = [f for f in others if not _reduces_keys(blocks, f, attentions)]
    is_token_shifted = any(map(_shifts_tokens, others))
    others = [f for f in others if not _shifts_tokens(f)]
    is_adaptive = any(norm.kind == "adaptive norm" for norm in norms)
    if is_adaptive:
        others = _leave_out_conditions(blocks, others)
    kinds = [f.name if isinstance(f, FoundBlock) else operations.kinds[f] for f in others]
    shifting = [kind for kind in kinds if kind in ("Concat", "Pad", "Slice")]
    if any(kind not in ("Add", "Mul", "Dropout", "Concat", "Pad", "Slice") for kind in kinds):
        return
    if not is_adaptive and any(_multiplies_stream(blocks, entry) for entry in others):
        return
    part = read_image_part(operations)
    if shifting and part is None:
        return
    placed = sum(
        kind == "Add" and _adds_positions(blocks, entry, attentions)
        for entry, kind in zip(others, kinds, strict=True)
    )
    sums = kinds.count("Add") - placed + sum("Residual" in norm.name for norm in norms)
    if sums < 1 or sums > 4:
        return
    numbers = frozenset(range(len(operations)))
    is_decoder = len(attentions) == 2
    if is_decoder and attentions[1].name != "Cross-attention":
        return
    fed = feeding[0]
    what = fed.facts[0] if fed.kind == "experts" else " ".join((fed.name, *fed.facts[:1]))
    name = attentions[0].name
    own = [name if name == NYSTROM else name.lower()] if name in _TOLD else []
    seen = attentions[0].details.read_as(AttentionDetails)
    told = attentions[0].facts
    if seen.side is not None:  # which is told with its windows
        told = tuple(fact for fact in told if fact not in (f"{seen.side}×{seen.side}", "shifted"))
    is_sampled = is_decoder and attentions[1].details.read_as(AttentionDetails).deformable
    facts = [*own, *told, *(["deformable cross-attention"] if is_sampled else []), what]
    style = _order_norms(blocks, attentions[0], norms)
    norm = norms[0].name.rsplit(" ", 1)[-1] if style else ""
    if style and is_adaptive:  # it is what such a block is about
        facts.insert(0, f"adaptive {norm}")
    elif style:
        facts.append(f"{style} {norm}")
    gates = _read_scalar_gates(operations, others)
    if gates:
        facts.append(gates)
    if is_token_shifted:
        facts.append(TOKEN_SHIFT.lower())
    if part is not None:
        is_shifted = seen.shifted or "Concat" in shifting
        facts.insert(0, f"{'shifted ' if is_shifted else ''}{part.fact}")
    details = TransformerDetails(
        order=style or None,
        norm=norm or None,
        attention=seen,
        feeding=fed.details if isinstance(fed.details, MlpDetails | ExpertsDetails) else None,
        window=part.side if part is not None and not part.is_grid else None,
    )
    name = "Transformer decoder block" if is_decoder else "Transformer block"
    if attentions[0].name == "Mamba-2":
        name = "Mamba-2 block"
    last = outline[-1]
    end = last.end if isinstance(last, FoundBlock) else last
    parts = (*attentions, *feeding, *norms)
    yield FoundBlock("transformer", name, numbers, end, tuple(facts), details, parts)


def _shifts_tokens(entry: FoundBlock | int) -> bool:
    """Return whether features of the token before stand in what a norm takes."""
    return isinstance(entry, FoundBlock) and entry.name == TOKEN_SHIFT


def _read_scalar_gates(operations: Operations, entries: Sequence[FoundBlock | int]) -> str:
    """Return what is told of numbers that what is added to the stream is multiplied by; "" if none.

    One is stored for each, which is learned: they differ, or a tanh is taken of them (J. Alayrac
    and others, Flamingo, 2022, figure 4; T. Bachlechner and others, ReZero, 2020, equation 3).
    """
    numbers: list[float] = []
    are_squashed = True
    for entry in entries:
        if isinstance(entry, FoundBlock) or operations.kinds[entry] != "Mul":
            continue
        number = operations.scalar(entry)
        fixed = operations.fixed(entry)
        if len(fixed) != 1 or (number is None and fixed[0].producer is None):
            return ""
        giver = fixed[0].producer
        are_squashed &= giver is not None and giver.operator.form == "Tanh"
        numbers += [number] if number is not None else []
    if len(numbers) < len(("attention", "MLP")):
        return ""
    if are_squashed:
        return "tanh gates"
    return "scalar gates" if len({*numbers}) == len(numbers) else ""


def _multiplies_stream(blocks: FoundBlocks, entry: FoundBlock | int) -> bool:
    """Return whether a product takes the place of a residual sum: one with what a norm takes, too.

    And not with a number or a mask.
    """
    operations = blocks.operations
    if isinstance(entry, FoundBlock) or operations.kinds[entry] != "Mul":
        return False
    taken = operations.operands[entry]
    results = [blocks.owner[giver] for giver in operations.givers(entry)]
    if not any(one is not None and one.kind in _MIXERS | _FEED_FORWARDS for one in results):
        return False
    return any(
        operations.operands[number][:1] == [value]
        for value in taken
        for number, owner in enumerate(blocks.owner)
        if owner is not None and owner.kind in _NORMS
    )


def _leave_out_conditions(
    blocks: FoundBlocks, entries: Sequence[FoundBlock | int]
) -> list[FoundBlock | int]:
    """Return what is no projection of a class or a step, and no part of one, that steers norms.

    W. Peebles and S. Xie, Scalable Diffusion Models with Transformers, 2023, figure 3.
    """
    operations = blocks.operations
    steering: set[int] = set()
    left: list[FoundBlock | int] = []
    for entry in entries:
        numbers = entry.numbers if isinstance(entry, FoundBlock) else frozenset({entry})
        if isinstance(entry, FoundBlock):
            is_fit = entry.kind in ("activation", "linear")
        else:
            is_fit = operations.nodes[entry].operator.has(*PICKING, "adds")
        givers = {giver for n in numbers for giver in operations.givers(n)} - numbers
        is_sum = not isinstance(entry, FoundBlock) and len(operations.operands[entry]) > 1
        if is_fit and givers <= steering and not is_sum:
            steering |= numbers
        else:
            left.append(entry)
    return left


def _reduces_keys(
    blocks: FoundBlocks, entry: FoundBlock | int, attentions: Sequence[FoundBlock]
) -> bool:
    """Return whether a convolution makes fewer places of what one attention alone compares.

    The attention tells of it (W. Wang and others, Pyramid Vision Transformer, 2021, figure 4).
    """
    if not isinstance(entry, FoundBlock) or entry.kind != "conv":
        return False
    users = {*blocks.operations.users[entry.end]}
    return any(
        users <= attention.numbers and any(fact.startswith(REDUCTION) for fact in attention.facts)
        for attention in attentions
    )


def _adds_positions(
    blocks: FoundBlocks, entry: FoundBlock | int, attentions: Sequence[FoundBlock]
) -> bool:
    """Return whether a sum of what the block is given too goes into one attention alone."""
    if isinstance(entry, FoundBlock):
        return False
    operations = blocks.operations
    users = {*operations.users[entry]}
    is_given = any(operations.giver(value) is None for value in operations.operands[entry])
    return is_given and any(users <= attention.numbers for attention in attentions)


def find_sublayers(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find one attention or MLP with the norm and the residual sum around it."""
    operations = blocks.operations
    outline = blocks.list_outermost()
    mains = [f for f in outline if isinstance(f, FoundBlock) and f.kind in _MIXERS | _FEED_FORWARDS]
    norms = [f for f in outline if isinstance(f, FoundBlock) and f.kind == "norm"]
    others = [f for f in outline if f not in mains and f not in norms]
    is_token_shifted = any(map(_shifts_tokens, others))
    others = [f for f in others if not _shifts_tokens(f)]
    kinds = [f.name if isinstance(f, FoundBlock) else operations.kinds[f] for f in others]
    if len(mains) != 1 or len(norms) > 2 or sorted(kinds) not in (["Add"], []):
        return
    if not norms and not kinds and not is_token_shifted:
        return
    main = mains[0]
    style = _order_norms(blocks, main, norms)
    facts = [f"{style} {norms[0].name}"] if style else []
    facts += [TOKEN_SHIFT.lower()] if is_token_shifted else []
    details = main.details
    if style and isinstance(details, AttentionDetails | MlpDetails | ExpertsDetails):
        details = replace(details, order=style)
    last = outline[-1]
    end = last.end if isinstance(last, FoundBlock) else last
    numbers = frozenset(range(len(operations)))
    parts = (main, *norms)
    yield FoundBlock(main.kind, main.name, numbers, end, (*main.facts, *facts), details, parts)


def _order_norms(blocks: FoundBlocks, attention: FoundBlock, norms: list[FoundBlock]) -> str:
    """Return ``pre-norm`` or ``post-norm``; "" where neither is plain."""
    operations = blocks.operations
    if not norms:
        return ""
    before = {
        giver for number in attention.numbers for giver in operations.givers(number)
    } - attention.numbers
    if any(blocks.ending(number, *_NORMS) is not None for number in before):
        return "pre-norm"
    fused = [norm for norm in norms if "Residual" in norm.name]
    if any(_hands_sum_on(blocks, norm) for norm in fused):
        return "pre-norm"
    if fused:
        return "post-norm"
    for norm in norms:
        starts = {
            giver for number in norm.numbers for giver in operations.givers(number)
        } - norm.numbers
        # else the stream goes on beside the norm, which is that of the next block
        if any(
            operations.kinds[number] == "Add" and norm.numbers.issuperset(operations.users[number])
            for number in starts
        ):
            return "post-norm"
    return ""


def _hands_sum_on(blocks: FoundBlocks, norm: FoundBlock) -> bool:
    """Return whether the sum that a fused norm holds goes on beside what is normalized.

    So it does where the norm is that of what comes next.
    """
    given = blocks.operations.nodes[norm.end].outputs[1:]
    return any(value is not None and (value.users or value.is_output) for value in given)


def find_reduced_attentions(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find self-attention whose keys and values are of fewer places than its queries.

    A convolution whose stride is its kernel makes one place of a square of them (W. Wang and
    others, Pyramid Vision Transformer, 2021, figure 4; E. Xie and others, SegFormer, 2021,
    section 3.1).
    """
    operations = blocks.operations
    outline = blocks.list_outermost()
    if len(outline) != 2 or not all(isinstance(entry, FoundBlock) for entry in outline):
        return
    reducing, attention = (entry for entry in outline if isinstance(entry, FoundBlock))
    if reducing.kind != "conv" or attention.name != "Self-attention":
        return
    convolution = reducing.details.read_as(ConvolutionDetails)
    kernel, stride = convolution.kernel, convolution.stride
    is_same = convolution.in_features == convolution.out_features
    if {*kernel} != {stride} or not is_same:
        return
    start = operations.operands[min(reducing.numbers)][:1]
    outer = {
        value
        for number in attention.numbers
        for value in operations.operands[number]
        if operations.giver(value) not in attention.numbers
    }
    # queries of what is reduced, keys and values of what it becomes
    reduced = {value for value in outer if operations.giver(value) == reducing.end}
    if len(outer) != 2 or len(reduced) != 1 or outer - reduced != {*start}:
        return
    numbers = frozenset(range(len(operations)))
    parts = (reducing, attention)
    yield FoundBlock(
        "attention",
        attention.name,
        numbers,
        attention.end,
        attention.facts,
        attention.details,
        parts,
    )
