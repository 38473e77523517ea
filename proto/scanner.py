"""The scanner: a model without its weights, read through small windows.

In goes something that reads ranges of bytes; out come the bytes of the same message with two
kinds of content taken out, which the generated classes can then parse:

- the fields that hold data: those of a tensor (``raw_data``, the typed lists, ``string_data``),
  and of Caffe2 also the lists of a large argument and the content of a blob. In their place
  stand *pieces*, which say where in the file each field lies;
- the graphs of an AttributeProto, the nets of an Argument, the substeps of an ExecutionStep. In
  their place stands an empty message that holds only the number of the graph, whose own bytes
  are to be parsed apart. So no message is nested deeper than the generated classes allow,
  however deep the graphs are.

Which fields these are, a grammar says (:mod:`.grammars`).

Pieces and numbers travel as a field that the schema does not know. It is kept by the runtime in
the order of the file, also where a singular message is given twice and merged, so that "the last
``raw_data`` wins" and "lists are joined" hold as for a message that is parsed whole. Each begins
with random bytes of the scan: what a file itself puts into this field is not believed.

The cost depends on the number of fields that are walked, not on the size of the tensors. Where a
list is not packed, as in nearly every Caffe2 net, each of its numbers is a field: a run of these
is skipped at once (see :mod:`.wire`).
"""

from __future__ import annotations

import re
import secrets
import struct
from dataclasses import dataclass, field

from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet

from .grammars import DELIMITED, ONNX, VARINT, Grammar
from .wire import (
    FIRST_WINDOW_BYTES,
    HEADER_BYTES,
    NestingError,
    ReadRange,
    ScanError,
    SizeError,
    WireReader,
    encode_varint,
    pass_alike,
    read_varint,
)

#: Graphs in attributes of nodes of graphs …: more levels than this are refused.
MAX_GRAPH_DEPTH = 500
#: A message whose rest, without tensors, is larger is refused before it fills the memory.
MAX_REST_BYTES = 2**30
#: Repeated messages up to this size are taken as they are: walking them costs more than it saves.
SMALL_MESSAGE_BYTES = 512

# the highest field number that there is, length-delimited: the specification will hardly use it
_OWN_FIELD = 2**29 - 1
_OWN_TAG = b"\xfa\xff\xff\xff\x0f"
_NONCE_BYTES = 8
_PIECE = struct.Struct("<B?QQQ")
_LIST_PIECE = struct.Struct("<B?QQQQQ")  # with count and size
_NUMBER = struct.Struct("<Q")

_RAW_DATA = 9
_INITIALIZER_TAG = 5 << 3 | DELIMITED
_NAME_TAG, _RAW_DATA_TAG = 8 << 3 | DELIMITED, _RAW_DATA << 3 | DELIMITED
# an initializer up to the length of its name: its own length, numbers as below, name
_USUAL_TENSOR = re.compile(
    rb"\x2a([\x80-\xff]{0,9}[\x00-\x7f])(?:[\x08\x10\x70][\x80-\xff]{0,9}[\x00-\x7f])*(\x42[\x00-\x7f])?"
)
# the numbers that most tensors begin with: dims, data_type, data_location
_TENSOR_NUMBERS = re.compile(rb"(?:[\x08\x10\x70][\x80-\xff]{0,9}[\x00-\x7f])*")


@dataclass(frozen=True, slots=True)
class Piece:
    """Where a field that holds data lies in the file.

    Parameters
    ----------
    number
        The field's number in its message.
    is_run
        Whether this is a run of numbers that are not packed, each with its own tag.
    start, end
        The bytes of the field or, for lists, of neighbouring fields of one number, with tags.
    content
        Where the content of a single length-delimited field begins; 0 for anything else.
    count, size
        Of a list whose elements are length-delimited: how many there are, and the bytes of
        their contents; 0 for anything else.
    """

    number: int
    is_run: bool
    start: int
    content: int
    end: int
    count: int = 0
    size: int = 0


_NO_PIECE = (0, False, 0, 0, 0, 0, 0)


