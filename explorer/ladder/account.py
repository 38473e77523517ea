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
#: so many graphs are gone through from the inside out
_MOST_GRAPHS = 2_000
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
        if entry.topic in _OF_MODEL or (entry.topic == "unread" and not entry.tensors):
            what = entry.changes[0].what.partition(" ")[0] if entry.topic == "interface" else ""
            self.around[what if what in self.around else "model"].append(number)
            return
        places = [*map(list, self._list_places(entry))]
        found = False
        for side, nodes in enumerate(places):
            for node in nodes:
                for shown in self._sides[side].find_shown(node):
                    self._sides[side].entries.setdefault(shown, {})[number] = None
                    found = True
        if not found:
            self.around["model"].append(number)

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
        numbers: dict[int, None] = {}
        for side, rung in enumerate((left, right)):
            known = self._sides[side].entries
            for node in rung.nodes if rung is not None else ():
                if node in known:
                    numbers |= known[node]
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
        self.entries: dict[Node, dict[int, None]] = {}
        self._holders: dict[Graph, list[Node]] = {}

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

    def find_shown(self, node: Node) -> Iterable[Node]:
        """Return the nodes of the main graph that a node is, or that hold its graph or take it."""
        if node.graph is not self.model.graph:
            return self._find_holders(node.graph)
        if self.tree.position_of(node) >= 0:
            return (node,)
        found: dict[Node, None] = {}
        pending, known = [node], {node}
        while pending and len(known) < _MOST_GRAPHS:  # what only stores stands with what takes it
            for value in pending.pop().outputs:
                for user in value.users if value is not None else ():
                    if user in known:
                        continue
                    known.add(user)
                    if user.graph is not self.model.graph:
                        found |= dict.fromkeys(self._find_holders(user.graph))
                    elif self.tree.position_of(user) >= 0:
                        found[user] = None
                    else:
                        pending.append(user)
        return found

    def _find_holders(self, graph: Graph) -> list[Node]:
        """Return the nodes of the main graph inside of which a graph is, called ones included."""
        if graph in self._holders:
            return self._holders[graph]
        found: dict[Node, None] = {}
        pending, known = [graph], {graph}
        while pending and len(known) < _MOST_GRAPHS:
            inner = pending.pop()
            holders = inner.calls if isinstance(inner, Function) else [inner.parent_node]
            for holder in holders:
                if holder is None:
                    continue
                if holder.graph is self.model.graph:
                    found[holder] = None
                elif holder.graph not in known:
                    known.add(holder.graph)
                    pending.append(holder.graph)
        self._holders[graph] = [*found]
        return self._holders[graph]


def _find_tensor(value: Value | None) -> Tensor | None:
    if value is None:
        return None
    if value.initializer is not None:
        return value.initializer if isinstance(value.initializer, Tensor) else None
    producer = value.producer
    if producer is None or producer.op_type != "Constant":
        return None
    return find_stored_tensor(value)


def _list_nodes(group: Group) -> list[Node]:
    tree = find_tree(group.graph.model, group.graph)
    return tree.order[group.low : group.high]
