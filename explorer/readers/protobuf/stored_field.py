"""Data fields that the scanner left where they are, read when they are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError

from netloupe.explorer.errors import SourceError, TensorDataError
from netloupe.explorer.model import StoredRow
from netloupe.explorer.readers.source import Source
from netloupe.proto.scanner import Piece
from netloupe.proto.wire import ReadRange

_FIXED: dict[int, np.dtype[Any]] = {
    FieldDescriptor.TYPE_FLOAT: np.dtype("<f4"),
    FieldDescriptor.TYPE_DOUBLE: np.dtype("<f8"),
}
_VARINTS: dict[int, np.dtype[Any]] = {
    FieldDescriptor.TYPE_INT32: np.dtype(np.int32),
    FieldDescriptor.TYPE_INT64: np.dtype(np.int64),
    FieldDescriptor.TYPE_UINT64: np.dtype(np.uint64),
}
_MOST_PARSED = 2**31 - 1  # what the protobuf runtime takes at once
_WINDOW = 2**22
_LONGEST_VARINT = 10
_MOST_PIECES = 1000  # of a list that is read piece by piece: each is looked for in every reading
_MOST_COUNTED = 2**20  # bytes of a list of varints that are looked at only to count them


class Count(NamedTuple):
    """How many elements are stored: at least, and at most."""

    least: int
    most: int

    @classmethod
    def of(cls, number: int) -> Count:
        """Return a number that is known."""
        return cls(number, number)

    @property
    def exact(self) -> int | None:
        """The number, where it is known."""
        return self.least if self.least == self.most else None

    def differs(self, needed: int) -> str:
        """Return the number that is stored in words where it cannot be the one that is needed."""
        if self.least <= needed <= self.most:
            return ""
        if self.least == self.most:
            return str(self.least)
        return f"at least {self.least}" if needed < self.least else f"at most {self.most}"


def tell_stored(stored: str, noun: str, wanted: int, why: str) -> str:
    """Return what warnings say: ``1 byte is stored where 2 are claimed``.

    What is stored may be ``at least 3``.
    """
    many, are = (noun, "is") if stored.split()[-1] == "1" else (f"{noun}s", "are")
    return f"{stored} {many} {are} stored where {wanted} {'is' if wanted == 1 else 'are'} {why}"


@dataclass(frozen=True, slots=True)
class StoredField:
    """A field of one message whose content is still in the source.

    Parameters
    ----------
    source
        Where the message comes from.
    message
        The generated class of the message.
    pieces
        Where the field lies, in the order of the file.
    """

    source: Source
    message: Any
    field: str
    pieces: Sequence[Piece]

    @property
    def size(self) -> int | None:
        """Bytes of the elements in memory, where they are known without reading any."""
        kind = self._descriptor.type
        if kind in _FIXED:
            width = _FIXED[kind].itemsize
            if all(piece.content or piece.is_run for piece in self.pieces):
                return sum(
                    (piece.end - piece.start) // (width + 1) * width
                    if piece.is_run
                    else piece.end - piece.content
                    for piece in self.pieces
                )
        elif kind == FieldDescriptor.TYPE_BYTES:
            return sum(p.size if p.count else p.end - p.content for p in self.pieces)
        return None

    @property
    def is_bytes(self) -> bool:
        """Whether it is one piece of bytes, and no list."""
        descriptor = self._descriptor
        return descriptor.type == FieldDescriptor.TYPE_BYTES and not descriptor.is_repeated

    @property
    def count(self) -> Count:
        """How many elements a list has, told without decoding any.

        It is exact but for integers of more than a mebibyte, whose width varies, and for lists
        that are written in two ways.
        """
        kind, size = self._descriptor.type, self.size
        if kind in _FIXED:
            width = _FIXED[kind].itemsize
            most = self._stored // width
            return Count.of(size // width) if size is not None else Count(0, most)
        if kind in _VARINTS:
            return self._count_varints()
        return Count.of(sum(piece.count for piece in self.pieces))

    @property
    def _stored(self) -> int:
        return sum(piece.end - (piece.content or piece.start) for piece in self.pieces)

    def _count_varints(self) -> Count:
        """Count the bytes that end a number; behind every tag of a run stands another."""
        if self._stored <= _MOST_COUNTED and all(p.content or p.is_run for p in self.pieces):
            try:
                with self.source.open() as read:
                    return Count.of(sum(_count_in(read, piece) for piece in self.pieces))
            except SourceError:  # told when the elements are asked for
                pass
        longest = _LONGEST_VARINT + any(not piece.content for piece in self.pieces)
        return Count(-(-self._stored // longest), self._stored)

    def is_plausible(self) -> bool:
        """Return whether every packed list may end where it does, going by its length and end."""
        kind = self._descriptor.type
        for piece in self.pieces:
            if not piece.content:
                continue
            if kind in _FIXED and (piece.end - piece.content) % _FIXED[kind].itemsize:
                return False
            if kind in _VARINTS:
                with self.source.open() as read:
                    if read(1, piece.end - 1) > b"\x7f":
                        return False
        return True

    def content(self, path: str) -> StoredRow:
        """Return the bytes of a single field; of one that is given twice the last counts.

        Reading raises TensorDataError where the source cannot be read any more; so do the
        other methods.
        """
        last = self.pieces[-1]
        return self.source.stored.part(last.content, last.end - last.content, path)

    def strings(self, path: str) -> list[bytes]:
        """Return the entries of a list of bytes."""
        return [text for piece in self.pieces for text in self._parse(piece, path)]

    def numbers(self, path: str) -> npt.NDArray[Any]:
        """Return a list of numbers: float32, float64, int32, int64 or uint64, as in the schema."""
        element = self._element
        parts = [self.read_piece(piece, element, path) for piece in self.pieces]
        found = parts[0] if len(parts) == 1 else np.concatenate(parts)
        return found.astype(element.newbyteorder("="), copy=False)

    def row(self, path: str) -> npt.NDArray[Any] | StoredRow:
        """Return a list of numbers, read piece by piece where each of them has its known place."""
        is_plain = all(piece.content or piece.is_run for piece in self.pieces)
        if self._element.kind == "f" and is_plain and len(self.pieces) <= _MOST_PIECES:
            row = _FixedRow(self, self._element, path)
            if row.is_whole:
                return row
        return self.numbers(path)

    @property
    def _element(self) -> np.dtype[Any]:
        kind = self._descriptor.type
        return _FIXED[kind] if kind in _FIXED else _VARINTS[kind]

    @property
    def _descriptor(self) -> Any:
        return self.message.DESCRIPTOR.fields_by_name[self.field]

    def read_piece(
        self, piece: Piece, element: np.dtype[Any], path: str
    ) -> npt.NDArray[np.generic]:
        """Return the numbers of one piece."""
        if not piece.content and not piece.is_run:
            return np.array(self._parse(piece, path), element)
        start = piece.content or piece.start
        data = self._read(start, piece.end, path)
        if element.kind == "f":
            found = _read_fixed(data, element, piece)
        else:
            try:
                found = _read_varints(data, element, piece)
            except ValueError:
                raise self._damage(path) from None
        # what is no plain list of numbers, the generated class sorts out
        return np.array(self._parse(piece, path), element) if found is None else found

    def _parse(self, piece: Piece, path: str) -> Any:
        """Return what the generated class finds in a piece."""
        if piece.end - piece.start > _MOST_PARSED:
            raise TensorDataError(
                f"{path}: its elements take more than 2 GiB as a list. "
                "Write the tensor again as raw data."
            )
        message = self.message()
        data = self._read(piece.start, piece.end, path)
        try:
            message.ParseFromString(data.tobytes())
        except DecodeError:
            raise self._damage(path) from None
        return getattr(message, self.field)

    def _read(self, start: int, end: int, path: str) -> npt.NDArray[np.uint8]:
        return self.source.stored.part(start, end - start, path).read(0, end - start)

    def _damage(self, path: str) -> TensorDataError:
        return TensorDataError(
            f"{path}: its stored elements are damaged. Get the file again from its source."
        )


class _FixedRow:
    """A list of numbers of one width, each of which has its known place in the source.

    Parameters
    ----------
    field
        The list, all pieces of which are packed or runs.
    element
        The type of the numbers as they are stored.
    path
        The tensor's path, for messages.
    """

    def __init__(self, field: StoredField, element: np.dtype[Any], path: str) -> None:
        self.dtype = element.newbyteorder("=")
        self._field = field
        self._element = element
        self._path = path
        width = element.itemsize
        #: whether every piece ends where a number does
        self.is_whole = True
        self._spans: list[tuple[int, int, Piece]] = []
        size = 0
        for piece in field.pieces:
            stride = width + piece.is_run
            count, rest = divmod(piece.end - (piece.content or piece.start), stride)
            self.is_whole = self.is_whole and not rest
            self._spans.append((size, size + count, piece))
            size += count
        self._size = size

    def __len__(self) -> int:
        return self._size

    def read(self, start: int, stop: int) -> npt.NDArray[Any]:
        """Return the numbers from one position up to another."""
        parts = []
        for first, end, piece in self._spans:
            low, high = max(start, first), min(stop, end)
            if low < high:
                parts.append(self._read_span(piece, first, end, low, high))
        found = parts[0] if len(parts) == 1 else np.concatenate([*parts, np.empty(0, self.dtype)])
        return found.astype(self.dtype, copy=False)

    def _read_span(
        self, piece: Piece, first: int, end: int, low: int, high: int
    ) -> npt.NDArray[Any]:
        stride = self._element.itemsize + piece.is_run
        begin = piece.content or piece.start
        some = Piece(
            piece.number,
            piece.is_run,
            begin + (low - first) * stride if piece.is_run else piece.start,
            0 if piece.is_run else begin + (low - first) * stride,
            begin + (high - first) * stride,
        )
        found = self._field.read_piece(some, self._element, self._path)
        if len(found) != high - low:  # other fields stand among those of the run
            raise TensorDataError(
                f"{self._path}: other fields stand among its elements. "
                "Write the tensor again as raw data."
            )
        return found


def _count_in(read: ReadRange, piece: Piece) -> int:
    start = piece.content or piece.start
    found = np.frombuffer(read(piece.end - start, start), np.uint8)
    return int(np.count_nonzero(found < 128)) // (2 if piece.is_run else 1)


def _read_fixed(
    data: npt.NDArray[np.uint8], element: np.dtype[Any], piece: Piece
) -> npt.NDArray[np.generic] | None:
    if not piece.is_run:
        return np.frombuffer(data, element) if len(data) % element.itemsize == 0 else None
    entries = np.frombuffer(data, np.dtype([("tag", "u1"), ("number", element)]))
    wire_type = 5 if element.itemsize == 4 else 1
    if not (entries["tag"] == (piece.number << 3 | wire_type)).all():
        return None
    return np.ascontiguousarray(entries["number"])


def _read_varints(
    data: npt.NDArray[np.uint8], element: np.dtype[Any], piece: Piece
) -> npt.NDArray[np.generic] | None:
    numbers = decode_varints(data)
    if piece.is_run:  # every other number is a tag
        if len(numbers) % 2 or not (numbers[::2] == piece.number << 3).all():
            return None
        numbers = numbers[1::2]
    return numbers.astype(element)  # what is too large for 32 bits is cut off, as the runtime does


def decode_varints(data: bytes | npt.NDArray[np.uint8]) -> npt.NDArray[np.uint64]:
    """Return the numbers of a packed list.

    Raises
    ------
    ValueError
        Where the bytes end within a number, or one has more than ten bytes.
    """
    stored = np.frombuffer(data, np.uint8)
    parts = [np.empty(0, np.uint64)]
    position = 0
    while position < len(stored):
        window = stored[position : position + _WINDOW]
        ends = np.flatnonzero(window < 128)
        if not len(ends):
            raise ValueError("a number does not end")
        starts = np.concatenate(([0], ends[:-1] + 1))
        lengths = ends - starts + 1
        longest = int(lengths.max())
        if longest > _LONGEST_VARINT:
            raise ValueError("a number has more than ten bytes")
        numbers = (window[starts] & 127).astype(np.uint64)
        for index in range(1, longest):
            longer = np.flatnonzero(lengths > index)
            more = (window[starts[longer] + index] & 127).astype(np.uint64)
            numbers[longer] |= more << np.uint64(7 * index)
        parts.append(numbers)
        position += int(ends[-1]) + 1
    return np.concatenate(parts)
