"""Models without the names that an exporter left in them, to see what structure alone tells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from netloupe.explorer.model import Graph, Model
from netloupe.explorer.readers.load import load
from netloupe.proto import onnx_pb2


def load_blank(path: Path) -> Graph:
    """Return the main graph of an ONNX file without its names; see :func:`blank`."""
    return blank(path).graph


def blank(path: Path) -> Model:
    """Return the model of an ONNX file with every name replaced by a number.

    Node names, metadata and stated types are taken away. Subgraphs keep their own names, which
    no search of the main graph reads.
    """
    proto = onnx_pb2.ModelProto.FromString(path.read_bytes())
    graph = proto.graph
    numbers: dict[str, str] = {"": ""}

    def number(name: str) -> str:
        return numbers.setdefault(name, str(len(numbers)))

    def rename_captured(inner: Any) -> None:
        for node in inner.node:
            for index, name in enumerate(node.input):
                node.input[index] = numbers.get(name, name)
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    rename_captured(attribute.g)

    for entry in (*graph.initializer, *graph.input):
        entry.name = number(entry.name)
    for node in graph.node:
        node.name = node.doc_string = ""
        del node.metadata_props[:]
        for names in (node.input, node.output):
            for index, name in enumerate(names):
                names[index] = number(name)
        for attribute in node.attribute:
            if attribute.HasField("g"):
                rename_captured(attribute.g)
    for entry in graph.output:
        entry.name = number(entry.name)
    del graph.value_info[:], proto.metadata_props[:]
    graph.name = ""
    return load(proto.SerializeToString())
