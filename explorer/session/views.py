"""The views of a model's graphs: which of them is shown, and what is open in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from netloupe.explorer.errors import NotFoundError, ViewError
from netloupe.explorer.grouping import Group, GroupTree, build_group_tree, leave_unnamed
from netloupe.explorer.layout import FirstView
from netloupe.explorer.model import Graph, Model, Node
from netloupe.explorer.options import Grouping
from netloupe.explorer.render.asked_view import make_view
from netloupe.explorer.view import Item, View, ViewOptions, body_graphs, expand_view

from .breadcrumb import make_breadcrumb
from .history import Moment

if TYPE_CHECKING:
    from netloupe.explorer.search.search import Hit


class Views:
    """The views of one model and what is open in them.

    Parameters
    ----------
    options
        How the first view is made; direction, theme and grouping hold for the others too.
    first
        Opens what a first look at a view should see.

    Attributes
    ----------
    current
        The view that is shown.
    focused
        Path and hops of the neighbourhood that alone is shown; None for the whole graph.
    notices
        What is to be said of the view when it is shown next.

    Raises
    ------
    ViewError, NotFoundError
        For options that do not fit the model.
    """

    def __init__(self, model: Model, options: ViewOptions, first: FirstView) -> None:
        self.model = model
        self.options = options
        self.first = first
        self.current, self.notices = make_view(model, options, first)
        self.focused: tuple[str, int] | None = (
            (options.focus, options.hops) if options.focus else None
        )
        #: by grouping and graph, what is open; neighbourhoods are not kept
        self._kept: dict[tuple[str, str], View] = {}
        #: by grouping and graph, the groups that are searched beside a neighbourhood
        self._trees: dict[tuple[str, str], GroupTree] = {}
        self._show(self.current)

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Undo what is done inside where it ends by an error."""
        before = self.model, self.options, self.current, self.focused, self._trees
        first = self.first
        kept, state = dict(self._kept), self.current.open_state()
        try:
            yield
        except Exception:
            self.model, self.options, self.current, self.focused, self._trees = before
            self.first = first
            self._kept, self.notices = kept, []
            for view in dict.fromkeys((self.current, *kept.values())):
                if view.unnamed != self.options.unnamed_blocks:
                    view.leave_unnamed(self.options.unnamed_blocks)
            self.current.reopen(state)
            raise

    def take_notices(self) -> list[str]:
        """Return what is to be said of the view; it is said once."""
        notices, self.notices = self.notices, []
        return notices

    # what is open

    def toggle(self, path: str) -> Item:
        """Open what is closed, close what is open."""
        item = self.current.items.get(path)
        if item is not None and item.is_open:
            return self.current.close(path)
        return self.current.open(path)

    def close(self, path: str) -> Item:
        """Close an open group, by any of its paths or by its name; return its item.

        Raises
        ------
        ViewError
            Where nothing open is at that path.
        """
        for candidate in self.list_candidates(path):
            item = self.current.shown(candidate)
            if item is None:
                continue
            # a group may be known by the paths of several levels
            is_same = item.is_open and item.element is self.current.group_at(candidate)
            with suppress(ViewError):
                return self.current.close(item.key if is_same else candidate)
        raise ViewError(f"{self.model.source}: {path!r} is not an open group.")

    def unroll(self, path: str) -> str:
        """Show all repetitions of a repeat; return the path of the one shown before, or its own.

        Raises
        ------
        ViewError
            Where there is no repeat at that path.
        """
        view = self.current
        before = view.items.get(path) or view.shown(path)
        shown = before.repetition_path if before is not None and before.repeat is not None else ""
        item = view.unroll(path)
        return shown if shown in view.items else item.key

    def fold(self, path: str, selected: Sequence[str] = ()) -> Item:
        """Show one repetition of a repeat that is unrolled: that of what is selected, if any.

        Raises
        ------
        ViewError
            Where there is no repeat at that path.
        """
        item = self.current.fold(path)
        if len(selected) == 1 and self.current.shown(selected[0]) is item:
            with suppress(ViewError):
                self.current.reveal(selected[0])
        return item

    def expand(self, mode: str | int) -> None:
        """Make the current view anew with everything, nothing or what is readable open.

        Raises
        ------
        Cancelled
            Where :meth:`cancel` was called.
        """
        old = self.current
        view = View(self.model, old.graph, old.grouping, old.only, old.unnamed)
        notice = self._open(view, mode)
        self.notices = [notice] if notice else []
        self._show(view)

    def choose_again(self) -> bool:
        """Choose anew what a first look at the current view sees; return whether it is different.

        Nothing is grouped again.
        """
        view = self.current
        before = view.open_state()
        for item in [child for child in view.root.children if child.is_open]:
            view.close_item(item)
        self.first.open(view, self.options.direction)
        return view.open_state().keys != before.keys

    def _open(self, view: View, mode: str | int) -> str | None:
        if mode == "auto":
            self.first.open(view, self.options.direction)
            return None
        return expand_view(view, mode)

    def _show(self, view: View) -> None:
        self.current = view
        if view.only is None:
            self._kept[view.grouping, view.graph.path] = view

    def group(self, grouping: str) -> None:
        """Group the nodes of the current view, and of all others, in another way.

        Raises
        ------
        ViewError
            For a grouping that does not exist.
        """
        old = self.current
        view = View(self.model, old.graph, grouping, old.only, old.unnamed)
        self.first.open(view, self.options.direction)
        self.notices = []
        self._group_as(view.grouping)
        self._show(view)

    def _group_as(self, grouping: Grouping) -> None:
        """Let all graphs be grouped in another way; the views grouped as before are kept."""
        wanted = (self.options.grouping, grouping)
        self.options = replace(self.options, grouping=grouping)
        self._kept = {key: view for key, view in self._kept.items() if key[0] in wanted}

    # what groups are said to be

    def unname(self, path: str) -> Item:
        """Say no more of a closed or open group what it is, and open it; return its item.

        Raises
        ------
        ViewError
            Where nothing is said of it, or no group is there.
        """
        group, item = self._find_recognised(path)
        self._leave_unnamed((*self.options.unnamed_blocks, group.path))
        return self.current.open(item.path)

    def unname_kind(self, name: str) -> None:
        """Call no group any more what a kind of block is called, such as ``Self-attention``."""
        self._leave_unnamed((*self.options.unnamed_blocks, name))

    def names_kind(self, text: str) -> bool:
        """Return whether groups of the graph that is shown are called so, as blocks of a kind."""
        if "/" in text:
            return False
        groups = dict.fromkeys(self.find_tree(self.current.graph).groups.values())
        return any((found := group.recognised) and found.name == text for group in groups)

    def _find_recognised(self, path: str) -> tuple[Group, Item]:
        item = self.current.shown(path)
        group = self.current.group_at(path)
        if group is None and item is not None and isinstance(item.element, Group):
            group = item.element
        if item is None or group is None or group.recognised is None:
            raise ViewError(
                f"{self.model.source}: {path!r} is not said to be a block of any kind, so that "
                "there is no name to switch off."
            )
        return group, item

    def _leave_unnamed(self, unnamed: tuple[str, ...]) -> None:
        """Leave some groups and kinds of block without a name in all views."""
        if unnamed == self.options.unnamed_blocks:
            return
        self.options = replace(self.options, unnamed=",".join(unnamed))
        for view in dict.fromkeys((self.current, *self._kept.values())):
            view.leave_unnamed(unnamed)
        for tree in self._trees.values():
            leave_unnamed(tree, unnamed)

    def count_flat(self) -> int:
        """Return the number of boxes of the current view without any groups."""
        only = self.current.only
        return len(self.current.graph.nodes) if only is None else len(only)

    def search(self, text: str, *, regex: bool = False) -> Iterator[Hit]:
        """Yield what matches, groups included: see :func:`search_model`.

        Raises
        ------
        ViewError
            For an invalid regular expression.
        """
        from netloupe.explorer.search.search import search_model

        return search_model(self.model, text, regex=regex, find_tree=self.find_tree)

    def find_tree(self, graph: Graph) -> GroupTree:
        """Return the groups of a graph, those that a neighbourhood leaves out included."""
        if self.current.only is None:
            return self.current.borders(graph).tree
        key = self.current.grouping, graph.path
        if key not in self._trees:
            self._trees[key] = build_group_tree(graph, self.current.grouping)
            leave_unnamed(self._trees[key], self.options.unnamed_blocks)
        return self._trees[key]

    # other graphs, and neighbourhoods

    def focus(self, path: str, hops: int) -> None:
        """Show only what is at most so many edges away from an element or a group.

        Raises
        ------
        NotFoundError
            Where there is no such element.
        ViewError
            Where no node belongs to it, or ``hops`` is negative.
        """
        options = asdict(self.options)
        options |= {"graph": self.current.graph.path, "focus": path, "hops": hops}
        options["expand"] = "auto"
        view, notices = make_view(self.model, ViewOptions.parse(options), self.first)
        with suppress(ViewError, NotFoundError):  # a value or a group has no box of its own
            view.reveal(path)
        self.notices = notices
        self._show(view)
        self.focused = (path, hops)

    def unfocus(self) -> None:
        """Show the whole graph again, opened as it was."""
        if self.focused is not None:
            self.enter(self.current.graph.path)

    def enter(self, path: str) -> Graph:
        """Show a graph, or the body of a node, as the outermost level.

        Raises
        ------
        NotFoundError
            Where there is no such element.
        ViewError
            Where it is neither a graph nor has one.
        """
        found: Any = self.model[path]
        if isinstance(found, Node):
            bodies = body_graphs(found)
            if not bodies:
                raise ViewError(f"{self.model.source}: {path!r} has no inside that could be shown.")
            found = bodies[0]
        if not isinstance(found, Graph):
            raise ViewError(f"{self.model.source}: {path!r} is no graph.")
        view = self._kept.get((self.options.grouping, found.path))
        if view is None:
            view = View(self.model, found, self.options.grouping, None, self.current.unnamed)
            self.first.open(view, self.options.direction)
        self._show(view)
        self.focused = None
        return found

    # back and forth

    def note(self) -> Moment:
        """Return what is shown now."""
        view = self.current
        options = self.options
        return Moment(
            view.graph.path,
            options.grouping,
            self.focused,
            view.open_state(),
            options.unnamed_blocks,
        )

    def go_to(self, moment: Moment) -> None:
        """Show again what was shown at a moment."""
        self._leave_unnamed(moment.unnamed)
        is_regrouped = moment.grouping != self.options.grouping
        if is_regrouped:
            self._group_as(moment.grouping)
        is_elsewhere = moment.graph != self.current.graph.path
        if is_regrouped or is_elsewhere or moment.focused != self.focused:
            self._show(self._find_view(moment))
            self.focused = moment.focused
        self.current.reopen(moment.open_state)

    def reload(self, model: Model) -> None:
        """Show another reading of the model: of its elements what was open, as far as they exist.

        Views of the earlier reading are forgotten.
        """
        before, focused = self.current, self.focused
        grouping = self.options.grouping
        graph = model.graphs_by_path.get(before.graph.path)
        view = None
        if focused is not None and graph is not None:
            options = asdict(self.options) | {"graph": graph.path, "expand": "none"}
            options |= {"focus": focused[0], "hops": focused[1]}
            with suppress(NotFoundError, ViewError):  # gone with what was changed
                view, _ = make_view(model, ViewOptions.parse(options), self.first)
        self.focused = focused if view is not None else None
        unnamed = self.options.unnamed_blocks
        view = view or View(model, graph or model.graph, grouping, None, unnamed)
        state = before.open_state()
        view.reopen(state)
        if state.keys and not any(key in view.items for key in state.keys):
            self.first.open(view, self.options.direction)
        self.model = model
        self._kept, self._trees, self.notices = {}, {}, []
        self._show(view)

    def _find_view(self, moment: Moment) -> View:
        """Return the view of a moment; what is open in it may be different now."""
        if moment.focused is not None:
            path, hops = moment.focused
            options = asdict(self.options)
            options |= {"graph": moment.graph, "focus": path, "hops": hops, "expand": "none"}
            return make_view(self.model, ViewOptions.parse(options), self.first)[0]
        view = self._kept.get((moment.grouping, moment.graph))
        if view is not None:
            return view
        graph = self.model[moment.graph]
        assert isinstance(graph, Graph)  # noqa: S101 - the path of what was shown
        return View(self.model, graph, moment.grouping, None, self.options.unnamed_blocks)

    # names

    def list_candidates(self, path: str) -> Iterator[str]:
        """Yield the paths that a path or a name may stand for, likely ones first."""
        yield path
        yield f"{self.current.root.path}/{path}"
        with suppress(NotFoundError):
            found = self.model[path]
            if found is not self.model:
                yield found.path
                return
        group = self.current.find(path)
        if group is not None:
            yield group

    def breadcrumb(self) -> list[list[str]]:
        """Return path and label of each graph from the main one to the one shown."""
        return make_breadcrumb(self.model, self.current.graph)
