"""Caffe2 messages from bytes and text, and which of its seven root messages a file is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet

from netloupe.explorer.errors import ModelFormatError
from netloupe.proto import caffe2_pb2

from .onnx_tensors import read_text

#: nets within nets are read down to this depth
MOST_NESTED_NETS = 500
_MOST_FIELDS_SCANNED = 200_000
_MOST_ENTRIES_JUDGED = 16

_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
_WIRE_TYPES = {
    FieldDescriptor.TYPE_DOUBLE: _FIXED64,
    FieldDescriptor.TYPE_FLOAT: _FIXED32,
    FieldDescriptor.TYPE_STRING: _LENGTH,
    FieldDescriptor.TYPE_BYTES: _LENGTH,
    FieldDescriptor.TYPE_MESSAGE: _LENGTH,
}
_OPERATOR_TYPE = re.compile(r"[\w.:/+-]{1,200}")


class Net:
    """A NetDef and the nets among its arguments.

    Protobuf refuses messages nested 100 deep, which 33 nets within each other are. The bytes
    of nested nets are then lifted out, and parsed on their own when they are asked for.

    Parameters
    ----------
    message
        The NetDef; without its nested nets where these were lifted.
    lifted
        Bytes of nested nets by (operator, argument), the operator being -1 for the net's own
        arguments; None where they are still inside the message.
    """

    __slots__ = ("_lifted", "message")

    def __init__(
        self, message: Any, lifted: dict[tuple[int, int], dict[str, list[bytes]]] | None = None
    ) -> None:
        self.message = message
        self._lifted = lifted

    @property
    def is_lifted(self) -> bool:
        """Whether nested nets are kept outside of the message."""
        return self._lifted is not None

    def nested(self, operator: int, argument: int) -> dict[str, list[Net]]:
        """Return the nets of an argument by field (``n``, ``nets``).

        Raises
        ------
        ModelFormatError
            Where a lifted net is damaged.
        """
        if self._lifted is not None:
            fields = self._lifted.get((operator, argument), {})
            return {field: [parse_net(data) for data in nets] for field, nets in fields.items()}
        owner = self.message if operator < 0 else self.message.op[operator]
        message = owner.arg[argument]
        found = {"n": [Net(message.n)]} if message.HasField("n") else {}
        if message.nets:
            found["nets"] = [Net(net) for net in message.nets]
        return found


def parse_net(data: bytes) -> Net:
    """Parse a NetDef, however deep nets are nested in it.

    Raises
    ------
    ModelFormatError
        Where the bytes are damaged.
    """
    message = caffe2_pb2.NetDef()
    try:
        message.ParseFromString(data)
    except DecodeError:
        shallow, lifted = _lift_nets(data)
        try:
            message.ParseFromString(shallow)
        except DecodeError:
            raise ModelFormatError(_DAMAGED) from None
        return Net(message, lifted)
    return Net(message)


_DAMAGED = "a Caffe2 net is damaged or cut short. Export or download it again."


def recognize_caffe2(data: bytes) -> str | None:
    """Return the name of the Caffe2 message that bytes are, or None.

    Judged by the numbers and wire types of the outermost fields, then by what the message
    says once it is parsed. Bytes of an ONNX ModelProto or TensorProto give None.
    """
    try:
        fields = {(number, wire_type) for number, wire_type, *_ in _scan(data)}
    except ValueError:
        return None
    if not fields:
        return None
    for root, judge in _JUDGES.items():
        if _fits(root, fields) and judge(data):
            return root
    return None


def parse_caffe2(data: bytes, root: str) -> Any:
    """Parse bytes as a message of a known root; a NetDef as a :class:`Net`.

    Raises
    ------
    ModelFormatError
        Where the bytes are damaged.
    """
    if root == "NetDef":
        return parse_net(data)
    message = getattr(caffe2_pb2, root)()
    try:
        message.ParseFromString(data)
    except DecodeError:
        raise ModelFormatError(_DAMAGED) from None
    return message


def _fits(root: str, fields: set[tuple[int, int]]) -> bool:
    known = getattr(caffe2_pb2, root).DESCRIPTOR.fields_by_number
    highest = max(known)
    for number, wire_type in fields:
        field = known.get(number)
        if field is None:
            if root == "NetDef" and number > highest:
                continue  # a newer writer may add fields
            return False
        wanted = _WIRE_TYPES.get(field.type, _VARINT)
        is_packed = field.is_repeated if hasattr(field, "is_repeated") else field.label == 3
        if wire_type != wanted and not (wire_type == _LENGTH and is_packed):
            return False
    return True


def _is_net(data: bytes) -> bool:
    try:
        message = parse_net(data).message
    except ModelFormatError:
        return False
    return _looks_like_net(message)


def _looks_like_net(message: Any) -> bool:
    if message.op:
        return _has_operators(message)
    names = [message.name, *message.external_input, *message.external_output]
    return _are_clean(names) and (message.HasField("name") + len(names) > 2)


def _has_operators(message: Any) -> bool:
    judged = message.op[:_MOST_ENTRIES_JUDGED]
    good = sum(bool(_OPERATOR_TYPE.fullmatch(read_text(op.type))) for op in judged)
    return good * 2 >= len(judged) > 0


def _is_plan(data: bytes) -> bool:
    message = _parse_strictly(caffe2_pb2.PlanDef(), data)
    if message is None or not (message.network or message.execution_step):
        return False
    names = [message.name, *(step.name for step in message.execution_step)]
    nets = message.network[:_MOST_ENTRIES_JUDGED]
    return _are_clean(names) and all(
        _has_operators(net) if net.op else _are_clean([net.name, *net.external_input])
        for net in nets
    )


def _is_qtensor(data: bytes) -> bool:
    message = _parse_strictly(caffe2_pb2.QTensorProto(), data)
    return message is not None and message.HasField("precision") and bool(message.data)


def _is_tensor(data: bytes) -> bool:
    message = _parse_strictly(caffe2_pb2.TensorProto(), data)
    return message is not None and _looks_like_tensor(message)


def _looks_like_tensor(message: Any) -> bool:
    if not _are_clean([message.name]) or any(dim < 0 for dim in message.dims):
        return False
    if message.storage_type == message.RAW:
        return bool(message.HasField("raw_data"))
    if message.storage_type == message.EXTERNAL:
        return bool(message.HasField("external_data"))
    if message.storage_type == message.NO_CONTENT:
        return True
    expected = TYPED_FIELDS.get(message.data_type)
    if expected is None:
        return False
    return bool(getattr(message, expected)) or (message.data_type == 6 and bool(message.byte_data))


def _is_blob(data: bytes) -> bool:
    message = _parse_strictly(caffe2_pb2.BlobProto(), data)
    if message is None or not _are_clean([message.name, message.type]) or not message.type:
        return False
    if message.HasField("tensor"):
        return _looks_like_tensor(message.tensor)
    return bool(message.HasField("content") or message.HasField("qtensor"))


def _is_tensor_list(data: bytes) -> bool:
    message = _parse_strictly(caffe2_pb2.TensorProtos(), data)
    return (
        message is not None
        and len(message.protos) > 0
        and all(map(_looks_like_tensor, message.protos[:_MOST_ENTRIES_JUDGED]))
    )


def _is_reader(data: bytes) -> bool:
    message = _parse_strictly(caffe2_pb2.DBReaderProto(), data)
    if message is None:
        return False
    texts = [message.name, message.source, message.db_type, message.key]
    return bool(message.source and message.db_type) and _are_clean(texts)


_JUDGES: dict[str, Callable[[bytes], bool]] = {
    "NetDef": _is_net,
    "PlanDef": _is_plan,
    "QTensorProto": _is_qtensor,
    "TensorProto": _is_tensor,
    "BlobProto": _is_blob,
    "TensorProtos": _is_tensor_list,
    "DBReaderProto": _is_reader,
}

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


def _parse_strictly(message: Any, data: bytes) -> Any | None:
    """Parse a message; None where it is damaged or holds a field that the schema has not."""
    try:
        message.ParseFromString(data)
    except DecodeError:
        return None
    pending = [message]
    while pending:
        at_hand = pending.pop()
        if len(UnknownFieldSet(at_hand)):
            return None
        for field, content in at_hand.ListFields():
            if field.message_type is not None:
                pending += content if hasattr(content, "append") else [content]
    return message


def _are_clean(names: list[str]) -> bool:
    """Return whether names are text that a person may have written."""
    return all(read_text(name).isprintable() for name in names)


# the wire format


def _scan(data: bytes) -> Iterator[tuple[int, int, int, int, int]]:
    """Yield (number, wire type, start of the tag, start and end of the content) of fields.

    Raises
    ------
    ValueError
        Where the bytes are no message, or one with an absurd number of fields.
    """
    position, end = 0, len(data)
    for _ in range(_MOST_FIELDS_SCANNED):
        if position == end:
            return
        start = position
        tag, position = _read_varint(data, position)
        number, wire_type = tag >> 3, tag & 7
        content = position
        if wire_type == _VARINT:
            _, position = _read_varint(data, position)
        elif wire_type == _LENGTH:
            length, content = _read_varint(data, position)
            position = content + length
        elif wire_type in (_FIXED64, _FIXED32):
            position += 8 if wire_type == _FIXED64 else 4
        else:
            raise ValueError("groups are not used in Caffe2 files")
        if not number or position > end:
            raise ValueError("the bytes are cut short")
        yield number, wire_type, start, content, position
    # the rest is judged by the parser


def _read_varint(data: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while shift < 70 and position < len(data):
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7
    raise ValueError("a number is cut short")


def _write_varint(value: int) -> bytes:
    written = bytearray()
    while value > 0x7F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    written.append(value)
    return bytes(written)


_OPERATOR, _NET_ARGUMENT = 2, 6  # fields of NetDef
_ARGUMENT = 5  # field of OperatorDef
_NESTED = {8: "n", 9: "nets"}  # fields of Argument


def _lift_nets(data: bytes) -> tuple[bytes, dict[tuple[int, int], dict[str, list[bytes]]]]:
    """Return a NetDef's bytes without the nets among its arguments, and the bytes of these."""
    lifted: dict[tuple[int, int], dict[str, list[bytes]]] = {}
    operators = arguments = 0

    def lift_argument(content: bytes, operator: int, argument: int) -> bytes:
        kept = []
        for number, wire_type, start, inner, end in _scan(content):
            field = _NESTED.get(number) if wire_type == _LENGTH else None
            if field is None:
                kept.append(content[start:end])
                continue
            nets = lifted.setdefault((operator, argument), {}).setdefault(field, [])
            if field == "n" and nets:  # a field given twice is merged
                nets[0] += content[inner:end]
            else:
                nets.append(content[inner:end])
        return b"".join(kept)

    def lift_operator(content: bytes, operator: int) -> bytes:
        kept, argument = [], 0
        for number, wire_type, start, inner, end in _scan(content):
            if number == _ARGUMENT and wire_type == _LENGTH:
                shallow = lift_argument(content[inner:end], operator, argument)
                kept.append(_write_field(_ARGUMENT, shallow))
                argument += 1
            else:
                kept.append(content[start:end])
        return b"".join(kept)

    kept = []
    try:
        for number, wire_type, start, inner, end in _scan(data):
            if number == _OPERATOR and wire_type == _LENGTH:
                kept.append(_write_field(_OPERATOR, lift_operator(data[inner:end], operators)))
                operators += 1
            elif number == _NET_ARGUMENT and wire_type == _LENGTH:
                shallow = lift_argument(data[inner:end], -1, arguments)
                kept.append(_write_field(_NET_ARGUMENT, shallow))
                arguments += 1
            else:
                kept.append(data[start:end])
    except ValueError:
        raise ModelFormatError(_DAMAGED) from None
    if not lifted:
        raise ModelFormatError(_DAMAGED)
    return b"".join(kept), lifted


def _write_field(number: int, content: bytes) -> bytes:
    return _write_varint(number << 3 | _LENGTH) + _write_varint(len(content)) + content
