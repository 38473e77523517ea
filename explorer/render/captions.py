"""Captions: what only moves a value, or computes with one number, is written on the stream.

Figures have boxes for what computes. What takes a part of a value, lays it out anew, or multiplies
it with a number stands on the line itself as a few quiet words, such as ``first 32 of 35``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from netloupe.explorer.grouping import Group
from netloupe.explorer.grouping.member_nodes import list_nodes_inside
from netloupe.explorer.grouping.spilled_layouts import LAYOUT_BLOCKS
from netloupe.explorer.model import Graph, Node, find_nodes_where
from netloupe.explorer.model.kept import find_kept
from netloupe.explorer.operators import TAKING_TRAITS
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
#: before the sign of what can be opened, which is no part of what is said
_OPENER_GAP = 12.0
#: the title, and one row
_MOST_LINES = 2
#: more pieces that are taken alike nobody looks at one by one
_MOST_ALIKE = 1_000
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
        and not face.badges
        and len(item.inputs) == 1
    )
    if not is_fit or not isinstance(element, Node | Group) or not _moves(element, node):
        return face
    if not _computes(element.graph):
        return face
    runs = [run for run in face.texts if run.anchor == "start"]
    if len({run.y for run in runs}) > _MOST_LINES:
        return face
    texts = [run.text for run in runs]
    if face.stack:
        texts += [run.text for run in face.texts if run.text.startswith("×")]
    if isinstance(element, Group) and element.kind == "preparation":
        texts = [_AND.join(_list_operators(element))]
    elif len(texts) > 1 and _tells_itself(element, node, texts[1]):
        names = {one.op_type for one in list_nodes_inside([element])}
        texts = [text for text in texts if text not in names]
    has_opener = any(run.text == OPENER for run in face.texts)
    return _lay(texts, face, has_opener) or _lay(texts[:1], face, has_opener) or face


def _moves(element: Node | Group, node: object) -> bool:
    """Return whether a box only moves one value, or computes with one number."""
    if isinstance(element, Group) and element.kind == "block":
        operators = _list_operators(element)
        found = element.recognised
        is_named = found is not None and found.name not in (*LAYOUT_BLOCKS, *operators)
        return len(operators) > 0 and not is_named
    if isinstance(element, Group) and element.kind == "repeat":
        return len(element.children) <= _MOST_ALIKE and all(
            isinstance(one, Node) and one.operator.has(*TAKING_TRAITS) for one in element.children
        )
    if isinstance(element, Group) and element.kind == "preparation":
        return 0 < len(_list_operators(element)) <= _MOST_OPERATORS and not element.facts
    if not isinstance(node, Node) or node.function is not None or node.subgraphs:
        return False
    return node.operator.has(*TAKING_TRAITS) or tell_number(node) is not None


def _list_operators(group: Group) -> list[str]:
    """Return which operators a group consists of; nothing where one of them computes."""
    nodes = list_nodes_inside([group])
    if not all(node.operator.has(*TAKING_TRAITS, "joins") for node in nodes):
        return []
    return [*dict.fromkeys(node.op_type for node in nodes)]


class _Stream(NamedTuple):
    """Whether any operator of a graph has a hue, so that there is a stream."""

    is_there: bool


def _computes(graph: Graph) -> bool:
    return find_kept(graph, _Stream, lambda: _Stream(_has_hue(graph))).is_there


def _has_hue(graph: Graph) -> bool:
    found = find_nodes_where(
        graph, lambda one: category_of_operator(one.domain, one.op_type) in HUES
    )
    return len(found) > 0


def _tells_itself(element: Node | Group, node: object, told: str) -> bool:
    """Return whether what is told of a box needs no operator's name: a part, or a number."""
    if isinstance(node, Node):
        is_part = node.operator.has(*_PICKING) and bool(tell_settings(node) or tell_sizes(node))
        if not is_part and tell_number(node) is None:
            return False
    elif not isinstance(element, Group) or element.kind != "block":
        return False
    return not told.startswith("axis")


def _lay(texts: list[str], face: Face, has_opener: bool) -> Face | None:
    """Return a caption of some texts in one line; None where there is no room."""
    runs = [*_place(texts)]
    end = runs[-1].x + measure_text(runs[-1].text, *TEXT_STYLES[_STYLE]) if runs else 0.0
    if has_opener:
        end += _OPENER_GAP + measure_text(OPENER, *TEXT_STYLES[_STYLE])
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
