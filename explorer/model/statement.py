"""What a file says of an element, field by field, so that nothing of it is left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple


class ValueName(NamedTuple):
    """The name by which a message speaks of a value of its graph."""

    name: str


class SizeName(NamedTuple):
    """The name of a size that is not known, such as ``batch``."""

    name: str


class UnreadElements(NamedTuple):
    """Elements of a tensor that cannot be read, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class StatedFact:
    """What one field of a message says.

    Parameters
    ----------
    message, field
        The message that has the field, and the field, as the schema calls them; of a field that
        the schema does not know the number.
    content
        What is compared: equal for the same content, down to the bits. Of elements a digest.
    shown
        The content as it is told; None where it is too long, or no text says more.
    is_default
        Whether it is stated, and is what holds where nothing is.
    """

    message: str
    field: str
    content: object
    shown: object = None
    is_default: bool = False


#: by the way to a field within an element: names of fields, and keys or numbers in lists
Statement = Mapping[tuple[str, ...], StatedFact]
NOTHING_STATED: Statement = {}
