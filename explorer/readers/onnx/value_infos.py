"""What an ONNX graph says of its values beside the nodes: ``value_info`` and unknown fields."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from operator import attrgetter, methodcaller
from typing import Any, Literal

import numpy as np

from netloupe.explorer.model import Graph, Value, ValueType
from netloupe.explorer.model.statement import StatedFact, Statement
from netloupe.explorer.model.unknown import UnknownFields
from netloupe.explorer.model.value import read_later
from netloupe.explorer.readers.protobuf.parts import iterate
from netloupe.explorer.readers.protobuf.texts import read_text
from netloupe.explorer.readers.protobuf.unknown_fields import may_have_unknown
from netloupe.proto import onnx_pb2

from .parts import OnnxParts
from .statements import read_onnx_statement
from .tensors import TensorReader, read_entries, read_type

_GET_NAME, _GET_TYPE = attrgetter("name"), attrgetter("type")
_SERIALIZE = methodcaller("SerializeToString")
_SIDES: tuple[Literal["left"], Literal["right"]] = ("left", "right")
#: messages in a graph or function that are elements of their own
_APART = frozenset(
    ("GraphProto", "NodeProto", "SparseTensorProto", "TensorProto", "ValueInfoProto")
)


class OnnxGraphLoader:
    """Looks for unknown fields in the message of a graph or function."""

    def __init__(self, proto: Any, parts: OnnxParts, tensors: TensorReader) -> None:
        self._proto = proto
        self._parts = parts
        self._tensors = tensors
        self._index: _InfoIndex | None = None
        #: whether nothing that is said of any value is unknown; None where that was not asked
        self._has_none: bool | None = None

    def unknown_fields(self) -> UnknownFields:
        """Look for those of the graph or function itself."""
        return self._parts.find_unknown(self._proto, _APART)

    def unknown_fields_of_value(self, name: str) -> UnknownFields:
        """Look for those of all that is said of a value."""
        if not self._parts.presence.unknown_infos:
            return ()
        if self._has_none is None:
            fields = _list_info_fields(self._proto)
            self._has_none = not any(may_have_unknown(self._proto, field) for field in fields)
        if self._has_none:
            return ()
        found: UnknownFields = ()
        for _, info in self._find(name):
            found += self._parts.find_unknown(info)
        return found

    def _find(self, name: str) -> Iterator[tuple[str, Any]]:
        """Yield what is said of a name, with the field in which it is said."""
        if self._index is None:
            self._index = _InfoIndex(self._proto)
        return self._index.find(name)

    # what the file says in full

    def state_graph(self) -> Statement:
        """List all that the file says of the graph itself."""
        return read_onnx_statement(self._proto, self._parts, self._tensors)

    def key_values(self) -> dict[str, int]:
        """Return by name of a value what is equal where the file says the same of it."""
        found: dict[str, int] = {}
        for field in _list_info_fields(self._proto):
            for info in iterate(getattr(self._proto, field)):
                name = read_text(info.name)
                info = type(info).FromString(info.SerializeToString())
                info.ClearField("name")
                data = info.SerializeToString(deterministic=True)
                found[name] = hash((found.get(name), field, data))
        return found

    def state_value(self, name: str) -> Statement:
        """List all that the file says of a value."""
        found: dict[tuple[str, ...], StatedFact] = {}
        counts: Counter[str] = Counter()
        for field, info in self._find(name):
            way = (field, f"#{counts[field]}") if counts[field] else (field,)
            counts[field] += 1
            found[way] = StatedFact("GraphProto", field, "given")
            found |= read_onnx_statement(info, self._parts, self._tensors, way=way)
        return found

    def state_tensor(self, place: int) -> Statement:
        """List all that the file says of an initializer, but for its elements."""
        tensor = self._find_tensor(place)
        return read_onnx_statement(tensor, self._parts, self._tensors, with_elements=False)

    def key_tensor(self, place: int) -> bytes | None:
        """Return what is equal where the file says the same of an initializer, elements included.

        None where these are not in the message itself.
        """
        tensor = self._find_tensor(place)
        if tensor.external_data or tensor.data_location or self._parts.pieces(tensor):
            return None
        data: bytes = tensor.SerializeToString()
        return data

    def _find_tensor(self, place: int) -> Any:
        """Return the message of an initializer."""
        tensors = self._proto.initializer if self._parts.tensors is None else self._parts.tensors
        return tensors[place]

    def state_sparse(self, place: int) -> Statement:
        """List all that the file says of a sparse initializer."""
        return read_onnx_statement(
            self._proto.sparse_initializer[place], self._parts, self._tensors
        )


class _InfoIndex:
    """Finds all that a graph or function says of a value, whose names are kept as hashes only."""

    def __init__(self, proto: Any) -> None:
        self._fields = _list_info_fields(proto)
        self._lists = [getattr(proto, field) for field in self._fields]
        infos = chain.from_iterable(map(iterate, self._lists))
        hashes = np.fromiter(map(hash, map(read_text, map(_GET_NAME, infos))), np.int64)
        self._order = np.argsort(hashes, kind="stable")
        self._hashes = hashes[self._order]

    def find(self, name: str) -> Iterator[tuple[str, Any]]:
        """Yield what is said of a name, in the order of the file, with the field that says it."""
        start, end = (int(np.searchsorted(self._hashes, hash(name), side)) for side in _SIDES)
        for place in self._order[start:end].tolist():
            for field, infos in zip(self._fields, self._lists, strict=True):
                if place < len(infos):
                    if read_text(infos[place].name) == name:
                        yield field, infos[place]
                    break
                place -= len(infos)


def _list_info_fields(proto: Any) -> list[str]:
    """Return the fields in which a graph speaks of values, as far as it does."""
    return [
        field.name
        for field, _ in proto.ListFields()
        if field.message_type is not None and field.message_type.name == "ValueInfoProto"
    ]


class Declared:
    """What a graph says of its values beside the nodes, read when it is asked for.

    Parameters
    ----------
    proto
        The message of a graph or function. The place of a ValueInfoProto is its number among
        those of ``value_info``, then of ``input``, then of ``output``.
    """

    def __init__(self, proto: Any) -> None:
        self._lists = [proto.value_info]
        if proto.DESCRIPTOR.name == "GraphProto":  # a function lists names alone
            self._lists += [proto.input, proto.output]
        #: where each name that no value has yet stands in ``value_info``
        self.places: dict[str, int] = {}
        #: the places of further infos with one of these names, or with names that are not UTF-8
        self.more: list[tuple[str, int]] = []

    def inputs(self) -> tuple[int, list[str]]:
        """Return the place of the first input that is listed, and the names of all."""
        return self._name_all(1)

    def outputs(self) -> tuple[int, list[str]]:
        """Return the place of the first output that is listed, and the names of all."""
        return self._name_all(2)

    def _name_all(self, number: int) -> tuple[int, list[str]]:
        names = [*map(_GET_NAME, iterate(self._lists[number]))]
        if not set(map(type, names)) <= {str}:
            names = [*map(read_text, names)]
        return sum(map(len, self._lists[:number])), names

    def stated_type(self, place: int) -> ValueType | None:
        """Return the type that the info at a place states, if any."""
        info = self._find(place)
        return read_type(info.type) if info.HasField("type") else None

    def list_types(self, places: Sequence[int]) -> list[ValueType | None]:
        """Return the types that the infos at some places state, equal ones once."""
        stated = map(_GET_TYPE, self._find_all(places))
        written: dict[bytes, None] = dict.fromkeys(map(_SERIALIZE, stated))
        types: list[ValueType | None] = [
            read_type(onnx_pb2.TypeProto.FromString(data)) for data in written if data
        ]
        if b"" in written:  # types of which nothing is said, and infos without any
            states = {
                info.HasField("type") for info in self._find_all(places) if not info.type.ByteSize()
            }
            types += [read_type(onnx_pb2.TypeProto()) if is_there else None for is_there in states]
        return types

    def types_at(self, places: Sequence[int]) -> list[ValueType | None]:
        """Return the type that the info at each place states; equal ones are one object."""
        read: dict[bytes, ValueType | None] = {}
        found: list[ValueType | None] = []
        for place in places:
            info = self._find(place)
            data = info.type.SerializeToString()
            if not data:
                found.append(read_type(info.type) if info.HasField("type") else None)
                continue
            if data not in read:
                read[data] = read_type(info.type)
            found.append(read[data])
        return found

    def _find_all(self, places: Sequence[int]) -> Iterator[Any]:
        """Return the infos at some places; those of a whole list at once."""
        wanted = np.array(places, np.int64)
        start = 0
        found: list[Iterable[Any]] = []
        for infos in self._lists:
            end = start + len(infos)
            inside = wanted[(start <= wanted) & (wanted < end)] - start
            is_whole = len(inside) == len(infos)
            found.append(iterate(infos) if is_whole else map(infos.__getitem__, inside.tolist()))
            start = end
        return chain.from_iterable(found)

    def fill(self, value: Value, place: int) -> None:
        """Set what the info at a place says of a value."""
        info = self._find(place)
        if info.HasField("type"):
            value.type = read_type(info.type)
        if info.doc_string:
            value.doc = read_text(info.doc_string)
        if info.metadata_props:
            value.metadata = read_entries(info.metadata_props)

    def _find(self, place: int) -> Any:
        for infos in self._lists:
            if place < len(infos):
                return infos[place]
            place -= len(infos)
        raise IndexError(place)

    def finish(self, graph: Graph, values: dict[str, Value]) -> None:
        """Make values of the names that no node defines, and note what is said twice."""
        for name, place in self.places.items():
            read_later(take_value(graph, name, values), place)
        for name, place in self.more:
            read_later(take_value(graph, name, values), place)
        self.places, self.more = {}, []


def take_value(graph: Graph, name: str, values: dict[str, Value]) -> Value:
    """Return the graph's value of a name, made where it is new.

    ``values`` are those of the graph; asking a graph that is being filled for them takes longer.
    """
    value = values.get(name)
    if value is None:
        value = values[name] = Value(name, graph)
    return value
