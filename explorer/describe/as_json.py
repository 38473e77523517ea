"""A description as JSON: raw values under the specification's names."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from typing import Any

from netloupe.explorer.costs import count_bytes, count_elements, count_graphs, count_nodes
from netloupe.explorer.errors import TensorDataError
from netloupe.explorer.grouping import Group, ModelGroup
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
from netloupe.explorer.patterns import Recognition
from netloupe.explorer.quantization import find_quantization
from netloupe.explorer.tensors import compute_histogram, compute_statistics, open_elements
from netloupe.explorer.view import nodes_inside

from .architecture import collect_architecture
from .costs import collect_costs
from .description import Description
from .encoding import MOST_ENTRIES, Listing, encode_json
from .file_text import list_operators
from .operands import name_operands
from .statistics import choose_elements

_BINS = 64


def to_json(
    description: Description, *, bins: int = _BINS, most: int | None = MOST_ENTRIES
) -> dict[str, Any]:
    """Return what a description says as an object that JSON can hold.

    Parameters
    ----------
    description
        Of any element. The elements of its tensor, where it has one, are read.
    bins
        Number of bins of the histogram.
    most
        So many entries of each list are given, and where lists are cut stands in ``cut`` (see
        :func:`encode_json`); all of them where None.

    Returns
    -------
    dict
        ``path``, ``kind``, ``warnings``, ``cut``, and what is special to the kind. NaN and
        infinities are the strings ``NaN``, ``Infinity`` and ``-Infinity``; bytes are
        ``{"base64": …}``.
    """
    element = description.element
    entries: dict[str, Any]
    if isinstance(element, Node):
        entries = _collect_node(element)
    elif isinstance(element, Value):
        entries = _collect_value(element)
    elif isinstance(element, Tensor | SparseTensor):
        entries = {"name": element.name, **_collect_tensor(element)}
        if description.value is not None:
            entries["quantization"] = _collect_quantization(description.value)
            entries["consumers"] = _list_consumers(description.value)
    elif isinstance(element, Graph):
        entries = _collect_graph(element)
    elif isinstance(element, Model):
        entries = _collect_model(element)
    elif isinstance(element, tuple):
        values = [value for value in element if isinstance(value, Value)]
        if len(values) == len(element):
            entries = {
                "values": Listing(
                    values, lambda v: {"path": v.path, **_collect_value(v)}, len(values)
                )
            }
        else:
            rows = (row for section in description.sections for row in section.rows)
            entries = {"elements": [{"path": row.path, "name": row.name} for row in rows]}
    else:
        entries = _collect_group(element)
    tensor = description.tensor
    if tensor is not None:
        stored = constant_tensor(description.value) if description.value is not None else None
        is_packed = stored is not None and stored.dims != tensor.dims
        if not isinstance(element, Tensor | SparseTensor):
            entries["tensor"] = _collect_tensor(
                stored if stored is not None and is_packed else tensor
            )
        if is_packed:
            entries["unpacked"] = {"dtype": str(tensor.dtype), "dims": tensor.dims}
        entries |= _collect_elements(tensor, bins)
    head = {"path": description.path, "kind": description.kind}
    unknown = element.header if isinstance(element, Model) else element
    if not isinstance(unknown, Group | tuple):
        entries["unknown_fields"] = unknown.unknown_fields
    entries["warnings"] = Listing(
        description.warnings,
        lambda warning: {"path": warning.path, "message": warning.message},
        len(description.warnings),
    )
    return encode_json(head | entries, most=most, expand=_expand)


def _expand(thing: Any) -> Any:
    """Return what is told of anything that is no number, text or list."""
    if isinstance(thing, Attribute):
        return _collect_attribute(thing)
    if isinstance(thing, Tensor | SparseTensor):
        return {"name": thing.name} | _collect_tensor(thing) | {"path": thing.path}
    if isinstance(thing, Graph):
        return {"path": thing.path, "name": thing.name, "nodes": len(thing.nodes)}
    if isinstance(thing, Dimension):
        if thing.denotation:
            return {"value": thing.value, "denotation": thing.denotation}
        return thing.value
    if isinstance(thing, ValueType):
        return _collect_type(thing)
    if dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        fields = dataclasses.fields(thing)
        return {field.name: getattr(thing, field.name) for field in fields}
    return str(thing)


def _collect_type(value_type: ValueType | None) -> dict[str, Any] | None:
    if value_type is None:
        return None
    entries: dict[str, Any] = {"kind": type(value_type).__name__.removesuffix("Type").lower()}
    for field in dataclasses.fields(value_type):
        entry = getattr(value_type, field.name)
        if field.name in ("dtype", "key"):
            entry = str(entry)
        if field.name != "denotation" or entry:
            entries[field.name] = entry
    return entries


def _collect_types(value: Value) -> dict[str, Any]:
    """Return the type that the file states, and the one that follows where it says less."""
    return {
        "type": _collect_type(value.type),
        "inferred_type": _collect_type(value.inferred_type),
    }


def _collect_attribute(attribute: Attribute, *, default: bool = False) -> dict[str, Any]:
    entries: dict[str, Any] = {"kind": attribute.kind, "value": attribute.value, "default": default}
    if attribute.reference:
        entries["reference"] = attribute.reference
    if attribute.doc:
        entries["doc"] = attribute.doc
    return entries


def _collect_node(node: Node) -> dict[str, Any]:
    function = node.function
    version = node.opset_version
    schema = None if function is not None else find_schema(node.domain, node.op_type, version)
    attributes: dict[str, Any] = {**node.attributes}
    for name, declared in schema.attributes.items() if schema else ():
        if name not in attributes and declared.default is not None:
            attributes[name] = {"kind": declared.kind, "value": declared.default, "default": True}
    for name, attribute in function.attribute_defaults.items() if function is not None else ():
        if name not in attributes:
            attributes[name] = _collect_attribute(attribute, default=True)
    return {
        "name": node.name,
        "op_type": node.op_type,
        "domain": node.stated_domain,
        "overload": node.overload,
        "opset_version": version,
        "since_version": schema.since_version if schema is not None else None,
        "deprecated": schema is not None and schema.deprecated,
        "graph": node.graph.path,
        "index": node.index,
        "attributes": attributes,
        "inputs": Listing(
            name_operands(node, schema, is_output=False), _collect_operand, len(node.inputs)
        ),
        "outputs": Listing(
            name_operands(node, schema, is_output=True), _collect_operand, len(node.outputs)
        ),
        "captures": _list_paths(node.captures),
        "control_inputs": _list_paths(node.control_inputs),
        "subgraphs": _list_paths(node.subgraphs),
        "function": function.path if function is not None else None,
        "doc": node.doc,
        "metadata": node.metadata,
        "device_configurations": node.details.device_configurations,
        **{field: getattr(node.details, field) for field in node.graph.dialect.node_fields},
    }


def _collect_operand(operand: tuple[str, Value | None]) -> dict[str, Any] | None:
    formal, value = operand
    if value is None:
        return None
    return {
        "name": value.name,
        "formal": formal,
        "path": value.path,
        **_collect_types(value),
        "constant": is_constant(value),
        "producer": value.producer.path if value.producer is not None else None,
        "quantization": _collect_quantization(value),
    }


def _list_paths(elements: Collection[Any]) -> Listing:
    return Listing(elements, lambda element: element.path, len(elements))


def _collect_quantization(value: Value) -> dict[str, Any] | None:
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


def _list_consumers(value: Value) -> Listing:
    return Listing(
        value.consumers, lambda u: {"path": u[0].path, "input": u[1]}, len(value.consumers)
    )


def _collect_value(value: Value) -> dict[str, Any]:
    tensor = constant_tensor(value)
    return {
        "name": value.name,
        "graph": value.graph.path,
        **_collect_types(value),
        "producer": value.producer.path if value.producer is not None else None,
        "output_index": value.output_index if value.producer is not None else None,
        "consumers": _list_consumers(value),
        "is_input": value.is_input,
        "is_output": value.is_output,
        "constant": is_constant(value),
        "initializer": tensor.path if tensor is not None and value.initializer else None,
        "quantization": _collect_quantization(value),
        "doc": value.doc,
        "metadata": value.metadata,
    }


def _collect_tensor(tensor: Tensor | SparseTensor) -> dict[str, Any]:
    entries: dict[str, Any] = {
        "dtype": str(tensor.dtype),
        "dims": tensor.dims,
        "elements": count_elements(tensor),
        "bytes": count_bytes(tensor),
    }
    if isinstance(tensor, SparseTensor):
        indices = _collect_tensor(tensor.indices) if tensor.indices is not None else None
        return entries | {"values": _collect_tensor(tensor.values), "indices": indices}
    return entries | {
        "storage": tensor.storage,
        "external": dict(tensor.external.entries) if tensor.external is not None else None,
        "segment": tensor.segment,
        "doc": tensor.doc,
        "metadata": tensor.metadata,
        **({"device": tensor.device} if tensor.device is not None else {}),
    }


def _collect_elements(tensor: Tensor | SparseTensor, bins: int) -> dict[str, Any]:
    """Return statistics and histogram of the elements, or the error that they give."""
    try:
        elements = open_elements(choose_elements(tensor))
    except TensorDataError as error:
        return {"statistics": None, "histogram": None, "error": str(error)}
    entries: dict[str, Any] = {"statistics": compute_statistics(elements), "histogram": None}
    if elements.dtype == object:
        entries["strings"] = Listing(
            range(elements.size), lambda n: elements.take(n, n + 1).item(), elements.size
        )
        return entries
    found = compute_histogram(elements, bins)
    entries["histogram"] = {
        "edges": found.edges,
        "counts": found.counts,
        "below": found.below,
        "above": found.above,
        "nans": found.nans,
    }
    return entries


def _collect_graph(graph: Graph) -> dict[str, Any]:
    entries: dict[str, Any] = {
        "name": graph.name,
        "graph_kind": graph.kind,
        "nodes": len(graph.nodes),
        "values": len(graph.values),
        "totals": count_graphs(graph.model, [graph]),
        "inputs": _list_typed(graph.inputs),
        "outputs": _list_typed(graph.outputs),
        "op_types": dict(list_operators([graph]).most_common()),
        "opsets": graph.dialect.name_opsets(graph.opset_imports),
        "subgraphs": _list_paths(tuple(graph.subgraphs)),
        "parent_node": graph.parent_node.path if graph.parent_node is not None else None,
        "parent_attribute": graph.parent_attribute,
        "quantization_annotations": graph.annotations,
        "doc": graph.doc,
        "metadata": graph.metadata,
    }
    if graph.net is not None:
        entries["net"] = graph.net
    if isinstance(graph, Function):
        entries |= {
            "domain": graph.stated_domain,
            "overload": graph.overload,
            "attributes": graph.attribute_names,
            "attribute_defaults": {
                name: _collect_attribute(attribute, default=True)
                for name, attribute in graph.attribute_defaults.items()
            },
        }
    return entries


def _list_typed(values: Collection[Value]) -> Listing:
    return Listing(
        values,
        lambda v: {"name": v.name, "path": v.path, **_collect_types(v)},
        len(values),
    )


def _collect_model(model: Model) -> dict[str, Any]:
    header = model.header
    graphs = model.graphs
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
        "opsets": model.dialect.name_opsets(model.opset_imports),
        "graphs": Listing(
            graphs,
            lambda g: {"path": g.path, "kind": g.kind, "nodes": len(g.nodes)},
            len(graphs),
        ),
        "totals": model.totals,
        "architecture": collect_architecture(model.architecture),
        "costs": collect_costs(model.costs()),
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


def _collect_recognition(recognition: Recognition | None) -> dict[str, Any] | None:
    if recognition is None:
        return None
    return {
        "name": recognition.name,
        "facts": recognition.facts,
        "details": recognition.details.to_mapping(),
    }


def _collect_group(group: Group) -> dict[str, Any]:
    return {
        "kind": group.kind,
        "label": group.label,
        "type_name": group.type_name,
        "recognised": _collect_recognition(group.recognised),
        "graph": group.graph.path,
        "nodes": group.node_count,
        "totals": count_nodes(group.graph.model, nodes_inside(group)),
        "costs": collect_costs(ModelGroup(group).costs()),
        "children": _list_paths(group.children),
        **({"exemplar": group.exemplar} if group.kind == "repeat" else {}),
    }
