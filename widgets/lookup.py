"""What is at a path, what is known of it, and what matches a text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

from netloupe.explorer.describe import (
    Description,
    describe_path,
    describe_values,
)
from netloupe.explorer.model import Graph, Model, Node, Value
from netloupe.explorer.search import search_model
from netloupe.explorer.view import View

#: the list of hits in the browser is this long
MOST_HITS = 100


def find_element(model: Model, view: View, path: str) -> Any:
    """Return the group or the element of the model that is at a path.

    Groups exist only in views, so that they are found as items.

    Raises
    ------
    NotFoundError
        Where there is no such element.
    """
    item = view.items.get(path)
    if item is not None and (
        (item.is_terminal and item.merged)  # of very many values the first
        or not isinstance(item.element, (Node, Value, Graph))
    ):
        return item.element
    group = view.group_at(path)
    return group if group is not None else model[path]


def describe_selected(model: Model, view: View, paths: Sequence[str]) -> Description:
    """Return what is known of what is selected.

    Raises
    ------
    NotFoundError
        Where there is no such element.
    """
    if len(paths) == 1:
        return describe_path(model, paths[0], view)
    return describe_values(model, paths, view)


def search_shown(
    model: Model, view: View, text: str, *, regex: bool = False
) -> tuple[list[dict[str, Any]], int]:
    """Return the first hits as the canvas lists them, and how many there are.

    Raises
    ------
    ViewError
        For an invalid regular expression.
    """
    hits = search_model(model, text, regex=regex)
    first = []
    for hit in islice(hits, MOST_HITS):
        item = view.shown(hit.path)
        first.append(
            {
                "path": hit.path,
                "title": hit.title,
                "detail": hit.detail,
                "kind": hit.kind,
                "shown": item.path if item is not None else None,
            }
        )
    return first, len(first) + sum(1 for _ in hits)
