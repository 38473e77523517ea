"""ONNX graphs as those of the view model: nodes, values and the wiring between them.

Names are resolved as the IR specification has it (Names within a Graph; Nested graphs): a
node of a subgraph sees the values of the graphs around it, functions see only their own.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from itertools import count, repeat
from operator import attrgetter
from typing import Any, NoReturn

from netloupe.explorer.model import (
    Function,
    Graph,
    Model,
    ModelWarning,
    Node,
    QuantizationAnnotation,
    SparseTensor,
    Tensor,
    Value,
)
from netloupe.explorer.model.failing import fail
from netloupe.explorer.model.node import connect_node
from netloupe.explorer.model.reading import GraphReading, get_graph_reading, set_graph_reading
from netloupe.explorer.model.value import read_later
from netloupe.explorer.notation import clip_text
from netloupe.explorer.progress import step
from netloupe.explorer.readers.protobuf.parts import iterate
from netloupe.explorer.readers.protobuf.texts import read_text
from netloupe.proto.columns import GraphColumns
from netloupe.proto.scanner import MAX_GRAPH_DEPTH

from .columns import add_nodes
from .dialect import ONNX
from .elements import name_message, name_node
from .nodes import OnnxNodeLoader, Subgraphs
from .parts import OnnxParts, nesting
from .scope import Scope
from .tensors import TensorReader, read_entries
from .value_infos import Declared, OnnxGraphLoader, take_value
from .versions import find_keys

#: a graph to fill, its message, and the graphs around it, innermost first
Task = tuple[Graph, Any, tuple[Graph, ...]]

#: how many nodes are read in one step
_STEP = 10_000
_GET_NAME = attrgetter("name")


class GraphReader:
    """Reads GraphProtos and FunctionProtos into graphs of the view model."""

    def __init__(self, tensor_reader: TensorReader, parts: OnnxParts) -> None:
        self.tensor_reader = tensor_reader
        self._parts = parts
        #: the values of outer graphs that the subgraphs of a node use, while these are read
        self._captured: dict[Node, dict[Value, None]] = {}

    def read(
        self,
        graph: Graph,
        proto: Any,
        outer: tuple[Graph, ...] = (),
        columns: GraphColumns | None = None,
    ) -> None:
        """Fill a graph.

        Parameters
        ----------
        graph
            The graph, still empty.
        proto
            Its message.
        outer
            The graphs whose values it sees, innermost first.
        columns
            What its nodes say, where that was read in one go and no node holds a graph.

        Raises
        ------
        ModelFormatError
            Where graphs are nested too deep, or one within is damaged.
        ReadingError
            Where an element cannot be read for another reason.
        """
        self._run(graph, self._read_graph(graph, proto, outer, columns))

    def _read_graph(
        self,
        graph: Graph,
        proto: Any,
        outer: tuple[Graph, ...],
        columns: GraphColumns | None = None,
    ) -> Iterator[Task]:
        """Fill a graph; yield each of its subgraphs where it is to be filled."""
        step("reading values")
        declared = self._begin(graph, proto)
        graph.doc = read_text(proto.doc_string)
        graph.metadata = read_entries(proto.metadata_props)
        scope = Scope(graph, outer, self._captured)
        self._read_inputs(scope, declared)
        self._read_initializers(scope, proto)
        step("reading nodes")
        if columns is None or not self._add_nodes(scope, proto, columns, declared):
            self._read_value_infos(scope.values, proto, declared)
            yield from self._read_nodes(scope, self._parts.nodes_of(proto), declared)
        self._read_outputs(scope, declared)
        self._read_annotations(scope, proto)

    def _begin(self, graph: Graph, proto: Any) -> Declared:
        """Say how more is read of a graph than it holds; return what reads more of its values."""
        loader = OnnxGraphLoader(proto, self._parts, self.tensor_reader)
        declared = Declared(proto)
        set_graph_reading(graph, GraphReading(loader, declared, self._parts.presence.denotations))
        return declared

    def _run(self, graph: Graph, task: Iterator[Task]) -> None:
        """Do a task and those that it yields, each at once: recursion without its depth limit."""
        stack = [(graph, task)]
        while stack:
            graph, task = stack[-1]
            try:
                inner = next(task, None)
            except Exception as error:
                fail(error, graph.model.source, f"the graph {graph.path}")
            if inner is None:
                stack.pop()
            elif len(stack) > MAX_GRAPH_DEPTH:
                raise nesting(self._parts.source)
            else:
                stack.append((inner[0], self._read_graph(*inner)))
        for node, values in self._captured.items():
            node.captures = tuple(values)
        self._captured.clear()

    def read_function(self, function: Function, proto: Any) -> None:
        """Fill a function's body."""
        self._run(function, self._read_body(function, proto))

    def _read_body(self, function: Function, proto: Any) -> Iterator[Task]:
        declared = self._begin(function, proto)
        stated = frozenset(read_text(entry.domain) for entry in proto.opset_import)
        get_graph_reading(function).stated_imports = stated
        function.doc = read_text(proto.doc_string)
        function.metadata = read_entries(proto.metadata_props)
        for raw in proto.input:
            value = take_value(function, read_text(raw), function.values)
            value.is_input = True
            function.inputs.append(value)
        self._read_value_infos(function.values, proto, declared)
        scope = Scope(function, (), self._captured)
        yield from self._read_nodes(scope, proto.node, declared)
        for raw in proto.output:
            function.outputs.append(scope.find_output(read_text(raw)))

    def read_default_graphs(self, function: Function, proto: Any) -> dict[str, tuple[Graph, ...]]:
        """Return the graphs of a function's attribute default by field; they see no values."""
        name = read_text(proto.name)
        found: dict[str, tuple[Graph, ...]] = {}
        for field, protos in self._graphs_of(proto):
            made = []
            for position, inner_proto in enumerate(protos):
                path = f"{function.path}.{name}" + (f"[{position}]" if field == "graphs" else "")
                inner = Graph(
                    function.model, "subgraph", read_text(inner_proto.name), path, None, name
                )
                function.default_graphs.append(inner)
                self.read(inner, inner_proto)
                made.append(inner)
            if made:
                found[field] = tuple(made)
        return found

    def read_training(self, model: Model, proto: Any, path: str, field: str) -> Graph:
        """Return a training graph; an algorithm sees the values of the main graph."""
        graph = Graph(model, "training", read_text(proto.name), path)
        self.read(graph, proto, (model.graph,) if field == "algorithm" else ())
        return graph

    def _read_inputs(self, scope: Scope, declared: Declared) -> None:
        graph, values, name = scope.graph, scope.values, ""
        inputs = graph.inputs
        start, names = declared.inputs()
        if len(names) > _STEP and not values and len(set(names)) == len(names):
            made = map(
                Value, names, repeat(graph), repeat(""), repeat(None), repeat(-1), count(start)
            )
            values.update(zip(names, made, strict=True))
            inputs.extend(values.values())
            for value in inputs:
                value.is_input = True
            return
        try:
            for place, name in enumerate(names, start):
                if name in values:
                    value = values[name]
                    read_later(value, place)
                    scope.warnings.append(ModelWarning(value.path, "is listed twice as an input"))
                    continue
                value = values[name] = Value(name, graph, "", None, -1, place)
                value.is_input = True
                inputs.append(value)
        except Exception as error:
            _fail(error, graph, f"input '{name}'")

    def _read_outputs(self, scope: Scope, declared: Declared) -> None:
        graph, values, last, name = scope.graph, scope.values, scope.last, ""
        outputs = graph.outputs
        start, names = declared.outputs()
        #: where the first of each name is, as far as names stand there again
        listed: dict[str, int] = {}
        has_doubles = len(set(names)) < len(names)
        try:
            for place, name in enumerate(names, start):
                value = values.get(name)
                if value is not None and value.producer is not None and name not in last:
                    value.is_output = True
                else:
                    value = scope.find_output(name)
                outputs.append(value)
                if value.graph is not graph:
                    value = take_value(graph, name, values)
                read_later(value, place)
                first = listed.setdefault(name, place) if has_doubles else place
                if first != place:  # which is legal, but where they contradict each other
                    types = declared.stated_type(first), declared.stated_type(place)
                    if types[0] != types[1]:
                        before, after = (clip_text(str(t or "no type"), 100) for t in types)
                        message = (
                            f"is listed twice as an output, as {before} and as {after}; "
                            "the last counts"
                        )
                        scope.warnings.append(ModelWarning(value.path, message))
        except Exception as error:
            _fail(error, graph, f"output '{name}'")

    def _read_value_infos(
        self,
        values: dict[str, Value],
        proto: Any,
        declared: Declared,
        names: list[str] | None = None,
    ) -> None:
        """Note where ``value_info`` speaks of values, also of those that are not known yet.

        What it says of them is read when somebody asks for it. ``names`` are those of all its
        entries, where they are known.
        """
        infos = proto.value_info
        if not infos:
            return
        if names is None:
            names = [*map(_GET_NAME, iterate(infos))]
        places = declared.places = dict(zip(names, range(len(names)), strict=True))
        if len(places) == len(names) and set(map(type, names)) == {str}:  # as it should be
            for name in values.keys() & places.keys():
                read_later(values[name], places.pop(name))
            return
        places.clear()
        for place, name in enumerate(names):
            if name in places or type(name) is not str:
                declared.more.append((read_text(name), place))
            elif name in values:
                read_later(values[name], place)
            else:
                places[name] = place

    def _read_initializers(self, scope: Scope, proto: Any) -> None:
        graph, values = scope.graph, scope.values
        read, path, tensors = self.tensor_reader.read_initializer, graph.path, graph.initializers
        packed = self._parts.tensors
        if packed is not None:
            self._add_initializers(scope, self.tensor_reader.read_packed(packed, path))
        try:
            for tensor_proto in iterate(proto.initializer):
                tensor = read(tensor_proto, path)
                tensors.append(tensor)
                name = tensor.name
                if name in values:
                    self._bind_initializer(scope, tensor)
                else:
                    value = values[name] = Value(name, graph)
                    value.initializer = tensor
        except Exception as error:
            _fail(error, graph, name_message(tensor_proto, "initializer"))
        for sparse_proto in proto.sparse_initializer:
            try:
                path = f"{graph.path}/%{read_text(sparse_proto.values.name)}"
                sparse = self.tensor_reader.read_sparse(sparse_proto, path)
                graph.sparse_initializers.append(sparse)
                self._bind_initializer(scope, sparse)
            except Exception as error:
                _fail(error, graph, name_message(sparse_proto.values, "sparse initializer"))

    def _add_initializers(self, scope: Scope, tensors: Sequence[Tensor]) -> None:
        """Add very many initializers, which need not have different names."""
        graph, values = scope.graph, scope.values
        graph.initializers += tensors
        names = [tensor.name for tensor in tensors]
        if len({*names}) < len(names) or not values.keys().isdisjoint(names):
            for tensor in tensors:
                self._bind_initializer(scope, tensor)
            return
        made = [*map(Value, names, repeat(graph))]
        for value, tensor in zip(made, tensors, strict=True):
            value.initializer = tensor
        values.update(zip(names, made, strict=True))

    def _bind_initializer(self, scope: Scope, tensor: Tensor | SparseTensor) -> None:
        value = take_value(scope.graph, tensor.name, scope.values)
        if value.initializer is not None:
            scope.warnings.append(
                ModelWarning(value.path, "two initializers have this name; the first is used")
            )
            return
        value.initializer = tensor

    def _add_nodes(
        self, scope: Scope, proto: Any, columns: GraphColumns, declared: Declared
    ) -> bool:
        """Add the nodes and what ``value_info`` says, both from columns.

        Returns False where they need to be read one by one.
        """
        graph, values = scope.graph, scope.values
        if "" in values:
            return False
        given = [name for name in columns.outputs if name]
        outputs = {info.name for info in proto.output}
        places: Iterable[int]
        keys = None
        if len({*given}) < len(given) or not values.keys().isdisjoint(given):
            keys = find_keys(columns, values)
            if keys is None:
                return False
            self._read_value_infos(values, proto, declared, columns.info_names)
            take = declared.places.pop
            places = [
                take(name, -1) if key == name else -1
                for name, key in zip(given, keys.given, strict=True)
            ]
        # as shape inference writes it: in the order of the nodes, mostly without the outputs
        elif columns.info_names == given:
            places = range(len(given))
        elif columns.info_names == [name for name in given if name not in outputs]:
            following = count()
            places = [-1 if name in outputs else next(following) for name in given]
        else:
            self._read_value_infos(values, proto, declared, columns.info_names)
            places = map(declared.places.pop, given, repeat(-1))
        domains: dict[int, str] = {}
        nodes = self._parts.nodes_of(proto)
        loader = OnnxNodeLoader(nodes, self.tensor_reader, {}, self._parts, domains)
        if not add_nodes(graph, columns, loader, domains, given, places, keys):
            return False
        get_graph_reading(graph).stated_domains = domains
        scope.values = graph.values  # others than before
        if keys is not None:
            scope.last = {name: scope.values[key] for name, key in keys.last.items()}
        declared.finish(graph, scope.values)
        return True

    def _read_nodes(
        self, scope: Scope, protos: Any, declared: Declared
    ) -> Generator[Task, None, None]:
        """Add the nodes; note the later values of the names that are defined again."""
        subgraphs: Subgraphs = {}
        domains: dict[int, str] = {}
        loader = OnnxNodeLoader(protos, self.tensor_reader, subgraphs, self._parts, domains)
        messages = protos[:]  # each access by index would make a new object
        wired = self._make_nodes(scope, messages, declared, loader, domains)
        get_graph_reading(scope.graph).stated_domains = domains
        nodes = scope.graph.nodes
        if self._parts.presence.overloads:
            for node, proto in zip(nodes, messages, strict=True):
                node.overload = read_text(proto.overload)
        declared.finish(scope.graph, scope.values)
        has_subgraphs = self._parts.presence.subgraphs
        for index in range(wired, len(nodes)):
            if not index % _STEP:
                step()
            node, proto = nodes[index], messages[index]
            try:
                node.inputs = scope.use(node, proto.input[:])
                if has_subgraphs:
                    inside: dict[str, Graph] = {}
                    for number, attribute in enumerate(proto.attribute):
                        if attribute.HasField("g") or attribute.graphs:
                            found = subgraphs[index, number] = {}
                            yield from self._read_subgraphs(
                                node, number, attribute, scope.outer, found, inside
                            )
                    node.subgraphs = tuple(inside.values())
            except Exception as error:
                _fail(error, scope.graph, name_node(index, proto))

    def _make_nodes(
        self,
        scope: Scope,
        messages: list[Any],
        declared: Declared,
        loader: OnnxNodeLoader,
        stated_domains: dict[int, str],
    ) -> int:
        """Add the nodes and what they give; return from which on their inputs are to be read."""
        graph, values = scope.graph, scope.values
        nodes, take, find = graph.nodes, declared.places.pop, values.get
        presence = self._parts.presence
        has_domains = presence.domains
        op_type: str
        # up to here every value is defined. Where each node only uses what is defined before it,
        # as the specification wants it, one pass is enough; from the first node on that does
        # not, inputs wait until all outputs are known
        waiting = 0 if presence.subgraphs or "" in values else len(messages)
        try:
            for index, proto in enumerate(messages):
                if not index % _STEP:
                    step()
                name, op_type = proto.name, proto.op_type
                if not (type(name) is type(op_type) is str):  # bytes: no UTF-8
                    name, op_type = read_text(name), read_text(op_type)
                domain = ONNX.domain
                if has_domains:
                    stated = read_text(proto.domain)
                    domain = ONNX.read_domain(stated)
                    if domain != stated:
                        stated_domains[index] = stated
                node = Node(graph, index, name, op_type, domain, loader)
                nodes.append(node)
                if index < waiting:
                    names = proto.input[:]
                    inputs = tuple(map(find, names))
                    if None in inputs and not all(map(_agree, names, inputs)):
                        waiting = index
                    else:
                        connect_node(node, inputs)
                names = proto.output[:]
                if len(names) == 1:
                    name = names[0]
                    if name and name not in values and type(name) is str:
                        value = values[name] = Value(name, graph, "", node, 0, take(name, -1))
                        node.outputs = (value,)
                        continue
                outputs: list[Value | None] = []
                for place, name in enumerate(names):
                    if name and name not in values and type(name) is str:
                        value = values[name] = Value(name, graph, "", node, place, take(name, -1))
                        outputs.append(value)
                    else:
                        waiting = min(waiting, index + 1)
                        outputs.append(scope.define(node, place, read_text(name)))
                node.outputs = tuple(outputs)
        except Exception as error:
            _fail(error, graph, name_node(index, proto))
        return waiting

    def _read_subgraphs(
        self,
        node: Node,
        number: int,
        attribute: Any,
        outer: tuple[Graph, ...],
        found: dict[str, tuple[Graph, ...]],
        inside: dict[str, Graph],
    ) -> Iterator[Task]:
        """Make the graphs of one attribute, yield each to be filled, note them by field.

        ``inside`` gets them by path, beside those of the node's other attributes.
        """
        graph = node.graph
        name = read_text(attribute.name)
        for field, protos in self._graphs_of(attribute):
            made = []
            for position, proto in enumerate(protos):
                path = f"{node.path}.{name}" + (f"[{position}]" if field == "graphs" else "")
                while path in inside:
                    path = f"{path}#{number}"
                inner = Graph(graph.model, "subgraph", read_text(proto.name), path, node, name)
                inside[path] = inner
                yield inner, proto, (graph, *outer)
                made.append(inner)
            if made:
                found[field] = tuple(made)

    def _graphs_of(self, attribute: Any) -> tuple[tuple[str, Iterator[Any]], ...]:
        """Return the graphs that an AttributeProto holds, by field."""
        single = [attribute.g] if attribute.HasField("g") else []
        find = self._parts.graph
        return ("g", map(find, single)), ("graphs", map(find, attribute.graphs))

    def _read_annotations(self, scope: Scope, proto: Any) -> None:
        graph, values, name = scope.graph, scope.values, ""
        annotations = graph.annotations
        try:
            for annotation_proto in iterate(proto.quantization_annotation):
                name = read_text(annotation_proto.tensor_name)
                entries = annotation_proto.quant_parameter_tensor_names[:]
                annotation = QuantizationAnnotation(
                    name,
                    tuple([(read_text(entry.key), read_text(entry.value)) for entry in entries]),
                )
                annotations.append(annotation)
                value = values.get(name)
                if value is None:
                    message = "has a quantization annotation but does not exist"
                elif value.annotation is not None:
                    message = "has two quantization annotations"
                else:
                    value.annotation = annotation
                    continue
                scope.warnings.append(ModelWarning(f"{graph.path}/%{name}", message))
        except Exception as error:
            _fail(error, graph, f"the quantization annotation of '{name}'")


def _fail(error: Exception, graph: Graph, element: str) -> NoReturn:
    fail(error, graph.model.source, f"{element} in {graph.path}")


def _agree(name: str | bytes, value: Value | None) -> bool:
    """Return whether a value was found for a name; none is for an operand that is left out."""
    return value is not None or not name
