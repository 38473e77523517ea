"""ONNX values that stand alone: sequences, maps and optionals, as data sets of models hold them.

See onnx-data.proto of the ONNX specification. Every tensor within becomes an initializer of its
own, called by its place: ``y[0]``, ``y["a"][2]``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

from google.protobuf.message import DecodeError

from netloupe.explorer.errors import ModelFormatError
from netloupe.explorer.model import (
    DataType,
    MapType,
    Model,
    ModelWarning,
    OptionalType,
    SequenceType,
    SparseTensor,
    Tensor,
    TensorType,
    Value,
    ValueType,
)
from netloupe.explorer.model.reading import get_model_reading
from netloupe.explorer.model.statement import Statement
from netloupe.explorer.notation import clip_text, write_bytes, write_count
from netloupe.explorer.readers.protobuf.texts import read_text
from netloupe.explorer.readers.source import Source
from netloupe.proto import onnx_data_pb2
from netloupe.proto.scanner import MAX_REST_BYTES

from .dialect import ONNX_DATA
from .parts import OnnxParts, damage
from .statements import read_onnx_statement
from .tensors import TensorReader, read_dtype

#: what a file is called whose bytes are those of either message
EITHER = "SequenceProto or OptionalProto"

#: element type -> the fields of a SequenceProto and of an OptionalProto for it
_FIELDS = {
    1: ("tensor_values", "tensor_value"),
    2: ("sparse_tensor_values", "sparse_tensor_value"),
    3: ("sequence_values", "sequence_value"),
    4: ("map_values", "map_value"),
    5: ("optional_values", "optional_value"),
}
_STRING = 8  # TensorProto.DataType
_LONGEST_KEY = 80


def read_onnx_data(source: Source, kind: str) -> Model:
    """Read a value that stands alone.

    Parameters
    ----------
    source
        The bytes.
    kind
        ``SequenceProto``, ``OptionalProto``, ``MapProto``, or ``EITHER`` of the first two, which
        is shown as a sequence.

    Raises
    ------
    ModelFormatError
        Where the bytes are no such message, or more than 1 GiB.
    """
    if source.size > MAX_REST_BYTES:
        raise ModelFormatError(
            f"{source.name}: is an ONNX {kind} of more than {write_bytes(MAX_REST_BYTES)}, "
            "which would be held in memory. Write its tensors to files of their own."
        )
    message = getattr(onnx_data_pb2, "SequenceProto" if kind == EITHER else kind)()
    try:
        message.ParseFromString(source.data)
    except DecodeError:
        raise damage(source, type(message), "damaged, cut short, or nested too deep") from None
    model = Model(source.name, f"{ONNX_DATA.name} {kind}", "protobuf", ONNX_DATA, source.files)
    reader = _DataReader(model, OnnxParts(source, message))
    reader.read(message)
    get_model_reading(model).state = partial(reader.state, message)
    if kind == EITHER:
        model.warnings.append(
            ModelWarning(
                "model",
                "a sequence of at most one element and an optional are written alike; "
                "the file is shown as a sequence",
            )
        )
    return model


class _DataReader:
    def __init__(self, model: Model, parts: OnnxParts) -> None:
        self._graph = model.graph
        self._parts = parts
        self._tensor_reader = TensorReader(parts.source.files, parts)

    def state(self, message: Any) -> Statement:
        """List all that a message and all within it say, but for the elements of tensors."""
        return read_onnx_statement(message, self._parts, self._tensor_reader, with_elements=False)

    def read(self, message: Any) -> None:
        """Add a message and all within it."""
        graph = self._graph
        name = graph.name = read_text(message.name)
        value = self._add(name or "value")
        value.type = self._read(message, value.key)
        graph.outputs.append(value)
        value.is_output = True

    def _add(self, key: str) -> Value:
        graph, free, count = self._graph, key, 2
        while free in graph.values:
            free = f"{key}#{count}"
            count += 1
        value = graph.values[free] = Value(free, graph)
        return value

    def _read(self, message: Any, key: str) -> ValueType:
        """Add the tensors of a message that lies at a place; return its type."""
        kind = message.DESCRIPTOR.name
        if kind == "MapProto":
            return self._read_map(message, key)
        types: list[ValueType] = []
        for index, content in enumerate(self._list_contents(message, key)):
            place = f"{key}[{index}]" if kind == "SequenceProto" else key
            if content.DESCRIPTOR.name in ("TensorProto", "SparseTensorProto"):
                types.append(self._read_tensor(content, place))
            else:
                types.append(self._read(content, place))
        element = _find_common(types)
        return SequenceType(element) if kind == "SequenceProto" else OptionalType(element)

    def _list_contents(self, message: Any, key: str) -> Iterator[Any]:
        """Yield what a sequence or an optional holds, whatever kind it says that is."""
        is_sequence = message.DESCRIPTOR.name == "SequenceProto"
        for number, fields in _FIELDS.items():
            field = fields[0 if is_sequence else 1]
            held = [*getattr(message, field)] if is_sequence else []
            if not is_sequence and message.HasField(field):
                held = [getattr(message, field)]
            if held and message.elem_type != number:
                self._warn(key, f"holds {field}, but gives {message.elem_type} as element type")
            yield from held

    def _read_tensor(self, proto: Any, key: str) -> ValueType:
        graph, value = self._graph, self._add(key)
        tensor: Tensor | SparseTensor
        if proto.DESCRIPTOR.name == "TensorProto":
            tensor = self._tensor_reader.read(proto, value.path)
            graph.initializers.append(tensor)
        else:
            tensor = self._tensor_reader.read_sparse(proto, value.path)
            graph.sparse_initializers.append(tensor)
        value.initializer = tensor
        value.type = tensor.type
        return tensor.type

    def _read_map(self, message: Any, key: str) -> MapType:
        dtype = read_dtype(message.key_type)
        keys = [*_list_keys(message, dtype)]
        values = [*self._list_contents(message.values, key)]
        if len(keys) != len(values):
            self._warn(
                key, f"has {write_count(len(keys), 'key')} and {write_count(len(values), 'value')}"
            )
        types: list[ValueType] = []
        for index, content in enumerate(values):
            place = f"{key}[{keys[index]}]" if index < len(keys) else f"{key}[value {index}]"
            if content.DESCRIPTOR.name in ("TensorProto", "SparseTensorProto"):
                types.append(self._read_tensor(content, place))
            else:
                types.append(self._read(content, place))
        return MapType(dtype, _find_common(types))

    def _warn(self, key: str, message: str) -> None:
        self._graph.warnings.append(ModelWarning(f"{self._graph.path}/%{key}", message))


def _find_common(types: list[ValueType]) -> ValueType | None:
    """Return the type that all have, perhaps without dimensions; None where they have none."""
    if not types:
        return None
    if all(found == types[0] for found in types):
        return types[0]
    tensors = [found for found in types if isinstance(found, TensorType)]
    if len(tensors) == len(types) and len({found.dtype for found in tensors}) == 1:
        return TensorType(tensors[0].dtype, None)
    return None


def _list_keys(message: Any, dtype: DataType) -> Iterator[str]:
    """Yield the keys of a MapProto as they are shown."""
    if message.key_type != _STRING:
        yield from map(str, message.keys)
        return
    for text in message.string_keys:
        yield json.dumps(clip_text(read_text(text), _LONGEST_KEY), ensure_ascii=False)
