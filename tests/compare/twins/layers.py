"""Twins with a layer less or more among those that repeat."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

import numpy as np
import onnx

from tests.compare.twins.graphs import (
    Names,
    drop_unused,
    infer_types,
    list_bodies,
    list_uses,
    output_names,
    replace_nodes,
    rewire,
    sort_nodes,
    taken_by,
)
from tests.compare.twins.scopes import module_path, number_pattern
from tests.compare.twins.truth import set_tags
from tests.compare.twins.versions import draw_anew, perturb

#: layers of a repetition, at least: one has some before and some behind it
_LEAST = 3
#: nodes of a layer, at least; what has fewer is a part of one
_LEAST_NODES = 3


@dataclass(frozen=True)
class Layer:
    """One layer of a repetition by its nodes, and the value that goes through it."""

    prefix: str
    number: int
    nodes: frozenset[int]
    source: str
    result: str


def drop_layer(model: onnx.ModelProto, chance: Random, shifts: bool) -> onnx.ModelProto | None:
    """Remove one layer: what came into it goes where what came out of it went."""
    layer = choose_layer(model, chance)
    if layer is None:
        return None
    graph = model.graph
    replace_nodes(graph, [n for index, n in enumerate(graph.node) if index not in layer.nodes])
    rewire(graph.node, {layer.result: layer.source})
    drop_unused(graph)
    if shifts:
        _number_anew(model, layer.prefix, lambda number: number - (number > layer.number))
    return model


def double_layer(model: onnx.ModelProto, chance: Random, shifts: bool) -> onnx.ModelProto | None:
    """Put a copy of a layer behind it, which has the same weights."""
    return _add_layer(model, chance, shifts, is_fresh=False)


def insert_layer(model: onnx.ModelProto, chance: Random, shifts: bool) -> onnx.ModelProto | None:
    """Put a new layer, of fresh weights, between two."""
    return _add_layer(model, chance, shifts, is_fresh=True)


def _add_layer(
    model: onnx.ModelProto, chance: Random, shifts: bool, *, is_fresh: bool
) -> onnx.ModelProto | None:
    layer = choose_layer(model, chance)
    if layer is None:
        return None
    graph, names = model.graph, Names(model)
    pattern = number_pattern(layer.prefix)
    free = 1 + max(
        int(found[2]) for node in graph.node for found in pattern.finditer(_texts_of(node))
    )

    def rename(name: str) -> str:
        return pattern.sub(lambda found: f"{found[1]}{free}", name)

    inside = sorted(layer.nodes)
    copies = [onnx.NodeProto.FromString(graph.node[i].SerializeToString()) for i in inside]
    known = {layer.source: layer.result}
    if is_fresh:
        for tensor in _list_weights(graph, layer):
            copy = graph.initializer.add()
            copy.CopyFrom(tensor)
            copy.name = known[tensor.name] = names.make(rename(tensor.name))
            perturb(copy, np.random.default_rng(chance.getrandbits(32)), draw_anew)
    for node in copies:
        for place, name in enumerate(node.output):
            if name:
                node.output[place] = known[name] = names.make(rename(name))
        node.name = names.make(rename(node.name)) if node.name else ""
        for entry in node.metadata_props:
            entry.value = rename(entry.value)
        if is_fresh:
            set_tags(node, ())
    behind = [node for index, node in enumerate(graph.node) if index not in layer.nodes]
    rewire(behind, {layer.result: known[layer.result]})
    rewire(copies, known)
    count = len(graph.node)
    graph.node.extend(copies)
    sort_nodes(graph, [*range(count), *[inside[-1] + 0.5] * len(copies)])
    if shifts:
        new = layer.number + 1
        _number_anew(model, layer.prefix, lambda n: new if n == free else n + (n >= new))
    return model


def _list_weights(graph: onnx.GraphProto, layer: Layer) -> list[onnx.TensorProto]:
    """Return the weights, single numbers aside, that only a layer takes."""
    uses = list_uses(graph)
    return [
        tensor
        for tensor in graph.initializer
        if np.prod(tensor.dims) > 1
        and tensor.data_type in (onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16)
        and layer.nodes.issuperset(uses[tensor.name])
        and uses[tensor.name]
    ]


def choose_layer(model: onnx.ModelProto, chance: Random) -> Layer | None:
    """Return one of the layers through which one value goes; None where there are none.

    Of several repetitions the largest that has such layers counts.
    """
    graph = model.graph
    members: dict[str, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    paths = [module_path(node) for node in graph.node]
    for index, path in enumerate(paths):
        parts = path.split(".")
        for place, part in enumerate(parts):
            if place and part.isdigit():
                members[".".join(parts[:place])][int(part)].add(index)
    view = _View(model, paths)
    found = {p: numbers for p, numbers in members.items() if len(numbers) >= _LEAST}
    sizes = {prefix: len(set().union(*numbers.values())) for prefix, numbers in found.items()}
    for prefix in sorted(found, key=lambda each: (-sizes[each], each)):
        layers = list(view.find_layers(prefix, found[prefix]))
        if layers:
            return chance.choice(layers)
    return None


class _View:
    """What is looked up to find what goes through layers."""

    def __init__(self, model: onnx.ModelProto, paths: list[str]) -> None:
        self.graph = model.graph
        self.uses = list_uses(self.graph)
        self.results = output_names(self.graph)
        self.types = infer_types(model)[0]
        self.makers = {n: i for i, node in enumerate(self.graph.node) for n in node.output if n}
        #: nodes that belong to no module, such as constants of the legacy exporter
        self.loose = {index for index, path in enumerate(paths) if not path}

    def find_layers(self, prefix: str, members: dict[int, set[int]]) -> Iterator[Layer]:
        """Yield the layers that can be taken out, without the first and the last."""
        layers = {number: self._complete(members[number]) for number in sorted(members)}
        numbers = list(layers)
        doing = {number: self._list_operators(nodes) for number, nodes in layers.items()}
        for place, number in enumerate(numbers[1:-1], 1):
            nodes = layers[number]
            result, last = self._find_result(nodes), self._find_result(layers[numbers[place - 1]])
            others = [doing[other] for other in numbers if other != number]
            is_part = len(nodes) < _LEAST_NODES or doing[number] not in others
            if is_part or not result or result in self.results:
                continue
            taken = {name for index in nodes for name in taken_by(self.graph.node[index])}
            sources = [last] if last in taken else self._find_alike(taken, nodes, result)
            if len(sources) == 1 and self._may_be_alike(sources[0], result):
                yield Layer(prefix, number, frozenset(nodes), sources[0], result)

    def _list_operators(self, nodes: set[int]) -> list[str]:
        return sorted(self.graph.node[index].op_type for index in nodes)

    def _complete(self, nodes: set[int]) -> set[int]:
        """Return nodes with those of no module that only they use."""
        whole = set(nodes)
        pending = list(nodes)
        while pending:
            for name in taken_by(self.graph.node[pending.pop()]):
                maker = self.makers.get(name)
                if maker in self.loose and maker not in whole:
                    outputs = self.graph.node[maker].output
                    if all(whole.issuperset(self.uses[each]) for each in outputs):
                        whole.add(maker)
                        pending.append(maker)
        return whole

    def _find_result(self, nodes: set[int]) -> str:
        """Return the one value that others use of what nodes give; else nothing."""
        given = [
            name
            for index in nodes
            for name in self.graph.node[index].output
            if name in self.results or not nodes.issuperset(self.uses[name])
        ]
        return given[0] if len(given) == 1 else ""

    def _find_alike(self, taken: set[str], nodes: set[int], result: str) -> list[str]:
        """Return what nodes take from outside that is of the type of their result, all known."""
        known = self.types.get(result, onnx.TypeProto()).tensor_type
        if not known.HasField("shape") or not all(d.WhichOneof("value") for d in known.shape.dim):
            return []
        weights = {tensor.name for tensor in self.graph.initializer}
        return [
            name
            for name in sorted(taken - weights)
            if self.makers.get(name) not in nodes and self.types.get(name) == self.types[result]
        ]

    def _may_be_alike(self, source: str, result: str) -> bool:
        """Return whether what comes in may be of the type of what goes out."""
        if source not in self.types or result not in self.types:
            return True
        return _may_be_same(self.types[source], self.types[result])


def _may_be_same(one: onnx.TypeProto, other: onnx.TypeProto) -> bool:
    """Return whether types agree in all that inference could tell of both."""
    first, second = one.tensor_type, other.tensor_type
    dims = [each.shape.dim for each in (first, second) if each.HasField("shape")]
    if first.elem_type != second.elem_type or (len(dims) == 2 and len(dims[0]) != len(dims[1])):
        return False
    pairs = zip(*dims, strict=True) if len(dims) == 2 else ()
    return all(
        a.dim_value == b.dim_value
        for a, b in pairs
        if a.HasField("dim_value") and b.HasField("dim_value")
    )


def _texts_of(node: onnx.NodeProto) -> str:
    return "\n".join([node.name, *node.output, *(entry.value for entry in node.metadata_props)])


def _number_anew(model: onnx.ModelProto, prefix: str, move: Callable[[int], int]) -> None:
    """Change the numbers of layers in all names."""
    pattern = number_pattern(prefix)

    def place(found: re.Match[str]) -> str:
        return f"{found[1]}{move(int(found[2]))}"

    def rename(name: str) -> str:
        return pattern.sub(place, name)

    for body in list_bodies(model):
        for node in body.node:
            node.name = rename(node.name)
            node.input[:] = map(rename, node.input)
            node.output[:] = map(rename, node.output)
            for entry in node.metadata_props:
                entry.value = rename(entry.value)
        if isinstance(body, onnx.GraphProto):
            values = [*body.input, *body.output, *body.initializer, *body.value_info]
            for value in values:
                value.name = rename(value.name)
