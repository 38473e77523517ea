"""Caffe2 nets as graphs of the view model: nodes, blobs and the wiring between them.

A net's operators run in the order of the file on blobs that all live in one workspace. The
same blob may be written again and again (``Relu: conv1 -> conv1``), so each writing makes a
value of its own, and a use means the last one before it. A net among an operator's arguments
works on the same workspace: what it does not write itself it sees as it is when the operator
runs. Only Do has a workspace of its own, which its arguments ``inner_blobs`` and
``outer_blobs_idx`` connect with its operands.
"""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import Any

from netloupe.explorer.errors import ModelFormatError
from netloupe.explorer.model import (
    Attribute,
    Dimension,
    Graph,
    ModelWarning,
    NetDetails,
    Node,
    NodeDetails,
    Tensor,
    TensorType,
    Value,
)
from netloupe.explorer.operators import find_schema

from .caffe2_arguments import Graphs, read_arguments
from .caffe2_fills import is_fill, read_fill
from .caffe2_messages import MOST_NESTED_NETS, Net
from .caffe2_tensors import read_device
from .onnx_tensors import read_text

#: the domain of operators that name none (caffe2.proto: OperatorDef.domain)
CAFFE2_DOMAIN = "caffe2"


#: formal names of operands that are weights
_WEIGHTS = frozenset(("filter", "bias", "W", "w", "b", "scale", "mean", "var", "slope"))


class _Scope:
    """The blobs of one graph, each with its values in the order in which they are written.

    Parameters
    ----------
    outer
        The scope around; None for a net that nothing holds.
    aliases
        Values of the scope around by the names that they have here. None where all blobs of
        the scope around are seen under their own names.
    results
        Of a Do: the blobs that become its results.
    """

    def __init__(
        self,
        graph: Graph,
        outer: _Scope | None = None,
        aliases: dict[str, Value] | None = None,
        results: list[str] | None = None,
    ) -> None:
        self.graph = graph
        self.outer = outer
        self.aliases = aliases
        self.results = results
        #: blobs that the init net gives otherwise than by a fill -> the path of the node
        self.given: dict[str, str] = {}
        self.depth: int = outer.depth + 1 if outer is not None else 0
        self._versions: dict[str, list[Value]] = {}

    def define(self, name: str) -> Value:
        """Return a new value for a blob that is written, or first used, now."""
        versions = self._versions.setdefault(name, [])
        key, count = name, len(versions) + 1
        if versions:
            key = f"{name}#{count}"
        while key in self.graph.values:
            count += 1
            key = f"{name}#{count}"
        value = self.graph.values[key] = Value(name, self.graph, key)
        versions.append(value)
        return value

    def last(self, name: str) -> Value | None:
        """Return the value that a blob has in the end, if this graph has the blob."""
        versions = self._versions.get(name)
        return versions[-1] if versions else None

    def before(self, name: str, index: int) -> Value | None:
        """Return the value that a blob has when the node of an index runs."""
        low, high = 0, len(versions := self._versions.get(name, []))
        while low < high:
            middle = (low + high) // 2
            producer = versions[middle].producer
            if producer is None or producer.index < index:
                low = middle + 1
            else:
                high = middle
        return versions[low - 1] if low else None

    def capture(self, name: str) -> Value | None:
        """Find a blob in the scopes around as it is when this net runs; note it on the way."""
        if self.aliases is not None:
            found = self.aliases.get(name)
            self._note(found)
            return found
        passed = [self]
        scope = self
        while scope.outer is not None and scope.aliases is None:
            caller = scope.graph.parent_node
            if caller is None:
                return None
            scope = scope.outer
            value = scope.before(name, caller.index)
            if value is None and scope.aliases is not None:
                value = scope.aliases.get(name)
                if value is not None:
                    passed.append(scope)
            if value is not None:
                for inner in passed:
                    inner._note(value)
                return value
            passed.append(scope)
        return None

    def _note(self, value: Value | None) -> None:
        caller = self.graph.parent_node
        if value is not None and caller is not None and value not in caller.captures:
            caller.captures = (*caller.captures, value)


