"""The Scene: where everything is. Positions only; how it looks is the renderer's matter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from netloupe.explorer.model import Value
from netloupe.explorer.options import Direction
from netloupe.explorer.view import Item

from .placement import Curves, Floats

EdgeKind = Literal["data", "captured", "control", "former", "newer", "loop"]


class SceneBox(NamedTuple):
    """A placed item.

    Parameters
    ----------
    item
        What the box shows.
    x, y, width, height
        Left, top and size in pixels at zoom 1, from the scene's top left corner.
    parent
        Index of the enclosing box in :attr:`Scene.boxes`; -1 for the outermost ones.
    depth
        Number of boxes around it.
    enters, leaves
        Of an open group that is cut into columns: where the stream comes in from the column
        before and where it goes on to the next, from the left (LR: the top) of this part of the
        group; None at an end that is the group's own.
    """

    item: Item
    x: float
    y: float
    width: float
    height: float
    parent: int
    depth: int
    enters: float | None = None
    leaves: float | None = None


class SceneEdge(NamedTuple):
    """A drawn connection between two boxes of one level, or between a border and a box inside.

    Parameters
    ----------
    path
        The value's path in the view.
    source, target
        Indexes of the boxes at the ends. Where one end is the enclosing open box (the edge
        goes on outside its wall), that end is the enclosing box's index, or -1 for none.
    points
        Cubic Bézier curve: start, then three points for each piece; x and y in turn.
    kind
        ``data``, ``captured`` (dashed), ``control`` (dotted), or ``loop``: a back edge (bold).
    arrow
        Whether the end has an arrow head (it has none at a border).
    label, label_x, label_y
        Text and its centre; the text is empty where there is no room.
    bundle
        The paths of all values that flow here where there are several, ``path`` first.
    is_stream
        Whether it is of the main stream.
    """

    value: Value
    path: str
    source: int
    target: int
    points: tuple[float, ...]
    kind: EdgeKind = "data"
    arrow: bool = True
    label: str = ""
    label_x: float = 0.0
    label_y: float = 0.0
    bundle: tuple[str, ...] = ()
    is_stream: bool = False

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of all values that flow here."""
        return self.bundle or (self.path,)


class ScenePort(NamedTuple):
    """The place on an open box's border where a value passes."""

    x: float
    y: float
    box: int
    path: str


