"""Faces of items: what a node, a group, an input shows, and the size of its box."""

from __future__ import annotations

from netloupe.explorer.grouping import Group
from netloupe.explorer.model import Graph, Node
from netloupe.explorer.options import Details, Direction
from netloupe.explorer.view import Item

from .captions import write_caption
from .face import Face
from .fact_rows import FaceStyle
from .facts import NodeFacts
from .frames import make_frame
from .group_category import GroupCategories
from .group_faces import make_group_face
from .node_faces import make_node_face, make_operation_face
from .rows import MOST_CONSTANTS
from .value_faces import make_constant_face, make_stub_face, make_terminal_face


class FaceBook:
    """The faces of a view's items; each is made once, equal ones are one object.

    Parameters
    ----------
    details
        What stands on the boxes of nodes, as the option says.
    direction
        Of the picture. Where it runs down, height is scarce: facts stand in the line of the title
        where both fit.
    is_narrow
        Whether width is scarcer: facts stand below.
    has_controls
        Whether there is a sign on what can be opened.
    """

    def __init__(
        self,
        details: Details = "facts",
        direction: Direction = "TB",
        *,
        is_narrow: bool = False,
        has_controls: bool = True,
    ) -> None:
        self._categories = GroupCategories()
        self.has_controls = has_controls
        self._facts = NodeFacts() if details == "facts" else None
        self._in_line = details == "facts" and direction == "TB" and not is_narrow
        self._faces: dict[tuple[object, ...], Face] = {}
        self._distinct: dict[Face, Face] = {}

    def face(self, item: Item) -> Face:
        """Return what is drawn on an item's box."""
        key = (
            *(item.key, item.label, item.is_open, item.openable, len(item.merged)),
            *(item.shown, item.is_unrolled, item.unmatched, item.constants[: MOST_CONSTANTS + 1]),
            *(len(item.constants), len(item.stub_takers)),
        )
        face = self._faces.get(key)
        if face is None:
            face = make_face(
                item,
                self._facts,
                in_line=self._in_line,
                has_controls=self.has_controls,
                categories=self._categories,
            )
            face = self._faces[key] = self._distinct.setdefault(face, face)
        return face

    __call__ = face


def make_face(
    item: Item,
    facts: NodeFacts | None = None,
    *,
    in_line: bool = False,
    has_controls: bool = True,
    categories: GroupCategories | None = None,
) -> Face:
    """Make what is drawn on an item's box.

    Parameters
    ----------
    item
        What the box stands for.
    facts
        Tells what stands on the box of a node; None for all details.
    in_line
        Whether a single row may stand in the line of the title.
    has_controls
        Whether there is a sign on what can be opened.
    categories
        Finds the categories of groups.
    """
    element = item.element
    category = (categories or GroupCategories()).of_item(item)
    if item.is_open or item.kind == "root":
        return make_frame(item, category)
    style = FaceStyle(category, in_line, has_controls and item.openable)
    if isinstance(element, Node):
        face = make_node_face(item, element, facts, style)
        return face if facts is None else write_caption(item, face)
    if isinstance(element, Group) and element.main is not None and element.recognised is None:
        face = make_operation_face(item, element, element.main, facts or NodeFacts(), style)
        return face if facts is None else write_caption(item, face)
    if isinstance(element, Group | Graph):
        face = make_group_face(item, element, style)
        return face if facts is None else write_caption(item, face)
    if item.kind == "stub":
        return make_stub_face(item)
    if item.kind == "constant" and not item.merged:
        return make_constant_face(element)
    return make_terminal_face(item, element, style)
