"""Layers that sum up what the neighbours in a graph have, by a square that tells who they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.model import Value

from .adjacencies import Adjacency, read_step
from .convolution_details import ConvolutionDetails
from .details import FeatureDetails
from .found_blocks import FoundBlock, FoundBlocks
from .linear import make_pointwise, write_widths
from .operations import Operations
from .readings import read_axes

#: so many operations behind a step are looked at
_MOST_BEHIND = 200
_CHEBYSHEV = 2.0
#: axes of squares, or matrices, of several relations
_STACKED = 3
RELATIONAL = "Relational graph convolution"
_SUMS = ("Add", "Sub", "Sum")

#: by the operation, the graph that it sums up by, and what it sums up
Steps = dict[int, tuple[Adjacency, Value]]


class Relations(NamedTuple):
    """Of a sum over relations how many there are, and what the matrix of each takes and gives."""

    relations: int
    taken: int
    given: int


@dataclass(eq=False)
class _Layer:
    """What a layer consists of, while its operations are gone through.

    Parameters
    ----------
    root
        What the first of its steps take.
    plain
        By value that weights have not mixed yet, by how many steps it was made of the root.
    """

    root: Value
    plain: dict[Value, int]
    mixed: set[Value] = field(default_factory=set)
    joined: set[Value] = field(default_factory=set)
    numbers: set[int] = field(default_factory=set)
    waiting: dict[Value, FoundBlock] = field(default_factory=dict)
    weights: list[FoundBlock] = field(default_factory=list)
    graphs: dict[Value, Adjacency] = field(default_factory=dict)
    scaled: set[int] = field(default_factory=set)
    is_chebyshev: bool = False
    is_weighted: bool = False
    relations: Relations | None = None


def find_graph_convolutions(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find sums over the neighbours in a graph, A·x, and the weights before or behind them.

    A·(x·W) or (A·x)·W (T. Kipf and M. Welling, Semi-Supervised Classification with Graph
    Convolutional Networks, 2017, equation 2); the sums of several steps and graphs, of which each
    has weights of its own, are a diffusion convolution (Y. Li and others, Diffusion Convolutional
    Recurrent Neural Network, 2018, equation 2), and a Chebyshev one where steps go on as
    2·L·t - t' (M. Defferrard and others, Convolutional Neural Networks on Graphs, 2016, equation
    4). Where each of several graphs has a matrix of its own, and the sum goes over all of them, it
    is a relational one (M. Schlichtkrull and others, Modeling Relational Data with Graph
    Convolutional Networks, 2018, equation 2). A sum alone has no weights.
    """
    steps = _list_steps(blocks)
    done: set[int] = set()
    for number in steps:
        if number in done:
            continue
        found = _read_layer(blocks, steps, number)
        done |= found.numbers
        yield found


