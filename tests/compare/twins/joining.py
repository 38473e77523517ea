"""Twins in which projections of one value are joined: query, key and value; gate and up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

import numpy as np
import onnx
from onnx import helper, numpy_helper

from tests.compare.twins.graphs import (
    Names,
    drop_unused,
    list_uses,
    opset_of,
    output_names,
    replace_nodes,
)
from tests.compare.twins.truth import read_tags, set_tags

#: the first operator set in which Split takes sizes as an operand
_SIZES_TAKEN = 13
#: so many projections of one value are joined at once; of more of them always two
_MOST_AT_ONCE = 3
_LONGEST = np.iinfo(np.int64).max


@dataclass(frozen=True)
class _Projection:
    """A product with a weight, and the sum with a bias where there is one."""

    product: int
    weight: str
    add: int | None
    bias: str
    result: str


def join_projections(model: onnx.ModelProto, chance: Random) -> onnx.ModelProto | None:
    """Let one product do what two or three of one value did, and cut what it gives into parts.

    The parts are in any order, and cut by Split, or by Slice, as chance will have it.
    """
    if opset_of(model) < _SIZES_TAKEN:
        return None
    graph, names = model.graph, Names(model)
    stored = {tensor.name: tensor for tensor in graph.initializer}
    made: dict[int, list[onnx.NodeProto]] = {}
    gone: set[int] = set()
    weights: dict[tuple[str, ...], str] = {}
    for chosen in _choose_together(graph, stored):
        parts = chance.sample(chosen, len(chosen))
        first = min(one.product for one in chosen)
        made[first] = _join(graph, stored, names, weights, parts, is_cut=chance.random() < 0.3)
        gone.update(one.product for one in parts)
        gone.update(one.add for one in parts if one.add is not None)
    if not made:
        return None
    nodes: list[onnx.NodeProto] = []
    for index, node in enumerate(graph.node):
        nodes += made.get(index, [])
        if index not in gone:
            nodes.append(node)
    replace_nodes(graph, nodes)
    drop_unused(graph)
    return model


def _choose_together(
    graph: onnx.GraphProto, stored: dict[str, onnx.TensorProto]
) -> Iterator[list[_Projection]]:
    """Yield projections of one value, two or three of as many inputs."""
    found: dict[tuple[str, int, int], list[_Projection]] = defaultdict(list)
    uses, outputs = list_uses(graph), output_names(graph)
    for index, node in enumerate(graph.node):
        weight = stored.get(node.input[1]) if node.op_type == "MatMul" else None
        if weight is None or len(weight.dims) != 2 or weight.data_type != onnx.TensorProto.FLOAT:
            continue
        add, bias, result = None, "", node.output[0]
        users = uses[result]
        after = graph.node[users[0]] if len(users) == 1 and result not in outputs else None
        if after is not None and after.op_type == "Add":
            other = next((name for name in after.input if name != result), "")
            if other in stored and list(stored[other].dims) == [weight.dims[1]]:
                add, bias, result = users[0], other, after.output[0]
        one = _Projection(index, weight.name, add, bias, result)
        found[node.input[0], weight.dims[0], weight.data_type].append(one)
    for alike in found.values():
        step = len(alike) if len(alike) <= _MOST_AT_ONCE else 2
        for start in range(0, len(alike) - step + 1, step):
            if step > 1:
                yield alike[start : start + step]


def _join(
    graph: onnx.GraphProto,
    stored: dict[str, onnx.TensorProto],
    names: Names,
    weights: dict[tuple[str, ...], str],
    parts: list[_Projection],
    *,
    is_cut: bool,
) -> list[onnx.NodeProto]:
    """Return the nodes that stand for some projections; each may be paired with all of these."""

    def store(wanted: str, array: np.ndarray) -> str:
        name = names.make(wanted)
        graph.initializer.append(numpy_helper.from_array(array, name))
        return name

    def read(name: str) -> np.ndarray:
        return np.asarray(numpy_helper.to_array(stored[name]))

    first = graph.node[parts[0].product]
    scope = first.name.rpartition("/")[0]
    sizes = [stored[one.weight].dims[1] for one in parts]
    key = tuple(one.weight for one in parts)
    if key not in weights:  # as of layers that share theirs
        joined = np.concatenate([read(one.weight) for one in parts], axis=1)
        weights[key] = store(f"{parts[0].weight}_joined", joined)
    result = names.make(f"{first.output[0]}_joined")
    made = [helper.make_node("MatMul", [first.input[0], weights[key]], [result])]
    if any(one.bias for one in parts):
        biases = [
            read(one.bias) if one.bias else np.zeros(size, np.float32)
            for one, size in zip(parts, sizes, strict=True)
        ]
        bias = store(f"{parts[0].weight}_joined_bias", np.concatenate(biases))
        made.append(helper.make_node("Add", [bias, result], [names.make(f"{result}_sum")]))
        result = made[-1].output[0]
    if is_cut:
        ends = np.cumsum(sizes)
        axis = store("axis", np.array([-1], np.int64))
        for one, size, end in zip(parts, sizes, ends, strict=True):
            begin = store("begin", np.array([end - size], np.int64))
            last = _LONGEST if one is parts[-1] else end
            given = [result, begin, store("end", np.array([last], np.int64)), axis]
            made.append(helper.make_node("Slice", given, [one.result]))
    else:
        given = [result, store("sizes", np.array(sizes, np.int64))]
        made.append(helper.make_node("Split", given, [one.result for one in parts], axis=-1))
    tags = [
        tag
        for one in parts
        for index in (one.product, one.add)
        if index is not None
        for tag in read_tags(graph.node[index])
    ]
    for node in made:
        node.name = names.make(f"{scope}/joined/{node.op_type}") if first.name else ""
        node.metadata_props.extend(first.metadata_props)
        set_tags(node, tags)
    return made
