"""The role of every node of a graph: what it is for, by the flow of data alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from netloupe.explorer.dataflow import (
    Booleans,
    Integers,
    find_determined_nodes,
    find_input_independence,
    find_leading_nodes,
    is_input_independent,
    list_edges,
)
from netloupe.explorer.model import (
    Graph,
    Node,
    Value,
    find_constant_nodes,
    find_nodes_where,
    find_nodes_with,
)
from netloupe.explorer.model.kept import find_kept
from netloupe.explorer.operators import HANDING_TRAITS, LAYOUT_TRAITS, Operator

from .begun_layers import find_begun_layers
from .computed_features import tell_features
from .messages import find_message_nodes
from .preparation import cut_preparation
from .preparation_pieces import PreparationPiece
from .shape_arithmetic import find_shape_nodes
from .unlearned import find_unlearned
from .weighted import find_weighted
from .written_norms import find_intervals, find_written_norms

#: what a node is for
Role = Literal["body", "preparation", "postprocessing", "arrangement", "shape", "constant"]
_BODY, _PREPARATION, _POSTPROCESSING, _SHAPE, _CONSTANT = range(5)
_ROLES: tuple[Role, ...] = ("body", "preparation", "postprocessing", "shape", "constant")

#: where more stands behind the last layers, nobody looks for sums of branches in it
_MOST_BEHIND = 2_000

#: what changes layout or type and nothing else
_ARRANGING = ("repeats", *LAYOUT_TRAITS)
#: what follows a weight and still belongs to its layer: pooling, pieces, upsampling
_FINISHING = ("joins", "moves_pixels", "pools", "repeats", "resamples", "splits", *HANDING_TRAITS)
#: where preparation is more than all the rest, and than this, the graph is not about weights; a
#: radiance field encodes places in as many nodes as it has layers, and more
_MOST_ALONE = 60
#: what makes a node part of the body even where none of its operands is a weight
_COMPUTING = ("attends", "convolves", "fitted", "multiplies", "recurrent", "routes_experts")


@dataclass(frozen=True, slots=True, eq=False)
class Roles:
    """What the nodes of a graph are for.

    Parameters
    ----------
    codes
        shape (nodes,): a number for each node's role.
    constants
        Indices of the nodes that only give a constant.
    shapes
        Indices of the nodes that only compute with shapes for others.
    pieces
        The preparation, cut by what it feeds.
    loose
        Indices of nodes of preparation that are too few for a piece: they join what they feed.
    """

    graph: Graph
    codes: npt.NDArray[np.uint8]
    constants: tuple[int, ...]
    shapes: frozenset[int]
    pieces: tuple[PreparationPiece, ...] = ()
    loose: frozenset[int] = frozenset()

    def count(self, role: Role) -> int:
        """Return how many nodes have a role; ``arrangement`` counts as ``body``."""
        return int(np.count_nonzero(self.codes == _ROLES.index(role)))

    def is_postprocessing(self, node: Node) -> bool:
        """Return whether a node of the graph is postprocessing."""
        return int(self.codes[self.graph.index_of(node)]) == _POSTPROCESSING

    def of(self, node: Node) -> Role:
        """Return the role of a node of the graph.

        ``preparation``
            No node with a weight gives to it, unless by its shape alone; nor does a normalization
            that is written out.
        ``postprocessing``
            Nodes with weights give to it, and neither it nor what follows has a weight or is a
            product of matrices.
        ``shape``
            It only computes with shapes, for operands of others that tell sizes, places or axes.
        ``constant``
            It only gives a constant.
        ``arrangement``
            In the body: it changes nothing but layout or type, or splits or joins what does.
        ``body``
            Everything else. A graph without any weight is all body.
        """
        role: Role = _ROLES[int(self.codes[self.graph.index_of(node)])]
        if role != "body":
            return role
        if _arranges(node):
            return "arrangement"
        operator = node.operator
        if operator.has("splits"):
            users = [user for value in node.outputs if value is not None for user in value.users]
            return "arrangement" if users and all(map(_arranges, users)) else role
        if operator.has("joins"):
            given = [value.producer for value in node.inputs if value is not None]
            return "arrangement" if given and all(map(_arranges, given)) else role
        return role


def _arranges(node: Node | None) -> bool:
    return node is not None and node.operator.has(*_ARRANGING)


def find_roles(graph: Graph) -> Roles:
    """Return the roles of the nodes of a graph; they are looked for once.

    Notes
    -----
    Op types, operands and wiring are read as columns; nodes are looked at one by one where they
    belong to preparation, tell shapes or give constants. Linear in nodes and edges.
    """
    return find_kept(graph, Roles, lambda: _find(graph))


def _find(graph: Graph) -> Roles:
    count = len(graph.nodes)
    constants = find_constant_nodes(graph)
    shapes = frozenset(find_shape_nodes(graph))
    codes = np.zeros(count, np.uint8)
    codes[constants] = _CONSTANT
    codes[[*shapes]] = _SHAPE
    weighted = find_weighted(graph)
    weighted[[*find_unlearned(graph, weighted)]] = False
    found = Roles(graph, codes, tuple(constants), shapes)
    if not weighted.any():
        return found
    edges = sources, targets = list_edges(graph)
    reads_shape = np.zeros(count, np.bool_)
    reads_shape[find_nodes_with(graph, "reads_shape")] = True
    carrying = ~reads_shape[targets]
    sources, targets = sources[carrying], targets[carrying]
    is_before = find_determined_nodes(~weighted, sources, targets)
    begun = [*find_written_norms(graph, is_before), *find_message_nodes(graph, is_before)]
    begun += find_intervals(graph, is_before)
    if begun:
        weighted[begun] = True
        is_before = find_determined_nodes(~weighted, sources, targets)
    is_fixed = np.frombuffer(find_input_independence(graph).nodes, np.bool_)
    core = is_before & (codes == _BODY)
    core &= ~_find_converting(graph, is_fixed & core, weighted, sources, targets)
    rest = int(np.count_nonzero(codes == _BODY)) - int(np.count_nonzero(core))
    if np.count_nonzero(core) > max(rest, _MOST_ALONE):
        return found
    pieces, loose = cut_preparation(graph, core, is_before, codes == _SHAPE, edges, carrying)
    begun_layers = find_begun_layers(graph, pieces, is_before)
    if begun_layers:
        core[[index for piece in begun_layers for index in piece.nodes]] = False
        pieces = [piece for piece in pieces if piece not in begun_layers]
    pieces = [tell_features(graph, piece) for piece in pieces]
    computing = weighted.copy()
    computing[find_nodes_with(graph, *_COMPUTING)] = True
    is_after = find_determined_nodes(~computing, targets, sources) & ~is_before & (codes == _BODY)
    if _shares_again(graph, is_after, sources, targets):
        is_after[:] = False
    # what no weight leads to is no branch
    is_led = ~is_before[sources]
    _join_branches(graph, is_after, sources[is_led], targets[is_led])
    _finish_layers(graph, is_after, is_fixed, sources, targets)
    unboxed = np.zeros(count, np.bool_)
    unboxed[[*loose]] = True
    codes[core & ~(unboxed & is_fixed)] = _PREPARATION  # few fixed nodes only convert something
    codes[is_after] = _POSTPROCESSING
    few = frozenset(index for index in loose if not is_fixed[index])
    return Roles(graph, codes, tuple(constants), shapes, tuple(pieces), few)


def _shares_again(graph: Graph, is_after: Booleans, sources: Integers, targets: Integers) -> bool:
    """Return whether shares that add up to 1 lead to others among what may be postprocessing.

    Scores are turned into shares once; what does so again, as the routing between capsules, is
    what the network is about (S. Sabour and others, Dynamic Routing Between Capsules, 2017).
    """
    sharing = np.zeros(len(is_after), np.bool_)
    sharing[find_nodes_with(graph, "distributes")] = True
    sharing &= is_after
    if np.count_nonzero(sharing) < 2:
        return False
    following: dict[int, list[int]] = {}
    inner = is_after[sources] & is_after[targets]
    for source, target in zip(sources[inner].tolist(), targets[inner].tolist(), strict=True):
        following.setdefault(source, []).append(target)
    pending = np.flatnonzero(sharing).tolist()
    seen: set[int] = set()
    while pending:
        for target in following.get(pending.pop(), ()):
            if sharing[target]:
                return True
            if target not in seen:
                seen.add(target)
                pending.append(target)
    return False


def _finish_layers(
    graph: Graph, is_after: Booleans, is_fixed: Booleans, sources: Integers, targets: Integers
) -> None:
    """Give to the body what directly follows on it and belongs to the last layers."""
    inner = is_after[sources] & is_after[targets]
    begun = is_after.copy()
    begun[targets[inner]] = False
    following: dict[int, list[int]] = {}
    waiting: dict[int, int] = {}
    for source, target in zip(sources[inner].tolist(), targets[inner].tolist(), strict=True):
        following.setdefault(source, []).append(target)
        waiting[target] = waiting.get(target, 0) + 1
    pending = np.flatnonzero(begun).tolist()
    while pending:
        index = pending.pop()
        node = graph.nodes[index]
        if not (_finishes(node.operator) or _scales(node)):
            continue
        is_after[index] = False
        for target in following.get(index, ()):
            waiting[target] -= 1
            if not waiting[target]:
                pending.append(target)


def _join_branches(graph: Graph, is_after: Booleans, sources: Integers, targets: Integers) -> None:
    """Give to the body each sum of what different layers give, and all that leads to it.

    Branches of the network meet there, as the parts of a recommender do.
    """
    if np.count_nonzero(is_after) > _MOST_BEHIND:
        return
    inside = is_after[targets]
    taken: dict[int, list[int]] = {}
    for source, target in zip(sources[inside].tolist(), targets[inside].tolist(), strict=True):
        taken.setdefault(target, []).append(source)
    # by node, the last layers that lead to it
    layers: dict[int, frozenset[int]] = {}
    joining: list[int] = []
    for index in np.flatnonzero(is_after).tolist():  # producers stand before what takes from them
        each = [layers.get(source, frozenset({source})) for source in taken.get(index, ())]
        layers[index] = frozenset[int]().union(*each)
        is_sum = graph.nodes[index].operator.has("adds") and len(each) > 1
        if is_sum and len(layers[index]) == sum(map(len, each)):
            joining.append(index)
    while joining:
        index = joining.pop()
        if is_after[index]:
            is_after[index] = False
            joining += taken.get(index, ())


def _finishes(operator: Operator) -> bool:
    """Return whether what follows a weight belongs to its layer; probabilities do not."""
    if operator.has("activates"):
        return not operator.has("distributes") and operator.form != "Sigmoid"
    return operator.has(*_FINISHING)


def _scales(node: Node) -> bool:
    """Return whether a node adds or multiplies by a constant, or scales an integer product."""
    operator = node.operator
    return operator.has("adds", "multiplies_elements") and any(
        value is not None and (is_input_independent(value) or _is_integer_product(value))
        for place, value in enumerate(node.inputs)
        if operator.operands.at(place) == "data"
    )


def _is_integer_product(value: Value) -> bool:
    node = value.producer
    product = node.input(0) if node is not None and node.operator.has("casts") else None
    if product is not None:
        node = product.producer
    return node is not None and node.operator.has("scales_product")


def _find_converting(
    graph: Graph, is_fixed: Booleans, weighted: Booleans, sources: Integers, targets: Integers
) -> Booleans:
    """Return the nodes that bring weights, biases and scales into the form in which they are used.

    They belong to the node with the weight. What only chooses rows of a table is none of them.
    """
    if not is_fixed.any():
        return is_fixed
    choosing = np.zeros(len(is_fixed), np.bool_)
    choosing[find_nodes_where(graph, lambda operator: operator.form == "Gather")] = True
    inner = is_fixed[sources]
    sources, targets = sources[inner], targets[inner]
    giving = np.zeros(len(is_fixed), np.bool_)
    giving[sources[weighted[targets] & ~choosing[targets]]] = True
    found = find_leading_nodes(giving, sources, targets)
    positions = _find_positions(graph, is_fixed, sources, targets)
    return found & ~positions


def _find_positions(
    graph: Graph, is_fixed: Booleans, sources: Integers, targets: Integers
) -> Booleans:
    """Return the fixed nodes that make sines of positions, up to what multiplies them by weights.

    A layer projects them, as it does its data (Z. Dai and others, Transformer-XL, 2019, section
    3.3); so they are no weight that is brought into another form.
    """
    found = np.zeros(len(is_fixed), np.bool_)
    found[find_nodes_with(graph, "takes_sine")] = True
    found &= is_fixed
    if not found.any():
        return found
    ends = np.zeros(len(is_fixed), np.bool_)
    ends[find_nodes_with(graph, "multiplies")] = True
    onward = is_fixed[targets] & ~ends[targets]
    found = find_leading_nodes(found, targets[onward], sources[onward])
    return find_leading_nodes(found, sources, targets)
