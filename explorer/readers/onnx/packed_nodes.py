"""The nodes of a very large graph as bytes, each parsed when it is asked for.

A small node takes the runtime about 350 bytes as a message, whatever it takes in the file. Of a
million of them few are ever looked at, once their columns are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Any, overload

import numpy as np
from google.protobuf.message import DecodeError

from netloupe.proto import onnx_pb2
from netloupe.proto.partial_schema import ALL_BYTES, Schema, make_message_class

_SCHEMA: Schema = {
    "Model": (("graph", 7, "Graph"),),
    "Graph": (("node", 1, ALL_BYTES),),
}


class PackedNodes(Sequence[Any]):
    """A list of NodeProtos; each access makes a new message.

    Parameters
    ----------
    nodes
        The serialized messages.
    """

    def __init__(self, nodes: list[bytes]) -> None:
        self._data = b"".join(nodes)
        sizes = np.fromiter(map(len, nodes), np.int64, len(nodes))
        self._ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])

    def __len__(self) -> int:
        return len(self._ends) - 1

    @overload
    def __getitem__(self, index: int) -> Any: ...

    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            graph = onnx_pb2.GraphProto()
            self.add_to(graph)
            return graph.node[index]
        start, end = self._ends[index : index + 2].tolist()
        return onnx_pb2.NodeProto.FromString(self._data[start:end])

    def add_to(self, graph: Any) -> None:
        """Add all nodes to a GraphProto."""
        for start, end in pairwise(self._ends.tolist()):
            graph.node.add().ParseFromString(self._data[start:end])


def pack_nodes(model: bytes) -> tuple[Any, PackedNodes] | None:
    """Return a ModelProto without the nodes of its graph, and these.

    None where the runtime takes the bytes only with something left out.
    """
    try:
        split = _split_class().FromString(model)
        nodes = PackedNodes(split.graph.node[:])
        split.graph.ClearField("node")
        # all other fields are unknown to the class, and are kept
        return onnx_pb2.ModelProto.FromString(split.SerializeToString()), nodes
    except DecodeError:
        return None


@cache
def _split_class() -> Any:
    return make_message_class("packed", _SCHEMA, "Model")
