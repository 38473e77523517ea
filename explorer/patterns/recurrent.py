"""Recurrent layers, and cells written out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from .convolution_details import ConvolutionDetails
from .details import RecurrentDetails
from .found_blocks import FoundBlock, FoundBlocks
from .linear import write_widths
from .readings import read_str
from .weight_sizes import read_features

_LAYERS = frozenset({"GRU", "LSTM", "RNN"})
_CALLS = _LAYERS | frozenset({"AttnLSTM"})
#: what exporters put around recurrent layers: states of each, and directions
_AROUND = frozenset({"Concat", "Gather", "Pad", "ReverseSequence", "Slice", "Split"})
#: what a cell is made of besides products
_CELL = frozenset({"Add", "Gather", "Mul", "Slice", "Split", "Sub", "Concat"})


def find_recurrent(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find recurrent layers: ONNX's ``LSTM``, ``GRU`` and ``RNN``, one or several in a row."""
    operations = blocks.operations
    layers = [n for n, kind in enumerate(operations.kinds) if kind in _CALLS]
    others = {kind for kind in operations.kinds if kind not in _CALLS}
    if not layers or not others <= _AROUND:
        return
    kinds = {operations.kinds[n] for n in layers}
    if len(kinds) > 1:
        return
    (kind,) = kinds
    first, last = (operations.nodes[n] for n in (layers[0], layers[-1]))
    taken, hidden = read_features(first)[0], read_features(last)[1]
    facts: list[str] = []
    is_both_ways = all(
        read_str(operations.nodes[n], "direction") == "bidirectional" for n in layers
    )
    if taken and hidden:
        # both directions give as many features each, side by side
        facts.append(f"{taken} → 2 × {hidden}" if is_both_ways else write_widths(taken, hidden))
    if is_both_ways:
        facts.append("bidirectional")
    if len(layers) > 1:
        facts.append(f"{len(layers)} layers")
    numbers = frozenset(range(len(operations)))
    details = RecurrentDetails(layers=len(layers), bidirectional=is_both_ways)
    details = details.with_features((taken, hidden) if taken and hidden else None)
    yield FoundBlock("recurrent", kind, numbers, layers[-1], tuple(facts), details)


def find_cells(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find one step of an LSTM or GRU that is written out.

    LSTM: three gates by σ, two tanh, c = f·c + i·g and h = o·tanh(c) (S. Hochreiter and
    J. Schmidhuber, 1997; F. Gers and others, 2000). GRU: two gates by σ, one tanh and
    h = (1 - z)·n + z·h (K. Cho and others, 2014, equations 5 to 8). With convolutions in place of
    products it is a ConvLSTM (X. Shi and others, 2015, equation 3), or a ConvGRU.
    """
    operations = blocks.operations
    linears = {id(f): f for f in blocks.owner if f is not None and f.kind == "linear"}
    counts = Counter(
        kind
        for number, kind in enumerate(operations.kinds)
        if blocks.holding(number, "linear") is None and not _is_bare(blocks.owner[number])
    )
    convolutions = {id(f): f for f in blocks.owner if f is not None and _is_bare(f)}
    if len(linears) + len(convolutions) > 8 or (linears and convolutions):
        return
    if not counts.keys() <= _CELL | {"Sigmoid", "Tanh"}:
        return
    name = ""
    if (counts["Sigmoid"], counts["Tanh"], counts["Mul"]) == (3, 2, 3) and not counts["Sub"]:
        name = "LSTM cell"
    elif (counts["Sigmoid"], counts["Tanh"]) == (2, 1) and 2 <= counts["Mul"] <= 3:
        is_mixed = counts["Sub"] == 1 and counts["Add"] >= 2
        name = "GRU cell" if is_mixed else ""
    if not name or not _multiplies_gates(blocks) or not _takes_state(blocks):
        return
    facts: tuple[str, ...] = ()
    if convolutions:
        name = f"Conv{name}"
        kernels = {one.details.read_as(ConvolutionDetails).kernel for one in convolutions.values()}
        facts = tuple("×".join(map(str, kernel)) for kernel in kernels if len(kernels) == 1)
    numbers = frozenset(range(len(operations)))
    parts = (*linears.values(), *convolutions.values())
    yield FoundBlock("recurrent", name, numbers, len(operations) - 1, facts, parts=parts)


def _takes_state(blocks: FoundBlocks) -> bool:
    """Return whether gates are of two values, what comes and what was kept, or of both joined.

    Of what comes alone they are no step of a recurrence.
    """
    operations = blocks.operations
    layers = {id(f): f for f in blocks.owner if f is not None and f.kind in ("linear", "conv")}
    starts = [operations.operands[min(one.numbers)][0] for one in layers.values()]
    is_joined = any(operations.given_by(value, "Concat") is not None for value in starts)
    return is_joined or len({*starts}) != 1 or len(layers) == 1


def _is_bare(found: FoundBlock | None) -> bool:
    """Return whether a block is a convolution without norm and activation."""
    return found is not None and found.kind == "conv" and not found.parts


def _multiplies_gates(blocks: FoundBlocks) -> bool:
    """Return whether all results of σ are factors."""
    operations = blocks.operations
    return all(
        any(
            operations.kinds[user] in ("Mul", "Sub")
            for user in operations.users[number]
            if user >= 0
        )
        for number, kind in enumerate(operations.kinds)
        if kind == "Sigmoid"
    )
