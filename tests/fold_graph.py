"""The main graph of an ONNX file as its bytes say it, by the numbers of its nodes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import onnx

#: what only hands on or arranges values
LAYOUT = frozenset(
    (
        *("Identity", "Cast", "CastLike", "Reshape", "Transpose", "Unsqueeze", "Squeeze"),
        *("Expand", "Flatten", "Dropout", "Tile", "QuantizeLinear", "DequantizeLinear"),
    )
)
#: what reads a shape: numbers made of it are no data
SHAPES = frozenset(("Shape", "Size"))
#: constants of more numbers are not read
_MOST_NUMBERS = 4
_NUMERIC = (
    *(onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE, onnx.TensorProto.FLOAT16),
    *(onnx.TensorProto.INT64, onnx.TensorProto.INT32),
)


@dataclass(slots=True)
class RawGraph:
    """The main graph of an ONNX file, by the numbers of its nodes."""

    nodes: Sequence[onnx.NodeProto]
    producers: dict[str, int] = field(default_factory=dict)
    users: dict[str, list[int]] = field(default_factory=dict)
    stored: dict[str, tuple[int, ...]] = field(default_factory=dict)
    numbers: dict[str, tuple[float, ...]] = field(default_factory=dict)
    outputs: frozenset[str] = frozenset()
    shapes: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    computing: frozenset[int] = frozenset()
    scopes: list[tuple[str, ...]] = field(default_factory=list)


def read_raw(source: Path | onnx.ModelProto) -> RawGraph:
    """Read the main graph of a file."""
    model = onnx.load(source, load_external_data=False) if isinstance(source, Path) else source
    graph = model.graph
    raw = RawGraph(graph.node)
    for tensor in graph.initializer:
        raw.stored[tensor.name] = tuple(tensor.dims)
        if not _is_learned(tensor):
            _read_numbers(raw, tensor.name, tensor)
    for number, node in enumerate(graph.node):
        for name in node.output:
            raw.producers[name] = number
        for name in _list_taken(node):
            raw.users.setdefault(name, []).append(number)
        if node.op_type == "Constant":
            for attribute in node.attribute:
                raw.stored[node.output[0]] = tuple(attribute.t.dims)
                _read_numbers(raw, node.output[0], attribute.t)
    raw.outputs = frozenset(value.name for value in graph.output)
    raw.shapes = _infer(model)
    raw.computing = _find_computing(raw, {value.name for value in graph.input} - {*raw.stored})
    raw.scopes = [_read_scopes(node) for node in graph.node]
    return raw


def _is_learned(tensor: onnx.TensorProto) -> bool:
    """Return whether a tensor is called as a parameter of a module is: ``layers.0.scale``."""
    is_float = tensor.data_type in (onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16)
    return is_float and re.fullmatch(r"[A-Za-z_]\w*(\.\w+)+", tensor.name) is not None


def _read_numbers(raw: RawGraph, name: str, tensor: onnx.TensorProto) -> None:
    """Keep the numbers of a small tensor."""
    if len(tensor.dims) > 1 or any(dim > _MOST_NUMBERS for dim in tensor.dims):
        return
    if tensor.data_location != onnx.TensorProto.EXTERNAL and tensor.data_type in _NUMERIC:
        raw.numbers[name] = tuple(onnx.numpy_helper.to_array(tensor).ravel().tolist())


def _infer(model: onnx.ModelProto) -> dict[str, tuple[object, ...]]:
    try:
        graph = onnx.shape_inference.infer_shapes(model, data_prop=True).graph
    except (onnx.shape_inference.InferenceError, RuntimeError, ValueError):
        graph = model.graph
    return {
        value.name: tuple(
            one.dim_value or one.dim_param for one in value.type.tensor_type.shape.dim
        )
        for value in (*graph.input, *graph.value_info, *graph.output)
    }


def _list_taken(node: onnx.NodeProto) -> list[str]:
    """Return what a node takes, and what its subgraphs may take."""
    names = [name for name in node.input if name]
    pending = [a.g for a in node.attribute if a.HasField("g")]
    while pending:
        for inner in pending.pop().node:
            names += [name for name in inner.input if name]
            pending += [a.g for a in inner.attribute if a.HasField("g")]
    return names


def _find_computing(raw: RawGraph, inputs: set[str]) -> frozenset[int]:
    """Return the nodes that compute with data: that depend on an input by more than its shape."""
    data = {*inputs}
    computing: set[int] = set()
    for number, node in enumerate(raw.nodes):
        if node.op_type in SHAPES or data.isdisjoint(_list_taken(node)):
            continue
        data.update(node.output)
        if node.op_type not in LAYOUT:
            computing.add(number)
    return frozenset(computing)


def _read_scopes(node: onnx.NodeProto) -> tuple[str, ...]:
    """Return the modules that a node is in, the outermost first; none where it has no name."""
    for entry in node.metadata_props:
        if entry.key == "pkg.torch.onnx.name_scopes":
            names = re.findall(r"'([^']*)'", entry.value)
            return tuple(names[-2].split(".")) if len(names) > 1 and names[-2] else ()
    parts = [part for part in node.name.split("/") if part][:-1]
    return tuple(piece for part in parts for piece in re.sub(r"\.(\d+)", r"\0\1", part).split("\0"))
