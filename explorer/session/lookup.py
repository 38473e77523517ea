"""What is at a path, what is known of it, and what matches a text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol, cast

from netloupe.explorer.errors import NotFoundError, ViewError
from netloupe.explorer.model import Graph, Model, Node, Value
from netloupe.explorer.view import View, list_showing

from .messages import SearchHit

if TYPE_CHECKING:
    from netloupe.explorer.describe import Description
    from netloupe.explorer.search.search import Hit

#: the list of hits in the browser is this long
MOST_HITS = 100
#: of what is selected together the places of so many are told
_MOST_PLACED = 200


class HasPath(Protocol):
    """A node, value, tensor, graph or group."""

    @property
    def path(self) -> str:
        """Where it is in its model."""


#: an element of a model, its path or its name
Selectable = str | HasPath


def take_paths(wanted: Selectable | Iterable[Selectable] | None) -> list[str]:
    """Return the paths or names of what a person wants: one thing, several, None for nothing.

    Raises
    ------
    ViewError
        For anything that is neither an element nor a path.
    """
    if wanted is None or wanted == "":
        return []
    if isinstance(wanted, str) or hasattr(wanted, "path"):
        return [path_of(cast("Selectable", wanted))]
    if not isinstance(wanted, Iterable):
        raise ViewError(f"{wanted!r} is no element of a model and no path. Give one, or several.")
    return [path_of(element) for element in wanted]


def path_of(element: Selectable) -> str:
    """Return the path or name of an element.

    Raises
    ------
    ViewError
        For anything that is neither an element nor a path.
    """
    path = element if isinstance(element, str) else getattr(element, "path", None)
    if not isinstance(path, str) or not path:
        raise ViewError(f"{element!r} is no element of a model and no path.")
    return path


def list_selected(selection: str, paths: Sequence[str]) -> tuple[str, ...]:
    """Return the paths of all that is selected, as a canvas tells it in two traits.

    Parameters
    ----------
    selection
        The path of the first, "" for nothing.
    paths
        All of them, where they are several; they count only while the first is ``selection``.
    """
    if paths and paths[0] == selection:
        return tuple(paths)
    return (selection,) if selection else ()


def look_up_element(model: Model, view: View, path: str) -> Any:
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


def has_element(model: Model, view: View, path: str) -> bool:
    """Return whether anything is at a path, a group or an element of the model."""
    try:
        look_up_element(model, view, path)
    except NotFoundError:
        return False
    return True


def describe_selected(model: Model, view: View, paths: Sequence[str]) -> Description:
    """Return what is known of what is selected.

    Raises
    ------
    NotFoundError
        Where there is no such element.
    """
    # what is first shown is a picture, without what describes
    from netloupe.explorer.describe import describe_path, describe_several

    if len(paths) == 1:
        return describe_path(model, paths[0], view)
    return describe_several(model, paths, view)


def list_boxes_showing(view: View, paths: Sequence[str]) -> dict[str, list[str]]:
    """Return by path the keys of the boxes that show or hide what is there, where any does.

    Parameters
    ----------
    view
        What is drawn.
    paths
        What is selected; of very many the first.
    """
    found = ((path, list_showing(view, path)) for path in paths[:_MOST_PLACED])
    return {path: [item.key for item in items] for path, items in found if items}


def list_hits(hits: Iterator[Hit], view: View) -> tuple[list[SearchHit], int]:
    """Return the first hits as the canvas lists them, and how many there are."""
    first: list[SearchHit] = []
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
