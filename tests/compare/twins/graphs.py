"""Walks over the graphs of a model, and what all changes of graphs need."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from typing import TypeAlias

import numpy as np
import onnx
from onnx import numpy_helper

#: what holds nodes
Body: TypeAlias = onnx.GraphProto | onnx.FunctionProto
#: the first version of the format in which a weight need not be an input as well
_FREE_WEIGHTS = 4


def list_bodies(model: onnx.ModelProto) -> Iterator[Body]:
    """Yield the main graph and the functions, each followed by the graphs inside."""
    for body in (model.graph, *model.functions):
        yield body
        yield from _list_inner(body)


def _list_inner(body: Body) -> Iterator[onnx.GraphProto]:
    for node in body.node:
        for graph in graphs_of(node):
            yield graph
            yield from _list_inner(graph)


def graphs_of(node: onnx.NodeProto) -> list[onnx.GraphProto]:
    """Return the graphs among the attributes of a node."""
    return [
        graph
        for attribute in node.attribute
        for graph in ([attribute.g] if attribute.HasField("g") else attribute.graphs)
    ]


def list_nodes(model: onnx.ModelProto) -> Iterator[onnx.NodeProto]:
    """Yield the nodes of all graphs and functions."""
    for body in list_bodies(model):
        yield from body.node


def taken_by(node: onnx.NodeProto) -> set[str]:
    """Return the names that a node takes, those that its graphs take from outside included."""
    taken = set(node.input)
    for graph in graphs_of(node):
        wanted = {value.name for value in graph.output}
        for inner in graph.node:
            wanted |= taken_by(inner)
        taken |= wanted - made_in(graph)
    return taken - {""}


def made_in(graph: onnx.GraphProto) -> set[str]:
    """Return the names that a graph gives values of its own, whatever they are outside."""
    made = {value.name for value in (*graph.input, *graph.initializer)}
    return made.union(*(node.output for node in graph.node))


def list_uses(body: Body) -> dict[str, list[int]]:
    """Return the nodes that take each value, by index."""
    uses: dict[str, list[int]] = defaultdict(list)
    for index, node in enumerate(body.node):
        for name in taken_by(node):
            uses[name].append(index)
    return uses


def output_names(graph: onnx.GraphProto) -> set[str]:
    """Return the names that the graph gives."""
    return {value.name for value in graph.output}


def rewire(nodes: Iterable[onnx.NodeProto], names: dict[str, str]) -> None:
    """Let nodes, and the graphs that they hold, take other values."""
    for node in nodes:
        for place, name in enumerate(node.input):
            if name in names:
                node.input[place] = names[name]
        for graph in graphs_of(node):
            made = made_in(graph)
            outside = {name: new for name, new in names.items() if name not in made}
            rewire(graph.node, outside)
            for value in graph.output:
                value.name = outside.get(value.name, value.name)


def replace_nodes(body: Body, nodes: Iterable[onnx.NodeProto]) -> None:
    """Let a graph or function have these nodes, as they are."""
    kept = list(nodes)
    copies = [onnx.NodeProto.FromString(node.SerializeToString()) for node in kept]
    del body.node[:]
    body.node.extend(copies)


def sort_nodes(body: Body, keys: Sequence[float]) -> None:
    """Order the nodes so that each comes after what it takes, else by their keys."""
    makers = {name: index for index, node in enumerate(body.node) for name in node.output if name}
    waiting = [{makers[name] for name in taken_by(n) if name in makers} for n in body.node]
    followers: dict[int, list[int]] = defaultdict(list)
    for index, before in enumerate(waiting):
        for other in before:
            followers[other].append(index)
    ready = [(keys[index], index) for index, before in enumerate(waiting) if not before]
    heapify(ready)
    order = []
    while ready:
        _, index = heappop(ready)
        order.append(index)
        for follower in followers[index]:
            waiting[follower].discard(index)
            if not waiting[follower]:
                heappush(ready, (keys[follower], follower))
    if len(order) != len(body.node):
        raise ValueError("the graph has a cycle")
    replace_nodes(body, [body.node[index] for index in order])


def free_weights(model: onnx.ModelProto) -> None:
    """Let no weight be an input as well, as old versions of the format demand."""
    if model.ir_version >= _FREE_WEIGHTS:
        return
    model.ir_version = _FREE_WEIGHTS
    weights = {tensor.name for tensor in model.graph.initializer}
    inputs = [value for value in model.graph.input if value.name not in weights]
    del model.graph.input[:]
    model.graph.input.extend(inputs)


def opset_of(model: onnx.ModelProto, domain: str = "") -> int:
    """Return the version of an operator set; 0 where there is none."""
    same = ("", "ai.onnx") if not domain else (domain,)
    return max((entry.version for entry in model.opset_import if entry.domain in same), default=0)


def infer_types(model: onnx.ModelProto) -> list[dict[str, onnx.TypeProto]]:
    """Return the types of values by name, for each graph of :func:`list_bodies`."""
    inferred = onnx.shape_inference.infer_shapes(model)
    found = []
    for body in list_bodies(inferred):
        types = {value.name: value.type for value in body.value_info}
        if isinstance(body, onnx.GraphProto):
            types |= {value.name: value.type for value in (*body.input, *body.output)}
            for tensor in body.initializer:
                types[tensor.name] = onnx.helper.make_tensor_type_proto(
                    tensor.data_type, tensor.dims
                )
        found.append(types)
    return found


def drop_unused(graph: onnx.GraphProto) -> None:
    """Remove weights that nobody takes, and what is said of values that are no more."""
    used = set(list_uses(graph)) | output_names(graph)
    weights = [tensor for tensor in graph.initializer if tensor.name in used]
    del graph.initializer[:]
    graph.initializer.extend(weights)
    made = {name for node in graph.node for name in node.output}
    made.update(tensor.name for tensor in weights)
    kept = [value for value in graph.value_info if value.name in made]
    del graph.value_info[:]
    graph.value_info.extend(kept)


class Names:
    """Names for new things, none of which the model has."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self._taken: set[str] = set()
        for body in list_bodies(model):
            self._taken.update(node.name for node in body.node)
            self._taken.update(name for node in body.node for name in (*node.input, *node.output))
            if isinstance(body, onnx.GraphProto):
                values = (*body.input, *body.output, *body.initializer, *body.value_info)
                self._taken.update(value.name for value in values)

    def make(self, wanted: str) -> str:
        """Return a name that is new, the one wanted where possible."""
        name, number = wanted, 1
        while name in self._taken:
            number += 1
            name = f"{wanted}_{number}"
        self._taken.add(name)
        return name