def find_stored_graphs(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find sums over the neighbours in stored graphs alone, each with its weights.

    A residual block of such layers is told by them (S. Yan and others, Spatial Temporal Graph
    Convolutional Networks, 2018, section 3.3); where graphs are learned or fed, other ideas are
    looked for first, such as pooling.
    """
    steps = _list_steps(blocks)
    if all(graph.origin == "stored" for graph, _ in steps.values()):
        yield from find_graph_convolutions(blocks)


def _list_steps(blocks: FoundBlocks) -> Steps:
    operations = blocks.operations
    steps: Steps = {}
    for number in range(len(operations)):
        if blocks.owner[number] is None and (step := read_step(operations, number)) is not None:
            steps[number] = step
    return steps


def _read_layer(blocks: FoundBlocks, steps: Steps, first: int) -> FoundBlock:
    operations = blocks.operations
    root = steps[first][1]
    layer = _Layer(root, {root: 0})
    for number in range(first, min(first + _MOST_BEHIND, len(operations))):
        _take(blocks, steps, layer, number)
    before = _find_before(blocks, root)
    if before is not None and layer.numbers.issuperset(operations.users[before.end]):
        layer.numbers |= before.numbers
        layer.weights.append(before)
    layer.numbers |= {n for n in layer.scaled if layer.numbers.issuperset(operations.users[n])}
    ends = [n for n in layer.numbers if not layer.numbers.issuperset(operations.users[n])]
    if len(ends) != 1:
        is_first = before is not None and {*operations.users[before.end]} == {first}
        own = [before] if before is not None and is_first else []
        return _name(layer, {first}.union(*(one.numbers for one in own)), first, own, 1)
    depth = max(layer.plain.values())
    return _name(layer, layer.numbers, ends[0], layer.weights, depth)


def _find_before(blocks: FoundBlocks, root: Value) -> FoundBlock | None:
    """Return the weights that give what a layer takes; as a convolution at single places, too."""
    number = blocks.operations.giver(root)
    found = blocks.ending(number, "linear")
    if found is not None or number is None:
        return found
    owner = blocks.ending(number, "conv")
    if owner is None and blocks.owner[number] is None:
        return make_pointwise(blocks, number)
    is_point = owner is not None and owner.details.read_as(ConvolutionDetails).is_pointwise
    return owner if is_point and owner is not None and len(owner.numbers) == 1 else None


def _take(blocks: FoundBlocks, steps: Steps, layer: _Layer, number: int) -> None:
    """Take an operation into a layer, where it goes on with what is in it."""
    operations = blocks.operations
    node, owner = operations.nodes[number], blocks.owner[number]
    result = node.output(0)
    if result is None or number in layer.numbers:
        return
    if number in steps:
        graph, features = steps[number]
        if features in layer.plain:
            layer.numbers.add(number)
            layer.plain[result] = layer.plain[features] + 1
            layer.graphs[graph.value] = graph
        return
    taken = operations.operands[number]
    if owner is not None:
        _take_weights(blocks, layer, owner, number)
    elif operations.kinds[number] in ("Mul", "Div") and len(taken) == 1:
        is_scaled = operations.scalar(number) is not None
        if is_scaled and layer.plain.get(taken[0], 0) > 0:
            layer.numbers.add(number)
            layer.plain[result] = layer.plain[taken[0]]
    elif operations.kinds[number] == "ReduceSum" and len(taken) == 1 and taken[0] in layer.mixed:
        layer.relations = _read_relations(operations, layer, number)
        if layer.relations is not None:
            layer.numbers.add(number)
            layer.mixed.add(result)
    elif operations.kinds[number] in _SUMS:
        _take_sum(operations, layer, number, result)
    elif operations.kinds[number] == "Einsum" and len(taken) == 1 and layer.plain.get(taken[0]):
        layer.numbers.add(number)  # each node may have weights of its own
        layer.mixed.add(result)
        layer.is_weighted = True
    elif node.operator.has("joins") and {*taken} - {layer.root} and {*taken} <= layer.plain.keys():
        layer.numbers.add(number)
        layer.joined.add(result)


def _take_weights(blocks: FoundBlocks, layer: _Layer, owner: FoundBlock, number: int) -> None:
    operations = blocks.operations
    taken = operations.operands[number]
    is_pointwise = owner.kind == "linear" or (
        owner.kind == "conv" and owner.details.read_as(ConvolutionDetails).is_pointwise
    )
    result = operations.nodes[owner.end].output(0)
    if not is_pointwise or number != min(owner.numbers) or len(taken) != 1 or result is None:
        return
    if taken[0] is layer.root:
        layer.waiting[result] = owner
    elif taken[0] in layer.joined or taken[0] in layer.plain:
        is_alone = operations.only_user(operations.giver(taken[0]) or 0) == number
        if is_alone or taken[0] in layer.plain:
            layer.numbers |= owner.numbers
            layer.weights.append(owner)
            layer.mixed.add(result)


def _read_relations(operations: Operations, layer: _Layer, number: int) -> Relations | None:
    """Return what a sum goes over that is of all graphs of a layer, each with its own matrix."""
    if len(layer.graphs) != 1 or len(layer.weights) != 1:
        return None
    (graph,) = layer.graphs.values()
    facts = find_value_facts(graph.value.graph.model)
    squares = facts.find_dims(graph.value) or ()
    stored = [value for one in layer.weights[0].numbers for value in operations.fixed(one)]
    matrices = [
        dims for value in stored if (dims := facts.find_dims(value)) and len(dims) == _STACKED
    ]
    if len(squares) != _STACKED or len(matrices) != 1:
        return None
    count, taken, given = matrices[0]
    axes = {axis % _STACKED for axis in read_axes(operations.nodes[number]) or ()}
    if axes != {0} or count != squares[0] or not isinstance(count, int) or count < 2:
        return None
    sizes = [size if isinstance(size, int) else 0 for size in (taken, given)]
    return Relations(count, *sizes)


def _take_sum(operations: Operations, layer: _Layer, number: int, result: Value) -> None:
    """Take a sum of what weights gave, or of what has been through steps of several counts."""
    taken = operations.operands[number]
    known = layer.mixed | layer.waiting.keys()
    if len(taken) == 1 and len(operations.fixed(number)) != 1:
        return
    if taken and all(v in known for v in taken) and any(v in layer.mixed for v in taken):
        for value in taken:
            owner = layer.waiting.get(value)
            if owner is not None and operations.only_user(owner.end) == number:
                layer.numbers |= owner.numbers
                layer.weights.append(owner)
            elif owner is not None:
                return
        layer.numbers.add(number)
        layer.mixed.add(result)
        return
    if len(taken) == 1 and layer.plain.get(taken[0], 0) > 0 and len(operations.fixed(number)) == 1:
        layer.numbers.add(number)  # a bias
        layer.plain[result] = layer.plain[taken[0]]
        return
    scaled = {v: _read_scaled(operations, v) for v in taken}
    sources = [
        layer.plain.get(v, layer.plain.get(s, -1) if s is not None else -1)
        for v, s in scaled.items()
    ]
    if len(taken) < 2 or min(sources, default=-1) < 0 or max(sources) == 0:
        return
    for value, source in scaled.items():
        giver = operations.giver(value)
        if value not in layer.plain and source is not None and giver is not None:
            layer.scaled.add(giver)
    givers = [operations.giver(v) for v in taken]
    twice = any(g is not None and _doubles(operations, g) for g in givers)
    layer.is_chebyshev |= operations.kinds[number] == "Sub" and twice
    layer.numbers.add(number)
    layer.plain[result] = max(sources)


def _doubles(operations: Operations, number: int) -> bool:
    return operations.kinds[number] == "Mul" and operations.scalar(number) == _CHEBYSHEV


def _read_scaled(operations: Operations, value: Value) -> Value | None:
    """Return what one number multiplies to give a value."""
    giver = operations.given_by(value, "Mul", "Div")
    if giver is None or len(operations.operands[giver]) != 1 or operations.scalar(giver) is None:
        return None
    return operations.operands[giver][0]


def _read_details(layer: _Layer, weights: FoundBlock) -> FeatureDetails:
    """Return how many features the one layer takes and gives; of stacked graphs for each."""
    stacked = [graph.graphs for graph in layer.graphs.values()]
    in_out = weights.details.in_out
    if in_out is None or stacked == [1] * len(stacked):
        return FeatureDetails().with_features(in_out)
    if len(stacked) > 1 or in_out[1] % stacked[0]:
        return FeatureDetails()
    return FeatureDetails().with_features((in_out[0], in_out[1] // stacked[0]))


def _name(
    layer: _Layer, numbers: set[int], end: int, weights: list[FoundBlock], depth: int
) -> FoundBlock:
    graphs = [*layer.graphs.values()]
    several = sum(graph.graphs for graph in graphs)
    details = _read_details(layer, weights[0]) if len(weights) == 1 else FeatureDetails()
    # a convolution behind takes what several steps give, side by side
    is_plain = len(weights) == 1 and (weights[0].kind == "linear" or depth == 1)
    facts = [write_widths(*details.in_out)] if is_plain and details.in_out else []
    if layer.relations is not None:
        count, *sizes = layer.relations
        details = FeatureDetails().with_features((sizes[0], sizes[1])) if all(sizes) else details
        facts = [write_widths(*sizes)] if all(sizes) else []
        facts.append(f"{count} relations")
        return FoundBlock(
            "graph convolution", RELATIONAL, frozenset(numbers), end, tuple(facts), details
        )
    if several > 1:
        facts.append(f"{several} graphs")
    if depth > 1:
        facts.append(f"{depth} steps")
    learned = sum(graph.origin == "learned" for graph in graphs)
    if learned:
        facts.append("learned adjacency" if several == 1 else f"{learned} learned")
    name = "Neighbour sum"
    is_weighted = weights or (layer.is_weighted and len(numbers) > 1)
    if is_weighted and layer.is_chebyshev:
        name = "Chebyshev graph convolution"
    elif is_weighted:
        name = "Graph diffusion convolution" if depth > 1 else "Graph convolution"
    kind = "graph convolution"
    return FoundBlock(kind, name, frozenset(numbers), end, tuple(facts), details)
