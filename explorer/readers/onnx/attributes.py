"""ONNX attributes as those of the view model (onnx.proto: AttributeProto)."""

from __future__ import annotations

from typing import Any

from netloupe.explorer.model import Attribute, Graph, ModelWarning
from netloupe.explorer.readers.protobuf.texts import read_bytes, read_text
from netloupe.proto import onnx_pb2
from netloupe.proto.unknown_enums import read_enum_number

from .tensors import TensorReader, read_type

#: AttributeProto.AttributeType -> (kind, field that holds the value)
KINDS: dict[int, tuple[str, str]] = {
    0: ("undefined", ""),
    1: ("float", "f"),
    2: ("int", "i"),
    3: ("string", "s"),
    4: ("tensor", "t"),
    5: ("graph", "g"),
    6: ("floats", "floats"),
    7: ("ints", "ints"),
    8: ("strings", "strings"),
    9: ("tensors", "tensors"),
    10: ("graphs", "graphs"),
    11: ("sparse_tensor", "sparse_tensor"),
    12: ("sparse_tensors", "sparse_tensors"),
    13: ("type_proto", "tp"),
    14: ("type_protos", "type_protos"),
}
_FIELDS = {field: kind for kind, field in KINDS.values() if field}
_NAMES = {onnx_pb2.AttributeProto.DESCRIPTOR.fields_by_name[field]: field for field in _FIELDS}
#: the fields of one number, with that of the kind and its name
_NUMBERS = {
    descriptor: (number, kind)
    for descriptor, field in _NAMES.items()
    for number, (kind, kept) in KINDS.items()
    if field == kept and field in ("f", "i")
}
_NAME, _TYPE = map(onnx_pb2.AttributeProto.DESCRIPTOR.fields_by_name.get, ("name", "type"))


def fields_in_use(proto: Any) -> list[str]:
    """Return the value fields of an AttributeProto that are set."""
    return [_NAMES[field] for field, _ in proto.ListFields() if field in _NAMES]


def read_attribute(
    proto: Any, path: str, tensors: TensorReader, graphs: dict[str, tuple[Graph, ...]]
) -> Attribute:
    """Return an AttributeProto as an attribute.

    Parameters
    ----------
    proto
        The message.
    path
        The path of the node that has it.
    tensors
        Makes the tensors among the values.
    graphs
        The node's subgraphs, already read, by field of this attribute (``g``, ``graphs``).
    """
    fields = proto.ListFields()
    if len(fields) == 3:  # as most are
        (first, name), (second, value), (third, number) = fields
        plain = _NUMBERS.get(second)
        if plain is not None and number == plain[0] and first is _NAME and third is _TYPE:
            return Attribute(read_text(name), plain[1], value)
    name = read_text(proto.name)
    used = fields_in_use(proto)
    kind, field = _find_kind(proto, used)
    own_path = f"{path}.{name}"
    warnings: list[ModelWarning] = []
    reference = read_text(proto.ref_attr_name)
    if not field and used and not reference:
        # IR 1 had no type: the field in use tells it
        field = used[0]
        if kind == "undefined":
            kind = _FIELDS[field]
        else:
            warnings.append(ModelWarning(own_path, f"the attribute's kind {kind} is not known"))
    elif field and used and field not in used:
        warnings.append(ModelWarning(own_path, f"says it is {kind} but holds {_FIELDS[used[0]]}"))
        field = used[0]
    elif kind.startswith("unknown("):
        warnings.append(ModelWarning(own_path, f"the attribute's kind {kind} is not known"))
    if len(used) > 1:
        held = ", ".join(_FIELDS[name] for name in used)
        warnings.append(ModelWarning(own_path, f"holds several values: {held}"))
    value = None
    if not reference and field:
        value = _read_value(proto, field, own_path, tensors, graphs)
    return Attribute(
        name,
        kind,
        value,
        reference=reference,
        doc=read_text(proto.doc_string),
        warnings=tuple(warnings),
    )


def _find_kind(proto: Any, used: list[str]) -> tuple[str, str]:
    number = read_enum_number(proto, "type")
    if number is not None:
        return KINDS.get(number, (f"unknown({number})", ""))
    return ("undefined", "") if not used else (_FIELDS[used[0]], used[0])


def _read_value(
    proto: Any,
    field: str,
    path: str,
    tensors: TensorReader,
    graphs: dict[str, tuple[Graph, ...]],
) -> Any:
    if field in ("f", "i"):
        return getattr(proto, field)
    if field in ("floats", "ints"):
        return tuple(getattr(proto, field))
    if field == "s":
        return read_bytes(proto.s)
    if field == "strings":
        return tuple(map(read_bytes, proto.strings))
    if field == "t":
        return tensors.read(proto.t, path)
    if field == "tensors":
        return tuple(tensors.read(t, f"{path}[{i}]") for i, t in enumerate(proto.tensors))
    if field == "sparse_tensor":
        return tensors.read_sparse(proto.sparse_tensor, path)
    if field == "sparse_tensors":
        return tuple(
            tensors.read_sparse(t, f"{path}[{i}]") for i, t in enumerate(proto.sparse_tensors)
        )
    if field == "tp":
        return read_type(proto.tp)
    if field == "type_protos":
        return tuple(map(read_type, proto.type_protos))
    found = graphs.get(field, ())
    return (found[0] if found else None) if field == "g" else found
