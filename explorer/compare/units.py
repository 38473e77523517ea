"""What a graph is made of when two are compared: its units, and what flows between them.

A **unit** is a node, or nodes that other exporters write as one operator: a convolution with the
batch normalization behind it, a product with the bias added to it, a norm or an activation that
is written out; where the other model has such activations inside of its operators, also any node
with the activation behind it. Nodes that only pass on what they get in another form (casts,
quantization and its inverse, identities) belong to no unit: units are connected through them. Nor
do constants, nor what is computed of constants alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from netloupe.explorer.dataflow import trace_back_where
from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Function, Graph, Node, Tensor, Value, find_constant_source
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.notation import write_count
from netloupe.explorer.progress import is_ending, step

from .activations import BLOCKED_DOMAIN, TakenIn, find_added_bias, takes_summand
from .owners import MOST_AXES, NORMS, SAME, WRITTEN_OUT, Owners
from .passed_values import MOST_PASSED, PassedValues, read_numeric_attribute, turns_channels

_STEP = 10_000

#: what units with such are called
LAYERS = frozenset({"convolution", "product with weights"})
_NONE = TakenIn()


class Operand(NamedTuple):
    """What a unit takes.

    Parameters
    ----------
    source
        The unit that gives it; -1 for none.
    output
        Which of the results of that unit it is; without a unit the place of the value among
        those that come from outside (:attr:`Units.outside`).
    place
        Its place among the computed operands of the unit; 0 where their order does not matter.
    """

    source: int
    output: int
    place: int


@dataclass
class Units:
    """The units of a graph, by number.

    Parameters
    ----------
    graph
        The graph.
    members
        The indices of the nodes of each, the one that it is named after first.
    kinds
        What each does: an operator, with its domain where that is another than the format's.
    operands
        What each takes of other units and from outside, in order.
    weights
        The constants that each takes, in order.
    filled
        The dimensions of the constants that nodes fill with one number as the model runs.
    users
        The units that take from each, with the places of the operands.
    results
        The places among the graph's outputs of what each gives.
    outside
        The values that come from outside: inputs of the graph, and values of graphs around.
    unit_of
        By index of a node, its unit; -1 for none.
    activations
        The indices of the nodes that are part of a unit as its activation.
    written_out
        The units that are operators written out as several nodes.
    has_blocks
        Whether this graph or the one that it is compared with has weights in blocks of channels.
    """

    graph: Graph
    members: list[tuple[int, ...]] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    operands: list[list[Operand]] = field(default_factory=list)
    weights: list[list[Tensor]] = field(default_factory=list)
    filled: list[list[tuple[int, ...]]] = field(default_factory=list)
    users: list[list[tuple[int, int]]] = field(default_factory=list)
    results: list[list[int]] = field(default_factory=list)
    outside: list[Value] = field(default_factory=list)
    unit_of: list[int] = field(default_factory=list)
    activations: set[int] = field(default_factory=set)
    written_out: set[int] = field(default_factory=set)
    has_blocks: bool = False

    def __len__(self) -> int:
        return len(self.members)

    def head(self, unit: int) -> Node:
        """Return the node that a unit is named after."""
        return self.graph.nodes[self.members[unit][0]]

    def nodes(self, unit: int) -> Iterator[Node]:
        """Yield the nodes of a unit."""
        return map(self.graph.nodes.__getitem__, self.members[unit])


def read_units(
    graph: Graph, inside: TakenIn = _NONE, apart: Collection[int] = frozenset()
) -> Units:
    """Return the units of a graph.

    Parameters
    ----------
    graph
        The graph.
    inside
        The activations that are part of the unit that they stand behind: since nodes of this
        graph, or of the one that it is compared with, may have them inside.
    apart
        The indices of nodes: what is written out and would be named after one of them is no unit.
    """
    return _Reader(graph, inside, apart).read()


class _Reader:
    def __init__(self, graph: Graph, inside: TakenIn, apart: Collection[int]) -> None:
        self.graph = graph
        self.units = Units(graph, has_blocks=inside.has_blocks)
        self._values = PassedValues(graph)
        owners = Owners(self._values, inside, apart)
        self._owner, self._named, self._parts = owners.owner, owners.named, owners.parts
        self.units.activations = owners.activations
        self._outside: dict[Value, int] = {}
        #: what the functions are called here that are called
        self._functions: dict[Function, str] = {}

    def read(self) -> Units:
        units, nodes = self.units, self.graph.nodes
        units.unit_of = [-1] * len(nodes)
        grouped: dict[int, list[int]] = {}
        for index, node in enumerate(nodes):
            if not index % _STEP:
                step()
            if index not in self._values.fixed and not self._values.passes(node):
                grouped.setdefault(self._owner.get(index, index), []).append(index)
        for head, indices in grouped.items():
            members = (head, *[index for index in indices if index != head])
            for index in members:
                units.unit_of[index] = len(units.members)
            units.members.append(members)
        units.written_out = {units.unit_of[index] for index in self._named}
        self._connect()
        return units

    def _connect(self) -> None:
        units, graph = self.units, self.graph
        units.users = [[] for _ in units.members]
        units.results = [[] for _ in units.members]
        for unit, members in enumerate(units.members):
            if not unit % _STEP:
                step()
            kind, operands, weights, filled = self._read_unit(unit, members)
            units.filled.append(filled)
            units.kinds.append(kind)
            units.operands.append(operands)
            units.weights.append(weights)
            for operand in operands:
                if operand.source >= 0:
                    units.users[operand.source].append((unit, operand.place))
        for place, value in enumerate(graph.outputs):
            origin = self._values.origin(value)
            if origin is not None and origin.producer is not None:
                unit = self._unit_of(origin)
                if unit >= 0:
                    units.results[unit].append(place)

    def _unit_of(self, value: Value) -> int:
        producer = value.producer
        if producer is None or producer.graph is not self.graph:
            return -1
        return self.units.unit_of[self.graph.index_of(producer)]

    def _read_unit(
        self, unit: int, members: tuple[int, ...]
    ) -> tuple[str, list[Operand], list[Tensor], list[tuple[int, ...]]]:
        units, nodes = self.units, self.graph.nodes
        head = nodes[members[0]]
        weights: list[Tensor] = []
        filled: list[tuple[int, ...]] = []
        taken: list[Value] = []
        is_partition = bool(self._parts) and any(
            value in self._parts for index in members for value in nodes[index].outputs
        )
        for index in sorted(members):
            node = nodes[index]
            # what is added besides is told by the sum that the other model has
            bias = find_added_bias(node)
            inputs = node.inputs[:3] if takes_summand(node) else node.inputs
            inputs = tuple(value for value in inputs if value is not bias) if bias else inputs
            if is_partition or (len(members) > 1 and node.operator.has("looks_up", "reshapes")):
                inputs = inputs[:1]  # sizes and orders are no part of what it does
            for value in (*inputs, *node.captures):
                if value is None:
                    continue
                origin = self._values.origin(value)
                if origin is None:
                    tensors = self._find_tensors(value)
                    weights += tensors
                    filled += [] if tensors else _read_filled(value)
                elif self._unit_of(origin) != unit:
                    taken.append(origin)
        has_weights = bool(filled) or any(tensor.size > 1 for tensor in weights)
        kind = self._name_kind(head, has_weights)
        if kind in LAYERS or kind in WRITTEN_OUT or is_partition:
            # what is quantized as the model runs is taken with its zero point and its scale, and
            # what is written out may take its operand several times
            taken = [*dict.fromkeys(taken)]
        is_ordered = kind not in NORMS and not head.operator.has("commutative")
        operands = []
        for place, value in enumerate(taken):
            source = self._unit_of(value)
            if source >= 0:
                output = value.output_index if len(units.members[source]) == 1 else 0
                output = self._parts.get(value, output)
            else:
                output = self._outside.setdefault(value, len(self._outside))
                if output == len(units.outside):
                    units.outside.append(value)
            operands.append(Operand(source, output, place if is_ordered else 0))
        return kind, operands, weights, filled

    def _name_kind(self, head: Node, has_weights: bool) -> str:
        known = self._named.get(head.index)
        if known is not None:
            return known
        if head.function is not None:  # it may have another name
            return self._describe_function(head.function)
        form = head.operator.form
        if form == "Conv":
            return "convolution"
        if form == "Gemm" or (form == "MatMul" and has_weights):
            return "product with weights"
        if turns_channels(head):
            return "Transpose"
        if form == "QuickGelu" and read_numeric_attribute(head, "alpha") == 1:
            return "SiLU"
        if form in SAME:
            return SAME[form]
        is_own = head.domain in (self.graph.dialect.domain, BLOCKED_DOMAIN)
        return form if is_own or form != head.op_type else f"{head.domain}::{form}"

    def _describe_function(self, function: Function) -> str:
        known = self._functions.get(function)
        if known is None:
            counts = Counter(node.op_type for node in function.nodes if node.function is None)
            listed = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
            nodes = write_count(len(function.nodes), "node")
            known = self._functions[function] = f"call of {nodes}: {listed}"
        return known

    def _find_tensors(self, value: Value) -> list[Tensor]:
        """Return the stored tensor behind a constant operand, if there is one at hand."""
        for one in trace_back_where(value, self._values.passes, most=MOST_PASSED):
            tensor, producer = one.initializer, one.producer
            if producer is not None and producer.operator.has("stores_constant"):
                tensor = producer.details.constant
            if isinstance(tensor, Tensor):
                return [tensor]
        return []


def _read_filled(value: Value) -> list[tuple[int, ...]]:
    """Return the dimensions of a constant that a node fills with one number; none for others."""
    producer = value.producer
    if producer is None or find_constant_source(producer.operator) != "filled":
        return []
    dims = producer.input(0)
    tensor = find_stored_tensor(dims) if dims is not None else None
    if tensor is None or not tensor.dtype.is_integer or not 0 < tensor.size <= MOST_AXES:
        return []
    try:
        return [tuple(int(size) for size in tensor.numpy().reshape(-1))]
    except NetloupeError as error:
        if is_ending(error):
            raise
        return []
