"""What tells a node of others when names have changed: numbers and surroundings, as digests.

Digests are the same in every process and for every file that says the same of a node, so they can
be kept in a file and looked up in another version of the model.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property

from netloupe.explorer.compare import (
    digest_weight,
    find_stated_origin,
    find_telling_name,
    shape_of_digest,
)
from netloupe.explorer.dataflow import trace_back
from netloupe.explorer.model import (
    Model,
    Node,
    Tensor,
    Value,
    find_constant_source,
    find_nodes_by_op_type,
    is_constant_node,
)
from netloupe.explorer.operators import CONVERTING_TRAITS
from netloupe.explorer.progress import step

#: names of clues from strong to weak; what :mod:`.anchor` stores and :mod:`.locate` looks up
CLUES = ("weights", "name", "origin", "near", "around", "close")
#: those that are stored besides: they confirm or contradict
SIDES = ("before", "behind")
#: so many other weights of a model are stored, by which it is told whether it was trained again
_MOST_WITNESSES = 6
_MOST_ASKED = 200

#: so many nodes that pass a value on in another form are looked through
_MOST_PASSED = 8
#: the users of a value with more of them are not looked at one by one
_MOST_USERS = 64
#: so many nodes are looked at on the way to the next weights
_MOST_ON_WAY = 64
#: steps that surroundings reach
_WIDE, _CLOSE = 2, 1
_STEP = 500

#: operator, domain
_Kind = tuple[str, str]


class ClueIndex:
    """The clues of the nodes of a model, worked out as they are asked for.

    Parameters
    ----------
    model
        A model, which does not change.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self._digests: dict[Tensor, int | None] = {}
        self._weights: dict[Node, Tensor | None] = {}
        self._colours: dict[tuple[Node, int], str] = {}
        self._alike: dict[_Kind, list[Node]] = {}
        self._by_clue: dict[tuple[_Kind, str], dict[str, list[Node]]] = {}
        self._near: dict[tuple[Node, bool], list[str]] = {}

    @cached_property
    def structure(self) -> str:
        """A digest of operators, names and wiring of all graphs, numbers in weights left out."""
        digest = hashlib.blake2b(digest_size=12)
        for graph in self.model.graphs:
            step("reading notes")
            words = [graph.path, *graph.values]
            for node in graph.nodes:
                words += (node.name, node.op_type, node.domain)
            digest.update("\0".join(words).encode("utf-8", "surrogatepass"))
            wiring = graph.wiring
            digest.update(wiring.used.tobytes() + wiring.bounds.tobytes())
        return digest.hexdigest()

    @cached_property
    def witnesses(self) -> list[tuple[str, str, str]]:
        """Operators, domains and weights of some nodes, spread over the main graph.

        Where another version has none of these weights, it was trained again.
        """
        nodes = self.model.graph.nodes
        stride = max(1, len(nodes) // _MOST_ASKED)
        found: dict[str, tuple[str, str, str]] = {}
        for node in nodes[::stride]:
            told = self._tell_weights(node)
            if told:
                found.setdefault(told, (node.op_type, node.domain, told))
        every = [*found.values()]
        return every[:: max(1, len(every) // _MOST_WITNESSES)][:_MOST_WITNESSES]

    def list_alike(self, op_type: str, domain: str) -> list[Node]:
        """Return the nodes of all graphs with an operator."""
        kind = op_type, domain
        if kind not in self._alike:
            self._alike[kind] = [
                graph.nodes[index]
                for graph in self.model.graphs
                for index in find_nodes_by_op_type(graph, {op_type}).tolist()
                if graph.nodes[index].domain == domain
            ]
        return self._alike[kind]

    def find(self, op_type: str, domain: str, clue: str, digest: str) -> list[Node]:
        """Return the nodes with an operator of which a clue is this one."""
        key = (op_type, domain), clue
        if key not in self._by_clue:
            found: dict[str, list[Node]] = defaultdict(list)
            for number, node in enumerate(self.list_alike(op_type, domain)):
                if not number % _STEP:
                    step("looking for noted elements")
                told = self.tell(node, clue)
                if told:
                    found[told].append(node)
            self._by_clue[key] = found
        return self._by_clue[key].get(digest, [])

    def tell_all(self, node: Node) -> dict[str, str]:
        """Return the clues that a node has."""
        told = {clue: self.tell(node, clue) for clue in (*CLUES, *SIDES)}
        return {clue: digest for clue, digest in told.items() if digest}

    def tell(self, node: Node, clue: str) -> str:
        """Return a clue of a node; "" where it has none."""
        if clue == "weights":
            return self._tell_weights(node)
        if clue == "name":
            name = find_telling_name(node)
            return "" if name is None else _hash(name)
        if clue == "origin":
            origin = find_stated_origin(node)
            return "" if origin is None else _hash(*origin)
        if clue == "near":
            return self._tell_near(node)
        if clue in SIDES:
            found = self._find_near(node, is_before=clue == "before")
            return _hash(*found) if found else ""
        return self._colour(node, _WIDE if clue == "around" else _CLOSE)

    def _tell_weights(self, node: Node) -> str:
        tensor = self._find_weight(node)
        digest = None if tensor is None else self._digest(tensor)
        return "" if digest is None else f"{digest:016x}"

    def _digest(self, tensor: Tensor) -> int | None:
        if tensor not in self._digests:
            self._digests[tensor] = digest_weight(tensor)
        return self._digests[tensor]

    def _find_weight(self, node: Node) -> Tensor | None:
        """Return the largest constant operand of a node, whatever passes it on."""
        if node not in self._weights:
            largest: Tensor | None = None
            for value in node.inputs:
                tensor = None if value is None else _find_tensor(value)
                if tensor is not None and (largest is None or tensor.size > largest.size):
                    largest = tensor
            self._weights[node] = largest
        return self._weights[node]

    def _tell_near(self, node: Node) -> str:
        """Return a digest of the nearest weights before and behind a node; "" without any."""
        before = self._find_near(node, is_before=True)
        behind = self._find_near(node, is_before=False)
        return _hash("before", *before, "behind", *behind) if before or behind else ""

    def _find_near(self, node: Node, *, is_before: bool) -> list[str]:
        """Return how far the nearest nodes with weights of their own are, and digests of these."""
        key = node, is_before
        if key not in self._near:
            self._near[key] = self._look_for_near(node, is_before=is_before)
        return self._near[key]

    @cached_property
    def _shared(self) -> frozenset[str]:
        """Digests of weights that several nodes take: they tell of no place in the model."""
        counts: Counter[str] = Counter()
        for graph in self.model.graphs:
            for number, node in enumerate(graph.nodes):
                if not number % _STEP:
                    step("looking for noted elements")
                # what passes a weight on takes it for another
                if not node.operator.has(*CONVERTING_TRAITS):
                    counts[self._tell_weights(node)] += 1
        return frozenset(digest for digest, count in counts.items() if count > 1)

    def _look_for_near(self, node: Node, *, is_before: bool) -> list[str]:
        level, seen, distance = [node], {node}, 0
        if is_before and next(_list_givers(node), None) is None:
            level = _list_users(node)  # a constant is told by what it is computed with
            seen.update(level)
        while level and len(seen) < _MOST_ON_WAY:
            distance += 1
            level = [
                other
                for each in level
                for other in (_list_givers(each) if is_before else _list_users(each))
            ]
            level = [other for other in dict.fromkeys(level) if other not in seen]
            seen.update(level)
            told = {*filter(None, map(self._tell_weights, level))}
            found = sorted(told - self._shared)
            if found:
                return [str(distance), *found]
        return []

    def _colour(self, node: Node, radius: int) -> str:
        """Return a digest of a node and what is around it, so many steps away."""
        key = node, radius
        known = self._colours.get(key)
        if known is not None:
            return known
        tensor = self._find_weight(node)
        told = [node.op_type, node.domain, repr(shape_of_digest(tensor)) if tensor else ""]
        if radius:
            told += [
                "" if giver is None else self._colour(giver, radius - 1)
                for giver in map(_find_giver, node.inputs)
                if giver is not node
            ]
            users = _list_users(node)
            is_many = len(users) > _MOST_USERS
            told += ["many"] if is_many else sorted(self._colour(u, radius - 1) for u in users)
            told += [f"result {p}" for p, v in enumerate(node.graph.outputs) if v in node.outputs]
        colour = self._colours[key] = _hash(*told)
        return colour


def _hash(*words: str) -> str:
    text = "\0".join(words).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=8).hexdigest()


def _find_tensor(value: Value) -> Tensor | None:
    """Return the stored tensor behind a constant operand, if there is one at hand."""
    for _ in range(_MOST_PASSED):
        tensor = value.initializer
        if isinstance(tensor, Tensor):
            return tensor
        producer = value.producer
        if producer is None:
            return None
        if not producer.inputs:
            constant = producer.details.constant if _is_constant(producer) else None
            return constant if isinstance(constant, Tensor) else None
        first = producer.input(0)
        if first is None or not producer.operator.has(*CONVERTING_TRAITS):
            return None
        value = first
    return None


def _is_constant(node: Node) -> bool:
    """Return whether a node gives a constant: a DequantizeLinear of computed codes does not."""
    is_giving = find_constant_source(node.operator) is not None
    return is_giving and (not node.inputs or is_constant_node(node))


def _find_giver(value: Value | None) -> Node | None:
    """Return the node that computes an operand, whatever passes it on; None for constants."""
    producer = None
    for source in trace_back(value, *CONVERTING_TRAITS, most=_MOST_PASSED):
        producer = source.producer
        if producer is None or _is_constant(producer):
            return None
    is_passed = (
        producer is not None and producer.inputs and producer.operator.has(*CONVERTING_TRAITS)
    )
    return None if is_passed else producer


def _list_givers(node: Node) -> Iterator[Node]:
    """Yield the nodes that compute the operands of a node."""
    for value in node.inputs[:_MOST_USERS]:
        giver = _find_giver(value)
        if giver is not None:
            yield giver


def _list_users(node: Node) -> list[Node]:
    """Return the nodes that use what a node gives, whatever passes it on; a few of very many."""
    found: dict[Node, None] = {}
    waiting = [*reversed(node.outputs)]
    for _ in range(4 * _MOST_USERS):
        if not waiting or len(found) > _MOST_USERS:
            break
        value = waiting.pop()
        for user in () if value is None else value.users[: 2 * _MOST_USERS]:
            if user is not node and user.operator.has(*CONVERTING_TRAITS):
                waiting += user.outputs
            else:
                found[user] = None
    return [*found]


def count_alike(index: ClueIndex, node: Node, clues: Mapping[str, str]) -> dict[str, int]:
    """Return of how many nodes with the operator of a node each clue is the same."""
    kind = node.op_type, node.domain
    counted = (clue for clue in CLUES if clue in clues)
    return {clue: len(index.find(*kind, clue, clues[clue])) for clue in counted}
