"""The groups and borders of all graphs that a view has shown."""

from __future__ import annotations

import re
from contextlib import suppress

from netloupe.explorer.errors import NotFoundError
from netloupe.explorer.grouping import Group, GroupTree, build_group_tree, find_tree, leave_unnamed
from netloupe.explorer.model import Graph, Model
from netloupe.explorer.model.collector import collector_paused
from netloupe.explorer.model.kept import get_kept
from netloupe.explorer.model.paths import CALL
from netloupe.explorer.options import Grouping

from .group_borders import GroupBorders
from .open_state import OpenState


class BordersByGraph:
    """Groups the nodes of each graph when it is first asked for.

    Parameters
    ----------
    graph, only
        The outermost graph, and indexes of its nodes that are grouped; all where None.
    grouping
        Where groups come from.
    unnamed
        Groups, and kinds of block, that are not told what they are.
    like
        What another view has grouped already, and both share from now on.
    """

    def __init__(
        self,
        model: Model,
        graph: Graph,
        grouping: Grouping,
        only: frozenset[int] | None,
        unnamed: tuple[str, ...],
        like: BordersByGraph | None,
    ) -> None:
        self._model, self._graph, self._grouping = model, graph, grouping
        self._only, self._unnamed = only, unnamed
        #: by path the groups and borders of the graphs that were asked for
        self.known: dict[str, GroupBorders] = {} if like is None else like.known
        #: whether shape arithmetic is drawn, also of graphs that are asked for later
        self.shows_shapes = False

    def of(self, graph: Graph) -> GroupBorders:
        """Return the groups and borders of a graph."""
        borders = self.known.get(graph.path)
        if borders is None:
            borders = GroupBorders(self._find_tree(graph))
            if self.shows_shapes:
                borders.set_hidden(borders.shape_groups, False)
            self.known[graph.path] = borders
        return borders

    def _find_tree(self, graph: Graph) -> GroupTree:
        """Return the groups of a graph: those of the model itself where nothing is asked of them.

        Others that look at the model take these as they are. Types that were inferred since they
        were found are only seen in new ones.
        """
        only = self._only if graph is self._graph else None
        if self._grouping == "auto" and only is None and not self._unnamed:
            tree = find_tree(self._model, graph)
            if tree.is_up_to_date:
                return tree
        with collector_paused():
            tree = build_group_tree(graph, self._grouping, only)
        if self._unnamed:
            leave_unnamed(tree, self._unnamed)
        return tree

    def find_group(self, path: str) -> Group | None:
        """Return the group at a path in a graph that was asked for before."""
        prefix, call, rest = path.rpartition(CALL)
        if call:
            with suppress(NotFoundError):
                function = getattr(self._model[prefix], "function", None)
                path = f"{function.path}{rest}" if function is not None else path
        # the path of a group begins with that of its graph, and there may be a thousand graphs
        ends = (match.start() for match in re.finditer("/", path))
        known = (self.known.get(path[:end]) for end in ends)
        found = (borders.tree.groups.get(path) for borders in known if borders is not None)
        return next((group for group in found if group is not None), None)

    def leave_unnamed(self, unnamed: tuple[str, ...]) -> bool:
        """Tell of some groups, and no others, nothing of what they were recognised as.

        Returns
        -------
        bool
            Whether groups are others now: those of the model itself keep what they are called.
        """
        self._unnamed = unnamed
        are_replaced = False
        for path, borders in self.known.items():
            tree = borders.tree
            if tree is not get_kept(tree.graph, GroupTree):
                leave_unnamed(tree, unnamed)
            elif unnamed:
                own = GroupBorders(self._find_tree(tree.graph))
                own.show_only(borders.shown_shapes)
                self.known[path] = own
                are_replaced = True
        return are_replaced

    def list_unmet(self) -> list[str]:
        """Return what is to be left unnamed, but is no group, nor what one would be called."""
        trees = [borders.tree for borders in self.known.values()]
        met = frozenset[str]().union(*(tree.root.names_met for tree in trees))
        return [
            text
            for text in self._unnamed
            if text not in met and not any(isinstance(tree.find(text), Group) for tree in trees)
        ]

    def show_shapes(self) -> None:
        """Draw all shape arithmetic, also of graphs that are asked for later."""
        self.shows_shapes = True
        for borders in self.known.values():
            borders.set_hidden(borders.shape_groups, False)

    def list_shown_shapes(self) -> dict[str, frozenset[str]]:
        """Return by path of a graph the paths of its shape arithmetic that is drawn."""
        shown = {path: borders.shown_shapes for path, borders in self.known.items()}
        return {path: groups for path, groups in shown.items() if groups}

    def show_as(self, state: OpenState) -> bool:
        """Draw the shape arithmetic that was drawn; return whether it is other than now."""
        self.shows_shapes = state.shows_shapes
        for path in state.shown_shapes:
            graph = self._model.graphs_by_path.get(path)
            if graph is not None:
                self.of(graph)
        changed = [
            (borders, wanted)
            for path, borders in self.known.items()
            if borders.shown_shapes != (wanted := state.shown_shapes.get(path, frozenset()))
        ]
        for borders, wanted in changed:
            borders.show_only(wanted)
        return bool(changed)
