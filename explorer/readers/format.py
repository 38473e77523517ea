"""What the pipeline knows of a format, and what the formats know of the pipeline."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from netloupe.explorer.model import Model

from .protobuf.elements import Elements
from .protobuf.top_fields import TopFields, scan_fields
from .source import Source


@dataclass(frozen=True)
class Content:
    """What a source holds in the end, out of gzip and in the binary form where it was text.

    Parameters
    ----------
    source
        The bytes.
    container
        ``protobuf``, ``protobuf text``, ``protobuf JSON`` or ``ONNX text``, perhaps ``in gzip``.
    unknown
        Names of a text that no schema of ours knows, which were left out.
    root
        Full name of the message that a text says it is; "" where that is open.
    """

    source: Source
    container: str = "protobuf"
    unknown: tuple[str, ...] = ()
    root: str = ""

    @cached_property
    def top(self) -> TopFields:
        """The outermost fields of the binary form; scanned once, whoever asks."""
        with self.source.open() as read:
            return scan_fields(read, 0, self.source.size)


class TextRoot(NamedTuple):
    """A message that protobuf text or JSON may describe.

    Parameters
    ----------
    message
        Its descriptor.
    signs
        Names of its fields, of which such a text has at least one outermost.
    elements
        How what it holds is called.
    """

    message: Any
    signs: frozenset[str]
    elements: Elements


#: takes a source out of a text form, where the messages are those that the formats know
Unwrap = Callable[[Source, Iterable[TextRoot]], Content]


class TextForm(NamedTuple):
    """A text that a model may be written as.

    Parameters
    ----------
    begins
        Whether these are the first bytes of such a text; without a byte order mark.
    unwrap
        Takes a model out of it.
    """

    begins: Callable[[bytes], bool]
    unwrap: Unwrap


class Certainty(IntEnum):
    """How sure it is that a content is of a format."""

    #: it is as good as anything else that is not known
    POSSIBLE = 0
    #: it is, unless another format is sure
    LIKELY = 1
    #: no other format is asked
    SURE = 2


class Match(NamedTuple):
    """What a format takes a content for.

    Parameters
    ----------
    root
        The message, in the format's own words.
    parsed
        What came of looking at it that reading goes on with; None for nothing.
    """

    certainty: Certainty
    root: str
    parsed: Any = None


class Around(NamedTuple):
    """What a user gives beside a model, and where more may lie.

    Parameters
    ----------
    companion
        A second source, for formats that have one: the init net of a Caffe2 net.
    path
        The file that the model comes from; None where it comes from none.
    unwrap
        Takes a companion out of its containers.
    """

    companion: Source | None
    path: Path | None
    unwrap: Callable[[Source], Content]


class Format(NamedTuple):
    """A format of models: one entry of the pipeline's tuple.

    Parameters
    ----------
    name
        Its name in messages.
    identify
        Says what a content is taken for; None for nothing. Raises ModelFormatError where the
        content is of the format, but damaged.
    read
        Makes the model of a content that is taken for something.
    roots
        The messages that protobuf text and JSON may describe; where names fit several, the
        first wins.
    text_forms
        Text that only this format has.
    companion
        What the second source is that it may be read with; "" for none.
    models
        The messages that are whole models, not only parts of one.
    suffixes
        Endings of file names that this format alone has, in small letters.
    find_companion
        Returns the second file that is read with a file, where that lies beside it.
    """

    name: str
    identify: Callable[[Content], Match | None]
    read: Callable[[Content, Match, Around], Model]
    roots: tuple[TextRoot, ...] = ()
    text_forms: tuple[TextForm, ...] = ()
    companion: str = ""
    models: frozenset[str] = frozenset()
    suffixes: tuple[str, ...] = ()
    find_companion: Callable[[Path], Path | None] = lambda path: None
