"""Pairs of values, tensors and groups."""

from __future__ import annotations

import onnx
from onnx import helper

from netloupe.explorer.compare import match_models
from netloupe.explorer.readers.load import load
from tests.compare.networks import make_layers, make_normed


def rename_all(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return the model with other names for all nodes, values and weights."""
    renamed = onnx.ModelProto.FromString(model.SerializeToString())
    graph = renamed.graph
    names: dict[str, str] = {}

    def change(name: str) -> str:
        return names.setdefault(name, f"v{len(names)}") if name else ""

    for number, node in enumerate(graph.node):
        node.name = f"n{number}"
        node.input[:] = map(change, node.input)
        node.output[:] = map(change, node.output)
    for value in (*graph.input, *graph.output, *graph.initializer, *graph.value_info):
        value.name = change(value.name)
    return renamed


def test_values_and_tensors_of_a_renamed_twin_are_paired() -> None:
    left, right = load(make_layers(3)), load(rename_all(make_layers(3)))
    matching = match_models(left, right)
    assert len(matching.values) == len(left.graph.values)
    assert {v.key for v in matching.values.values()} == set(right.graph.values)
    assert len(matching.tensors) == len(left.graph.initializers)
    for one, other in matching.tensors.items():
        assert (one.numpy() == other.numpy()).all()
    assert matching.values[left.value("ids")] is right.graph.inputs[0]
    assert matching.values[left.value("y")] is right.graph.outputs[0]


def test_what_fused_nodes_give_is_one_value() -> None:
    model = make_normed()
    fused = onnx.ModelProto.FromString(model.SerializeToString())
    nodes = fused.graph.node
    norm = next(node for node in nodes if node.name == "norm1")
    nodes[0].output[0] = norm.output[0]
    nodes.remove(norm)
    left, right = load(model), load(fused)
    matching = match_models(left, right)
    assert matching.values[left.value("b1")] is right.value("b1")
    assert left.value("c1") not in matching.values


def test_an_initializer_and_what_a_constant_node_holds_are_a_pair() -> None:
    model = make_layers(2)
    other = onnx.ModelProto.FromString(model.SerializeToString())
    stored = next(t for t in other.graph.initializer if t.name == "layers.0.fc.bias")
    constant = helper.make_node("Constant", [], [stored.name], value=stored)
    other.graph.initializer.remove(stored)
    other.graph.node.insert(0, constant)
    left, right = load(model), load(other)
    matching = match_models(left, right)
    (partner,) = [o for t, o in matching.tensors.items() if t.name == "layers.0.fc.bias"]
    assert (partner.numpy() == left.tensor("layers.0.fc.bias").numpy()).all()


def test_groups_are_paired_by_what_is_in_them() -> None:
    left, right = load(make_layers(3)), load(rename_all(make_layers(3)))
    same = match_models(left, load(make_layers(3))).groups
    assert {(pair.left.path, pair.right.path) for pair in same if pair.share == 1} >= {
        ("main/", "main/"),
        ("main/layers.1/", "main/layers.1/"),
    }
    whole = match_models(left, right).groups[0]
    assert (whole.left.path, whole.right.path, whole.share) == ("main/", "main/", 1)


def test_a_group_that_lost_a_node_is_still_the_same() -> None:
    shorter = make_layers(3)
    nodes = shorter.graph.node
    act = next(node for node in nodes if node.name == "/layers.1/act/Tanh")
    after = next(node for node in nodes if node.name == "/layers.1/Add")
    after.input[1] = act.input[0]
    nodes.remove(act)
    matching = match_models(load(make_layers(3)), load(shorter))
    (pair,) = [p for p in matching.groups if p.left.path == "main/layers.1/"]
    assert pair.right.path == "main/layers.1/"
    assert 0.5 < pair.share < 1
