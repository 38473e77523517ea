"""The scanner: a ModelProto without its weights, read through small windows.

In goes something that reads ranges of bytes; out come the bytes of the same message with two
kinds of content taken out, which the generated classes can then parse:

- the data fields of a TensorProto (``raw_data``, the typed lists, ``string_data``). In their
  place stand *pieces*, which say where in the file each field lies;
- the graphs of an AttributeProto (``g``, ``graphs``). In their place stands a GraphProto that
  holds only the number of the graph, whose own bytes are to be parsed apart. So no message is
  nested deeper than the generated classes allow, however deep the graphs are.

Pieces and numbers travel as a field that the schema does not know. It is kept by the runtime in
the order of the file, also where a singular message is given twice and merged, so that "the last
``raw_data`` wins" and "lists are joined" hold as for a message that is parsed whole. Each begins
with random bytes of the scan: what a file itself puts into this field is not believed.

The cost depends on the number of fields that are walked, not on the size of the tensors.
"""

from __future__ import annotations

import re
import secrets
import struct
from collections.abc import Callable
from dataclasses import dataclass, field

from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet

#: Reads ``length`` bytes at ``offset``: ``read(length, offset)``; fewer at the end of the file.
ReadRange = Callable[[int, int], bytes]

#: Graphs in attributes of nodes of graphs …: more levels than this are refused.
MAX_GRAPH_DEPTH = 500
#: A message whose rest, without tensors, is larger is refused before it fills the memory.
MAX_REST_BYTES = 2**30
#: Repeated messages up to this size are taken as they are: walking them costs more than it saves.
SMALL_MESSAGE_BYTES = 512

_MAX_GROUP_DEPTH = 100
_FIRST_WINDOW_BYTES = 256
_LAST_WINDOW_BYTES = 2**18
_HEADER_BYTES = 15  # a tag of up to 5 bytes and a length of up to 10

_VARINT, _FIXED64, _DELIMITED, _GROUP_START, _GROUP_END, _FIXED32 = range(6)

# the highest field number that there is, length-delimited: the specification will hardly use it
_OWN_FIELD = 2**29 - 1
_OWN_TAG = b"\xfa\xff\xff\xff\x0f"
_NONCE_BYTES = 8
_PIECE = struct.Struct("<BQQQ")
_NUMBER = struct.Struct("<Q")
_MASK = 2**64 - 1
_ONE_BYTE = tuple(bytes((number,)) for number in range(128))

# what each message holds that is walked: field number → kind of message
_MODEL, _TRAINING, _FUNCTION, _GRAPH, _NODE, _ATTRIBUTE, _SPARSE, _TENSOR = range(8)
_CHILDREN: tuple[dict[int, int], ...] = (
    {7: _GRAPH, 20: _TRAINING, 25: _FUNCTION},
    {1: _GRAPH, 2: _GRAPH},
    {7: _NODE, 11: _ATTRIBUTE},
    {1: _NODE, 5: _TENSOR, 15: _SPARSE},
    {5: _ATTRIBUTE},
    {5: _TENSOR, 6: _GRAPH, 10: _TENSOR, 11: _GRAPH, 22: _SPARSE, 23: _SPARSE},
    {1: _TENSOR, 2: _TENSOR},
    {},
)
# singular messages are walked whatever their size: a file may give one twice, and the order of
# what they hold must not be lost
_SINGULAR = {(_ATTRIBUTE, 5), (_ATTRIBUTE, 6), (_ATTRIBUTE, 22), (_SPARSE, 1), (_SPARSE, 2)}

