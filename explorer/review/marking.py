"""Marks of a picture: rings around what items are about, and counts on what holds it.

The cost is that of the items' paths times the groups around each, whatever the model's size; but
for functions, whose calls are looked for among all nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.grouping import Group, GroupTree
from netloupe.explorer.model import Function, Graph, Model, Node, Tensor, Value
from netloupe.explorer.render.paint import Paint, Paints

from .item import LEVELS, Level, ReviewItem

#: returns the groups of a graph as the picture has them
FindTree = Callable[[Graph], GroupTree]

#: a count above this is written as ``99+``
_MOST_COUNTED = 99
#: of a weight that very many nodes use, so many of them are marked
_MOST_USERS = 200
_RANKS = {level: rank for rank, level in enumerate(LEVELS)}


@dataclass(slots=True)
class _Held:
    """What is marked inside something."""

    level: Level
    #: numbers of the items
    items: set[int] = field(default_factory=set)
    #: of a repeat, the repetitions in which something is marked
    repetitions: set[Group | Node] = field(default_factory=set)
    is_repeat: bool = False

    def add(self, number: int, level: Level) -> None:
        self.items.add(number)
        if _RANKS[level] < _RANKS[self.level]:
            self.level = level


def mark_items(items: Iterable[ReviewItem], model: Model, find_tree: FindTree) -> Paints:
    """Return paint by path for what items are about.

    A node, or an input or output, gets a ring and the sign of the worst item, or how many there
    are; a group how many items are about something in it, and a repeat in how many of its
    repetitions there is anything. Accepted items are not marked.

    Parameters
    ----------
    items
        What is to be marked.
    model
        The model of their paths; what is not in it is left out.
    find_tree
        Returns the groups of a graph as the picture has them.
    """
    return _Marker(model, find_tree).mark(items)


class _Marker:
    def __init__(self, model: Model, find_tree: FindTree) -> None:
        self._model = model
        self._find_tree = find_tree
        self._trees: dict[Graph, GroupTree] = {}
        self._calls: dict[Function, list[Node]] | None = None
        #: by path, what is marked itself, and what holds it
        self._marked: dict[str, _Held] = {}
        self._holders: dict[str, _Held] = {}

    def mark(self, items: Iterable[ReviewItem]) -> Paints:
        for number, item in enumerate(items):
            if not item.accepted:
                for path in item.paths:
                    self._mark_path(number, item.level, path)
        paints = {path: _count(held) for path, held in self._holders.items()}
        for path, held in self._marked.items():
            style = LEVELS[held.level]
            mark = style.sign if len(held.items) == 1 else _write_number(len(held.items))
            is_gone = style.tone == "removed"
            paints[path] = Paint(ring=style.tone, mark=mark, dashed=is_gone)
        return paints

    def _mark_path(self, number: int, level: Level, path: str) -> None:
        for node in self._find_nodes(path):
            self._note(self._marked, node.path, number, level)
            self._note_around(number, level, node)
        if "%" in path:  # an input or output has a box of its own
            self._note(self._marked, path, number, level)

    def _note(self, places: dict[str, _Held], path: str, number: int, level: Level) -> _Held:
        held = places.get(path)
        if held is None:
            held = places[path] = _Held(level)
        held.add(number, level)
        return held

    def _find_nodes(self, path: str) -> Iterator[Node]:
        """Yield the nodes by which a picture shows what is at a path."""
        element = self._find(path)
        if isinstance(element, Node):
            yield element
        elif isinstance(element, Value):
            if element.producer is not None:
                yield element.producer
            elif not element.is_input:
                yield from list(element.users)[:_MOST_USERS]
        elif isinstance(element, Tensor) and "." in path:  # in an attribute
            holder = self._find(path.rpartition(".")[0])
            if isinstance(holder, Node):
                yield holder
        elif isinstance(element, Function):
            yield from self._list_calls(element)
        elif isinstance(element, Graph) and element.parent_node is not None:
            yield element.parent_node

    def _find(self, path: str) -> object:
        try:
            return self._model[path]
        except NetloupeError:
            return None

    def _list_calls(self, function: Function) -> list[Node]:
        if self._calls is None:
            self._calls = {}
            for graph in self._model.graphs:
                for node in graph.nodes:
                    called = node.function
                    if called is not None:
                        self._calls.setdefault(called, []).append(node)
        return self._calls.get(function, [])

    def _note_around(self, number: int, level: Level, node: Node) -> None:
        """Count an item on every group around a node, and on the nodes whose bodies these are."""
        seen = {node.graph}
        pending = [node]
        while pending:
            inner = pending.pop()
            self._note_groups(number, level, inner)
            graph = inner.graph
            holder = graph.parent_node
            if holder is not None:
                around = [holder]
            else:
                around = self._list_calls(graph) if isinstance(graph, Function) else []
            for outer in around:
                self._note(self._holders, outer.path, number, level)
            # of the calls in one graph all are counted, and what is around that graph once
            for outer in around:
                if outer.graph not in seen:
                    seen.add(outer.graph)
                    pending.append(outer)
                else:
                    self._note_groups(number, level, outer)

    def _note_groups(self, number: int, level: Level, node: Node) -> None:
        tree = self._trees.get(node.graph)
        if tree is None:
            tree = self._trees[node.graph] = self._find_tree(node.graph)
        inner: Group | Node = node
        group = tree.group_of(node)
        while group is not None and group is not tree.root:
            held = self._note(self._holders, group.path, number, level)
            if group.kind == "repeat":
                held.is_repeat = True
                held.repetitions.add(inner)
            inner, group = group, group.parent


def _count(held: _Held) -> Paint:
    number = len(held.repetitions) if held.is_repeat else len(held.items)
    return Paint(mark=_write_number(number), mark_tone=LEVELS[held.level].tone)


def _write_number(number: int) -> str:
    return f"{number}" if number <= _MOST_COUNTED else f"{_MOST_COUNTED}+"
