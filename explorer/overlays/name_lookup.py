"""Where names lead: to nodes of a graph, to a group, to a value that no node gives."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

from netloupe.explorer.compare.names import match_names
from netloupe.explorer.grouping import Group
from netloupe.explorer.model import Graph, Model, Node, Value
from netloupe.explorer.model.paths import CALL, find_element, index_nodes

#: a key with more slashes is no path: each of them may end the path of a graph
_MOST_SLASHES = 200
#: so many nodes are fused in one chain at most
_MOST_FUSED = 4
#: from so many names on it is worth it to list how the names of elements end
_MANY_NAMES = 50_000

#: why a name has no place
NO_ELEMENT = "nothing in the model has this name"
SEVERAL = "several elements have this name"


class NamePlace(NamedTuple):
    """Where a name leads: nodes of one graph, or a path that no node has."""

    prefix: str
    graph: Graph | None
    indices: tuple[int, ...]
    path: str = ""


class NameFinder:
    """Finds the places of names: exact paths, names of nodes, names of values.

    Parameters
    ----------
    model
        Where they are looked for.
    find_group
        Returns whether a path is that of a group.
    expected
        How many names will be asked for. Where they are many more than the model has elements,
        most are told by their last part to be no element's.
    """

    def __init__(
        self, model: Model, find_group: Callable[[str], bool], *, expected: int = 0
    ) -> None:
        self.model = model
        self._find_group = find_group
        self._graphs = model.graphs  # listed anew whenever they are asked for
        self._names: dict[str, list[Node]] | None = None
        self._values: dict[str, list[Value]] | None = None
        self._ends: set[str] | None = None
        if expected > _MANY_NAMES:
            elements = sum(len(graph.nodes) + len(graph.values) for graph in self._graphs)
            if expected > elements:
                self._ends = _list_ends(self._graphs)

    def find(self, name: str, *, is_added: bool = False) -> NamePlace | str:
        """Return where a name leads, or why nowhere.

        Parameters
        ----------
        is_added
            Whether numbers add up: what is said of a weight is then with one of its users alone.
        """
        if name.endswith("/"):
            return NamePlace("", None, (), name) if self._find_group(name) else NO_ELEMENT
        if self.rules_out(name):
            return NO_ELEMENT
        if "/" in name and name.count("/") <= _MOST_SLASHES:
            found = find_element(self.model, name)
            if isinstance(found, Node):
                return NamePlace(_cut_prefix(name, found), found.graph, (found.index,))
            if isinstance(found, Value):
                return self._place_value(found, is_added)
            if isinstance(found, Graph):
                holder = found.parent_node
                return NO_ELEMENT if holder is None else _place_nodes([holder])
        return self._find_by_name(name, is_added)

    def rules_out(self, name: str) -> bool:
        """Return whether no element can have a name, as none's ends so; of groups it says nothing.

        It is known only where many names are expected.
        """
        ends = self._ends
        if ends is None or name in ends:
            return False
        return "/" not in name or (name.rpartition("/")[2] not in ends and CALL not in name)

    def rules_out_all(self, names: Collection[str]) -> bool:
        """Return whether no element and no group can have one of some names, none of them a path.

        As :meth:`rules_out`, and False where it is not quickly seen.
        """
        ends = self._ends
        return ends is not None and ends.isdisjoint(names) and "/" not in "".join(names)

    def _find_by_name(self, name: str, is_added: bool) -> NamePlace | str:
        if self._names is None:
            self._names = {}
            for graph in self._graphs:
                for known, nodes in index_nodes(graph).names.items():
                    self._names.setdefault(known, []).extend(nodes)
        nodes = self._names.get(name, [])
        if nodes:
            return _place_nodes(nodes) if len(nodes) == 1 else SEVERAL
        values = self._find_values(name) or self._find_values(name.removeprefix("%"))
        if not values:
            return NO_ELEMENT
        return self._place_value(values[0], is_added) if len(values) == 1 else SEVERAL

    def _find_values(self, name: str) -> list[Value]:
        graphs = self._graphs
        if len(graphs) == 1:
            found = graphs[0].values.get(name)
            return [] if found is None else [found]
        if self._values is None:  # of thousands of functions not each is asked for each name
            self._values = {}
            for graph in graphs:
                for known, value in graph.values.items():
                    self._values.setdefault(known, []).append(value)
        return self._values.get(name, [])

    def find_normalised(self, names: Sequence[str], *, is_added: bool) -> dict[str, NamePlace]:
        """Return where names lead that no element has as they are, by the matcher of names.

        It knows groups by the ends of their paths, and names without regard to case and to the
        signs between words; what means several elements is not in it.
        """
        places: dict[str, NamePlace] = {}
        for name, one in match_names(self.model, names).found.items():
            element = one.element
            if isinstance(element, Node):
                places[name] = _place_nodes([element])
            elif isinstance(element, Value):
                places[name] = self._place_value(element, is_added)
            elif isinstance(element, Group):
                places[name] = NamePlace("", None, (), element.path)
        return places

    def _place_value(self, value: Value, is_added: bool) -> NamePlace:
        if value.producer is not None:
            return _place_nodes([value.producer])
        users = [user for user in dict.fromkeys(value.users) if user.graph is value.graph]
        if value.initializer is not None and users:
            return _place_nodes(users[:1] if is_added else users)
        return NamePlace("", None, (), value.path)


def _list_ends(graphs: Iterable[Graph]) -> set[str]:
    """Return what stands behind the last slash of every path and every name."""
    ends = set[str]()
    for graph in graphs:
        ends.add(graph.path.rpartition("/")[2])
        for node in graph.nodes:
            ends.add(node.path.rpartition("/")[2])
            ends.add(node.name.rpartition("/")[2])
        for name in graph.values:
            end = name.rpartition("/")[2]
            ends |= {end, f"%{end}"}
    return ends


def _place_nodes(nodes: Iterable[Node]) -> NamePlace:
    listed = [*nodes]
    graph = listed[0].graph
    return NamePlace(graph.path, graph, tuple(node.index for node in listed))


def _cut_prefix(path: str, node: Node) -> str:
    """Return what a path begins with, up to the end that a node has in its graph."""
    end = node.path[len(node.graph.path) :]
    return path[: -len(end)] if path.endswith(end) else node.graph.path


def find_fused(graph: Graph, indices: tuple[int, ...], operator: str) -> tuple[int, ...]:
    """Return a node together with those that were fused with it, in order.

    A runtime calls a fused node as its last one, or as its first, and what it computes as the
    heaviest: ``Conv`` for a convolution with the Relu behind it, ``Gemm`` for a MatMul with an Add.

    Parameters
    ----------
    graph, indices
        Where the name of the node leads.
    operator
        What it computed where it was measured; "" where that is not known.
    """
    if not operator or len(indices) != 1:
        return indices
    node = graph.nodes[indices[0]]
    wanted = operator.removeprefix("Fused")
    if node.op_type in (operator, wanted):
        return indices
    if wanted == "Gemm" and node.operator.form == "MatMul":
        users = {user for value in node.outputs if value is not None for user in value.users}
        user = users.pop() if len(users) == 1 else None
        if user is not None and user.operator.has("adds") and user.graph is graph:
            return (graph.index_of(node), graph.index_of(user))
    chain = [graph.index_of(node)]
    while len(chain) < _MOST_FUSED:
        first = next((value for value in node.inputs if value is not None), None)
        if first is None or first.producer is None or first.producer.graph is not graph:
            break
        if len(first.users) != 1:
            break
        node = first.producer
        chain.append(graph.index_of(node))
        if node.op_type == wanted:
            return tuple(sorted(chain))
    return indices
