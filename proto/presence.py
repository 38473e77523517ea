"""Presence: whether a field is used anywhere in a model, told without walking the model.

A message is parsed as one of another schema, which has only the fields on the way to those asked
about, and each of them once. What repeats in the bytes then merges, as the encoding has it for
singular messages: the nodes of a graph become one node, which has an attribute if any has, and
so on. So one look at the result is enough, however many nodes there are. Lists merge, too: those
of names and operands are then the lists of all nodes, which :mod:`.columns` makes use of.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from google.protobuf.message import DecodeError, Message

from .partial_schema import ALL_TEXTS, BYTES, INTEGER, Schema, make_message_class

#: with the numbers of onnx.proto; a ``Leaf`` is not looked into; an ``Info`` and all in it have
#: every field of theirs, so that what else is in them is unknown
_SCHEMA: Schema = {
    "Leaf": (),
    "Model": (("graph", 7, "Graph"), ("training", 20, "Training"), ("function", 25, "Function")),
    "Training": (("initialization", 1, "Graph"), ("algorithm", 2, "Graph")),
    "Function": (("node", 7, "Node"), ("default", 11, "Attribute"), ("value_info", 12, "Info")),
    "Graph": (
        ("node", 1, "Node"),
        ("input", 11, "Info"),
        ("output", 12, "Info"),
        ("value_info", 13, "Info"),
    ),
    "Node": (
        ("input", 1, ALL_TEXTS),
        ("output", 2, ALL_TEXTS),
        ("name", 3, ALL_TEXTS),
        ("op_type", 4, ALL_TEXTS),
        ("attribute", 5, "Attribute"),
        ("domain", 7, ALL_TEXTS),
        ("overload", 8, BYTES),
    ),
    "Attribute": (("g", 6, "Leaf"), ("graphs", 11, "Leaf")),
    "Info": (
        ("name", 1, ALL_TEXTS),
        ("type", 2, "Type"),
        ("doc_string", 3, BYTES),
        ("metadata", 4, "Entry"),
    ),
    "Entry": (("key", 1, BYTES), ("value", 2, BYTES)),
    "Type": (
        ("tensor", 1, "Tensor"),
        ("sequence", 4, "Element"),
        ("map", 5, "Map"),
        ("denotation", 6, BYTES),
        ("opaque", 7, "Opaque"),
        ("sparse_tensor", 8, "Tensor"),
        ("optional", 9, "Element"),
    ),
    "Element": (("type", 1, "Type"),),
    "Map": (("key_type", 1, INTEGER), ("type", 2, "Type")),
    "Opaque": (("opaque_domain", 1, BYTES), ("opaque_name", 2, BYTES)),
    "Tensor": (("element_type", 1, INTEGER), ("shape", 2, "Shape")),
    "Shape": (("dim", 1, "Dimension"),),
    "Dimension": (
        ("dim_value", 1, INTEGER),
        ("dim_param", 2, BYTES),
        ("denotation", 3, BYTES),
    ),
}


class Presence(NamedTuple):
    """What is used anywhere in a model.

    Parameters
    ----------
    subgraphs
        Whether any attribute, of nodes or of functions' defaults, holds a graph.
    denotations
        Whether any type or dimension has a denotation. Types within subgraphs are not looked
        at: where there are any, this is true.
    domains, overloads, attributes
        Whether any node states its domain or overload or has an attribute, outside subgraphs or
        in general where there are any.
    unknown_infos
        Whether anything that is said of a value in a ValueInfoProto is no field of the schema,
        outside subgraphs or in general where there are any.
    """

    subgraphs: bool
    denotations: bool
    domains: bool
    overloads: bool
    attributes: bool
    unknown_infos: bool


class Glance:
    """One look at a serialized ModelProto.

    Bytes that are no message count as if everything were used.

    Parameters
    ----------
    model
        The bytes.

    Attributes
    ----------
    presence
        What is used anywhere.
    graph
        The graph's texts, as far as the schema above has them: those of all nodes together.
    """

    def __init__(self, model: bytes) -> None:
        message = _message_class()()
        try:
            message.ParseFromString(model)
        except DecodeError:
            self.presence = Presence(True, True, True, True, True, True)
        else:
            self.presence = _judge(message)
        self.graph: Any = message.graph


def _judge(message: Message) -> Presence:
    used: set[str] = set()
    pending = [message]
    has_unknown = False
    while pending:
        for field, inner in pending.pop().ListFields():
            used.add(field.name)
            if isinstance(inner, Message):
                pending.append(inner)
                has_unknown |= inner.DESCRIPTOR.name == "Info" and _lose_unknown(inner)
    subgraphs = not used.isdisjoint(("g", "graphs"))
    return Presence(
        subgraphs,
        subgraphs or "denotation" in used,
        subgraphs or "domain" in used,
        subgraphs or "overload" in used,
        subgraphs or "attribute" in used,
        subgraphs or has_unknown,
    )


def _lose_unknown(message: Message) -> bool:
    """Take away what is unknown in a message; return whether there was anything."""
    size = message.ByteSize()
    message.DiscardUnknownFields()
    return message.ByteSize() < size


@cache
def _message_class() -> Any:
    return make_message_class("presence", _SCHEMA, "Model")
