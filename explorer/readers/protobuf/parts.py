"""Messages from a source: whole where it is small, else in parts with the data left behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeVar

from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet

from netloupe.explorer.errors import TensorDataError
from netloupe.explorer.model import Payload
from netloupe.explorer.model.unknown import UnknownFields
from netloupe.explorer.readers.source import WHOLE_BYTES, Source
from netloupe.proto.grammars import Grammar
from netloupe.proto.scanner import SMALL_MESSAGE_BYTES, Piece, Scan, is_own, scan_message
from netloupe.proto.wire import ScanError

from .stored_field import Count, StoredField
from .unknown_fields import find_unknown_fields

Fetch = Callable[[], Payload]
#: how many messages of a list are taken at once
_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class TensorStorage:
    """Where a tensor's own elements are.

    Parameters
    ----------
    field
        ``raw_data``, ``string_data``, one of the typed fields, or ``none``.
    size
        Bytes of the elements in memory, or a function that counts them.
    count
        How many entries a list has; None where the elements are no list.
    """

    field: str
    size: int | Callable[[], int | None] | None
    fetch: Fetch
    count: Count | None = None


class Parts:
    """A parsed message and what was left in the source.

    Parameters
    ----------
    source
        Where the message comes from.
    proto
        The message; graphs, nets and steps inside it are only to be used through
        :meth:`lifted`, data only through :meth:`stored`.
    scan
        What the scanner took out of it; None where it was parsed whole.
    """

    def __init__(self, source: Source, proto: Any, scan: Scan | None = None) -> None:
        self.proto = proto
        self.source = source
        self._scan = scan

    def look_at(self, data: bytes) -> None:
        """Look at the bytes that the message was parsed from, which are not kept."""

    def parse(self, message: Any, data: bytes) -> None:
        """Parse a message that no other one is nested in, however deep the file nests them.

        Raises
        ------
        DecodeError
            Where the bytes are damaged.
        """
        message.ParseFromString(data)

    @property
    def is_whole(self) -> bool:
        """Whether nothing was taken out of the message."""
        return self._scan is None

    def lifted(self, proto: Any) -> Any:
        """Return a message that may have been taken out, parsed now if it was.

        Raises
        ------
        DecodeError
            Where its bytes are damaged.
        """
        data = self._scan.find_graph(proto) if self._scan is not None else None
        if data is None:
            return proto
        message = type(proto)()
        self.parse(message, data)
        return message

    def pieces(self, proto: Any) -> list[Piece]:
        """Return where the data of a message lie, as far as they were left behind."""
        return self._scan.find_pieces(proto) if self._scan is not None else []

    def stored(self, proto: Any) -> dict[str, StoredField]:
        """Return the data fields of a message that were left behind, by name."""
        pieces = self.pieces(proto)
        if not pieces:
            return {}
        found: dict[int, list[Piece]] = {}
        for piece in pieces:
            found.setdefault(piece.number, []).append(piece)
        fields = proto.DESCRIPTOR.fields_by_number
        return {
            fields[number].name: StoredField(
                self.source, type(proto), fields[number].name, tuple(pieces)
            )
            for number, pieces in found.items()
        }

    def find_unknown(self, proto: Any, apart: frozenset[str] = frozenset()) -> UnknownFields:
        """Return the fields of a message that the schema does not know, the scanner's left out."""
        return find_unknown_fields(proto, apart, b"" if self._scan is None else self._scan.nonce)

    def has_unknown_fields(self, proto: Any) -> bool:
        """Return whether a message itself has fields that the schema does not know."""
        unknowns = UnknownFieldSet(proto)
        return len(unknowns) > 0 and any(
            self._scan is None or not is_own(unknowns[index].field_number)
            for index in range(len(unknowns))
        )


AnyParts = TypeVar("AnyParts", bound=Parts)


class DepthSuspicionError(Exception):
    """The scan went well, but small messages that it did not walk cannot be parsed."""


def parse_parts(
    source: Source, messages: Any, root: str, grammar: Grammar, kind: type[AnyParts]
) -> AnyParts:
    """Parse a source as a message.

    Parameters
    ----------
    source
        The bytes.
    messages
        The module of generated classes.
    root
        The name of the message.
    grammar
        Which of its content is left behind where the source is large.
    kind
        The parts of the format.

    Raises
    ------
    ScanError
        Where the bytes are no such message, graphs are nested too deep, or too much remains.
    """
    if source.size <= WHOLE_BYTES:
        try:
            return _parse_whole(source, messages, root, kind)
        except DecodeError:
            # perhaps only nested deeper than the runtime allows (100 messages, about 30 graphs)
            return _parse_scanned(source, messages, root, grammar, 0, kind)
    try:
        return _parse_scanned(source, messages, root, grammar, SMALL_MESSAGE_BYTES, kind)
    except DepthSuspicionError:
        return _parse_scanned(source, messages, root, grammar, 0, kind)


def _parse_whole(source: Source, messages: Any, root: str, kind: type[AnyParts]) -> AnyParts:
    proto, data = getattr(messages, root)(), source.data
    proto.ParseFromString(data)
    parts = kind(source, proto)
    parts.look_at(data)
    return parts


def _parse_scanned(
    source: Source,
    messages: Any,
    root: str,
    grammar: Grammar,
    small: int,
    kind: type[AnyParts],
) -> AnyParts:
    with source.open() as read:
        scan = scan_message(read, source.size, small, grammar, root)
    proto = getattr(messages, root)()
    parts = kind(source, proto, scan)
    try:
        if small:
            proto.ParseFromString(scan.root)
        else:
            parts.parse(proto, scan.root)
        parts.look_at(scan.root)
        scan.root = b""
        if small:
            for name, data in zip(scan.names, scan.graphs, strict=True):
                getattr(messages, name).FromString(data)
    except DecodeError:
        if small:
            raise DepthSuspicionError from None
        raise ScanError("a message within it is damaged") from None
    return parts


def iterate(messages: Any) -> Iterator[Any]:
    """Yield the messages of a list, some at once.

    All at once would hold an object for each, and one by one takes longer.
    """
    starts = range(0, len(messages), _AT_ONCE)
    return chain.from_iterable(messages[start : start + _AT_ONCE] for start in starts)


def measure(count: Callable[[], int]) -> int | None:
    """Return a number, or None where the data cannot be read."""
    try:
        return count()
    except TensorDataError:
        return None
