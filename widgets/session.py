"""What an explorer shows: the views of a model's graphs, and the scene that is current.

No widget is involved here, so that everything can be tested without a browser.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from typing import Any

from netloupe.explorer.errors import NotFoundError, ViewError
from netloupe.explorer.grouping import GroupTree, build_group_tree
from netloupe.explorer.layout import (
    DEADLINE,
    PATIENCE,
    Composer,
    LayoutEngine,
    Scene,
    Wrap,
)
from netloupe.explorer.model import Graph, Model, Node, Value
from netloupe.explorer.progress import Cancelled, watched
from netloupe.explorer.render.picture import Labels, Picture, ViewOptions, check_wrap, make_view
from netloupe.explorer.render.wire import SceneEncoder
from netloupe.explorer.search.search import Hit, search_model
from netloupe.explorer.view import Item, View, body_graphs, expand_view

from .ahead import prepare_next
from .history import History, Moment
from .lookup import find_element
from .trail import find_outermost, list_trail


class Session:
    """The views of one model and what is open in them.

    Parameters
    ----------
    model
        The model.
    options
        How the first view is made; direction, theme and grouping hold for the others too.
    """

    def __init__(self, model: Model, options: ViewOptions) -> None:
        self.model = model
        self.options = options
        self.labels = Labels()
        self.notices: list[str] = []
        self.wrap: Wrap = options.wrap
        self._composer = Composer()
        self._encoder = SceneEncoder(lambda item: self.labels.faces.face(item))
        self._is_new_to_browser = True
        self._cancelled = threading.Event()
        self._scene: Scene | None = None
        view, self.notices = make_view(model, options)
        self.view = view
        #: by grouping and graph, what is open; neighbourhoods are not kept
        self._views: dict[tuple[str, str], View] = {}
        self.history = History()
        #: by grouping and graph, the groups that are searched beside a neighbourhood
        self._trees: dict[tuple[str, str], GroupTree] = {}
        #: path and hops of the neighbourhood that is shown
        self.focused: tuple[str, int] | None = (
            (options.focus, options.hops) if options.focus else None
        )
        self._show(view)

    # the scene

    def compose(self, deadline: float = DEADLINE) -> Scene:
        """Lay out the current view.

        Parameters
        ----------
        deadline
            Seconds after which simpler layouts are taken.

        Raises
        ------
        Cancelled
            Where :meth:`cancel` was called.
        """
        with watched(self._check):
            scene = self._composer.compose(
                self.view,
                self.labels,
                self.options.direction,
                wrap=self.wrap,
                deadline=deadline,
            )
        scene = replace(scene, notices=(*self.notices, *scene.notices))
        self.notices = []
        self._scene = scene
        return scene

    def compose_for(self, wrap: Any) -> Scene:
        """Lay out the current view for a picture of its own; ``wrap`` as it is where None."""
        before = self.wrap
        if wrap is not None:
            self.set_wrap(wrap)
        try:
            return self.compose(PATIENCE)
        finally:
            self.wrap = before

    def encode(self, scene: Scene, *, whole: bool = False) -> tuple[dict[str, Any], list[bytes]]:
        """Return a scene as the canvas gets it: what is new in it, or all of it."""
        whole, self._is_new_to_browser = whole or self._is_new_to_browser, False
        return self._encoder.encode(scene, whole=whole)

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Undo what is done inside where it ends by an error, such as a cancelled layout."""
        view, options, wrap, views = self.view, self.options, self.wrap, dict(self._views)
        opened, focused = view.opened(), self.focused
        history, position = self.history, self.history.position
        made = self.model, self.labels, self._composer, self._trees
        try:
            with watched(self._check):
                yield
        except Exception:
            self.model, self.labels, self._composer, self._trees = made
            self.focused, self.history = focused, history
            self.history.position = position
            self.view, self.options, self.wrap, self._views = view, options, wrap, views
            self.notices = []
            view.reopen(opened)
            raise

    def prepare(self, engine: LayoutEngine, is_wanted: Callable[[], bool]) -> None:
        """Lay out what is likely to be opened next, as :func:`prepare_next` does."""
        scene = self._scene
        root = scene.root if scene is not None else None
        if root is not None and root.item is self.view.root:
            prepare_next(self._composer, self.view, root, self.labels, engine, is_wanted)

    def picture(self, scene: Scene) -> Picture:
        """Return a scene of this session with what is needed to draw it elsewhere."""
        return Picture(self.model, self.view, self.options, scene, self.labels)

    def cancel(self) -> None:
        """End the layout that is under way."""
        self._cancelled.set()

    def _check(self, _what: str, _share: float | None) -> None:
        if self._cancelled.is_set():
            raise Cancelled("the layout was cancelled")

    def resume(self) -> None:
        """Let layouts go on again after :meth:`cancel`."""
        self._cancelled.clear()

    def set_wrap(self, wrap: Any) -> None:
        """Cut long pictures into columns, or not.

        Raises
        ------
        ViewError
            For anything but True, False, ``auto`` and a number of columns.
        """
        self.wrap = check_wrap(wrap)

    def set_direction(self, direction: Any) -> None:
        """Change the direction of all views."""
        self.options = replace(self.options, direction=direction)

    # what is open

    def toggle(self, path: str) -> Item:
        """Open what is closed, close what is open."""
        item = self.view.items.get(path)
        if item is not None and item.is_open:
            return self.view.close(path)
        return self.view.open(path)

    def close(self, path: str) -> Item:
        """Close an open group, by any of its paths or by its name; return its item.

        Raises
        ------
        ViewError
            Where nothing open is at that path.
        """
        for candidate in self._candidates(path):
            item = self.view.shown(candidate)
            if item is None:
                continue
            # a group may be known by the paths of several levels
            is_same = item.is_open and item.element is self.view.group_at(candidate)
            with suppress(ViewError):
                return self.view.close(item.key if is_same else candidate)
        raise ViewError(f"{self.model.source}: {path!r} is not an open group.")

    def unroll(self, path: str) -> str:
        """Show all repetitions of a repeat; return the path of the one shown before, or its own.

        Raises
        ------
        ViewError
            Where there is no repeat at that path.
        """
        view = self.view
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
        item = self.view.fold(path)
        if len(selected) == 1 and self.view.shown(selected[0]) is item:
            with suppress(ViewError):
                self.view.reveal(selected[0])
        return item

    def expand(self, mode: str) -> None:
        """Make the current view anew with everything, nothing or what is readable open.

        Raises
        ------
        Cancelled
            Where :meth:`cancel` was called.
        """
        old = self.view
        view = View(self.model, old.graph, old.grouping, old.only)
        notice = expand_view(view, mode)
        self.notices = [notice] if notice else []
        self._show(view)

    def _show(self, view: View) -> None:
        self.view = view
        if view.only is None:
            self._views[view.grouping, view.graph.path] = view

    def group(self, grouping: str) -> None:
        """Group the nodes of the current view, and of all others, in another way.

        Raises
        ------
        ViewError
            For a grouping that does not exist.
        """
        old = self.view
        view = View(self.model, old.graph, grouping, old.only)
        notice = expand_view(view, "auto")
        self.notices = [notice] if notice else []
        self._group_as(view.grouping)
        self._show(view)

    def _group_as(self, grouping: str) -> None:
        """Let all graphs be grouped in another way; the views grouped as before are kept."""
        wanted = (self.options.grouping, grouping)
        self.options = replace(self.options, grouping=grouping)
        self._views = {key: view for key, view in self._views.items() if key[0] in wanted}

    def count_flat(self) -> int:
        """Return the number of boxes of the current view without any groups."""
        only = self.view.only
        return len(self.view.graph.nodes) if only is None else len(only)

    def search(self, text: str, *, regex: bool = False) -> Iterator[Hit]:
        """Yield what matches, groups included: see :func:`search_model`.

        Raises
        ------
        ViewError
            For an invalid regular expression.
        """
        return search_model(self.model, text, regex=regex, find_tree=self._find_tree)

    def _find_tree(self, graph: Graph) -> GroupTree:
        """Return the groups of a graph, those that a neighbourhood leaves out included."""
        if self.view.only is None:
            return self.view.wiring(graph).tree
        key = self.view.grouping, graph.path
        if key not in self._trees:
            self._trees[key] = build_group_tree(graph, self.view.grouping)
        return self._trees[key]

    # the neighbourhood of an element

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
        options |= {"graph": self.view.graph.path, "focus": path, "hops": hops, "expand": "auto"}
        view, notices = make_view(self.model, ViewOptions.parse(options))
        with suppress(ViewError, NotFoundError):  # a value or a group has no box of its own
            view.reveal(path)
        self.notices = notices
        self._show(view)
        self.focused = (path, hops)

    def unfocus(self) -> None:
        """Show the whole graph again, opened as it was."""
        if self.focused is not None:
            self.enter(self.view.graph.path)

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
        view = self._views.get((self.options.grouping, found.path))
        if view is None:
            view = View(self.model, found, self.options.grouping)
            expand_view(view, "auto")
        self._show(view)
        self.focused = None
        return found

    def reveal(self, path: str) -> str:
        """Open what hides an element, change to its graph where need be; return its path.

        Of a repetition this is its own path, also where the open repeat is its box.

        Parameters
        ----------
        path
            A path, or the name of the only element so called.

        Raises
        ------
        NotFoundError
            Where there is no such element.
        """
        for candidate in self._candidates(path):
            try:
                item = self.view.reveal(candidate)
            except ViewError:
                continue
            if not candidate.endswith("/"):
                return candidate
            # a group may be known by the paths of several levels, or be a single node
            is_shown_in = self.view.group_at(candidate) is item.repetition
            return (is_shown_in and item.repetition_path) or item.path
        home = self._find_home(path) if path.endswith("/") else None
        if home is not None:  # a group of another graph, or left out of a neighbourhood
            self.enter(find_outermost(home).path)
            return self.view.reveal(path).path
        found: Any = self.model[path]
        if found is self.model:
            raise ViewError(f"{self.model.source}: the model itself has no box. Select None.")
        graph = found if isinstance(found, Graph) else getattr(found, "graph", None)
        target: str = found.path
        if graph is None or (graph is self.view.graph and found is graph):
            return target
        root = find_outermost(graph)
        self.enter(root.path)
        if found is not root:
            self.view.reveal(target)
        return target

    def _find_home(self, path: str) -> Graph | None:
        """Return the graph in which there is a group at a path."""
        outer = path.rstrip("/")
        while outer:
            outer = outer.rpartition("/")[0]
            graph = self.model.graphs_by_path.get(outer)
            if graph is not None:
                return graph if path in self._find_tree(graph).groups else None
        return None

    def reveal_all(self, paths: Sequence[str]) -> list[str]:
        """Open what hides elements, the first of them last; return their paths.

        Repeats of which only one repetition could be shown are unrolled.

        Raises
        ------
        NotFoundError
            Where there is no such element.
        """
        found = [self.reveal(path) for path in reversed(paths)]
        targets: list[str] = []
        for target in dict.fromkeys(reversed(found)):
            item = self.view.items.get(target)
            several = item is not None and item.is_terminal and not item.is_selected_whole
            # a box for several inputs means these
            targets += item.value_paths() if item is not None and several else [target]
        for target in targets[1:]:
            repeat = self._hiding_repeat(target)
            if repeat is not None:
                self.view.unroll(repeat.key)
                self.view.reveal(target)
        return targets

    def _hiding_repeat(self, path: str) -> Item | None:
        """Return the open repeat that shows another repetition than that of an element."""
        item = self.view.shown(path)
        if item is None or item.repetition is None or path in (item.path, item.repetition_path):
            return None
        element = find_element(self.model, self.view, path)
        # a value of a family crosses the repeat's border beside the others
        crossing = {member for port in item.merged for member in item.members(port)}
        return None if isinstance(element, Value) and element in crossing else item

    # back and forth

    def note(self) -> None:
        """Add what is shown now to the history."""
        self.history.note(
            Moment(
                self.view.graph.path,
                self.options.grouping,
                self.focused,
                self.view.opened(),
            )
        )

    def travel(self, by: int) -> bool:
        """Go back (-1) or forth (1) in the history; return whether there was anything to show.

        Raises
        ------
        Cancelled
            Where :meth:`cancel` was called.
        """
        moment = self.history.go(by)
        if moment is None:
            return False
        is_regrouped = moment.grouping != self.options.grouping
        if is_regrouped:
            self._group_as(moment.grouping)
        is_elsewhere = moment.graph != self.view.graph.path
        if is_regrouped or is_elsewhere or moment.focused != self.focused:
            self._show(self._find_view(moment))
            self.focused = moment.focused
        self.view.reopen(moment.opened)
        return True

    def reload(self, model: Model) -> None:
        """Show another reading of the model: of its elements what was open, as far as they exist.

        Nothing can be taken back afterwards.

        Raises
        ------
        Cancelled
            Where :meth:`cancel` was called.
        """
        before, focused = self.view, self.focused
        grouping = self.options.grouping
        graph = model.graphs_by_path.get(before.graph.path)
        view = None
        if focused is not None and graph is not None:
            options = asdict(self.options) | {"graph": graph.path, "expand": "none"}
            options |= {"focus": focused[0], "hops": focused[1]}
            with suppress(NotFoundError, ViewError):  # gone with what was changed
                view, _ = make_view(model, ViewOptions.parse(options))
        self.focused = focused if view is not None else None
        view = view or View(model, graph or model.graph, grouping)
        opened = before.opened()
        view.reopen(opened)
        if opened.keys and not any(key in view.items for key in opened.keys):
            expand_view(view, "auto")
        self.model = model
        self.labels, self._composer = Labels(), Composer()
        self._is_new_to_browser = True
        self._views, self._trees, self.history = {}, {}, History()
        self._scene, self.notices = None, []
        self._show(view)

    def _find_view(self, moment: Moment) -> View:
        """Return the view of a moment; what is open in it may be different now."""
        if moment.focused is not None:
            path, hops = moment.focused
            options = asdict(self.options)
            options |= {"graph": moment.graph, "focus": path, "hops": hops, "expand": "none"}
            return make_view(self.model, ViewOptions.parse(options))[0]
        view = self._views.get((moment.grouping, moment.graph))
        if view is not None:
            return view
        graph = self.model[moment.graph]
        assert isinstance(graph, Graph)  # noqa: S101 - the path of what was shown
        return View(self.model, graph, moment.grouping)

    def _candidates(self, path: str) -> Iterable[str]:
        yield path
        yield f"{self.view.root.path}/{path}"
        with suppress(NotFoundError):
            found = self.model[path]
            if found is not self.model:
                yield found.path
                return
        group = self.view.find(path)
        if group is not None:
            yield group

    def breadcrumb(self) -> list[list[str]]:
        """Return path and label of each graph from the main one to the one shown."""
        return list_trail(self.model, self.view.graph)
