"""The uses of operators in a model: nodes of equal operator, attributes and operand types as one.

What an operator demands of types and shapes is asked once for all nodes that are alike, of which a
large model has many. Types and shapes are those that :mod:`netloupe.explorer.costs` follows from
the inputs; where nothing follows, those that the file states.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from netloupe.explorer.costs.analysis import Analysis, GraphRun
from netloupe.explorer.costs.facts import Dims, Fact, Use
from netloupe.explorer.costs.polynomial import TooLargeError
from netloupe.explorer.costs.uses import Kind
from netloupe.explorer.model import Node, Value
from netloupe.explorer.model.node_keys import key_whole_attributes
from netloupe.explorer.notation import clip_text
from netloupe.explorer.operators import Operator, OperatorSchema

from .rule import Occurrence

#: so many uses that differ are looked at, and so many nodes of one that is at fault are told
_MOST_USES = 30_000
OVERFLOW = "more uses differ than are looked at"
_MOST_TOLD = 1_000
_MOST_DIMS = 12
_MOST_MESSAGES = 64
_LONGEST_NAME = 60
_VARYING = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|-?\d+")


class Case(Use):
    """One use of an operator at a node, which says what its operands are.

    Parameters
    ----------
    kind
        What is known of the node's operator.
    operands
        What is known of its operands.
    attributes
        Its attributes, with those of a call in place of references to them.
    given
        What is known of its results.
    """

    def __init__(
        self,
        node: Node,
        kind: Kind,
        operands: list[Fact | None],
        attributes: Mapping[str, Any],
        given: list[Fact | None],
    ) -> None:
        super().__init__(
            node.operator,
            operands,
            attributes,
            len(node.outputs),
            node.opset_version,
            node.graph.dialect.element_types,
        )
        self.node = node
        self.given = given
        self.schema: OperatorSchema | None = kind.schema

    @property
    def operator(self) -> Operator:
        """What the catalogue knows of the operator."""
        return self.node.operator

    @property
    def version(self) -> int:
        """The version of the operator set; that of the newest where none is imported."""
        return self.opset if self.opset is not None else 2**31

    @property
    def since(self) -> int:
        """The version of the operator's declaration."""
        return self.schema.since_version if self.schema is not None else self.version

    def name(self, index: int) -> str:
        """Return how an operand is called: ``A (conv1.weight)``."""
        formal = (
            self.schema.input_name(index)
            if self.schema is not None
            else self.node.operator.operands.name_at(index)
        )
        value = self.node.input(index)
        told = formal or f"operand {index}"
        return f"{told} ({clip_text(value.name, _LONGEST_NAME)})" if value is not None else told

    def say(self, index: int) -> str:
        """Return an operand with its type: ``A (x) is float16[2, 3]``."""
        return f"{self.name(index)} is {write_fact(self.operand(index))}"

    def known_dims(self, *indices: int) -> list[Dims] | None:
        """Return the dimensions of some operands; None where a rank is not known."""
        found = [self.dims(index) for index in indices]
        known = [dims for dims in found if dims is not None]
        return known if len(known) == len(found) else None


def write_fact(fact: Fact) -> str:
    """Return a type in words: ``float16[2, batch, ?]``, ``float16`` where the rank is unknown."""
    return f"{fact.type_name}{write_dimensions(fact.dims)}" or "?"


def write_dimensions(dims: Dims | None) -> str:
    """Return dimensions in brackets; "" where not even their number is known."""
    if dims is None:
        return ""
    shown = ["?" if dim is None else clip_text(str(dim), _LONGEST_NAME) for dim in dims]
    more = len(shown) - _MOST_DIMS
    if more > 0:
        shown[_MOST_DIMS:] = [f"… {more} more"]
    return f"[{', '.join(shown)}]"


#: says what is wrong with a use, in as many sentences as there are faults
Demand = Callable[[Case], Iterator[str]]


class _Alike:
    """Nodes that use an operator in the same way."""

    __slots__ = ("case", "frame", "is_reached", "kind", "nodes")

    def __init__(self, kind: Kind, frame: GraphRun) -> None:
        self.kind = kind
        self.frame = frame
        self.nodes: list[Node] = []
        self.case: Case | None = None
        #: whether the main graph comes to one of them; operands of others have no types
        self.is_reached = False


