"""Where in a damaged message the damage is, so that the element can be named.

The protobuf runtime tells that bytes cannot be parsed, and not where. This is asked only then.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import Any

from google.protobuf import message_factory
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError

from netloupe.explorer.readers.source import Source
from netloupe.proto.grammars import DELIMITED
from netloupe.proto.scanner import MAX_GRAPH_DEPTH
from netloupe.proto.wire import NestingError, ReadRange, ScanError, WireReader

from .descriptors import is_repeated
from .elements import Element, Elements, Nesting, write_place

#: up to this size a message is parsed to see whether it is whole; larger ones are walked
_MOST_PARSED = 2**16
#: beyond, the file is named alone: a search must not take longer than reading
_MOST_FIELDS = 300_000
#: fields of one message that are looked at for its name
_MOST_LOOKED_AT = 1000
_LONGEST_TEXT = 1000
_DEEPEST = 2000

_WIDTHS = {
    FieldDescriptor.TYPE_FLOAT: 4,
    FieldDescriptor.TYPE_FIXED32: 4,
    FieldDescriptor.TYPE_SFIXED32: 4,
    FieldDescriptor.TYPE_DOUBLE: 8,
    FieldDescriptor.TYPE_FIXED64: 8,
    FieldDescriptor.TYPE_SFIXED64: 8,
}
_TEXTS = (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES)


def say_where(
    source: Source, message: Any, elements: Elements, *, is_too_deep: bool = False
) -> str:
    """Return at which element a message cannot be read, to stand behind what is wrong with it.

    Parameters
    ----------
    source
        The bytes.
    message
        The descriptor of the message that they are meant to be.
    elements
        How its elements are called.
    is_too_deep
        Whether all that is wrong is that graphs are nested deeper than ``MAX_GRAPH_DEPTH``.

    Returns
    -------
    str
        As in `` in attribute 'value' of node 'Constant_3' in main``; "" where no element can be
        named. Where the bytes end too early, the element in which they end.
    """
    with source.open() as read:
        place = _Finder(read, elements, is_too_deep).find(source.size, message)
    return f" in {place}" if place else ""


@dataclasses.dataclass(slots=True)
class _Frame:
    """A message on the way."""

    message: Any
    start: int
    at: int
    end: int
    around: str  # the name of the message around
    field: str  # of the message around
    index: int
    is_cut: bool  # its length leads out of what is around it
    graphs: int  # in how many graphs it is
    counts: Counter[int] = dataclasses.field(default_factory=Counter)


class _Finder(WireReader):
    def __init__(self, read: ReadRange, elements: Elements, is_too_deep: bool) -> None:
        super().__init__(read)
        self._elements = elements
        self._is_too_deep = is_too_deep
        self._frames: list[_Frame] = []

    def find(self, size: int, message: Any) -> str:
        self._frames = [_Frame(message, 0, 0, size, message.name, "", -1, False, 0)]
        try:
            for _ in range(_MOST_FIELDS):
                frame = self._frames[-1]
                if frame.at < frame.end:
                    self._step(frame)
                elif frame.is_cut:
                    break
                elif len(self._frames) == 1:
                    return ""
                else:
                    self._frames.pop()
            else:
                return ""
        except ScanError:
            pass
        return write_place(map(self._nesting, self._frames), self._elements)

    def _step(self, frame: _Frame) -> None:
        """Go over one field, or into the message that is its value.

        Raises
        ------
        ScanError
            Where it is damaged.
        """
        tag, content = self._varint_at(frame.at)
        if tag & 7 != DELIMITED:
            frame.at = self._skip(tag, content, frame.end)
            return
        number = tag >> 3
        if not number or tag >= 2**32:
            raise ScanError("no field number")
        length, content = self._varint_at(content)
        end = content + length
        field = frame.message.fields_by_number.get(number)
        index = -1
        if field is not None and is_repeated(field):
            index = frame.counts[number]
            frame.counts[number] += 1
        is_cut = end > frame.end
        if field is not None and field.message_type is not None and len(self._frames) < _DEEPEST:
            if is_cut or not self._is_whole(field.message_type, content, length):
                end = min(end, frame.end)
                element = self._elements.get((frame.message.name, field.name))
                graphs = frame.graphs + bool(element and element.opens)
                if graphs > MAX_GRAPH_DEPTH:
                    raise NestingError
                inner = _Frame(
                    field.message_type, content, content, end, frame.message.name, field.name,
                    index, is_cut, graphs,
                )  # fmt: skip
                self._frames.append(inner)
        elif is_cut or (field is not None and not self._is_list(field, content, end)):
            raise ScanError("a field leads out of its message, or is no list")
        frame.at = end

    def _is_whole(self, message: Any, start: int, length: int) -> bool:
        """Return whether a message can be parsed; a large one has to be walked."""
        if length > _MOST_PARSED or self._is_too_deep:
            return False
        try:
            message_factory.GetMessageClass(message).FromString(self._read(length, start))
        except DecodeError:
            return False
        return True

    def _is_list(self, field: Any, start: int, end: int) -> bool:
        """Return whether a packed list may end where it does."""
        if field.type in _TEXTS or start == end:
            return True
        width = _WIDTHS.get(field.type)
        if width is not None:
            return (end - start) % width == 0
        return self._read(1, end - 1) < b"\x80"

    def _nesting(self, frame: _Frame) -> Nesting:
        element = self._elements.get((frame.around, frame.field), Element())
        texts = self._read_texts(frame, {*element.names, element.operator})
        return Nesting(frame.around, frame.field, frame.index, texts)

    def _read_texts(self, frame: _Frame, names: set[str]) -> dict[str, str]:
        """Return the texts of some fields of a message, as far as these can be read."""
        fields = frame.message.fields_by_name
        wanted = {fields[n].number: n for n in names if n in fields and fields[n].type in _TEXTS}
        texts: dict[str, str] = {}
        at = frame.start
        try:
            for _ in range(_MOST_LOOKED_AT if wanted else 0):
                if at >= frame.end or len(texts) == len(wanted):
                    break
                tag, content = self._varint_at(at)
                if tag & 7 != DELIMITED:
                    at = self._skip(tag, content, frame.end)
                    continue
                length, content = self._varint_at(content)
                at = content + length
                name = wanted.get(tag >> 3)
                if name is not None and at <= frame.end:
                    text = self._read(min(length, _LONGEST_TEXT), content)
                    texts[name] = text.decode("utf-8", "backslashreplace")
        except ScanError:
            pass
        return texts
