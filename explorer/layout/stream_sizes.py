"""Where along the main stream of a level its size changes, and what is written there.

Figures say the size beside the stream where resolution or width change, once for each change,
and only at the top and inside stages: in blocks it would repeat what their facts say.
"""

from __future__ import annotations

from collections.abc import Iterable

from netloupe.explorer.grouping import Group
from netloupe.explorer.view import Item

from .scene import LevelEdge
from .value_sizes import Size, ValueSizes

#: a stream of more edges is no figure's
_MOST_EDGES = 400


def is_stage(item: Item) -> bool:
    """Return whether sizes are told inside an open item.

    That is so at the top and in groups that are neither a block of a known kind nor a repetition,
    nor inside one.
    """
    outer: Item | None = item
    while outer is not None and outer.kind != "root":
        element = outer.element
        if not isinstance(element, Group) or element.kind == "repeat":
            return False
        recognition = element.recognised
        if recognition is not None and recognition.family != "group":
            return False
        outer = outer.parent
    return not item.is_terminal


def list_changes(
    edges: list[LevelEdge], children: list[Item], stream: Iterable[int], sizes: ValueSizes
) -> dict[int, str]:
    """Return what is written beside those edges of a level's main stream where its size changes.

    Nothing is written at inputs and outputs of the graph, whose boxes tell their types, nor the
    size that leaves at a border, where it stands outside.

    Parameters
    ----------
    edges, children
        Of the level.
    stream
        The edges of the main stream, in any order.
    sizes
        Those of the model's values.
    """
    found: dict[int, str] = {}
    chain = order_stream(edges, stream)
    if len(chain) > _MOST_EDGES:
        return found
    last: Size | None = None
    usual = ""
    known = [(number, size) for number in chain if (size := _find_size(edges[number], sizes))]
    end = edges[chain[-1]].target if chain else 0
    outside = known[-1][1] if known and (end < 0 or children[end].kind == "output") else None
    for number, size in known:
        edge = edges[number]
        text = _tell_change(last, size, usual)
        if "float" in size.dtype and not usual:
            usual = size.dtype
        last = size
        is_said = outside is not None and text == outside.write()
        if text and not is_said and edge.times < 2 and _has_room(edge, children):
            found[number] = text
    return found


def _find_size(edge: LevelEdge, sizes: ValueSizes) -> Size | None:
    return None if edge.kind in ("control", "former") else sizes.find(edge.value)


def order_stream(edges: list[LevelEdge], stream: Iterable[int]) -> list[int]:
    """Return the edges of one way through a level in the order of flow."""
    numbers = list(stream)
    after = {edges[number].source: number for number in numbers}
    targets = {edges[number].target for number in numbers}
    start = next((n for n in numbers if edges[n].source not in targets or edges[n].source < 0), -1)
    chain: list[int] = []
    while start >= 0 and len(chain) < len(numbers):
        chain.append(start)
        target = edges[start].target
        start = after.get(target, -1) if target >= 0 else -1
    return chain


def _has_room(edge: LevelEdge, children: list[Item]) -> bool:
    if min(edge.source, edge.target) < 0:
        return False
    ends = children[edge.source].kind, children[edge.target].kind
    return ends[0] not in ("input", "stub", "constant") and ends[1] != "output"


def _tell_change(last: Size | None, size: Size, usual: str) -> str:
    """Return what is said of a size that comes after another; "" where it is nothing new.

    An element type is told where it changes; that of the first real numbers that are computed
    from indices is the usual one.
    """
    if last is None or last.dims != size.dims:
        is_list = not size.places and (last is None or not last.places)
        text = "" if is_list else size.write()  # of lists boxes tell their widths
    else:
        text = ""
    is_cast = usual and last is not None and "" not in (last.dtype, size.dtype)
    if is_cast and last is not None and last.dtype != size.dtype:
        return f"{text}, {size.dtype}" if text else size.dtype
    return text
