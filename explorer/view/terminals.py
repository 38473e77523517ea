"""Inputs and outputs of a graph that are one box: families of them, and many with the same ends.

Fifty thousand inputs of one Concat, each a box of its own, would be a picture of five million
pixels. Those of very many that lead to the same boxes are one, which lists them when it is
opened. This is decided by their values, before any box is made of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
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
    owners, ends = _find_ends(kind, others)
    ports: dict[object, list[Value]] = {}
    for value in values:
        found: Sequence[int] = ends.get(value, ())
        is_inner = kind != "constant" and len(found) == 1
        is_inner = is_inner and (kind == "output" or not value.is_output)
        ports.setdefault(found[0] if is_inner else value, []).append(value)
    boxes: list[list[Value]] = []
    for together in ports.values():
        families: dict[object, list[Value]] = {}
        if len(together) >= LEAST_STACK:
            for value in together:
                alike = (_DIGITS.sub("*", value.name), str(value.type))
                families.setdefault(alike, []).append(value)
        else:
            families = {value: [value] for value in together}
        for family in families.values():
            boxes += [family] if len(family) >= LEAST_STACK else [[value] for value in family]
    order = {value: index for index, value in enumerate(values)}
    boxes.sort(key=lambda box: order[box[0]])
    if len(boxes) <= MOST_TERMINALS:
        return [_make_family(box) for box in boxes]
    alike_ends: dict[tuple[frozenset[int], bool], list[list[Value]]] = {}
    singles = [frozenset((index,)) for index in range(len(others))]
    for box in boxes:
        found = ends.get(box[0], ())
        neighbours = (
            singles[owners[found[0]]]
            if len(found) == 1
            else frozenset(owners[end] for end in found)
        )
        is_given = kind == "input" and box[0].is_output
        alike_ends.setdefault((neighbours, is_given), []).append(box)
    terminals = []
    for (neighbours, is_given), alike_boxes in alike_ends.items():
        if len(alike_boxes) > MOST_TERMINALS:
            is_unused = kind == "input" and not neighbours and not is_given
            terminals.append(_join(kind, alike_boxes, is_unused=is_unused))
        else:
            terminals += map(_make_family, alike_boxes)
    terminals.sort(key=lambda terminal: order[terminal.values[0]])
    most = MOST_DIFFERENT + 2 * len(others)
    if len(terminals) > most + 1:
        terminals[most:] = [_join(kind, [list(each.values) for each in terminals[most:]])]
    return terminals


def split_terminal(kind: ItemKind, values: Sequence[Value]) -> list[Terminal]:
    """Return what an open box lists: its values, or boxes of many of them."""
    if len(values) <= MOST_LISTED:
        return [Terminal((value,), value.name) for value in values]
    size = _EACH
    while len(values) > MOST_LISTED * size:
        size *= _EACH
    pieces = [values[start : start + size] for start in range(0, len(values), size)]
    return [_join(kind, [list(piece)]) for piece in pieces]


def _find_ends(kind: ItemKind, others: Sequence[Item]) -> tuple[list[int], dict[Value, list[int]]]:
    """Return for each port of the others its item, and for each value the ports for it."""
    owners: list[int] = []
    ends: dict[Value, list[int]] = {}
    for index, other in enumerate(others):
        for port in other.outputs if kind == "output" else other.inputs:
            for member in other.members(port):
                ends.setdefault(member, []).append(len(owners))
            owners.append(index)
    return owners, ends


def _make_family(values: list[Value]) -> Terminal:
    return Terminal(tuple(values), name_family([value.name for value in values]))


def _join(kind: ItemKind, boxes: list[list[Value]], *, is_unused: bool = False) -> Terminal:
    """Return one box for the values of several."""
    values = tuple(value for box in boxes for value in box)
    if len(values) == 1:
        return Terminal(values, values[0].name)
    what = f"{kind}s"
    if is_unused:
        what = f"unused {what}"
    elif kind == "input" and not any(v.is_input or v.producer is not None for v in values):
        what = f"undefined {what}"
    names = f"{values[0].name} … {values[-1].name}"
    return Terminal(values, f"{len(values):,} {what}", names)
