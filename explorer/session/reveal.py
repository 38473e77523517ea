"""Showing an element of the model, wherever it is: all that hides it is opened."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from netloupe.explorer.errors import ViewError
from netloupe.explorer.model import Graph, Value
from netloupe.explorer.view import Item

from .breadcrumb import find_outermost
from .lookup import look_up_element
from .views import Views


def reveal(views: Views, path: str) -> str:
    """Open what hides an element, change to its graph where need be; return its path.

    Of a repetition this is its own path, also where the open repeat is its box.

    Parameters
    ----------
    views
        Where it is shown.
    path
        A path, or the name of the only element so called.

    Raises
    ------
    NotFoundError
        Where there is no such element.
    """
    for candidate in views.list_candidates(path):
        try:
            item = views.current.reveal(candidate)
        except ViewError:
            continue
        if not candidate.endswith("/"):
            return candidate
        # a group may be known by the paths of several levels, or be a single node
        is_shown_in = views.current.group_at(candidate) is item.repetition
        return (is_shown_in and item.repetition_path) or item.path
    home = _find_home(views, path) if path.endswith("/") else None
    if home is not None:  # a group of another graph, or left out of a neighbourhood
        views.enter(find_outermost(home).path)
        return views.current.reveal(path).path
    found: Any = views.model[path]
    if found is views.model:
        raise ViewError(f"{views.model.source}: the model itself has no box. Select None.")
    graph = found if isinstance(found, Graph) else getattr(found, "graph", None)
    target: str = found.path
    if graph is None or (graph is views.current.graph and found is graph):
        return target
    root = find_outermost(graph)
    views.enter(root.path)
    if found is not root:
        views.current.reveal(target)
    return target


def reveal_all(views: Views, paths: Sequence[str]) -> list[str]:
    """Open what hides elements, the first of them last; return their paths.

    Repeats of which only one repetition could be shown are unrolled.

    Raises
    ------
    NotFoundError
        Where there is no such element.
    """
    found = [reveal(views, path) for path in reversed(paths)]
    targets: list[str] = []
    for target in dict.fromkeys(reversed(found)):
        item = views.current.items.get(target)
        several = item is not None and item.is_terminal and not item.is_selected_whole
        # a box for several inputs means these
        targets += item.value_paths() if item is not None and several else [target]
    for target in targets[1:]:
        repeat = _find_hiding_repeat(views, target)
        if repeat is not None:
            views.current.unroll(repeat.key)
            views.current.reveal(target)
    return targets


def _find_home(views: Views, path: str) -> Graph | None:
    """Return the graph in which there is a group at a path."""
    outer = path.rstrip("/")
    while outer:
        outer = outer.rpartition("/")[0]
        graph = views.model.graphs_by_path.get(outer)
        if graph is not None:
            return graph if path in views.find_tree(graph).groups else None
    return None


def _find_hiding_repeat(views: Views, path: str) -> Item | None:
    """Return the open repeat that shows another repetition than that of an element."""
    item = views.current.shown(path)
    if item is None or item.repetition is None or path in (item.path, item.repetition_path):
        return None
    element = look_up_element(views.model, views.current, path)
    # a value of a family crosses the repeat's border beside the others
    crossing = {member for port in item.merged for member in item.members(port)}
    return None if isinstance(element, Value) and element in crossing else item
