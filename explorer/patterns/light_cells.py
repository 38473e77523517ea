"""One step of a recurrent layer that has an update gate and no other, written out."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.model import Value

from .details import RecurrentDetails
from .found_blocks import FoundBlock, FoundBlocks
from .operations import PARTING, Operations

_MOST_BETWEEN = 12
#: what is added to the state and what comes: both give the update gate and what is new
_GATES = 2


def find_light_cells(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find h = z · h + (1 - z) · relu(x + U · h) with z = σ(x + U · h).

    M. Ravanelli and others, Light Gated Recurrent Units for Speech Recognition, 2018, section 3: a
    GRU without its reset gate. What comes in may be multiplied before, for all steps at once.
    """
    operations = blocks.operations
    for total, kind in enumerate(operations.kinds):
        if kind != "Add":
            continue
        products = [operations.given_by(value, "Mul") for value in operations.operands[total]]
        if len(products) != 2 or None in products:
            continue
        for kept, new in (products, products[::-1]):
            found = _read_cell(blocks, total, kept, new) if kept and new is not None else None
            if found is not None:
                yield found
                return


def _read_cell(blocks: FoundBlocks, total: int, kept: int, new: int) -> FoundBlock | None:
    operations = blocks.operations
    own = {total, kept, new}
    gate, state = _read_kept(operations, kept)
    if gate is None or state is None:
        return None
    begins = [*operations.operands[gate]]
    pending, inverse = [*operations.operands[new]], False
    while pending:  # what is new may be multiplied by a number, as by that of a mask
        value = pending.pop()
        giver = operations.giver(value)
        if giver is None:
            return None
        own.add(giver)
        if operations.kinds[giver] == "Sub" and operations.scalar(giver) == 1:
            inverse = operations.givers(giver) == [gate]
        elif operations.kinds[giver] == "Mul" and operations.scalar(giver) is not None:
            pending += operations.operands[giver]
        elif operations.kinds[giver] == "Relu":
            begins += operations.operands[giver]
        else:
            return None
    if not inverse or len(begins) != _GATES:
        return None
    between, linears, has_more = _walk(blocks, begins, state)
    own |= {gate, *between}.union(*(one.numbers for one in linears))
    if len(linears) != 1 or not has_more or len(own) < len(operations):
        return None
    ends = linears[0].details.in_out
    hidden = ends[0] if ends is not None and ends[1] == _GATES * ends[0] else None
    facts = (f"width {hidden:,}",) if hidden else ()
    details = RecurrentDetails(out_features=hidden)
    return FoundBlock(
        *("recurrent", "Light GRU cell", frozenset(own), total, facts, details, (*linears,))
    )


def _read_kept(operations: Operations, kept: int) -> tuple[int | None, Value | None]:
    """Return what gives the gate by which a state is multiplied, and that state."""
    values = operations.operands[kept]
    for one, other in (values, values[::-1]) if len(values) == 2 else ():
        gate = operations.given_by(one, "Sigmoid")
        if gate is not None and operations.given_by(other, "Sigmoid") is None:
            return gate, other
    return None, None


def _walk(
    blocks: FoundBlocks, begins: list[Value], state: Value
) -> tuple[set[int], list[FoundBlock], bool]:
    """Return what cuts and adds before gates, layers of the state, and whether more is added."""
    operations = blocks.operations
    between: set[int] = set()
    linears: dict[int, FoundBlock] = {}
    has_more = False
    pending = [*begins]
    while pending and len(between) < _MOST_BETWEEN:
        value = pending.pop()
        giver = operations.giver(value)
        linear = blocks.ending(giver, "linear")
        if linear is not None and operations.operands[min(linear.numbers)] == [state]:
            linears[linear.end] = linear
        elif giver is None:
            has_more = True
        elif operations.kinds[giver] == "Add" or operations.nodes[giver].operator.has(*PARTING):
            between.add(giver)
            pending += operations.operands[giver]
        else:
            return set(), [], False
    return between, [*linears.values()], has_more