class Uses:
    """The uses of operators in a model.

    Parameters
    ----------
    analysis
        What follows of types and shapes.

    Attributes
    ----------
    unknown
        By why nodes cannot be judged wholly, the first of them and how many there are.
    """

    def __init__(self, analysis: Analysis, graphs: Iterable[Any]) -> None:
        self._analysis = analysis
        self._by_operator: dict[str, list[_Alike]] = {}
        self.unknown: dict[str, tuple[Node, int]] = {}
        self._left = _MOST_USES
        seen: dict[tuple[Any, ...], _Alike] = {}
        for graph in graphs:
            if not graph.nodes:
                continue
            is_reached = graph in analysis.frames
            for frame in analysis.frames_of(graph):
                self._collect(frame, seen, is_reached=is_reached)
        for alike in seen.values():
            self._by_operator.setdefault(alike.nodes[0].op_type, []).append(alike)
        self._find_unknown(alike for alike in seen.values() if alike.is_reached)

    def _collect(
        self, frame: GraphRun, seen: dict[tuple[Any, ...], _Alike], *, is_reached: bool
    ) -> None:
        """Put the nodes of a graph to those that are alike."""
        graph, find = frame.graph, frame.facts.__getitem__
        kinds: dict[int, Kind] = {}
        for number, node in zip(graph.wiring.operators.tolist(), graph.nodes, strict=True):
            kind = kinds.get(number)
            if kind is None:
                kind = kinds[number] = self._analysis.find_kind(node)
            key = (
                kind.number,
                len(node.outputs),
                key_whole_attributes(node),
                frame.context,
                *map(find, node.inputs),
            )
            alike = seen.get(key)
            if alike is None:
                if not self._left:
                    self._note(OVERFLOW, node, 1)
                    continue
                self._left -= 1
                alike = seen[key] = _Alike(kind, frame)
            alike.is_reached = alike.is_reached or is_reached
            alike.nodes.append(node)

    def _note(self, reason: str, node: Node, count: int) -> None:
        first, known = self.unknown.get(reason, (node, 0))
        self.unknown[reason] = (first, known + count)

    def _find_unknown(self, found: Iterable[_Alike]) -> None:
        for alike in found:
            node = alike.nodes[0]
            if node.function is not None or not node.inputs:
                continue
            if alike.kind.schema is None:
                label = clip_text(alike.kind.label, _LONGEST_NAME)
                is_registered = node.operator.is_registered
                lacks = "is registered without types" if is_registered else "is not known"
                self._note(f"{label} {lacks}", node, len(alike.nodes))
                continue
            facts = [self._analysis.facts.operand(alike.frame.facts[v]) for v in node.inputs]
            for fact in facts:
                if fact is not None and not fact.kind and (not fact.type_name or fact.dims is None):
                    what = "type" if not fact.type_name else "rank"
                    self._note(f"the {what} of an operand is not known", node, len(alike.nodes))
                    break

    def make_case(self, alike: _Alike, node: Node) -> Case:
        """Return the use at one of the nodes that are alike."""
        facts = self._analysis.facts
        operands = [facts.operand(alike.frame.facts[value]) for value in node.inputs]
        attributes = self._analysis.resolve(node, alike.frame.context)
        given = [facts.operand(alike.frame.facts[value]) for value in node.outputs]
        return Case(node, alike.kind, operands, attributes, given)

    def list_reached(self) -> Iterator[tuple[Case, list[Node]]]:
        """Yield the uses that the main graph comes to, each with all nodes that are alike."""
        for found in self._by_operator.values():
            for alike in found:
                if alike.is_reached:
                    yield self.make_case(alike, alike.nodes[0]), alike.nodes

    def find_all(self, demand: Demand) -> Iterator[Occurrence]:
        """Yield what is wrong with the uses of all operators that have a schema."""
        for found in self._by_operator.values():
            for alike in found:
                if alike.kind.schema is not None:
                    yield from self._judge(alike, demand)

    def find(self, demands: Mapping[str, Demand], domain: str = "") -> Iterator[Occurrence]:
        """Yield what is wrong with the uses of some operators of a domain."""
        for op_type, demand in demands.items():
            for alike in self._by_operator.get(op_type, ()):
                node = alike.nodes[0]
                if node.domain == domain and alike.kind.schema is not None:
                    yield from self._judge(alike, demand)

    def _judge(self, alike: _Alike, demand: Demand) -> Iterator[Occurrence]:
        if alike.case is None:  # several demands ask for the first one
            alike.case = self.make_case(alike, alike.nodes[0])
        try:
            messages = [*islice(demand(alike.case), _MOST_MESSAGES)]
        except TooLargeError:
            return  # sizes beyond all sense, of which costs tell
        for number, message in enumerate(messages):
            for place, node in enumerate(alike.nodes[:_MOST_TOLD]):
                told = message
                if place:
                    case = self.make_case(alike, node)
                    told = next((m for n, m in enumerate(demand(case)) if n == number), message)
                left = max(len(alike.nodes) - _MOST_TOLD, 0) if place == _MOST_TOLD - 1 else 0
                evidence = {"op_type": node.op_type, "operands": _name_operands(node.inputs)}
                yield Occurrence(
                    node.path, told, evidence, _name_cause(node, message), places=1 + left
                )


def _name_cause(node: Node, message: str) -> str:
    """Return what is the same for faults of one kind: without names of values, and sizes."""
    return f"{node.op_type} {_VARYING.sub('', message)}"[:200]


def _name_operands(values: Iterable[Value | None]) -> list[str]:
    return ["" if value is None else value.name[:200] for value, _ in zip(values, range(8))]  # noqa: B905 - the first ones
