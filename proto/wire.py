"""The wire format of protobuf, walked through small windows of something that reads ranges.

The rules are those of https://protobuf.dev/programming-guides/encoding.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from .grammars import DELIMITED, FIXED32, FIXED64, GROUP_END, GROUP_START, VARINT

#: Reads ``length`` bytes at ``offset``: ``read(length, offset)``; fewer at the end of the file.
ReadRange = Callable[[int, int], bytes]

# of a longer run of numbers that are not packed, so many samples of so many numbers are looked at
_SAMPLED_RUN = 4096
_SAMPLES, _SAMPLE = 16, 64

_MAX_GROUP_DEPTH = 100
#: what is read at first after a jump
FIRST_WINDOW_BYTES = 256
_LAST_WINDOW_BYTES = 2**18
#: a tag of up to 5 bytes and a length of up to 10
HEADER_BYTES = 15

_MASK = 2**64 - 1
_ONE_BYTE = tuple(bytes((number,)) for number in range(128))


class ScanError(Exception):
    """The bytes are no message, or one that is cut short."""


class NestingError(ScanError):
    """Graphs are nested deeper than ``MAX_GRAPH_DEPTH``."""


class SizeError(ScanError):
    """What remains without tensors is larger than ``MAX_REST_BYTES``."""


class WireReader:
    """A window on the bytes, and the ways to step over fields in it.

    Parameters
    ----------
    read
        Gives ranges of the bytes.
    """

    def __init__(self, read: ReadRange) -> None:
        self._read = read
        self._buffer = b""
        self._base = 0
        self._window_bytes = FIRST_WINDOW_BYTES

    def _skip(self, tag: int, position: int, end: int) -> int:
        """Return where a field that is not length-delimited ends; groups are skipped whole."""
        groups: list[int] = []
        while True:
            wire, number = tag & 7, tag >> 3
            if number == 0 or tag >= 2**32:
                raise ScanError(f"byte {position} follows no field number")
            if wire == VARINT:
                position = self._varint_at(position)[1]
            elif wire == DELIMITED:
                length, position = self._varint_at(position)
                position += length
            elif wire in (FIXED32, FIXED64):
                position += 4 if wire == FIXED32 else 8
            elif wire == GROUP_START and len(groups) < _MAX_GROUP_DEPTH:
                groups.append(number)
            elif wire != GROUP_END or not groups or groups.pop() != number:
                raise ScanError(f"byte {position} follows a field of no known kind")
            if position > end:
                raise ScanError("a field leads out of its message")
            if not groups:
                return position
            tag, position = self._varint_at(position)

    def _varint_at(self, position: int) -> tuple[int, int]:
        at = position - self._base
        if at < 0 or at + HEADER_BYTES > len(self._buffer):
            self._load(position)
            at = position - self._base
        try:
            number, at = read_varint(self._buffer, at)
        except IndexError:
            raise ScanError("the message is cut short") from None
        return number, self._base + at

    def _load(self, position: int) -> tuple[bytes, int]:
        """Move the window; it grows while the file is read on, and starts small after a jump."""
        if 0 <= position - self._base <= len(self._buffer) + FIRST_WINDOW_BYTES:
            self._window_bytes = min(2 * self._window_bytes, _LAST_WINDOW_BYTES)
        else:
            self._window_bytes = FIRST_WINDOW_BYTES
        self._buffer = self._read(self._window_bytes, position)
        self._base = position
        return self._buffer, position

    def _skip_run(self, tag: int, position: int, end: int) -> int:
        """Return where a run of numbers with one tag ends, from behind the first on."""
        if tag > 127:
            return position
        if tag & 7 == VARINT:
            return self._skip_varint_run(tag, position, end)
        return self._skip_fixed_run(tag, 5 if tag & 7 == FIXED32 else 9, position, end)

    def _skip_fixed_run(self, tag: int, stride: int, position: int, end: int) -> int:
        """Return where fields of one tag and width end.

        Notes
        -----
        To look at every tag would be to read the whole list. Writers put the numbers of a list
        one after the other: where a long list seems to fill the rest of its message, samples
        are looked at, the first and the last among them. What is read in the end is parsed
        again, so that another field that hides between the samples does no more harm than not
        to be found.
        """
        one = bytes((tag,))
        count, rest = divmod(end - position, stride)
        if not rest and count > _SAMPLED_RUN:
            step = (count - _SAMPLE) // _SAMPLES
            places = (*range(0, step * _SAMPLES, step), count - _SAMPLE)
            windows = (self._read(_SAMPLE * stride, position + at * stride) for at in places)
            if all(window[::stride] == one * _SAMPLE for window in windows):
                return end
        while position < end:
            window = self._window(position, end)
            tags = window[: len(window) - len(window) % stride : stride]
            same = len(tags) - len(tags.lstrip(one))
            position += same * stride
            if same < len(tags) or not tags:
                break
        return position

    def _skip_varint_run(self, tag: int, position: int, end: int) -> int:
        """Return where fields of one tag end whose numbers have no fixed width."""
        pattern = _varint_run(tag)
        while position < end:
            matched = pattern.match(self._window(position, end))
            if matched is None:
                break
            position += matched.end()
        return position

    def _window(self, position: int, end: int) -> bytes:
        """Return the bytes from a position on: those at hand, or else the next ones."""
        at = position - self._base
        if at < 0 or at + HEADER_BYTES > len(self._buffer):
            self._load(position)
            at = 0
        return self._buffer[at : end - self._base]


def pass_alike(buffer: bytes, at: int, end: int, tag: int, most: int) -> int:
    """Return where a run of fields with one tag ends, each of which takes up to ``most`` bytes.

    The tag is that of length-delimited fields. Most of a large graph are small nodes, one after
    the other. The run also ends where the window does, and before any field that is written in
    an unusual way.
    """
    stop = min(end, len(buffer) - HEADER_BYTES) if tag < 128 else at
    last = -1
    while at < stop and buffer[at] == tag:
        length = buffer[at + 1]
        if length < 128:
            if length > most:
                break
            if length == last:  # perhaps many of this length, as the inputs x10, x11, x12 have
                last = -1
                matched = _delimited_run(tag, length).match(buffer, at, stop)
                if matched:
                    at = matched.end()
                    continue
            else:
                last = length
            at += 2 + length
        else:
            high = buffer[at + 2]
            length += (high << 7) - 128
            if high > 127 or length > most:
                break
            at += 3 + length
    return at


@cache
def _delimited_run(tag: int, length: int) -> re.Pattern[bytes]:
    """Return the pattern of fields that have one tag and one length of less than 128 bytes."""
    return re.compile(rb"(?s:%b.{%d})+" % (re.escape(bytes((tag, length))), length))


@cache
def _varint_run(tag: int) -> re.Pattern[bytes]:
    """Return the pattern of numbers that are not packed, each behind its tag."""
    return re.compile(rb"(?:" + re.escape(bytes((tag,))) + rb"[\x80-\xff]{0,9}[\x00-\x7f])+")


def read_varint(buffer: bytes, at: int) -> tuple[int, int]:
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


def encode_varint(number: int) -> bytes:
    """Return a number as it is written; negative numbers are those of 64 bits."""
    if 0 <= number < 128:
        return _ONE_BYTE[number]
    number &= _MASK
    encoded = bytearray()
    while number > 127:
        encoded.append(number & 127 | 128)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)
