"""Caffe2 messages from a source, and the nets among their arguments."""

from __future__ import annotations

from typing import Any

from google.protobuf.message import DecodeError

from netloupe.explorer.errors import ModelFormatError
from netloupe.explorer.readers.protobuf.parts import Parts, parse_parts
from netloupe.explorer.readers.source import Source
from netloupe.proto import caffe2_pb2
from netloupe.proto.grammars import CAFFE2
from netloupe.proto.scanner import MAX_GRAPH_DEPTH
from netloupe.proto.wire import NestingError, ScanError, SizeError

from .elements import ELEMENTS


class Net:
    """A NetDef, and what it was read with.

    Parameters
    ----------
    message
        The NetDef. The nets among its arguments are only to be used through :meth:`nested`,
        and their data only through the parts.
    parts
        Where nested nets and data are.
    """

    __slots__ = ("message", "parts")

    def __init__(self, message: Any, parts: Parts) -> None:
        self.message = message
        self.parts = parts

    def nested(self, argument: Any) -> dict[str, list[Net]]:
        """Return the nets of an argument of this net or its operators, by field (``n``, ``nets``).

        Raises
        ------
        ModelFormatError
            Where one is damaged.
        """
        found = {"n": [self._lift(argument.n)]} if argument.HasField("n") else {}
        if argument.nets:
            found["nets"] = [self._lift(net) for net in argument.nets]
        return found

    def _lift(self, message: Any) -> Net:
        return Net(lift_message(self.parts, message), self.parts)


def lift_message(parts: Parts, message: Any) -> Any:
    """Return a nested net or step that may have been taken out of its message.

    Raises
    ------
    ModelFormatError
        Where it is damaged.
    """
    try:
        return parts.lifted(message)
    except DecodeError:
        raise damage(parts.source, parts.proto.DESCRIPTOR.name) from None


def parse_caffe2(source: Source, root: str) -> Parts:
    """Parse a source as a message of a known root.

    Raises
    ------
    ModelFormatError
        Where the bytes are damaged, nets or steps are nested too deep, or too much remains
        without tensors.
    """
    try:
        return parse_message(source, root)
    except ScanError as error:
        raise explain(error, source, root) from None


def parse_message(source: Source, root: str) -> Parts:
    """Parse a source as a message of a root; raises ScanError where it is none."""
    return parse_parts(source, caffe2_pb2, root, CAFFE2, Parts)


def explain(error: ScanError, source: Source, root: str) -> ModelFormatError:
    """Return why a source cannot be parsed as a message of a root."""
    if isinstance(error, NestingError):
        return ModelFormatError(
            f"{source.name}: its nets or steps are nested deeper than {MAX_GRAPH_DEPTH} levels"
            f"{_say_where(source, root, is_too_deep=True)}. "
            "Save the net with fewer levels of control flow."
        )
    if isinstance(error, SizeError):
        return ModelFormatError(
            f"{source.name}: {error}, more than netloupe reads. Move large arguments into fills."
        )
    return damage(source, root)


def damage(source: Source, root: str) -> ModelFormatError:
    """Return the error for bytes that are no message of a root, with the place."""
    return ModelFormatError(
        f"{source.name}: is a Caffe2 {root} that is damaged or cut short"
        f"{_say_where(source, root)}. Export or download it again."
    )


def _say_where(source: Source, root: str, *, is_too_deep: bool = False) -> str:
    from netloupe.explorer.readers.protobuf.damage import say_where

    message = getattr(caffe2_pb2, root).DESCRIPTOR
    return say_where(source, message, ELEMENTS, is_too_deep=is_too_deep)