_RAW_DATA = 9
_RAW_DATA_BYTE = bytes((_RAW_DATA << 3 | _DELIMITED,))
_NAME_TAG, _RAW_DATA_TAG = 8 << 3 | _DELIMITED, _RAW_DATA << 3 | _DELIMITED
# data fields of a TensorProto → wire type of one element that is not packed
_DATA_FIELDS = {
    4: _FIXED32,
    5: _VARINT,
    6: _DELIMITED,
    7: _VARINT,
    _RAW_DATA: _DELIMITED,
    10: _FIXED64,
    11: _VARINT,
}
# an initializer up to the length of its name: its own length, numbers as below, name
_USUAL_TENSOR = re.compile(
    rb"\x2a([\x80-\xff]{0,9}[\x00-\x7f])(?:[\x08\x10\x70][\x80-\xff]{0,9}[\x00-\x7f])*(\x42[\x00-\x7f])?"
)
# the numbers that most tensors begin with: dims, data_type, data_location
_TENSOR_NUMBERS = re.compile(rb"(?:[\x08\x10\x70][\x80-\xff]{0,9}[\x00-\x7f])*")


class ScanError(Exception):
    """The bytes are no message, or one that is cut short."""


class NestingError(ScanError):
    """Graphs are nested deeper than ``MAX_GRAPH_DEPTH``."""


class SizeError(ScanError):
    """What remains without tensors is larger than ``MAX_REST_BYTES``."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Where a data field of a TensorProto lies in the file.

    Parameters
    ----------
    number
        The field's number in TensorProto.
    start, end
        The bytes of the field or, for lists, of neighbouring fields of one number, with tags.
    content
        Where the content of a single length-delimited field begins; 0 for anything else.
    """

    number: int
    start: int
    content: int
    end: int


@dataclass(slots=True)
class Scan:
    """A ModelProto in parts that the generated classes can parse.

    Parameters
    ----------
    nonce
        What the scan's own entries begin with.
    model
        The bytes of the ModelProto without data and without graphs of attributes.
    graphs
        The bytes of the GraphProtos that are values of attributes, reduced in the same way.
    """

    nonce: bytes
    model: bytes = b""
    graphs: list[bytes] = field(default_factory=list)

    def find_pieces(self, tensor: Message) -> list[Piece]:
        """Return where the data fields of a TensorProto lie, in the order of the file."""
        return [Piece(*_PIECE.unpack(entry)) for entry in self._own_entries(tensor, _PIECE.size)]

    def find_graph(self, graph: Message) -> bytes | None:
        """Return the bytes of the GraphProto that one stands for; None where it is itself."""
        entries = self._own_entries(graph, _NUMBER.size)
        # a graph that is given twice is the two of them merged, which is what parsing does
        return b"".join(self.graphs[_NUMBER.unpack(e)[0]] for e in entries) if entries else None

    def _own_entries(self, message: Message, size: int) -> list[bytes]:
        entries = []
        unknowns = UnknownFieldSet(message)
        for index in range(len(unknowns)):
            unknown = unknowns[index]
            if unknown.field_number == _OWN_FIELD and unknown.wire_type == _DELIMITED:
                data = unknown.data
                if len(data) == _NONCE_BYTES + size and data.startswith(self.nonce):
                    entries.append(data[_NONCE_BYTES:])
        return entries


def scan_model(read: ReadRange, size: int, small: int = SMALL_MESSAGE_BYTES) -> Scan:
    """Walk a ModelProto and return it in parts.

    Parameters
    ----------
    read
        Gives ranges of the bytes.
    size
        Number of bytes in all; may exceed the 2 GiB that the generated classes can parse.
    small
        Repeated messages up to this many bytes are not walked. With 0 every graph of an
        attribute is taken out, so that the depth of the graphs cannot be a reason for the
        generated classes to fail.

    Raises
    ------
    ScanError
        Where the bytes do not follow the wire format, or lengths lead out of the message.
    NestingError
        Where graphs are nested deeper than ``MAX_GRAPH_DEPTH``.
    SizeError
        Where more than ``MAX_REST_BYTES`` remain.
    """
    return _Scanner(read, size, small).scan()


