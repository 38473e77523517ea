"""The nodes and initializers of a very large graph as bytes, each parsed when it is asked for.

A small message takes the runtime 200 to 350 bytes, whatever it takes in the file. Of a million of
them few are ever looked at, once their columns are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple, overload

import numpy as np
from google.protobuf.message import DecodeError

from netloupe.explorer.readers.protobuf.texts import read_text
from netloupe.proto import onnx_pb2
from netloupe.proto.partial_schema import ALL_BYTES, Schema, make_message_class
from netloupe.proto.tensor_columns import TensorColumns, read_tensor_columns

_SCHEMA: Schema = {
    "Model": (("graph", 7, "Graph"),),
    "Graph": (("node", 1, ALL_BYTES), ("initializer", 5, ALL_BYTES)),
}


class PackedMessages(Sequence[Any]):
    """A list of messages; each access makes a new one.

    Parameters
    ----------
    kind
        Their class.

    Attributes
    ----------
    data
        The bytes of all of them.
    ends
        Where each ends in the data, after a 0 for the first to begin at.
    """

    def __init__(self, kind: Any, messages: list[bytes]) -> None:
        self._kind = kind
        self.data = b"".join(messages)
        sizes = np.fromiter(map(len, messages), np.int64, len(messages))
        self.ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])

    def __len__(self) -> int:
        return len(self.ends) - 1

    @overload
    def __getitem__(self, index: int) -> Any: ...

    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return [self[one] for one in range(*index.indices(len(self)))]
        start, end = self.ends[index : index + 2].tolist()
        return self._kind.FromString(self.data[start:end])

    def add_to(self, messages: Any) -> None:
        """Add all messages to a list of them in another message."""
        for start, end in pairwise(self.ends.tolist()):
            messages.add().ParseFromString(self.data[start:end])


class PackedTensors(PackedMessages):
    """A list of TensorProtos, of most of which name and form are known.

    Attributes
    ----------
    columns
        What is known of them.
    """

    def __init__(self, messages: list[bytes]) -> None:
        super().__init__(onnx_pb2.TensorProto, messages)
        self.columns: TensorColumns = read_tensor_columns(self.data, self.ends)

    def names(self) -> list[str]:
        """Return the names of all."""
        columns, data = self.columns, self.data
        try:
            bounds = zip(*columns.names.T.tolist(), strict=True)
            names = [data[start:end].decode() for start, end in bounds]
        except UnicodeDecodeError:
            return [read_text(message.name) for message in self]
        for index in np.flatnonzero(columns.forms < 0).tolist():
            names[index] = read_text(self[index].name)
        return names


class Packed(NamedTuple):
    """A ModelProto without what stands beside it here; None for what is still in it."""

    proto: Any
    nodes: PackedMessages | None
    tensors: PackedTensors | None


def pack_messages(model: bytes, *, nodes: bool, tensors: bool) -> Packed | None:
    """Return a ModelProto without the nodes of its graph, or without its initializers, and these.

    None where the runtime takes the bytes only with something left out.
    """
    try:
        split = _split_class().FromString(model)
        graph = split.graph
        packed_nodes = PackedMessages(onnx_pb2.NodeProto, graph.node[:]) if nodes else None
        packed_tensors = PackedTensors(graph.initializer[:]) if tensors else None
        if nodes:
            graph.ClearField("node")
        if tensors:
            graph.ClearField("initializer")
        # all other fields are unknown to the class, and are kept
        proto = onnx_pb2.ModelProto.FromString(split.SerializeToString())
    except DecodeError:
        return None
    return Packed(proto, packed_nodes, packed_tensors)


@cache
def _split_class() -> Any:
    return make_message_class("packed", _SCHEMA, "Model")
