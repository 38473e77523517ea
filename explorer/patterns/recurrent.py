"""Recurrent layers, and cells written out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from netloupe.explorer.model import Node, Value

from .both_orders import reverses
from .convolution_details import ConvolutionDetails
from .details import RecurrentDetails
from .found_blocks import FoundBlock, FoundBlocks
from .linear import write_widths
from .operations import Operations
from .readings import read_str
from .weight_sizes import read_features

_LAYERS = frozenset({"GRU", "LSTM", "RNN"})
_CALLS = _LAYERS | frozenset({"AttnLSTM"})
#: what exporters put around recurrent layers: states of each, and directions
_AROUND = frozenset({"Concat", "Gather", "Pad", "ReverseSequence", "Slice", "Split"})
_BOTH_WAYS = "bidirectional"
#: whether a layer reads backwards, of both
_WAYS = {False, True}
#: how many gates a cell has, with what it squashes
_GATES = {"GRU cell": 3, "LSTM cell": 4}
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
    nodes, end = [operations.nodes[n] for n in layers], layers[-1]
    if len(layers) > 1 and not _is_row(operations, layers):
        if not _are_both_ways(operations, layers):
            return
        facts, details = _describe(nodes[:1], ways=2)
        end = len(operations) - 1
    else:
        facts, details = describe_recurrent(nodes)
    numbers = frozenset(range(len(operations)))
    yield FoundBlock("recurrent", kind, numbers, end, facts, details)


def describe_recurrent(nodes: Sequence[Node]) -> tuple[tuple[str, ...], RecurrentDetails]:
    """Return facts of recurrent layers that stand in a row, and the same as numbers.

    Of layers that go along a sequence both ways results of both stand side by side (M. Schuster and
    K. Paliwal, Bidirectional Recurrent Neural Networks, 1997), so it is told how wide each is.
    """
    is_both_ways = all(read_str(node, "direction") == _BOTH_WAYS for node in nodes)
    return _describe(nodes, ways=2 if is_both_ways else 1)


def _describe(nodes: Sequence[Node], *, ways: int) -> tuple[tuple[str, ...], RecurrentDetails]:
    taken, hidden = read_features(nodes[0])[0], read_features(nodes[-1])[1]
    facts: list[str] = []
    if taken and hidden:
        facts.append(f"{taken} → 2 × {hidden}" if ways > 1 else write_widths(taken, hidden))
    if ways > 1:
        facts.append(_BOTH_WAYS)
    elif all(read_str(node, "direction") == "reverse" for node in nodes):
        facts.append("backwards")
    if len(nodes) > 1:
        facts.append(f"{len(nodes)} layers")
    details = RecurrentDetails(layers=len(nodes), bidirectional=ways > 1)
    return tuple(facts), details.with_features((taken, hidden) if taken and hidden else None)


def _is_row(operations: Operations, layers: Sequence[int]) -> bool:
    """Return whether each of some layers takes what the one before it gives."""
    return all(
        any(
            before in _list_coming(operations, value, stop=layers)
            for value in operations.operands[n][:1]
        )
        for before, n in pairwise(layers)
    )


def _list_coming(operations: Operations, value: Value, stop: Collection[int]) -> set[int]:
    """Return which operations a value comes from, as far back as some of them."""
    first = operations.giver(value)
    pending = [first] if first is not None else []
    found: set[int] = set()
    while pending:
        number = pending.pop()
        if number not in found:
            found.add(number)
            pending += [] if number in stop else operations.givers(number)
    return found


def _are_both_ways(operations: Operations, layers: Sequence[int]) -> bool:
    """Return whether of two layers of one width that read the same one reads it backwards.

    By its direction, or since what it takes is reversed before.
    """
    if len(layers) != len(_WAYS):
        return False
    ways, sources, widths = set(), set(), set()
    for n in layers:
        is_backwards = read_str(operations.nodes[n], "direction") == "reverse"
        value = operations.operands[n][0]
        giver = operations.giver(value)
        if giver is not None and reverses(operations.nodes[giver]):
            is_backwards = not is_backwards
            value = operations.operands[giver][0]
        ways.add(is_backwards)
        sources.add(value)
        widths.add(read_features(operations.nodes[n]))
    return ways == _WAYS and len(sources) == len(widths) == 1


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
    widths = _read_cell_widths(blocks, [*linears.values()], _GATES[name])
    facts: tuple[str, ...] = (write_widths(*widths),) if widths is not None else ()
    details = RecurrentDetails().with_features(widths)
    if convolutions:
        name = f"Conv{name}"
        kernels = {one.details.read_as(ConvolutionDetails).kernel for one in convolutions.values()}
        facts = tuple("×".join(map(str, kernel)) for kernel in kernels if len(kernels) == 1)
    numbers = frozenset(range(len(operations)))
    parts = (*linears.values(), *convolutions.values())
    yield FoundBlock("recurrent", name, numbers, len(operations) - 1, facts, details, parts)


def _read_cell_widths(
    blocks: FoundBlocks, linears: Sequence[FoundBlock], gates: int
) -> tuple[int, int] | None:
    """Return how many features come into a cell, and how many its state has; None for unknown.

    One matrix gives all gates from what comes and one from the state, or one from both joined.
    """
    ends = [linear.details.in_out for linear in linears]
    known = [one for one in ends if one is not None]
    given = {one[1] for one in known}
    if not known or len(known) < len(ends) or len(given) != 1:
        return None
    hidden, rest = divmod(given.pop(), gates)
    taken = [one[0] for one in known]
    if rest or not hidden:
        return None
    if len(taken) == 1:
        starts = blocks.operations.operands[min(linears[0].numbers)]
        is_joined = blocks.operations.given_by(starts[0], "Concat") is not None
        return (taken[0] - hidden, hidden) if is_joined and taken[0] > hidden else None
    if len(taken) != 2 or hidden not in taken:
        return None
    taken.remove(hidden)
    return taken[0], hidden


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
