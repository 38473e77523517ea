"""All that a message says, by reflection over its schema: a fact for each field.

What compares models knows many fields, and a schema gets more. What is read here follows from the
descriptors alone, fields of no schema included, so that nothing can be overlooked.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import Any

import numpy as np
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.unknown_fields import UnknownFieldSet

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Tensor
from netloupe.explorer.model.statement import (
    SizeName,
    StatedFact,
    Statement,
    UnreadElements,
    ValueName,
    Way,
)
from netloupe.explorer.progress import is_ending, step
from netloupe.explorer.tensors import open_elements
from netloupe.proto.scanner import is_own

from .parts import Parts
from .texts import read_bytes, read_text

#: (message, field) of the schema, without its package
Field = tuple[str, str]

#: so many elements are decoded at once
_PIECE = 2**18
#: lists and texts up to so many entries are told, of longer ones only that they differ
_MOST_SHOWN = 200
_FLOATS = frozenset({FieldDescriptor.CPPTYPE_FLOAT, FieldDescriptor.CPPTYPE_DOUBLE})
_GROUP = 3
#: up to here element types of both formats fill whole bytes
_WHOLE_BYTES = 20


@dataclass(frozen=True)
class Wording:
    """What the fields of a schema mean, as far as reflection cannot know it.

    Parameters
    ----------
    apart
        Fields that are elements of their own, or are compared as such.
    keys
        Lists of messages whose entries are told apart by one of their fields, in no order that
        matters.
    spellings
        Other texts that these fields may have for one and the same key, by that key.
    names, sizes
        Fields that hold names of values, and of sizes that are not known.
    tensors
        Messages that are tensors, whose elements are told by a digest of what they are.
    element_fields
        Fields of these that hold elements.
    graphs
        Messages that are graphs of their own wherever they stand.
    telling
        Fields of which it matters whether they are given, also as what holds without them.
    """

    apart: frozenset[Field] = frozenset()
    keys: dict[Field, str] = field(default_factory=dict)
    spellings: dict[Field, dict[str, str]] = field(default_factory=dict)
    names: frozenset[Field] = frozenset()
    sizes: frozenset[Field] = frozenset()
    tensors: frozenset[str] = frozenset()
    element_fields: frozenset[str] = frozenset()
    graphs: frozenset[str] = frozenset()
    telling: frozenset[Field] = frozenset()


class StatementReader:
    """Lists what messages of one source say.

    Parameters
    ----------
    parts
        What they were read with.
    wording
        What their fields mean.
    read_tensor
        Makes the tensor of a message, at a path that is for errors alone.
    """

    def __init__(
        self, parts: Parts, wording: Wording, read_tensor: Callable[[Any, str], Tensor]
    ) -> None:
        self._parts = parts
        self._wording = wording
        self._read_tensor = read_tensor

    def read(self, message: Any, *, way: Way = (), with_elements: bool = True) -> Statement:
        """Return all facts of a message and of those in it.

        Parameters
        ----------
        message
            The message.
        way
            What the ways to its fields begin with.
        with_elements
            Whether those of tensors are told; else somebody else compares them.
        """
        found: dict[Way, StatedFact] = {}
        pending: list[tuple[Way, Any]] = [(way, message)]
        while pending:
            place, at_hand = pending.pop()
            self._read_fields(place, at_hand, found, pending, with_elements=with_elements)
        return found

    def _read_fields(
        self,
        place: Way,
        message: Any,
        found: dict[Way, StatedFact],
        pending: list[tuple[Way, Any]],
        *,
        with_elements: bool,
    ) -> None:
        owner = _name_message(message.DESCRIPTOR)
        wording = self._wording
        is_tensor = owner in wording.tensors
        for descriptor, content in message.ListFields():
            name = descriptor.name
            if (owner, name) in wording.apart:
                continue
            here = (*place, name)
            if descriptor.message_type is not None:
                self._read_messages(here, owner, descriptor, content, found, pending)
            elif not is_tensor or name not in wording.element_fields:
                found[here] = self._read_plain(owner, descriptor, content)
        for name, stored in self._parts.stored(message).items():
            if (owner, name) in wording.apart or (is_tensor and name in wording.element_fields):
                continue
            found[*place, name] = StatedFact(owner, name, _digest_stored(stored, ".".join(place)))
        if self._parts.has_unknown_fields(message):
            for name, fact in _list_unknown(owner, message):
                found[*place, name] = fact
        if is_tensor:
            self._read_storage(place, owner, message, found, with_elements=with_elements)

    def _read_messages(
        self,
        here: Way,
        owner: str,
        descriptor: Any,
        content: Any,
        found: dict[Way, StatedFact],
        pending: list[tuple[Way, Any]],
    ) -> None:
        name, kind = descriptor.name, _name_message(descriptor.message_type)
        is_list = hasattr(content, "append")
        if kind in self._wording.graphs:  # compared as graphs; here only how many there are
            found[here] = StatedFact(owner, name, len(content) if is_list else 1)
            return
        if not is_list:  # that it is there may tell something, though it says nothing
            found[here] = StatedFact(owner, name, "given")
            pending.append((here, content))
            return
        key = self._wording.keys.get((owner, name))
        if key is None:
            found[here] = StatedFact(owner, name, len(content))
            pending += [((*here, f"#{index}"), entry) for index, entry in enumerate(content)]
            return
        known = self._wording.spellings.get((owner, name), {})
        names = [read_text(getattr(entry, key)) for entry in content]
        names = [known.get(text, text) for text in names]
        found[*here[:-1], f"order of {name}"] = StatedFact(owner, "order", tuple(names))
        for text, entry in zip(names, content, strict=True):
            own = text
            while (*here, own) in found:  # of a key that is given again
                own += "#"
            found[*here, own] = StatedFact(owner, name, "given")
            pending.append(((*here, own), entry))

    def _read_plain(self, owner: str, descriptor: Any, content: Any) -> StatedFact:
        name = descriptor.name
        known = (owner, name)
        if hasattr(content, "append"):
            shown = tuple(map(_read, content[:_MOST_SHOWN]))
            whole = shown if len(content) <= _MOST_SHOWN else None
            if known in self._wording.names:
                return StatedFact(
                    owner, name, tuple(ValueName(read_text(entry)) for entry in content)
                )
            return StatedFact(owner, name, _digest_list(descriptor, content), whole)
        if known in self._wording.names:
            return StatedFact(owner, name, ValueName(read_text(content)), read_text(content))
        if known in self._wording.sizes:
            return StatedFact(owner, name, SizeName(read_text(content)), read_text(content))
        has_meaning = descriptor.containing_oneof is not None or known in self._wording.telling
        is_default = not has_meaning and content == descriptor.default_value
        if descriptor.cpp_type in _FLOATS:
            bits = struct.pack("<d", content)
            is_default = is_default and bits == struct.pack("<d", descriptor.default_value)
            return StatedFact(owner, name, bits, content, is_default)
        told: object = _read(content)
        if descriptor.enum_type is not None:
            entry = descriptor.enum_type.values_by_number.get(content)
            told = content if entry is None else entry.name.lower()
        return StatedFact(owner, name, content, told, is_default)

    def _read_storage(
        self,
        place: Way,
        owner: str,
        message: Any,
        found: dict[Way, StatedFact],
        *,
        with_elements: bool,
    ) -> None:
        """Tell where the elements of a tensor are, and what they are."""
        fields = self._wording.element_fields
        stored = self._parts.stored(message)
        held = [name for name in fields if name in stored or _is_given(message, name)]
        is_plain = len(held) < 2 and "int32_data" not in held
        if not with_elements and is_plain and message.data_type <= _WHOLE_BYTES:
            found |= {
                (*place, "stored in", one): StatedFact(owner, "stored in", "given") for one in held
            }
            return
        tensor = self._read_tensor(message, ".".join(place))
        for name in held:
            is_read = name == tensor.storage
            found[*place, "stored in", name] = StatedFact(owner, "stored in", "given")
            # what is not read beside it, and bits that reading drops
            if not is_read or (name not in stored and _drops_bits(tensor, name)):
                content = (
                    _digest_stored(stored[name], ".".join(place))
                    if name in stored
                    else _digest_held(message, name)
                )
                found[*place, "stored in", name] = StatedFact(
                    owner, "stored in" if is_read else name, content
                )
        if with_elements:
            found[*place, "elements"] = StatedFact(owner, "elements", digest_elements(tensor))


@lru_cache
def _name_message(descriptor: Any) -> str:
    """Return what a message is called in its schema, without the package."""
    full_name: str = descriptor.full_name
    return full_name.split(".", 2)[2]


def digest_elements(tensor: Tensor) -> object:
    """Return a digest of elements: equal for equal ones down to the bits, however stored.

    Returns
    -------
    bytes or UnreadElements
        They are decoded in pieces. Of what is damaged in itself the bytes count.
    """
    digest = hashlib.blake2b(digest_size=16)
    try:
        elements = open_elements(tensor)
        digest.update(repr((tensor.dtype.name, elements.size)).encode())
        for start in range(0, elements.size, _PIECE):
            step()
            piece = elements.take(start, min(start + _PIECE, elements.size))
            digest.update(
                repr(piece.tolist()).encode() if piece.dtype == object else piece.tobytes()
            )
        return digest.digest()
    except NetloupeError as error:
        if is_ending(error):
            raise
        return _digest_payload(tensor, error)


def _digest_payload(tensor: Tensor, reason: NetloupeError) -> object:
    """Return a digest of what is stored in place of elements that cannot be decoded."""
    if tensor.storage in ("none", "no content", "value"):
        return "nothing is stored"
    try:
        payload = tensor.payload()
        data = payload.data
        if not isinstance(data, bytes | list | tuple | np.ndarray):
            data = data.read(0, len(data))  # type: ignore[union-attr]
    except NetloupeError as error:
        if is_ending(error):
            raise
        return UnreadElements(str(reason))
    return _digest((payload.kind, data.tobytes() if isinstance(data, np.ndarray) else data))


def _digest(thing: object) -> bytes:
    return hashlib.blake2b(repr(thing).encode(), digest_size=16).digest()


def _read(content: Any) -> object:
    return read_bytes(content) if isinstance(content, bytes) else content


def _list_unknown(owner: str, message: Any) -> Iterator[tuple[str, StatedFact]]:
    """Yield the fields that the schema does not know, and numbers that its enums do not."""
    entries: dict[int, list[object]] = {}
    unknown = UnknownFieldSet(message)
    for index in range(len(unknown)):
        entry = unknown[index]
        if not is_own(entry.field_number):
            entries.setdefault(entry.field_number, []).append(_read_unknown(entry))
    for number, contents in entries.items():
        known = message.DESCRIPTOR.fields_by_number.get(number)
        name = f"field {number}" if known is None else known.name
        yield f"{name} (unknown)", StatedFact(owner, str(number), repr(contents), None)


def _read_unknown(entry: Any, depth: int = 0) -> object:
    if entry.wire_type != _GROUP or depth > 8:
        return entry.wire_type, entry.data if entry.wire_type != _GROUP else len(entry.data)
    inner = (entry.data[index] for index in range(len(entry.data)))
    return [(one.field_number, _read_unknown(one, depth + 1)) for one in islice(inner, 1000)]


def _digest_list(descriptor: Any, content: Any) -> object:
    if descriptor.cpp_type in _FLOATS:
        return len(content), hashlib.blake2b(np.array(content[:]).tobytes()).digest()
    if len(content) > _MOST_SHOWN:
        return len(content), _digest(content[:])
    return tuple(content)


def _digest_stored(stored: Any, path: str) -> object:
    """Return what is equal for the same content of a field that was left in the file."""
    try:
        if any(piece.count for piece in stored.pieces):
            content = stored.strings(path)
        elif stored.is_bytes:
            row = stored.content(path)
            content = row.read(0, len(row)).tobytes()
        else:
            numbers = stored.numbers(path)
            content = (len(numbers), numbers.tobytes())
    except NetloupeError as error:
        if is_ending(error):
            raise
        return UnreadElements(str(error))
    return _digest(content)


def _digest_held(message: Any, name: str) -> object:
    """Return what equals :func:`_digest_stored` of the same content."""
    content = getattr(message, name)
    if isinstance(content, bytes):
        return _digest(content)
    descriptor = message.DESCRIPTOR.fields_by_name[name]
    if descriptor.cpp_type == FieldDescriptor.CPPTYPE_STRING:
        return _digest(list(content))
    kinds = {
        FieldDescriptor.CPPTYPE_FLOAT: np.float32,
        FieldDescriptor.CPPTYPE_DOUBLE: np.float64,
        FieldDescriptor.CPPTYPE_INT32: np.int32,
        FieldDescriptor.CPPTYPE_INT64: np.int64,
        FieldDescriptor.CPPTYPE_UINT64: np.uint64,
    }
    numbers = np.array(content[:], kinds[descriptor.cpp_type])
    return _digest((len(numbers), numbers.tobytes()))


def _is_given(message: Any, name: str) -> bool:
    descriptor = message.DESCRIPTOR.fields_by_name.get(name)
    if descriptor is None:
        return False
    content = getattr(message, name)
    return bool(len(content)) if hasattr(content, "append") else bool(message.HasField(name))


def _drops_bits(tensor: Tensor, name: str) -> bool:
    """Return whether elements are narrower than what they are stored in."""
    return name == "int32_data" or (name == "raw_data" and (tensor.dtype.bits or 8) < 8)
