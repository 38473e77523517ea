"""Everything that a model of the view says, in a form that two models can be compared by."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from netloupe.explorer.errors import TensorDataError
from netloupe.explorer.model import Graph, Model, SparseTensor, Tensor, Value


def list_facts(model: Model) -> list[Any]:
    """Return all that a model holds: header, wiring, attributes and every tensor's bits."""
    header = model.header
    facts: list[Any] = [
        [getattr(header, name) for name in header.__slots__],
        [(info.initialization_binding, info.update_binding) for info in model.training],
    ]
    for function in model.functions:
        facts.append((function.domain, function.name, function.overload, function.attribute_names))
        facts.append([describe(a.value) for a in function.attribute_defaults.values()])
        facts.append(function.own_opset_imports)
    for graph in model.graphs:
        facts += _graph_facts(graph)
    # last, for by now the nodes are read: asked before, they are read for it and once more after it
    facts.append([str(warning) for warning in model.all_warnings()])
    return facts


def _graph_facts(graph: Graph) -> Iterator[Any]:
    yield graph.kind, graph.path, graph.name, graph.doc, graph.metadata, graph.annotations
    yield [_path(value) for value in graph.inputs], [_path(value) for value in graph.outputs]
    described: dict[int, Any] = {}  # a tensor's elements are read once for a value and the list
    for name, value in graph.values.items():
        consumers = [(node.path, index) for node, index in value.consumers]
        yield name, str(value.type), value.doc, value.metadata, consumers
        initializer = describe(value.initializer)
        described[id(value.initializer)] = initializer
        yield value.is_input, value.is_output, value.output_index, initializer
    for node in graph.nodes:
        yield node.path, node.name, node.op_type, node.domain, node.overload
        yield [_path(value) for value in (*node.inputs, *node.outputs, *node.captures)]
        yield node.doc, node.metadata, node.details.device_configurations
        for key, found in node.attributes.items():
            yield key, found.kind, found.reference, found.doc, describe(found.value)
    for initializers in (graph.initializers, graph.sparse_initializers):
        yield [
            described[id(each)] if id(each) in described else describe(each)
            for each in initializers
        ]


def _path(value: Value | None) -> str | None:
    return None if value is None else value.path


def describe(content: Any) -> Any:
    """Return an attribute's value with tensors and graphs replaced by what they hold."""
    if isinstance(content, tuple):
        return tuple(map(describe, content))
    if isinstance(content, Graph):
        return content.path
    if isinstance(content, SparseTensor):
        return content.dims, describe(content.values), describe(content.indices)
    if isinstance(content, Tensor):
        return (
            (content.name, content.path, str(content.dtype), content.dims, content.storage),
            (content.stored_bytes, content.doc, content.metadata, content.external),
            (content.segment, _payload(content), _elements(content)),
        )
    if isinstance(content, float):
        return np.float64(content).tobytes()
    return repr(content)


def _payload(tensor: Tensor) -> Any:
    try:
        payload = tensor.payload()
    except TensorDataError as error:
        return str(error)
    data: Any = payload.data
    if hasattr(data, "read"):  # still in the file
        data = data.read(0, len(data))
    if isinstance(data, np.ndarray) and payload.kind == "typed":
        return payload.kind, data.dtype.str, data.shape, data.tobytes()
    return payload.kind, list(data) if payload.kind == "strings" else bytes(data)


def _elements(tensor: Tensor) -> Any:
    try:
        array = tensor.numpy()
    except TensorDataError as error:
        return str(error)
    data = array.tolist() if array.dtype == object else array.tobytes()
    return array.dtype.str, array.shape, data
