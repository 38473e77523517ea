"""What can be drawn: models and graphs, with the methods that draw them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from netloupe.explorer.arguments import explain_methods
from netloupe.explorer.errors import ViewError

from . import upper_rooms

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from os import PathLike

    import graphviz

    from netloupe.explorer.options import WeightContent

    from .model import Model
    from .upper_rooms import ViewKeywords


@explain_methods()
class Drawable:
    """Has a picture of what it holds, in all formats."""

    __slots__ = ()

    def _subject(self, view: ViewKeywords) -> tuple[Model, ViewKeywords]:
        """Return the model, and the options of a view with which it shows this part of it."""
        raise NotImplementedError

    def _complete(
        self, paint: Mapping[Any, upper_rooms.Paint] | None, view: ViewKeywords
    ) -> Mapping[Any, upper_rooms.Paint] | None:
        """Return what is painted: what is asked for, over what such a picture always has."""
        return paint

    def to_svg(
        self,
        path: str | PathLike[str] | None = None,
        *,
        paint: Mapping[Any, upper_rooms.Paint] | None = None,
        color_by: Any = None,
        figure: upper_rooms.Figure | str | PathLike[str] | None = None,
        **view: Unpack[ViewKeywords],
    ) -> str:
        """Draw as SVG; write it to ``path`` where given, and return the text.

        Parameters
        ----------
        path
            A file to write; ``~`` is the home folder.
        paint
            By path or element a :class:`~netloupe.Paint`: the tone in which a box or an edge is
            painted, and what the pill on a box says. What is not in the picture is left out.
        color_by
            What boxes are coloured by: an :class:`~netloupe.Overlay`, or anything that
            :func:`netloupe.overlay` takes, such as ``"macs"``, a mapping or a file. Its legend is
            in the picture; what ``paint`` says is laid over it.
        figure
            A :class:`~netloupe.Figure`, or the path of its file: what is left out, renamed and
            highlighted in this picture alone. What is not found is told as a warning of the log.
        **view
            What is shown and how: see :class:`~netloupe.ViewKeywords`. A graph shows itself and
            takes no ``graph``.

        Raises
        ------
        NotFoundError
            Where ``graph`` or ``focus`` names nothing.
        ViewError
            For an option that does not exist or does not fit.
        OverlayError
            Where ``color_by`` is nothing to colour by.
        OutputError
            Where the file cannot be written, or its name promises another format.
        """
        return self._draw("svg", path, paint, color_by, figure, view).decode()

    def to_html(
        self,
        path: str | PathLike[str] | None = None,
        *,
        paint: Mapping[Any, upper_rooms.Paint] | None = None,
        color_by: Any = None,
        figure: upper_rooms.Figure | str | PathLike[str] | None = None,
        static: bool = False,
        weights: WeightContent | None = None,
        size_limit: str | int | None = None,
        review: upper_rooms.Reviewable | Iterable[upper_rooms.Reviewable] | None = None,
        **view: Unpack[ViewKeywords],
    ) -> str:
        """Write the explorer as one HTML page, which needs nothing but a browser.

        Parameters
        ----------
        path, paint, color_by, figure, **view
            As for :meth:`to_svg`; ``figure``, ``wrap``, ``page``, ``legend``, ``key``,
            ``controls``, ``scale`` and ``font`` are of still pictures alone. ``color_by`` may be
            a list of several columns, of which the page shows the first and offers all.
        static
            Whether the page holds the still picture alone, and no script.
        weights
            What the explorer tells of the elements of weights: ``"histograms"``, with statistics,
            or ``"none"``.
        size_limit
            Bytes that the page has at most, as a number or such as ``"5MB"``. Where all does not
            fit, statistics of the smallest weights are left out first, then descriptions of
            further repetitions and of what lies deepest, then what is in the innermost groups;
            the page says so.
        review
            What its Review tab lists and marks: what :func:`netloupe.check` or
            :func:`netloupe.diff` gives, the ``review`` of an explorer, or several of them.

        Raises
        ------
        NotFoundError, ViewError
            As for :meth:`to_svg`.
        OutputError
            As for :meth:`to_svg`, and where no page is as small as ``size_limit``.
        """
        if static:
            of_pages = (("weights", weights), ("size_limit", size_limit), ("review", review))
            for name, given in of_pages:
                if given is not None:
                    raise ViewError(
                        f"{name} is of the explorer in a page, and static leaves that out. "
                        "Give one of them."
                    )
            return self._draw("html", path, paint, color_by, figure, view).decode()
        if figure is not None:
            raise ViewError("figure is of still pictures. Give static=True, or leave it out.")
        model, options = self._subject(view)
        paint = self._complete(paint, view)
        return upper_rooms.draw_page(
            model, path, paint, color_by, weights, size_limit, review, **options
        ).decode()

    def to_png(
        self,
        path: str | PathLike[str] | None = None,
        *,
        paint: Mapping[Any, upper_rooms.Paint] | None = None,
        color_by: Any = None,
        figure: upper_rooms.Figure | str | PathLike[str] | None = None,
        **view: Unpack[ViewKeywords],
    ) -> bytes:
        """Draw as PNG and return its bytes; all else as for :meth:`to_svg`.

        Parameters
        ----------
        path, paint, color_by, figure, **view
            As for :meth:`to_svg`.
        """
        return self._draw("png", path, paint, color_by, figure, view)

    def to_pdf(
        self,
        path: str | PathLike[str] | None = None,
        *,
        paint: Mapping[Any, upper_rooms.Paint] | None = None,
        color_by: Any = None,
        figure: upper_rooms.Figure | str | PathLike[str] | None = None,
        **view: Unpack[ViewKeywords],
    ) -> bytes:
        """Draw as PDF of one page and return its bytes; all else as for :meth:`to_svg`.

        Parameters
        ----------
        path, paint, color_by, figure, **view
            As for :meth:`to_svg`.
        """
        return self._draw("pdf", path, paint, color_by, figure, view)

    def to_dot(
        self, path: str | PathLike[str] | None = None, **view: Unpack[ViewKeywords]
    ) -> graphviz.Digraph:
        """Return the picture's graph as a ``graphviz.Digraph``.

        Parameters
        ----------
        path
            A file to write the DOT text to.
        **view
            As for :meth:`to_svg`; DOT has neither a theme nor a page.
        """
        model, options = self._subject(view)
        return upper_rooms.build_dot(model, path, **options)

    def _draw(
        self,
        format: str,
        path: str | PathLike[str] | None,
        paint: Mapping[Any, upper_rooms.Paint] | None,
        color_by: Any,
        figure: upper_rooms.Figure | str | PathLike[str] | None,
        view: ViewKeywords,
    ) -> bytes:
        model, options = self._subject(view)
        colouring = None if color_by is None else upper_rooms.overlay(model, color_by)
        return upper_rooms.draw_picture(
            model, format, path, self._complete(paint, view), colouring, figure, **options
        )
