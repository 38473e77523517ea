"""Values that go together: one port and one edge for the past keys of all layers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from netloupe.explorer.model import Value

from .item import Item

#: of more names than this only the first and the last are looked at
_MOST_NAMES = 1_000

_DIGITS = re.compile(r"\d+")


def merge_families(item: Item, families: dict[Value, Value]) -> None:
    """List one value of each family at a group's border, and note the others with it."""
    if not families:
        return
    merged: dict[Value, tuple[Value, ...]] = {}
    item.inputs = _merge(item.inputs, families, merged)
    item.outputs = _merge(item.outputs, families, merged)
    item.merged = merged


def _merge(
    values: Sequence[Value],
    families: dict[Value, Value],
    merged: dict[Value, tuple[Value, ...]],
) -> tuple[Value, ...]:
    members: dict[Value, list[Value]] = {}
    for value in values:
        members.setdefault(families.get(value, value), []).append(value)
    for found in members.values():
        if len(found) > 1:
            merged[found[0]] = tuple(found)
    return tuple(found[0] for found in members.values())


def name_family(names: Sequence[str]) -> str:
    """Return what names that differ in numbers have in common: ``present.*.key``.

    Numbers that all share stay; names of numbers alone, and very many, give the first and the
    last.
    """
    if len(names) == 1:
        return names[0]
    if len(names) > _MOST_NAMES:
        return f"{names[0]} … {names[-1]}"
    parts = [_DIGITS.split(name) for name in names]
    numbers = [_DIGITS.findall(name) for name in names]
    if any(part != parts[0] for part in parts) or not any(parts[0]):
        return f"{names[0]} … {names[-1]}"
    shared = [
        entries[0] if len(set(entries)) == 1 else "*" for entries in zip(*numbers, strict=True)
    ]
    mixed = [text for pair in zip(parts[0], [*shared, ""], strict=True) for text in pair]
    return "".join(mixed)
