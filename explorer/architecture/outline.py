"""What a graph consists of, block by block in the order of its file, and what follows from what."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from netloupe.explorer.model import Graph, Node, Value
from netloupe.explorer.operators import Operator
from netloupe.explorer.patterns import (
    BlockDetails,
    FeatureDetails,
    FoundBlock,
    FoundBlocks,
    Operations,
    find_blocks,
    find_graph_context,
)
from netloupe.explorer.patterns.convolution_details import (
    ConvolutionDetails,
    ResidualDetails,
    StridedDetails,
)
from netloupe.explorer.patterns.details import NO_DETAILS, EmbeddingDetails
from netloupe.explorer.patterns.transformer_details import ExpertsDetails, MlpDetails
from netloupe.explorer.progress import step

#: kinds of block that carry the network; what lies between them joins and arranges
MAIN_KINDS = frozenset(
    {"attention", "conv", "embedding", "excitation", "experts", "inverted", "linear", "mlp"}
    | {"mixer", "recurrent", "residual", "separable"}
)


#: so many wires are looked at by all rules together
_MOST_WORK = 3_000_000


@dataclass(eq=False)
class OutlinePart:
    """A block of a known kind, or one operation that belongs to none.

    Parameters
    ----------
    kind
        What patterns call it (``attention``, ``conv`` …), or the operator: ``MaxPool``.
    numbers
        Its operations in the outline.
    end
        The operation that gives its result.
    name, details, parts
        As of :class:`~netloupe.explorer.patterns.FoundBlock`.
    place
        Where it stands among the parts of the outline.
    before
        A bit for each part, by its place, that leads to this one.
    operator
        Of one operation that belongs to no block; None for blocks and calls.
    facts
        As of :class:`~netloupe.explorer.patterns.FoundBlock`.
    """

    kind: str
    numbers: frozenset[int]
    end: int
    name: str = ""
    details: BlockDetails = NO_DETAILS
    parts: tuple[FoundBlock, ...] = ()
    place: int = 0
    before: int = 0
    operator: Operator | None = None
    facts: tuple[str, ...] = ()

    def has(self, *traits: str) -> bool:
        """Return whether it is one operation whose operator has any of some traits."""
        return self.operator is not None and self.operator.has(*traits)

    def follows(self, other: OutlinePart) -> bool:
        """Return whether another part leads to this one."""
        return bool(self.before >> other.place & 1)

    @property
    def in_features(self) -> int:
        """How many features it takes; 0 where that is not known."""
        return self.details.read_as(FeatureDetails).in_features or 0

    @property
    def out_features(self) -> int:
        """How many features it gives; 0 where that is not known."""
        return self.details.read_as(FeatureDetails).out_features or 0

    @property
    def widths(self) -> tuple[int, ...]:
        """How many features an MLP, or each of several experts, has before and behind each layer.

        Nothing where they are not known.
        """
        details = self.details
        return details.widths if isinstance(details, MlpDetails | ExpertsDetails) else ()

    @property
    def rows(self) -> int:
        """How many rows the table of an embedding has; 0 where that is not known."""
        return self.details.read_as(EmbeddingDetails).rows or 0

    @property
    def row_width(self) -> int:
        """How many features each of these rows has; 0 where that is not known."""
        return self.details.read_as(EmbeddingDetails).width or 0

    @property
    def kernel(self) -> tuple[int, ...]:
        """The size of a convolution's kernel; nothing where it is not known."""
        return self.details.read_as(ConvolutionDetails).kernel

    @property
    def stride(self) -> int | tuple[int, ...] | None:
        """Of how many places one is left; None where all are."""
        return self.details.read_as(StridedDetails).stride

    @property
    def is_pointwise(self) -> bool:
        """Whether it is a convolution that is a linear layer at each place."""
        return self.kind == "conv" and self.details.read_as(ConvolutionDetails).is_pointwise

    @property
    def is_depthwise(self) -> bool:
        """Whether it is a convolution that takes each channel alone."""
        return self.kind == "conv" and self.details.read_as(ConvolutionDetails).is_depthwise

    @property
    def is_transposed(self) -> bool:
        """Whether it is a transposed convolution."""
        return self.details.read_as(ConvolutionDetails).transposed

    @property
    def is_pool(self) -> bool:
        """Whether it makes one place of the several in each window."""
        return self.has("pools") and not self.has("pools_all")

    @property
    def classifies(self) -> bool:
        """Whether it makes classes of what the last layer gives."""
        return (
            self.has("finds_largest", "distributes")
            or self.kind == "ZipMap"
            or self.name == "Softmax"
        )

    @property
    def enlarges(self) -> bool:
        """Whether it gives more places than it takes."""
        is_larger = self.kind == "conv" and self.is_transposed and self.stride is not None
        return self.has("resamples") or is_larger or self._enlarges

    @property
    def is_strided(self) -> bool:
        """Whether it is a convolution that gives fewer places than it takes."""
        return self.stride is not None and not (self.is_transposed or self._enlarges)

    @property
    def _enlarges(self) -> bool:
        return self.details.read_as(ResidualDetails).enlarges


class TooMuchError(ValueError):
    """A graph is wired so that its rules would take too long."""


