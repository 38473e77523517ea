"""From which inputs of a graph its operations follow, and to which of its outputs they lead."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from netloupe.explorer.model import Value
from netloupe.explorer.patterns import Operations

from .outline import Outline
from .pieces import Piece
from .sizes import read_stated_shape

#: of graphs with more inputs, or outputs, it is not told how each of them goes on
_MOST_ENDS = 16
#: what is cut in parts of which each goes its own way has so many axes: noise
_RANK_OF_NOISE = 2
_WEIGHTED = ("convolves", "looks_up", "multiplies", "recurrent")


class TakenInput(NamedTuple):
    """An input of a graph, or one of the parts that it is cut in at once."""

    value: Value
    number: int
    is_part: bool = False


class Reach:
    """Which inputs lead to each operation of an outline, and which outputs follow from it.

    Parameters
    ----------
    outline
        The outline.

    Attributes
    ----------
    inputs
        The inputs that something is computed of.
    sources
        The same, with the parts of vectors that are cut at once in place of these: the bits of
        what operations follow from.
    outputs
        The outputs: the bits of what operations lead to.
    """

    def __init__(self, outline: Outline) -> None:
        self._operations = outline.operations
        graph = outline.graph
        self.inputs = [
            value for value in graph.inputs if value.initializer is None and not value.is_parameter
        ]
        self.outputs = [*graph.outputs]
        self.sources: list[TakenInput] = []
        self._bits: dict[Value, int] = {}
        if max(len(self.inputs), len(self.outputs)) > _MOST_ENDS:
            self.inputs, self.outputs = [], []
        self._number_sources()
        #: by operation, the inputs that it follows from
        self.taken: list[int] = []
        #: and those of them that came through a layer with weights, or through it
        self.passed: list[int] = []
        #: and the outputs that it leads to
        self.given = [0] * len(self._operations)
        self._walk()

    def _number_sources(self) -> None:
        for number, value in enumerate(self.inputs):
            parts = _list_parts(self._operations, value)
            for one in parts or [value]:
                self._bits[one] = 1 << len(self.sources)
                self.sources.append(TakenInput(one, number, bool(parts)))

    def _walk(self) -> None:
        operations = self._operations
        for number, node in enumerate(operations.nodes):
            bits = passed = 0
            for value in operations.operands[number]:
                bits |= self.of_value(value)
                giver = operations.giver(value)
                passed |= self.passed[giver] if giver is not None and giver < number else 0
            self.taken.append(bits)
            self.passed.append(bits if node.operator.has(*_WEIGHTED) else passed)
        for place, value in enumerate(self.outputs):
            giver = operations.giver(operations.source(value))
            if giver is not None:
                self.given[giver] |= 1 << place
        for number in range(len(operations) - 1, -1, -1):
            for giver in operations.givers(number):
                self.given[giver] |= self.given[number]

    def of_value(self, value: Value) -> int:
        """Return the inputs that a value follows from, as bits."""
        own = self._bits.get(value)
        if own is not None:
            return own
        giver = self._operations.giver(value)
        return self.taken[giver] if giver is not None and giver < len(self.taken) else 0

    def passed_of(self, value: Value) -> int:
        """Return the inputs that came through a layer with weights on the way to a value."""
        giver = self._operations.giver(value)
        return self.passed[giver] if giver is not None else 0

    def taken_by(self, piece: Piece) -> int:
        """Return the inputs that a block follows from, as bits."""
        return join_all(self.taken[number] for part in piece.parts for number in part.numbers)

    def given_by(self, piece: Piece) -> int:
        """Return the outputs that a block leads to, as bits."""
        return self.given[piece.part.end]


def join_all(masks: Iterable[int]) -> int:
    """Return the bits of all masks."""
    found = 0
    for mask in masks:
        found |= mask
    return found


def _list_parts(operations: Operations, value: Value) -> list[Value]:
    """Return the parts that a vector is cut in, where nothing else takes it; else nothing."""
    shape = read_stated_shape(value)
    users = value.users
    if shape is None or len(shape) != _RANK_OF_NOISE or len(users) != 1:
        return []
    node = users[0]
    parts = [one for one in node.outputs if one is not None]
    is_cut = node.operator.has("splits") and all(operations.giver(p) is not None for p in parts)
    return parts if is_cut else []


def list_bits(mask: int) -> list[int]:
    """Return the numbers of the bits that are set."""
    return [place for place in range(mask.bit_length()) if mask >> place & 1]


def join_masks(masks: Sequence[int], whole: int) -> list[int]:
    """Return masks with those together that have a bit in common, without those of the whole."""
    joined: list[int] = []
    for mask in masks:
        own = mask & whole
        if own in (0, whole):
            continue
        rest = []
        for one in joined:
            if one & own:
                own |= one
            else:
                rest.append(one)
        joined = [*rest, own]
    return joined
