"""Whether what is said to enter a stack again and again does so, walked anew from the raw values.

A condition is one value, or what each block makes of it, that meets what goes on in blocks with
weights of their own (E. Perez and others, FiLM, 2018, section 2). What is itself a chain of blocks,
of which each step meets another one, is a path beside the other: lateral connections (C.
Feichtenhofer and others, SlowFast Networks, 2019, section 3.3).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from .conditions import Conditions
from .outline import Outline, OutlinePart
from .pieces import Piece, is_told
from .reach import Reach, join_all

#: what enters fewer blocks with weights of their own conditions no stack
_LEAST_ENTERED = 4
#: a chain of blocks has been gone on so often between the places that it enters
_LEAST_STEPS = 3
#: the nearest blocks behind a place are looked for so far
_MOST_NEAR = 60
_TWICE = 2


@dataclass(frozen=True)
class Entrance:
    """Where something enters.

    Parameters
    ----------
    number
        The operation where it meets what goes on.
    bits
        The inputs that it follows from.
    giver
        The operation that gives it; None for an input itself.
    """

    number: int
    bits: int
    giver: int | None


def find_entrances(outline: Outline, reach: Reach, sources: int) -> Iterator[Entrance]:
    """Yield where values that follow from some inputs alone meet others, in order."""
    operations = outline.operations
    for number in range(len(operations)):
        if not reach.taken[number] & sources or not reach.taken[number] & ~sources:
            continue
        values = operations.operands[number]
        ways = [reach.of_value(value) for value in values]
        if not any(way & ~sources for way in ways):
            continue
        for value, way in zip(values, ways, strict=True):
            if way and not way & ~sources:
                yield Entrance(number, way, operations.giver(value))
                break


def confirm_conditions(
    outline: Outline, reach: Reach, pieces: Sequence[Piece], conditions: Conditions
) -> Conditions:
    """Return conditions with those inputs alone that enter enough blocks, and how they do so.

    Parameters
    ----------
    outline
        Of the graph.
    reach
        What follows from what.
    pieces
        All blocks, once where they share weights: those of a loop are no stack.
    conditions
        What is claimed.
    """
    sources = conditions.sources
    if not sources:
        return conditions
    found = [*find_entrances(outline, reach, sources)]
    entered = EnteredBlocks(outline, found, pieces)
    kept: list[int] = []
    for number in conditions.inputs:
        own = sum(1 << bit for bit, one in enumerate(reach.sources) if one.number == number)
        at = {id(piece): piece for piece in entered.list_entered(own & sources)}
        if sum(piece.fold[1] for piece in at.values()) >= _LEAST_ENTERED:
            kept.append(number)
        else:
            sources &= ~own
    if tuple(kept) != conditions.inputs:
        rest = replace(conditions, inputs=tuple(kept), sources=sources)
        rest = replace(rest, parts=conditions.parts & {*kept})
        return confirm_conditions(outline, reach, pieces, rest) if kept else Conditions()
    way = ""
    if _goes_on(outline, reach, sources, found):
        way = _name_way(outline, found)
        if not way:
            return Conditions()
    return replace(conditions, way=way, entered=frozenset(entered.list_ids()))


class EnteredBlocks:
    """Which blocks something enters: in them, or on the way from the blocks before.

    Parameters
    ----------
    outline
        Of the graph.
    entrances
        Where something enters.
    pieces
        The blocks.
    """

    def __init__(
        self, outline: Outline, entrances: Iterable[Entrance], pieces: Sequence[Piece]
    ) -> None:
        by_part = {id(part): piece for piece in pieces for part in piece.parts}
        near: dict[int, list[OutlinePart]] = {}
        self._found: list[tuple[int, Piece]] = []
        for entrance in entrances:
            part = outline.owner(entrance.number)
            if id(part) not in near:
                near[id(part)] = [*_find_nearest(outline, part)]
            held = [by_part[id(one)] for one in near[id(part)] if id(one) in by_part]
            self._found += [(entrance.bits, piece) for piece in held]

    def list_entered(self, bits: int) -> list[Piece]:
        """Return the blocks that what follows from some inputs enters; some more than once."""
        return [piece for own, piece in self._found if own & bits]

    def list_ids(self) -> Iterator[int]:
        """Yield the identities of all blocks that something enters."""
        for _, piece in self._found:
            yield id(piece)


def _find_nearest(outline: Outline, part: OutlinePart) -> Iterator[OutlinePart]:
    """Yield the first parts behind one that are told, or the part itself."""
    pending, seen = [part], {id(part)}
    for _ in range(_MOST_NEAR):
        if not pending:
            return
        current = pending.pop(0)
        if is_told(current):
            yield current
            continue
        for user in outline.users(current):
            if id(user) not in seen:
                seen.add(id(user))
                pending.append(user)


def _goes_on(outline: Outline, reach: Reach, sources: int, entrances: Sequence[Entrance]) -> bool:
    """Return whether what enters is a chain of blocks that is longer at one place than at another.

    What is made of it for one place alone is no part of that chain.
    """
    held = _list_blocks(outline, reach, sources)
    masks = {held[one.giver] for one in entrances if one.giver is not None}
    once = again = 0
    for mask in masks:
        again |= once & mask
        once |= mask
    chain = [0]
    for mask in sorted({mask & again for mask in masks}, key=int.bit_count):
        if mask & chain[-1] == chain[-1] != mask:
            chain.append(mask)
    return len(chain) > _LEAST_STEPS


def _list_blocks(outline: Outline, reach: Reach, sources: int) -> dict[int, int]:
    """Return by operation that follows from some inputs alone which blocks are before, as bits."""
    operations = outline.operations
    places: dict[int, int] = {}
    held: dict[int, int] = {}
    for number, bits in enumerate(reach.taken):
        if not bits or bits & ~sources:
            continue
        mask = join_all(held.get(giver, 0) for giver in operations.givers(number))
        part = outline.owner(number)
        if is_told(part):
            mask |= 1 << places.setdefault(part.place, len(places))
        held[number] = mask
    return held


def _name_way(outline: Outline, entrances: Sequence[Entrance]) -> str:
    """Return how a path beside another one enters it, in words; "" where in several ways."""
    operators = [outline.operations.nodes[one.number].operator for one in entrances]
    count = len({one.number for one in entrances})
    times = "twice" if count == _TWICE else f"{count:,} times"
    if all(operator.has("joins") for operator in operators):
        return f"concatenated {times} with"
    if not all(operator.has("adds", "multiplies_elements") for operator in operators):
        return ""
    if any(operator.has("multiplies_elements") for operator in operators):
        return "modulated by"
    return f"summed {times} with"