@dataclass(slots=True)
class Scan:
    """A message in parts that the generated classes can parse.

    Parameters
    ----------
    nonce
        What the scan's own entries begin with.
    root
        The bytes of the outermost message without data and without what is lifted out.
    graphs
        The bytes of the messages that are lifted out (graphs, nets, steps), reduced in the
        same way.
    names
        Of the messages that ``graphs`` are.
    """

    nonce: bytes
    root: bytes = b""
    graphs: list[bytes] = field(default_factory=list)
    names: list[str] = field(default_factory=list)

    def find_pieces(self, message: Message) -> list[Piece]:
        """Return where the data fields of a message lie, in the order of the file."""
        return [
            Piece(*(_PIECE if len(entry) == _PIECE.size else _LIST_PIECE).unpack(entry))
            for entry in self._own_entries(message, _PIECE.size, _LIST_PIECE.size)
        ]

    def find_graph(self, graph: Message) -> bytes | None:
        """Return the bytes of the message that one stands for; None where it is itself."""
        entries = self._own_entries(graph, _NUMBER.size)
        # a graph that is given twice is the two of them merged, which is what parsing does
        return b"".join(self.graphs[_NUMBER.unpack(e)[0]] for e in entries) if entries else None

    def _own_entries(self, message: Message, *sizes: int) -> list[bytes]:
        entries = []
        unknowns = UnknownFieldSet(message)
        for index in range(len(unknowns)):
            unknown = unknowns[index]
            if unknown.field_number == _OWN_FIELD and unknown.wire_type == DELIMITED:
                data = unknown.data
                if len(data) - _NONCE_BYTES in sizes and data.startswith(self.nonce):
                    entries.append(data[_NONCE_BYTES:])
        return entries


def is_own(field_number: int) -> bool:
    """Return whether an unknown field is the one that pieces and numbers travel in."""
    return field_number == _OWN_FIELD


def scan_message(
    read: ReadRange,
    size: int,
    small: int = SMALL_MESSAGE_BYTES,
    grammar: Grammar = ONNX,
    root: str = "ModelProto",
) -> Scan:
    """Walk a message and return it in parts.

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
    grammar, root
        The format, and the name of its message that the bytes are.

    Raises
    ------
    ScanError
        Where the bytes do not follow the wire format, or lengths lead out of the message.
    NestingError
        Where graphs are nested deeper than ``MAX_GRAPH_DEPTH``.
    SizeError
        Where more than ``MAX_REST_BYTES`` remain.
    """
    return _Scanner(read, size, small, grammar).scan(grammar.number(root))


