"""A judge of equality that knows of no pairs: what two files say, each in its own order.

Before two models are called identical everything that both files state is compared once more, graph
by graph and node by node as they stand there, by the names that they have. So what the pairing
mistakes, or what is left out where pairs are compared, is found all the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from netloupe.explorer.model import Graph, Node, Tensor, Value
from netloupe.explorer.model.node_keys import state_node
from netloupe.explorer.model.reading import get_graph_reading, get_model_reading
from netloupe.explorer.model.statement import Statement, UnreadElements, list_ways
from netloupe.explorer.progress import step

from .aspects import Aspect, find_aspect, name_field
from .changes import Change, have_same_elements, says_same, says_same_tensor

if TYPE_CHECKING:
    from .matching import Matching

_STEP = 1_000


class InOrder:
    """Compares two models of one format without pairs of nodes.

    Parameters
    ----------
    matching
        The models; and which tensors were compared already.
    """

    def __init__(self, matching: Matching) -> None:
        self._left, self._right = matching.left, matching.right
        self._compared: Mapping[Tensor, Tensor] = matching.tensors

    def compare(self) -> Iterator[Change]:
        """Yield in what the models differ, with the paths of the elements."""
        states = [get_model_reading(model).state for model in (self._left, self._right)]
        if states[0] is not None and states[1] is not None:
            yield from self._compare_statements("the model", states[0](), states[1]())
        for one, other in zip_longest(self._left.graphs, self._right.graphs):
            if one is None or other is None or one.path != other.path:
                sides = [None if graph is None else graph.path for graph in (one, other)]
                yield Change("graph", sides[0], sides[1])
                return
            yield from self._compare_graphs(one, other)

    def _compare_graphs(self, one: Graph, other: Graph) -> Iterator[Change]:
        for what in ("inputs", "outputs"):
            names = [_list_names(getattr(graph, what)) for graph in (one, other)]
            if names[0] != names[1]:
                yield Change(f"{what} of {one.path}", names[0], names[1])
        if len(one.nodes) != len(other.nodes):
            yield Change(f"number of nodes of {one.path}", len(one.nodes), len(other.nodes))
            return
        for number, pair in enumerate(zip(one.nodes, other.nodes, strict=True)):
            if not number % _STEP:
                step()
            yield from self._compare_nodes(*pair)
        finders = get_graph_reading(one).loader, get_graph_reading(other).loader
        if finders[0] is not None and finders[1] is not None:
            where = one.path
            yield from self._compare_statements(
                where, finders[0].state_graph(), finders[1].state_graph()
            )
            keys = finders[0].key_values(), finders[1].key_values()
            for name in sorted(keys[0].keys() | keys[1].keys()):
                if keys[0].get(name) != keys[1].get(name):
                    yield from self._compare_statements(
                        f"value '{name}' in {where}",
                        finders[0].state_value(name),
                        finders[1].state_value(name),
                    )
        yield from self._compare_stored(one, other)

    def _compare_nodes(self, one: Node, other: Node) -> Iterator[Change]:
        for what in ("op_type", "domain", "overload", "name"):
            sides = getattr(one, what), getattr(other, what)
            if sides[0] != sides[1]:
                aspect: Aspect = "names" if what == "name" else ""
                yield Change(f"{what} of {one.path}", sides[0], sides[1], aspect)
        for what in ("inputs", "outputs", "control_inputs"):
            names = [_list_names(getattr(node, what)) for node in (one, other)]
            if names[0] != names[1]:
                yield Change(f"{what} of {one.path}", names[0], names[1])
        if not says_same(one, other):
            yield from self._compare_statements(one.path, state_node(one), state_node(other))

    def _compare_stored(self, one: Graph, other: Graph) -> Iterator[Change]:
        """Compare initializers, by name: their order says nothing."""
        finders = get_graph_reading(one).loader, get_graph_reading(other).loader
        places = [_place_by_name(graph.initializers) for graph in (one, other)]
        if places[0].keys() != places[1].keys() or len(one.initializers) != len(other.initializers):
            yield Change(f"initializers of {one.path}", sorted(places[0]), sorted(places[1]))
            return
        for name, place in places[0].items():
            tensors = one.initializers[place], other.initializers[places[1][name]]
            if says_same_tensor((one, place), (other, places[1][name])):
                continue
            where = f"initializer '{name}' in {one.path}"
            if finders[0] is not None and finders[1] is not None:
                yield from self._compare_statements(
                    where,
                    finders[0].state_tensor(place),
                    finders[1].state_tensor(places[1][name]),
                )
            is_compared = self._compared.get(tensors[0]) is tensors[1]
            if not is_compared and have_same_elements(*tensors) is False:
                yield Change(f"elements of {where}", None, None)
        sparse = [graph.sparse_initializers for graph in (one, other)]
        if len(sparse[0]) != len(sparse[1]):
            counts = len(sparse[0]), len(sparse[1])
            yield Change(f"number of sparse initializers of {one.path}", counts[0], counts[1])
        elif finders[0] is not None and finders[1] is not None:
            numbered = [{each.name: place for place, each in enumerate(side)} for side in sparse]
            for name, place in numbered[0].items():
                yield from self._compare_statements(
                    f"sparse initializer '{name}' in {one.path}",
                    finders[0].state_sparse(place),
                    finders[1].state_sparse(numbered[1].get(name, place)),
                )

    def _compare_statements(
        self, where: str, left: Statement, right: Statement
    ) -> Iterator[Change]:
        dialect = self._left.dialect
        for way in list_ways(left, right):
            one, other = left.get(way), right.get(way)
            contents = [None if fact is None else fact.content for fact in (one, other)]
            is_unread = any(isinstance(content, UnreadElements) for content in contents)
            if is_unread or (one is not None and other is not None and contents[0] == contents[1]):
                continue  # what cannot be read is told of the models
            aspect = find_aspect(way, one, other, dialect)
            if aspect is not None:
                shown = [None if fact is None else fact.shown for fact in (one, other)]
                what = f"{name_field(way, dialect)} of {where}"
                yield Change(what, shown[0], shown[1], aspect)


def _list_names(values: Sequence[Value | None]) -> list[str]:
    return ["" if value is None else value.name for value in values]


def _place_by_name(tensors: Sequence[Tensor]) -> dict[str, int]:
    return {tensor.name: place for place, tensor in enumerate(tensors)}
