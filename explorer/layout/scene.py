"""The Scene: where everything is. Positions only; how it looks is the renderer's matter."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from netloupe.explorer.model import Value
from netloupe.explorer.view import Item

from .placement import Curves, Floats

if TYPE_CHECKING:
    from .assembly import Assembly
    from .layer import Layer
    from .plan import Plan
    from .steady import PieceHistory

Direction = Literal["TB", "LR"]
EdgeKind = Literal["data", "captured", "control"]


@dataclass(slots=True)
class SceneBox:
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
    """

    item: Item
    x: float
    y: float
    width: float
    height: float
    parent: int
    depth: int


@dataclass(slots=True)
class SceneEdge:
    """A drawn connection between two boxes of one level, or between a border and a box inside.

    Parameters
    ----------
    value
        What flows.
    path
        The value's path in the view.
    source, target
        Indexes of the boxes at the ends. Where one end is the enclosing open box (the edge
        goes on outside its wall), that end is the enclosing box's index, or -1 for none.
    points
        Cubic Bézier curve: start, then three points for each piece; x and y in turn.
    kind
        ``data``, ``captured`` (dashed) or ``control`` (dotted).
    arrow
        Whether the end has an arrow head (it has none at a border).
    label, label_x, label_y
        Text and its centre; the text is empty where there is no room.
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


@dataclass(slots=True)
class ScenePort:
    """The place on an open box's border where a value passes."""

    x: float
    y: float
    box: int
    path: str


