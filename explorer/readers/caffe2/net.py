"""Caffe2 nets as graphs of the view model: nodes, blobs and the wiring between them.

A net's operators run in the order of the file on blobs that all live in one workspace. The
same blob may be written again and again (``Relu: conv1 -> conv1``), so each writing makes a
value of its own, and a use means the last one before it. A net among an operator's arguments
works on the same workspace: what it does not write itself it sees as it is when the operator
runs, and what it writes is seen after the operator (:mod:`.caffe2_scope`). Only Do has a
workspace of its own, which its arguments ``inner_blobs`` and ``outer_blobs_idx`` connect with
its operands.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, Literal

from netloupe.explorer.model import (
    Dimension,
    Graph,
    ModelWarning,
    NetDetails,
    Node,
    TensorType,
    Value,
)
from netloupe.explorer.model.failing import fail
from netloupe.explorer.model.node import connect_node
from netloupe.explorer.model.reading import GraphReading, set_graph_reading
from netloupe.explorer.model.statement import Statement
from netloupe.explorer.model.unknown import UnknownFields
from netloupe.explorer.progress import step
from netloupe.explorer.readers.protobuf.texts import read_text
from netloupe.explorer.tensors import ModelFiles

from .arguments import ArgumentReader, Graphs
from .dialect import CAFFE2
from .fills import is_fill, leave_out_elements, read_fill
from .nodes import Caffe2NodeLoader, is_weight
from .parts import Net
from .placeholders import turn_placeholders
from .scope import Scope
from .statements import read_caffe2_statement
from .tensors import read_device

#: operators whose nets work on workspaces that are made for each step
_STEPPED = ("RecurrentNetwork", "RecurrentNetworkGradient")

#: nets that are to be read before the reading of the one around goes on
_Steps = Iterator[tuple[Net, Scope]]
#: how many operators are read in one step of the work
_STEP = 10_000


class NetReader:
    """Reads NetDefs into graphs of one model.

    Parameters
    ----------
    files
        Gives external data.
    """

    def __init__(self, files: ModelFiles) -> None:
        self._files = files
        self._fills: dict[Graph, Net] = {}

    def read(self, graph: Graph, net: Net, fills: Net | None = None) -> None:
        """Fill a graph and the graphs of the nets inside it.

        Parameters
        ----------
        graph
            An empty graph.
        net
            What it holds.
        fills
            Its init net: the fills in it become initializers, and what else it does becomes a
            graph of its own.

        Raises
        ------
        ModelFormatError
            Where a nested net is damaged.
        """
        scope = Scope(graph)
        if fills is not None:
            self._fills[graph] = fills
            self._read_fills(graph, scope, fills)
        self._run(graph, self._read_net(net, scope))
        if fills is not None:
            turn_placeholders(graph, net, fills)
        for value in graph.inputs:
            value.is_parameter = (
                value.initializer is None
                and bool(value.consumers)
                and all(is_weight(node, position) for node, position in value.consumers)
            )

    def _run(self, graph: Graph, steps: _Steps) -> None:
        # a stack of our own instead of calls within calls: nets may be nested deep
        stack = [(graph, steps)]
        while stack:
            graph, steps = stack[-1]
            try:
                nested = next(steps, None)
            except Exception as error:
                fail(error, graph.model.source, f"the graph {graph.path}")
            if nested is None:
                stack.pop()
            else:
                stack.append((nested[1].graph, self._read_net(*nested)))

    # the init net

    def _read_fills(self, graph: Graph, scope: Scope, fills: Net) -> None:
        others = []
        for index, operator in enumerate(fills.message.op):
            if not is_fill(operator):
                others.append(index)
                continue
            name = read_text(operator.output[0])
            value = scope.last(name)
            if value is None:
                value = scope.define(name)
            try:
                tensor = read_fill(operator, name, value.path, fills.parts)
            except Exception as error:
                fail(error, fills.parts.source.name, f"the fill of '{name}'")
            graph.initializers.append(tensor)
            if value.initializer is not None:
                message = "two fills have this name; the last is used"
                graph.warnings.append(ModelWarning(value.path, message))
            value.initializer = tensor
            value.type = TensorType(tensor.dtype, tuple(map(Dimension, tensor.dims)))
        if others or _says_more(fills.message):
            self._run(graph, self._read_rest(graph, scope, fills, others))

    def _read_rest(self, graph: Graph, scope: Scope, fills: Net, others: list[int]) -> _Steps:
        """Keep what an init net does besides filling, and says of itself, as a graph."""
        rest = Graph(graph.model, "init", read_text(fills.message.name), "init")
        graph.model.nets.append(rest)
        filled = {value.name: value for value in graph.values.values()}
        inner = Scope(rest, scope)
        inner.aliases = filled
        yield from self._read_details(fills, rest)
        for raw in fills.message.external_input:
            name = read_text(raw)
            if name not in filled:
                self._read_input(inner, name)
        yield from self._read_nodes(fills, inner, others)
        for raw in fills.message.external_output:
            value = inner.last(read_text(raw))
            if value is not None:
                value.is_output = True
                rest.outputs.append(value)
        for node in rest.nodes:
            for value in node.outputs:
                if value is not None and value.name in filled:
                    message = f"is filled, and then written again by {node.path}"
                    graph.warnings.append(ModelWarning(filled[value.name].path, message))
                elif value is not None:
                    scope.given[value.name] = node.path

    # a net

    def _read_net(self, net: Net, scope: Scope) -> _Steps:
        graph, message = scope.graph, net.message
        yield from self._read_details(net, graph)
        listed = [read_text(name) for name in message.external_input]
        for name in dict.fromkeys(listed):
            self._read_input(scope, name)
        if len(set(listed)) != len(listed):
            warning = ModelWarning(graph.path, "lists an external input twice")
            graph.warnings.append(warning)
        yield from self._read_nodes(net, scope, range(len(message.op)))
        self._read_outputs(net, scope)

    def _read_input(self, scope: Scope, name: str) -> None:
        graph = scope.graph
        if scope.outer is not None and scope.capture(name) is not None:
            return  # a blob of the workspace around
        value = scope.last(name)
        if value is None:
            value = scope.define(name)
        if value.initializer is None:
            value.is_input = True
            graph.inputs.append(value)
            if name in scope.given:
                value.metadata["given by"] = scope.given[name]

    def _read_outputs(self, net: Net, scope: Scope) -> None:
        graph = scope.graph
        names = [read_text(name) for name in net.message.external_output]
        if scope.results and all(scope.last(name) is not None for name in scope.results):
            names = scope.results  # so that they correspond one by one
        for name in names:
            value = scope.last(name)
            if value is None and scope.outer is not None:
                value = scope.capture(name)
            if value is None:
                value = scope.define(name)
                message = "is an external output that nothing defines"
                graph.warnings.append(ModelWarning(value.path, message))
            if value.graph is graph:
                value.is_output = True
            if value not in graph.outputs:
                graph.outputs.append(value)

    def _read_details(self, net: Net, graph: Graph) -> _Steps:
        message = net.message
        loader = _Caffe2GraphLoader(net, self._fills.get(graph))
        set_graph_reading(graph, GraphReading(loader))
        graphs: Graphs = {}
        for position, argument in enumerate(message.arg):
            for field, nets in net.nested(argument).items():
                path = f"{graph.path}.{read_text(argument.name)}"
                made = _make_graphs(None, graph, path, field, nets)
                graphs[position, field] = made
                for inner, own in zip(nets, made, strict=True):
                    yield inner, Scope(own)
        reader = ArgumentReader(self._files, net.parts)
        arguments, warnings = reader.read(message.arg, graph.path, graphs)
        graph.warnings += warnings
        for argument in arguments.values():
            graph.warnings += argument.tensor_warnings
        graph.net = NetDetails(
            read_text(message.type),
            message.num_workers if message.HasField("num_workers") else None,
            read_device(message.device_option) if message.HasField("device_option") else None,
            arguments,
            tuple(map(read_text, message.external_input)),
            tuple(map(read_text, message.external_output)),
        )

    def _read_nodes(self, net: Net, scope: Scope, indexes: range | list[int]) -> _Steps:
        graph, operators = scope.graph, net.message.op
        subgraphs: dict[int, Graphs] = {}
        loader = Caffe2NodeLoader(net, indexes, ArgumentReader(self._files, net.parts), subgraphs)
        step("reading operators")
        for position, index in enumerate(indexes):
            operator = operators[index]
            name, op_type = read_text(operator.name), read_text(operator.type)
            domain = CAFFE2.read_domain(read_text(operator.domain))
            graph.nodes.append(Node(graph, position, name, op_type, domain, loader))
        for node, index in zip(graph.nodes, indexes, strict=True):
            if not node.index % _STEP:
                step()
            try:
                yield from self._connect(net, scope, node, index, subgraphs)
            except Exception as error:
                fail(error, graph.model.source, f"node '{node.label}' in {graph.path}")

    def _connect(
        self, net: Net, scope: Scope, node: Node, index: int, subgraphs: dict[int, Graphs]
    ) -> _Steps:
        """Wire an operator, and read the nets among its arguments."""
        operator = net.message.op[index]
        nested = {
            (position, field): nets
            for position, argument in enumerate(operator.arg)
            for field, nets in net.nested(argument).items()
        }
        held = [inner for nets in nested.values() for inner in nets]
        inputs = (self._find(net, scope, node, read_text(name), held) for name in operator.input)
        connect_node(node, tuple(inputs))
        node.control_inputs = tuple(
            value
            for name in operator.control_input
            if (value := self._find(net, scope, node, read_text(name), held)) is not None
        )
        results = [read_text(name) for name in operator.output]
        scopes: list[Scope] = []
        for (position, field), nets in nested.items():
            path = f"{node.path}.{read_text(operator.arg[position].name)}"
            made = _make_graphs(node, scope.graph, path, field, nets)
            subgraphs.setdefault(index, {})[position, field] = made
            for inner, own in zip(nets, made, strict=True):
                inner_scope = _enter(scope, own, operator, results)
                scopes.append(inner_scope)
                yield inner, inner_scope
        node.outputs = tuple(
            _write(scope, node, position, name) for position, name in enumerate(results)
        )
        if scopes:
            scope.follow(node, tuple(scopes), set(results))

    def _find(self, net: Net, scope: Scope, node: Node, name: str, held: list[Net]) -> Value | None:
        if not name:
            return None
        value = scope.last(name)
        if value is None and scope.outer is not None:
            value = scope.capture(name)
        if value is not None:
            return value
        if name in scope.given or not net.message.external_input:
            # a net that lists none takes whatever its workspace has
            self._read_input(scope, name)
            return scope.last(name)
        value = scope.define(name)
        # the condition of a loop is computed by a net of the operator that reads it
        if not any(name in inner.output for own in held for inner in own.message.op):
            warning = ModelWarning(node.path, f"uses %{name}, which nothing defines")
            scope.graph.warnings.append(warning)
        return value


def _write(scope: Scope, node: Node, position: int, name: str) -> Value | None:
    if not name:
        return None
    value = scope.define(name)
    value.producer = node
    value.output_index = position
    return value


def _make_graphs(
    node: Node | None, graph: Graph, path: str, field: str, nets: list[Net]
) -> tuple[Graph, ...]:
    """Return empty graphs for the nets of one argument."""
    made = []
    taken = {inner.path for inner in node.subgraphs} if node is not None else set()
    name = path.rpartition(".")[2]
    kind: Literal["subgraph", "net"] = "subgraph" if node is not None else "net"
    for position, net in enumerate(nets):
        own = path + (f"[{position}]" if field == "nets" else "")
        while own in taken:
            own += "'"
        taken.add(own)
        inner = Graph(graph.model, kind, read_text(net.message.name), own, node, name)
        made.append(inner)
    if node is not None:
        node.subgraphs = (*node.subgraphs, *made)
    else:
        graph.model.nets += made
    return tuple(made)


class _Caffe2GraphLoader:
    """Looks for unknown fields in the message of a net; of values it says nothing.

    Parameters
    ----------
    fills
        The net whose fills are the graph's initializers; None for none.
    """

    def __init__(self, net: Net, fills: Net | None = None) -> None:
        self._net = net
        self._fills = fills

    def unknown_fields(self) -> UnknownFields:
        return self._net.parts.find_unknown(self._net.message, frozenset(("NetDef", "OperatorDef")))

    def unknown_fields_of_value(self, name: str) -> UnknownFields:
        return ()

    def state_graph(self) -> Statement:
        """List all that the net says of itself, and its init net."""
        found = read_caffe2_statement(self._net.message, self._net.parts)
        if self._fills is None:
            return found
        own = self._fills
        return {**found, **read_caffe2_statement(own.message, own.parts, way=("init net",))}

    def key_values(self) -> dict[str, int]:
        return {}

    def state_value(self, name: str) -> Statement:
        return {}

    def state_tensor(self, place: int) -> Statement:
        """List all that the fill of a tensor says, but for its dimensions and elements."""
        if self._fills is None:
            return {}
        operator = self._fills.message.op[self._places[place]]
        found = read_caffe2_statement(operator, self._fills.parts, with_elements=False)
        return leave_out_elements(operator, found)

    def key_tensor(self, place: int) -> None:
        return None

    @cached_property
    def _places(self) -> list[int]:
        """Where in the init net the fills of the graph's initializers are."""
        operators = () if self._fills is None else self._fills.message.op
        return [place for place, operator in enumerate(operators) if is_fill(operator)]

    def state_sparse(self, place: int) -> Statement:
        return {}