class LevelEdge(NamedTuple):
    """An edge of a level; source and target number the level's boxes, -1 is its border.

    ``source_value`` and ``target_value`` are the values under which the two ends know it,
    ``bundle`` has the paths of all its values where there are several, ``path`` first; ``times``
    says how many these are, also where they are too many to be listed. ``is_stream`` tells
    whether it is of the main stream; ``name`` is written beside what only other repetitions know,
    or give.
    """

    value: Value
    path: str
    source: int
    target: int
    kind: EdgeKind
    arrow: bool
    source_value: Value | None = None
    target_value: Value | None = None
    bundle: tuple[str, ...] = ()
    times: int = 1
    is_stream: bool = False
    name: str = ""

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of all values that flow here."""
        return self.bundle or (self.path,)


@dataclass(frozen=True, slots=True, eq=False)
class Inside:
    """Where the contents of an open item are, from its top left corner.

    Parameters
    ----------
    width, height
        Size of the open item.
    boxes
        Shape (children, 4): left, top, width and height of each child.
    curves
        The edges.
    inputs, outputs
        Where along the border values come in and where they leave.
    ports
        Shape (ports, 2): places of those that run on inside, inputs first.
    columns
        Number of columns or rows that the contents are cut into.
    titles
        Shape (areas, 4): left, top, right and bottom of where the item's title is written.
    left, top
        Room that is kept beside the item and above it, for the back edge of a loop.
    """

    width: float
    height: float
    boxes: Floats
    curves: Curves
    inputs: tuple[float, ...]
    outputs: tuple[float, ...]
    ports: Floats
    columns: int = 1
    titles: Floats = field(default_factory=lambda: np.zeros((0, 4)))
    left: float = 0.0
    top: float = 0.0

    def __post_init__(self) -> None:
        for places in (self.boxes, self.ports, self.curves.points, self.titles):
            places.flags.writeable = False

    @property
    def weight(self) -> int:
        """How many numbers it holds, about."""
        return 8 * len(self.boxes) + 2 * len(self.curves.points)


@dataclass(frozen=True, slots=True, eq=False)
class SceneLevel:
    """The inside of one open item, placed, in coordinates from the item's top left corner.

    Levels are never changed: an item whose inside changes gets a new one.

    Parameters
    ----------
    id
        Unique among the levels of a composer.
    item
        The open item.
    inside
        Where everything is; shared by levels that look alike.
    edges
        What flows along the curves of ``inside``, in their order.
    ports
        Paths of the values that run on across the item's border, inputs first.
    texts, places
        Text beside each edge, and its centre in an array of shape (edges, 2); NaN where there
        is no room or nothing to say.
    inner
        The levels of those children that are open, by their number.
    revisions
        Those of the children when the level was made; none where it is made by hand.
    notices
        What is to be said of it and of what is inside.
    boxes_total, edges_total, ports_total, levels_total
        Counts of what is drawn, inner levels included.
    is_wrapped
        Whether this or anything inside is cut into columns.
    """

    id: int
    item: Item
    inside: Inside
    edges: Sequence[LevelEdge]
    ports: Sequence[str]
    texts: Sequence[str]
    places: Floats
    inner: Mapping[int, SceneLevel]
    children: Sequence[Item]
    revisions: Sequence[int] = ()
    notices: tuple[str, ...] = ()
    boxes_total: int = field(init=False)
    edges_total: int = field(init=False)
    ports_total: int = field(init=False)
    levels_total: int = field(init=False)
    is_wrapped: bool = field(init=False)

    def __post_init__(self) -> None:
        inner = self.inner.values()
        found = {
            "boxes_total": len(self.children) + sum([level.boxes_total for level in inner]),
            "edges_total": self.inside.curves.drawn_count
            + sum([level.edges_total for level in inner]),
            "ports_total": len(self.ports) + sum([level.ports_total for level in inner]),
            "levels_total": 1 + sum([level.levels_total for level in inner]),
            "is_wrapped": self.inside.columns > 1 or any(level.is_wrapped for level in inner),
        }
        for name, value in found.items():
            object.__setattr__(self, name, value)


class Zoom(NamedTuple):
    """Two lines from the corners of a closed box to those of a frame that shows its inside.

    Parameters
    ----------
    near, near_top, near_bottom
        Where the box ends towards the frame, from the left and from above; in a picture that
        runs to the right the other way round.
    bend
        Up to where the lines run straight away from the box.
    far, far_top, far_bottom
        Where the frame ends towards the box.
    side
        1 where the frame is right of the box, or below it, else -1.
    is_turned
        Whether the picture runs to the right.
    """

    near: float
    near_top: float
    near_bottom: float
    bend: float
    far: float
    far_top: float
    far_bottom: float
    side: int
    is_turned: bool = False

    @property
    def lines(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """The corners of the upper and of the lower line, as x and y in turn."""
        upper = (self.near, self.near_top, self.bend, self.near_top, self.far, self.far_top)
        lower = (
            self.near,
            self.near_bottom,
            self.bend,
            self.near_bottom,
            self.far,
            self.far_bottom,
        )
        return self._turn(upper), self._turn(lower)

    def _turn(self, points: tuple[float, ...]) -> tuple[float, ...]:
        return tuple(points[n ^ 1] for n in range(len(points))) if self.is_turned else points


class Flat(NamedTuple):
    """All boxes, edges and ports in places of the scene."""

    boxes: tuple[SceneBox, ...]
    edges: tuple[SceneEdge, ...]
    ports: tuple[ScenePort, ...]


_NOTHING = Flat((), (), ())


@dataclass(frozen=True, eq=False)
class Scene:
    """Everything that is drawn; nothing in it changes, another picture is another scene.

    Parameters
    ----------
    width, height
        Size in pixels at zoom 1.
    notices
        What the user should know, such as that a simpler layout is shown.
    root
        The outermost level; None for a scene made by hand.
    is_extreme
        Whether it is so long that it should be shown wrapped into columns, or is so already.
    by_hand
        What is in a scene made by hand.
    zooms
        What joins closed boxes with their insides, where these are drawn beside them.
    """

    width: float
    height: float
    direction: Direction = "TB"
    notices: tuple[str, ...] = ()
    root: SceneLevel | None = None
    is_extreme: bool = False
    by_hand: Flat = _NOTHING
    zooms: tuple[Zoom, ...] = ()

    @property
    def boxes(self) -> tuple[SceneBox, ...]:
        """All boxes, in places of the scene; boxes come before the boxes inside them."""
        return self._flat.boxes

    @property
    def edges(self) -> tuple[SceneEdge, ...]:
        """All edges, in places of the scene."""
        return self._flat.edges

    @property
    def ports(self) -> tuple[ScenePort, ...]:
        """All ports, in places of the scene."""
        return self._flat.ports

    @cached_property
    def _flat(self) -> Flat:
        return self.by_hand if self.root is None else flatten(self.root)


def flatten(root: SceneLevel) -> Flat:
    """Return what is in a level and in those inside it, in places of the scene."""
    all_boxes: list[SceneBox] = []
    all_edges: list[SceneEdge] = []
    all_ports: list[ScenePort] = []
    pending: list[tuple[SceneLevel, float, float, int, int]] = [(root, 0.0, 0.0, -1, 0)]
    while pending:
        level, left, top, parent, depth = pending.pop()
        inside = level.inside
        first = len(all_boxes)
        corner = np.array((left, top))
        moved = inside.boxes + np.array((left, top, 0.0, 0.0))
        boxes = moved.tolist()
        for child, (x, y, width, height) in zip(level.children, boxes, strict=True):
            all_boxes.append(SceneBox(child, x, y, width, height, parent, depth))
        all_edges += _place_edges(level, corner, parent, first)
        ports = np.round(inside.ports + corner, 2).tolist()
        for path, (x, y) in zip(level.ports, ports, strict=False):
            all_ports.append(ScenePort(x, y, parent, path))
        for number, inner in reversed([*level.inner.items()]):
            x, y, _, _ = boxes[number]
            pending.append((inner, x, y, first + number, depth + 1))
    return Flat(tuple(all_boxes), tuple(all_edges), tuple(all_ports))


def _place_edges(level: SceneLevel, corner: Floats, parent: int, first: int) -> Iterator[SceneEdge]:
    """Yield the edges of a level whose boxes begin at a number, moved to their place."""
    curves = level.inside.curves
    curves = Curves(np.round(curves.points + corner, 2), curves.starts)
    is_placed = ~np.isnan(level.places[:, 0])
    places = np.where(is_placed[:, None], np.round(level.places + corner, 2), 0.0)
    for edge, curve, text, has_room, (x, y) in zip(
        level.edges,
        curves.tuples(),
        level.texts,
        is_placed.tolist(),
        places.tolist(),
        strict=True,
    ):
        if not curve:
            continue
        yield SceneEdge(
            edge.value,
            edge.path,
            parent if edge.source < 0 else first + edge.source,
            parent if edge.target < 0 else first + edge.target,
            curve,
            edge.kind,
            edge.arrow,
            text if has_room else "",
            x,
            y,
            edge.bundle,
            edge.is_stream,
        )
