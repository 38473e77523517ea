"""Which of Caffe2's root messages a source is, judged by its outermost fields and its content."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from google.protobuf.descriptor import FieldDescriptor

from netloupe.explorer.readers.protobuf.descriptors import is_repeated
from netloupe.explorer.readers.protobuf.parts import Parts
from netloupe.explorer.readers.protobuf.texts import read_text
from netloupe.explorer.readers.protobuf.top_fields import TopField, TopFields, scan_fields
from netloupe.explorer.readers.source import Source
from netloupe.proto import caffe2_pb2
from netloupe.proto.grammars import DELIMITED, FIXED32, FIXED64, VARINT
from netloupe.proto.wire import NestingError, ReadRange, ScanError

from .parts import damage, explain, parse_message

_MOST_ENTRIES_JUDGED = 16
_LONGEST_NAME = 200
_WIRE_TYPES = {
    FieldDescriptor.TYPE_DOUBLE: FIXED64,
    FieldDescriptor.TYPE_FLOAT: FIXED32,
    FieldDescriptor.TYPE_STRING: DELIMITED,
    FieldDescriptor.TYPE_BYTES: DELIMITED,
    FieldDescriptor.TYPE_MESSAGE: DELIMITED,
}
_OPERATOR_TYPE = r"[\w.:/+-]{1,200}"
_NET_OPERATOR, _OPERATOR_NAME = 2, 4  # NetDef.op, OperatorDef.type
_PLAN_NETWORK = 2  # PlanDef.network

#: DataType number -> the field that holds elements of that type (caffe2.proto: TensorProto)
TYPED_FIELDS = {
    1: "float_data",
    2: "int32_data",
    3: "byte_data",
    4: "string_data",
    5: "int32_data",
    6: "int32_data",
    7: "int32_data",
    8: "int32_data",
    9: "int32_data",
    10: "int64_data",
    12: "int32_data",
    13: "double_data",
}


def recognize_caffe2(source: Source, top: TopFields | None = None) -> Parts | None:
    """Return the Caffe2 message that a source is, parsed; None where it is none.

    Judged by the numbers and wire types of the outermost fields, then by what the message
    says once it is parsed: what is judged is what is read. Bytes of an ONNX ModelProto or
    TensorProto give None.

    Parameters
    ----------
    source
        The bytes.
    top
        Its outermost fields, where these are known.

    Raises
    ------
    ModelFormatError
        Where the bytes are a net or a plan, but damaged, cut short or nested too deep.
    """
    if top is None:
        with source.open() as read:
            top = scan_fields(read, 0, source.size)
    kinds = {(field.number, field.wire_type) for field in top.fields}
    if top.is_whole and kinds:
        for root, judge in _JUDGES.items():
            if not _fits(root, kinds):
                continue
            try:
                parts = parse_message(source, root)
            except ScanError as error:
                # nothing else is nested so deep
                if isinstance(error, NestingError) or root == _suspect(top, source):
                    raise explain(error, source, root) from None
                continue
            if judge(parts):
                return parts
    elif suspect := _suspect(top, source):
        raise damage(source, suspect)
    return None


def _fits(root: str, fields: set[tuple[int, int]]) -> bool:
    known = getattr(caffe2_pb2, root).DESCRIPTOR.fields_by_number
    highest = max(known)
    for number, wire_type in fields:
        field = known.get(number)
        if field is None:
            if root == "NetDef" and number > highest:
                continue  # a newer writer may add fields
            return False
        wanted = _WIRE_TYPES.get(field.type, VARINT)
        if wire_type != wanted and not (wire_type == DELIMITED and is_repeated(field)):
            return False
    return True


# what a file would be if it were whole


def _suspect(top: TopFields, source: Source) -> str:
    """Return ``NetDef`` or ``PlanDef`` where the first of its operators say so, or nothing."""
    with source.open() as read:
        return _suspect_root(top, read)


def _suspect_root(top: TopFields, read: ReadRange) -> str:
    kinds = {(field.number, field.wire_type) for field in top.fields}
    if _fits("NetDef", kinds) and _shows_operators(top, read):
        return "NetDef"
    if _fits("PlanDef", kinds):
        nets = [field for field in top.fields if field.number == _PLAN_NETWORK]
        for net in nets[:_MOST_ENTRIES_JUDGED]:
            inner = scan_fields(read, net.offset, net.length)
            if _fits("NetDef", {(f.number, f.wire_type) for f in inner.fields}) and (
                _shows_operators(inner, read)
            ):
                return "PlanDef"
    return ""


def _shows_operators(top: TopFields, read: ReadRange) -> bool:
    operators = [field for field in top.fields if field.number == _NET_OPERATOR]
    judged = operators[:_MOST_ENTRIES_JUDGED]
    good = sum(_shows_type(field, read) for field in judged)
    return good * 2 >= len(judged) > 0


def _shows_type(operator: TopField, read: ReadRange) -> bool:
    inner = scan_fields(read, operator.offset, operator.length)
    if not _fits("OperatorDef", {(field.number, field.wire_type) for field in inner.fields}):
        return False
    found = inner.first(_OPERATOR_NAME)
    if found is None or found.length > _LONGEST_NAME:
        return False
    text = read(found.length, found.offset).decode("utf-8", "backslashreplace")
    return re.fullmatch(_OPERATOR_TYPE, text) is not None


# what a parsed message says


def _is_net(parts: Parts) -> bool:
    message = parts.proto
    if message.op:
        return _has_operators(message) or (_is_strict(parts) and _has_clean_operators(message))
    names = [message.name, *message.external_input, *message.external_output]
    return _are_clean(names) and (message.HasField("name") + len(names) > 2)


def _has_operators(message: Any) -> bool:
    judged = message.op[:_MOST_ENTRIES_JUDGED]
    good = sum(bool(re.fullmatch(_OPERATOR_TYPE, read_text(op.type))) for op in judged)
    return good * 2 >= len(judged) > 0


def _has_clean_operators(message: Any) -> bool:
    """Return whether the operators of a net may be some, however unusual their types are."""
    judged = message.op[:_MOST_ENTRIES_JUDGED]
    texts = [message.name, *message.external_input, *message.external_output]
    for op in judged:
        texts += [op.type, op.name, *op.input, *op.output]
    return _are_clean(texts) and all(op.type or op.output for op in judged)


def _is_plan(parts: Parts) -> bool:
    message = parts.proto
    if not _is_strict(parts) or not (message.network or message.execution_step):
        return False
    names = [message.name, *(step.name for step in message.execution_step)]
    nets = message.network[:_MOST_ENTRIES_JUDGED]
    return _are_clean(names) and all(
        (net.op and _has_operators(net)) or _has_clean_operators(net) for net in nets
    )


def _is_qtensor(parts: Parts) -> bool:
    message = parts.proto
    left = parts.stored(message).get("data")
    holds = bool(message.data) if left is None else left.is_plausible()
    return _is_strict(parts) and message.HasField("precision") and holds


def _is_tensor(parts: Parts) -> bool:
    return _is_strict(parts) and _looks_like_tensor(parts, parts.proto)


def _looks_like_tensor(parts: Parts, message: Any) -> bool:
    if not _are_clean([message.name]) or any(dim < 0 for dim in message.dims):
        return False
    stored = parts.stored(message)
    if not all(field.is_plausible() for field in stored.values()):
        return False
    if message.storage_type == message.RAW:
        return bool(message.HasField("raw_data")) or "raw_data" in stored
    if message.storage_type == message.EXTERNAL:
        return bool(message.HasField("external_data"))
    if message.storage_type == message.NO_CONTENT:
        return True
    expected = TYPED_FIELDS.get(message.data_type)
    if expected is None:
        return False
    wanted = {expected, "byte_data"} if message.data_type == message.UINT8 else {expected}
    return any(bool(getattr(message, field)) or field in stored for field in wanted)


def _is_blob(parts: Parts) -> bool:
    message = parts.proto
    if not _is_strict(parts) or not _are_clean([message.name, message.type]) or not message.type:
        return False
    if message.HasField("tensor"):
        return _looks_like_tensor(parts, message.tensor)
    has_content = message.HasField("content") or "content" in parts.stored(message)
    return bool(has_content or message.HasField("qtensor"))


def _is_tensor_list(parts: Parts) -> bool:
    protos = parts.proto.protos
    return (
        _is_strict(parts)
        and len(protos) > 0
        and all(_looks_like_tensor(parts, proto) for proto in protos[:_MOST_ENTRIES_JUDGED])
    )


def _is_shape_list(parts: Parts) -> bool:
    shapes = parts.proto.shapes
    return (
        _is_strict(parts)
        and len(shapes) > 0
        and _are_clean([shape.name for shape in shapes[:_MOST_ENTRIES_JUDGED]])
        and all(shape.name and min(shape.dims, default=0) >= 0 for shape in shapes)
    )


def _is_reader(parts: Parts) -> bool:
    message = parts.proto
    texts = [message.name, message.source, message.db_type, message.key]
    return _is_strict(parts) and bool(message.source and message.db_type) and _are_clean(texts)


_JUDGES: dict[str, Callable[[Parts], bool]] = {
    "NetDef": _is_net,
    "PlanDef": _is_plan,
    "QTensorProto": _is_qtensor,
    "TensorProto": _is_tensor,
    "BlobProto": _is_blob,
    "TensorProtos": _is_tensor_list,
    "TensorShapes": _is_shape_list,
    "DBReaderProto": _is_reader,
}


def _is_strict(parts: Parts) -> bool:
    """Return whether no message holds a field that the schema has not."""
    pending = [parts.proto]
    while pending:
        at_hand = pending.pop()
        if parts.has_unknown_fields(at_hand):
            return False
        for field, content in at_hand.ListFields():
            if field.message_type is not None:
                pending += content if hasattr(content, "append") else [content]
    return True


def _are_clean(names: list[str]) -> bool:
    """Return whether names are text that a person may have written."""
    return all(read_text(name).isprintable() for name in names)
