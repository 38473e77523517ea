"""Still pictures of what an explorer shows, from Python."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from netloupe.explorer.arguments import explain_methods
from netloupe.explorer.files.output import check_ending, check_place, write_file
from netloupe.explorer.options import Wrap
from netloupe.explorer.render.picture import render_picture

if TYPE_CHECKING:
    from netloupe.explorer.session import Requests, Session


@explain_methods()
class Pictured:
    """The part of :class:`.explorer.Explorer` that draws what is open."""

    if TYPE_CHECKING:  # what it needs of the explorer
        _session: Session
        _requests: Requests

    def to_svg(self, path: str | Path | None = None, *, wrap: Wrap | None = None) -> str:
        """Draw what is open now as SVG.

        Parameters
        ----------
        path
            Where to write it too; ``~`` is the home folder.
        wrap
            Whether it is cut into columns, as for ``model.to_svg``; as on the canvas where
            None.

        Raises
        ------
        ViewError
            Where ``wrap`` is neither True, False, ``auto`` nor a number of columns.
        OutputError
            Where the file cannot be written, or its name promises another format.
        """
        return self._draw("svg", path, wrap).decode()

    def to_png(self, path: str | Path | None = None, *, wrap: Wrap | None = None) -> bytes:
        """Draw what is open now as PNG and return its bytes; all else as for :meth:`to_svg`.

        Parameters
        ----------
        path, wrap
            As for :meth:`to_svg`.
        """
        return self._draw("png", path, wrap)

    def to_pdf(self, path: str | Path | None = None, *, wrap: Wrap | None = None) -> bytes:
        """Draw what is open now as PDF and return its bytes; all else as for :meth:`to_svg`.

        Parameters
        ----------
        path, wrap
            As for :meth:`to_svg`.
        """
        return self._draw("pdf", path, wrap)

    def _draw(self, format: str, path: str | Path | None, wrap: Wrap | None) -> bytes:
        if path is not None:  # what can be known to be wrong is said before the work begins
            check_ending(path, format)
            check_place(path)
        with self._requests.wanted():
            picture = self._session.draw(wrap)
            data = render_picture(picture, format)
        if path is not None:
            write_file(path, data)
        return data
