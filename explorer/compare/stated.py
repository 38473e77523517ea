"""What files say of paired elements, field by field: a second judge beside what is compared.

Nothing is equal because nobody looked. Of each pair all facts are compared that the file states
(:mod:`netloupe.explorer.model.statement`), which follow from the schema alone; and what paired
nodes take has to be the same, operand for operand. Names do not count for that: values are the same
where paired nodes give them, or graphs at one place of their inputs. A wrong pair of nodes can so
make differences, but no equality.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from netloupe.explorer.model import Graph, Model, Node, SparseTensor, Tensor, Value
from netloupe.explorer.model.node_keys import state_node
from netloupe.explorer.model.reading import get_graph_reading
from netloupe.explorer.model.statement import (
    NOTHING_STATED,
    Statement,
)
from netloupe.explorer.model.stored_tensors import find_own_tensor
from netloupe.explorer.readers.protobuf.statements import digest_elements

from .changes import Change, says_same, says_same_tensor
from .operator_versions import align_operands
from .rewiring import is_commutative, tell_both, tell_value
from .stated_graphs import StatedGraphs
from .stated_values import StatedValues, is_stored

if TYPE_CHECKING:
    from .matching import Matching


class StatedFacts:
    """Compares what files say of the elements of two models that are paired.

    Parameters
    ----------
    matching
        The pairs.
    """

    def __init__(self, matching: Matching) -> None:
        self._matching = matching
        self._is_one_format = matching.left.dialect is matching.right.dialect
        self._facts = StatedValues(matching)
        self._graphs = StatedGraphs(matching, self._facts, self._compare_uses)
        self._places = [_place_tensors(model) for model in (matching.left, matching.right)]
        #: constants that stand in one another's place
        self._constants: set[Node] = set()

    @property
    def unjudged(self) -> list[str]:
        """What could not be looked at, and why."""
        return self._facts.unjudged

    @property
    def places(self) -> dict[str, list[Value | Graph]]:
        """Of what is told of the models, by what it is, the values and graphs that it is about."""
        return self._facts.places

    def compare_models(self) -> Iterator[Change]:
        """Yield in what differs what stands in no node and no weight."""
        return self._graphs.compare_models() if self._is_one_format else iter(())

    # values at one place

    def _compare_uses(self, what: str, one: Value | None, other: Value | None) -> Iterator[Change]:
        """Yield in what two values differ that stand at one place, and should be the same."""
        if one is None or other is None:
            if one is not other:
                yield Change(what, one and tell_value(one), other and tell_value(other))
            return
        if (
            self._facts.values.get(one) is other
            or self._facts.is_explained(one)
            or self._facts.is_explained(other)
        ):
            yield from self._compare_constant_nodes(what, one, other)
            return
        if _is_from_nowhere(one) and _is_from_nowhere(other) and one.name == other.name:
            self._facts.add(one, other)
            return
        if not (is_stored(one) and is_stored(other)):
            yield Change(what, *tell_both(one, other, self._facts.back))
            return
        is_new = one not in self._facts.values and other not in self._facts.back
        if is_new:
            self._facts.add(one, other)
        found = [*self._compare_stored(what, one, other)]
        yield from found
        if not is_new and not any(change.aspect == "" for change in found):
            # equal constants, of which one model has one for several of the other
            yield Change(what, *tell_both(one, other, self._facts.back), "storage")

    def _compare_stored(self, what: str, one: Value, other: Value) -> Iterator[Change]:
        """Yield in what two constants differ of which nothing else is told."""
        left, right = find_own_tensor(one), find_own_tensor(other)
        sides = tell_both(one, other, self._facts.back)
        if left is None or right is None:
            nodes = one.producer, other.producer
            if left is not right or nodes[0] is None or nodes[1] is None:
                yield Change(what, *sides)
            else:
                yield from self._compare_constant_nodes(what, one, other)
            return
        if isinstance(left, Tensor) and self._matching.tensors.get(left) is right:
            return
        if (
            left is one.initializer
            and right is other.initializer
            and isinstance(left, SparseTensor)
        ):
            return  # told of the graphs
        same = _form(left) == _form(right)
        if same and isinstance(left, Tensor) and isinstance(right, Tensor):
            digests = digest_elements(left), digest_elements(right)
            self._facts.note_unread(digests, (left.path, right.path))
            same = digests[0] == digests[1]
        elif same and isinstance(left, SparseTensor) and isinstance(right, SparseTensor):
            same = not any(
                change.aspect == ""
                for change in self._facts.compare(
                    _state_sparse(one), _state_sparse(other), one, other
                )
            )
        if not same:
            yield Change(what, *sides)
        elif (one.initializer is None) != (other.initializer is None):
            yield Change(what, _name_storage(one), _name_storage(other), "storage")

    def _compare_constant_nodes(self, what: str, one: Value, other: Value) -> Iterator[Change]:
        """Yield in what nodes differ that only give a constant, and are in no pair."""
        left, right = one.producer, other.producer
        if left is None or right is None or {left, right} & self._facts.paired:
            return
        if not (is_stored(one) and is_stored(other)) or left in self._constants:
            return
        self._constants |= {left, right}
        for change in self._compare_nodes(left, right):
            is_told = change.what.startswith("attribute ") and not change.aspect
            yield change._replace(what=what if is_told else f"{change.what} of {what}")

    # nodes

    def compare_operands(self, left: Node, right: Node) -> Iterator[Change]:
        """Yield where two paired nodes take other values, or wait for others."""
        yield from self._compare_rows("input", left, *align_operands(left, right))
        one, other = left.control_inputs, right.control_inputs
        if len(one) != len(other):
            yield Change("number of control inputs", len(one), len(other))
        yield from self._compare_rows("control input", left, one, other)
        for place, (first, second) in enumerate(zip(left.outputs, right.outputs, strict=False)):
            if (first is None) != (second is None):
                before, after = (None if v is None else tell_value(v) for v in (first, second))
                yield Change(f"output {place}", before, after)

    def _compare_rows(
        self, what: str, node: Node, one: Sequence[Value | None], other: Sequence[Value | None]
    ) -> Iterator[Change]:
        turned = self._turn(one, other) if is_commutative(node) else other
        found = [
            change
            for place, sides in enumerate(zip(one, turned, strict=False))
            for change in self._compare_uses(f"{what} {place}", *sides)
        ]
        yield from found
        if turned is not other and not any(change.aspect == "" for change in found):
            yield Change("order of operands", None, None, "order")

    def _turn(
        self, one: Sequence[Value | None], other: Sequence[Value | None]
    ) -> Sequence[Value | None]:
        """Return operands in the order in which the others have them, where that is another."""
        if len(one) != len(other) or None in one or None in other:
            return other
        rest = [*other]
        turned: list[Value | None] = [self._facts.values.get(value) for value in one if value]
        turned = [value if value in rest else None for value in turned]
        for value in turned:
            if value in rest:
                rest.remove(value)
        # constants that are in no pair yet stand for one another
        rest.sort(key=lambda value: value is not None and is_stored(value))
        for place, value in enumerate(one):
            if turned[place] is None and rest:
                is_last = value is not None and is_stored(value)
                turned[place] = rest.pop(-1 if is_last else 0)
        return other if turned == [*other] else turned

    def compare_nodes(self, left: Node, right: Node) -> Iterator[Change]:
        """Yield in what the file says other things of two paired nodes, their operands aside."""
        return self._compare_nodes(left, right)

    def _compare_nodes(self, left: Node, right: Node) -> Iterator[Change]:
        if not self._is_one_format or says_same(left, right):
            return
        values = (value for value in left.outputs if value is not None)
        ends = next(values, None), next((v for v in right.outputs if v is not None), None)
        known = len(self._facts.unjudged)
        found = self._facts.compare(
            state_node(left), state_node(right), *ends, (left.graph, right.graph)
        )
        if self._give_paired_tensors(*ends):
            found = iter([*found])
            del self._facts.unjudged[known:]  # what cannot be read is told of the weights
        yield from found

    def _give_paired_tensors(self, one: Value | None, other: Value | None) -> bool:
        """Return whether two values are constants that are compared as weights."""
        if one is None or other is None or one.producer is None or other.producer is None:
            return False
        left, right = find_own_tensor(one), find_own_tensor(other)
        return isinstance(left, Tensor) and self._matching.tensors.get(left) is right

    # tensors

    def compare_tensors(self, left: Tensor, right: Tensor) -> Iterator[Change]:
        """Yield in what the file says other things of two initializers, their elements aside."""
        one, other = self._places[0].get(left), self._places[1].get(right)
        if one is None or other is None:
            if one is not other:  # one of both is what a constant node gives
                yield Change(
                    "storage",
                    "initializer" if one is not None else "constant node",
                    "initializer" if other is not None else "constant node",
                    "storage",
                )
            return
        if not self._is_one_format:
            return
        states = [
            NOTHING_STATED if finder is None else finder.state_tensor(place)
            for finder, place in (
                (get_graph_reading(graph).loader, place) for graph, place in (one, other)
            )
        ]
        yield from self._facts.compare(states[0], states[1], graphs=(one[0], other[0]))

    def says_same_tensor(self, left: Tensor, right: Tensor) -> bool:
        """Return whether the files say the same of two initializers, elements included."""
        one, other = self._places[0].get(left), self._places[1].get(right)
        return one is not None and other is not None and says_same_tensor(one, other)

    def pair_unused(self, lefts: Iterable[Node], rights: Iterable[Node]) -> list[Change]:
        """Compare constants that nothing takes, by the names of what they give."""
        found: list[Change] = []
        named = {_name_result(node): node for node in rights if node not in self._constants}
        for node in lefts:
            other = named.get(_name_result(node))
            if other is not None and node not in self._constants:
                self._constants |= {node, other}
                label = f"constant {_name_result(node)}"
                found += (
                    change._replace(what=f"{change.what} of {label}")
                    for change in self._compare_nodes(node, other)
                )
        return found

    def is_compared(self, node: Node) -> bool:
        """Return whether a node that is in no pair was compared as a constant."""
        return node in self._constants


def _is_from_nowhere(value: Value) -> bool:
    """Return whether nothing in the file gives a value: whoever runs the model knows its name."""
    return value.producer is None and value.initializer is None and not value.is_input


def _form(tensor: Tensor | SparseTensor) -> tuple[object, ...]:
    return type(tensor).__name__, tensor.dtype.name, tensor.dims


def _name_storage(value: Value) -> str:
    return "constant node" if value.initializer is None else "initializer"


def _state_sparse(value: Value) -> Statement:
    graph, tensor = value.graph, value.initializer
    loader = get_graph_reading(graph).loader
    for place, one in enumerate(graph.sparse_initializers):
        if one is tensor and loader is not None:
            return loader.state_sparse(place)
    node = value.producer
    return NOTHING_STATED if node is None else state_node(node)


def _place_tensors(model: Model) -> dict[Tensor, tuple[Graph, int]]:
    """Return by initializer its graph, and its place there."""
    return {
        tensor: (graph, place)
        for graph in model.graphs
        for place, tensor in enumerate(graph.initializers)
    }


def _name_result(node: Node) -> str:
    return next((value.name for value in node.outputs if value is not None), "")
