"""Edges between the same two places: they run as one, which says how many values it has.

Between two groups there may be several values: the skip connections of a stage, a cosine and a
sine. One line with ``×3`` beside it tells as much as three. When one of the boxes is opened each
value that has a port of its own there has an edge of its own again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from netloupe.explorer.view import Item

from .scene import LevelEdge


def merge_edges(
    edges: Sequence[LevelEdge], children: Sequence[Item], chosen: Iterable[int] | None = None
) -> dict[int, tuple[LevelEdge, int]]:
    """Return which edges are drawn in another way than one by one.

    Parameters
    ----------
    edges
        Of a level, one for each value or bundle of values.
    children
        The level's boxes.
    chosen
        The edges that are asked for, between two boxes all or none; all edges where None.

    Returns
    -------
    dict
        By the edge's number it as it is drawn, and how many values its line stands for: the first
        edge between two places for those of all, the others for none.
    """
    if chosen is None:
        if not any(map(_is_group, children)):
            return {}
        chosen = range(len(edges))
    between: dict[tuple[object, ...], list[int]] = {}
    for number in chosen:
        edge = edges[number]
        if edge.source >= 0 <= edge.target and edge.source != edge.target:
            leaves = edge.source_value if children[edge.source].is_open else None
            enters = edge.target_value if children[edge.target].is_open else None
            ends = (edge.source, edge.target, edge.kind, leaves, enters)
            between.setdefault(ends, []).append(number)
    found: dict[int, tuple[LevelEdge, int]] = {}
    for numbers in between.values():
        if len(numbers) < 2 or not _may_merge([edges[number] for number in numbers], children):
            continue
        paths: dict[str, None] = {}
        for number in numbers:
            edge = edges[number]
            paths.update(dict.fromkeys(edge.bundle or (edge.path,)))
            found[number] = edge, 0
        first = edges[numbers[0]]
        is_stream = any(edges[number].is_stream for number in numbers)
        merged = first._replace(bundle=tuple(paths), times=len(paths), is_stream=is_stream)
        found[numbers[0]] = merged, len(paths)
    return found


def _is_group(item: Item) -> bool:
    """Return whether a box stands for several nodes: a group, a call, a branch, an If or a Loop."""
    return item.kind in ("group", "branch") or (item.kind == "node" and item.openable)


def _may_merge(edges: Sequence[LevelEdge], children: Sequence[Item]) -> bool:
    """Return whether edges between the same two places may be drawn as one.

    One of the boxes is a group, for the operands of a node have names. What is so many values
    that the box is selected in their place stays as it is.
    """
    ends = children[edges[0].source], children[edges[0].target]
    if any(end.kind == "stub" for end in ends) or not any(map(_is_group, ends)):
        return False
    return not any(edge.path == end.path for edge in edges for end in ends)
