"""What the scanner walks of each format: messages within messages, and fields that hold data.

Messages are numbered within a grammar; the numbers of fields are those of the schema.
"""

from __future__ import annotations

from typing import NamedTuple

#: wire types of fields (https://protobuf.dev/programming-guides/encoding)
VARINT, FIXED64, DELIMITED, GROUP_START, GROUP_END, FIXED32 = range(6)


class Grammar(NamedTuple):
    """The messages of one format that are walked.

    Parameters
    ----------
    names
        The name of each message in the schema.
    children
        For each message: field number → the message that the field holds.
    data
        For each message: field number → wire type of one element that is not packed.
    single
        (message, field) of data fields that hold one value: given twice, the last counts.
    lifted
        (message, field) of messages that are taken out, to be parsed apart.
    singular
        (message, field) of messages that are walked whatever their size: a file may give one
        twice, and the order of what they hold must not be lost.
    beginnings
        For each message: bytes that it begins with where its data are left behind; else they
        are kept.
    usual
        The message that most often is written as numbers, name and raw data, and nothing else;
        -1 where there is none.
    """

    names: tuple[str, ...]
    children: tuple[dict[int, int], ...]
    data: tuple[dict[int, int], ...]
    single: frozenset[tuple[int, int]]
    lifted: frozenset[tuple[int, int]]
    singular: frozenset[tuple[int, int]]
    beginnings: tuple[bytes, ...]
    usual: int = -1

    def number(self, name: str) -> int:
        """Return the number of a message in this grammar."""
        return self.names.index(name)


def _build(
    messages: dict[str, dict[int, str]],
    data: dict[str, dict[int, int]],
    single: set[tuple[str, int]],
    lifted: set[tuple[str, int]],
    singular: set[tuple[str, int]],
    usual: str = "",
    beginnings: dict[str, bytes] | None = None,
) -> Grammar:
    names = tuple(messages)
    number = {name: index for index, name in enumerate(names)}

    def numbered(fields: set[tuple[str, int]]) -> frozenset[tuple[int, int]]:
        return frozenset((number[name], field) for name, field in fields)

    return Grammar(
        names,
        tuple(
            {field: number[child] for field, child in children.items()}
            for children in messages.values()
        ),
        tuple(data.get(name, {}) for name in names),
        numbered(single),
        numbered(lifted),
        numbered(singular),
        tuple((beginnings or {}).get(name, b"") for name in names),
        number.get(usual, -1),
    )


#: onnx.proto: ModelProto and what it holds
ONNX = _build(
    {
        "ModelProto": {7: "GraphProto", 20: "TrainingInfoProto", 25: "FunctionProto"},
        "TrainingInfoProto": {1: "GraphProto", 2: "GraphProto"},
        "FunctionProto": {7: "NodeProto", 11: "AttributeProto"},
        "GraphProto": {1: "NodeProto", 5: "TensorProto", 15: "SparseTensorProto"},
        "NodeProto": {5: "AttributeProto"},
        "AttributeProto": {
            5: "TensorProto",
            6: "GraphProto",
            10: "TensorProto",
            11: "GraphProto",
            22: "SparseTensorProto",
            23: "SparseTensorProto",
        },
        "SparseTensorProto": {1: "TensorProto", 2: "TensorProto"},
        "TensorProto": {},
    },
    data={
        "TensorProto": {
            4: FIXED32,
            5: VARINT,
            6: DELIMITED,
            7: VARINT,
            9: DELIMITED,
            10: FIXED64,
            11: VARINT,
        }
    },
    single={("TensorProto", 9)},
    lifted={("AttributeProto", 6), ("AttributeProto", 11)},
    singular={
        ("AttributeProto", 5),
        ("AttributeProto", 6),
        ("AttributeProto", 22),
        ("SparseTensorProto", 1),
        ("SparseTensorProto", 2),
    },
    usual="TensorProto",
)

#: caffe2.proto: the messages that a file may hold, and what they hold
CAFFE2 = _build(
    {
        "NetDef": {2: "OperatorDef", 6: "Argument"},
        "OperatorDef": {5: "Argument"},
        "Argument": {8: "NetDef", 9: "NetDef", 10: "TensorProto", 11: "TensorProto"}
        | {12: "QTensorProto"},
        "TensorProto": {},
        "QTensorProto": {},
        "TensorProtos": {1: "TensorProto"},
        "TensorShapes": {},
        "BlobProto": {3: "TensorProto", 5: "QTensorProto"},
        "PlanDef": {2: "NetDef", 3: "ExecutionStep"},
        "ExecutionStep": {2: "ExecutionStep"},
        "DBReaderProto": {},
    },
    data={
        "Argument": {4: DELIMITED, 5: FIXED32, 6: VARINT, 7: DELIMITED},
        "TensorProto": {
            3: FIXED32,
            4: VARINT,
            5: DELIMITED,
            6: DELIMITED,
            9: FIXED64,
            10: VARINT,
            13: DELIMITED,
        },
        "QTensorProto": {6: VARINT},
        "BlobProto": {4: DELIMITED},
    },
    single={("Argument", 4), ("TensorProto", 5), ("TensorProto", 13), ("BlobProto", 4)},
    lifted={("Argument", 8), ("Argument", 9), ("ExecutionStep", 2)},
    singular={("Argument", 8), ("Argument", 10), ("BlobProto", 3), ("BlobProto", 5)},
    # of the arguments only the elements of fills are left behind; others are few, and needed
    beginnings={"Argument": b"\x0a\x06values"},
)