@dataclass(slots=True)
class LayerEdge:
    """An edge of a layer; source and target number the layer's boxes, -1 is its border.

    ``source_value`` and ``target_value`` are the values under which the two ends know it,
    ``bundle`` has the paths of all its values where there are several, ``path`` first.
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


@dataclass(slots=True, eq=False)
class SceneLayer:
    """The inside of one open item, placed, in coordinates from the item's top left corner.

    Layers are never changed: an item whose inside changes gets a new one.

    Parameters
    ----------
    id
        Unique among the layers of a composer.
    item
        The open item.
    revision
        That of the item when the layer was made.
    inside
        Where everything is; shared by layers that look alike.
    edges
        What flows along the curves of ``inside``, in their order.
    ports
        Paths of the values that pass the item's border, inputs first.
    texts, places
        Text beside each edge, and its centre in an array of shape (edges, 2); NaN where there
        is no room or nothing to say.
    inner
        The layers of those children that are open, by their number.
    children
        The boxes' items.
    borders
        Which port stands for which value.
    history
        What the item looked like before; None where it has not changed since it was opened.
    notices
        What is to be said of it and of what is inside.
    plan
        What was laid out, by which the next layer of the item is found with little work; None
        for a layer made by hand.
    boxes_total, edges_total, ports_total, layers_total
        Counts, those inside inner layers included.
    is_wrapped
        Whether this or anything inside is cut into columns.
    """

    id: int
    item: Item
    revision: int
    inside: Inside
    edges: list[LayerEdge]
    ports: list[str]
    texts: list[str]
    places: Floats
    inner: dict[int, SceneLayer]
    children: list[Item]
    borders: Borders
    history: PieceHistory | None = None
    notices: tuple[str, ...] = ()
    plan: Plan | None = None
    boxes_total: int = 0
    edges_total: int = 0
    ports_total: int = 0
    layers_total: int = 0
    is_wrapped: bool = False

    @property
    def revisions(self) -> list[int]:
        """The revisions of the children when it was made; none where it is made by hand."""
        return self.plan.revisions if self.plan is not None else []

    def __post_init__(self) -> None:
        inner = self.inner.values()
        self.boxes_total = len(self.children) + sum([layer.boxes_total for layer in inner])
        self.edges_total = len(self.edges) + sum([layer.edges_total for layer in inner])
        self.ports_total = len(self.ports) + sum([layer.ports_total for layer in inner])
        self.layers_total = 1 + sum([layer.layers_total for layer in inner])
        self.is_wrapped = self.inside.wrapped > 1 or any(layer.is_wrapped for layer in inner)


def _no_points() -> Floats:
    return np.zeros((0, 2))


@dataclass(slots=True, eq=False)
class Inside:
    """Where the contents of an open item are, from its top left corner.

    Parameters
    ----------
    width, height
        Size of the open item.
    layer
        What was placed.
    boxes
        Shape (children, 4): left, top, width and height of each child.
    curves
        The edges.
    inputs, outputs
        Offsets of the ports along the border where values come in and where they leave.
    ports
        Shape (ports, 2): places of the ports, inputs first.
    wrapped
        Number of columns or rows that the contents are cut into.
    labels
        Places of labels that were found, by what is open and written.
    assembly
        The pieces that it was put together from; None where it is made by hand.
    """

    width: float
    height: float
    layer: Layer
    boxes: Floats = field(default_factory=lambda: np.zeros((0, 4)))
    curves: Curves = field(default_factory=lambda: Curves.of([]))
    inputs: tuple[float, ...] = ()
    outputs: tuple[float, ...] = ()
    ports: Floats = field(default_factory=_no_points)
    wrapped: int = 1
    labels: dict[Hashable, Floats] = field(default_factory=dict)
    assembly: Assembly | None = None

    @property
    def weight(self) -> int:
        """How many numbers it holds, about."""
        return 8 * len(self.boxes) + 2 * len(self.curves.points)


@dataclass(frozen=True, slots=True)
class Borders:
    """Which port of an open item stands for which value, and which inputs nothing inside uses."""

    inputs: dict[Value, int]
    outputs: dict[Value, int]
    idle: frozenset[Value]


class Scene:
    """Everything that is drawn.

    A composer gives a tree of layers, of which the lists of boxes, edges and ports are made
    when they are first asked for. Boxes come before the boxes inside them.
    """

    def __init__(
        self,
        width: float,
        height: float,
        direction: Direction = "TB",
        boxes: list[SceneBox] | None = None,
        edges: list[SceneEdge] | None = None,
        ports: list[ScenePort] | None = None,
        notices: list[str] | None = None,
        *,
        root: SceneLayer | None = None,
        is_extreme: bool = False,
    ) -> None:
        self.width = width
        self.height = height
        self.direction: Direction = direction
        #: what the user should know, such as that a simpler layout is shown
        self.notices = notices or []
        #: the outermost layer; None for a scene made by hand
        self.root = root
        #: whether it is so long that it should be shown wrapped into columns
        self.is_extreme = is_extreme
        self._boxes = boxes or []
        self._edges = edges or []
        self._ports = ports or []
        self._is_flat = root is None

    @property
    def boxes(self) -> list[SceneBox]:
        """All boxes, in places of the scene."""
        self._flatten()
        return self._boxes

    @property
    def edges(self) -> list[SceneEdge]:
        """All edges, in places of the scene."""
        self._flatten()
        return self._edges

    @property
    def ports(self) -> list[ScenePort]:
        """All ports, in places of the scene."""
        self._flatten()
        return self._ports

    def _flatten(self) -> None:
        if self._is_flat or self.root is None:
            return
        self._is_flat = True
        pending: list[tuple[SceneLayer, float, float, int, int]] = [(self.root, 0.0, 0.0, -1, 0)]
        while pending:
            layer, left, top, parent, depth = pending.pop()
            inside = layer.inside
            first = len(self._boxes)
            corner = np.array((left, top))
            moved = inside.boxes + np.array((left, top, 0.0, 0.0))
            boxes = moved.tolist()
            for child, (x, y, width, height) in zip(layer.children, boxes, strict=True):
                self._boxes.append(SceneBox(child, x, y, width, height, parent, depth))
            self._add_edges(layer, left, top, parent, first)
            ports = np.round(inside.ports + corner, 2).tolist()
            for path, (x, y) in zip(layer.ports, ports, strict=False):
                self._ports.append(ScenePort(x, y, parent, path))
            for number in reversed(layer.inner):
                x, y, _, _ = boxes[number]
                inner = layer.inner[number]
                pending.append((inner, x, y, first + number, depth + 1))

    def _add_edges(
        self, layer: SceneLayer, left: float, top: float, parent: int, first: int
    ) -> None:
        corner = np.array((left, top))
        curves = layer.inside.curves
        curves = Curves(np.round(curves.points + corner, 2), curves.starts)
        is_placed = ~np.isnan(layer.places[:, 0])
        places = np.where(is_placed[:, None], np.round(layer.places + corner, 2), 0.0)
        for edge, curve, text, has_room, (x, y) in zip(
            layer.edges,
            curves.tuples(),
            layer.texts,
            is_placed.tolist(),
            places.tolist(),
            strict=True,
        ):
            if not curve:
                continue
            self._edges.append(
                SceneEdge(
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
                )
            )
