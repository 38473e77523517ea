"""Composition: every open item is laid out alone, and the results are put into one another.

The children of an open item are boxes of known size: closed items as large as their faces,
open ones as large as their own layout has made them. Values that cross a border do so at a
port, which the outer layout knows the place of. The cost therefore depends on what is open,
and items of equal sizes and wiring are laid out once.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from netloupe.explorer.errors import LayoutError
from netloupe.explorer.model import Value
from netloupe.explorer.view import BORDER, Item, Link, View

from .dot import Child, Layer, Wire, write_dot
from .engine import LayoutEngine, Placement, shared_engine
from .labels import place_labels
from .scene import Direction, Scene, SceneBox, SceneEdge, ScenePort
from .simple import place_simply

#: seconds for the layout of a whole picture, unless the caller says otherwise
DEADLINE = 10.0
#: room between an open item's border and what is inside
SIDE = 18.0
TITLE_BAND = 30.0
END = 16.0
MARGIN = 16.0
#: an open item is made so much wider at most to keep its title clear of edges
MOST_WIDENING = 160.0
#: an end of an edge that is farther from its place takes the curve's next point not along
_MOST_DRIFT = 8.0


class Measure(Protocol):
    """What the layout asks of whoever knows faces: sizes, nothing else."""

    def size(self, item: Item) -> tuple[float, float]:
        """Return width and height of a closed item's box, or the least size of an open one."""
        ...

    def label(self, value: Value) -> tuple[str, float]:
        """Return the text beside an edge and its width; an empty text for none."""
        ...


@dataclass(slots=True)
class _Plan:
    """One open item on its way to being laid out."""

    item: Item
    layer: Layer
    links: list[Link]
    #: per child: index of the port of each value on an open child's borders
    inputs: list[Value]
    outputs: list[Value]
    width: float = 0.0
    height: float = 0.0
    shift_x: float = 0.0
    shift_y: float = 0.0
    placement: Placement | None = None
    input_offsets: tuple[float, ...] = ()
    output_offsets: tuple[float, ...] = ()
    #: inputs that nothing inside uses: an edge ends there
    idle: frozenset[Value] = frozenset()


class Composer:
    """Lays out views; keeps the placements of layers that it has seen.

    Parameters
    ----------
    engine
        The engine; the one shared in this process where None.
    """

    def __init__(self, engine: LayoutEngine | None = None) -> None:
        self._engine = engine
        self._placements: dict[str, Placement] = {}

    def compose(
        self,
        view: View,
        measure: Measure,
        direction: Direction = "TB",
        *,
        deadline: float = DEADLINE,
        cancelled: Callable[[], bool] | None = None,
    ) -> Scene:
        """Lay out everything that is open in a view.

        Parameters
        ----------
        view
            What is shown.
        measure
            Gives the sizes of boxes.
        direction
            ``TB``: values flow downwards; ``LR``: to the right.
        deadline
            Seconds; parts that are not ready by then get a simpler layout and the scene a
            notice.
        cancelled
            Asked now and then; True ends the layout.

        Raises
        ------
        LayoutError
            Where the layout was cancelled.
        """
        engine = self._engine or shared_engine()
        end = time.monotonic() + deadline
        plans: dict[str, _Plan] = {}
        notices: list[str] = []
        for item in reversed(list(view.open_items())):
            if cancelled is not None and cancelled():
                raise LayoutError("the layout was cancelled")
            plan = _plan_item(view, item, measure, direction, plans)
            left = max(0.0, end - time.monotonic())
            plan.placement = self._place(engine, plan.layer, left, cancelled, notices)
            _settle(plan, measure, direction)
            plans[item.key] = plan
        return _assemble(view, plans, measure, direction, list(dict.fromkeys(notices)))

    def _place(
        self,
        engine: LayoutEngine,
        layer: Layer,
        left: float,
        cancelled: Callable[[], bool] | None,
        notices: list[str],
    ) -> Placement:
        if len(layer.children) <= 1 and not layer.wires:
            return place_simply(layer)
        dot = write_dot(layer)
        placement = self._placements.get(dot)
        if placement is not None:
            return placement
        try:
            if left <= 0:
                raise LayoutError("the layout took too long and was stopped")
            placement = engine.place(dot, left, cancelled)
            if len(placement.nodes) < len(layer.children):
                raise LayoutError("Graphviz left out some of the boxes")
        except LayoutError as error:
            if cancelled is not None and cancelled():
                raise
            notices.append(f"Shown with a simpler layout: {error}.")
            return place_simply(layer)
        self._placements[dot] = placement
        return placement


