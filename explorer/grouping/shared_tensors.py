"""Which nodes of a graph use the same stored matrix: what says that a module is called again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from netloupe.explorer.costs.ties import find_ties
from netloupe.explorer.dataflow import find_source, trace_on
from netloupe.explorer.model import Graph, Model, Node, SparseTensor, Tensor, Value
from netloupe.explorer.model.kept import find_kept
from netloupe.explorer.operators import HANDING_TRAITS
from netloupe.explorer.roles import find_weight

#: of more values that are used several times, the first alone are looked at
_MOST_LOOKED = 20_000
#: in models of more nodes no copies are looked for: each weight would be
_MOST_NODES = 20_000
#: a vector says little: exporters store equal biases and scales of several layers once
_LEAST_AXES = 2
#: a weight is cast, transposed and copied by so many nodes at most
_MOST_ARRANGED = 4

#: the number of a call in a path
_CALL = re.compile(r"_\d+(?=/|$)")

Stored = Tensor | SparseTensor


class Originals(NamedTuple):
    """Which tensors hold the same as earlier ones, by these copies."""

    of_copies: Mapping[Stored, Stored]

    def find(self, tensor: Stored) -> Stored:
        """Return the first tensor that holds what one holds."""
        return self.of_copies.get(tensor, tensor)


def find_originals(model: Model) -> Originals:
    """Return which weights of a model are stored twice for calls of one module; looked for once.

    torch's newer exporter transposes a weight beforehand for each call of its module. Equal weights
    of several modules, as layers have them that nobody has trained yet, are not the same.
    """
    return find_kept(model, Originals, lambda: Originals(_find_copies(model)))


def _find_copies(model: Model) -> dict[Stored, Stored]:
    if sum(len(graph.nodes) for graph in model.graphs) > _MOST_NODES:
        return {}
    copies = dict(find_ties(model).copies)
    tied = {*copies, *copies.values()}
    modules: dict[Stored, set[str]] = {}
    for graph in model.graphs if tied else ():
        wiring = graph.wiring
        for number in np.flatnonzero(wiring.producers < 0).tolist():
            value = wiring.values[number]
            tensor = value.initializer
            if tensor is None or tensor not in tied:
                continue
            told = modules.setdefault(tensor, set())
            told.update(_find_module(user) for user, _ in trace_on(value, *HANDING_TRAITS))
    nothing: set[str] = {""}
    return {
        copy: original
        for copy, original in copies.items()
        if (modules.get(copy, nothing) & modules.get(original, nothing)) - nothing
    }


def _find_module(node: Node) -> str:
    """Return the same for nodes of one module, whichever call they are of; "" where none is told.

    The last scope of torch's newer exporter is the operation; its older one numbers calls.
    """
    scopes = node.metadata.get("pkg.torch.onnx.name_scopes", "")
    if scopes:
        return scopes.rpartition(", ")[0]
    return _CALL.sub("", node.name.rpartition("/")[0])


def identify_weight(value: Value) -> object:
    """Return the same for values that hold one weight of one module, whichever call takes it.

    Seen through casts and transposes; and through copies where these are taken by calls of one
    module: exporters store equal weights of several layers once, too, and copy them.
    """
    current = plain = value
    is_copied = False
    for _ in range(_MOST_ARRANGED):
        node = current.producer
        first = node.input(0) if node is not None else None
        if node is None or first is None or not node.operator.has("casts", "permutes", "copies"):
            break
        current = first
        is_copied = is_copied or node.operator.has("copies")
        plain = plain if is_copied else current
    tensor = current.initializer
    modules = {_find_module(user) for user in value.users if not user.operator.has("copies")}
    module = modules.pop() if len(modules) == 1 else ""
    if tensor is None or not module:
        return plain
    return find_originals(value.graph.model).find(tensor), module


def find_shared_tensors(graph: Graph) -> dict[Node, Stored]:
    """Return the nodes whose weight is a matrix that others have, too, with that matrix.

    It is seen through casts, transposes and the like. Only values that several nodes take are
    looked at, so graphs without such weights cost next to nothing.
    """
    wiring = graph.wiring
    used = wiring.used[wiring.used >= 0]
    often = np.flatnonzero(np.bincount(used, minlength=len(wiring.values)) > 1)
    originals = find_originals(graph.model)
    tied = {*originals.of_copies, *originals.of_copies.values()}
    once = np.flatnonzero(wiring.producers < 0) if tied else often[:0]
    values = [wiring.values[number] for number in often[:_MOST_LOOKED].tolist()]
    given = (wiring.values[number] for number in once.tolist())
    values += [value for value in given if value.initializer in tied]
    users: dict[Stored, dict[Node, None]] = {}
    for value in values:
        tensor = _find_tensor(value)
        if tensor is None or len(tensor.dims) < _LEAST_AXES:
            continue
        for user, _ in trace_on(value, *HANDING_TRAITS):
            weight = find_weight(user) if user.graph is graph else None
            if weight is not None and weight.tensor is tensor:
                users.setdefault(originals.find(tensor), {})[user] = None
    return {node: tensor for tensor, nodes in users.items() if len(nodes) > 1 for node in nodes}


def measure_matrix(node: Node) -> int:
    """Return how many elements the weight of a node has; 0 for a table, and for no matrix."""
    weight = find_weight(node)
    tensor = weight.tensor if weight is not None and weight.kind != "embedding" else None
    return tensor.size if tensor is not None and len(tensor.dims) >= _LEAST_AXES else 0


def _find_tensor(value: Value) -> Stored | None:
    """Return the stored tensor that a value is, perhaps turned or cast."""
    if value.is_input and value.initializer is None:
        return None
    if value.producer is not None and not value.producer.operator.has(*HANDING_TRAITS):
        return None
    source = find_source(value, *HANDING_TRAITS)
    return source.initializer if source is not None else None
