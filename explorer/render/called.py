"""What is painted in a function, in every open call of it.

The nodes of a function have paths of their own, ``functions/domain::Name/Relu_2``; what a picture
shows of them stands inside a call, at ``main/call()/Relu_2``, once for each call that is open.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from netloupe.explorer.model import Graph
from netloupe.explorer.model.paths import CALL
from netloupe.explorer.view import Item

from .paint import Paints


def called_function(item: Item) -> Graph | None:
    """Return the function whose body an open call shows; None for all else."""
    body = item.body
    if item.kind != "node" or not item.is_open or body is None:
        return None
    return body.graph if body.graph.kind == "function" else None


def list_open_calls(items: Iterable[Item]) -> dict[str, list[str]]:
    """Return by the path of a function what paths in it begin with in each call that is open."""
    calls: dict[str, list[str]] = {}
    for item in items:
        called = called_function(item)
        if called is not None:
            calls.setdefault(called.path, []).append(item.path + CALL)
    return calls


def paint_calls(paints: Paints, calls: Mapping[str, Sequence[str]]) -> Paints:
    """Return paints with those of functions also at the places where calls show them.

    Parameters
    ----------
    paints
        By path, as files of models name what is in them.
    calls
        As :func:`list_open_calls` returns them: costs what is painted in these functions, for
        each of their calls.

    Returns
    -------
    mapping
        What is painted in one call alone is laid over what the function has there.
    """
    if not calls or not paints:
        return paints
    painted = dict(paints)
    for path, paint in paints.items():
        cut = path.find("/")
        while cut >= 0:
            for begin in calls.get(path[:cut], ()):
                place = begin + path[cut:]
                own = paints.get(place)
                painted[place] = paint if own is None else own.over(paint)
            cut = path.find("/", cut + 1)
    return painted
