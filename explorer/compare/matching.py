"""Pairs of the nodes of two models, graph by graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from netloupe.explorer.model import Function, Graph, Model, Node, Tensor, Value
from netloupe.explorer.progress import part, step

from .activations import TakenIn, find_added, find_biases, find_fused_operator, list_inside
from .by_hand import ByHand, Named, read_by_hand
from .elements import GroupPair, pair_groups, pair_tensors, pair_values
from .folding import has_other_numbers
from .joined import JoinedProjection
from .joining import FoundJoint, find_joined_projections
from .quantizing import take_in_quantizing
from .rest import pair_rest, pair_same_operators
from .roles import list_operands
from .rounds import Made, Rounds, find_apart, hash_outside
from .same_wiring import has_same_wiring
from .separated import pair_separated
from .units import LAYERS, Units, read_units

_BY_HAND = "by hand"
_DATA_AND_WEIGHT = 2


@dataclass(frozen=True, slots=True)
class Pair:
    """Nodes of two models that do the same.

    Parameters
    ----------
    left, right
        One node each; several where one exporter writes as several operators what the other
        writes as fewer, such as a convolution and the batch normalization behind it, or query, key
        and value as one projection.
    key
        What they were paired by: ``"wiring"`` (both graphs are the same but for names and
        numbers), ``"weights"``, ``"name"``, ``"origin"`` (what the exporter says of it),
        ``"surroundings"`` (operators, attributes and sizes of weights around are the same),
        ``"similar surroundings"`` (kinds of operators are), ``"numbered name"`` (such as
        ``Conv_12``), ``"neighbours"`` (of another pair) or ``"place"`` (all that they take and
        all that takes from them is paired; their operators or sizes are not the same);
        ``"by hand"`` where a person has made the pair.
    confidence
        From 0 to 1: what the strongest key is worth that tells the pair from all others, whichever
        key found it. By hand, equal wiring and names: 1; largest weights: 0.99, others: 0.95;
        origin: 0.9; surroundings: 0.7 to 0.9, similar ones: 0.5 to 0.7; numbered names: 0.6; place:
        0.5. A neighbour that nothing else tells from others has 0.9 times what the pair has that it
        was found by, or 0.35 to 0.6 where what is around agrees only in part; what is left at the
        end, such as constants and nodes that only pass a value on, has 0.8. So below 0.5 a pair
        rests on its neighbours alone, seven steps or more away from what is told from others.
        These are no probabilities: they put pairs in an order.
    """

    left: tuple[Node, ...]
    right: tuple[Node, ...]
    key: str
    confidence: float


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
    pairs follow (see :mod:`.rounds`). The time grows about linearly with the number of nodes. Of
    weights some hundred elements each are read.
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
        #: hashes of values that are the same, for graphs inside
        self._known: dict[Value, int] = {}

    def run(self) -> Matching:
        matching = self.matching
        left, right = matching.left, matching.right
        self._add(left.graph, right.graph)
        self._match_waiting()
        self._add_functions(left.functions, right.functions)
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

    def _add_functions(self, left: list[Function], right: list[Function]) -> None:
        """Compare functions that nobody calls, or whose calls are in no pair, by their names."""
        named = {(f.domain, f.name, f.overload): f for f in right}
        for function in left:
            other = named.get((function.domain, function.name, function.overload))
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

    def _find_pairs(self, left: Graph, right: Graph) -> list[Pair]:
        by_hand = self._by_hand
        inside = list_inside(left, right)
        pins = [*by_hand.list_pins(left, right)]
        rounds = self._run_rounds((left, right), inside, pins)
        apart = find_apart(rounds)
        if any(apart):
            rounds = self._run_rounds((left, right), inside, pins, apart)
        units = rounds.sides
        joints = [
            one
            for one in find_joined_projections(rounds)
            if by_hand.allows(one.joint.left, one.joint.right)
        ]
        lefts = {unit for one in joints for unit in one.left}
        rights = {unit for one in joints for unit in one.right}
        pairs: list[Pair] = []
        for unit in sorted(rounds.made):
            made, partner = rounds.made[unit], rounds.partner[0][unit]
            if unit not in lefts and partner not in rights:
                pairs += _split(*units, unit, partner, made)
        pairs = [*by_hand.apply(pair_separated(_take_in_sums(pairs)))]
        pairs += [Pair((one,), (other,), _BY_HAND, 1.0) for one, other in pins]
        known = {node: other for p in pairs for node, other in zip(p.left, p.right, strict=False)}
        pairs += map(self._note_joined, joints)
        paired = {
            *(node for pair in pairs for node in pair.left),
            *(node for pair in pairs for node in pair.right),
        }
        for one, other in pair_rest(left, right, known, paired):
            if (one, other) in by_hand.broken:
                continue
            pairs.append(Pair((one,), (other,), "neighbours", 0.8))
        pairs.sort(key=lambda pair: pair.left[0].index)
        fixed = {*self.matching.joined, *(pair for pair in pairs if pair.key == _BY_HAND)}
        return take_in_quantizing(pairs, fixed)

    def _run_rounds(
        self,
        graphs: tuple[Graph, Graph],
        inside: TakenIn,
        pins: Sequence[tuple[Node, Node]],
        apart: tuple[Collection[int], Collection[int]] = ((), ()),
    ) -> Rounds:
        left, right = (
            read_units(graph, inside, each) for graph, each in zip(graphs, apart, strict=True)
        )
        rounds = Rounds(
            left,
            right,
            hash_outside(left, right, self._known),
            pins=_list_units(left, right, pins),
            broken=_list_units(left, right, self._by_hand.broken),
        )
        rounds.run()
        return rounds

    def _note_joined(self, found: FoundJoint) -> Pair:
        joint, made = found.joint, found.made
        pair = Pair(joint.left, joint.right, made.key, made.confidence)
        self.matching.joined[pair] = joint
        return pair

    def _go_inside(self, pair: Pair) -> None:
        """Note what values are the same, and compare the graphs that paired nodes hold or call."""
        if len(pair.left) != 1 or len(pair.right) != 1:
            return
        left, right = pair.left[0], pair.right[0]
        for one, other in zip(left.outputs, right.outputs, strict=False):
            if one is not None and other is not None:
                self._known[one] = self._known[other] = len(self._known)
        if left.function is not None and right.function is not None:
            self._add(left.function, right.function)
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


def _take_in_sums(pairs: list[Pair]) -> list[Pair]:
    """Return pairs, with the sums and biases beside them that the other model has inside."""
    taken = {node for pair in pairs for node in (*pair.left, *pair.right)}
    found = []
    for pair in pairs:
        sides = []
        for nodes, holders in ((pair.left, pair.right), (pair.right, pair.left)):
            before = [node for node in find_biases(nodes, holders) if node not in taken]
            behind = [node for node in find_added(nodes, holders) if node not in taken]
            taken.update(before, behind)
            sides.append((*before, *nodes, *behind))
        if sides != [pair.left, pair.right]:
            pair = Pair(sides[0], sides[1], pair.key, pair.confidence)
        found.append(pair)
    return found


def _split(left: Units, right: Units, one: int, other: int, made: Made) -> Iterator[Pair]:
    """Yield the pairs of nodes of two units: node by node where they consist of the same.

    An activation that is a node on one side alone belongs to the node of the other side that has
    it inside; where none has, it has no partner.
    """
    lefts, rights = tuple(left.nodes(one)), tuple(right.nodes(other))
    acts = [
        [node for node in nodes if node.index in units.activations]
        for units, nodes in ((left, lefts), (right, rights))
    ]
    rests = [
        tuple(node for node in nodes if node.index not in units.activations)
        for units, nodes in ((left, lefts), (right, rights))
    ]
    pairs = [*_split_rest(left, right, one, other, made, rests)]
    if acts[0] and acts[1]:
        yield from pairs
        if len(acts[0]) != len(acts[1]):  # one of them is written out
            yield Pair(tuple(acts[0]), tuple(acts[1]), made.key, made.confidence)
            return
        for first, second in zip(*acts, strict=True):
            yield Pair((first,), (second,), made.key, made.confidence)
        return
    side = 0 if acts[0] else 1
    for node in acts[side]:
        holder = find_fused_operator(node, rests[1 - side])
        if holder is None:
            continue
        if holder not in rests[1 - side]:
            both = (node, holder)[:: -1 if side else 1]
            pairs.append(Pair((both[0],), (both[1],), made.key, made.confidence))
            continue
        place = next(i for i, pair in enumerate(pairs) if holder in (*pair.left, *pair.right))
        pair = pairs[place]
        first, second = [*pair.left], [*pair.right]
        (second if side else first).append(node)
        pairs[place] = Pair((*first,), (*second,), pair.key, pair.confidence)
    yield from pairs


def _split_rest(
    left: Units,
    right: Units,
    one: int,
    other: int,
    made: Made,
    nodes: Sequence[tuple[Node, ...]],
) -> Iterator[Pair]:
    """Yield the pairs of some nodes of two units."""
    lefts, rights = nodes
    if left.kinds[one] != right.kinds[other]:
        # one exporter's block is not seen as such in the other model: they share a weight
        holders = _find_holder(left, one), _find_holder(right, other)
        if (holders[0].domain, holders[0].op_type) == (holders[1].domain, holders[1].op_type):
            yield Pair((holders[0],), (holders[1],), made.key, made.confidence)
            return
    same = dict(pair_same_operators(lefts, rights))
    partners = {*same.values()}
    rest = (
        tuple(node for node in lefts if node not in same),
        tuple(node for node in rights if node not in partners),
    )
    is_one_sided = bool(rest[0]) != bool(rest[1])
    others = {node.op_type for side in rest for node in side}
    heads = left.head(one), right.head(other)
    is_bias = others <= {"Add", "Mul"} and not has_other_numbers(*heads)
    if is_one_sided and same and is_bias and left.kinds[one] in LAYERS:
        # the same product: what adds a bias to it on one side is no part of it on the other, but
        # what multiplies integers by their scale is
        is_coded = any(head.op_type.endswith("Integer") for head in heads)
        own = "Mul" if is_coded else ""
        scales = [tuple(node for node in side if node.op_type == own) for side in rest]
        fewer = heads[0] if not rest[0] else heads[1]
        if len(list_operands(fewer)) > _DATA_AND_WEIGHT:  # it has a bias itself
            scales = [*rest]
        for first, second in same.items():
            more = scales if left.head(one) is first else [(), ()]
            yield Pair((first, *more[0]), (second, *more[1]), made.key, made.confidence)
        return
    if is_one_sided and (left.kinds[one] == right.kinds[other] or not same):
        # what one side has more is part of all that the other does
        yield Pair(lefts, rights, made.key, made.confidence)
        return
    for first, second in same.items():
        yield Pair((first,), (second,), made.key, made.confidence)
    if rest[0] and rest[1]:
        yield Pair(*rest, made.key, made.confidence)


def _find_holder(units: Units, unit: int) -> Node:
    """Return the node of a unit that takes its largest weight; without any, the first."""
    best = max(units.weights[unit], key=lambda tensor: tensor.size, default=None)
    nodes = [*units.nodes(unit)]
    for node in nodes:
        for value in node.inputs:
            if value is not None and best is not None and value.initializer is best:
                return node
    return nodes[0]
