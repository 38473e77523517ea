"""Marks of a picture: rings around what items are about, and counts on what holds it.

The cost is that of the items' paths times the groups around each, whatever the model's size; but
for functions, whose calls are looked for among all nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.grouping import Group, GroupTree
from netloupe.explorer.model import (
    Function,
    Graph,
    Model,
    Node,
    Tensor,
    Value,
    is_constant_node,
)
from netloupe.explorer.render.paint import Paint, Paints
from netloupe.explorer.view import body_graphs
from netloupe.explorer.view.showing import MOST_TAKERS, list_constant_takers
from netloupe.explorer.view.targets import AllHidden, find_first_user, find_node_showing

from .item import LEVELS, Level, ReviewItem

#: returns the groups of a graph as the picture has them
FindTree = Callable[[Graph], GroupTree]

#: a count above this is written as ``99+``
_MOST_COUNTED = 99
_RANKS = {level: rank for rank, level in enumerate(LEVELS)}


class ItemPlaces(NamedTuple):
    """Where a picture shows what items are about: for each path the numbers of these items.

    Parameters
    ----------
    marked
        By path of a node, a group, or an input or output, the items that are about it.
    holders
        By path of a group, or of a node with graphs in it, the items about something inside.
    repeats
        By path of a repeat pairs: an item, and the number of a repetition in which it is about
        something, from 0.
    """

    marked: dict[str, list[int]]
    holders: dict[str, list[int]]
    repeats: dict[str, list[tuple[int, int]]]


def mark_items(items: Iterable[ReviewItem], model: Model, find_tree: FindTree) -> Paints:
    """Return paint by path for what items are about.

    A node, a group, or an input or output, gets a ring and the sign of the worst item, or how many
    there are. A group, or a node with graphs in it, has in place of that sign how many items are
    about something inside, and a repeat in how many of its repetitions there is anything. Accepted
    items are not marked.

    Parameters
    ----------
    items
        What is to be marked.
    model
        The model of their paths; what is not in it is left out.
    find_tree
        Returns the groups of a graph as the picture has them.
    """
    due = {number: item for number, item in enumerate(items) if not item.accepted}
    return paint_places(place_items(due, model, find_tree), due)


def place_items(items: Mapping[int, ReviewItem], model: Model, find_tree: FindTree) -> ItemPlaces:
    """Return where a picture shows what items are about, whether they are accepted or not.

    Parameters
    ----------
    items
        Items by their numbers.
    model, find_tree
        As for :func:`mark_items`.
    """
    return _Placer(model, find_tree).place(items)


def paint_places(places: ItemPlaces, items: Mapping[int, ReviewItem]) -> Paints:
    """Return paint by path for the items that are to be marked.

    Parameters
    ----------
    places
        Where a picture shows what they and perhaps others are about.
    items
        Items by their numbers; accepted ones are not marked.
    """
    due = {number: item.level for number, item in items.items() if not item.accepted}
    paints: dict[str, Paint] = {}
    for path, numbers in places.holders.items():
        levels = [due[number] for number in numbers if number in due]
        if levels:
            paints[path] = _count(len(levels), levels)
    for path, pairs in places.repeats.items():
        found = [pair for pair in pairs if pair[0] in due]
        if found:
            count = len({repetition for _, repetition in found})
            paints[path] = _count(count, [due[number] for number, _ in found])
    for path, numbers in places.marked.items():
        levels = [due[number] for number in numbers if number in due]
        if levels:
            style = LEVELS[min(levels, key=_RANKS.__getitem__)]
            mark = style.sign if len(levels) == 1 else _write_number(len(levels))
            ringed = Paint(ring=style.tone, mark=mark, dashed=style.tone == "removed")
            inside = paints.get(path)
            if inside is not None:  # its count stays
                ringed = replace(ringed, mark=inside.mark, mark_tone=inside.mark_tone)
            paints[path] = ringed
    return paints


class _Placer:
    def __init__(self, model: Model, find_tree: FindTree) -> None:
        self._model = model
        self._find_tree = find_tree
        self._trees: dict[Graph, GroupTree] = {}
        self._calls: dict[Function, list[Node]] | None = None
        #: by path the items that are about it, or about something inside, each once
        self._marked: dict[str, dict[int, None]] = {}
        self._holders: dict[str, dict[int, None]] = {}
        self._repeats: dict[str, dict[tuple[int, int], None]] = {}
        #: by repeat the numbers of its repetitions
        self._repetitions: dict[Group, dict[Group | Node, int]] = {}

    def place(self, items: Mapping[int, ReviewItem]) -> ItemPlaces:
        for number, item in items.items():
            for path in item.paths:
                self._place_path(number, path)
        return ItemPlaces(
            {path: [*numbers] for path, numbers in self._marked.items()},
            {path: [*numbers] for path, numbers in self._holders.items()},
            {path: [*pairs] for path, pairs in self._repeats.items()},
        )

    def _place_path(self, number: int, path: str) -> None:
        if path.endswith("/"):
            self._place_group(number, path)
            return
        element = self._find(path)
        for node in self._find_nodes(element, path):
            _note(self._marked, node.path, number)
            self._note_around(number, node)
            holder = self._find_row_holder(node, element)
            if holder is not None:
                _note(self._holders, holder.path, number)
                self._note_around(number, holder)
        if "%" in path:  # an input or output has a box of its own
            _note(self._marked, path, number)
        if isinstance(element, Graph) and _is_branch(element):
            _note(self._marked, path, number)

    def _place_group(self, number: int, path: str) -> None:
        graph = self._find_graph(path)
        tree = None if graph is None else self._tree(graph)
        group = None if tree is None else tree.groups.get(path) or tree.singles.get(path)
        if group is not None:
            _note(self._marked, group.path, number)
            self._note_around(number, group)
            holder = None
            if tree is not None and isinstance(group, Group) and group.kind == "shape":
                holder = find_first_user(AllHidden(tree), group)
            if holder is not None:
                _note(self._holders, holder.path, number)
                self._note_around(number, holder)

    def _find_graph(self, path: str) -> Graph | None:
        """Return the graph that a group's path begins with."""
        while path:
            path = path.rpartition("/")[0]
            if path in self._model.graphs_by_path:
                return self._model.graphs_by_path[path]
        return None

    def _find_nodes(self, element: object, path: str) -> Iterator[Node]:
        """Yield the nodes by which a picture shows an element at a path."""
        if isinstance(element, Node):
            yield from _list_drawn(element)
        elif isinstance(element, Value):
            if element.producer is not None:
                yield from _list_drawn(element.producer)
            else:
                yield from islice(list_constant_takers(element), MOST_TAKERS)
        elif isinstance(element, Tensor) and "." in path:  # in an attribute
            holder = self._find(path.rpartition(".")[0])
            if isinstance(holder, Node):
                yield from _list_drawn(holder)
        elif isinstance(element, Function):
            yield from self._list_calls(element)
        elif isinstance(element, Graph) and element.parent_node is not None:
            yield element.parent_node

    def _find_row_holder(self, node: Node, element: object) -> Node | None:
        """Return the node that has what hidden shape arithmetic gives as a row; None for none.

        Parameters
        ----------
        node
            A node that may be a part of it.
        element
            What is looked for: the node itself, or a value that it gives or takes.
        """
        hiding = AllHidden(self._tree(node.graph))
        hidden = hiding.hidden_group(node)
        if hidden is None:
            return None
        if isinstance(element, Value) and element.producer is node:
            shown = find_node_showing(hiding, element)
            if shown is not None and hiding.hidden_group(shown) is None:
                return shown
        return find_first_user(hiding, hidden)

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

    def _note_around(self, number: int, element: Group | Node) -> None:
        """Count an item on every group around an element, and on nodes whose bodies these are."""
        seen = {element.graph}
        pending = [element]
        while pending:
            inner = pending.pop()
            self._note_groups(number, inner)
            graph = inner.graph
            holder = graph.parent_node
            if holder is not None:
                around = [holder]
            else:
                around = self._list_calls(graph) if isinstance(graph, Function) else []
            if _is_branch(graph):
                _note(self._holders, graph.path, number)
            for outer in around:
                _note(self._holders, outer.path, number)
            # of the calls in one graph all are counted, and what is around that graph once
            for outer in around:
                if outer.graph not in seen:
                    seen.add(outer.graph)
                    pending.append(outer)
                else:
                    self._note_groups(number, outer)

    def _tree(self, graph: Graph) -> GroupTree:
        tree = self._trees.get(graph)
        if tree is None:
            tree = self._trees[graph] = self._find_tree(graph)
        return tree

    def _note_groups(self, number: int, element: Group | Node) -> None:
        tree, inner = self._tree(element.graph), element
        group = element.parent if isinstance(element, Group) else tree.group_of(element)
        while group is not None and group is not tree.root:
            if group.kind == "repeat":
                pair = number, self._number_repetition(group, inner)
                self._repeats.setdefault(group.path, {})[pair] = None
            else:
                _note(self._holders, group.path, number)
            inner, group = group, group.parent

    def _number_repetition(self, repeat: Group, repetition: Group | Node) -> int:
        numbers = self._repetitions.get(repeat)
        if numbers is None:
            numbers = {child: number for number, child in enumerate(repeat.children)}
            self._repetitions[repeat] = numbers
        return numbers[repetition]


def _list_drawn(node: Node) -> Iterator[Node]:
    """Yield a node, of one that only gives a constant those that have it as a row."""
    if is_constant_node(node):
        yield from islice(list_constant_takers(node), MOST_TAKERS)
    else:
        yield node


def _is_branch(graph: Graph) -> bool:
    """Return whether a graph has a box of its own beside others in that of its node."""
    return graph.parent_node is not None and len(body_graphs(graph.parent_node)) > 1


def _note(places: dict[str, dict[int, None]], path: str, number: int) -> None:
    places.setdefault(path, {})[number] = None


def _count(number: int, levels: Iterable[Level]) -> Paint:
    worst = min(levels, key=_RANKS.__getitem__)
    return Paint(mark=_write_number(number), mark_tone=LEVELS[worst].tone)


def _write_number(number: int) -> str:
    return f"{number}" if number <= _MOST_COUNTED else f"{_MOST_COUNTED}+"
