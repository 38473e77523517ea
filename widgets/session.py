"""What an explorer shows: the views of a model's graphs, and the scene that is current.

No widget is involved here, so that everything can be tested without a browser.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from typing import Any

from netloupe.explorer.errors import NotFoundError, ViewError
from netloupe.explorer.layout import Composer, Scene
from netloupe.explorer.model import Graph, Model, Node, Value
from netloupe.explorer.picture import Labels, Picture, ViewOptions, make_view
from netloupe.explorer.render.wire import encode_scene
from netloupe.explorer.search import search_model
from netloupe.explorer.view import Item, View, body_graphs, expand_view

#: the list of hits in the browser is this long
MOST_HITS = 100


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
        self._composer = Composer()
        self._cancelled = threading.Event()
        view, self.notices = make_view(model, options)
        self.view = view
        self._views: dict[str, View] = {view.graph.path: view}

    # the scene

    def compose(self) -> Scene:
        """Lay out the current view."""
        self._cancelled.clear()
        scene = self._composer.compose(
            self.view, self.labels, self.options.direction, cancelled=self._cancelled.is_set
        )
        scene.notices = self.notices + scene.notices
        self.notices = []
        return scene

    def encode(self, scene: Scene) -> tuple[dict[str, Any], list[bytes]]:
        """Return a scene as the canvas gets it."""
        return encode_scene(scene, self.labels.faces.face)

    def picture(self, scene: Scene) -> Picture:
        """Return a scene of this session with what is needed to draw it elsewhere."""
        return Picture(self.model, self.view, self.options, scene, self.labels)

    def cancel(self) -> None:
        """End the layout that is under way."""
        self._cancelled.set()

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

    def expand(self, mode: str) -> None:
        """Make the current view anew with everything, nothing or what is readable open."""
        old = self.view
        view = View(self.model, old.graph, old.grouping, old.only)
        notice = expand_view(view, mode)
        self.notices = [notice] if notice else []
        self.view = self._views[view.graph.path] = view

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
        view = self._views.get(found.path)
        if view is None:
            view = View(self.model, found, self.options.grouping)
            expand_view(view, "auto")
            self._views[found.path] = view
        self.view = view
        return found

    def reveal(self, path: str) -> str:
        """Open what hides an element, change to its graph where need be; return its path.

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
            # a group may be known by the paths of several levels, or be a single node
            return item.path if candidate.endswith("/") else candidate
        found: Any = self.model[path]
        graph = found if isinstance(found, Graph) else getattr(found, "graph", None)
        target: str = found.path
        if graph is None or (graph is self.view.graph and found is graph):
            return target
        root = _outermost(graph)
        if root is self.view.graph and self.view.only is not None:
            self._views.pop(root.path)  # a neighbourhood does not hold it: show all
        self.enter(root.path)
        if found is not root:
            self.view.reveal(target)
        return target

    def _candidates(self, path: str) -> Iterable[str]:
        yield path
        yield f"{self.view.root.path}/{path}"
        try:
            yield getattr(self.model[path], "path", path)
        except NotFoundError:
            group = self.view.find(path)
            if group is not None:
                yield group

    def breadcrumb(self) -> list[list[str]]:
        """Return path and label of each graph from the main one to the one shown."""
        trail: list[list[str]] = []
        graph: Graph | None = self.view.graph
        while graph is not None:
            label = graph.name or graph.path
            if graph.parent_node is not None:
                node = graph.parent_node
                label = f"{node.name.rsplit('/', 1)[-1] or node.op_type}.{graph.parent_attribute}"
            elif graph is self.model.graph:
                label = "main"
            trail.append([graph.path, label])
            graph = graph.parent_node.graph if graph.parent_node is not None else None
        if trail[-1][0] != self.model.graph.path:
            trail.append([self.model.graph.path, "main"])
        return trail[::-1]

    def search(self, text: str, *, regex: bool = False) -> tuple[list[dict[str, Any]], int]:
        """Return the first hits as the canvas lists them, and how many there are."""
        hits = search_model(self.model, text, regex=regex)
        first = [
            {
                "path": hit.path,
                "title": hit.title,
                "detail": hit.detail,
                "kind": hit.kind,
                "shown": self._shown(hit.path),
            }
            for hit in islice(hits, MOST_HITS)
        ]
        return first, len(first) + sum(1 for _ in hits)

    def _shown(self, path: str) -> str | None:
        item = self.view.shown(path)
        return item.path if item is not None else None

    def element(self, path: str) -> Any:
        """Return the item or the element of the model that is at a path.

        Groups exist only in views, so that they are found as items.
        """
        item = self.view.items.get(path)
        if item is not None and not isinstance(item.element, (Node, Value, Graph)):
            return item.element
        group = self.view.group_at(path)
        return group if group is not None else self.model[path]


def _outermost(graph: Graph) -> Graph:
    while graph.parent_node is not None:
        graph = graph.parent_node.graph
    return graph
