"""A description as JSON: raw values under the specification's names."""

from __future__ import annotations

import base64
import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from netloupe.explorer.errors import TensorDataError
from netloupe.explorer.grouping import Group
from netloupe.explorer.model import (
    Attribute,
    Dimension,
    Function,
    Graph,
    Model,
    Node,
    SparseTensor,
    Tensor,
    Value,
    ValueType,
    constant_tensor,
    is_constant,
)
from netloupe.explorer.operators import find_schema
from netloupe.explorer.quantization import find_quantization
from netloupe.explorer.tensors import compute_histogram, compute_statistics, open_elements

from .description import Description
from .notation import list_operators
from .operands import name_operands
from .statistics import choose_elements

_BINS = 64
#: strings of a tensor that are listed
_MOST_STRINGS = 100


def to_json(description: Description, *, bins: int = _BINS) -> dict[str, Any]:
    """Return what a description says as an object that JSON can hold.

    Parameters
    ----------
    description
        Of any element. The elements of its tensor, where it has one, are read.
    bins
        Number of bins of the histogram.

    Returns
    -------
    dict
        ``path``, ``kind``, ``warnings``, and what is special to the kind. NaN and infinities
        are the strings ``NaN``, ``Infinity`` and ``-Infinity``; bytes are ``{"base64": …}``.
    """
    element = description.element
    told: dict[str, Any]
    if isinstance(element, Node):
        told = _encode_node(element)
    elif isinstance(element, Value):
        told = _encode_value(element)
    elif isinstance(element, Tensor | SparseTensor):
        told = {"name": element.name, **_encode_tensor(element)}
        if description.value is not None:
            told["quantization"] = _encode_quantization(description.value)
            told["consumers"] = _list_consumers(description.value)
    elif isinstance(element, Graph):
        told = _encode_graph(element)
    elif isinstance(element, Model):
        told = _encode_model(element)
    elif isinstance(element, tuple):
        told = {"values": [{"path": value.path, **_encode_value(value)} for value in element]}
    else:
        told = _encode_group(element)
    if description.tensor is not None:
        if not isinstance(element, Tensor | SparseTensor):
            told["tensor"] = _encode_tensor(description.tensor)
        told |= _encode_elements(description.tensor, bins)
    head = {"path": description.path, "kind": description.kind}
    unknown = element.header if isinstance(element, Model) else element
    if not isinstance(unknown, Group | tuple):
        told["unknown_fields"] = unknown.unknown_fields
    warnings = [
        {"path": warning.path, "message": warning.message} for warning in description.warnings
    ]
    encoded = _encode(head | told | {"warnings": warnings})
    assert isinstance(encoded, dict)  # noqa: S101 - what goes in is one
    return encoded


def _encode(thing: Any) -> Any:
    """Return anything as JSON can hold it."""
    if thing is None or isinstance(thing, bool | int):
        return thing
    if isinstance(thing, str):
        # lone surrogates cannot be written as UTF-8
        return thing.encode("utf-8", "replace").decode("utf-8")
    if isinstance(thing, float):
        if math.isfinite(thing):
            return thing
        return "NaN" if math.isnan(thing) else "Infinity" if thing > 0 else "-Infinity"
    if isinstance(thing, bytes):
        return {"base64": base64.b64encode(thing).decode("ascii")}
    if isinstance(thing, np.ndarray):
        return _encode(thing.tolist())
    if isinstance(thing, np.generic):
        return _encode(thing.item())
    if isinstance(thing, Attribute):
        return _encode_attribute(thing)
    if isinstance(thing, Tensor | SparseTensor):
        return _encode(_encode_tensor(thing) | {"path": thing.path})
    if isinstance(thing, Graph):
        return _encode({"path": thing.path, "name": thing.name, "nodes": len(thing.nodes)})
    if isinstance(thing, dict):
        return {str(_encode(key)): _encode(entry) for key, entry in thing.items()}
    if isinstance(thing, Dimension):
        denoted = {"denotation": thing.denotation} if thing.denotation else {}
        return _encode({"value": thing.value, **denoted}) if denoted else _encode(thing.value)
    if isinstance(thing, list | tuple):
        return [_encode(entry) for entry in thing]
    if dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        if isinstance(thing, ValueType):
            return _encode(_encode_type(thing))
        fields = dataclasses.fields(thing)
        return {field.name: _encode(getattr(thing, field.name)) for field in fields}
    return _encode(str(thing))


