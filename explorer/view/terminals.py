"""Inputs and outputs of a graph that are one box: families of them, and many with the same ends.

Fifty thousand inputs of one Concat, each a box of its own, would be a picture of five million
pixels. Those of very many that lead to the same boxes are one, which lists them when it is
opened. This is decided by their values, before any box is made of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from operator import itemgetter
from typing import NamedTuple

from netloupe.explorer.model import Value

from .families import name_family
from .item import Item, ItemKind

#: so many inputs or outputs of the graph that are alike become one box
LEAST_STACK = 4
#: more boxes of inputs (or outputs) than this with the same ends become one
MOST_TERMINALS = 12
#: and more than this with other ends each, beside twice as many as there are other boxes
MOST_DIFFERENT = 100
#: an open box lists so many; where there are more, they are in boxes of so many, or again
MOST_LISTED = 2_000
_EACH = 1_000

_DIGITS = re.compile(r"\d+")


class Terminal(NamedTuple):
    """What one box for inputs, outputs or constants of a graph stands for.

    Parameters
    ----------
    values
        One value or several.
    label
        The name, what several names have in common, or how many they are.
    names
        Where the label tells the number, the first and the last name.
    """

    values: tuple[Value, ...]
    label: str
    names: str = ""


def stack_terminals(
    kind: ItemKind, values: Sequence[Value], others: Sequence[Item]
) -> list[Terminal]:
    """Put inputs or outputs that belong together into one box each.

    Those belong together whose only neighbour is the same port of the same item, and whose
    types and names are alike but for numbers in the names; and where boxes are very many, those
    with the same neighbours. Linear in the values and in the ports of the others.

    Parameters
    ----------
    kind
        ``input``, ``output`` or ``constant``.
    values
        Those for which there are to be boxes, each once.
    others
        The items that these may be connected with.
    """
    if len(values) < LEAST_STACK:
        return [Terminal((value,), value.name) for value in values]
    ends = _Ends(kind, others)
    boxes = _put_together(kind, values, ends)
    if len(boxes) <= MOST_TERMINALS:
        return [_make_family(box.values) for box in boxes]
    alike: dict[tuple[frozenset[int], bool], list[_Box]] = {}
    for box in boxes:
        first = box.values[0]
        is_given = kind == "input" and first.is_output
        alike.setdefault((ends.neighbours(first), is_given), []).append(box)
    terminals: list[tuple[int, Terminal]] = []
    for (neighbours, is_given), alike_boxes in alike.items():
        if len(alike_boxes) > MOST_TERMINALS:
            is_unused = kind == "input" and not neighbours and not is_given
            joined = tuple(value for box in alike_boxes for value in box.values)
            terminals.append((alike_boxes[0].place, _join(kind, joined, is_unused=is_unused)))
        else:
            terminals += ((box.place, _make_family(box.values)) for box in alike_boxes)
    terminals.sort(key=itemgetter(0))
    made = [terminal for _, terminal in terminals]
    most = MOST_DIFFERENT + 2 * len(others)
    if len(made) > most + 1:
        made[most:] = [_join(kind, tuple(v for each in made[most:] for v in each.values))]
    return made


def _put_together(kind: ItemKind, values: Sequence[Value], ends: _Ends) -> list[_Box]:
    """Return families that come to the same port, and single values, in the order of the values."""
    boxes: list[_Box] = []
    ports: dict[int, list[_Box]] = {}
    for place, value in enumerate(values):
        box = _Box(place, (value,))
        port = ends.only_port(value) if kind == "output" or not value.is_output else None
        if kind != "constant" and port is not None and ends.sizes[port] >= LEAST_STACK:
            ports.setdefault(port, []).append(box)
        else:
            boxes.append(box)
    for together in ports.values():
        families: dict[object, list[_Box]] = {}
        for box in together:
            (value,) = box.values
            alike = (_DIGITS.sub("*", value.name), str(value.type))
            families.setdefault(alike, []).append(box)
        for family in families.values():
            if len(family) >= LEAST_STACK:
                members = tuple(value for box in family for value in box.values)
                boxes.append(_Box(family[0].place, members))
            else:
                boxes += family
    if ports:
        boxes.sort(key=itemgetter(0))
    return boxes


def split_terminal(kind: ItemKind, values: Sequence[Value]) -> list[Terminal]:
    """Return what an open box lists: its values, or boxes of many of them."""
    if len(values) <= MOST_LISTED:
        return [Terminal((value,), value.name) for value in values]
    size = _EACH
    while len(values) > MOST_LISTED * size:
        size *= _EACH
    pieces = [values[start : start + size] for start in range(0, len(values), size)]
    return [_join(kind, tuple(piece)) for piece in pieces]


class _Box(NamedTuple):
    """Values that are drawn as one, and the place of the first of them among all."""

    place: int
    values: tuple[Value, ...]


class _Ends:
    """Where values lead to, or come from.

    Parameters
    ----------
    kind
        Of the terminals whose values are asked for.
    others
        The items that these may be connected with.
    """

    def __init__(self, kind: ItemKind, others: Sequence[Item]) -> None:
        #: of each port of the others the item, and how many values it takes or gives
        self.owners: list[int] = []
        self.sizes: list[int] = []
        # a number alone where there is one port: of a million values nearly all have one
        self._ports: dict[Value, int | list[int]] = {}
        self._singles = [frozenset((index,)) for index in range(len(others))]
        ports = self._ports
        for index, other in enumerate(others):
            for port in other.outputs if kind == "output" else other.inputs:
                members = other.members(port)
                number = len(self.owners)
                for member in members:
                    found = ports.setdefault(member, number)
                    if isinstance(found, list):
                        found.append(number)
                    elif found != number:
                        ports[member] = [found, number]
                self.owners.append(index)
                self.sizes.append(len(members))

    def only_port(self, value: Value) -> int | None:
        """Return the port of a value that has exactly one."""
        found = self._ports.get(value)
        return found if isinstance(found, int) else None

    def neighbours(self, value: Value) -> frozenset[int]:
        """Return the items at the other ends of a value, as indices."""
        found = self._ports.get(value)
        if found is None:
            return frozenset()
        if isinstance(found, int):
            return self._singles[self.owners[found]]
        return frozenset(self.owners[port] for port in found)


def _make_family(values: tuple[Value, ...]) -> Terminal:
    return Terminal(values, name_family([value.name for value in values]))


def _join(kind: ItemKind, values: tuple[Value, ...], *, is_unused: bool = False) -> Terminal:
    """Return one box for many values."""
    if len(values) == 1:
        return Terminal(values, values[0].name)
    what = f"{kind}s"
    if is_unused:
        what = f"unused {what}"
    elif kind == "input" and not any(v.is_input or v.producer is not None for v in values):
        what = f"undefined {what}"
    names = f"{values[0].name} … {values[-1].name}"
    return Terminal(values, f"{len(values):,} {what}", names)
