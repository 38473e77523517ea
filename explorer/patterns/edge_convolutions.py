"""What points make of how their nearest neighbours differ from them, reduced over these."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.model import Value
from netloupe.explorer.notation import write_count

from .details import NO_DETAILS, FeatureDetails
from .distances import find_distances
from .found_blocks import FoundBlock, FoundBlocks
from .graphs import list_neighbour_edges
from .leading import find_arranged_root
from .operations import Operations
from .readings import read_axes

_MOST_LAYERS = 12
_BOTH = 2
_REDUCING = {"ReduceMax": "", "ReduceMean": "mean", "ReduceSum": "sum"}
_LAYERS = ("activation", "conv", "linear", "mlp", "norm")
_WEIGHING = ("conv", "linear", "mlp")


def find_edge_convolutions(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find what layers make of edges to the nearest neighbours, and the largest of these.

    That is an edge convolution (Y. Wang and others, Dynamic Graph CNN for Learning on Point Clouds,
    2019, equations 6 to 8); means and sums are told. In a max-relative graph convolution the
    largest difference itself goes beside the point into a layer (G. Li and others, DeepGCNs, 2019,
    equation 5; K. Han and others, Vision GNN, 2022, equation 4).
    """
    operations = blocks.operations
    every = {edges.end: edges for edges in list_neighbour_edges(blocks, find_distances(blocks))}
    for end, kind in enumerate(operations.kinds if every else ()):
        if kind not in _REDUCING or blocks.owner[end] is not None or not operations.operands[end]:
            continue
        layers, start = _pass_layers(blocks, operations.operands[end][0])
        giver = operations.giver(start)
        edges = every.get(giver) if giver is not None else None
        count = _read_count(edges) if edges is not None else 0
        if edges is None or not count or not _is_over(operations, end, count):
            continue
        numbers = {end, *edges.numbers}.union(*(layer.numbers for layer in layers))
        if not operations.is_closed(numbers, end):
            continue
        if any(layer.kind in _WEIGHING for layer in layers):
            widths, details = _read_widths(layers)
            word = (f"{_REDUCING[kind]} over neighbours",) if _REDUCING[kind] else ()
            facts = (*widths, *_write_neighbours(edges, count), *word)
            numbers |= _list_norms(blocks, edges)
            name = "Edge convolution"
            yield FoundBlock("unit", name, frozenset(numbers), end, facts, details, edges.parts)
        elif not layers and kind == "ReduceMax":
            found = _make_relative(blocks, numbers, end, edges, count)
            if found is not None:
                yield found


def _pass_layers(blocks: FoundBlocks, value: Value) -> tuple[list[FoundBlock], Value]:
    """Return the layers that give a value, one after the other, and what the first takes."""
    operations = blocks.operations
    layers: list[FoundBlock] = []
    for _ in range(_MOST_LAYERS):
        layer = blocks.ending(operations.giver(value), *_LAYERS)
        taken = {
            source
            for number in (layer.numbers if layer is not None else ())
            for source in operations.operands[number]
            if layer is not None and operations.giver(source) not in layer.numbers
        }
        if layer is None or len(taken) != 1:
            break
        layers.insert(0, layer)
        value = taken.pop()
    return layers, value


def _read_count(edges: FoundBlock) -> int:
    """Return how many neighbours each point has; 0 where that is not known."""
    word = edges.facts[0].partition(" ")[0] if edges.facts else ""
    return int(word) if word.isdigit() else 0


def _write_neighbours(edges: FoundBlock, count: int) -> tuple[str, ...]:
    return (write_count(count, "neighbour", "neighbours"), *edges.facts[1:])


def _is_over(operations: Operations, number: int, count: int) -> bool:
    """Return whether an operation reduces one axis, of so many elements."""
    node = operations.nodes[number]
    axes = read_axes(node)
    dims = find_value_facts(node.graph.model).find_dims(node.input(0))
    if axes is None or len(axes) != 1 or dims is None or not -len(dims) <= axes[0] < len(dims):
        return False
    return dims[axes[0]] == count


def _read_widths(layers: list[FoundBlock]) -> tuple[tuple[str, ...], FeatureDetails]:
    """Return how many features the layers take and give."""
    weighing = [
        layer.details.read_as(FeatureDetails) for layer in layers if layer.kind in _WEIGHING
    ]
    taken, given = weighing[0].in_features, weighing[-1].out_features
    if taken is None or given is None:
        return (), FeatureDetails()
    return (f"{taken:,} → {given:,}",), FeatureDetails(in_features=taken, out_features=given)


def _make_relative(
    blocks: FoundBlocks, numbers: set[int], end: int, edges: FoundBlock, count: int
) -> FoundBlock | None:
    """Return the largest differences joined to the points, with the layer that takes both."""
    operations = blocks.operations
    join = operations.only_user(end)
    is_join = join is not None and operations.nodes[join].operator.has("joins")
    if join is None or not is_join or blocks.owner[join] is not None:
        return None
    others = [value for value in operations.operands[join] if operations.giver(value) != end]
    points = {find_arranged_root(value) for value in operations.operands[edges.end]}
    if len(others) != 1 or find_arranged_root(others[0]) not in points:
        return None
    numbers |= {join} | _list_norms(blocks, edges)
    widths, details, last = tuple[str, ...](), NO_DETAILS, join
    user = operations.only_user(join)
    layer = blocks.holding(user, *_WEIGHING)
    if layer is not None and {*operations.operands[min(layer.numbers)]} == {
        operations.nodes[join].output(0)
    }:
        numbers |= layer.numbers
        widths, details = _read_widths([layer])
        last = layer.end
    name = "Max-relative graph convolution"
    facts = (*widths, *_write_neighbours(edges, count))
    return FoundBlock("unit", name, frozenset(numbers), last, facts, details, edges.parts)


def _list_norms(blocks: FoundBlocks, edges: FoundBlock) -> frozenset[int]:
    """Return the operations of a norm of what distances alone are of."""
    operations = blocks.operations
    found = frozenset[int]()
    for giver in {giver for number in edges.numbers for giver in operations.givers(number)}:
        norm = blocks.ending(giver, "norm")
        if norm is not None and edges.numbers.issuperset(operations.users[giver]):
            found |= norm.numbers
    return found
