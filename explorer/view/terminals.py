"""Inputs and outputs of a graph that are one box: families of them, and many with the same ends.

Fifty thousand inputs of one Concat, each a box of its own, would be a picture of five million
pixels. Those of very many that lead to the same boxes are one, which lists them when it is
opened. This is decided by their values, before any box is made of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain, count
from operator import itemgetter
from typing import NamedTuple

from netloupe.explorer.model import Value

from .families import name_family
from .item import BORDER, Item, ItemKind
from .many_values import group_alike

#: so many inputs or outputs of the graph that are alike become one box
LEAST_STACK = 4
#: more boxes of inputs (or outputs) than this with the same ends become one
MOST_TERMINALS = 12
#: and more than this with other ends each, beside twice as many as there are other boxes
MOST_DIFFERENT = 100
#: an open box lists so many; where there are more, they are in boxes of so many, or again
MOST_LISTED = 2_000
_EACH = 1_000

#: states of layers are looked for among so many values at most
_MOST_STATES = 2_000
#: a layer has so many kinds of states at most, and those of all layers lead to so many places
_MOST_KINDS = 4
_MOST_PLACES = 4

_DIGITS = re.compile(r"\d+")
#: ``past_key_values.0.key``: what is common, the number of the layer, the kind of state
_STATE = r"(.+?)[._](\d+)[._](.*[^\W\d].*)"

#: ``neighbours_0``: what is common, the number of the level
_LEVEL = r"(.*[^\W\d])[._]?(\d+)"
#: so many inputs are drawn by kind where there are some of each level
_LEAST_OF_LEVELS = 16


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
    types and names are alike but for numbers in the names; the states of all layers, such as
    ``past_key_values.0.key``; and where boxes are very many, those with the same neighbours.
    Linear in the values and in the ports of the others.

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
    found, ports = _find_ends(kind, others)
    if kind == "input":
        found.add([value for value in values if value.is_output], BORDER)
    states = _find_states(kind, values, found.ends)
    boxes = _put_together(kind, values, ports, states)
    if len(boxes) <= MOST_TERMINALS:
        return [_make_terminal(box) for box in boxes]
    is_each = boxes is values
    firsts = values if is_each else [box[0] if isinstance(box, tuple) else box for box in boxes]
    ends = [*map(found.ends.get, firsts)]
    terminals: list[tuple[int, Terminal]] = []
    for end, places in group_alike(range(len(boxes)), ends).items():
        if states:
            kept = [place for place in places if boxes[place] in states]
            terminals += [(place, _make_terminal(boxes[place])) for place in kept]
            places = [place for place in places if boxes[place] not in states]
        if len(places) <= MOST_TERMINALS:
            terminals += [(place, _make_terminal(boxes[place])) for place in places]
            continue
        if is_each:
            joined = tuple(map(values.__getitem__, places))
        else:
            joined = _list_values(boxes[place] for place in places)
        is_unused = kind == "input" and end is None
        terminals.append((places[0], _join(kind, joined, is_unused=is_unused)))
    terminals.sort(key=itemgetter(0))
    made = [terminal for _, terminal in terminals]
    most = MOST_DIFFERENT + 2 * len(others)
    if len(made) > most + 1:
        made[most:] = [_join(kind, tuple(v for each in made[most:] for v in each.values))]
    return made


#: a single value, or a family of them
_Box = Value | tuple[Value, ...]


def is_past_state(value: Value) -> bool:
    """Return whether an input of a graph is named as a layer's state of past tokens."""
    match = re.fullmatch(_STATE, value.name) if value.is_input and not value.is_parameter else None
    return match is not None and match[1].startswith("past")


def _find_states(
    kind: ItemKind, values: Sequence[Value], ends: dict[Value, int]
) -> list[tuple[Value, ...]]:
    """Return the states of layers, as decoders keep them, each kind of all layers together.

    All layers have the same kinds of them, and those of all lead to few places, such as a stack.
    """
    if kind == "constant" or len(values) > _MOST_STATES:
        return []
    found: dict[str, list[tuple[Value, str, str]]] = {}
    for value in values:
        match = re.fullmatch(_STATE, value.name) if not value.is_parameter else None
        if match is not None and not (kind == "input" and value.is_output):
            found.setdefault(match[1], []).append((value, match[2], match[3]))
    states = []
    for members in found.values():
        layers = {layer for _, layer, _ in members}
        kinds = {which for _, _, which in members}
        is_whole = len(members) == len(layers) * len(kinds)
        places = {ends.get(value) for value, _, _ in members}
        if len(members) < LEAST_STACK or not is_whole or len(layers) < 2:
            continue
        if 2 <= len(kinds) <= _MOST_KINDS and len(places) <= _MOST_PLACES:
            states.append(tuple(value for value, _, _ in members))
    return states or _find_levels(kind, values)