class NetReader:
    """Reads NetDefs into graphs of one model.

    Parameters
    ----------
    folder
        Where external data may lie; None where there is no file.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._pending: deque[tuple[Net, _Scope]] = deque()

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
            Where nets are nested deeper than 500, or a nested one is damaged.
        """
        scope = _Scope(graph)
        if fills is not None:
            self._read_fills(graph, scope, fills)
        self._pending.append((net, scope))
        self._read_pending()
        if fills is None:
            for value in graph.inputs:
                value.is_parameter = bool(value.consumers) and all(
                    _is_weight(node, position) for node, position in value.consumers
                )

    def _read_pending(self) -> None:
        # one after the other instead of within each other: nets may be nested deep
        while self._pending:
            net, scope = self._pending.popleft()
            self._read_net(net, scope)

    # the init net

    def _read_fills(self, graph: Graph, scope: _Scope, fills: Net) -> None:
        others = []
        for index, operator in enumerate(fills.message.op):
            if not is_fill(operator):
                others.append(index)
                continue
            name = read_text(operator.output[0])
            value = scope.last(name)
            if value is None:
                value = scope.define(name)
            tensor = read_fill(operator, name, value.path)
            graph.initializers.append(tensor)
            if value.initializer is not None:
                message = "two fills have this name; the last is used"
                graph.warnings.append(ModelWarning(value.path, message))
            value.initializer = tensor
            value.type = TensorType(tensor.dtype, tuple(map(Dimension, tensor.dims)))
        if others or _says_more(fills.message):
            self._read_rest(graph, scope, fills, others)

    def _read_rest(self, graph: Graph, scope: _Scope, fills: Net, others: list[int]) -> None:
        """Keep what an init net does besides filling, and says of itself, as a graph."""
        rest = Graph(graph.model, "init", read_text(fills.message.name), "init")
        graph.model.nets.append(rest)
        filled = {value.name: value for value in graph.values.values()}
        inner = _Scope(rest, scope, filled)
        self._read_details(fills, rest)
        for raw in fills.message.external_input:
            name = read_text(raw)
            if name not in filled:
                self._read_input(inner, name)
        self._read_nodes(fills, inner, others)
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

    def _read_net(self, net: Net, scope: _Scope) -> None:
        graph, message = scope.graph, net.message
        self._read_details(net, graph)
        listed = [read_text(name) for name in message.external_input]
        for name in dict.fromkeys(listed):
            self._read_input(scope, name)
        if len(set(listed)) != len(listed):
            warning = ModelWarning(graph.path, "lists an external input twice")
            graph.warnings.append(warning)
        self._read_nodes(net, scope, range(len(message.op)))
        self._read_outputs(net, scope)

    def _read_input(self, scope: _Scope, name: str) -> None:
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

    def _read_outputs(self, net: Net, scope: _Scope) -> None:
        graph = scope.graph
        names = [read_text(name) for name in net.message.external_output]
        caller = graph.parent_node
        if caller is not None:
            results = scope.results
            if results is None:
                results = [value.name for value in caller.outputs if value is not None]
            if results and all(scope.last(name) is not None for name in results):
                names = results  # so that they correspond one by one
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

    def _read_details(self, net: Net, graph: Graph) -> None:
        message = net.message
        graphs: Graphs = {}
        for position, argument in enumerate(message.arg):
            for field, nets in net.nested(-1, position).items():
                path = f"{graph.path}.{read_text(argument.name)}"
                graphs[position, field] = self._make_graphs(None, graph, path, field, nets, None)
        arguments, warnings = read_arguments(message.arg, graph.path, self._folder, graphs)
        graph.warnings += warnings
        graph.net = NetDetails(
            read_text(message.type),
            message.num_workers if message.HasField("num_workers") else None,
            read_device(message.device_option) if message.HasField("device_option") else None,
            arguments,
            tuple(map(read_text, message.external_input)),
            tuple(map(read_text, message.external_output)),
        )

    def _read_nodes(self, net: Net, scope: _Scope, indexes: range | list[int]) -> None:
        graph, operators = scope.graph, net.message.op
        subgraphs: dict[int, Graphs] = {}
        loader = _Caffe2NodeLoader(net, indexes, self._folder, subgraphs)
        for position, index in enumerate(indexes):
            operator = operators[index]
            graph.nodes.append(
                Node(
                    graph,
                    position,
                    read_text(operator.name),
                    read_text(operator.type),
                    read_text(operator.domain) or CAFFE2_DOMAIN,
                    loader,
                )
            )
        for node, index in zip(graph.nodes, indexes, strict=True):
            operator = operators[index]
            node.inputs = tuple(
                self._use(net, operator, scope, node, position, read_text(name))
                for position, name in enumerate(operator.input)
            )
            node.control_inputs = tuple(
                value
                for name in operator.control_input
                if (value := self._find(net, operator, scope, node, read_text(name))) is not None
            )
            node.outputs = tuple(
                self._write(scope, node, position, read_text(name))
                for position, name in enumerate(operator.output)
            )
            for position, argument in enumerate(operator.arg):
                if not _may_hold_nets(net, argument):
                    continue
                for field, nets in net.nested(index, position).items():
                    path = f"{node.path}.{read_text(argument.name)}"
                    found = self._make_graphs(
                        node, graph, path, field, nets, scope, _pair_blobs(operator)
                    )
                    subgraphs.setdefault(index, {})[position, field] = found

    def _use(
        self, net: Net, operator: Any, scope: _Scope, node: Node, position: int, name: str
    ) -> Value | None:
        value = self._find(net, operator, scope, node, name)
        if value is not None:
            value.add_user(node)
        return value

    def _find(self, net: Net, operator: Any, scope: _Scope, node: Node, name: str) -> Value | None:
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
        if not _is_written_inside(operator, name):
            warning = ModelWarning(node.path, f"uses %{name}, which nothing defines")
            scope.graph.warnings.append(warning)
        return value

    def _write(self, scope: _Scope, node: Node, position: int, name: str) -> Value | None:
        if not name:
            return None
        value = scope.define(name)
        value.producer = node
        value.output_index = position
        return value

    def _make_graphs(
        self,
        node: Node | None,
        graph: Graph,
        path: str,
        field: str,
        nets: list[Net],
        scope: _Scope | None,
        pairs: list[tuple[str, int]] | None = None,
    ) -> tuple[Graph, ...]:
        """Return graphs for the nets of one argument, to be read when this net is done."""
        made = []
        taken = {inner.path for inner in node.subgraphs} if node is not None else set()
        name = path.rpartition(".")[2]
        for position, net in enumerate(nets):
            own = path + (f"[{position}]" if field == "nets" else "")
            while own in taken:
                own += "'"
            taken.add(own)
            kind = "subgraph" if node is not None else "net"
            inner = Graph(graph.model, kind, read_text(net.message.name), own, node, name)  # type: ignore[arg-type]
            if node is not None:
                node.subgraphs = (*node.subgraphs, inner)
            else:
                graph.model.nets.append(inner)
            inner_scope = _Scope(inner, scope)
            if node is not None and pairs is not None:
                inner_scope.aliases, inner_scope.results = _bind_blobs(node, pairs)
            if inner_scope.depth > MOST_NESTED_NETS:
                raise ModelFormatError(
                    f"{graph.model.source}: nets are nested more than {MOST_NESTED_NETS} deep. "
                    "Check which file it is."
                )
            self._pending.append((net, inner_scope))
            made.append(inner)
        return tuple(made)