class Constants:
    """The values of a graph that depend on no input, as arrays."""

    def __init__(self, model: onnx.ModelProto) -> None:
        graph = model.graph
        given = {value.name for value in graph.input} if model.ir_version >= _FREE_WEIGHTS else ()
        self._tensors = {t.name: t for t in graph.initializer if t.name not in given}
        self._makers = {name: node for node in graph.node for name in node.output}
        self._opsets = model.opset_import

    def __contains__(self, name: str) -> bool:
        return name in self._tensors

    def read(self, name: str) -> np.ndarray | None:
        """Return the elements of a weight, or of what a node fills without inputs; else None."""
        if name in self._tensors:
            return numpy_helper.to_array(self._tensors[name])
        node = self._makers.get(name)
        if node is None or node.op_type not in ("Constant", "ConstantOfShape"):
            return None
        found = {each: self.read(each) for each in node.input}
        inputs = {each: array for each, array in found.items() if array is not None}
        return evaluate(node, inputs, self._opsets)[0] if len(inputs) == len(found) else None


def evaluate(
    node: onnx.NodeProto,
    inputs: dict[str, np.ndarray],
    opsets: Iterable[onnx.OperatorSetIdProto],
) -> list[np.ndarray]:
    """Return what a node gives; all of its inputs are there, by name."""
    from onnx.reference import ReferenceEvaluator

    given = [onnx.helper.make_value_info(name, onnx.TypeProto()) for name in inputs]
    outputs = [onnx.helper.make_value_info(name, onnx.TypeProto()) for name in node.output if name]
    graph = onnx.helper.make_graph([node], "node", given, outputs)
    model = onnx.helper.make_model(graph, opset_imports=list(opsets))
    return list(ReferenceEvaluator(model).run(None, inputs))
