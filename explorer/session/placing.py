"""Where the picture of a session shows what a review lists, and the marks that it gets there."""

from __future__ import annotations

from netloupe.explorer.compare import Diff
from netloupe.explorer.grouping import GroupTree, build_group_tree
from netloupe.explorer.model import Graph
from netloupe.explorer.render.paint import Paints
from netloupe.explorer.review import ItemPlaces, Review, paint_places, place_items

from .session import Session


class ReviewPlaces:
    """Finds the places of what a review lists, in graphs that are shown and in others.

    Parameters
    ----------
    session
        What is shown.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        #: groups of graphs that the session does not show, by grouping and path
        self._trees: dict[tuple[str, str], GroupTree] = {}
        self._grouping = ""

    def find(self, review: Review, shown: Diff | None) -> ItemPlaces:
        """Return by path the numbers of the items that are about what is there.

        Parameters
        ----------
        review
            Items on the model that is shown.
        shown
            What differs between two models that the picture shows both: that is painted already.
        """
        items = {
            number: item
            for number, item in enumerate(review)
            if shown is None or item.kind != "difference"
        }
        return place_items(items, self._session.views.model, self._find_tree)

    def mark(self, review: Review, shown: Diff | None) -> Paints:
        """Return what marks the items of a review, of which accepted ones are not marked.

        Parameters
        ----------
        review, shown
            As for :meth:`find`.
        """
        self._grouping = self._session.views.current.grouping
        return paint_places(self.find(review, shown), dict(enumerate(review)))

    @property
    def is_grouped_anew(self) -> bool:
        """Whether nodes are grouped in another way than when items were marked."""
        return self._grouping != self._session.views.current.grouping

    def forget(self) -> None:
        """Forget the groups that are known, of another reading of the model."""
        self._trees = {}

    def _find_tree(self, graph: Graph) -> GroupTree:
        """Return the groups of a graph; those of the one that is shown are there already."""
        view = self._session.views.current
        if graph is view.graph and view.only is None:
            return view.borders(graph).tree
        key = view.grouping, graph.path
        if key not in self._trees:
            self._trees[key] = build_group_tree(graph, view.grouping)
        return self._trees[key]
