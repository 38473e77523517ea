"""A ModelProto from a source: whole where it is small, else in parts with the data left behind.

The other modules of the ONNX reader ask :class:`OnnxParts` for graphs and for the data of
tensors, and need not know which way the model was read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from netloupe.explorer.errors import ModelFormatError
from netloupe.explorer.model import Payload
from netloupe.explorer.readers.protobuf.parts import (
    Fetch,
    Parts,
    TensorStorage,
    measure,
    parse_parts,
)
from netloupe.explorer.readers.protobuf.stored_field import Count, StoredField
from netloupe.explorer.readers.source import Source
from netloupe.proto import onnx_pb2
from netloupe.proto.columns import GraphColumns, read_columns
from netloupe.proto.grammars import ONNX
from netloupe.proto.presence import Glance, Presence
from netloupe.proto.scanner import MAX_GRAPH_DEPTH
from netloupe.proto.wire import NestingError, ScanError, SizeError

from .deep_types import cut_types
from .elements import ELEMENTS
from .packed import Packed, PackedTensors, pack_messages

#: so many nodes or initializers of a graph are not kept as messages: these would take 70 MB
MOST_MESSAGES = 200_000
#: typed storage fields of a TensorProto with the element type of each, in order of precedence
TYPED_FIELDS = (
    ("float_data", np.float32),
    ("int32_data", np.int32),
    ("int64_data", np.int64),
    ("double_data", np.float64),
    ("uint64_data", np.uint64),
)
#: all fields that can hold elements, in order of precedence
ELEMENT_FIELDS = ("raw_data", "string_data", *(name for name, _ in TYPED_FIELDS))


class OnnxParts(Parts):
    """A parsed ModelProto and what was left in the source."""

    #: what is used anywhere in the model
    presence: Presence
    #: how many types were nested too deep and end where they could
    types_cut: int = 0
    _packed: Packed | None = None

    def look_at(self, data: bytes) -> None:
        """Find what is used anywhere in the model."""
        self._glance: tuple[Glance, bytes] | None = (Glance(data), data)
        self.presence = self._glance[0].presence

    def parse(self, message: Any, data: bytes) -> None:
        """Parse a message; where it cannot be, without the types that are nested too deep."""
        try:
            message.ParseFromString(data)
        except DecodeError as error:
            try:
                shallow, cuts = cut_types(data, message.DESCRIPTOR)
            except ValueError:
                raise error from None
            message.ParseFromString(shallow)
            self.types_cut += cuts

    @property
    def has_many_messages(self) -> bool:
        """Whether :meth:`pack` leaves nodes or initializers of the main graph as bytes."""
        graph = self.proto.graph
        return len(graph.node) >= MOST_MESSAGES or len(graph.initializer) >= MOST_MESSAGES

    @property
    def tensors(self) -> PackedTensors | None:
        """The initializers of the main graph where they are packed; there is but one graph."""
        return None if self._packed is None else self._packed.tensors

    def nodes_of(self, graph: Any) -> Sequence[Any]:
        """Return the messages of a graph's nodes; where any are packed, there is but one graph."""
        packed = None if self._packed is None else self._packed.nodes
        return graph.node if packed is None else packed

    def pack(self) -> bool:
        """Leave nodes and initializers of the main graph as bytes where very many; say if so.

        :attr:`proto` is another message then, and has none of them. To be asked for before
        :meth:`columns`, and only where no node holds a graph.
        """
        if self._glance is None or not self.has_many_messages:
            return False
        graph = self.proto.graph
        self._packed = pack_messages(
            self._glance[1],
            nodes=len(graph.node) >= MOST_MESSAGES,
            tensors=len(graph.initializer) >= MOST_MESSAGES,
        )
        if self._packed is None:
            return False
        self.proto = self._packed.proto
        return True

    def copy_graph(self, target: Any) -> None:
        """Make a GraphProto a copy of the main graph, with all its nodes and initializers."""
        target.CopyFrom(self.proto.graph)
        if self._packed is not None:
            if self._packed.nodes is not None:
                self._packed.nodes.add_to(target.node)
            if self._packed.tensors is not None:
                self._packed.tensors.add_to(target.initializer)

    def columns(self) -> GraphColumns | None:
        """Return what the nodes of the main graph say, if it can be read in one go; only once.

        None also where any node has an overload.
        """
        glance, self._glance = self._glance, None
        if glance is None or self.presence.overloads:
            return None
        return read_columns(*glance, len(self.nodes_of(self.proto.graph)))

    def forget_columns(self) -> None:
        """Free what :meth:`columns` needs, where nobody will ask for them."""
        self._glance = None

    def graph(self, proto: Any) -> Any:
        """Return a GraphProto that is the value of an attribute, parsed now if it was not.

        Raises
        ------
        ModelFormatError
            Where its bytes are no GraphProto.
        """
        try:
            return self.lifted(proto)
        except DecodeError:
            raise damage(self.source) from None

    def find_storage(self, proto: Any, path: str, stored: dict[str, StoredField]) -> TensorStorage:
        """Return where the elements of a TensorProto without external data are.

        ``stored`` are those of its fields that were left behind.
        """
        if stored:
            return _find_stored(stored, path)
        if proto.HasField("raw_data"):
            size = len(proto.raw_data)
            return TensorStorage("raw_data", size, lambda: Payload("raw", proto.raw_data))
        strings = proto.string_data
        if strings:
            return TensorStorage(
                "string_data",
                lambda: sum(map(len, strings)),
                lambda: Payload("strings", list(strings)),
                Count.of(len(strings)),
            )
        for field, element in TYPED_FIELDS:
            data = getattr(proto, field)
            if len(data):
                size = len(data) * np.dtype(element).itemsize
                fetch = _typed_fetch(proto, field, element)
                return TensorStorage(field, size, fetch, Count.of(len(data)))
        return TensorStorage("none", 0, lambda: Payload("absent"))

    def list_storages(self, proto: Any, stored: dict[str, StoredField]) -> list[str]:
        """Return the fields of a TensorProto that hold elements: one, where it is well formed."""
        held = {field.name for field, _ in proto.ListFields()} | stored.keys()
        return [name for name in ELEMENT_FIELDS if name in held]


