"""The Scene: where everything is. Positions only; how it looks is the renderer's matter."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from netloupe.explorer.model import Value
from netloupe.explorer.view import Item

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
class Scene:
    """Everything that is drawn. Boxes come before the boxes inside them."""

    width: float
    height: float
    direction: Direction = "TB"
    boxes: list[SceneBox] = field(default_factory=list)
    edges: list[SceneEdge] = field(default_factory=list)
    ports: list[ScenePort] = field(default_factory=list)
    #: what the user should know, such as that a simpler layout is shown
    notices: list[str] = field(default_factory=list)
