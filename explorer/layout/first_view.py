"""The first view: which groups are open, so that a window shows all of the picture readably.

The objective, in the order of what counts: everything fits into the window at a zoom at which
titles can be read; there are at most as many boxes as a figure in a paper has; of the largest
stack of blocks that has room one block is open, by one level, and of stacks that are alike all;
nothing is open that says no more than its closed box (:mod:`.opening_worth`); what shows most
kinds of block and operator that are seen nowhere else is opened first, as long as all is as large
as in a figure; what is alike is treated alike.

In a picture that nobody opens and closes the stack may stay closed in its place, and the open
block stand beside it: the model is then seen at a glance, and the block as large as the figure.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from netloupe.explorer.options import Direction
from netloupe.explorer.view import View

from .compose import DEADLINE, Composer
from .first_view_search import STACK_ZOOMS, Search
from .idea_opening import count_ideas, open_ideas
from .inset_scene import Inset, compose_with_insets
from .limited_opening import open_within
from .most_boxes import close_to_most
from .opening_limits import LIMITS
from .plan import Measure
from .scene import Scene
from .whole_model import open_whole_model


class Window(NamedTuple):
    """The size of what a picture is shown in, in pixels."""

    width: float
    height: float

    def zoom(self, width: float, height: float) -> float:
        """Return the zoom at which a picture of some size fits, at most 1."""
        return min(self.scale(width, height), 1.0)

    def scale(self, width: float, height: float) -> float:
        """Return how large a picture of some size could be drawn there."""
        return min(self.width / max(width, 1.0), self.height / max(height, 1.0))


#: of a browser on a laptop, or half a page of a report
WINDOW = Window(1100.0, 800.0)
#: a picture in two parts that fits at this zoom is taken without a look at another
_AS_IN_A_FIGURE = 0.85
#: what is drawn beside a picture has so many boxes at least: fewer are seen in their place, but
#: where the picture then is too large, or one of several like stacks would be open
_LEAST_IN_INSET, _LEAST_WHERE_ALIKE = 4, 3
#: one that is smaller is taken where it is so much of the size of the other
_AS_LARGE = 0.95
#: one that is so much wider than high leaves much of a sheet empty: it is taken where it could be
#: drawn as large as the other, or nearly so
_WIDE, _NEARLY_AS_LARGE = 1.6, 0.92


class FirstView:
    """Opens the groups of a view that a first look should see.

    Parameters
    ----------
    composer, measure
        Lay out each trial; what is laid out here is at hand when the view is composed.
    window
        Where the picture is to be read.
    zoom_of
        Gives the zoom at which a picture fits there, cut into columns or not, where that is not
        only a matter of its size: it may have a title.

    Notes
    -----
    The largest stack is tried first, with all that is around it and no more. The rest is greedy:
    what shows most is opened first, together with what is alike, and closed again where the
    picture then is beyond a limit. That sizes are those of real layouts matters: estimates take
    pictures with long edges for smaller than they are.
    """

    def __init__(
        self,
        composer: Composer,
        measure: Measure,
        window: Window = WINDOW,
        zoom_of: Callable[[Scene, bool], float] | None = None,
    ) -> None:
        self.composer, self.measure, self.window = composer, measure, window
        self.zoom_of = zoom_of or (lambda scene, _: window.zoom(scene.width, scene.height))

    def open(self, view: View, direction: Direction = "TB", deadline: float = DEADLINE) -> None:
        """Open groups of a view in which everything is closed.

        Parameters
        ----------
        view
            What is shown.
        direction
            Where values flow to.
        deadline
            Seconds; what is open by then remains so.
        """
        search = self._search(view, direction, time.monotonic() + deadline)
        self._open_in_place(search)
        if not search.is_special:
            open_whole_model(search)
            close_to_most(search)

    def open_with_insets(
        self, view: View, direction: Direction = "TB", deadline: float = DEADLINE
    ) -> Sequence[Inset]:
        """Open groups as :meth:`open` does, or leave the largest stack closed beside its inset.

        Returns
        -------
        sequence of Inset
            What is drawn open beside the picture; nothing where the picture is larger, in one
            column, with one repetition open in its place.
        """
        from .idea_insets import show_untold
        from .row_insets import show_one_of_row
        from .shown_hearts import open_hearts

        end = time.monotonic() + deadline
        search = self._choose(view, direction, end)
        if not search.is_special:
            open_whole_model(search)
            show_untold(search)
            show_one_of_row(search)
            open_hearts(search)
            close_to_most(search)
        return search.insets

    def _choose(self, view: View, direction: Direction, end: float) -> Search:
        """Open groups in their place or beside the picture, whichever is read better."""
        beside = self._search(view, direction, end)
        if beside.is_special or not beside.open_insets():
            self._open_in_place(beside)
            return beside
        open_ideas(beside)
        for limit in LIMITS:
            open_within(beside, limit)
        zoom, boxes = beside.zoom(), beside.count_in_insets()
        width, height = beside.size
        is_wide = direction == "TB" and width > _WIDE * height and not beside.shows_stages
        least = _LEAST_WHERE_ALIKE if beside.shows_more_stacks() else _LEAST_IN_INSET
        enough = _AS_IN_A_FIGURE
        misses_idea = beside.misses_idea
        if beside.shows_lanes_beside:  # they are what the network is about, and wide
            enough, is_wide, misses_idea = STACK_ZOOMS[0], False, False
        if zoom >= enough and boxes >= least and not (is_wide or misses_idea):
            return beside
        kept = view.open_state()
        view.close_all()
        search = self._search(view, direction, end)
        self._open_in_place(search)
        if search.shows_idea and misses_idea:
            return search
        if count_ideas(beside) > count_ideas(search):
            view.close_all()
            view.reopen(kept)
            return beside
        shows_none = not (search.shows_idea or search.shows_stack() or search.shows_levels())
        if shows_none and beside.insets[0].item.repeat and zoom >= STACK_ZOOMS[0]:
            view.close_all()  # no stack has room in its place
            view.reopen(kept)
            return beside
        in_place = search.zoom(in_columns=False)
        least = least if in_place >= _AS_IN_A_FIGURE else _LEAST_WHERE_ALIKE
        scale = _NEARLY_AS_LARGE * self.window.scale(*search.size)
        if (
            boxes >= least
            and zoom >= _AS_LARGE * in_place
            and not (is_wide and self.window.scale(width, height) < scale)
        ):
            view.close_all()
            view.reopen(kept)
            return beside
        return search

    def compose(
        self,
        view: View,
        insets: Sequence[Inset],
        direction: Direction,
        deadline: float = DEADLINE,
    ) -> Scene:
        """Lay out a view with its insets."""
        return compose_with_insets(self.composer, view, insets, self.measure, direction, deadline)

    def _search(self, view: View, direction: Direction, end: float) -> Search:
        return Search(self.composer, self.measure, self.zoom_of, view, direction, end)

    def _open_in_place(self, search: Search) -> None:
        search.open_emphasised()
        # of a U and of lanes the levels are what counts: what is open between them pulls them apart
        search.open_stack((_AS_IN_A_FIGURE,) if search.shows_levels() else STACK_ZOOMS)
        open_ideas(search)
        for limit in LIMITS:
            open_within(search, limit)
        shows_block = search.shows_towers or search.shows_idea or search.shows_stack()
        if not shows_block and not search.shows_levels():
            search.open_stack()  # there may be one in what a node holds that is open now
