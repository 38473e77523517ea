"""From a placement to the inside of an open item: its border, its title's room, exact ends."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from netloupe.explorer.arrays import sort_distinct

from .areas import Flags
from .circles import end_at_sides
from .level import Level, LevelArrays
from .placement import Curves, Floats, Integers, Places, spread_runs, starts_of
from .scene import Inside
from .titles import SIDE, Title, fit_title, list_areas, measure_lead, measure_room

_NO_OFFSETS: Floats = np.zeros(0)

#: room between an open item's border and what is inside
END = 16.0
MARGIN = 16.0
#: border ports are nodes of the first rank: their middle lies on the border
_PORT_HALF = 3.0
#: Graphviz rounds places to so much
_MOST_ROUNDED = 1.0
#: an end of an edge that is farther from its place takes the curve's next point not along
_MOST_DRIFT = 8.0


#: from an edge to the size beside it, and from that to the border
_SIZE_ASIDE = 12.0
_SIZE_END = 8.0


def make_room_for_sizes(level: Level, places: Places) -> Places:
    """Return places that are so wide that sizes find room to the right of their edges."""
    if level.direction == "LR":
        return places  # where sizes stand above the edges
    width = places.width
    edges = places.edges
    for number, wire in enumerate(level.wires):
        if wire.text_width and edges.counts[number]:
            start, end = edges.starts[number : number + 2].tolist()
            points = edges.points[start:end:3]
            runs = np.abs(np.diff(points, axis=0))
            longest = int(np.argmax(runs.max(axis=1)))
            if runs[longest, 0] > runs[longest, 1]:
                continue  # above what runs level
            x = float(points[longest : longest + 2, 0].max())
            width = max(width, x + _SIZE_ASIDE + wire.text_width + _SIZE_END)
    return replace(places, width=width) if width > places.width else places


def arrange_root(level: Level, places: Places, columns: int) -> Inside:
    """Return the places in the scene of what is outermost, in so many columns."""
    size = places.width + 2 * MARGIN, places.height + 2 * MARGIN
    return _fill(level, places, size, (MARGIN, MARGIN), columns)


def arrange_inside(level: Level, places: Places, title: Title, columns: int) -> Inside:
    """Return the places inside an open item, with room for its title.

    Parameters
    ----------
    level, places
        What is inside.
    title
        What is written in the upper corners, and so the least width of the item.
    columns
        Number of columns (rows for LR) that the places are cut into.
    """
    if level.direction == "TB":
        width, shift_x = fit_title(places, title)
        shift_y = -_PORT_HALF if level.input_count else title.band
        bottom = -_PORT_HALF if level.output_count else END
        height = places.height + shift_y + bottom
        if level.input_count and not level.wires:
            height += title.band
        entering = level.arrays().sources < 0
        areas = list_areas(title, width)
        corners = places.boxes + np.array((shift_x, shift_y)) - level.arrays().sizes / 2
        lead = max(
            measure_lead(places.edges, (shift_x, shift_y), areas),
            measure_room(corners, level.arrays().sizes, title, width) if level.input_count else 0.0,
        )
        if lead:
            places = replace(places, edges=_lead_in(places.edges, entering, lead))
            shift_y += lead
            height += lead
    else:
        shift_x = -_PORT_HALF if level.input_count else SIDE
        right = -_PORT_HALF if level.output_count else SIDE
        shift_y = title.band
        width = max(places.width + shift_x + right, title.width)
        height = places.height + title.band + END
        areas = list_areas(title, width)
    inside = _fill(level, places, (width, height), (shift_x, shift_y), columns, has_ports=True)
    return replace(inside, titles=areas)


def _lead_in(edges: Curves, entering: Flags, lead: float) -> Curves:
    """Let edges that come in at the border run straight down before they do anything else."""
    chosen = entering & (edges.counts > 0)
    counts = edges.counts + 3 * chosen
    starts = starts_of(counts)
    points = np.empty((int(starts[-1]), 2))
    points[spread_runs(starts[:-1] + 3 * chosen, edges.counts)] = edges.points
    begin = edges.points[edges.starts[:-1][chosen]]
    for number in range(3):
        above = begin.copy()
        above[:, 1] -= lead * (3 - number) / 3
        points[starts[:-1][chosen] + number] = above
    return Curves(points, starts)


def _fill(
    level: Level,
    places: Places,
    size: tuple[float, float],
    shift: tuple[float, float],
    columns: int,
    *,
    has_ports: bool = False,
) -> Inside:
    """Return what was placed, moved by a shift, in an item of a size."""
    arrays = level.arrays()
    free = np.array([(child.left, child.top) for child in level.children]).reshape(-1, 2)
    corners = places.boxes + shift - arrays.sizes / 2 + free
    boxes = np.concatenate([corners, arrays.sizes - free], axis=1)
    axis = 0 if level.direction == "TB" else 1
    inputs = places.inputs[:, axis] + shift[axis] if has_ports else _NO_OFFSETS
    outputs = places.outputs[:, axis] + shift[axis] if has_ports else _NO_OFFSETS
    starts = _on_border(inputs, 0.0, axis)
    ends = _on_border(outputs, size[1 - axis], axis)
    points = places.edges.points + shift
    drawn = places.edges.counts > 0
    tails, heads = places.edges.starts[:-1], places.edges.starts[1:] - 1
    for wires, ports, offsets, rows, inwards in (
        (arrays.sources, starts, arrays.leaving, tails, 1),
        (arrays.targets, ends, arrays.entering, heads, -1),
    ):
        chosen = np.flatnonzero(drawn & (wires < 0))
        points[rows[chosen]] = ports[-1 - wires[chosen]]
        chosen = np.flatnonzero(drawn & (wires >= 0))
        along = offsets[chosen] - free[wires[chosen], axis]
        wanted = _end_places(boxes[wires[chosen]], axis, along, inwards > 0)
        if places.is_exact:  # but for parts that Graphviz has placed
            is_near = (np.abs(wanted - points[rows[chosen]]) < _MOST_ROUNDED).all(axis=1)
            chosen, wanted = chosen[is_near], wanted[is_near]
        _attach(points, rows[chosen], inwards, wanted)
    if arrays.rounds.any() and not places.is_exact:
        chosen = np.flatnonzero(drawn & (arrays.targets >= 0))
        chosen = chosen[arrays.rounds[arrays.targets[chosen]]]
        end_at_sides(points, heads[chosen], boxes, arrays.targets[chosen], axis)
    return Inside(
        *size,
        boxes,
        Curves(np.round(points, 2), places.edges.starts),
        tuple(inputs.tolist()),
        tuple(outputs.tolist()),
        np.round(_find_passing(starts, ends, arrays), 2),
        columns,
    )


def _on_border(offsets: Floats, across: float, axis: int) -> Floats:
    """Return the places of ports on a border."""
    places = np.full((len(offsets), 2), across)
    places[:, axis] = offsets
    return places


def _find_passing(starts: Floats, ends: Floats, arrays: LevelArrays) -> Floats:
    """Return the places on a border where wires run on inside, inputs first."""
    sources, targets = arrays.sources, arrays.targets
    enters, leaves = -1 - sources[sources < 0], -1 - targets[targets < 0]
    return np.concatenate([starts[sort_distinct(enters)], ends[sort_distinct(leaves)]])


def _end_places(boxes: Floats, axis: int, offsets: Floats, is_source: bool) -> Floats:
    """Return where edges leave boxes or come to them; in the middle of the side for NaN."""
    places = np.empty((len(boxes), 2))
    middle = boxes[:, axis + 2] / 2
    places[:, axis] = boxes[:, axis] + np.where(np.isnan(offsets), middle, offsets)
    places[:, 1 - axis] = boxes[:, 1 - axis] + (boxes[:, 3 - axis] if is_source else 0.0)
    return places


def _attach(points: Floats, rows: Integers, inwards: int, wanted: Floats) -> None:
    """Move ends of edges to their exact places, and the curves' next points along.

    Graphviz rounds a port's place to whole points and every place to five digits, and knows
    no ports on very large boxes.
    """
    drift = wanted - points[rows]
    points[rows] = wanted
    points[rows + inwards] += np.where(np.abs(drift) < _MOST_DRIFT, drift, 0.0)
