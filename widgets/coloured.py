"""What boxes and edges of an explorer are painted and coloured by, from Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from netloupe.explorer.arguments import explain_methods
from netloupe.explorer.costs.symbols import Bindings
from netloupe.explorer.overlays import Overlay, make_overlays
from netloupe.explorer.render.paint import Paint, Paints, check_paints, encode_paints

if TYPE_CHECKING:
    from netloupe.explorer.session import Requests, Session

    from .canvas import Canvas
    from .saving import SavedPage


@explain_methods()
class Coloured:
    """The part of :class:`.explorer.Explorer` that is about colours."""

    if TYPE_CHECKING:  # what it needs of the explorer
        canvas: Canvas
        _session: Session
        _requests: Requests
        _saved: SavedPage

    @property
    def paint(self) -> Paints:
        """How boxes and edges are painted, by path: :class:`~netloupe.Paint` each.

        Assign a dictionary by path or element to paint, an empty one to paint nothing. Pictures
        that are written have the same paint.

        Raises
        ------
        ViewError
            Where a key is neither a path nor an element, or a value no paint.
        """
        return self._session.paints

    @paint.setter
    def paint(self, paint: Mapping[Any, Paint]) -> None:
        self._session.paints = check_paints(paint)
        self._show_paints()

    def _show_paints(self, _change: object = None) -> None:
        """Paint the canvas; the counts on groups depend on how nodes are grouped."""
        self.canvas.paints = encode_paints(self._session.lower_paints)

    def color_by(self, *columns: Any, bind: Bindings | None = None, **settings: Any) -> None:
        """Colour boxes by numbers or words; without a column by none any more.

        Parameters
        ----------
        *columns
            Each as :func:`netloupe.overlay` takes it: ``"macs"``, a mapping, a pandas Series or
            DataFrame, a file, an :class:`~netloupe.Overlay`. Boxes are coloured by the first; the
            legend offers all.
        bind, **settings
            As for :func:`netloupe.overlay`.

        Raises
        ------
        OverlayError
            Where a column is none, or a file cannot be read.

        Examples
        --------
        >>> explorer.color_by("profile.json")
        >>> explorer.color_by(errors, name="max error", better="lower", scale="log")
        >>> explorer.overlay.describe_ranking()
        """
        overlays = (
            make_overlays(self._session.views.model, columns, bind=bind, **settings)
            if columns
            else []
        )
        with self._requests.wanted():
            self._session.set_overlays(overlays)
            self._requests.tell_overlays()
        self._saved.renew()

    @property
    def overlay(self) -> Overlay | None:
        """What boxes are coloured by; None for nothing."""
        return self._session.chosen_overlay
