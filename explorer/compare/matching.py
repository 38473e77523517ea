"""Pairs of the nodes of two models, graph by graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

from netloupe.explorer.model import Function, Graph, Model, Node, Tensor, Value
from netloupe.explorer.progress import part, step

from .activations import TakenIn, list_inside
from .by_hand import ByHand, Named, read_by_hand
from .called import Named as NamedFunctions
from .called import have_same_bodies, may_be_renamed, name_function, name_functions
from .elements import GroupPair, pair_groups, pair_tensors, pair_values
from .interrupted_blocks import pair_interrupted_blocks
from .joined import JoinedProjection
from .joining import FoundJoint, find_joined_projections
from .left_over import pair_left_over
from .node_pairs import pair_nodes_outside_units
from .outside import hash_outside
from .pair import Pair
from .quantizing import take_in_quantizing
from .same_wiring import has_same_wiring
from .unit_matcher import UnitMatcher, find_apart
from .unit_pairs import split_units, take_in_sums
from .units import Units, read_units

_BY_HAND = "by hand"


@dataclass
class Matching:
    """What of two models is the same.

    Parameters
    ----------
    left, right
        The models.
    pairs
        The pairs of nodes, in the order of the left model; each node is in one at most.
    graphs
        The pairs of graphs whose nodes were compared.
    joined
        Of the pairs those in which one model has one projection by a joined weight, and the other
        several, with what is known of their parts.
    """

    left: Model
    right: Model
    pairs: list[Pair] = field(default_factory=list)
    graphs: list[tuple[Graph, Graph]] = field(default_factory=list)
    joined: dict[Pair, JoinedProjection] = field(default_factory=dict)

    @cached_property
    def values(self) -> dict[Value, Value]:
        """By value of the left model that of the right one that is the same."""
        return pair_values(self)

    @cached_property
    def values_back(self) -> dict[Value, Value]:
        """By value of the right model that of the left one that is the same."""
        return {other: one for one, other in self.values.items()}

    @cached_property
    def tensors(self) -> dict[Tensor, Tensor]:
        """By stored tensor of the left model that of the right one that is in its place."""
        return pair_tensors(self)

    def calls_same(self, left: Node, right: Node) -> bool:
        """Return whether the functions that two paired nodes call are compared with each other.

        So is one with what does the same as its partner, as where one model has it twice.

        Parameters
        ----------
        left, right
            The nodes.
        """
        one, other = left.function, right.function
        if one is None or other is None:
            return one is other
        known = self._functions.get(one)
        return known is other or (known is not None and have_same_bodies(known, other))

    @cached_property
    def _functions(self) -> dict[Graph, Function]:
        return {one: other for one, other in self.graphs if isinstance(other, Function)}

    @cached_property
    def groups(self) -> list[GroupPair]:
        """The groups that hold the same nodes, or most of them."""
        return pair_groups(self)

    def list_left_alone(self) -> list[Node]:
        """Return the nodes of the left model that are in no pair."""
        return _list_alone(self.left, {node for pair in self.pairs for node in pair.left})

    def list_right_alone(self) -> list[Node]:
        """Return the nodes of the right model that are in no pair."""
        return _list_alone(self.right, {node for pair in self.pairs for node in pair.right})


def _list_alone(model: Model, paired: set[Node]) -> list[Node]:
    return [node for graph in model.graphs for node in graph.nodes if node not in paired]


def match_models(
    left: Model, right: Model, *, pin: Sequence[Named] = (), unpin: Sequence[Named] = ()
) -> Matching:
    """Find what of two models is the same, whatever it is called and in whatever order.

    Parameters
    ----------
    left, right
        The models; may be one and the same.
    pin
        Pairs that are known, each a node of the left and one of the right model, or their paths
        or names.
    unpin
        Nodes that are no pair, given likewise.

    Returns
    -------
    Matching
        Of equal networks all nodes are paired. Where several are alike and nothing tells them
        apart, as layers of equal numbers, one of them is chosen, in order.

    Notes
    -----
    Keys are tried from strong to weak, and pair only what is unique on both sides; neighbours of
    pairs follow (see :mod:`.unit_matcher`). The time grows about linearly with the number of nodes.
    Of weights some hundred elements each are read.
    """
    return _Matcher(left, right, read_by_hand(left, right, pin, unpin)).run()


class _Matcher:
    def __init__(self, left: Model, right: Model, by_hand: ByHand) -> None:
        self.matching = Matching(left, right)
        self._by_hand = by_hand
        self._count = max(left.node_count + right.node_count, 1)
        self._done = 0
        self._waiting: list[tuple[Graph, Graph]] = []
        self._seen: set[Graph] = set()
        self._functions: tuple[NamedFunctions, NamedFunctions] = (
            name_functions(left),
            name_functions(right),
        )
        #: hashes of values that are the same, for graphs inside
        self._known: dict[Value, int] = {}

    def run(self) -> Matching:
        matching = self.matching
        left, right = matching.left, matching.right
        self._add(left.graph, right.graph)
        self._match_waiting()
        self._add_functions()
        roots = {graph.path: graph for graph in right.graphs if graph.parent_node is None}
        for graph in left.graphs:  # such as training graphs
            if graph.parent_node is None and graph.path in roots:
                self._add(graph, roots[graph.path])
        self._match_waiting()
        known = {pair.left[0] for pair in matching.pairs if pair.key == _BY_HAND}
        for one, other in self._by_hand.pinned.items():
            if one not in known:  # of graphs that were not compared with each other
                matching.pairs.append(Pair((one,), (other,), _BY_HAND, 1.0))
        return matching

    def _add(self, left: Graph, right: Graph) -> None:
        if left not in self._seen and right not in self._seen:
            self._seen |= {left, right}
            self._waiting.append((left, right))

    def _add_functions(self) -> None:
        """Compare functions that nobody calls, or whose calls are in no pair, by their names."""
        for function in self.matching.left.functions:
            other = self._functions[1].get(name_function(function))
            if other is not None:
                self._add(function, other)
        self._match_waiting()

    def _match_waiting(self) -> None:
        while self._waiting:
            self._match_graphs(*self._waiting.pop(0))

    def _match_graphs(self, left: Graph, right: Graph) -> None:
        begin = self._done / self._count
        step("comparing nodes", begin)
        self._done += len(left.nodes) + len(right.nodes)
        self.matching.graphs.append((left, right))
        if not self._by_hand.is_about(left, right) and has_same_wiring(left, right):
            nodes = zip(left.nodes, right.nodes, strict=True)
            pairs = [Pair((one,), (other,), "wiring", 1.0) for one, other in nodes]
        else:
            with part(begin, self._done / self._count):
                pairs = self._find_pairs(left, right)
        pairs.sort(key=lambda pair: pair.left[0].index)
        self.matching.pairs += pairs
        for pair in pairs:
            self._go_inside(pair)
        for is_renamed in (False, True):  # calls of one name tell more
            for pair in pairs:
                self._compare_called(pair, is_renamed=is_renamed)

    def _find_pairs(self, left: Graph, right: Graph) -> list[Pair]:
        by_hand = self._by_hand
        inside = list_inside(left, right)
        pins = [*by_hand.list_pins(left, right)]
        matcher = self._match_units((left, right), inside, pins)
        apart = find_apart(matcher)
        if any(apart):
            matcher = self._match_units((left, right), inside, pins, apart)
        units = matcher.sides
        joints = [
            one
            for one in find_joined_projections(matcher)
            if by_hand.allows(one.joint.left, one.joint.right)
        ]
        lefts = {unit for one in joints for unit in one.left}
        rights = {unit for one in joints for unit in one.right}
        pairs: list[Pair] = []
        for unit in sorted(matcher.bases):
            basis, partner = matcher.bases[unit], matcher.partner[0][unit]
            if unit not in lefts and partner not in rights:
                pairs += split_units(*units, unit, partner, basis)
        pairs = [*by_hand.apply(pair_interrupted_blocks(take_in_sums(pairs)))]
        pairs += [Pair((one,), (other,), _BY_HAND, 1.0) for one, other in pins]
        known = {node: other for p in pairs for node, other in zip(p.left, p.right, strict=False)}
        pairs += map(self._note_joined, joints)
        paired = {
            *(node for pair in pairs for node in pair.left),
            *(node for pair in pairs for node in pair.right),
        }
        for one, other in chain(
            pair_nodes_outside_units(left, right, known, paired),
            pair_left_over(left, right, known, paired, self._known),
        ):
            if (one, other) in by_hand.broken:
                continue
            pairs.append(Pair((one,), (other,), "neighbours", 0.8))
        pairs.sort(key=lambda pair: pair.left[0].index)
        fixed = {*self.matching.joined, *(pair for pair in pairs if pair.key == _BY_HAND)}
        return take_in_quantizing(pairs, fixed)

    def _match_units(
        self,
        graphs: tuple[Graph, Graph],
        inside: TakenIn,
        pins: Sequence[tuple[Node, Node]],
        apart: tuple[Collection[int], Collection[int]] = ((), ()),
    ) -> UnitMatcher:
        left, right = (
            read_units(graph, inside, each) for graph, each in zip(graphs, apart, strict=True)
        )
        matcher = UnitMatcher(
            left,
            right,
            hash_outside(left, right, self._known),
            pins=_list_units(left, right, pins),
            broken=_list_units(left, right, self._by_hand.broken),
        )
        matcher.run()
        return matcher

    def _note_joined(self, found: FoundJoint) -> Pair:
        joint, basis = found.joint, found.basis
        pair = Pair(joint.left, joint.right, basis.key, basis.confidence)
        self.matching.joined[pair] = joint
        return pair

    def _go_inside(self, pair: Pair) -> None:
        """Note what values are the same, and compare the graphs that paired nodes hold."""
        if len(pair.left) != 1 or len(pair.right) != 1:
            return
        left, right = pair.left[0], pair.right[0]
        for one, other in zip(left.outputs, right.outputs, strict=False):
            if one is not None and other is not None:
                self._known[one] = self._known[other] = len(self._known)
        inner: dict[str | None, list[Graph]] = {}
        for graph in right.subgraphs:  # an attribute may hold several
            inner.setdefault(graph.parent_attribute, []).append(graph)
        places: Counter[str | None] = Counter()
        for graph in left.subgraphs:
            attribute = graph.parent_attribute
            others = inner.get(attribute, [])
            if places[attribute] < len(others):
                self._add(graph, others[places[attribute]])
            places[attribute] += 1

    def _compare_called(self, pair: Pair, *, is_renamed: bool) -> None:
        """Compare the functions that paired nodes call, where one may be the other."""
        if len(pair.left) != 1 or len(pair.right) != 1:
            return
        left, right = pair.left[0].function, pair.right[0].function
        if left is None or right is None:
            return
        if (name_function(left) != name_function(right)) != is_renamed:
            return
        if left in self._seen or right in self._seen:
            return
        if not is_renamed or may_be_renamed(left, right, self._functions):
            self._add(left, right)


def _list_units(
    left: Units, right: Units, pairs: Iterable[tuple[Node, Node]]
) -> list[tuple[int, int]]:
    """Return the units that are named after the nodes of some pairs."""
    found = []
    for one, other in pairs:
        if one.graph is left.graph and other.graph is right.graph:
            units = (
                left.unit_of[left.graph.index_of(one)],
                right.unit_of[right.graph.index_of(other)],
            )
            if min(units) >= 0 and left.head(units[0]) is one and right.head(units[1]) is other:
                found.append(units)
    return found
