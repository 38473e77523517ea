"""A model as lines of text that are equal for equal models: one fact a line, for ``git diff``.

What has no order in the file's format is sorted, so are nodes: each stands behind those that give
it its operands. Weights are told by digests of what they hold, not by how or where that is stored.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import (
    Attribute,
    Function,
    Graph,
    Model,
    Node,
    SparseTensor,
    SparseTensorType,
    Tensor,
    TensorType,
    Value,
)
from netloupe.explorer.model.device import DeviceOption
from netloupe.explorer.model.unknown import UnknownFields
from netloupe.explorer.notation import write_float
from netloupe.explorer.progress import is_ending, step
from netloupe.explorer.tensors import open_elements

#: a line; or in its place a graph, with its indentation and what it is
_Line: TypeAlias = str | tuple[int, Graph, str]

#: tensors of so few elements are written out
_MOST_WRITTEN = 16
#: so many elements are read at once
_PIECE = 2**18
_DIGITS = 32
_STEP = 1_000


def write_canonical(model: Model, *, reads_weights: bool = True) -> Iterator[str]:
    """Yield the lines of the text form of a model.

    Parameters
    ----------
    model
        The model. Its file's name and folder do not occur in the text.
    reads_weights
        Whether weights are read for their digests; else only type and dimensions are told.

    Notes
    -----
    Two files give the same text where they hold the same but for how elements are stored (typed
    fields, raw bytes, an external file), the order of nodes, initializers, metadata, attributes and
    functions. Names do count. Where elements cannot be read, as where the file of external ones is
    not there, it is told where they should be.
    """
    return _Writer(model, reads_weights=reads_weights).write()


class _Writer:
    def __init__(self, model: Model, *, reads_weights: bool) -> None:
        self.model = model
        self._reads_weights = reads_weights

    def write(self) -> Iterator[str]:
        model, header = self.model, self.model.header
        yield f"model {model.format}"
        told: list[tuple[str, object]] = [
            ("ir_version", header.ir_version),
            ("producer", header.producer_name),
            ("producer_version", header.producer_version),
            ("domain", header.domain),
            ("model_version", header.model_version),
            ("doc", header.doc),
        ]
        yield from _indent(_write_facts(told), 1)
        for domain, version in sorted(header.opset_imports.items()):
            yield f"  opset {quote_json(model.dialect.name_domain(domain))} = {version}"
        yield from _indent(_write_entries("metadata", header.metadata), 1)
        for device in sorted(header.device_configurations, key=lambda one: one.name):
            devices = ", ".join(map(quote_json, device.devices))
            yield f"  device {quote_json(device.name)} = {device.num_devices} [{devices}]"
        yield from _indent(_write_unknown(header.unknown_fields), 1)
        yield from self._write_graph(model.graph, "graph", 0)
        functions = sorted(model.functions, key=lambda f: (f.domain, f.name, f.overload))
        for function in functions:
            yield from self._write_graph(function, "function", 0)
        for training in model.training:
            yield "training"
            for kind, bindings in (
                ("initialization_binding", training.initialization_binding),
                ("update_binding", training.update_binding),
            ):
                for key, value in sorted(bindings):
                    yield f"  {kind} {quote_json(key)} = {quote_json(value)}"
            for name, graph in (
                ("initialization", training.initialization),
                ("algorithm", training.algorithm),
            ):
                if graph is not None:
                    yield from self._write_graph(graph, name, 1)
        for net in model.nets:
            yield from self._write_graph(net, "net", 0)

    # graphs

    def _write_graph(self, graph: Graph, kind: str, depth: int) -> Iterator[str]:
        """Yield the lines of a graph and, indented more, of those in it."""
        # a stack of iterators: graphs may be nested five hundred deep
        stack = [(depth, self._list_graph(graph, kind))]
        while stack:
            level, lines = stack[-1]
            for line in lines:
                if isinstance(line, str):
                    yield "  " * level + line
                else:
                    more, inner, name = line
                    stack.append((level + more, self._list_graph(inner, name)))
                    break
            else:
                stack.pop()

    def _list_graph(self, graph: Graph, kind: str) -> Iterator[_Line]:
        """Yield the lines of a graph, and in place of graphs in it these with their indentation."""
        yield f"{kind} {quote_json(graph.name)}"
        if isinstance(graph, Function):
            overload = [("overload", graph.overload)]
            yield from _indent(_write_facts([("domain", graph.stated_domain), *overload]), 1)
            for domain, version in sorted(graph.own_opset_imports.items()):
                yield f"  opset {quote_json(graph.dialect.name_domain(domain))} = {version}"
            for name in sorted(graph.attribute_names):
                yield f"  attribute {quote_json(name)}"
            yield from map(_deepen, self._list_attributes(graph.attribute_defaults, "default"))
        yield from _indent(_write_facts([("doc", graph.doc)]), 1)
        yield from _indent(_write_entries("metadata", graph.metadata), 1)
        yield from map(_deepen, self._list_net(graph))
        for value in graph.inputs:
            yield from _indent(_write_value(value, "input"), 1)
        for value in graph.outputs:
            yield from _indent(_write_value(value, "output"), 1)
        yield from _indent(self._write_stored(graph), 1)
        for annotation in sorted(graph.annotations, key=lambda one: one.tensor_name):
            name = quote_json(annotation.tensor_name)
            for key, entry in sorted(annotation.entries):
                yield f"  quantized {name} {quote_json(key)} = {quote_json(entry)}"
        yield from _indent(_write_unknown(graph.unknown_fields), 1)
        for number, node in enumerate(order_nodes(graph)):
            if not number % _STEP:
                step("writing nodes" if not number else "")
            yield from map(_deepen, self._list_node(node))

    def _list_net(self, graph: Graph) -> Iterator[_Line]:
        net = graph.net
        if net is None:
            return
        yield from _write_facts([("type", net.net_type), ("num_workers", net.num_workers)])
        if net.device is not None:
            yield f"device {_write_device(net.device)}"
        yield from self._list_attributes(net.arguments, "argument")
        for kind, names in (
            ("external_input", net.external_inputs),
            ("external_output", net.external_outputs),
        ):
            yield from (f"{kind} {quote_json(name)}" for name in names)

    def _write_stored(self, graph: Graph) -> Iterator[str]:
        stored: list[Tensor | SparseTensor] = [*graph.initializers, *graph.sparse_initializers]
        for number, tensor in enumerate(sorted(stored, key=lambda one: one.name)):
            if not number % _STEP:
                step("reading weights" if not number else "", number / len(stored))
            yield f"initializer {quote_json(tensor.name)} {self.write_tensor(tensor)}"
            yield from _indent(_write_tensor_notes(tensor), 1)

    # nodes

    def _list_node(self, node: Node) -> Iterator[_Line]:
        details = node.details
        operator = node.graph.dialect.name_operator(node.domain, node.op_type)
        yield f"node {quote_json(operator)}"
        for line in _write_facts(
            [
                ("name", node.name),
                ("domain", "" if details.stated_domain is None else details.stated_domain),
                ("overload", node.overload),
                ("engine", details.engine),
                ("op_version", details.op_version),
                ("is_gradient", details.is_gradient),
                ("debug_info", details.debug_info),
                ("doc", details.doc),
            ]
        ):
            yield f"  {line}"
        if details.device is not None:
            yield f"  device {_write_device(details.device)}"
        for index, value in enumerate(node.inputs):
            yield f"  input {index} {'-' if value is None else quote_json(value.key)}"
        for value in node.control_inputs:
            yield f"  control_input {quote_json(value.key)}"
        for index, value in enumerate(node.outputs):
            if value is None:
                yield f"  output {index} -"
                continue
            yield from _indent(_write_value(value, f"output {index}"), 1)
        yield from map(_deepen, self._list_attributes(node.attributes, "attribute"))
        yield from _indent(_write_entries("metadata", details.metadata), 1)
        for device in details.device_configurations:
            yield f"  device {quote_json(device.configuration_id)} stage {device.pipeline_stage}"
            for spec in sorted(device.sharding, key=lambda one: one.tensor_name):
                yield f"    sharding {quote_json(spec.tensor_name)} {_write_plain(spec)}"
        yield from _indent(_write_unknown(node.unknown_fields), 1)

    def _list_attributes(self, attributes: Mapping[str, Attribute], kind: str) -> Iterator[_Line]:
        for key, one in sorted(attributes.items()):
            name = f"{kind} {quote_json(key)}"
            value = one.value
            if one.reference:
                yield f"{name} = @{quote_json(one.reference)}"
            elif isinstance(value, Graph):
                yield name
                yield 1, value, "graph"
            elif isinstance(value, tuple) and any(isinstance(entry, Graph) for entry in value):
                yield name
                for entry in value:
                    if isinstance(entry, Graph):
                        yield 1, entry, "graph"
            elif isinstance(value, tuple) and any(map(_is_tensor, value)):
                for number, entry in enumerate(value):
                    yield f"{name} [{number}] {self.write_tensor(entry)}"
            elif isinstance(value, Tensor | SparseTensor):
                yield f"{name} {self.write_tensor(value)}"
            else:
                yield f"{name} = {_write_plain(value)}"
            if one.doc:
                yield f"  doc {quote_json(one.doc)}"

    # elements

    def write_tensor(self, tensor: Tensor | SparseTensor) -> str:
        """Return type, dimensions and what tells the elements of a tensor."""
        dims = ", ".join(map(str, tensor.dims))
        head = f"{tensor.dtype}[{dims}]"
        if isinstance(tensor, SparseTensor):
            parts = [self.write_tensor(tensor.values)]
            if tensor.indices is not None:
                parts.append(self.write_tensor(tensor.indices))
            return f"sparse {head} of {' at '.join(parts)}"
        if tensor.segment is not None:
            head += f" part {tensor.segment.begin} to {tensor.segment.end}"
        if not self._reads_weights:
            return head
        try:
            return f"{head} {_write_elements(tensor)}"
        except NetloupeError as error:
            if is_ending(error):
                raise
        return f"{head} {_say_unread(tensor)}"


def _write_elements(tensor: Tensor) -> str:
    """Return the elements of a small tensor, and a digest of those of others."""
    if tensor.dtype.name == "string":
        entries = [_to_text(entry) for entry in tensor.numpy().reshape(-1).tolist()]
        if len(entries) <= _MOST_WRITTEN:
            return f"= {_write_plain(tuple(entries))}"
        hashed = hashlib.sha256()
        for entry in entries:
            hashed.update(json.dumps(entry).encode())
        return f"sha256:{hashed.hexdigest()[:_DIGITS]}"
    elements = open_elements(tensor)
    if elements.size <= _MOST_WRITTEN and not tensor.dtype.is_complex:
        numbers = elements.take(0, elements.size)
        if tensor.dtype.is_float:
            return f"= {_write_plain(tuple(numbers.astype(np.float64).tolist()))}"
        return f"= {_write_plain(tuple(map(int, numbers)))}"
    hashed = hashlib.sha256()
    for start in range(0, elements.size, _PIECE):
        step()
        piece = np.ascontiguousarray(elements.take(start, min(start + _PIECE, elements.size)))
        if sys.byteorder == "big":
            piece = piece.byteswap()
        hashed.update(piece.tobytes())
    return f"sha256:{hashed.hexdigest()[:_DIGITS]}"


def _say_unread(tensor: Tensor) -> str:
    """Return where elements are that cannot be read: so much is told of them."""
    external = tensor.external
    if external is None:
        return "unread"
    entries = " ".join(
        f"{quote_json(key)} = {quote_json(text)}" for key, text in sorted(external.entries)
    )
    return f"unread external {entries}"


def _write_tensor_notes(tensor: Tensor | SparseTensor) -> Iterator[str]:
    if isinstance(tensor, SparseTensor):
        return
    yield from _write_facts([("doc", tensor.doc)])
    yield from _write_entries("metadata", tensor.metadata)
    stated = tensor.quantization
    if stated is not None:
        yield f"quantized {_write_plain(stated.scale)} {_write_plain(stated.zero_point)}"
    if tensor.device is not None:
        yield f"device {_write_device(tensor.device)}"
    yield from _write_unknown(tensor.unknown_fields)


def _is_tensor(value: object) -> bool:
    return isinstance(value, Tensor | SparseTensor)


def order_nodes(graph: Graph) -> Iterator[Node]:
    """Yield the nodes of a graph in an order that does not depend on that in the file.

    Each comes behind what gives it its operands, next to what it is needed for; what no output
    needs comes last. The nodes of a net, which run in the order of the file, come in that order.
    """
    if graph.net is not None:
        yield from graph.nodes
        return
    seen: set[Node] = set()
    needed = [value.producer for value in graph.outputs if value.producer is not None]
    rest = sorted(graph.nodes, key=_name_for_order)
    for root in (*needed, *rest):
        if root in seen or root.graph is not graph:
            continue
        seen.add(root)
        stack = [(root, _list_givers(root))]
        while stack:
            node, givers = stack[-1]
            for giver in givers:
                if giver not in seen and giver.graph is graph:
                    seen.add(giver)
                    stack.append((giver, _list_givers(giver)))
                    break
            else:
                stack.pop()
                yield node


def _name_for_order(node: Node) -> tuple[str, str, str, int]:
    first = next((value.key for value in node.outputs if value is not None), "")
    return first, node.op_type, node.name, node.index


def _list_givers(node: Node) -> Iterator[Node]:
    for value in (*node.inputs, *node.captures, *node.control_inputs):
        if value is not None and value.producer is not None:
            yield value.producer


def _write_value(value: Value, kind: str) -> Iterator[str]:
    kinds = TensorType | SparseTensorType
    stated = value.type
    told = "" if stated is None else f" {stated}"
    yield f"{kind} {quote_json(value.key)}{told}"
    if isinstance(stated, kinds):
        denoted = [axis.denotation for axis in stated.shape or ()]
        if stated.denotation or any(denoted):
            yield f"  denotation {quote_json(stated.denotation)} {_write_plain(tuple(denoted))}"
    yield from _indent(_write_facts([("doc", value.doc)]), 1)
    yield from _indent(_write_entries("metadata", value.metadata), 1)


def _write_facts(told: Iterable[tuple[str, object]]) -> Iterator[str]:
    for name, value in told:
        if value is not None and value != "":
            yield f"{name} {_write_plain(value)}"


def _write_entries(kind: str, entries: Mapping[str, str]) -> Iterator[str]:
    for key, text in sorted(entries.items()):
        yield f"{kind} {quote_json(key)} = {quote_json(text)}"


def _write_unknown(fields: UnknownFields) -> Iterator[str]:
    for one in fields:
        value = one.value
        if isinstance(value, bytes):
            told = f"{len(value)} bytes sha256:{hashlib.sha256(value).hexdigest()[:_DIGITS]}"
        else:
            told = str(value)
        yield f"unknown {quote_json(one.place)} {one.number} {one.wire_type} = {told}"


def _write_device(device: DeviceOption) -> str:
    told = [
        ("device_id", device.device_id),
        ("random_seed", device.random_seed),
        ("node_name", device.node_name),
        ("numa_node_id", device.numa_node_id),
        ("extra_info", device.extra_info or None),
    ]
    return " ".join((device.type_name, *_write_facts(told)))


def _write_plain(value: Any) -> str:
    """Return a value without graphs and tensors in it on one line."""
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_write_plain, value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return write_float(value)
    if isinstance(value, str | bytes):
        return quote_json(_to_text(value))
    return (
        quote_json(str(value)) if value is not None and not isinstance(value, int) else str(value)
    )


def _to_text(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return str(value)


def quote_json(text: str) -> str:
    """Return a text as JSON has it: on one line, and nothing in it that a terminal would obey."""
    return json.dumps(text)


def _deepen(line: _Line) -> _Line:
    """Return a line, or a graph in its place, with one more indentation."""
    return f"  {line}" if isinstance(line, str) else (line[0] + 1, *line[1:])


def _indent(lines: Iterable[str], depth: int) -> Iterator[str]:
    return ("  " * depth + line for line in lines)