def _find_stored(stored: dict[str, StoredField], path: str) -> TensorStorage:
    chosen = next(stored[name] for name in ELEMENT_FIELDS if name in stored)
    if chosen.field == "raw_data":
        last = chosen.pieces[-1]
        size = last.end - last.content
        return TensorStorage("raw_data", size, lambda: Payload("raw", chosen.content(path)))
    if chosen.field == "string_data":
        return TensorStorage(
            "string_data",
            chosen.size,
            lambda: Payload("strings", chosen.strings(path)),
            chosen.count,
        )
    known = chosen.size
    return TensorStorage(
        chosen.field,
        known if known is not None else lambda: measure(lambda: chosen.numbers(path).nbytes),
        lambda: Payload("typed", chosen.row(path)),
        chosen.count,
    )


def parse_model(source: Source, *, is_recognized: bool = True) -> OnnxParts:
    """Parse a ModelProto; only where it is recognised as one, the place of damage is told.

    Raises
    ------
    ModelFormatError
        Where the bytes are no message, or graphs are nested too deep.
    """
    try:
        return parse_parts(source, onnx_pb2, "ModelProto", ONNX, OnnxParts)
    except NestingError:
        raise nesting(source) from None
    except SizeError as error:
        raise ModelFormatError(
            f"{source.name}: {error}, more than netloupe reads. Move large attributes into tensors."
        ) from None
    except ScanError:
        if is_recognized:
            raise damage(source) from None
        raise ModelFormatError(
            f"{source.name}: is no ONNX model, or is damaged or cut short. "
            "Export or download it again."
        ) from None


def damage(
    source: Source, message: Any = onnx_pb2.ModelProto, how: str = "damaged or cut short"
) -> ModelFormatError:
    """Return the error for a damaged message, with the place.

    Parameters
    ----------
    source
        The bytes.
    message
        The class of the message.
    how
        What may have happened to it.
    """
    from netloupe.explorer.readers.protobuf.damage import say_where

    what = "model" if message is onnx_pb2.ModelProto else message.DESCRIPTOR.name
    where = say_where(source, message.DESCRIPTOR, ELEMENTS)
    return ModelFormatError(
        f"{source.name}: is an ONNX {what} that is {how}{where}. Export or download it again."
    )


def nesting(source: Source) -> ModelFormatError:
    """Return the error for graphs that are nested too deep."""
    from netloupe.explorer.readers.protobuf.damage import say_where

    where = say_where(source, onnx_pb2.ModelProto.DESCRIPTOR, ELEMENTS, is_too_deep=True)
    return ModelFormatError(
        f"{source.name}: its graphs are nested deeper than {MAX_GRAPH_DEPTH} levels{where}. "
        "Export the model with fewer levels of control flow."
    )


def _typed_fetch(proto: Any, field: str, element: type[np.generic]) -> Fetch:
    return lambda: Payload("typed", np.array(getattr(proto, field), dtype=element))
