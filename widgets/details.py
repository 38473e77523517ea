"""What the inspector says: of what is selected, or of the model while nothing is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.session import Views
from netloupe.explorer.session.lookup import describe_selected
from netloupe.explorer.session.overview import Overview

from .inspector import Inspector


class Details:
    """Describes elements of the model that is shown, in the view that is shown.

    Of the model itself nothing is said before its overview is read, which waits for the picture.

    Parameters
    ----------
    views
        The model and its views.
    inspector
        Shows what is said.
    is_wanted
        Tells whether nothing is selected, so that the model itself is described.
    """

    def __init__(self, views: Views, inspector: Inspector, is_wanted: Callable[[], bool]) -> None:
        self._views = views
        self._inspector = inspector
        self._is_wanted = is_wanted
        self._grouping = views.current.grouping
        self.overview = Overview(views.model, inspector, is_wanted)

    def describe(self, paths: Sequence[str]) -> None:
        """Describe what is at some paths; the model where there are none."""
        if not paths:
            self.overview.show()
            return
        try:
            described = describe_selected(self._views.model, self._views.current, paths)
            self._inspector.show(described)
        except NetloupeError as error:
            self._inspector.show_error(str(error))

    def inform(self, paths: Sequence[str]) -> None:
        """Say what more is known of what is at some paths, or of the model."""
        if not paths:
            self.overview.renew()
            return
        with suppress(NetloupeError):
            described = describe_selected(self._views.model, self._views.current, paths)
            self._inspector.renew(described)

    def renew(self) -> bool:
        """Follow a model that was read again, or is grouped in another way; whether it is so."""
        grouping, self._grouping = self._grouping, self._views.current.grouping
        if self.overview.model is self._views.model:
            return grouping != self._grouping
        self.overview.close()
        self.overview = Overview(self._views.model, self._inspector, self._is_wanted)
        self.overview.read()
        return True

    def close(self) -> None:
        """Read no further."""
        self.overview.close()