class _Caffe2NodeLoader:
    """Reads the details of a net's nodes from their messages when they are asked for."""

    def __init__(
        self,
        net: Net,
        indexes: range | list[int],
        folder: Path | None,
        subgraphs: dict[int, Graphs],
    ) -> None:
        self._net = net
        self._indexes = indexes
        self._folder = folder
        self._subgraphs = subgraphs

    def metadata(self, node: Node) -> dict[str, str]:
        return {}

    def details(self, node: Node) -> NodeDetails:
        index = self._indexes[node.index]
        message = self._net.message
        operator = message.op[index]
        attributes, warnings = read_arguments(
            operator.arg, node.path, self._folder, self._subgraphs.get(index, {})
        )
        constant = _read_constant(operator, node) if is_fill(operator) else None
        if constant is not None:
            warnings += constant.warnings
            _hang_values(attributes, constant)
        if not node.op_type:
            warnings.append(ModelWarning(node.path, "has no type"))
        device = None
        if operator.HasField("device_option"):
            device = read_device(operator.device_option)
        elif message.HasField("device_option"):
            device = read_device(message.device_option, is_inherited=True)
        return NodeDetails(
            attributes,
            warnings=tuple(warnings),
            constant=constant,
            engine=read_text(operator.engine),
            device=device,
            is_gradient=operator.is_gradient_op if operator.HasField("is_gradient_op") else None,
            debug_info=read_text(operator.debug_info),
            op_version=operator.op_version if operator.HasField("op_version") else None,
        )


def _read_constant(operator: Any, node: Node) -> Tensor:
    """Return the tensor that a fill among the nodes gives."""
    field = "value" if operator.type == "ConstantFill" else "values"
    tensor = read_fill(operator, read_text(operator.output[0]), f"{node.path}.{field}")
    tensor.metadata, tensor.device = {}, None  # the node itself shows them
    return tensor


def _hang_values(attributes: dict[str, Attribute], constant: Tensor) -> None:
    """Put the tensor in the place of the plain list that it is made of, which may be long."""
    values = attributes.get("values")
    if values is not None and constant.storage not in ("none", "value"):
        attributes["values"] = Attribute("values", values.kind, constant)


def _is_weight(node: Node, position: int) -> bool:
    """Return whether an operator takes a weight at a position, going by its operands' names."""
    if node.op_type in ("Mul", "Add") and position == 1:
        return "broadcast" in node.attributes
    schema = find_schema(node.domain, node.op_type, None)
    return schema is not None and schema.input_name(position) in _WEIGHTS


def _may_hold_nets(net: Net, argument: Any) -> bool:
    return net.is_lifted or argument.HasField("n") or bool(argument.nets)


def _says_more(fills: Any) -> bool:
    """Return whether an init net says anything beside its name, fills and what they give."""
    fields = ("type", "num_workers", "device_option")
    if fills.arg or any(fills.HasField(field) for field in fields):
        return True
    given = {name for operator in fills.op for name in operator.output}
    return any(name not in given for name in (*fills.external_input, *fills.external_output))


def _is_written_inside(operator: Any, name: str) -> bool:
    """Return whether a net among an operator's own arguments writes a blob that it reads."""
    return any(
        name in inner.output
        for argument in operator.arg
        for net in (argument.n, *argument.nets)
        for inner in net.op
    )


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


def _bind_blobs(node: Node, pairs: list[tuple[str, int]]) -> tuple[dict[str, Value], list[str]]:
    """Return a Do's operands by their names inside, and the names of its results there."""
    count = len(node.inputs)
    aliases = {
        name: value
        for name, number in pairs
        if 0 <= number < count and (value := node.inputs[number]) is not None
    }
    names = {number - count: name for name, number in pairs}
    return aliases, [names.get(number, "") for number in range(len(node.outputs))]