class _Scanner(WireReader):
    def __init__(self, read: ReadRange, size: int, small: int, grammar: Grammar) -> None:
        super().__init__(read)
        self._size = size
        self._small = small
        self._grammar = grammar
        self._rest = 0
        nonce = secrets.token_bytes(_NONCE_BYTES)
        self._scan = Scan(nonce)
        self._piece_head = _OWN_TAG + encode_varint(_NONCE_BYTES + _PIECE.size) + nonce
        self._list_piece_head = _OWN_TAG + encode_varint(_NONCE_BYTES + _LIST_PIECE.size) + nonce
        self._number_head = _OWN_TAG + encode_varint(_NONCE_BYTES + _NUMBER.size) + nonce
        # graphs still to be walked: kind, start, end, depth; their place here is their number
        self._pending: list[tuple[int, int, int, int]] = []
        self._depth = 0
        self._lengths: dict[bytes, int] = {}  # what written lengths mean: many tensors are alike

    def scan(self, root: int) -> Scan:
        scan = self._scan
        scan.root = self._walk_any(root, 0, self._size)
        done = 0
        while done < len(self._pending):
            kind, start, end, self._depth = self._pending[done]
            self._pending[done] = (0, 0, 0, 0)
            scan.graphs.append(self._walk_any(kind, start, end))
            scan.names.append(self._grammar.names[kind])
            done += 1
        return scan

    def _walk_any(self, kind: int, start: int, end: int) -> bytes:
        if self._grammar.data[kind]:
            return self._walk_data(kind, start, end)
        return self._walk(kind, start, end)

    def _reduce(self, kind: int, number: int, child: int, start: int, end: int) -> bytes:
        """Return the content of a message within a message, reduced."""
        if (kind, number) in self._grammar.lifted:
            return self._lift(child, start, end)
        return self._walk_any(child, start, end)

    def _walk(self, kind: int, position: int, end: int) -> bytes:
        """Return the bytes of a message from position to end, reduced."""
        children = self._grammar.children[kind]
        singular, usual = self._grammar.singular, self._grammar.usual
        small = self._small
        buffer, base = self._buffer, self._base
        pieces: list[bytes] = []
        run = position  # what lies between here and the current field is taken as it is
        while position < end:
            start = position
            at = position - base
            if at < 0 or at + HEADER_BYTES > len(buffer):
                buffer, base = self._load(position)
                at = position - base
            try:
                tag = buffer[at]
                at += 1
                if tag > 127:
                    tag, at = read_varint(buffer, at - 1)
                if tag & 7 != DELIMITED:
                    position = self._skip(tag, base + at, end)
                    buffer, base = self._buffer, self._base
                    continue
                length = buffer[at]
                at += 1
                if length > 127:
                    length, at = read_varint(buffer, at - 1)
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
                position = base + pass_alike(buffer, position - base, end - base, tag, self._size)
                continue
            is_singular = (kind, number) in singular
            if length <= small and not is_singular:
                position = base + pass_alike(buffer, position - base, end - base, tag, small)
                continue
            if start > run:
                pieces.append(self._copy(run, start))
            inner = self._match_usual_tensor(content, position) if child == usual else b""
            if inner and tag == _INITIALIZER_TAG and not is_singular:
                pieces += (encode_varint(tag), encode_varint(len(inner)), inner)
                run = position = self._take_usual_tensors(position, end, pieces)
                continue
            if not inner:
                inner = self._reduce(kind, number, child, content, position)
            pieces.append(encode_varint(tag))
            pieces.append(encode_varint(len(inner)))
            pieces.append(inner)
            run = position
            buffer, base = self._buffer, self._base
        if position > end:
            raise ScanError("the message is cut short")
        if end > run:
            pieces.append(self._copy(run, end))
        return b"".join(pieces)

    def _walk_data(self, kind: int, position: int, end: int) -> bytes:
        """Return a message that holds data, with pieces in the place of its data fields."""
        grammar = self._grammar
        data, children = grammar.data[kind], grammar.children[kind]
        is_kept = not self._begins_with(grammar.beginnings[kind], position, end)
        buffer, base = self._buffer, self._base
        pieces: list[bytes] = []
        found: list[tuple[int, bool, int, int, int, int, int]] = []  # as in Piece
        run = position
        while position < end:
            start = position
            at = position - base
            if at < 0 or at + HEADER_BYTES > len(buffer):
                buffer, base = self._load(position)
                at = position - base
            content = 0
            try:
                tag = buffer[at]
                at += 1
                if tag > 127:
                    tag, at = read_varint(buffer, at - 1)
                if tag & 7 == DELIMITED:
                    length = buffer[at]
                    at += 1
                    if length > 127:
                        length, at = read_varint(buffer, at - 1)
                    content = base + at
                    position = content + length
                elif tag & 7 == VARINT and buffer[at] < 128:
                    position = base + at + 1
                else:
                    position = self._skip(tag, base + at, end)
                    buffer, base = self._buffer, self._base
            except IndexError:
                raise ScanError("the message is cut short") from None
            if position > end:
                raise ScanError(f"a field at byte {start} leads out of its message")
            number = tag >> 3
            element = data.get(number)
            if element is None:
                if tag < 8 or tag >= 2**32:
                    raise ScanError(f"byte {start} holds no field number")
                child = children.get(number)
                if child is None or not content:
                    continue
                if position - content <= self._small and (kind, number) not in grammar.singular:
                    continue
                if start > run:
                    pieces.append(self._copy(run, start))
                inner = self._reduce(kind, number, child, content, position)
                pieces += (encode_varint(tag), encode_varint(len(inner)), inner)
                run = position
                buffer, base = self._buffer, self._base
                continue
            if not content and tag & 7 != element:
                continue  # a field of another kind under this number: not ours to judge
            if not content:
                position = self._skip_run(tag, position, end)
                buffer, base = self._buffer, self._base
            if is_kept:
                continue
            if start > run:
                pieces.append(self._copy(run, start))
            run = position
            is_single = (kind, number) in grammar.single
            if position == content and element != DELIMITED:
                continue  # an empty list
            count, size = 0, 0
            if element == DELIMITED and not is_single:
                count, size = 1, position - content
            last = found[-1] if found and not is_single else _NO_PIECE
            if last[0] == number and last[4] == start:
                is_run = last[1] and not content
                count, size = last[5] + count, last[6] + size
                found[-1] = (number, is_run, last[2], 0, position, count, size)
            else:
                found.append((number, not content, start, content, position, count, size))
        if end > run:
            pieces.append(self._copy(run, end))
        for piece in found:
            if piece[5]:
                pieces += (self._list_piece_head, _LIST_PIECE.pack(*piece))
            else:
                pieces += (self._piece_head, _PIECE.pack(*piece[:5]))
        return b"".join(pieces)

    def _begins_with(self, wanted: bytes, position: int, end: int) -> bool:
        size = len(wanted)
        return end - position >= size and self._window(position, end)[:size] == wanted

    def _match_usual_tensor(self, position: int, end: int) -> bytes:
        """Return what :meth:`_walk_data` does, for the form that most tensors are written in.

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
            length, content = read_varint(buffer, at + 1)
        except IndexError:  # it leads out of the window
            return b""
        content += self._base
        if content + length != end:
            return b""
        self._rest += at - first
        piece = _PIECE.pack(_RAW_DATA, False, self._base + at, content, end)
        return buffer[first:at] + self._piece_head + piece

    def _take_usual_tensors(self, position: int, end: int, pieces: list[bytes]) -> int:
        """Do what :meth:`_walk` does for the initializers that follow in the usual form.

        Each is large, so that one small window sees all of it but its data. Returns where the
        first field begins that is anything else.
        """
        read, match, pack, small = self._read, _USUAL_TENSOR.match, _PIECE.pack, self._small
        head, lengths = self._piece_head, self._lengths
        extra = len(head) + _PIECE.size
        initializer, raw_data = bytes((_INITIALIZER_TAG,)), bytes((_RAW_DATA_TAG,))
        while position < end:
            buffer = read(FIRST_WINDOW_BYTES, position)
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
                length = lengths[written] = read_varint(written, 0)[0]
            following = position + first + length
            if length <= small or following > end or buffer[at : at + 1] != raw_data:
                break
            # the data reach to the end of the tensor, whose length tells how theirs is written
            for width in (len(written), len(written) - 1):
                content = position + at + 1 + width
                written = buffer[at + 1 : at + 1 + width]
                size = lengths.get(written)
                if size is None and written and written[-1] < 128:
                    size, used = read_varint(written + b"\0", 0)
                    size = lengths[written] = size if used == width else -1
                if size == following - content:
                    break
            else:
                break
            size = at - first + extra
            pieces += (
                initializer + encode_varint(size),
                buffer[first:at],
                head,
                pack(_RAW_DATA, False, position + at, content, following),
            )
            self._rest += at - first
            position = following
        return position

    def _lift(self, kind: int, start: int, end: int) -> bytes:
        """Note a graph for later, and return the message that stands in its place."""
        if self._depth >= MAX_GRAPH_DEPTH:
            raise NestingError(f"graphs are nested deeper than {MAX_GRAPH_DEPTH} levels")
        self._pending.append((kind, start, end, self._depth + 1))
        return self._number_head + _NUMBER.pack(len(self._pending) - 1)

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
