"""What is written above the ports of an inset: what each value is that enters.

A name is that of the value on that very port, as it is known outside; where nothing is known of it
its size stands there, and of constants nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from netloupe.explorer.dataflow import is_input_independent, is_of_shapes
from netloupe.explorer.model import Value
from netloupe.explorer.view import Item
from netloupe.explorer.view.item import MOST_SELECTED
from netloupe.explorer.view.value_names import CONSTANTS

from .labels import HEIGHT as LINE_HEIGHT
from .plan import path_of_value
from .scene import Flat, SceneEdge
from .value_sizes import find_sizes

#: what enters is named so far above where it begins; names keep apart, in as many lines as these
NAME_ABOVE = 9.0
_NAMES_APART = 8.0
_NAME_LINES = 2

#: gives a text as it stands beside an edge, and its width
Write = Callable[[str], tuple[str, float]]
#: says what values are that enter together; "" where that is not known
NameValues = Callable[[Sequence[Value]], str]


def name_entries(item: Item, piece: Flat, write: Write, name: NameValues) -> Flat:
    """Write at what enters a frame beside the main stream what it is.

    The main stream is what enters nearest to above of where it leaves, handed on from repetition
    to repetition where something is. It is named as well where something else is handed on too,
    and where a loop begins with it.

    Parameters
    ----------
    item
        What is open.
    piece
        Its frame, with the streams around it.
    write, name
        Measure texts and name values.
    """
    entering = [edge for edge in piece.edges if edge.source < 0]
    leaving = [edge.points[0] for edge in piece.edges if edge.target < 0]
    if len(entering) < 2:
        return piece
    middle = leaving[0] if leaving else entering[0].points[0]
    carried = item.carried
    outer = {
        path_of_value(value, item.instance): value
        for port in item.inputs
        for value in item.members(port)[:MOST_SELECTED]
    }
    handed = [
        edge
        for edge in entering
        if edge.value in carried.names or outer.get(edge.path) in carried.starts
    ]
    main = min(handed or entering, key=lambda edge: abs(edge.points[0] - middle))
    is_named = len(handed) > 1 or bool(carried.loop)
    named: dict[int, SceneEdge] = {}
    names = _Names(piece.boxes[0].width)
    for edge in (*handed, *(edge for edge in entering if edge not in handed)):
        value = outer.get(edge.path) or (edge.value if edge in handed else None)
        if value is None or (edge is main and not is_named):
            continue
        handed_there = _list_handed(piece, edge, item)
        text, width = write(
            ", ".join(handed_there)
            if len(handed_there) > 1
            else _choose_name(name(item.members(value)), value, item)
        )
        if not text:
            text, width = write(_write_size(value))
        place = names.place(edge.points[0], width) if text else None
        if place is not None:
            x, line = place
            y = edge.points[1] - NAME_ABOVE - line * LINE_HEIGHT
            named[id(edge)] = edge._replace(label=text, label_x=x, label_y=y)
    return piece._replace(edges=tuple(named.get(id(edge), edge) for edge in piece.edges))


def _list_handed(piece: Flat, entering: SceneEdge, item: Item) -> list[str]:
    """Return what is handed on by one port of a loop, each once."""
    if not item.carried.loop:
        return []
    x, y = entering.points[-2:]
    inner = (edge for edge in piece.edges if edge.source == 0 and edge.points[:2] == (x, y))
    names = (item.carried.names.get(edge.value) for edge in inner if edge.value is not None)
    return [*dict.fromkeys(filter(None, names))]


class _Names:
    """Where names stand above a frame of some width."""

    def __init__(self, width: float) -> None:
        self._width = width
        self._taken: list[list[tuple[float, float]]] = [[] for _ in range(_NAME_LINES)]

    def place(self, x: float, width: float) -> tuple[float, int] | None:
        """Return the middle and the line of a name above a place, of some width; None for none.

        A picture ends beside its inset: what is long stands above it, not around its stream.
        """
        if width > self._width:
            return None
        x = max(min(x, self._width - width / 2), width / 2)
        left, right = x - width / 2, x + width / 2
        for line, others in enumerate(self._taken):
            if all(right < low or high < left for low, high in others):
                others.append((left - _NAMES_APART, right + _NAMES_APART))
                return x, line
        return None


def _choose_name(name: str, value: Value, item: Item) -> str:
    """Return what a value is called that enters an item: as what is handed on, or as outside.

    What a loop begins with is named after what gives it, unless that is its own module, or nothing.
    """
    handed = item.carried.names.get(value, "")
    if name == CONSTANTS:
        return handed
    return handed if handed and item.label.startswith(name) else name or handed


def _write_size(value: Value) -> str:
    if is_of_shapes(value) or is_input_independent(value):
        return ""
    size = find_sizes(value.graph.model).find(value)
    return "" if size is None else size.write()
