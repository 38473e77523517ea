"""What a still picture draws open beside it: what its first view chooses, or options ask for."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from netloupe.explorer.errors import ViewError
from netloupe.explorer.layout import DEADLINE, FirstView, Scene
from netloupe.explorer.layout.inset_scene import Inset, has_place, open_inset
from netloupe.explorer.options import OPTIONS, Direction
from netloupe.explorer.view import View, ViewOptions

from .text import clean_label

#: values of the option that are no path
_WORDS = frozenset(choice.value for choice in OPTIONS["inset"].choices)

#: seconds for the search of what is open in a still picture: nobody waits before an empty window,
#: and what is printed must not depend on what else the machine does
SEARCH_DEADLINE = 20.0


class InsetOpener:
    """Opens the groups of a still picture, and what is drawn beside it.

    Parameters
    ----------
    first
        Opens what a first look should see.
    options
        How the picture is asked for.
    """

    def __init__(self, first: FirstView, options: ViewOptions) -> None:
        self._first, self._options = first, options
        self.insets: Sequence[Inset] = ()
        #: changes a view that is open as it is to be drawn
        self.edit: Callable[[View], None] = lambda _view: None

    def open(self, view: View, direction: Direction = "TB") -> None:
        """Open groups of a view in which everything is closed."""
        if self._options.inset == "auto" and self._options.wrap in ("auto", False):
            self.insets = self._first.open_with_insets(view, direction, SEARCH_DEADLINE)
        else:
            self._first.open(view, direction, SEARCH_DEADLINE)

    def open_asked(self, view: View) -> None:
        """Open beside the picture what options ask for by its path.

        Raises
        ------
        ViewError
            Where nothing is there, or it has no inside.
        """
        asked = self._options.inset
        if asked in _WORDS:
            return
        item = view.reveal(view.find(asked) or asked)
        if item.is_open and item is not view.root:
            view.close(item.key)
        if not item.openable or item is view.root:
            raise ViewError(
                f"{view.model.source}: {asked!r} cannot be drawn open beside the picture. Groups, "
                "calls of functions and nodes with subgraphs can."
            )
        self.insets = (open_inset(view, item),)

    def compose(
        self, view: View, direction: Direction, deadline: float = DEADLINE
    ) -> tuple[Scene, str]:
        """Lay out the picture; the notice says what has no room beside it, "" for nothing."""
        for shown in (view, *(inset.view for inset in self.insets)):
            self.edit(shown)
        self.insets = [one for one in self.insets if has_place(view, one)]
        scene = self._first.compose(view, self.insets, direction, deadline)
        if len(scene.zooms) == len(self.insets):
            return scene, ""
        item = self.insets[0].item
        self.insets = ()
        view.open(item.key)
        self.edit(view)
        return self._first.compose(view, (), direction, deadline), (
            f"There are boxes at both sides of {clean_label(item.path, 80)!r}: it is open in its "
            "place."
        )
