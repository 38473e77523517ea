"""From a placement to the inside of an open item: its border, its title's room, exact ends."""

from __future__ import annotations

from .dot import Layer
from .placement import Placement
from .scene import Inside

#: room between an open item's border and what is inside
SIDE = 18.0
TITLE_BAND = 30.0
END = 16.0
MARGIN = 16.0
#: an open item is made so much wider at most to keep its title clear of edges
MOST_WIDENING = 160.0
#: border ports are nodes of the first rank: their middle lies on the border
_PORT_HALF = 3.0
#: an end of an edge that is farther from its place takes the curve's next point not along
_MOST_DRIFT = 8.0


def arrange_root(layer: Layer, placement: Placement) -> Inside:
    """Return the places in the scene of what is outermost."""
    width, height = placement.width + 2 * MARGIN, placement.height + 2 * MARGIN
    return _fill(layer, placement, Inside(width, height, [], [], layer), MARGIN, MARGIN)


def arrange_inside(layer: Layer, placement: Placement, title_width: float) -> Inside:
    """Return the places inside an open item, with room for its title.

    Parameters
    ----------
    layer, placement
        What is inside.
    title_width
        Width of the title in the top left corner, and so the least width of the item.
    """
    if layer.direction == "TB":
        width = max(placement.width + 2 * SIDE, title_width)
        shift_x = (width - placement.width) / 2
        widening = _room_for_title(placement, shift_x, title_width)
        width += widening
        shift_x += widening
        shift_y = -_PORT_HALF if layer.input_count else TITLE_BAND
        bottom = -_PORT_HALF if layer.output_count else END
        height = placement.height + shift_y + bottom
        if layer.input_count and not layer.wires:
            height += TITLE_BAND
    else:
        shift_x = -_PORT_HALF if layer.input_count else SIDE
        right = -_PORT_HALF if layer.output_count else SIDE
        shift_y = TITLE_BAND
        width = max(placement.width + shift_x + right, title_width)
        height = placement.height + TITLE_BAND + END
    axis, shift = (0, shift_x) if layer.direction == "TB" else (1, shift_y)
    inside = Inside(
        width,
        height,
        [],
        [],
        layer,
        tuple(place[axis] + shift for place in placement.inputs),
        tuple(place[axis] + shift for place in placement.outputs),
    )
    return _fill(layer, placement, inside, shift_x, shift_y)


def _room_for_title(placement: Placement, shift: float, title_width: float) -> float:
    """Return how much wider an open item must be at its left for edges to miss its title."""
    if not placement.inputs:
        return 0.0
    missing = title_width - (min(x for x, _ in placement.inputs) + shift)
    return missing if 0 < missing <= MOST_WIDENING else 0.0


def _fill(
    layer: Layer, placement: Placement, inside: Inside, shift_x: float, shift_y: float
) -> Inside:
    inside.boxes = [
        (x + shift_x - child.width / 2, y + shift_y - child.height / 2, child.width, child.height)
        for child, (x, y) in zip(layer.children, placement.boxes, strict=True)
    ]
    if layer.direction == "TB":
        starts = [(offset, 0.0) for offset in inside.inputs]
        ends = [(offset, inside.height) for offset in inside.outputs]
    else:
        starts = [(0.0, offset) for offset in inside.inputs]
        ends = [(inside.width, offset) for offset in inside.outputs]
    inside.ports = [(round(x, 2), round(y, 2)) for x, y in (*starts, *ends)]
    axis = 0 if layer.direction == "TB" else 1
    for wire, points in zip(layer.wires, placement.edges, strict=True):
        if not points:
            inside.curves.append(())
            continue
        curve = list(points)
        curve[0::2] = [coordinate + shift_x for coordinate in points[0::2]]
        curve[1::2] = [coordinate + shift_y for coordinate in points[1::2]]
        if wire.source < 0:
            curve[0:2] = starts[-1 - wire.source]
        else:
            offset = None
            if wire.source_port is not None:
                offset = layer.children[wire.source].outputs[wire.source_port]
            _attach(curve, 0, 2, _end_place(inside.boxes[wire.source], axis, offset, True))
        if wire.target < 0:
            curve[-2:] = ends[-1 - wire.target]
        else:
            offset = None
            if wire.target_port is not None:
                offset = layer.children[wire.target].inputs[wire.target_port]
            place = _end_place(inside.boxes[wire.target], axis, offset, False)
            _attach(curve, len(curve) - 2, -2, place)
        inside.curves.append(tuple([round(coordinate, 2) for coordinate in curve]))
    return inside


def _end_place(
    box: tuple[float, float, float, float], axis: int, offset: float | None, is_source: bool
) -> tuple[float, float]:
    """Return where an edge leaves a box or comes to it; in the middle of the side for None."""
    along = box[axis] + (box[axis + 2] / 2 if offset is None else offset)
    across = box[1 - axis] + (box[3 - axis] if is_source else 0.0)
    return (along, across) if axis == 0 else (across, along)


def _attach(curve: list[float], end: int, step: int, place: tuple[float, float]) -> None:
    """Move an end of an edge to its exact place, and the curve's next point along.

    Graphviz rounds a port's place to whole points and every place to five digits, and knows
    no ports on very large boxes.
    """
    for coordinate in (0, 1):
        drift = place[coordinate] - curve[end + coordinate]
        curve[end + coordinate] = place[coordinate]
        if abs(drift) < _MOST_DRIFT:
            curve[end + step + coordinate] += drift
