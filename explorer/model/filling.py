"""Graphs that are filled when anything in them is first asked for.

Who opens a file may want no more than its header, or another graph.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import TYPE_CHECKING, Any

#: what is missing of a graph that is not filled yet
_LATE = (
    "annotations",
    "doc",
    "has_denotations",
    "initializers",
    "inputs",
    "metadata",
    "nodes",
    "outputs",
    "sparse_initializers",
    "unknown_finder",
    "value_loader",
    "values",
    "warnings",
)
_filling = RLock()


class FilledLater:
    """What a graph needs to be left empty until it is asked for."""

    def fill_later(self, fill: Callable[[], None]) -> None:
        """Leave an empty graph to be filled when anything in it is asked for first."""
        late = {name: vars(self).pop(name) for name in _LATE}
        self._fill: tuple[Callable[[], None] | None, dict[str, Any]] = (fill, late)

    if not TYPE_CHECKING:  # which would take any name for an attribute

        def __getattr__(self, name: str) -> Any:
            # called where there is no such attribute: of a graph that is not filled yet
            if name not in _LATE:
                raise AttributeError(f"a graph has no attribute {name!r}")
            with _filling:
                self._fill_now()
                own = vars(self)
                return own[name] if name in own else own["_fill"][1][name]

    def _fill_now(self) -> None:
        """Fill a graph that was left; other threads see nothing of it until it is whole."""
        own = vars(self)
        fill, late = own.get("_fill", (None, {}))
        if fill is None:  # filled meanwhile, or asked by what is filling it
            return
        self._fill = (None, late)
        try:
            fill()
        except BaseException:  # an interrupt in a notebook: the next who asks fills it anew
            for name, empty in late.items():
                own.pop(name, None)
                if isinstance(empty, (list, dict)):
                    empty.clear()
            self._fill = (fill, late)
            raise
        own.update({name: content for name, content in late.items() if name not in own})
        del self._fill
