"""What an ONNX graph says of its values beside the nodes: ``value_info`` and unknown fields."""

from __future__ import annotations

from typing import Any

from netloupe.explorer.model import Graph, Value
from netloupe.explorer.model.unknown import UnknownFields

from .onnx_parts import OnnxParts
from .onnx_tensors import read_entries, read_text, read_type

#: messages in a graph or function that are elements of their own
_APART = frozenset(
    ("GraphProto", "NodeProto", "SparseTensorProto", "TensorProto", "ValueInfoProto")
)


class OnnxUnknownFinder:
    """Looks for unknown fields in the message of a graph or function."""

    def __init__(self, proto: Any, parts: OnnxParts) -> None:
        self._proto = proto
        self._parts = parts
        self._infos: dict[str, list[tuple[str, int]]] | None = None

    def of_graph(self) -> UnknownFields:
        """Look for those of the graph or function itself."""
        return self._parts.find_unknown(self._proto, _APART)

    def of_value(self, name: str) -> UnknownFields:
        """Look for those of all that is said of a value."""
        found: UnknownFields = ()
        for field, index in self._index().get(name, ()):
            found += self._parts.find_unknown(getattr(self._proto, field)[index])
        return found

    def _index(self) -> dict[str, list[tuple[str, int]]]:
        """Return where the graph speaks of each value: the field and the place in its list."""
        if self._infos is None:
            self._infos = {}
            for field, content in self._proto.ListFields():
                if field.message_type is not None and field.message_type.name == "ValueInfoProto":
                    for index, info in enumerate(content):
                        self._infos.setdefault(read_text(info.name), []).append((field.name, index))
        return self._infos


class Declared:
    """What ``value_info`` says of a graph's values, read when it is asked for.

    Parameters
    ----------
    infos
        The ValueInfoProtos.
    """

    def __init__(self, infos: Any) -> None:
        self._infos = infos
        #: where each name that no value has yet stands among the infos
        self.places: dict[str, int] = {}
        #: further infos with one of these names, and those with names that are not UTF-8
        self.more: list[Any] = []

    def fill(self, value: Value, place: int) -> None:
        """Set what the info at a place says of a value."""
        state_info(value, self._infos[place])

    def finish(self, graph: Graph) -> None:
        """Make values of the names that no node defines, and read what is said twice."""
        for name, place in self.places.items():
            if name in graph.values:
                state_info(graph.values[name], self._infos[place])
            else:
                graph.values[name] = Value(name, graph, place=place)
        for info in self.more:
            state_info(take_value(graph, read_text(info.name)), info)
        self.places, self.more = {}, []


def state_info(value: Value, info: Any) -> None:
    """Set what a ValueInfoProto says of a value."""
    if info.HasField("type"):
        value.type = read_type(info.type)
    if info.doc_string:
        value.doc = read_text(info.doc_string)
    if info.metadata_props:
        value.metadata = read_entries(info.metadata_props)


def take_value(graph: Graph, name: str, values: dict[str, Value] | None = None) -> Value:
    """Return the graph's value of a name, made where it is new.

    ``values`` are those of the graph; asking a graph that is being filled for them takes longer.
    """
    values = graph.values if values is None else values
    value = values.get(name)
    if value is None:
        value = values[name] = Value(name, graph)
    return value
