"""What the clauses of a sentence take from one another, and how that is joined on the way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from netloupe.explorer.costs.value_facts import find_value_facts
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
_MULTIPLIED = "multiplied"
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
    masks
        Those of which some are multiplied with what is between 0 and 1.
    """

    givers: list[Ends] = field(default_factory=list)
    outputs: list[Ends] = field(default_factory=list)
    joints: dict[Ends, str] = field(default_factory=dict)
    masks: set[Ends] = field(default_factory=set)


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
    found = _Walk(outline, called, clauses).graph
    is_circle = any(end >= place for place, ends in enumerate(found.givers) for end in ends)
    return None if is_circle else found


class _Walk:
    """Walks the operations of an outline in order, and notes of which clauses each is made."""

    def __init__(self, outline: Outline, called: Called, clauses: Sequence[Clause]) -> None:
        self._outline = outline
        self._operations = outline.operations
        inputs = called.reach.inputs
        self._inputs = {value: _FIRST_INPUT - number for number, value in enumerate(inputs)}
        self._takes: list[set[int]] = [set() for _ in clauses]
        #: inputs that enter a clause alone
        self._alone: list[set[int]] = [set() for _ in clauses]
        #: by operation, of what it is made
        self._made: list[Ends] = []
        #: operations that give what was reduced of inputs, as a mean is
        self._statistics: set[int] = set()
        self.graph = ClauseGraph()
        owners = _find_owners(called, clauses)
        for number in range(len(self._operations)):
            taken = [self._read(value) for value in self._operations.operands[number]]
            own = owners.get(number)
            if own is None:
                self._made.append(self._join(number, taken))
            else:
                self._enter(number, own, taken)
                self._made.append(frozenset({own}))
        for takes, alone in zip(self._takes, self._alone, strict=True):
            # what enters inside of a block is no more than its mask, or a state
            self.graph.givers.append(frozenset(takes - alone if has_clauses(takes) else takes))
        self.graph.outputs = [self._read(value) for value in outline.graph.outputs]

    def _read(self, value: Value) -> Ends:
        source = self._operations.source(value)
        number = self._operations.giver(source)
        if number is not None:
            return self._made[number] if number < len(self._made) else frozenset()
        return frozenset({self._inputs[source]}) if source in self._inputs else frozenset()

    def _enter(self, number: int, own: int, taken: Sequence[Ends]) -> None:
        """Note what a clause takes."""
        joints = self.graph.joints
        ends = [_leave_out_inputs(one) if joints.get(one) == _MULTIPLIED else one for one in taken]
        others = [one - {own} for one in ends]
        whole = frozenset[int]().union(*others)
        self._takes[own] |= whole
        self._alone[own] |= {end for one in taken if not has_clauses(one) for end in one}
        if len({one for one in others if has_clauses(one)}) > 1:
            self._add_joint(whole, _name_own_joint(self._outline, number))

    def _join(self, number: int, taken: Sequence[Ends]) -> Ends:
        """Return of what an operation is made that is in no clause, and note how it joins that.

        A mean or a deviation of an input is not the input: what has these put back in the end was
        only standardized (T. Kim and others, Reversible Instance Normalization, 2022, equation 2).
        """
        taken = self._leave_out_statistics(number, taken)
        whole = frozenset[int]().union(*taken)
        word = _name_joint(self._outline, number)
        if word == "added" and sum(map(bool, taken)) > 1:  # what is added to what goes into it
            whole -= frozenset[int]().union(*(self._takes[end] for end in whole if end >= 0))
        is_mask = word != _MULTIPLIED or not self._is_even(number)
        if word not in _JOINING and has_clauses(whole) and is_mask:
            whole = _leave_out_inputs(whole)
        if word == _MULTIPLIED and self._is_gated(number):
            self.graph.masks.add(whole)
        if len(whole) > 1 and whole not in taken:
            self._add_joint(whole, word)
        return whole

    def _leave_out_statistics(self, number: int, taken: Sequence[Ends]) -> Sequence[Ends]:
        """Return what an operation takes, without statistics of inputs beside what clauses give."""
        operations = self._operations
        is_statistic = [
            operations.giver(value) in self._statistics for value in operations.operands[number]
        ]
        if any(map(has_clauses, taken)):
            return [
                frozenset() if is_one else one
                for one, is_one in zip(taken, is_statistic, strict=True)
            ]
        if all(is_statistic) or operations.nodes[number].operator.has("reduces"):
            self._statistics.add(number)
        return taken

    def _is_gated(self, number: int) -> bool:
        """Return whether a product is with what is between two bounds."""
        givers = self._operations.givers(number)
        return any(self._operations.nodes[giver].operator.has("squashes") for giver in givers)

    def _is_even(self, number: int) -> bool:
        """Return whether both operands have one size: of a mask of places, each channel has one."""
        facts = find_value_facts(self._outline.graph.model)
        values = [one for one in self._operations.nodes[number].inputs if one is not None]
        sizes = {facts.find_dims(value) for value in values}
        return len(sizes) == 1 and None not in sizes

    def _add_joint(self, ends: Ends, word: str) -> None:
        joints = self.graph.joints
        joints[ends] = word if joints.get(ends, word) == word else ""


def has_clauses(ends: Iterable[int]) -> bool:
    """Return whether any of some ends is a clause."""
    return any(end >= 0 for end in ends)


def _leave_out_inputs(ends: Ends) -> Ends:
    """Return the clauses among some ends, where there are any."""
    return frozenset(end for end in ends if end >= 0) if has_clauses(ends) else ends


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
    return _MULTIPLIED if operator.has("multiplies_elements") else ""