def _encode_type(value_type: ValueType | None) -> dict[str, Any] | None:
    if value_type is None:
        return None
    told: dict[str, Any] = {"kind": type(value_type).__name__.removesuffix("Type").lower()}
    for field in dataclasses.fields(value_type):
        entry = getattr(value_type, field.name)
        if field.name in ("dtype", "key"):
            entry = str(entry)
        if field.name != "denotation" or entry:
            told[field.name] = entry
    return told


def _encode_attribute(attribute: Attribute, *, default: bool = False) -> dict[str, Any]:
    told: dict[str, Any] = {"kind": attribute.kind, "value": attribute.value, "default": default}
    if attribute.reference:
        told["reference"] = attribute.reference
    if attribute.doc:
        told["doc"] = attribute.doc
    return {key: _encode(entry) for key, entry in told.items()}


def _encode_node(node: Node) -> dict[str, Any]:
    function = node.function
    version = node.opset_version
    schema = None if function is not None else find_schema(node.domain, node.op_type, version)
    attributes: dict[str, Any] = {
        name: _encode_attribute(attribute) for name, attribute in node.attributes.items()
    }
    for name, declared in schema.attributes.items() if schema else ():
        if name not in attributes and declared.default is not None:
            attributes[name] = {"kind": declared.kind, "value": declared.default, "default": True}
    formals = [value.name for value in function.inputs] if function is not None else []
    results = [value.name for value in function.outputs] if function is not None else []
    return {
        "name": node.name,
        "op_type": node.op_type,
        "domain": node.domain,
        "overload": node.overload,
        "opset_version": version,
        "since_version": schema.since_version if schema is not None else None,
        "deprecated": schema is not None and schema.deprecated,
        "graph": node.graph.path,
        "index": node.index,
        "attributes": attributes,
        "inputs": [
            _encode_operand(name, value)
            for name, value in name_operands(node.inputs, schema, "input", formals)
        ],
        "outputs": [
            _encode_operand(name, value)
            for name, value in name_operands(node.outputs, schema, "output", results)
        ],
        "captures": [value.path for value in node.captures],
        "control_inputs": [value.path for value in node.control_inputs],
        "subgraphs": [graph.path for graph in node.subgraphs],
        "function": function.path if function is not None else None,
        "doc": node.doc,
        "metadata": node.metadata,
        "device_configurations": node.details.device_configurations,
        **_encode_caffe2_node(node),
    }


def _encode_caffe2_node(node: Node) -> dict[str, Any]:
    if node.graph.model.format != "Caffe2":
        return {}
    details = node.details
    fields = ("engine", "device", "is_gradient", "debug_info", "op_version")
    return {field: getattr(details, field) for field in fields}


def _encode_operand(formal: str, value: Value | None) -> dict[str, Any] | None:
    if value is None:
        return None
    return {
        "name": value.name,
        "formal": formal,
        "path": value.path,
        "type": _encode_type(value.type),
        "constant": is_constant(value),
        "producer": value.producer.path if value.producer is not None else None,
        "quantization": _encode_quantization(value),
    }


def _encode_quantization(value: Value) -> dict[str, Any] | None:
    found = find_quantization(value)
    if found is None:
        return None
    return {
        "source": found.source,
        "storage": str(found.storage) if found.storage is not None else None,
        "granularity": found.granularity,
        "axis": found.axis,
        "block_size": found.block_size,
        "scale": found.scale,
        "zero_point": found.zero_point,
        "real_range": found.real_range,
        "scale_value": found.scale_value.path if found.scale_value is not None else None,
        "zero_point_value": (
            found.zero_point_value.path if found.zero_point_value is not None else None
        ),
        "annotation": value.annotation.entries if value.annotation is not None else None,
        "extra": found.extra,
    }


def _list_consumers(value: Value) -> list[dict[str, Any]]:
    return [{"path": node.path, "input": index} for node, index in value.consumers]


def _encode_value(value: Value) -> dict[str, Any]:
    tensor = constant_tensor(value)
    return {
        "name": value.name,
        "graph": value.graph.path,
        "type": _encode_type(value.type),
        "producer": value.producer.path if value.producer is not None else None,
        "output_index": value.output_index if value.producer is not None else None,
        "consumers": _list_consumers(value),
        "is_input": value.is_input,
        "is_output": value.is_output,
        "constant": is_constant(value),
        "initializer": tensor.path if tensor is not None and value.initializer else None,
        "quantization": _encode_quantization(value),
        "doc": value.doc,
        "metadata": value.metadata,
    }