def _find_levels(kind: ItemKind, values: Sequence[Value]) -> list[tuple[Value, ...]]:
    """Return inputs that there are of each level, as indices of neighbours, each kind of all.

    They are called alike but for the number of the level, and are as many of each kind; there are
    so many of all that their names would be most of a picture.
    """
    named = [value for value in values if value.is_input and not value.is_parameter]
    if kind != "input" or len(named) < _LEAST_OF_LEVELS:
        return []
    found: dict[str, list[Value]] = {}
    for value in named:
        match = re.fullmatch(_LEVEL, value.name)
        if match is not None:
            found.setdefault(match[1], []).append(value)
    levels = [tuple(members) for members in found.values() if len(members) >= LEAST_STACK]
    is_whole = len(levels) > 1 and len({*map(len, levels)}) == 1
    return levels if is_whole else []


def _put_together(
    kind: ItemKind,
    values: Sequence[Value],
    ports: dict[Value, int],
    states: Sequence[tuple[Value, ...]],
) -> Sequence[_Box]:
    """Return states, families that come to the same port, and single values, in their order."""
    if kind == "constant" or not (ports or states):
        return values
    in_states = {value: together for together in states for value in together}
    boxes: list[tuple[int, _Box]] = []
    at_ports: dict[int, list[tuple[int, Value]]] = {}
    for place, value in enumerate(values):
        together = in_states.get(value)
        if together is not None:
            if value is together[0]:
                boxes.append((place, together))
            continue
        port = ports.get(value)
        if port is None or (kind == "input" and value.is_output):
            boxes.append((place, value))
        else:
            at_ports.setdefault(port, []).append((place, value))
    for entries in at_ports.values():
        families: dict[object, list[tuple[int, Value]]] = {}
        for place, value in entries:
            alike = (_DIGITS.sub("*", value.name), str(value.type))
            families.setdefault(alike, []).append((place, value))
        for family in families.values():
            if len(family) >= LEAST_STACK:
                boxes.append((family[0][0], tuple(value for _, value in family)))
            else:
                boxes += family
    boxes.sort(key=itemgetter(0))
    return [box for _, box in boxes]


def _list_values(boxes: Iterable[_Box]) -> tuple[Value, ...]:
    """Return all values of some boxes."""
    return tuple(chain.from_iterable(box if isinstance(box, tuple) else (box,) for box in boxes))


def split_terminal(kind: ItemKind, values: Sequence[Value]) -> list[Terminal]:
    """Return what an open box lists: its values, or boxes of many of them."""
    if len(values) <= MOST_LISTED:
        return [Terminal((value,), value.name) for value in values]
    size = _EACH
    while len(values) > MOST_LISTED * size:
        size *= _EACH
    pieces = [values[start : start + size] for start in range(0, len(values), size)]
    return [_join(kind, tuple(piece)) for piece in pieces]


class _Ends:
    """What values lead to, or come from: a number that those of the same neighbours share.

    It is that of a word whose letters are the neighbours, in the order in which they are added.
    """

    def __init__(self) -> None:
        self.ends: dict[Value, int] = {}
        self._words: dict[tuple[int, int], int] = {}

    def add(self, values: Iterable[Value], neighbour: int) -> set[Value]:
        """Note a neighbour of some values; return those of them that have others too."""
        fresh = dict.fromkeys(values, self._append(0, neighbour))
        known = self.ends.keys() & fresh.keys()
        for value in known:
            fresh[value] = self._append(self.ends[value], neighbour)
        if self.ends:
            self.ends.update(fresh)
        else:
            self.ends = fresh
        return known

    def _append(self, word: int, letter: int) -> int:
        return self._words.setdefault((word, letter), len(self._words) + 1)


def _find_ends(kind: ItemKind, others: Sequence[Item]) -> tuple[_Ends, dict[Value, int]]:
    """Return where values lead to, or come from.

    Parameters
    ----------
    kind
        Of the terminals whose values are asked for.
    others
        The items that these may be connected with.

    Returns
    -------
    tuple
        By value the items; and the number of its only port, where that is one of several
        values that go together.
    """
    found = _Ends()
    shared: set[Value] = set()
    ports: dict[Value, int] = {}
    numbers = count()
    for index, other in enumerate(others):
        listed = other.outputs if kind == "output" else other.inputs
        shared |= found.add(other.values_at(listed), index)
        if other.merged:
            for members in map(other.members, listed):
                if len(members) >= LEAST_STACK:
                    ports.update(dict.fromkeys(members, next(numbers)))
    for value in ports.keys() & shared:
        del ports[value]
    return found, ports


def _make_terminal(box: _Box) -> Terminal:
    if isinstance(box, tuple):
        names = [value.name for value in box]
        states = [re.fullmatch(_STATE, name) for name in names]
        common = {match and match[1] for match in states}
        kinds = {match and match[3] for match in states}
        if len(kinds) > 1 and len(common) == 1:
            return Terminal(box, common.pop() or "")
        return Terminal(box, name_family(names))
    return Terminal((box,), box.name)


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
