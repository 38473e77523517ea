"""Captions: what only moves a value, or computes with one number, is written on the stream.

Figures have boxes for what computes. What takes a part of a value, lays it out anew, or multiplies
it with a number stands on the line itself as a few quiet words, such as ``first 32 of 35``.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from netloupe.explorer.grouping import Group
from netloupe.explorer.grouping.member_nodes import list_nodes_inside
from netloupe.explorer.grouping.spilled_layouts import LAYOUT_BLOCKS
from netloupe.explorer.model import Graph, Node, find_nodes_where
from netloupe.explorer.operators import PASSING_TRAITS
from netloupe.explorer.view import Item

from .category import HUES, category_of_operator
from .face import Face, TextRun, TextStyle
from .facts import tell_number
from .operator_words import tell_settings
from .size_words import tell_sizes
from .sizes import OPENER, TEXT_STYLES
from .text import measure_text

#: what has more to say than this, in pixels, is a box
_MOST_WIDTH = 240.0
_STYLE: TextStyle = "title-muted"
#: rooms in pixels: of the line, down to its baseline, at either end and between pieces
_HEIGHT, _BASELINE, _PADDING, _GAP = 18.0, 13.0, 5.0, 5.0
#: what takes elements of one value and gives them as they are
_MOVING = (*PASSING_TRAITS, "gathers", "inserts_axes", "pads", "slices", "splits")
#: of preparation so many operators are named
_MOST_OPERATORS, _AND = 3, " · "
#: what takes a part, which its words tell without the operator's name
_PICKING = ("gathers", "slices")


def write_caption(item: Item, face: Face) -> Face:
    """Return the face of a box as a caption, where that says all that stands on it.

    Only where something in the graph computes, so that there is a stream to be written on.
    """
    element = item.element
    node = element.main if isinstance(element, Group) else element
    is_fit = (
        face.outline in ("node", "group")
        and face.category in ("plain", "preparation")
        and not face.stack
        and not face.badges
        and len(item.inputs) == 1
    )
    if not is_fit or not isinstance(element, Node | Group) or not _moves(element, node):
        return face
    if not _computes(element.graph):
        return face
    runs = [run for run in face.texts if run.anchor == "start"]
    if len({run.y for run in runs}) > 2:  # the title, and one row
        return face
    texts = [run.text for run in runs]
    if isinstance(element, Group) and element.kind == "preparation":
        texts = [_AND.join(_list_operators(element))]
    elif isinstance(node, Node) and len(texts) > 1 and _tells_itself(node):
        texts = [text for text in texts if text != node.op_type]
    has_opener = any(run.text == OPENER for run in face.texts)
    return _lay(texts, face, has_opener) or _lay(texts[:1], face, has_opener) or face


def _moves(element: Node | Group, node: object) -> bool:
    """Return whether a box only moves one value, or computes with one number."""
    if isinstance(element, Group) and element.kind == "block":
        is_named = element.recognised is not None and element.label not in LAYOUT_BLOCKS
        return not is_named and len(_list_operators(element)) > 0
    if isinstance(element, Group) and element.kind == "preparation":
        return 0 < len(_list_operators(element)) <= _MOST_OPERATORS and not element.facts
    if not isinstance(node, Node) or node.function is not None or node.subgraphs:
        return False
    return node.operator.has(*_MOVING) or tell_number(node) is not None


def _list_operators(group: Group) -> list[str]:
    """Return which operators a group consists of; nothing where one of them computes."""
    nodes = list_nodes_inside([group])
    if not all(node.operator.has(*_MOVING, "joins") for node in nodes):
        return []
    return [*dict.fromkeys(node.op_type for node in nodes)]


@lru_cache(maxsize=16)
def _computes(graph: Graph) -> bool:
    """Return whether any operator of a graph has a hue."""
    return len(find_nodes_where(graph, lambda one: _has_hue(one.domain, one.op_type))) > 0


def _has_hue(domain: str, op_type: str) -> bool:
    return category_of_operator(domain, op_type) in HUES


def _tells_itself(node: Node) -> bool:
    """Return whether what a node does is told in words that need no operator's name."""
    if tell_number(node) is not None:
        return True
    told = tell_settings(node) or tell_sizes(node)
    return node.operator.has(*_PICKING) and bool(told) and not told[0].startswith("axis")


def _lay(texts: list[str], face: Face, has_opener: bool) -> Face | None:
    """Return a caption of some texts in one line; None where there is no room."""
    runs = [*_place(texts)]
    end = runs[-1].x + measure_text(runs[-1].text, *TEXT_STYLES[_STYLE]) if runs else 0.0
    if has_opener:
        end += _GAP + measure_text(OPENER, *TEXT_STYLES[_STYLE])
        runs.append(TextRun(round(end, 2), _BASELINE, OPENER, _STYLE, "end"))
    width = round(end + _PADDING, 2)
    if width > _MOST_WIDTH:
        return None
    said = face.title or " ".join(run.text for run in face.texts if run.text != OPENER)
    shown = " ".join(texts)
    return Face(
        "caption",
        face.category,
        width,
        _HEIGHT,
        _HEIGHT,
        tuple(runs),
        title="" if said == shown else said,
    )


def _place(texts: list[str]) -> Iterator[TextRun]:
    x = _PADDING
    for text in texts:
        yield TextRun(round(x, 2), _BASELINE, text, _STYLE)
        x += measure_text(text, *TEXT_STYLES[_STYLE]) + _GAP