def _plan_item(
    view: View, item: Item, measure: Measure, direction: Direction, plans: dict[str, _Plan]
) -> _Plan:
    """Describe an open item's inside as a layer; its open children are settled already."""
    layer = Layer(direction)
    for child in item.children:
        inner = plans.get(child.key) if child.is_open else None
        if inner is None:
            layer.children.append(Child(*measure.size(child)))
        else:
            layer.children.append(
                Child(inner.width, inner.height, inner.input_offsets, inner.output_offsets)
            )
    links = view.links(item)
    # what nothing inside uses ends at a port too, such as the condition of an If
    used = dict.fromkeys(link.source_value for link in links if link.source == BORDER)
    given = dict.fromkeys(link.target_value for link in links if link.target == BORDER)
    inputs, outputs = list(used), list(given)
    if item is not view.root:
        inputs += [value for value in item.inputs if value not in used]
        outputs += [value for value in item.outputs if value not in given]
    layer.input_count, layer.output_count = len(inputs), len(outputs)
    input_index = {value: index for index, value in enumerate(inputs)}
    output_index = {value: index for index, value in enumerate(outputs)}
    for link in links:
        if link.source == BORDER:
            source, source_port = -1 - input_index[link.source_value], None
        else:
            child = item.children[link.source]
            source = link.source
            source_port = _port_of(plans, child, link.source_value, "outputs")
        if link.target == BORDER:
            target, target_port = -1 - output_index[link.target_value], None
        else:
            child = item.children[link.target]
            target = link.target
            target_port = _port_of(plans, child, link.target_value, "inputs")
        is_stub = link.source >= 0 and item.children[link.source].kind == "stub"
        layer.wires.append(Wire(source, target, source_port, target_port, not is_stub))
    idle = frozenset(inputs[len(used) :])
    return _Plan(item, layer, links, inputs, outputs, idle=idle)


def _port_of(plans: dict[str, _Plan], child: Item, value: Value, side: str) -> int | None:
    plan = plans.get(child.key) if child.is_open else None
    if plan is None:
        return None
    values: list[Value] = getattr(plan, side)
    return values.index(value) if value in values else None


def _settle(plan: _Plan, measure: Measure, direction: Direction) -> None:
    """Find the size of an open item, and where its ports are on its border."""
    placement = plan.placement
    assert placement is not None  # noqa: S101 - set just before
    layer = plan.layer
    if plan.item.parent is None:
        plan.width, plan.height = placement.width + 2 * MARGIN, placement.height + 2 * MARGIN
        plan.shift_x = plan.shift_y = MARGIN
        return
    least_width, _ = measure.size(plan.item)
    if direction == "TB":
        plan.width = max(placement.width + 2 * SIDE, least_width)
        plan.shift_x = (plan.width - placement.width) / 2
        widening = _room_for_title(plan, least_width)
        plan.width += widening
        plan.shift_x += widening
        # border ports are nodes of the first rank: their middle lies on the border
        plan.shift_y = -3.0 if layer.input_count else TITLE_BAND
        bottom = -3.0 if layer.output_count else END
        plan.height = placement.height + plan.shift_y + bottom
        if layer.input_count and not layer.wires:
            plan.height += TITLE_BAND
    else:
        plan.shift_x = -3.0 if layer.input_count else SIDE
        right = -3.0 if layer.output_count else SIDE
        plan.shift_y = TITLE_BAND
        plan.width = max(placement.width + plan.shift_x + right, least_width)
        plan.height = placement.height + TITLE_BAND + END
    axis, shift = (0, plan.shift_x) if direction == "TB" else (1, plan.shift_y)
    plan.input_offsets = tuple(
        placement.nodes[f"i{n}"][axis] + shift for n in range(layer.input_count)
    )
    plan.output_offsets = tuple(
        placement.nodes[f"o{n}"][axis] + shift for n in range(layer.output_count)
    )


def _room_for_title(plan: _Plan, title_width: float) -> float:
    """Return how much wider an open item must be at its left for edges to miss its title."""
    placement = plan.placement
    assert placement is not None  # noqa: S101 - set by the caller
    ports = [placement.nodes[f"i{n}"][0] for n in range(plan.layer.input_count)]
    if not ports:
        return 0.0
    missing = title_width - (min(ports) + plan.shift_x)
    return missing if 0 < missing <= MOST_WIDENING else 0.0


@dataclass(slots=True)
class _Frame:
    plan: _Plan
    x: float
    y: float
    box: int
    depth: int
    plans: dict[str, _Plan]
    boxes: list[int] = field(default_factory=list)

    def ends_at(self, link: Link) -> bool:
        """Return whether an edge ends at its target and does not go on inside."""
        child = self.plan.item.children[link.target]
        return not child.is_open or link.target_value in self.plans[child.key].idle


