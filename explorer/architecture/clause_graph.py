"""What the clauses of a sentence take from one another, and how that is joined on the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from netloupe.explorer.model import Value

from .calls import Called
from .clause import Clause
from .outline import Outline
from .pieces import CROSS_ATTENTION

#: clauses, or inputs, of which something is made
Ends = frozenset[int]
#: of more clauses no one sees how they are joined
_MOST_CLAUSES = 24
#: an input with this number is the first one; further ones count down from it
_FIRST_INPUT = -1
#: ways in which an input goes on with what others give, and is no mask
_JOINING = frozenset({"added", "concatenated"})
_ATTENDING = frozenset({"attention", "transformer"})


@dataclass
class ClauseGraph:
    """Of each clause, and of each output, what it takes.

    Parameters
    ----------
    givers
        Of each clause the clauses, and the inputs as negative numbers, that it takes from.
    outputs
        The same of each output of the graph.
    joints
        How what several give is joined before it is taken, by these: ``added``; "" where they are
        joined in several ways, or in one without a word.
    """

    givers: list[Ends] = field(default_factory=list)
    outputs: list[Ends] = field(default_factory=list)
    joints: dict[Ends, str] = field(default_factory=dict)


def input_number(end: int) -> int:
    """Return which input of a graph an end is that is none of its clauses."""
    return _FIRST_INPUT - end


def find_clause_graph(
    outline: Outline, called: Called, clauses: Sequence[Clause]
) -> ClauseGraph | None:
    """Return what clauses take from one another; None where some of them do in a circle.

    Parameters
    ----------
    outline
        Of the graph.
    called
        All blocks, those that share weights as well.
    clauses
        What is told of them, in order.
    """
    if len(clauses) > _MOST_CLAUSES:
        return None
    owners = _find_owners(called, clauses)
    inputs = called.reach.inputs
    numbers = {value: _FIRST_INPUT - number for number, value in enumerate(inputs)}
    operations = outline.operations
    made: list[Ends] = []
    found = ClauseGraph()
    takes: list[set[int]] = [set() for _ in clauses]
    begins: list[set[int]] = [set() for _ in clauses]

    def read(value: Value) -> Ends:
        source = operations.source(value)
        number = operations.giver(source)
        if number is not None:
            return made[number] if number < len(made) else frozenset()
        return frozenset({numbers[source]}) if source in numbers else frozenset()

    for number in range(len(operations)):
        taken = [read(value) for value in operations.operands[number]]
        whole = frozenset[int]().union(*taken)
        own = owners.get(number)
        if own is not None:
            takes[own] |= whole - {own}
            parts = {one - {own} for one in taken if has_clauses(one - {own})}
            if len(parts) > 1:
                _add_joint(found, whole - {own}, _name_own_joint(outline, number))
            begins[own] |= {end for one in taken if not has_clauses(one) for end in one}
            made.append(frozenset({own}))
            continue
        word = _name_joint(outline, number)
        if word == "added":
            inner = frozenset().union(*(takes[end] for end in whole if end >= 0))
            whole -= inner  # what is added to what goes into it
        if word not in _JOINING and has_clauses(whole):
            whole = frozenset(end for end in whole if end >= 0)  # a mask, or a length
        if len(whole) > 1 and whole not in taken:
            _add_joint(found, whole, word)
        made.append(whole)
    for own, ends in enumerate(takes):
        # what enters inside of a block is no more than its mask, or a state
        clauses_before = frozenset(end for end in ends if end >= 0)
        found.givers.append(frozenset(ends - begins[own]) if clauses_before else frozenset(ends))
    found.outputs = [read(value) for value in outline.graph.outputs]
    return None if any(end >= place for place, one in enumerate(takes) for end in one) else found


def _add_joint(graph: ClauseGraph, ends: Ends, word: str) -> None:
    graph.joints[ends] = word if graph.joints.get(ends, word) == word else ""


def has_clauses(ends: Ends) -> bool:
    """Return whether any of some ends is a clause."""
    return any(end >= 0 for end in ends)


def _find_owners(called: Called, clauses: Sequence[Clause]) -> dict[int, int]:
    """Return of each operation the clause that tells it, or another call of its weights."""
    places = {id(piece): place for place, one in enumerate(clauses) for piece in one.scope}
    by_weights = {
        own: places[id(piece)] for piece, own in called.pairs if own and id(piece) in places
    }
    owners: dict[int, int] = {}
    for piece, own in called.pairs:
        place = places.get(id(piece), by_weights.get(own))
        if place is not None:
            owners.update((number, place) for part in piece.parts for number in part.numbers)
    return owners


def _name_own_joint(outline: Outline, number: int) -> str:
    """Return how a block itself joins what it takes: attention to another value."""
    part = outline.owner(number)
    if part.kind in _ATTENDING:
        return "in cross-attention" if part.name == CROSS_ATTENTION else ""
    return _name_joint(outline, number)


def _name_joint(outline: Outline, number: int) -> str:
    operator = outline.operations.nodes[number].operator
    if operator.has("adds"):
        return "added"
    if operator.has("joins"):
        return "concatenated"
    return "multiplied" if operator.has("multiplies_elements") else ""
