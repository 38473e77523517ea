"""Where each entry of a difference is: at which nodes of the main graphs of both models."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from netloupe.explorer.compare import Diff, DifferenceEntry
from netloupe.explorer.grouping import Group
from netloupe.explorer.grouping.lookup import find_tree
from netloupe.explorer.model import Function, Graph, Model, Node, Tensor, Value
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.progress import step

from .rungs import Rung

#: how a box is painted, and what its mark says
Tone = Literal["same", "removed", "added", "exchanged", "moved", "changed", "unread"]
#: from the one that is told first to the last
_ORDER: tuple[Tone, ...] = ("changed", "exchanged", "moved", "unread")
#: of entries of these topics the weights are in no node that is told with them
_OF_WEIGHTS = frozenset({"weight", "lone weight", "unread", "exchange"})
#: what is neither at a node nor at a weight
_OF_MODEL = frozenset({"interface", "model"})
#: so many nodes that only store are followed to what takes them
_MOST_NODES = 10_000
_STEP = 10_000


def tone_of_entry(entry: DifferenceEntry) -> Tone | None:
    """Return how what an entry is about is painted; None for what is equal or only written."""
    if entry.topic == "exchange":
        return "exchanged"
    if entry.is_real or entry.level in ("moved", "unread"):
        return entry.level  # type: ignore[return-value] # the names are the same
    return None


class Account:
    """Which differences are where in the main graphs of two models.

    Parameters
    ----------
    found
        What differs.
    """

    def __init__(self, found: Diff) -> None:
        step("looking for the places of differences")
        self.found = found
        #: by number of an entry, from 0, how it is painted; only those that are
        self.tones: dict[int, Tone] = {}
        #: entries that are at no node, by where they are: ``input``, ``output`` or ``model``
        self.around: dict[str, list[int]] = {"input": [], "output": [], "model": []}
        self._sides = (_Side(found.left), _Side(found.right))
        self.trees = (self._sides[0].tree, self._sides[1].tree)
        self._alone = ({*found.left_alone}, {*found.right_alone})
        #: by node of the left main graph those of the right one that are in its place
        self.partners: dict[Node, tuple[Node, ...]] = {}
        self._find_partners()
        entries = found.entries
        self._users = [side.find_users(entries, number) for number, side in enumerate(self._sides)]
        for number, entry in enumerate(entries):
            tone = tone_of_entry(entry)
            if tone is not None:
                self.tones[number] = tone
                self._place(number, entry)

    def _find_partners(self) -> None:
        matching = self.found.matching
        main = matching.left.graph, matching.right.graph
        for pair in matching.pairs:
            if pair.left[0].graph is main[0] and pair.right[0].graph is main[1]:
                self._join(pair.left, pair.right)
        for entry in self.found.entries:
            for one in entry.replaced:
                self._join(one.left, one.right)
            if entry.topic == "block" and entry.level == "changed":
                self._join_rewritten(entry)

    def _join(self, lefts: Iterable[Node], rights: Sequence[Node]) -> None:
        for node in lefts:
            self.partners[node] = tuple(rights)

    def _join_rewritten(self, entry: DifferenceEntry) -> None:
        """Let the nodes of blocks that were rewritten be in each other's place, block by block."""
        rights = {group.path: [*_list_nodes(group)] for group in entry.groups}
        for node in entry.left_nodes:
            group = find_tree(self.found.left, node.graph).group_of(node)
            while group is not None and group.path not in rights:
                group = group.parent
            if group is not None:
                self.partners[node] = tuple(rights[group.path])

    # places

    def _place(self, number: int, entry: DifferenceEntry) -> None:
        if entry.topic == "model" and self._place_stated(number, entry):
            return
        if entry.topic in _OF_MODEL or (entry.topic == "unread" and not entry.tensors):
            what = entry.changes[0].what.partition(" ")[0]
            self.around[what if what in self.around else "model"].append(number)
            return
        found = False
        for side, nodes in zip(self._sides, self._list_places(entry), strict=True):
            for node in nodes:
                found |= side.place(number, node)
        if not found:
            self.around["model"].append(number)

    def _place_stated(self, number: int, entry: DifferenceEntry) -> bool:
        """Note where what a model states of values and graphs is; return whether all has a place.

        Of a value that is at the nodes that take it.
        """
        is_whole = True
        for change in entry.changes:
            found = False
            for element in self.found.places.get(change.what, ()):
                is_left = self.found.left is (
                    element.model if isinstance(element, Graph) else element.graph.model
                )
                found |= self._sides[0 if is_left else 1].place_element(number, element)
            is_whole &= found
        return is_whole

    def _list_places(self, entry: DifferenceEntry) -> tuple[Iterable[Node], Iterable[Node]]:
        if entry.topic == "exchange" and entry.groups and entry.pairs:
            lefts = [node for group in entry.groups for node in _list_nodes(group)]
            rights = [other for node in lefts for other in self.partners.get(node, ())]
            return lefts, rights
        lefts = [*entry.left_nodes, *(node for pair in entry.pairs for node in pair.left)]
        rights = [*entry.right_nodes, *(node for pair in entry.pairs for node in pair.right)]
        if entry.topic in _OF_WEIGHTS:
            tensors = [one.left for one in entry.tensors] + [*entry.left_tensors]
            others = [one.right for one in entry.tensors] + [*entry.right_tensors]
            lefts += (user for tensor in tensors for user in self._users[0].get(tensor, ()))
            rights += (user for tensor in others for user in self._users[1].get(tensor, ()))
        return lefts, rights

    def list_turned(self) -> Iterator[tuple[Node, Node]]:
        """Yield nodes of both models whose weights have changed places together with their names.

        By wiring each is paired with what stands in its place now; by weights and names with what
        takes its weights.
        """
        for entry in self.found.entries:
            if entry.topic != "exchange" or not entry.is_whole or entry.pairs:
                continue
            named = {one.right.name: one.right for one in entry.tensors}
            for one in entry.tensors:
                taken = named.get(one.left.name)
                users = self._users[1].get(taken, ()) if taken is not None else ()
                for node in self._users[0].get(one.left, ()):
                    yield from ((node, other) for other in users)

    # rungs

    def list_entries(self, left: Rung | None, right: Rung | None = None) -> tuple[int, ...]:
        """Return the numbers of the entries that are in a rung, or in one of both, in order."""
        numbers: set[int] = set()
        for side, rung in zip(self._sides, (left, right), strict=True):
            if rung is not None:
                numbers |= side.find_entries(rung)
        return tuple(sorted(numbers))

    def is_alone(self, rung: Rung, side: int) -> bool:
        """Return whether no node of a rung has a partner."""
        alone = self._alone[side]
        return bool(rung.nodes) and all(node in alone for node in rung.nodes)

    def choose_tone(self, entries: Iterable[int]) -> Tone:
        """Return how what some entries are in is painted: as what is told first."""
        tones = {self.tones[number] for number in entries}
        if tones & {"removed", "added"}:
            return "changed"  # a part of it is
        return next((tone for tone in _ORDER if tone in tones), "same")


