"""What can be found in a page, and the texts by which it is found.

Integers and texts of the block (see :mod:`.blocks`). A text is told by a number: from 0 on one of
``texts``, below that one of the texts of the levels that run downwards, -1 being the first. What
is alike of many entries is written once, as a **likeness**. Entries are in the order in which
they are listed, and have a path of the levels, their **place**: where they have no box, row or
edge themselves that is what shows or holds them, as in a kernel.

====================== ============================================================
column                 content
====================== ============================================================
``texts``              texts
``graphs``             path, count of entries
``places``             of each entry the place
``likenesses``         of each entry its likeness
``around``             of each entry the number of the innermost group around it from 1 on,
                       0 without one
``elsewhere``          entry, its path: of those whose place has another
``takers``             entry, place: of those that nodes have as a row that no face shows, the
                       place of each of these nodes
``titles``             entry, its title: of those whose title is not the end of their path
``kinds``              of each likeness its place in ``KINDS``, whether the title is a text of
                       its own (1) or not (0), detail, counts of own texts, of further own
                       texts, which are told, and of texts beside it
``kind_texts``         these texts
``groups``             number of the group around from 1 on, path, count of further texts
``group_texts``        these texts
====================== ============================================================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice

from netloupe.explorer.grouping import Group
from netloupe.explorer.model import Graph, Node
from netloupe.explorer.search.findable import Findable, list_findable, list_group_texts
from netloupe.explorer.view import View
from netloupe.explorer.view.showing import MOST_TAKERS, list_constant_takers
from netloupe.explorer.view.targets import find_first_user, find_hidden, find_target

from .blocks import write_block
from .level_block import IntegerColumns, Numbers
from .limits import USUAL

KINDS = ("graph", "group", "node", "value", "initializer")


def write_search(view: View, numbers: Mapping[str, int], most: int = USUAL.findable) -> bytes:
    """Return the block of what can be found.

    Parameters
    ----------
    view
        What the page shows, everything closed.
    numbers
        Of each path at which something is shown its number among the texts of the levels.
    most
        So many elements are looked at.
    """
    writer = _SearchWriter(numbers)
    places = _Places(view, numbers)
    findable = list_findable(view.model, lambda graph: view.borders(graph).tree)
    for graph, entry in islice(findable, most):
        place = places.find(graph, entry)
        if place is not None:
            writer.add(graph, entry, place, places.list_takers(entry))
    return writer.write()


class _Places:
    """Finds what shows or holds an element."""

    def __init__(self, view: View, numbers: Mapping[str, int]) -> None:
        self._view = view
        self._numbers = numbers

    def find(self, graph: Graph, entry: Findable) -> str | None:
        """Return the path at which an entry is shown; None where it is nowhere."""
        if entry.path in self._numbers:
            return entry.path
        if entry.kind == "graph":
            return self._find_owner(graph)
        if not self._is_inside(graph):  # such as a function, whose calls have paths of their own
            return None
        borders = self._view.borders(graph)
        target, _ = find_target(self._view.model, borders, entry.path)
        if target is None:
            return None
        hidden = find_hidden(borders, target)
        if hidden is not None:
            target = find_first_user(borders, hidden) or hidden.parent
        return self._find_holder(graph, target)

    def list_takers(self, entry: Findable) -> list[str]:
        """Return the places of nodes that have an entry as a row, where no face shows the row."""
        if entry.path in self._numbers or entry.kind in ("graph", "group"):
            return []
        takers = islice(list_constant_takers(self._view.model[entry.path]), MOST_TAKERS)
        found = (self._find_holder(node.graph, node) for node in takers)
        return [place for place in dict.fromkeys(found) if place is not None]

    def _is_inside(self, graph: Graph) -> bool:
        """Return whether a graph is what is shown, or nested in it."""
        while graph is not self._view.graph:
            if graph.parent_node is None:
                return False
            graph = graph.parent_node.graph
        return True

    def _find_holder(self, graph: Graph, target: Node | Group | None) -> str | None:
        while target is not None and target.path not in self._numbers:
            if isinstance(target, Node):
                target = self._view.borders(graph).tree.group_of(target)
            else:
                target = target.parent
        return target.path if target is not None else self._find_owner(graph)

    def _find_owner(self, graph: Graph) -> str | None:
        node = graph.parent_node
        if node is None or graph is self._view.graph:
            return None
        return self._find_holder(node.graph, node)


class _SearchWriter:
    def __init__(self, numbers: Mapping[str, int]) -> None:
        self._numbers = numbers
        self._texts, self._likenesses = Numbers(), Numbers()
        self._columns = IntegerColumns(
            *("likenesses", "elsewhere", "takers", "titles", "groups", "group_texts")
        )
        self._graphs: dict[str, int] = {}
        self._places: list[int] = []
        self._around: list[int] = []
        self._groups: dict[Group, int] = {}

    def add(self, graph: Graph, entry: Findable, place: str, takers: Sequence[str]) -> None:
        """Add an entry that is shown at a path; as a row of takers, where it has no face."""
        count = len(self._places)
        path, title = entry.path, entry.title
        if path != place:
            self._columns.add("elsewhere", (count, self._number(path)))
        for taker in takers:
            self._columns.add("takers", (count, self._numbers[taker]))
        if title != end_of_path(graph.path, entry.kind, path):
            self._columns.add("titles", (count, self._number(title)))
        further = tuple(entry.list_further())
        own = [text for text in entry.own if text]
        is_titled = title in own
        if is_titled:
            own.remove(title)
        beside = tuple(text for text in entry.list_beside() if text)
        likeness = (entry.kind, is_titled, entry.detail, tuple(own), further, beside)
        self._columns.add("likenesses", (self._likenesses.number(likeness),))
        self._graphs[graph.path] = self._graphs.get(graph.path, 0) + 1
        self._places.append(self._numbers[place])
        self._around.append(self._number_group(entry.find_group()))

    def _number(self, text: str) -> int:
        shared = self._numbers.get(text)
        return self._texts.number(text) if shared is None else -1 - shared

    def _number_group(self, group: Group | None) -> int:
        """Return the number of a group, with those around it numbered before."""
        if group is None:
            return 0
        if group not in self._groups:
            around = self._number_group(group.parent)
            path, *texts = list_group_texts(group)
            texts = [text for text in texts if text]
            self._groups[group] = len(self._groups) + 1
            self._columns.add("groups", (around, self._number(path), len(texts)))
            self._columns.add("group_texts", map(self._number, texts))
        return self._groups[group]

    def write(self) -> bytes:
        """Return the block."""
        kinds: list[int] = []
        texts: list[int] = []
        for kind, is_titled, detail, *parts in self._likenesses.list():
            kinds += (KINDS.index(kind), int(is_titled), self._number(detail), *map(len, parts))
            texts += (self._number(text) for part in parts for text in part)
        graphs = [
            number for path, count in self._graphs.items() for number in (self._number(path), count)
        ]
        integers = {
            **self._columns.integers,
            "places": self._places,
            "around": self._around,
            "kinds": kinds,
            "kind_texts": texts,
            "graphs": graphs,
        }
        return write_block(integers, {}, self._texts.list())


def end_of_path(graph: str, kind: str, path: str) -> str:
    """Return what the end of a path says of the name of what is there."""
    mark = 2 if kind in ("value", "initializer") else 1
    return path[len(graph) + mark :].rstrip("/") if kind == "group" else path[len(graph) + mark :]