def _enter(scope: Scope, graph: Graph, operator: Any, results: list[str]) -> Scope:
    """Return the scope of a net among the arguments of an operator."""
    inner = Scope(graph, scope)
    inner.is_step = operator.type in _STEPPED
    inner.results = [name for name in results if name]
    pairs = _pair_blobs(operator)
    if pairs is not None and graph.parent_node is not None:
        operands = graph.parent_node.inputs
        inner.aliases = {}
        for name, number in pairs:
            value = operands[number] if 0 <= number < len(operands) else None
            if value is not None:
                inner.aliases[name] = value
                inner.operands[name] = value.name
        names = {number - len(operands): name for name, number in pairs}
        inner.results = [names.get(number, "") for number in range(len(results))]
    return inner


def _says_more(fills: Any) -> bool:
    """Return whether an init net says anything beside its name, fills and what they give."""
    fields = ("type", "num_workers", "device_option")
    if fills.arg or any(fills.HasField(field) for field in fields):
        return True
    given = {name for operator in fills.op for name in operator.output}
    return any(name not in given for name in (*fills.external_input, *fills.external_output))


def _pair_blobs(operator: Any) -> list[tuple[str, int]] | None:
    """Return a Do's pairs of an inner blob and the number of an operand; results count last."""
    if operator.type != "Do":
        return None
    arguments = {argument.name: argument for argument in operator.arg}
    inner, outer = arguments.get("inner_blobs"), arguments.get("outer_blobs_idx")
    if inner is None or outer is None:
        return []
    names = (name.decode("utf-8", "backslashreplace") for name in inner.strings)
    return list(zip(names, outer.ints, strict=False))