class Outline:
    """The parts of a graph, and how they are wired.

    Parameters
    ----------
    graph
        A graph.
    nodes
        Those of its nodes that are looked at, producers first.

    Attributes
    ----------
    sums
        The operations of each sum around several blocks that stand in its place.
    """

    def __init__(self, graph: Graph, nodes: Sequence[Node]) -> None:
        step()
        self.graph = graph
        self.operations = Operations(nodes, find_graph_context(graph))
        step()
        self.blocks: FoundBlocks = find_blocks(self.operations)
        self.sums: list[frozenset[int]] = []
        self.parts: list[OutlinePart] = []
        for entry in self.blocks.list_outermost():
            if isinstance(entry, FoundBlock):
                self.parts.append(make_block_part(entry))
            else:
                self.parts.append(self.make_single(entry))
        self._work = 0
        self._number()

    def _count_work(self, count: int) -> None:
        """Note how many wires were looked at, for each time that they are."""
        self._work += count
        if self._work > _MOST_WORK:
            raise TooMuchError

    def _number(self) -> None:
        self.parts.sort(key=lambda part: part.end)
        self._owners: dict[int, OutlinePart] = {}
        for place, part in enumerate(self.parts):
            part.place = place
            for number in part.numbers:
                self._owners[number] = part
        # of each operation all parts that lead to it; a part's own operations know of each other
        # by what its end follows from
        leading = [0] * len(self.operations)
        for number in range(len(self.operations)):
            for giver in self.operations.givers(number):
                if giver < number:
                    leading[number] |= leading[giver] | 1 << self._owners[giver].place
        for part in self.parts:
            before = 0
            for number in part.numbers:
                before |= leading[number]
            part.before = before & ~(1 << part.place)

    def make_single(self, number: int) -> OutlinePart:
        """Return the part that one operation is which belongs to no block."""
        node = self.operations.nodes[number]
        is_call = node.function is not None
        kind = "call" if is_call else self.operations.kinds[number]
        operator = node.operator if kind and not is_call else None
        return OutlinePart(kind, frozenset({number}), number, operator=operator)

    def replace(self, part: OutlinePart, inner: Iterable[OutlinePart]) -> None:
        """Put several parts that have the same operations in place of one."""
        self.parts = [one for one in self.parts if one is not part]
        self.parts += inner
        self._number()

    def merge(self, merged: Iterable[tuple[Sequence[OutlinePart], OutlinePart]]) -> None:
        """Put one part in place of several, for each pair; a part is merged once."""
        gone: set[int] = set()
        for old, new in merged:
            if gone.isdisjoint(map(id, old)):
                gone.update(map(id, old))
                self.parts.append(new)
        self.parts = [part for part in self.parts if id(part) not in gone]
        self._number()

    @property
    def main(self) -> list[OutlinePart]:
        """The parts that carry the network, in order."""
        return [part for part in self.parts if part.kind in MAIN_KINDS]

    def of_kind(self, *kinds: str) -> list[OutlinePart]:
        """Return the parts of some kinds, in order."""
        self._count_work(len(self.parts))
        return [part for part in self.parts if part.kind in kinds]

    def owner(self, number: int) -> OutlinePart:
        """Return the part that an operation belongs to."""
        return self._owners[number]

    def giver(self, value: Value) -> OutlinePart | None:
        """Return the part that gives a value; None where it comes from elsewhere."""
        number = self.operations.giver(self.operations.source(value))
        return self._owners[number] if number is not None else None

    def operands(self, part: OutlinePart) -> list[Value]:
        """Return what a part takes from others, as it was before it was arranged."""
        self._count_work(len(part.numbers))
        taken: dict[Value, None] = {}
        for number in sorted(part.numbers):
            for value in self.operations.operands[number]:
                if self.operations.giver(value) not in part.numbers:
                    taken[value] = None
        return list(taken)

    def givers(self, part: OutlinePart) -> list[OutlinePart]:
        """Return the parts that a part takes from, each once."""
        operands = self.operands(part)
        self._count_work(len(operands))
        found = dict.fromkeys(self.giver(value) for value in operands)
        return [giver for giver in found if giver is not None]

    def share_start(self, one: OutlinePart, two: OutlinePart) -> bool:
        """Return whether two parts take the same value, or norms of the same value."""
        starts = []
        for part in (one, two):
            values = self.operands(part)[:1]
            giver = self.giver(values[0]) if values else None
            if giver is not None and giver.kind == "norm":
                values = self.operands(giver)[:1]
            starts += values
        return len(starts) == 2 and starts[0] is starts[1]

    def users(self, part: OutlinePart) -> list[OutlinePart]:
        """Return the parts that take a part's result, in order, each once."""
        self._count_work(len(self.operations.users[part.end]))
        numbers = sorted(user for user in self.operations.users[part.end] if user >= 0)
        found = dict.fromkeys(self._owners[number] for number in numbers)
        return [user for user in found if user is not part]

    def only_user(self, part: OutlinePart) -> OutlinePart | None:
        """Return the one part that takes a part's result; None for several."""
        users = self.users(part)
        return users[0] if len(users) == 1 else None

    def nodes(self, parts: Iterable[OutlinePart]) -> tuple[Node, ...]:
        """Return the nodes of some parts; what only arranges is left out."""
        numbers = sorted({number for part in parts for number in part.numbers})
        return tuple(self.operations.nodes[number] for number in numbers)


def make_block_part(found: FoundBlock) -> OutlinePart:
    """Return the part that a block is."""
    return OutlinePart(
        found.kind,
        found.numbers,
        found.end,
        found.name,
        found.details,
        found.parts,
        facts=found.facts,
    )