def _assemble(
    view: View,
    plans: dict[str, _Plan],
    measure: Measure,
    direction: Direction,
    notices: list[str],
) -> Scene:
    """Give everything its place in the scene, from the outside inwards."""
    root = plans[view.root.key]
    scene = Scene(root.width, root.height, direction, notices=notices)
    pending = [_Frame(root, 0.0, 0.0, -1, 0, plans)]
    while pending:
        frame = pending.pop()
        plan = frame.plan
        placement = plan.placement
        assert placement is not None  # noqa: S101 - every plan is placed
        left, top = frame.x + plan.shift_x, frame.y + plan.shift_y
        inner: list[_Frame] = []
        for index, child in enumerate(plan.item.children):
            size = plan.layer.children[index]
            x, y = placement.nodes[f"n{index}"]
            box = SceneBox(
                child,
                left + x - size.width / 2,
                top + y - size.height / 2,
                size.width,
                size.height,
                frame.box,
                frame.depth,
            )
            frame.boxes.append(len(scene.boxes))
            if child.is_open:
                number = len(scene.boxes)
                inner.append(_Frame(plans[child.key], box.x, box.y, number, frame.depth + 1, plans))
            scene.boxes.append(box)
        _add_edges(scene, frame, left, top)
        if frame.box >= 0:
            _add_ports(scene, frame)
        pending.extend(reversed(inner))
    place_labels(scene, measure.label)
    return scene


def _add_edges(scene: Scene, frame: _Frame, left: float, top: float) -> None:
    plan = frame.plan
    placement = plan.placement
    assert placement is not None  # noqa: S101 - every plan is placed
    body = plan.item.body
    assert body is not None  # noqa: S101 - open items have a body
    prefix, graph = body.prefix, body.graph
    for number, (link, wire) in enumerate(zip(plan.links, plan.layer.wires, strict=True)):
        points = placement.edges.get(str(number), ())
        if not points:
            continue
        moved = [
            round(coordinate + (top if position % 2 else left), 2)
            for position, coordinate in enumerate(points)
        ]
        _attach_ends(scene, frame, wire, moved)
        _attach_to_border(scene, frame, wire, moved)
        value = link.value
        scene.edges.append(
            SceneEdge(
                value,
                f"{prefix}/%{value.name}" if value.graph is graph else value.path,
                frame.box if link.source == BORDER else frame.boxes[link.source],
                frame.box if link.target == BORDER else frame.boxes[link.target],
                tuple(moved),
                link.kind,
                arrow=link.target != BORDER and frame.ends_at(link),
            )
        )


def _attach_ends(scene: Scene, frame: _Frame, wire: Wire, points: list[float]) -> None:
    """Move the ends of an edge to the exact places on the boxes that it belongs to.

    Graphviz rounds a port's place to whole points and every place to five digits, and knows
    no ports on very large boxes.
    """
    layer = frame.plan.layer
    axis = 0 if layer.direction == "TB" else 1
    for index, port, side, end in (
        (wire.source, wire.source_port, "outputs", 0),
        (wire.target, wire.target_port, "inputs", len(points) - 2),
    ):
        if index < 0:
            continue
        child = layer.children[index]
        box = scene.boxes[frame.boxes[index]]
        extents = (box.width, box.height)
        offset = extents[axis] / 2 if port is None else getattr(child, side)[port]
        far = extents[1 - axis] if side == "outputs" else 0.0
        exact = [0.0, 0.0]
        exact[axis] = (box.x, box.y)[axis] + offset
        exact[1 - axis] = (box.x, box.y)[1 - axis] + far
        neighbour = end + 2 if end == 0 else end - 2
        for coordinate in (0, 1):
            drift = exact[coordinate] - points[end + coordinate]
            points[end + coordinate] = round(exact[coordinate], 2)
            if abs(drift) < _MOST_DRIFT and 0 <= neighbour < len(points):
                points[neighbour + coordinate] = round(points[neighbour + coordinate] + drift, 2)


def _attach_to_border(scene: Scene, frame: _Frame, wire: Wire, points: list[float]) -> None:
    """Move the ends of an edge that goes on outside into the middle of its border port."""
    if frame.box < 0:
        return
    box = scene.boxes[frame.box]
    for index, offsets, end, far in (
        (wire.source, frame.plan.input_offsets, 0, 0.0),
        (wire.target, frame.plan.output_offsets, len(points) - 2, 1.0),
    ):
        if index < 0:
            x, y = _port_place(scene.direction, box, offsets[-1 - index], far)
            points[end : end + 2] = round(x, 2), round(y, 2)


def _port_place(
    direction: Direction, box: SceneBox, offset: float, far: float
) -> tuple[float, float]:
    """Return where a port is; ``far`` is 0 on the border of inputs and 1 on that of outputs."""
    if direction == "TB":
        return box.x + offset, box.y + far * box.height
    return box.x + far * box.width, box.y + offset


def _add_ports(scene: Scene, frame: _Frame) -> None:
    plan = frame.plan
    box = scene.boxes[frame.box]
    outside = plan.item.instance
    for values, offsets, far in (
        (plan.inputs, plan.input_offsets, 0.0),
        (plan.outputs, plan.output_offsets, 1.0),
    ):
        for value, offset in zip(values, offsets, strict=True):
            x, y = _port_place(scene.direction, box, offset, far)
            path = value.path
            if value.graph is outside.graph:
                path = f"{outside.prefix}/%{value.name}"
            scene.ports.append(ScenePort(round(x, 2), round(y, 2), frame.box, path))
