"""Parts of a quantized model that compute in floats, and what that costs: why int8 is not faster.

Nodes that compute in floats and hand floats to one another are an island. Its border are the values
that are dequantized for it, and those that are quantized behind it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from netloupe.explorer.checks.folding import mask_digits
from netloupe.explorer.checks.subject import Subject
from netloupe.explorer.costs.analysis import Analysis, GraphRun
from netloupe.explorer.dataflow import takes_computed
from netloupe.explorer.model import Graph, Node, Value, is_constant
from netloupe.explorer.progress import step
from netloupe.explorer.quantization.layout import find_dtype

from .coverage import is_quantized_next

_STEP = 10_000
#: what tells how the data of an operator are quantized
_OF_CODES = ("data.scale", "data.zero_point", "factor1.scale", "factor1.zero_point")
#: floats that are neither multiplied nor added
_SETTINGS = ("bound", "fill", "setting")
_MOST_PATHS = 20


@dataclass(frozen=True, slots=True)
class FloatIsland:
    """Connected nodes that compute in floats between quantized ones.

    Parameters
    ----------
    paths
        The first nodes of it, at most 20.
    nodes
        How many there are.
    operators
        How many of each operator, the most frequent first.
    macs
        Multiplications in it, each with an addition; None where they depend on symbols.
    other_operations
        Other operations, roughly; None likewise.
    border_bytes
        Bytes of the floats that are dequantized for it and quantized behind it; None where the size
        of one is not known.
    borders
        How many such values there are.
    count
        How many islands of the same operators and cost there are; the numbers above are of each.
    """

    paths: tuple[str, ...]
    nodes: int
    operators: Mapping[str, int]
    macs: int | None
    other_operations: int | None
    border_bytes: int | None
    borders: int
    count: int = 1


def find_islands(subject: Subject, analysis: Analysis) -> tuple[FloatIsland, ...]:
    """Return the islands of floats in all graphs that run, those first that cost most.

    Alike islands are told once, with their number. Empty where nothing is quantized at borders.
    """
    found: dict[object, FloatIsland] = {}
    counts: Counter[object] = Counter()
    for graph in subject.graphs:
        frames = analysis.frames.get(graph)
        if frames and _has_border(graph):
            for island in _Islands(graph, frames[0], analysis, subject).find():
                key = (
                    mask_digits(island.paths[0]),
                    tuple(sorted(island.operators.items())),
                    island.macs,
                    island.border_bytes,
                )
                found.setdefault(key, island)
                counts[key] += 1
    folded = [_repeat(island, counts[key]) for key, island in found.items()]
    return tuple(sorted(folded, key=_weigh, reverse=True))


def _repeat(island: FloatIsland, count: int) -> FloatIsland:
    return FloatIsland(
        island.paths,
        island.nodes,
        island.operators,
        island.macs,
        island.other_operations,
        island.border_bytes,
        island.borders,
        count,
    )


def _weigh(island: FloatIsland) -> tuple[int, int, int]:
    macs, size = island.macs or 0, island.border_bytes or 0
    return macs * island.count, size * island.count, (island.other_operations or 0) * island.count


def _has_border(graph: Graph) -> bool:
    return any(node.operator.has("quantizes") or is_integer_node(node) for node in graph.nodes)


def is_integer_node(node: Node) -> bool:
    """Return whether an operator computes with codes by its definition."""
    operator = node.operator
    if operator.has("quantizes", "dequantizes"):
        return False
    takes_codes = operator.operands.find(*_OF_CODES) is not None
    return takes_codes or node.graph.dialect.is_self_quantized(node)


class _Islands:
    def __init__(self, graph: Graph, frame: GraphRun, analysis: Analysis, subject: Subject) -> None:
        self._graph = graph
        self._frame = frame
        self._analysis = analysis
        self._subject = subject
        self._floats = [
            self._is_float_node(number, node) for number, node in enumerate(graph.nodes)
        ]
        self._parents = [*range(len(graph.nodes))]

    def find(self) -> Iterator[FloatIsland]:
        graph = self._graph
        for node in graph.nodes:
            if self._floats[graph.index_of(node)]:
                for value in node.outputs:
                    if value is not None:
                        self._join(node, value)
        members: dict[int, list[Node]] = {}
        for node in graph.nodes:
            if self._floats[graph.index_of(node)]:
                members.setdefault(self._find_root(node.index), []).append(node)
        for nodes in members.values():
            island = self._measure(nodes)
            if island is not None:
                yield island

    def _join(self, node: Node, value: Value) -> None:
        if not self._is_float_value(value):
            return
        for user in value.users:
            if user.graph is self._graph and self._floats[self._graph.index_of(user)]:
                self._parents[self._find_root(user.index)] = self._find_root(node.index)

    def _find_root(self, index: int) -> int:
        parents = self._parents
        while parents[index] != index:
            parents[index] = parents[parents[index]]
            index = parents[index]
        return index

    def _is_float_node(self, number: int, node: Node) -> bool:
        if not number % _STEP:
            step()
        if node.operator.has("quantizes", "dequantizes") or is_integer_node(node):
            return False
        if not takes_computed(node):
            return False
        if not any(v is not None and self._is_float_value(v) for v in node.outputs):
            return False
        is_wrapped = self._takes_dequantized(node) and is_quantized_next(node)
        return not is_wrapped and not self._follows(node)

    def _takes_dequantized(self, node: Node) -> bool:
        """Return whether all floats that a node takes were dequantized, settings left out."""
        some = False
        operator = node.operator
        for place, value in enumerate(node.inputs):
            if value is None:
                continue
            producer = value.producer
            if producer is not None and producer.operator.has("dequantizes"):
                some = True
            elif self._is_float_value(value) and not (
                is_constant(value)
                and (operator.arranges(place) or operator.operands.kind_at(place) in _SETTINGS)
            ):
                return False
        return some

    def _follows(self, node: Node) -> bool:
        """Return whether a node is the Relu or Clip between a quantized operator and quantizer."""
        value = node.input(0)
        if not node.operator.has("clips") or value is None:
            return False
        before = value.producer
        if before is None or len(value.users) != 1 or not is_quantized_next(node):
            return False
        return before.graph is self._graph and self._takes_dequantized(before)

    def _is_float_value(self, value: Value) -> bool:
        dtype = find_dtype(value) or self._analysis.facts.of(self._frame.facts[value]).dtype
        return dtype is None or dtype.is_float

    def _measure(self, nodes: list[Node]) -> FloatIsland | None:
        works = self._analysis.sum_works(
            [self._frame.works[self._graph.index_of(node)] for node in nodes]
        )
        inside = {*nodes}
        borders: dict[Value, None] = {}
        for node in nodes:
            for value in node.inputs:
                if value is not None and (_is_dequantized(value) or _is_product(value)):
                    borders[value] = None
            for value in node.outputs:
                if value is not None and any(
                    user.operator.has("quantizes") for user in value.users if user not in inside
                ):
                    borders[value] = None
        if not borders:
            return None  # floats from end to end: nothing quantized around it
        sizes = [self._count_bytes(value) for value in borders]
        return FloatIsland(
            tuple(node.path for node in nodes[:_MOST_PATHS]),
            len(nodes),
            dict(Counter(node.op_type for node in nodes).most_common()),
            works.macs if isinstance(works.macs, int) else None,
            works.others if isinstance(works.others, int) else None,
            None if None in sizes else sum(size or 0 for size in sizes),
            len(borders),
        )

    def _count_bytes(self, value: Value) -> int | None:
        size = self._analysis.facts.of(self._frame.facts[value]).bytes
        return size if isinstance(size, int) else None


def _is_dequantized(value: Value) -> bool:
    """Return whether a value is dequantized as the model runs: no weight."""
    node = value.producer
    if node is None or not node.inputs or is_constant(value):
        return False
    return node.operator.has("dequantizes")


def _is_product(value: Value) -> bool:
    """Return whether an operator on integers gives a value, as codes or sums of products."""
    return value.producer is not None and is_integer_node(value.producer)
