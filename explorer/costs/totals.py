"""How much there is in a model: nodes, initializers, elements, parameters, bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from netloupe.explorer.model import Graph, Model, Node, SparseTensor, Tensor, is_constant
from netloupe.explorer.model.storage import multiply_dims
from netloupe.explorer.model.stored_tensors import list_stored_tensors
from netloupe.explorer.model.tensor import is_plain
from netloupe.explorer.progress import step

from .initializer_kinds import (
    INITIALIZER_KINDS,
    InitializerKind,
    InitializerKinds,
    find_initializer_kinds,
)

#: a file of external data, the first byte in it, and the numbers of bytes and of elements
_Place = tuple[str, int, int | None, int]

#: how many initializers are looked at in one step
_STEP = 1_000


@dataclass(frozen=True, slots=True)
class Totals:
    """How much there is in a model, or in a part of it.

    Parameters
    ----------
    graphs
        Main graph, subgraphs, functions and training graphs, each once.
    nodes
        Those of all these graphs. The body of a function counts once, however often it is called.
    initializers
        The tensors that are stored in the graphs, sparse ones included. What Constant nodes hold is
        not counted, here and below but for weights among it: exporters put what was written in a
        program there, and weights into initializers.
    elements
        The numbers that these tensors store, of any type: those that the dimensions claim, of a
        sparse tensor the values that are given, and none of a tensor that has no data.
    parameters
        The weights, each once however often it is used. As
        :class:`~netloupe.explorer.costs.initializer_kinds.InitializerKinds` tells them from
        shapes, indices, scales and zero points. Those that an exporter merged because all hold one
        number, as scales of normalizations do before training, count under each of their names.
        Of weights with several numbers in a byte these count, not the bytes.
        Tensors that lie at the same place of a file of external data are the same weight. Weights
        that nodes give, as stripped models have them, count too.
    running_statistics
        The means and variances of batch normalization, which are no parameters: training measures
        them, it does not learn them.
    attention_biases
        Numbers that are added to the scores of attention as they stand, and are no parameters:
        masks, and tables of relative positions that an exporter wrote out for all pairs. From how
        many learned numbers a table was made the file does not tell.
    attribute_values
        Learned numbers that stand in attributes, and are no parameters that an initializer holds:
        thresholds and leaves of trees, coefficients of linear models, support vectors. Those of a
        function's body once. Means and scales that were only measured are none of them.
    bytes
        What the file stores for these tensors, with the indices of sparse ones, in whatever form:
        half-precision numbers in ``int32_data`` take four bytes each. Where the size of external
        data is not stated, what type and dimensions claim. Weights that Constant nodes hold take
        what is stored for these, filled ones nothing.
    """

    graphs: int
    nodes: int
    initializers: int
    elements: int
    parameters: int
    running_statistics: int
    attention_biases: int
    attribute_values: int
    bytes: int


def count_model(model: Model) -> Totals:
    """Return how much there is in a model; looks at every initializer, and reads no elements."""
    return count_graphs(model, model.graphs)


def count_graphs(model: Model, graphs: Sequence[Graph]) -> Totals:
    """Return how much there is in some graphs of a model, without their subgraphs."""
    held: Iterator[Iterable[Tensor | SparseTensor]]
    held = (part for graph in graphs for part in (graph.initializers, graph.sparse_initializers))
    nodes = sum(len(graph.nodes) for graph in graphs)
    kinds = find_initializer_kinds(model)
    wanted = {*graphs}
    takers = (node for node in kinds.produced if node.graph in wanted)
    holders = [node for node in kinds.holders if node.graph in wanted]
    merged: Counter[Tensor | SparseTensor]
    merged = Counter(one for value, one in kinds.merged.items() if value.graph in wanted)
    counted = chain.from_iterable(held)
    return _count(kinds, counted, len(graphs), nodes, takers, holders, merged)


def count_nodes(model: Model, nodes: Sequence[Node]) -> Totals:
    """Return how much some nodes hold: the initializers that they use, each once."""
    taken = (v for node in nodes for v in (*node.inputs, *node.captures) if v is not None)
    found: dict[Tensor | SparseTensor, None] = {}
    kinds = find_initializer_kinds(model)
    merged: Counter[Tensor | SparseTensor] = Counter()
    for value in dict.fromkeys(taken):
        behind = value.producer.inputs if is_constant(value) and value.producer is not None else ()
        for one in (value, *behind):
            if one is not None and one.initializer is not None:
                merged[one.initializer] += one.initializer in found and value in kinds.merged
                found[one.initializer] = None
    takers = (node for node in nodes if node in kinds.produced)
    holders = [node for node in nodes if node in kinds.holders] if kinds.holders else ()
    return _count(kinds, found, 0, len(nodes), takers, holders, merged)


def count_stored_bytes(model: Model) -> int:
    """Return how many bytes the file stores for all tensors, those of constant nodes among them.

    :attr:`Totals.bytes` counts of constant nodes only what is a weight.
    """
    size = 0
    places: set[_Place] = set()
    for graph in model.graphs:
        tensors: Iterator[Tensor | SparseTensor]
        tensors = chain(list_stored_tensors(graph), graph.sparse_initializers)
        for number, tensor in enumerate(tensors):
            if not number % _STEP:
                step()
            given = tensor.values if isinstance(tensor, SparseTensor) else tensor
            place = locate_elements(given)
            if place is None or place not in places:
                size += count_bytes(tensor) or 0
            if place is not None:
                places.add(place)
    return size


def count_elements(tensor: Tensor | SparseTensor) -> int:
    """Return how many numbers are stored for a tensor, as :class:`Totals` counts them."""
    given = tensor.values if isinstance(tensor, SparseTensor) else tensor
    return given.size if is_plain(given) or given.storage != "none" else 0


def count_bytes(tensor: Tensor | SparseTensor) -> int | None:
    """Return how many bytes are stored for a tensor.

    Returns
    -------
    int or None
        Where the size of external data is not stated, what type and dimensions claim; None where
        these do not tell it either, as of strings.
    """
    if isinstance(tensor, SparseTensor):
        indices = 0 if tensor.indices is None else count_bytes(tensor.indices)
        values = count_bytes(tensor.values)
        return None if values is None or indices is None else values + indices
    stored = tensor.stored_bytes
    return tensor.nbytes if stored is None else stored


def _count(
    kinds: InitializerKinds,
    initializers: Iterable[Tensor | SparseTensor],
    graphs: int,
    nodes: int,
    takers: Iterable[Node],
    holders: Iterable[Node],
    merged: Mapping[Tensor | SparseTensor, int],
) -> Totals:
    count = elements = size = 0
    sums: dict[InitializerKind, int] = dict.fromkeys(INITIALIZER_KINDS, 0)
    places: set[_Place] = set()
    #: of plain ones nothing more is asked than what many share: there may be a million
    plain: Counter[tuple[tuple[int, ...], InitializerKind]] = Counter()
    for tensor in initializers:
        if not count % _STEP:
            step()
        count += 1
        if not isinstance(tensor, SparseTensor) and is_plain(tensor):
            size += tensor.stored_bytes or 0
            if kinds.packed and tensor in kinds.packed:
                elements += tensor.size
                sums[kinds.kind_of(tensor)] += kinds.packed[tensor]
            else:
                plain[tensor.dims, kinds.kind_of(tensor)] += 1
            continue
        given = tensor.values if isinstance(tensor, SparseTensor) else tensor
        number = given.size
        if (place := locate_elements(given)) is not None:
            if place in places:
                continue
            places.add(place)
        elements += number if given.storage != "none" else 0
        size += count_bytes(tensor) or 0
        sums[kinds.kind_of(tensor)] += kinds.packed.get(tensor, number)
    for (dims, kind), times in plain.items():
        elements += multiply_dims(dims) * times
        sums[kind] += multiply_dims(dims) * times
    for tensor, times in merged.items():
        sums[kinds.kind_of(tensor)] += tensor.size * times
    produced = {one.origin: one for node in takers for one in kinds.produced[node]}
    for one in produced.values():
        sums[one.kind] += one.size
        size += one.bytes
    return Totals(
        graphs=graphs,
        nodes=nodes,
        initializers=count,
        elements=elements,
        parameters=sums["parameter"],
        running_statistics=sums["running statistic"],
        attention_biases=sums["attention bias"],
        attribute_values=sum(map(kinds.count_attribute_values, holders)),
        bytes=size,
    )


def locate_elements(tensor: Tensor) -> _Place | None:
    """Return where in which other file the elements are; None for none, and for one unknown."""
    external = tensor.external
    if external is None or external.misstated or not external.location:
        return None
    return external.location, external.offset or 0, external.length, tensor.size