class _Scanner:
    def __init__(self, read: ReadRange, size: int, small: int) -> None:
        self._read = read
        self._size = size
        self._small = small
        self._buffer = b""
        self._base = 0
        self._window_bytes = _FIRST_WINDOW_BYTES
        self._rest = 0
        nonce = secrets.token_bytes(_NONCE_BYTES)
        self._scan = Scan(nonce)
        self._piece_head = _OWN_TAG + _varint(_NONCE_BYTES + _PIECE.size) + nonce
        self._number_head = _OWN_TAG + _varint(_NONCE_BYTES + _NUMBER.size) + nonce
        # graphs still to be walked: start, end, depth; their place in Scan.graphs is their number
        self._pending: list[tuple[int, int, int]] = []
        self._depth = 0
        self._lengths: dict[bytes, int] = {}  # what written lengths mean: many tensors are alike

    def scan(self) -> Scan:
        scan = self._scan
        scan.model = self._walk(_MODEL, 0, self._size)
        done = 0
        while done < len(self._pending):
            start, end, self._depth = self._pending[done]
            self._pending[done] = (0, 0, 0)
            scan.graphs.append(self._walk(_GRAPH, start, end))
            done += 1
        return scan

    def _walk(self, kind: int, position: int, end: int) -> bytes:
        """Return the bytes of a message from position to end, reduced."""
        children = _CHILDREN[kind]
        small = self._small
        buffer, base = self._buffer, self._base
        pieces: list[bytes] = []
        run = position  # what lies between here and the current field is taken as it is
        while position < end:
            start = position
            at = position - base
            if at < 0 or at + _HEADER_BYTES > len(buffer):
                buffer, base = self._load(position)
                at = position - base
            try:
                tag = buffer[at]
                at += 1
                if tag > 127:
                    tag, at = _read_varint(buffer, at - 1)
                if tag & 7 != _DELIMITED:
                    position = self._skip(tag, base + at, end)
                    buffer, base = self._buffer, self._base
                    continue
                length = buffer[at]
                at += 1
                if length > 127:
                    length, at = _read_varint(buffer, at - 1)
            except IndexError:
                raise ScanError("the message is cut short") from None
            content = base + at
            position = content + length
            if position > end:
                raise ScanError(f"a field at byte {start} leads out of its message")
            number = tag >> 3
            child = children.get(number)
            if child is None:
                if tag < 8 or tag >= 2**32:
                    raise ScanError(f"byte {start} holds no field number")
                position = base + _pass_alike(buffer, position - base, end - base, tag, _MASK)
                continue
            if length <= small and (kind, number) not in _SINGULAR:
                position = base + _pass_alike(buffer, position - base, end - base, tag, small)
                continue
            if start > run:
                pieces.append(self._copy(run, start))
            if child == _GRAPH and kind == _ATTRIBUTE:
                inner = self._lift_graph(content, position)
            elif child == _TENSOR:
                inner = self._match_usual_tensor(content, position)
                if not inner:
                    inner = self._walk_tensor(content, position)
                elif kind == _GRAPH:
                    pieces += (_varint(tag), _varint(len(inner)), inner)
                    run = position = self._take_usual_tensors(position, end, pieces)
                    buffer, base = self._buffer, self._base
                    continue
            else:
                inner = self._walk(child, content, position)
            pieces.append(_varint(tag))
            pieces.append(_varint(len(inner)))
            pieces.append(inner)
            run = position
            buffer, base = self._buffer, self._base
        if position > end:
            raise ScanError("the message is cut short")
        if end > run:
            pieces.append(self._copy(run, end))
        return b"".join(pieces)

    def _walk_tensor(self, position: int, end: int) -> bytes:
        """Return a TensorProto with pieces in the place of its data fields."""
        buffer, base = self._buffer, self._base
        pieces: list[bytes] = []
        found: list[tuple[int, int, int, int]] = []
        run = position
        while position < end:
            start = position
            at = position - base
            if at < 0 or at + _HEADER_BYTES > len(buffer):
                buffer, base = self._load(position)
                at = position - base
            content = 0
            try:
                tag = buffer[at]
                at += 1
                if tag > 127:
                    tag, at = _read_varint(buffer, at - 1)
                if tag & 7 == _DELIMITED:
                    length = buffer[at]
                    at += 1
                    if length > 127:
                        length, at = _read_varint(buffer, at - 1)
                    content = base + at
                    position = content + length
                elif tag & 7 == _VARINT and buffer[at] < 128:
                    position = base + at + 1
                else:
                    position = self._skip(tag, base + at, end)
                    buffer, base = self._buffer, self._base
            except IndexError:
                raise ScanError("the message is cut short") from None
            if position > end:
                raise ScanError(f"a field at byte {start} leads out of its message")
            number = tag >> 3
            element = _DATA_FIELDS.get(number)
            if element is None:
                if tag < 8 or tag >= 2**32:
                    raise ScanError(f"byte {start} holds no field number")
                continue
            if not content and tag & 7 != element:
                continue  # a field of another kind under this number: not ours to judge
            if start > run:
                pieces.append(self._copy(run, start))
            run = position
            if position == content and number not in (_RAW_DATA, 6):
                continue  # an empty list
            if found and number != _RAW_DATA and found[-1][0] == number and found[-1][3] == start:
                found[-1] = (number, found[-1][1], 0, position)
            else:
                found.append((number, start, content, position))
        if end > run:
            pieces.append(self._copy(run, end))
        for piece in found:
            pieces += (self._piece_head, _PIECE.pack(*piece))
        return b"".join(pieces)

    def _match_usual_tensor(self, position: int, end: int) -> bytes:
        """Return what :meth:`_walk_tensor` does, for the form that most tensors are written in.

        That is numbers, name, raw_data and nothing else; nothing is returned for other forms.
        """
        buffer = self._buffer
        first = position - self._base  # the window begins before it: it held the tensor's tag
        numbers = _TENSOR_NUMBERS.match(buffer, first)
        at = numbers.end() if numbers else first
        try:
            if buffer[at] == _NAME_TAG and buffer[at + 1] < 128:
                at += 2 + buffer[at + 1]
            if buffer[at] != _RAW_DATA_TAG:
                return b""
            length, content = _read_varint(buffer, at + 1)
        except IndexError:  # it leads out of the window
            return b""
        content += self._base
        if content + length != end:
            return b""
        self._rest += at - first
        piece = _PIECE.pack(_RAW_DATA, self._base + at, content, end)
        return buffer[first:at] + self._piece_head + piece

    def _take_usual_tensors(self, position: int, end: int, pieces: list[bytes]) -> int:
        """Do what :meth:`_walk` does for the initializers that follow in the usual form.

        Each is large, so that one small window sees all of it but its data. Returns where the
        first field begins that is anything else.
        """
        read, match, pack, small = self._read, _USUAL_TENSOR.match, _PIECE.pack, self._small
        head, lengths = self._piece_head, self._lengths
        extra = len(head) + _PIECE.size
        while position < end:
            buffer = read(_FIRST_WINDOW_BYTES, position)
            found = match(buffer)
            if found is None:
                break
            first, at = found.end(1), found.end()
            name = found[2]
            if name:
                at += name[1]
            written = found[1]
            length = lengths.get(written)
            if length is None:
                length = lengths[written] = _read_varint(written, 0)[0]
            following = position + first + length
            if length <= small or following > end or buffer[at : at + 1] != _RAW_DATA_BYTE:
                break
            # the data reach to the end of the tensor, whose length tells how theirs is written
            for width in (len(written), len(written) - 1):
                content = position + at + 1 + width
                written = buffer[at + 1 : at + 1 + width]
                size = lengths.get(written)
                if size is None and written and written[-1] < 128:
                    size, used = _read_varint(written + b"\0", 0)
                    size = lengths[written] = size if used == width else -1
                if size == following - content:
                    break
            else:
                break
            size = at - first + extra
            pieces += (
                b"*" + _varint(size),
                buffer[first:at],
                head,
                pack(_RAW_DATA, position + at, content, following),
            )
            self._rest += at - first
            position = following
        return position

    def _lift_graph(self, start: int, end: int) -> bytes:
        """Note a graph for later, and return the GraphProto that stands in its place."""
        if self._depth >= MAX_GRAPH_DEPTH:
            raise NestingError(f"graphs are nested deeper than {MAX_GRAPH_DEPTH} levels")
        self._pending.append((start, end, self._depth + 1))
        return self._number_head + _NUMBER.pack(len(self._pending) - 1)

    def _skip(self, tag: int, position: int, end: int) -> int:
        """Return where a field that is not length-delimited ends; groups are skipped whole."""
        groups: list[int] = []
        while True:
            wire, number = tag & 7, tag >> 3
            if number == 0 or tag >= 2**32:
                raise ScanError(f"byte {position} follows no field number")
            if wire == _VARINT:
                position = self._varint_at(position)[1]
            elif wire == _DELIMITED:
                length, position = self._varint_at(position)
                position += length
            elif wire in (_FIXED32, _FIXED64):
                position += 4 if wire == _FIXED32 else 8
            elif wire == _GROUP_START and len(groups) < _MAX_GROUP_DEPTH:
                groups.append(number)
            elif wire != _GROUP_END or not groups or groups.pop() != number:
                raise ScanError(f"byte {position} follows a field of no known kind")
            if position > end:
                raise ScanError("a field leads out of its message")
            if not groups:
                return position
            tag, position = self._varint_at(position)

    def _varint_at(self, position: int) -> tuple[int, int]:
        at = position - self._base
        if at < 0 or at + _HEADER_BYTES > len(self._buffer):
            self._load(position)
            at = position - self._base
        try:
            number, at = _read_varint(self._buffer, at)
        except IndexError:
            raise ScanError("the message is cut short") from None
        return number, self._base + at

    def _load(self, position: int) -> tuple[bytes, int]:
        """Move the window; it grows while the file is read on, and starts small after a jump."""
        if 0 <= position - self._base <= len(self._buffer) + _FIRST_WINDOW_BYTES:
            self._window_bytes = min(2 * self._window_bytes, _LAST_WINDOW_BYTES)
        else:
            self._window_bytes = _FIRST_WINDOW_BYTES
        self._buffer = self._read(self._window_bytes, position)
        self._base = position
        return self._buffer, position

    def _copy(self, start: int, end: int) -> bytes:
        self._rest += end - start
        if self._rest > MAX_REST_BYTES:
            raise SizeError(f"more than {MAX_REST_BYTES} bytes remain without tensors")
        at = start - self._base
        if at >= 0 and end - self._base <= len(self._buffer):
            return self._buffer[at : end - self._base]
        data = self._read(end - start, start)
        if len(data) != end - start:
            raise ScanError("the file became shorter while it was read")
        return data


