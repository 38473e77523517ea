"""The groups of a graph that was made of two: those of the newer one, with what is gone in them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate

from netloupe.explorer.model import Graph, Node
from netloupe.explorer.patterns import Recognition

from .group import Group, adopt
from .recognised import Recogniser
from .tree import GroupTree, number_nodes

#: what the path of a removed group ends in where one of the newer graph has the same
REMOVED = " (removed)"
#: groups that no further node is put into: they show one node, or nothing
_CLOSED_KINDS = ("operation", "shape")
#: to find a place for what is gone so many nodes are followed, and so many neighbours asked
_MOST_FOLLOWED = 64
_MOST_NEAREST = 16


@dataclass(frozen=True, slots=True)
class OlderNodes:
    """What of an older graph is gone in a newer one.

    Parameters
    ----------
    tree
        The groups of the older graph.
    gone
        By node of the older graph that has no partner, the node that stands for it.
    partners
        By node of the older graph its partner in the newer one.
    groups
        By group of the older graph the one of the newer graph that holds the same.
    """

    tree: GroupTree
    gone: Mapping[Node, Node]
    partners: Mapping[Node, Node]
    groups: Mapping[Group, Group]


def merge_trees(
    graph: Graph,
    newer: GroupTree,
    nodes: Mapping[Node, Node],
    older: OlderNodes | None,
    differing: Collection[Node],
) -> GroupTree:
    """Return the groups of a graph that holds the nodes of a newer graph and those that are gone.

    Parameters
    ----------
    graph
        The graph.
    newer
        The groups of the newer graph, which are copied.
    nodes
        By node of the newer graph the node that stands for it.
    older
        What of the older graph is gone; None where there is no older graph.
    differing
        Nodes of ``graph`` that are not the same in both: a repeat shows the repetition that holds
        most of them.

    Notes
    -----
    What is gone comes into the group whose partner it was in, behind what gave it its operands.
    Groups of which all is gone remain groups.
    """
    merger = _Merger(graph, newer, nodes)
    if older is not None:
        merger.add(older)
    return merger.finish(differing)


@dataclass
class _Added:
    """What is put into one group: at its begin, behind some of its children, at its end."""

    behind: dict[Group | Node, list[Group | Node]] = field(default_factory=dict)
    before: dict[Group | Node, list[Group | Node]] = field(default_factory=dict)
    last: list[Group | Node] = field(default_factory=list)


class _Merger:
    def __init__(self, graph: Graph, newer: GroupTree, nodes: Mapping[Node, Node]) -> None:
        self.graph, self.newer = graph, newer
        self.copies = _Copies(graph, nodes)
        self.tree = GroupTree(graph, self.copies.copy(newer.root))
        for path, group in newer.groups.items():
            self.tree.groups[path] = self.copies.copy(group)
        for path, node in newer.singles.items():
            if node in nodes:
                self.tree.singles[path] = nodes[node]
        self.tree.node_labels.update(newer.node_labels)
        self._added: dict[Group, _Added] = {}
        self._taken = {*self.tree.groups, *self.tree.singles}

    def add(self, older: OlderNodes) -> None:
        """Put what is gone of the older graph into the groups."""
        tree, gone = older.tree, older.gone
        copies = _Copies(self.graph, gone, self._name_removed)
        counts = [0, *accumulate(node in gone for node in tree.order)]
        pending: list[Group | Node] = [tree.root]
        while pending:
            entry = pending.pop()
            if isinstance(entry, Node):
                around = tree.group_of(entry)
                if entry in gone and around is not None:
                    self._place(older, around, [entry], gone[entry])
            elif entry is not tree.root and (
                counts[entry.high] - counts[entry.low] == entry.high - entry.low > 0
            ):
                members = tree.order[entry.low : entry.high]
                around = entry.parent
                if around is not None:
                    self._place(older, around, members, copies.copy(entry))
            else:
                pending += reversed(entry.children)
        for old, group in copies.known.items():
            self.tree.groups.setdefault(group.path, group)
            self.copies.recogniser.originals[group] = old
        self._label_nodes(older)

    def _label_nodes(self, older: OlderNodes) -> None:
        tree = older.tree
        for node, now in older.gone.items():
            label = tree.node_labels.get(node.index)
            if label is not None:
                self.tree.node_labels[now.index] = label
        for path, node in tree.singles.items():
            if node in older.gone:
                self.tree.singles[self._name_removed(path)] = older.gone[node]

    def _name_removed(self, path: str) -> str:
        """Return the path of a group that is gone, which no other one has."""
        taken = self._taken
        found, base, count = path, f"{path.rstrip('/')}{REMOVED}", 1
        while found in taken:
            found = f"{base}/" if count == 1 else f"{base}#{count}/"
            count += 1
        taken.add(found)
        return found

    def _place(
        self, older: OlderNodes, around: Group, members: list[Node], added: Group | Node
    ) -> None:
        """Put one node or group into the group that it would belong to."""
        known: Group | None = around
        while known is not None and known not in older.groups:
            known = known.parent
        target = self.newer.root if known is None else older.groups[known]
        is_repetition = known is around and around.kind == "repeat" == target.kind
        nearest = [*_list_nearest(older, members, is_before=True)]
        followers = [*_list_nearest(older, members, is_before=False)]
        while target.parent is not None:
            if target.kind == "repeat" and not is_repetition:
                inside = self._find_child(target, nearest) or self._find_child(target, followers)
                if isinstance(inside, Group):
                    target = inside
                    continue
            elif target.kind not in _CLOSED_KINDS:
                break
            else:
                is_repetition = False
            if is_repetition:
                break
            outer = target.parent
            assert outer is not None  # noqa: S101 - asked above
            target = outer
        places = self._added.setdefault(self.copies.copy(target), _Added())
        anchor = self._find_child(target, nearest)
        if anchor is not None:
            places.behind.setdefault(self.copies.of(anchor), []).append(added)
            return
        anchor = self._find_child(target, followers)
        if anchor is not None:
            places.before.setdefault(self.copies.of(anchor), []).append(added)
        else:
            places.last.append(added)

    def _find_child(self, group: Group, nodes: list[Node]) -> Group | Node | None:
        """Return the child of a group of the newer graph that holds one of some nodes."""
        for node in nodes:
            entry: Group | Node = node
            around = self.newer.group_of(node)
            while around is not None and around is not group:
                entry, around = around, around.parent
            if around is group:
                return entry
        return None

    def finish(self, differing: Collection[Node]) -> GroupTree:
        """Put everything in its place, and let repeats show what differs; return the groups."""
        exemplars = [
            (group, group.children[group.exemplar])
            for group in self.copies.known.values()
            if group.kind == "repeat"
        ]
        for group, places in self._added.items():
            children: list[Group | Node] = []
            for child in group.children:
                children += places.before.get(child, ())
                children.append(child)
                children += places.behind.get(child, ())
            group.children = children + places.last
            adopt(group)
        for group, exemplar in exemplars:
            group.exemplar = group.children.index(exemplar)
        tree = self.tree
        tree.root.recogniser = self.copies.recogniser
        number_nodes(tree)
        self._choose_exemplars(differing)
        return tree

    def _choose_exemplars(self, differing: Collection[Node]) -> None:
        tree = self.tree
        marked = {tree.position_of(node) for node in differing if node.graph is self.graph}
        sums = [0, *accumulate(position in marked for position in range(len(tree.order)))]
        for group in dict.fromkeys(tree.groups.values()):
            if group.kind != "repeat" or sums[group.high] == sums[group.low]:
                continue
            counts = []
            for child in group.children:
                low = tree.position_of(child) if isinstance(child, Node) else child.low
                high = low + 1 if isinstance(child, Node) else child.high
                counts.append(sums[high] - sums[low])
            if max(counts) > counts[group.exemplar]:
                group.exemplar = counts.index(max(counts))


def _list_nearest(older: OlderNodes, members: list[Node], *, is_before: bool) -> Iterator[Node]:
    """Yield the nodes of the newer graph next to some that are gone, the nearest first."""
    graph = older.tree.graph
    seen = set(members)
    pending = [*reversed(members)] if is_before else [*members]
    found = 0
    for number, node in enumerate(pending):  # it grows
        for other in _list_next(node, is_before=is_before):
            if other.graph is not graph or other in seen:
                continue
            seen.add(other)
            partner = older.partners.get(other)
            if partner is not None:
                yield partner
                found += 1
            elif other in older.gone and len(pending) < len(members) + _MOST_FOLLOWED:
                pending.append(other)
        if found >= _MOST_NEAREST or number >= len(members) + _MOST_FOLLOWED:
            return


def _list_next(node: Node, *, is_before: bool) -> Iterator[Node]:
    if is_before:
        for value in node.inputs:
            if value is not None and value.producer is not None:
                yield value.producer
    else:
        for value in node.outputs:
            if value is not None:
                yield from value.users


class _Copies:
    """Groups of one graph as those of another.

    Parameters
    ----------
    graph
        The graph that gets them.
    nodes
        By node of the one graph that of the other one.
    name
        Gives the path of the copy of a group that is at a path.
    """

    def __init__(
        self,
        graph: Graph,
        nodes: Mapping[Node, Node],
        name: Callable[[str], str] = lambda path: path,
    ) -> None:
        self.graph, self.nodes = graph, nodes
        self.known: dict[Group, Group] = {}
        self.recogniser = _KnownRecogniser(graph, nodes)
        self._name = name

    def of(self, entry: Group | Node) -> Group | Node:
        return self.nodes[entry] if isinstance(entry, Node) else self.copy(entry)

    def copy(self, group: Group) -> Group:
        """Return the copy of a group, with copies of all that is in it."""
        if group not in self.known:
            order = [group]
            for entry in order:  # it grows
                if entry not in self.known:
                    self.known[entry] = self._copy_alone(entry)
                    order += entry.inner_groups()
                    if entry.stand_in is not None:
                        order.append(entry.stand_in)
            for entry in order:
                self._fill(entry)
        return self.known[group]

    def _copy_alone(self, group: Group) -> Group:
        path, outer = group.path, group.parent
        if outer in self.known and path.startswith(outer.path):
            path = self.known[outer].path + path[len(outer.path) :]
        copy = Group(group.kind, self.graph, self._name(path), group.label, group.type_name)
        copy.exemplar, copy.facts = group.exemplar, group.facts
        self.recogniser.originals[copy] = group
        return copy

    def _fill(self, group: Group) -> None:
        copy = self.known[group]
        copy.children = [
            self.nodes[child] if isinstance(child, Node) else self.known[child]
            for child in group.children
        ]
        # a group that was dissolved still has its children, which are inside another one now
        copy.parent = None if group.parent is None else self.known.get(group.parent)
        copy.main = self.nodes[group.main] if group.main is not None else None
        copy.stand_in = self.known[group.stand_in] if group.stand_in is not None else None


class _KnownRecogniser(Recogniser):
    """Tells of copies of groups what those were recognised as that they were made of."""

    def __init__(self, graph: Graph, nodes: Mapping[Node, Node]) -> None:
        super().__init__(graph)
        self._nodes = nodes
        self.originals: dict[Group, Group] = {}

    def _recognise(self, group: Group) -> Recognition | None:
        original = self.originals.get(group)
        found = original.recognised if original is not None else None
        if found is None:
            return None
        return found._replace(nodes=tuple(self._nodes.get(node, node) for node in found.nodes))
