"""Graphs that are filled when anything in them is first asked for.

Who opens a file may want no more than its header, or another graph.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from threading import RLock
from typing import TYPE_CHECKING, Any

#: the slots of a graph that stay empty until it is filled
LATE = (
    "_reading",
    "annotations",
    "doc",
    "initializers",
    "inputs",
    "metadata",
    "nodes",
    "outputs",
    "sparse_initializers",
    "values",
    "warnings",
)
_filling = RLock()


class FilledLater:
    """What fills a graph where a slot is found empty.

    Notes
    -----
    The slots are known to the class, so that ``dir()``, ``help()`` and completion list them
    whether or not the graph is filled, and nothing stands between a filled one and who asks.
    """

    __slots__ = ("_filler",)

    #: what fills the graph (None while it does so), and what its slots held before; None for a
    #: graph that is filled
    _filler: tuple[Callable[[], None] | None, dict[str, Any]] | None

    if not TYPE_CHECKING:  # which would take any name for an attribute

        def __getattr__(self, name: str) -> Any:
            # called where there is no such attribute, or where its slot is empty
            if name not in LATE:
                raise AttributeError(f"a graph has no attribute {name!r}")
            with _filling:
                _fill_now(self)
                try:
                    return object.__getattribute__(self, name)
                except AttributeError:  # asked by what is filling it
                    return self._filler[1][name]


def fill_later(graph: FilledLater, fill: Callable[[], None]) -> None:
    """Leave an empty graph to be filled when anything in it is asked for first."""
    late = {name: getattr(graph, name) for name in LATE}
    for name in LATE:
        delattr(graph, name)
    graph._filler = (fill, late)


def _fill_now(graph: FilledLater) -> None:
    """Fill a graph that was left; other threads see nothing of it until it is whole."""
    fill, late = graph._filler or (None, {})
    if fill is None:  # filled meanwhile, or asked by what is filling it
        return
    graph._filler = (None, late)
    try:
        fill()
    except BaseException:  # an interrupt in a notebook: the next who asks fills it anew
        for name, empty in late.items():
            with suppress(AttributeError):
                delattr(graph, name)
            if isinstance(empty, (list, dict)):
                empty.clear()
        graph._filler = (fill, late)
        raise
    for name, content in late.items():
        try:
            object.__getattribute__(graph, name)
        except AttributeError:
            setattr(graph, name, content)
    graph._filler = None