class _Side:
    """One of both models: where its entries are, and in what nodes of the main graph that is."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.tree = find_tree(model, model.graph)
        #: entries by node of the main graph that is shown, and by graph inside of such nodes
        self._entries: dict[Node, dict[int, None]] = {}
        self._inside: dict[Graph, dict[int, None]] = {}
        #: by node of the main graph the graphs inside of it that have entries, and all of these
        self._held: dict[Node, list[Graph]] = {}
        self._shown: set[Graph] = set()

    def find_users(
        self, entries: Iterable[DifferenceEntry], side: int
    ) -> dict[Tensor, dict[Node, None]]:
        """Return by weight that an entry is about the nodes that take it, constants not."""
        wanted: set[Tensor] = set()
        for entry in entries:
            if entry.topic in _OF_WEIGHTS and tone_of_entry(entry) is not None:
                wanted.update((one.left, one.right)[side] for one in entry.tensors)
                wanted.update((entry.left_tensors, entry.right_tensors)[side])
        users: dict[Tensor, dict[Node, None]] = {}
        for graph in self.model.graphs if wanted else ():
            for number, node in enumerate(graph.nodes):
                if not number % _STEP:
                    step()
                for value in node.inputs:
                    tensor = _find_tensor(value)
                    if tensor is not None and tensor in wanted:
                        users.setdefault(tensor, {})[node] = None
        return users

    def place(self, number: int, node: Node) -> bool:
        """Note that an entry is at a node, and return whether a box can show it.

        What is in another graph is at the nodes that hold or call it, what only stores at those
        that take it.
        """
        pending, known = [node], {node}
        is_shown = False
        while pending and len(known) < _MOST_NODES:
            one = pending.pop()
            if one.graph is not self.model.graph:
                is_shown |= self._place_inside(number, one.graph)
            elif self.tree.position_of(one) >= 0:
                self._entries.setdefault(one, {})[number] = None
                is_shown = True
            else:
                users = {u for value in one.outputs if value is not None for u in value.users}
                pending += (user for user in users if user not in known)
                known |= users
        return is_shown

    def place_element(self, number: int, element: Value | Graph) -> bool:
        """Note that an entry is at a value or a graph, and return whether a box can show it."""
        if isinstance(element, Graph):
            return self._place_inside(number, element)
        shown = {self.place(number, node) for node in element.users}  # at each of them
        return True in shown

    def _place_inside(self, number: int, graph: Graph) -> bool:
        if graph not in self._inside:
            self._inside[graph] = {}
            for holder in self._find_holders(graph):
                self._held.setdefault(holder, []).append(graph)
                self._shown.add(graph)
        self._inside[graph][number] = None
        return graph in self._shown

    def _find_holders(self, graph: Graph) -> Iterable[Node]:
        """Return the nodes of the main graph inside of which a graph is, called ones included."""
        found: dict[Node, None] = {}
        pending, known = [graph], {graph}
        while pending:
            inner = pending.pop()
            holders = inner.calls if isinstance(inner, Function) else [inner.parent_node]
            for holder in holders:
                if holder is None:
                    continue
                if holder.graph is not self.model.graph:
                    if holder.graph not in known:
                        known.add(holder.graph)
                        pending.append(holder.graph)
                elif self.tree.position_of(holder) >= 0:
                    found[holder] = None
        return found

    def find_entries(self, rung: Rung) -> set[int]:
        """Return the numbers of the entries that are in a rung."""
        numbers: set[int] = set()
        graphs: dict[Graph, None] = {}
        for node in rung.nodes:
            numbers.update(self._entries.get(node, ()))
            graphs.update(dict.fromkeys(self._held.get(node, ())))
        for graph in graphs:
            numbers.update(self._inside[graph])
        return numbers


def _find_tensor(value: Value | None) -> Tensor | None:
    if value is None:
        return None
    if value.producer is not None and not value.producer.operator.has("stores_constant"):
        return None
    return find_stored_tensor(value)


def _list_nodes(group: Group) -> list[Node]:
    tree = find_tree(group.graph.model, group.graph)
    return tree.order[group.low : group.high]
