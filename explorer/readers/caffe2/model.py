"""The Caffe2 reader: nets with their init nets, plans, tensors and blobs (caffe2.proto)."""

from __future__ import annotations

from functools import partial
from typing import Any

from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet

from netloupe.explorer.errors import ModelFormatError
from netloupe.explorer.model import (
    Dimension,
    Graph,
    Model,
    ModelWarning,
    Payload,
    Tensor,
    TensorType,
    Value,
    data_type,
)
from netloupe.explorer.model.reading import get_model_reading
from netloupe.explorer.readers.protobuf.parts import Parts
from netloupe.explorer.readers.protobuf.stored_field import StoredField
from netloupe.explorer.readers.protobuf.texts import read_text
from netloupe.proto import caffe2_pb2
from netloupe.proto.unknown_enums import read_enum_number

from .dialect import CAFFE2
from .net import NetReader
from .parts import Net
from .plan import read_plan
from .statements import read_caffe2_statement
from .tensors import read_caffe2_dtype, read_qtensor, read_tensor

#: the type of a blob that holds a DBReaderProto
_READER = "DBReader"


def read_caffe2(parts: Parts, init: Parts | None = None) -> Model:
    """Return a parsed Caffe2 message as a model.

    Parameters
    ----------
    parts
        A NetDef, PlanDef, TensorProtos, TensorShapes, TensorProto, QTensorProto, BlobProto or
        DBReaderProto.
    init
        The init net of a NetDef, whose fills become initializers.

    Raises
    ------
    ModelFormatError
        Where nested nets are damaged, or an init net is given for a message that is no NetDef.
    """
    source, message = parts.source, parts.proto
    model = Model(source.name, CAFFE2.name, "protobuf", CAFFE2, source.files)
    root = model.header.message = message.DESCRIPTOR.name
    if root != "NetDef":  # a net says it of its graph
        get_model_reading(model).state = partial(
            read_caffe2_statement, message, parts, with_elements=root == "PlanDef"
        )
    if root == "NetDef":
        model.graph.name = read_text(message.name)
        fills = Net(init.proto, init) if init is not None else None
        NetReader(source.files).read(model.graph, Net(message, parts), fills)
        if fills is not None:
            model.metadata["init net"] = read_text(fills.message.name)
        return model
    if init is not None:
        raise ModelFormatError(
            f"{source.name}: is a Caffe2 {root}, and only a NetDef has an init net. "
            "Load it without one."
        )
    if root == "PlanDef":
        read_plan(model, parts, source.files)
    elif root == "TensorProtos":
        for index, tensor in enumerate(message.protos):
            _add_tensor(model, tensor, f"#{index}", parts)
    elif root == "TensorShapes":
        _read_shapes(model, message)
    elif root in ("TensorProto", "QTensorProto"):
        _add_tensor(model, message, "tensor", parts)
    elif root == "BlobProto":
        _read_blob(model, parts)
    else:
        model.graph.name = read_text(message.name)
        _read_metadata(model, message, ("name", "source", "db_type", "key"))
    return model


def _add_tensor(model: Model, proto: Any, fallback: str, parts: Parts) -> None:
    value = _add_value(model.graph, read_text(proto.name) or fallback, "tensor")
    if proto.DESCRIPTOR.name == "QTensorProto":
        tensor = read_qtensor(proto, value.path, parts)
    else:
        tensor = read_tensor(proto, value.path, parts.source.files, parts)
    _bind(value, tensor)


def _add_value(graph: Graph, name: str, kind: str) -> Value:
    key, count = name, 2
    while key in graph.values:
        key = f"{name}#{count}"
        count += 1
    if key != name:
        message = f"another {kind} has the same name"
        graph.warnings.append(ModelWarning(f"{graph.path}/%{key}", message))
    value = graph.values[key] = Value(name, graph, key)
    return value


def _read_shapes(model: Model, message: Any) -> None:
    """Read a TensorShapes: blobs of which only type and dimensions are told."""
    graph = model.graph
    for index, shape in enumerate(message.shapes):
        value = _add_value(graph, read_text(shape.name) or f"#{index}", "shape")
        unknown = set(shape.unknown_dims)
        dims = tuple(
            Dimension(None if place in unknown else dim) for place, dim in enumerate(shape.dims)
        )
        number = read_enum_number(shape, "data_type")
        dtype = read_caffe2_dtype(1 if number is None else number)
        value.type = TensorType(dtype, None if shape.unknown_shape else dims)
        value.is_output = True
        graph.outputs.append(value)


def _bind(value: Value, tensor: Tensor) -> None:
    value.initializer = tensor
    value.type = TensorType(tensor.dtype, tuple(map(Dimension, tensor.dims)))
    value.graph.initializers.append(tensor)


def _read_blob(model: Model, parts: Parts) -> None:
    message = parts.proto
    name = read_text(message.name)
    model.graph.name = name
    _read_metadata(model, message, ("name", "type", "content_num_chunks", "content_chunk_id"))
    if message.HasField("tensor"):
        _add_tensor(model, message.tensor, name or "tensor", parts)
    if message.HasField("qtensor"):
        _add_tensor(model, message.qtensor, f"{name or 'tensor'} (quantized)", parts)
    left = parts.stored(message).get("content")
    if message.type == _READER and _read_reader(model, message, left):
        return
    if left is not None or message.HasField("content"):
        content = message.content
        size = len(content) if left is None else left.pieces[-1].end - left.pieces[-1].content
        value = Value("content", model.graph)
        while value.key in model.graph.values:
            value.key += "#2"
        model.graph.values[value.key] = value
        _bind(
            value,
            Tensor(
                "content",
                value.path,
                data_type("uint8"),
                (size,),
                "content",
                size,
                lambda: Payload("raw", content if left is None else left.content(value.path)),
            ),
        )


def _read_reader(model: Model, message: Any, left: StoredField | None) -> bool:
    """Add the state of a database reader, which a blob of its type holds; False where it has none.

    See DBReaderSerializer (caffe2/core/db.cc).
    """
    row = None if left is None else left.content(model.graph.path)
    content = message.content if row is None else row.read(0, len(row)).tobytes()
    reader = caffe2_pb2.DBReaderProto()
    try:
        reader.ParseFromString(content)
    except DecodeError:
        return False
    if not content or len(UnknownFieldSet(reader)):
        return False
    for field in ("name", "source", "db_type", "key"):
        if reader.HasField(field):
            model.metadata[f"reader.{field}"] = read_text(getattr(reader, field))
    return True


def _read_metadata(model: Model, message: Any, fields: tuple[str, ...]) -> None:
    for field in fields:
        if message.HasField(field):
            content = getattr(message, field)
            model.metadata[field] = str(content) if isinstance(content, int) else read_text(content)
