"""A ModelProto from a source: whole where it is small, else in parts with the data left behind.

The other modules of the ONNX reader ask :class:`OnnxParts` for graphs and for the data of
tensors, and need not know which way the model was read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from netloupe.explorer.errors import ModelFormatError, TensorDataError
from netloupe.explorer.model import Payload
from netloupe.proto import onnx_pb2
from netloupe.proto.presence import Presence, find_presence
from netloupe.proto.scanner import (
    MAX_GRAPH_DEPTH,
    SMALL_MESSAGE_BYTES,
    NestingError,
    Piece,
    Scan,
    ScanError,
    SizeError,
    scan_model,
)

from .source import WHOLE_BYTES, Source

#: typed storage fields of a TensorProto with the element type of each, in order of precedence
TYPED_FIELDS = (
    ("float_data", np.float32),
    ("int32_data", np.int32),
    ("int64_data", np.int64),
    ("double_data", np.float64),
    ("uint64_data", np.uint64),
)

_RAW_DATA, _STRING_DATA = 9, 6
_NUMBERS = {4: "float_data", 5: "int32_data", 7: "int64_data", 10: "double_data", 11: "uint64_data"}
_FIXED_WIDTH: dict[int, np.dtype[Any]] = {4: np.dtype("<f4"), 10: np.dtype("<f8")}
_MOST_PARSED = 2**31 - 1  # what the protobuf runtime takes at once

Fetch = Callable[[], Payload]


@dataclass(frozen=True, slots=True)
class TensorStorage:
    """Where a TensorProto's own elements are.

    Parameters
    ----------
    field
        ``raw_data``, ``string_data``, one of the typed fields, or ``none``.
    size
        Bytes of the elements in memory, or a function that counts them.
    fetch
        Gives the elements.
    """

    field: str
    size: int | Callable[[], int | None] | None
    fetch: Fetch


class OnnxParts:
    """A parsed ModelProto and what was left in the source.

    Parameters
    ----------
    source
        Where the model comes from.
    proto
        The message; its graphs are only to be used through :meth:`graph`, its tensors' data
        only through :meth:`find_storage`.
    scan
        What the scanner took out of it; None where it was parsed whole.
    presence
        What is used anywhere in the model.
    """

    def __init__(
        self, source: Source, proto: Any, presence: Presence, scan: Scan | None = None
    ) -> None:
        self.proto = proto
        self._source = source
        self._scan = scan
        self.presence = presence

    def graph(self, proto: Any) -> Any:
        """Return a GraphProto that is the value of an attribute, parsed now if it was not.

        Raises
        ------
        ModelFormatError
            Where its bytes are no GraphProto.
        """
        if self._scan is None:
            return proto
        data = self._scan.find_graph(proto)
        if data is None:
            return proto
        graph = onnx_pb2.GraphProto()
        try:
            graph.ParseFromString(data)
        except DecodeError:
            raise damage(self._source) from None
        return graph

    def find_storage(self, proto: Any, path: str) -> TensorStorage:
        """Return where the elements of a TensorProto without external data are."""
        if self._scan is not None:
            pieces = self._scan.find_pieces(proto)
            if pieces:
                return self._find_pieces(pieces, path)
        if proto.HasField("raw_data"):
            size = len(proto.raw_data)
            return TensorStorage("raw_data", size, lambda: Payload("raw", proto.raw_data))
        if proto.string_data:
            size = sum(map(len, proto.string_data))
            return TensorStorage(
                "string_data", size, lambda: Payload("strings", list(proto.string_data))
            )
        for field, element in TYPED_FIELDS:
            data = getattr(proto, field)
            if len(data):
                size = len(data) * np.dtype(element).itemsize
                return TensorStorage(field, size, _typed_fetch(proto, field, element))
        return TensorStorage("none", 0, lambda: Payload("absent"))

    def list_storages(self, proto: Any) -> list[str]:
        """Return the fields of a TensorProto that hold elements: one, where it is well formed."""
        fields = ("raw_data", "string_data", *(name for name, _ in TYPED_FIELDS))
        held = {name for name in fields if len(getattr(proto, name))}
        if proto.HasField("raw_data"):
            held.add("raw_data")
        if self._scan is not None:
            names = _NUMBERS | {_RAW_DATA: "raw_data", _STRING_DATA: "string_data"}
            held |= {names[piece.number] for piece in self._scan.find_pieces(proto)}
        return [name for name in fields if name in held]

    def _find_pieces(self, pieces: list[Piece], path: str) -> TensorStorage:
        last = pieces[-1]
        if last.number != _RAW_DATA:
            for piece in pieces:
                if piece.number == _RAW_DATA:
                    last = piece
        if last.number == _RAW_DATA:
            stored, start = self._source.stored, last.content
            size = last.end - start
            return TensorStorage(
                "raw_data", size, lambda: Payload("raw", stored.read(start, size, path))
            )
        chosen = [piece for piece in pieces if piece.number == _STRING_DATA]
        if chosen:
            return TensorStorage(
                "string_data",
                lambda: _measure(lambda: sum(map(len, self._parse(chosen, path).string_data))),
                lambda: Payload("strings", list(self._parse(chosen, path).string_data)),
            )
        field, element = next(
            entry for entry in TYPED_FIELDS if any(_NUMBERS[p.number] == entry[0] for p in pieces)
        )
        chosen = [piece for piece in pieces if _NUMBERS[piece.number] == field]

        def fetch() -> np.ndarray[Any, Any]:
            return self._read_numbers(chosen, field, np.dtype(element), path)

        size_found: int | Callable[[], int | None]
        if chosen[0].number in _FIXED_WIDTH and all(piece.content for piece in chosen):
            size_found = sum(piece.end - piece.content for piece in chosen)
        else:
            size_found = lambda: _measure(lambda: fetch().nbytes)  # noqa: E731
        return TensorStorage(field, size_found, lambda: Payload("typed", fetch()))

    def _read_numbers(
        self, pieces: list[Piece], field: str, element: np.dtype[Any], path: str
    ) -> np.ndarray[Any, Any]:
        fixed = _FIXED_WIDTH.get(pieces[0].number)
        if fixed is not None and len(pieces) == 1 and pieces[0].content:
            size = pieces[0].end - pieces[0].content
            if size % fixed.itemsize == 0:
                data = self._source.stored.read(pieces[0].content, size, path)
                return np.frombuffer(data, fixed).astype(element, copy=False)
        return np.array(getattr(self._parse(pieces, path), field), dtype=element)

    def _parse(self, pieces: list[Piece], path: str) -> Any:
        """Return a TensorProto with nothing but some of its data fields."""
        tensor = onnx_pb2.TensorProto()
        if sum(piece.end - piece.start for piece in pieces) > _MOST_PARSED:
            raise TensorDataError(
                f"{path}: its elements take more than 2 GiB as a list of numbers. "
                "Write the tensor again as raw data."
            )
        try:
            for piece in pieces:
                data = self._source.stored.read(piece.start, piece.end - piece.start, path)
                tensor.MergeFromString(bytes(data))
        except DecodeError:
            raise TensorDataError(
                f"{path}: its stored elements are damaged. Get the file again from its source."
            ) from None
        return tensor


def parse_model(source: Source) -> OnnxParts:
    """Parse a ModelProto.

    Raises
    ------
    ModelFormatError
        Where the bytes are no message, or graphs are nested too deep.
    """
    if source.size <= WHOLE_BYTES:
        proto = onnx_pb2.ModelProto()
        data = source.data
        try:
            proto.ParseFromString(data)
        except DecodeError:
            # perhaps only nested deeper than the runtime allows (100 messages, about 30 graphs)
            return _parse_scanned(source, 0)
        return OnnxParts(source, proto, find_presence(data))
    try:
        return _parse_scanned(source, SMALL_MESSAGE_BYTES)
    except _DepthSuspicionError:
        return _parse_scanned(source, 0)


def damage(source: Source) -> ModelFormatError:
    """Return the error for bytes that are no message of the format."""
    return ModelFormatError(
        f"{source.name}: is no ONNX model, or is damaged or cut short. Export or download it again."
    )


def nesting(source: Source) -> ModelFormatError:
    """Return the error for graphs that are nested too deep."""
    return ModelFormatError(
        f"{source.name}: its graphs are nested deeper than {MAX_GRAPH_DEPTH} levels. "
        "Export the model with fewer levels of control flow."
    )


class _DepthSuspicionError(Exception):
    """The scan went well, but small messages that it did not walk cannot be parsed."""


def _parse_scanned(source: Source, small: int) -> OnnxParts:
    try:
        with source.open() as read:
            scan = scan_model(read, source.size, small)
    except NestingError:
        raise nesting(source) from None
    except SizeError as error:
        raise ModelFormatError(
            f"{source.name}: {error}, more than netloupe reads. Move large attributes into tensors."
        ) from None
    except ScanError:
        raise damage(source) from None
    proto = onnx_pb2.ModelProto()
    presence = find_presence(scan.model)
    try:
        proto.ParseFromString(scan.model)
        scan.model = b""
        if small:
            for data in scan.graphs:
                onnx_pb2.GraphProto.FromString(data)
    except DecodeError:
        if small:
            raise _DepthSuspicionError from None
        raise damage(source) from None
    return OnnxParts(source, proto, presence, scan)


def _measure(count: Callable[[], int]) -> int | None:
    try:
        return count()
    except TensorDataError:
        return None


def _typed_fetch(proto: Any, field: str, element: type[np.generic]) -> Fetch:
    return lambda: Payload("typed", np.array(getattr(proto, field), dtype=element))
