"""Values that go together: one port and one edge for the past keys of all layers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from netloupe.explorer.model import Value

from .item import Item

#: so many inputs or outputs of the graph that are alike become one box
LEAST_STACK = 4

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


def stack_terminals(terminals: list[Item], others: Sequence[Item]) -> list[Item]:
    """Put inputs or outputs that belong together into one box each.

    Those belong together whose only neighbour is the same port of the same item, and whose
    types and names are alike but for numbers in the names.

    Parameters
    ----------
    terminals
        All items for inputs, or all for outputs.
    others
        The items that these may be connected with.
    """
    if len(terminals) < LEAST_STACK:
        return terminals
    is_input = terminals[0].kind != "output"
    ends: dict[Value, list[tuple[str, Value]]] = {}
    for other in others:
        for port in other.inputs if is_input else other.outputs:
            for member in other.members(port):
                ends.setdefault(member, []).append((other.key, port))
    stacks: dict[tuple[object, ...], list[Item]] = {}
    for terminal in terminals:
        value = terminal.element
        if not isinstance(value, Value) or terminal.kind == "constant":
            continue
        found = ends.get(value, [])
        if len(found) != 1 or (is_input and value.is_output):
            continue
        alike = (terminal.kind, *found[0], _DIGITS.sub("*", value.name), str(value.type))
        stacks.setdefault(alike, []).append(terminal)
    gone: set[Item] = set()
    for stack in stacks.values():
        if len(stack) >= LEAST_STACK:
            _stack(stack, is_input)
            gone.update(stack[1:])
    return [terminal for terminal in terminals if terminal not in gone]


def _stack(terminals: list[Item], is_input: bool) -> None:
    first = terminals[0]
    ports = first.outputs if is_input else first.inputs
    values = tuple(item.element for item in terminals if isinstance(item.element, Value))
    first.merged = {ports[0]: values}
    first.label = name_family([value.name for value in values])


def name_family(names: Sequence[str]) -> str:
    """Return what names that differ in numbers have in common: ``present.*.key``.

    Numbers that all share stay; names of numbers alone give the first and the last.
    """
    if len(names) == 1:
        return names[0]
    parts = [_DIGITS.split(name) for name in names]
    numbers = [_DIGITS.findall(name) for name in names]
    if any(part != parts[0] for part in parts) or not any(parts[0]):
        return f"{names[0]} … {names[-1]}"
    shared = [
        entries[0] if len(set(entries)) == 1 else "*" for entries in zip(*numbers, strict=True)
    ]
    mixed = [text for pair in zip(parts[0], [*shared, ""], strict=True) for text in pair]
    return "".join(mixed)
