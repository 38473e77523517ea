"""Positions as sines and cosines, and tokens that are put together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from .details import FeatureDetails
from .found_blocks import FoundBlock, FoundBlocks
from .linear import write_widths
from .operations import Operations
from .picked_parts import PickedPart, read_parts
from .whole_groups import make_whole_block

#: of a sine so many users are looked at
_MOST_USERS = 64
_AROUND = frozenset({"Concat", "Einsum", "Gather", "Gemm", "MatMul", "Mul", "Slice", "Div", "Add"})


def find_waves(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find cosines and sines of positions times frequencies.

    Apart from one another they are what rotates queries and keys (J. Su and others, RoFormer, 2021,
    equation 34), side by side an embedding (A. Vaswani and others, 2017, section 3.5) or a part of
    an encoding, behind which that of a diffusion's steps has an MLP (J. Ho and others, Denoising
    Diffusion Probabilistic Models, 2020, appendix B).
    """
    operations = blocks.operations
    outline = blocks.list_outermost()
    if len(outline) == 1 and isinstance(outline[0], FoundBlock):
        return  # known already
    # what is learned of them stands behind them, as of the steps of a diffusion
    last = outline[-1]
    learned = last if isinstance(last, FoundBlock) and last.kind == "mlp" else None
    if learned is not None and not operations.givers(min(learned.numbers)):
        return
    kinds = [
        kind
        for number, kind in enumerate(operations.kinds)
        if learned is None or number not in learned.numbers
    ]
    counts = Counter(kinds)
    if counts["Cos"] != 1 or counts["Sin"] != 1 or not counts.keys() <= _AROUND | {"Cos", "Sin"}:
        return
    cosine, sine = operations.kinds.index("Cos"), operations.kinds.index("Sin")
    if operations.operands[cosine] != operations.operands[sine]:
        return
    joined = {*operations.users[cosine]} & {*operations.users[sine]}
    is_joined = any(n >= 0 and operations.kinds[n] == "Concat" for n in joined)
    name = "Sinusoidal embedding" if is_joined else "Rotary cos, sin"
    if not is_joined and _is_joined_outside(operations, cosine, sine):
        name = "Positional encoding"
    numbers = frozenset(range(len(operations)))
    if learned is None:
        yield FoundBlock("positions", name, numbers, max(cosine, sine))
    elif is_joined:
        name = f"{name} · {learned.name}"
        yield make_whole_block(blocks, "embedding", name, learned.facts, learned.details)


def _is_joined_outside(operations: Operations, cosine: int, sine: int) -> bool:
    """Return whether a sine and a cosine are put side by side, as nothing that rotates does."""
    joins = [
        {
            user
            for value in operations.nodes[number].outputs
            if value is not None
            for user in value.users[:_MOST_USERS]
            if user.operator.has("joins")
        }
        for number in (cosine, sine)
    ]
    return bool(joins[0] & joins[1])


def _are_apart(operations: Operations, slices: Sequence[int | None]) -> bool:
    """Return whether slices, each perhaps of another one, take four neighbours: steps apart."""
    told = set()
    for number in slices:
        picked: list[PickedPart] = []
        last = number
        while number is not None:
            picked += read_parts(operations.nodes[number])
            number = operations.given_by(operations.operands[number][0], "Slice")
        starts = ((str(part.axis), str(part.start)) for part in picked if part.step != 1)
        told.add(tuple(starts) or (str(last),))
        if picked and all(part.step == 1 for part in picked):
            return False  # quarters
    return len(told) == len(slices)


def find_merging(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find four neighbouring patches that are put together and projected.

    Z. Liu and others, Swin Transformer, 2021, section 3.1.
    """
    operations = blocks.operations
    outline = blocks.list_outermost()
    kinds = Counter(e.kind if isinstance(e, FoundBlock) else operations.kinds[e] for e in outline)
    joins = [e for e in outline if isinstance(e, int) and operations.kinds[e] == "Concat"]
    linears = [e for e in outline if isinstance(e, FoundBlock) and e.kind == "linear"]
    if len(joins) != 1 or len(linears) != 1 or kinds["norm"] > 1:
        return
    if not kinds.keys() <= {"Concat", "Pad", "Slice", "linear", "norm"} or not kinds["Slice"]:
        return
    parts = operations.operands[joins[0]]
    slices = [operations.given_by(part, "Slice") for part in parts]
    if len(parts) != 4 or None in slices or not _are_apart(operations, slices):
        return
    if len({*parts}) < len(parts):
        return
    widths = linears[0].details.in_out
    if widths is None or widths[0] % 4:
        return
    widths = widths[0] // 4, widths[1]
    numbers = frozenset(range(len(operations)))
    facts = (write_widths(*widths), "/2")
    last = outline[-1]
    end = last.end if isinstance(last, FoundBlock) else last
    details = FeatureDetails().with_features(widths)
    yield FoundBlock("merging", "Patch merging", numbers, end, facts, details)