def _encode_tensor(tensor: Tensor | SparseTensor) -> dict[str, Any]:
    told: dict[str, Any] = {
        "dtype": str(tensor.dtype),
        "dims": tensor.dims,
        "size": tensor.size,
        "bytes": tensor.nbytes,
    }
    if isinstance(tensor, SparseTensor):
        indices = _encode_tensor(tensor.indices) if tensor.indices is not None else None
        return told | {"values": _encode_tensor(tensor.values), "indices": indices}
    return told | {
        "storage": tensor.storage,
        "stored_bytes": tensor.stored_bytes,
        "external": dict(tensor.external.entries) if tensor.external is not None else None,
        "segment": tensor.segment,
        "doc": tensor.doc,
        "metadata": tensor.metadata,
        **({"device": tensor.device} if tensor.device is not None else {}),
    }


def _encode_elements(tensor: Tensor | SparseTensor, bins: int) -> dict[str, Any]:
    """Return statistics and histogram of the elements, or the error that they give."""
    try:
        elements = open_elements(choose_elements(tensor))
    except TensorDataError as error:
        return {"statistics": None, "histogram": None, "error": str(error)}
    told: dict[str, Any] = {"statistics": compute_statistics(elements), "histogram": None}
    if elements.dtype == object:
        told["strings"] = elements.take(0, min(elements.size, _MOST_STRINGS)).tolist()
        return told
    found = compute_histogram(elements, bins)
    told["histogram"] = {
        "edges": found.edges,
        "counts": found.counts,
        "below": found.below,
        "above": found.above,
        "nans": found.nans,
    }
    return told


def _encode_graph(graph: Graph) -> dict[str, Any]:
    told: dict[str, Any] = {
        "name": graph.name,
        "graph_kind": graph.kind,
        "nodes": len(graph.nodes),
        "values": len(graph.values),
        "initializers": len(graph.initializers) + len(graph.sparse_initializers),
        "inputs": _list_typed(graph.inputs),
        "outputs": _list_typed(graph.outputs),
        "op_types": dict(list_operators([graph]).most_common()),
        "opsets": {domain or "ai.onnx": version for domain, version in graph.opset_imports.items()},
        "subgraphs": [inner.path for inner in graph.subgraphs],
        "parent_node": graph.parent_node.path if graph.parent_node is not None else None,
        "parent_attribute": graph.parent_attribute,
        "quantization_annotations": graph.annotations,
        "doc": graph.doc,
        "metadata": graph.metadata,
    }
    if graph.net is not None:
        told["net"] = graph.net
    if isinstance(graph, Function):
        told |= {
            "domain": graph.domain,
            "overload": graph.overload,
            "attributes": graph.attribute_names,
            "attribute_defaults": {
                name: _encode_attribute(attribute, default=True)
                for name, attribute in graph.attribute_defaults.items()
            },
        }
    return told


def _list_typed(values: Sequence[Value]) -> list[dict[str, Any]]:
    return [
        {"name": value.name, "path": value.path, "type": _encode_type(value.type)}
        for value in values
    ]


def _encode_model(model: Model) -> dict[str, Any]:
    header = model.header
    graphs = model.graphs
    tensors: list[Tensor | SparseTensor] = []
    for graph in graphs:
        tensors += [*graph.initializers, *graph.sparse_initializers]
    return {
        "source": model.source,
        "format": model.format,
        "container": model.container,
        "message": model.header.message,
        "ir_version": header.ir_version,
        "producer_name": header.producer_name,
        "producer_version": header.producer_version,
        "domain": header.domain,
        "model_version": header.model_version,
        "opsets": {domain or "ai.onnx": version for domain, version in model.opset_imports.items()},
        "graphs": [
            {"path": graph.path, "kind": graph.kind, "nodes": len(graph.nodes)} for graph in graphs
        ],
        "parameters": sum(tensor.size for tensor in tensors),
        "bytes": sum(tensor.nbytes or 0 for tensor in tensors),
        "op_types": dict(list_operators(graphs).most_common()),
        "training": [
            {
                "initialization": info.initialization and info.initialization.path,
                "algorithm": info.algorithm and info.algorithm.path,
                "initialization_binding": info.initialization_binding,
                "update_binding": info.update_binding,
            }
            for info in model.training
        ],
        "device_configurations": header.device_configurations,
        "doc": model.doc,
        "metadata": model.metadata,
    }


def _encode_group(group: Group) -> dict[str, Any]:
    return {
        "kind": group.kind,
        "label": group.label,
        "type_name": group.type_name,
        "graph": group.graph.path,
        "nodes": group.node_count,
        "children": [child.path for child in group.children],
        **({"exemplar": group.exemplar} if group.kind == "repeat" else {}),
    }
