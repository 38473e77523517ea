"""What a file says of an element, field by field, so that nothing of it is left out."""

from __future__ import annotations

from collections.abc import Mapping
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


class StatedFact(NamedTuple):
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


#: where a field is within an element: names of fields, and keys or numbers in lists
Way = tuple[str, ...]
#: all that is said of an element, by the way to it
Statement = Mapping[Way, StatedFact]
NOTHING_STATED: Statement = {}


def list_ways(left: Statement, right: Statement) -> list[Way]:
    """Return the ways to all that may differ in two statements, in order.

    Texts, numbers and digests that are equal do not; names may be equal and mean other things.
    """
    found = [way for way, fact in left.items() if not _is_plainly_same(fact, right.get(way))]
    return sorted([*found, *(way for way in right if way not in left)])


def _is_plainly_same(one: StatedFact, other: StatedFact | None) -> bool:
    content = one.content
    return other is not None and not isinstance(content, tuple) and content == other.content
