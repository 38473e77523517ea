"""What is asked of sequences that may hold a million values, in few passes over them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

from netloupe.explorer.model import Value

Element = TypeVar("Element")
Key = TypeVar("Key", bound=Hashable)


def list_distinct(values: Iterable[Value]) -> tuple[Value, ...]:
    """Return each value once, in order; a tuple of distinct ones is returned as it is."""
    listed = tuple(values)
    return listed if len(set(listed)) == len(listed) else tuple(dict.fromkeys(listed))


def group_alike(elements: Sequence[Element], keys: Sequence[Key]) -> dict[Key, Sequence[Element]]:
    """Return the elements of each key, in order; all at once where these have one key."""
    if len(keys) == 1:
        return {keys[0]: elements}
    groups: dict[Key, list[Element]] = {key: [] for key in dict.fromkeys(keys)}
    if len(groups) == 1:
        return dict.fromkeys(groups, elements)
    for element, key in zip(elements, keys, strict=True):
        groups[key].append(element)
    return dict(groups)
