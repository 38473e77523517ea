"""Inputs that are added to, multiply or stand beside what goes on, again and again.

So a step of a diffusion, a class or what is heard enters every block (W. Peebles and S. Xie,
Scalable Diffusion Models with Transformers, 2023, figure 3; Z. Kong and others, DiffWave, 2021,
figure 2; A. Brock and others, BigGAN, 2019, figure 15).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from netloupe.explorer.model import Value
from netloupe.explorer.patterns import Operations

from .outline import Outline, OutlinePart
from .pieces import Piece
from .reach import Reach, list_bits

#: what enters so often is no input of one place
_LEAST_ENTRIES = 4
#: what enters a place came through so many operations of the one before
_MOST_BETWEEN = 100
#: kinds of block that take what they attend to
_ATTENDING = frozenset({"attention", "transformer"})
_JOINING = ("adds", "joins", "multiplies_elements")
#: kinds of block of graphs, whose edges enter each of them
OF_GRAPHS = frozenset(
    {"coordinates", "edge softmax", "edges", "graph convolution", "message passing"}
)


@dataclass(frozen=True)
class Conditions:
    """What enters a chain of blocks again and again.

    Parameters
    ----------
    sources
        As bits: all inputs, or parts of such, that do so.
    inputs
        The numbers of these inputs, in order.
    parts
        Those of which one part each enters.
    entries
        The parts of the outline where something enters.
    entered
        The identities of the blocks that something enters.
    way
        How it enters, in words, where it is no condition but a path beside the other; else "".
    """

    sources: int = 0
    inputs: tuple[int, ...] = ()
    parts: frozenset[int] = frozenset()
    entries: tuple[OutlinePart, ...] = ()
    entered: frozenset[int] = frozenset()
    way: str = ""

    @property
    def is_counted(self) -> bool:
        """Whether the way tells at how many places something enters."""
        return " times " in self.way or " twice " in self.way


class _Meeting(NamedTuple):
    """A part where values meet, these, and the inputs that each of them follows from, as bits."""

    part: OutlinePart
    values: Sequence[Value]
    ways: Sequence[int]


@dataclass
class _Entry:
    """A part where something enters, what gives it, and of which inputs it is, as bits."""

    part: OutlinePart
    giver: int
    bits: int = 0


def find_conditions(outline: Outline, reach: Reach, pieces: Sequence[Piece]) -> Conditions:
    """Return the inputs that enter four places or more, one behind the other.

    Each of them comes through a layer with weights, and between two places is a block with weights
    of its own, so that steps of a loop are none.
    """
    if len(reach.sources) < 2:
        return Conditions()
    told = sum({1 << part.place for piece in pieces for part in piece.parts})
    meetings = [*_list_meetings(outline, reach)]
    best = Conditions()
    for main in range(len(reach.sources)):
        found = _find_entering(outline, reach, main, meetings, told)
        if (len(found.inputs), len(found.entries)) > (len(best.inputs), len(best.entries)):
            best = found
    return best


def _list_meetings(outline: Outline, reach: Reach) -> Iterator[_Meeting]:
    """Yield where values meet that do not follow from the same inputs."""
    operations = outline.operations
    for number, node in enumerate(operations.nodes):
        values = operations.operands[number]
        if len(values) < 2 or not node.operator.has(*_JOINING):
            continue
        ways = [reach.of_value(value) for value in values]
        part = outline.owner(number)
        if len({*ways}) > 1 and part.kind not in _ATTENDING:
            yield _Meeting(part, values, ways)


def _find_entering(
    outline: Outline, reach: Reach, main: int, meetings: Sequence[_Meeting], told: int
) -> Conditions:
    """Return what enters the chain that begins at one input."""
    operations = outline.operations
    own = 1 << main
    found: dict[int, dict[OutlinePart, _Entry]] = {}
    for part, values, ways in meetings:
        before = next((way for way in ways if way & own), 0)
        for value, bits in zip(values, ways, strict=True) if before else ():
            giver = operations.giver(value)
            if bits & own or giver is None:
                continue
            for bit in list_bits(bits & reach.passed_of(value)):
                entries = found.setdefault(reach.sources[bit].number, {})
                if entries or not before >> bit & 1:
                    entries.setdefault(part, _Entry(part, giver)).bits |= 1 << bit
    sources = 0
    inputs = []
    parts = set()
    every: dict[OutlinePart, None] = {}
    for number, entries in found.items():
        if _count_in_chain(operations, entries.values(), told) < _LEAST_ENTRIES:
            continue
        inputs.append(number)
        every |= dict.fromkeys(entries)
        for entry in entries.values():
            sources |= entry.bits
        if reach.sources[main].number == number or any(
            reach.sources[bit].is_part and reach.sources[bit].number == number
            for bit in list_bits(sources)
        ):
            parts.add(number)
    return Conditions(sources, tuple(sorted(inputs)), frozenset(parts), tuple(every))


def _count_in_chain(operations: Operations, entries: Iterable[_Entry], told: int) -> int:
    """Return how many places follow one another, each with more blocks before it.

    What enters does not itself go on from place to place.
    """
    count = 0
    last: _Entry | None = None
    blocks = -1
    for entry in sorted(entries, key=lambda entry: entry.part.place):
        before = (entry.part.before & told).bit_count()
        if last is None or (entry.part.follows(last.part) and before > blocks):
            if last is not None and _leads(operations, last.giver, entry.giver):
                continue
            count += 1
            last, blocks = entry, before
    return count


def _leads(operations: Operations, one: int, other: int) -> bool:
    """Return whether what one operation gives is near before another one."""
    pending, seen = [other], {other}
    while pending and len(seen) < _MOST_BETWEEN:
        for giver in operations.givers(pending.pop()):
            if giver == one:
                return True
            if giver > one and giver not in seen:
                seen.add(giver)
                pending.append(giver)
    return False