def _pass_alike(buffer: bytes, at: int, end: int, tag: int, most: int) -> int:
    """Return where a run of fields with one tag ends, each of which takes up to ``most`` bytes.

    Most of a large graph are small nodes, one after the other. The run also ends where the
    window does, and before any field that is written in an unusual way.
    """
    stop = min(end, len(buffer) - _HEADER_BYTES) if tag < 128 else at
    while at < stop and buffer[at] == tag:
        length = buffer[at + 1]
        if length < 128:
            if length > most:
                break
            at += 2 + length
        else:
            high = buffer[at + 2]
            length += (high << 7) - 128
            if high > 127 or length > most:
                break
            at += 3 + length
    return at


def _read_varint(buffer: bytes, at: int) -> tuple[int, int]:
    """Return a number of up to 64 bits, and where it ends."""
    number = buffer[at] & 127
    shift = 0
    while buffer[at] > 127:
        at += 1
        shift += 7
        if shift > 63:
            raise ScanError("a number has more than ten bytes")
        number |= (buffer[at] & 127) << shift
    return number & _MASK, at + 1


def _varint(number: int) -> bytes:
    if number < 128:
        return _ONE_BYTE[number]
    result = bytearray()
    while number > 127:
        result.append(number & 127 | 128)
        number >>= 7
    result.append(number)
    return bytes(result)
