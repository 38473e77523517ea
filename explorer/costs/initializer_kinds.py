"""Which of the initializers are weights, going by what uses them; reads elements of masks only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Literal, get_args

import numpy as np

from netloupe.explorer.arrays import sort_distinct
from netloupe.explorer.model import (
    DataType,
    Function,
    Graph,
    Model,
    Node,
    SparseTensor,
    Tensor,
    Value,
    find_nodes_by_op_type,
    find_nodes_where,
    find_quantized_bias,
)
from netloupe.explorer.model.kept import find_kept
from netloupe.explorer.operators import Operator
from netloupe.explorer.progress import step
from netloupe.explorer.quantization import list_statements, unpack_weights

from .attribute_values import count_attribute_values, find_holders
from .constants import find_constant_uses, is_module_name, list_written_numbers
from .masks import is_even, is_mask
from .packed_experts import list_expert_operands
from .produced_weights import ProducedWeight, find_produced_weights, list_measured_places
from .stored_uses import ConstantKind, list_nodes

InitializerKind = Literal["parameter", "running statistic", "attention bias", "other"]
INITIALIZER_KINDS: tuple[InitializerKind, ...] = get_args(InitializerKind)

#: how many nodes are looked at in one step
_STEP = 10_000
#: so many users of one number are looked at
_MOST_USERS = 50
#: integers of at most so many bits are quantized numbers wherever they are used
_NARROW = 8
#: and of at most so many where an operator of quantized numbers takes them, as its bias
_WIDE = 32


class InitializerKinds:
    """Tells weights from the other initializers of a model.

    * Floating-point and complex numbers are weights, unless they are running statistics, scales
      of something quantized, or numbers of which all uses are such that weights do not have:
      :func:`~netloupe.explorer.costs.constants.find_constant_uses`.
    * A single number is a weight where it stands at a weight operand, passes a function that keeps
      it in bounds, or has the name of a module's parameter. Nothing else in a file tells a learned
      0.5 from one that was written.
    * Running statistics are what BatchNormalization (Caffe2: SpatialBN) takes as mean and variance,
      directly, through Identity, or as operand of a function that does so, and nothing else takes.
    * Integers are weights where they are quantized numbers: those that the file says so of, the
      biases that operators take beside these, and all of at most 8 bits; zero points are none.
      What is left are shapes, axes and indices.
    * Truth values and strings are no weights, nor what nothing uses beside initializers in use.
    * What a fill or a Constant gives is a weight where it reaches a weight operand.

    Parameters
    ----------
    model
        A model, whose nodes do not change.

    Notes
    -----
    So a convolutional network has as many parameters as its framework says: ResNet-50 has
    25,557,032, and 53,120 running statistics beside them, unless its exporter has multiplied
    these into the convolutions.
    """

    def __init__(self, model: Model) -> None:
        #: by value, how many of its uses are as a running statistic
        self._measured: Counter[Value] = Counter()
        #: by value, its uses as a number that is no weight
        self._constant_uses: dict[Value, dict[tuple[Node, int], ConstantKind]] = {}
        #: by function, the inputs that it uses as running statistics only
        self._formals: dict[Function, tuple[int, ...]] = {}
        #: names of the functions that may take such
        self._measuring: set[str] = set()
        #: what the use of an initializer says that it is; of all others their type tells it
        self._kinds: dict[Tensor | SparseTensor, InitializerKind] = {}
        #: by initializer whose bytes hold several weights each, how many it holds
        self.packed: dict[Tensor | SparseTensor, int] = {}
        #: by value that is a weight of its own, the initializer that an exporter stored in its
        #: place as they were equal before training
        self.merged: dict[Value, Tensor] = {}
        #: by node, the weights that it takes and that no initializer holds
        self.produced: dict[Node, list[ProducedWeight]] = {}
        #: the nodes whose attributes hold learned numbers, and how many once that was asked
        self.holders: dict[Node, int | None] = {}
        for graph in _order_graphs(model):
            self._find_unused(graph)
            self.produced |= find_produced_weights(graph)
            self.holders |= dict.fromkeys(find_holders(graph))
            self._find_measured(graph)
            self._find_quantized(graph)
            self._find_constants(graph)
            self._find_merged(graph)
            if isinstance(graph, Function):
                places = (i for i, value in enumerate(graph.inputs) if self._is_measured(value))
                self._formals[graph] = tuple(places)
                if self._formals[graph]:
                    self._measuring.add(graph.name)
        for value in self._measured:
            tensor = value.initializer
            if tensor is not None and _is_real(tensor.dtype) and self._is_measured(value):
                self._kinds.setdefault(tensor, "running statistic")

        for value, uses in self._constant_uses.items():
            tensor = value.initializer
            is_whole = len(uses) == len(value.consumers) and not value.is_output
            if tensor is not None and is_whole and _is_real(tensor.dtype):
                is_bias = "other" not in uses.values() and not is_mask(tensor)
                self._kinds.setdefault(tensor, "attention bias" if is_bias else "other")

    def kind_of(self, tensor: Tensor | SparseTensor) -> InitializerKind:
        """Return what an initializer is."""
        known = self._kinds.get(tensor)
        if known is not None:
            return known
        dtype = tensor.dtype
        if _is_real(dtype):
            return "parameter"
        if not dtype.is_integer or dtype.bits is None or dtype.bits > _WIDE:
            return "other"
        if dtype.bits <= _NARROW:
            return "parameter"
        is_stated = isinstance(tensor, Tensor) and tensor.quantization is not None
        return "parameter" if is_stated else "other"

    def count_attribute_values(self, node: Node) -> int:
        """Return how many learned numbers the attributes of a node hold."""
        if node not in self.holders:
            return 0
        known = self.holders[node]
        if known is None:
            known = self.holders[node] = count_attribute_values(node)
        return known

    def _find_unused(self, graph: Graph) -> None:
        if not graph.nodes:
            return
        count = 0
        unused: list[Value] = []
        numbers: list[Value] = []  # a million are stored: each is looked at once
        for value in graph.values.values():
            tensor = value.initializer
            if tensor is None:
                continue
            count += 1
            if not value.is_used:
                if not value.is_output:
                    unused.append(value)
            elif (dims := tensor.dims).count(1) == len(dims):
                numbers.append(value)
        for value in unused if len(unused) < count else ():
            self._set_kind(value, "other")
        for value in list_written_numbers(numbers):
            self._set_kind(value, "other")

    def _find_constants(self, graph: Graph) -> None:
        for use in find_constant_uses(graph):
            value = use.node.input(use.place)
            if value is not None and value.initializer is not None:
                uses = self._constant_uses.setdefault(value, {})
                if uses.get((use.node, use.place)) != "other":
                    uses[use.node, use.place] = use.kind

    def _find_merged(self, graph: Graph) -> None:
        """Note what Identity gives under the name of another parameter of one number alone.

        Running statistics are merged with these too: where the stored name is that of one, one of
        the weights is the initializer itself.
        """
        owned: set[Value] = set()
        for node in list_nodes(graph, lambda operator: operator.has("copies")):
            taken, given = node.input(0), node.output(0)
            if taken is None or given is None or not isinstance(taken.initializer, Tensor):
                continue
            names = {taken.name, given.name}
            if len(names) == 1 or not all(map(is_module_name, names)) or self._is_measured(given):
                continue
            if not is_even(taken.initializer):
                continue
            if taken in owned or not _is_statistic(taken):
                self.merged[given] = taken.initializer
            owned.add(taken)

    def _is_measured(self, value: Value) -> bool:
        """Return whether a value is only used as a running statistic."""
        count = self._measured.get(value, 0)
        return count > 0 and not value.is_output and count == len(value.consumers)

    def _find_measured(self, graph: Graph) -> None:
        both = (
            find_nodes_by_op_type(graph, self._measuring),
            find_nodes_where(graph, _may_take_measured),
        )
        found = sort_distinct(np.concatenate(both)).tolist()
        # consumers are asked before the nodes that only hand something on to them
        for number, index in enumerate(reversed(found)):
            if not number % _STEP:
                step()
            node = graph.nodes[index]
            for place in self._list_measured(node):
                value = node.input(place)
                if value is not None:
                    self._measured[value] += 1

    def _list_measured(self, node: Node) -> tuple[int, ...]:
        """Return the inputs of a node that are running statistics."""
        function = node.function
        if function is not None:
            return self._formals.get(function, ())
        operator = node.operator
        if operator.has("copies"):
            given = node.output(0) if len(node.outputs) == 1 else None
            return (0,) if given is not None and self._is_measured(given) else ()
        return list_measured_places(operator)

    def _find_quantized(self, graph: Graph) -> None:
        for number, statement in enumerate(list_statements(graph)):
            if not number % _STEP:
                step()
            for value in (statement.scale, statement.zero_point):
                self._set_kind(value, "other")
            self._set_integer(statement.quantized)
            unpacked = unpack_weights(statement)
            if unpacked is not None and statement.quantized is not None:
                tensor = statement.quantized.initializer
                if tensor is not None:
                    self.packed[tensor] = unpacked.size
        for value, per_byte in list_expert_operands(graph):
            if not per_byte:
                self._set_kind(value, "other")
            elif (tensor := value.initializer) is not None and tensor.dtype.name == "uint8":
                self.packed[tensor] = tensor.size * per_byte
        for index in find_nodes_where(graph, _has_quantized_bias).tolist():
            node = graph.nodes[index]
            place = find_quantized_bias(node.operator)
            if place is not None:
                self._set_integer(node.input(place))

    def _set_integer(self, value: Value | None) -> None:
        """Note that a value holds quantized numbers, where these are integers of few bits."""
        tensor = None if value is None else value.initializer
        if tensor is not None and tensor.dtype.is_integer and (tensor.dtype.bits or 64) <= _WIDE:
            self._kinds.setdefault(tensor, "parameter")

    def _set_kind(self, value: Value | None, kind: InitializerKind) -> None:
        if value is not None and value.initializer is not None:
            self._kinds[value.initializer] = kind


def _is_statistic(value: Value) -> bool:
    """Return whether what takes a value, under its own name, takes it as a running statistic."""
    users = [user for user in value.users[:_MOST_USERS] if not user.operator.has("copies")]
    return bool(users) and all(
        value in [user.input(place) for place in list_measured_places(user.operator)]
        for user in users
    )


def _may_take_measured(operator: Operator) -> bool:
    return operator.has("copies") or bool(list_measured_places(operator))


def _has_quantized_bias(operator: Operator) -> bool:
    return find_quantized_bias(operator) is not None


def _is_real(dtype: DataType) -> bool:
    return dtype.is_float or dtype.is_complex


def find_initializer_kinds(model: Model) -> InitializerKinds:
    """Return the weights of a model; its nodes are looked at when it is first asked."""
    return find_kept(model, InitializerKinds, lambda: InitializerKinds(model))


def _order_graphs(model: Model) -> Iterator[Graph]:
    """Yield every graph once: functions before what calls them, subgraphs before what is around."""
    ordered: dict[Function, None] = {}
    waiting: list[Function] = [*model.functions]
    opened: set[Function] = set()
    while waiting:
        function = waiting[-1]
        if function in opened:
            ordered.setdefault(waiting.pop())
            continue
        opened.add(function)
        waiting += [called for called in _list_called(function) if called not in opened]
    done: set[Graph] = set()
    for function in ordered:
        inside = [function, *function.subgraphs]
        done.update(inside)
        yield from reversed(inside)
    yield from (graph for graph in reversed(model.graphs) if graph not in done)


def _list_called(function: Function) -> set[Function]:
    graphs = (function, *function.subgraphs)
    called = (node.function for graph in graphs for node in graph.nodes)
    return {other for other in called if other is not None}
