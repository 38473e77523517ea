"""Two models as one: everything of the newer one, and what only the older one has."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from netloupe.explorer.compare import Diff, diff
from netloupe.explorer.grouping import Group
from netloupe.explorer.grouping.lookup import find_tree
from netloupe.explorer.model import Graph, Node
from netloupe.explorer.readers.load import load
from tests.compare.networks import make_layers, make_nested
from tests.onnx_text import load_text

CHAIN = "g (float[n] x) => (float[n] y) { [a] p = Relu (x) [b] q = Tanh (p) [c] y = Neg (q) }"
WITHOUT = "g (float[n] x) => (float[n] y) { [a] p = Relu (x) [c] y = Neg (p) }"


def copy_of(model: onnx.ModelProto) -> onnx.ModelProto:
    return onnx.ModelProto.FromString(model.SerializeToString())


def compare(left: onnx.ModelProto, right: onnx.ModelProto) -> Diff:
    return diff(load(left), load(right))


def take_out(model: onnx.ModelProto, name: str) -> onnx.ModelProto:
    """Return the model without a node; what took its result takes its operand."""
    changed = copy_of(model)
    nodes = changed.graph.node
    gone = next(node for node in nodes if node.name == name)
    for node in nodes:
        node.input[:] = [gone.input[0] if i == gone.output[0] else i for i in node.input]
    nodes.remove(gone)
    return changed


def list_tree(group: Group) -> list[object]:
    """Return the labels of nodes and groups, those of a group in a list behind its label."""
    listed: list[object] = []
    for child in group.children:
        if isinstance(child, Node):
            listed.append(child.path.rpartition("/")[2])
        else:
            listed += [child.path, list_tree(child)]
    return listed


def test_what_is_removed_stands_between_its_neighbours() -> None:
    found = diff(load_text(CHAIN), load_text(WITHOUT))
    graph = found.merged.graph
    assert [node.path for node in graph.nodes] == ["main/a", "main/c", "main/b"]
    assert list_tree(find_tree(found.merged, graph).root) == ["a", "b", "c"]
    gone = found.merged.node("b")
    assert [value.name for value in gone.inputs if value] == ["p"]
    kept = found.merged.node("c")
    assert [value.name for value in kept.inputs if value] == ["p"]
    assert kept.control_inputs == (gone.outputs[0],)
    assert found.merging.former == {kept: (gone.outputs[0],)}
    assert found.counts[:5] == (2, 0, 0, 1, 0)


def test_what_is_inserted_leaves_no_trace_of_the_edge_that_it_stands_on() -> None:
    found = diff(load_text(WITHOUT), load_text(CHAIN))
    assert [node.path for node in found.merged.graph.nodes] == ["main/a", "main/b", "main/c"]
    assert not found.merging.former
    assert found.states[found.right.node("b")] == "added"


def test_the_model_is_neither_of_both_and_says_what_they_say() -> None:
    left, right = load_text(CHAIN), load_text(WITHOUT.replace("Neg", "Exp"))
    found = diff(left, right)
    merged = found.merged
    assert merged is found.merged
    assert merged.source == right.source
    assert len(right.graph.nodes) == 2
    for node in merged.graph.nodes:
        assert merged[node.path] is node
        assert node.graph is merged.graph
        for value in (*node.inputs, *node.outputs):
            assert value is not None
            assert value.graph is merged.graph
    assert str(merged.value("x").type) == "float32[n]"


def test_a_removed_node_gets_another_path_where_its_own_is_taken() -> None:
    right = "g (float[n] x) => (float[n] y) { [b] p = Relu (x) [c] y = Neg (p) }"
    found = diff(load_text(CHAIN), load_text(right))
    paths = [node.path for node in found.merged.graph.nodes]
    assert paths == ["main/b", "main/c", "main/b (removed)"]
    assert found.merged.node("main/b (removed)").op_type == "Tanh"


def test_attributes_and_weights_come_from_the_model_that_has_them() -> None:
    left = make_layers(3)
    right = take_out(left, "/layers.1/fc/MatMul")
    found = compare(left, right)
    gone = found.merged.node("/layers.1/fc/MatMul")
    weight = gone.inputs[1]
    assert weight is not None
    assert weight.initializer is not None
    (before,) = [t for t in left.graph.initializer if t.name == "layers.1.fc.weight"]
    np.testing.assert_array_equal(weight.initializer.numpy(), numpy_helper.to_array(before))
    assert found.merged.tensor("layers.1.fc.weight").name == "layers.1.fc.weight"


def test_a_weight_of_another_size_is_kept_beside_the_newer_one() -> None:
    left = make_layers(2)
    right = copy_of(left)
    node = right.graph.node.pop(1)
    right.graph.node[1].input[0] = node.input[0]
    right.graph.node.append(helper.make_node("Mul", ["y", node.input[1]], ["z"], "other"))
    right.graph.output[0].name = "z"
    right.graph.initializer.remove(
        next(t for t in right.graph.initializer if t.name == "layers.0.fc.weight")
    )
    right.graph.initializer.append(
        numpy_helper.from_array(np.ones(4, np.float32), "layers.0.fc.weight")
    )
    found = compare(left, right)
    gone = found.merged.node("/layers.0/fc/MatMul")
    weight = gone.inputs[1]
    assert weight is not None
    assert weight.path == "main/%layers.0.fc.weight (removed)"
    assert weight.initializer is not None
    assert weight.initializer.path == weight.path
    assert weight.initializer.dims == (4, 4)
    assert found.merged.value("main/%layers.0.fc.weight").initializer.dims == (4,)  # type: ignore[union-attr]


def test_groups_are_those_of_the_newer_model_with_what_is_gone_inside() -> None:
    left = make_layers(3)
    found = compare(left, take_out(left, "/layers.1/act/Tanh"))
    tree = find_tree(found.merged, found.merged.graph)
    group = tree.groups["main/layers.1/"]
    assert [node.name.rpartition("/")[2] for node in tree.order[group.low : group.high]] == [
        *("MatMul", "Add", "Tanh", "Add")
    ]
    repeat = group.parent
    assert repeat is not None
    assert repeat.kind == "repeat"
    assert repeat.children[repeat.exemplar] is group


def test_a_layer_that_is_gone_is_a_group_among_the_others() -> None:
    left, right = make_layers(4), make_layers(4)
    nodes = right.graph.node
    gone = [node for node in nodes if node.name.startswith("/layers.2/")]
    for node in gone:
        nodes.remove(node)
    for node in nodes:
        node.input[:] = ["h2" if i == "h3" else i for i in node.input]
    found = compare(left, right)
    assert found.counts.removed == 4
    tree = find_tree(found.merged, found.merged.graph)
    group = tree.groups["main/layers.2/"]
    assert group.node_count == 4
    assert group.parent is not None
    labels = [child.label for child in group.parent.children if isinstance(child, Group)]
    assert labels == ["layers.0", "layers.1", "layers.2", "layers.3"]


def test_subgraphs_and_functions_are_merged_too() -> None:
    left, right = make_nested(), make_nested()
    inner = right.graph.node[2].attribute[0].g
    inner.node[1].op_type = "Exp"
    body = right.functions[0]
    body.node.insert(1, helper.make_node("Tanh", [body.node[0].output[0]], ["t"], "extra"))
    body.node[2].input[0] = "t"
    found = compare(left, right)
    merged = found.merged
    choice = merged.node("choice")
    graph = choice.attributes["then_branch"].value
    assert isinstance(graph, Graph)
    assert graph is choice.subgraphs[0]
    assert graph.model is merged
    assert merged.graphs_by_path["main/choice.then_branch"] is graph
    twice = merged.node("twice")
    assert {value.graph for value in twice.inputs if value} == {merged.graph}
    call = merged.node("call")
    assert call.function is merged.functions[0]
    assert [node.op_type for node in merged.functions[0].nodes] == ["Mul", "Tanh", "Sigmoid"]
    assert found.states[found.right.node("extra")] == "added"


def test_a_function_that_only_the_older_model_has_keeps_its_body() -> None:
    left, right = make_nested(), make_nested()
    del right.functions[:]
    right.graph.node.pop()
    right.graph.node[2].output[0] = "y"
    found = compare(left, right)
    calls = [node for node in found.merged.graph.nodes if node.op_type == "Scaled"]
    assert [node.function.path for node in calls if node.function] == ["functions/local::Scaled"]
    assert found.states[found.left.functions[0].nodes[0]] == "removed"


@pytest.mark.parametrize("grouping", ["names", "repeats", "none"])
def test_all_groupings_hold_every_node(grouping: str) -> None:
    left = make_layers(3)
    merged = compare(left, take_out(left, "/layers.1/act/Tanh")).merged
    svg = merged.to_svg(grouping=grouping, expand="all")  # type: ignore[arg-type]
    assert svg.count("Tanh") >= 3


def test_a_neighbourhood_shows_what_is_removed() -> None:
    found = diff(load_text(CHAIN), load_text(WITHOUT))
    svg = found.to_svg(focus="main/b", hops=1)
    assert ">Tanh<" in svg
    assert ">Relu<" in svg


def test_a_model_with_itself_is_itself() -> None:
    model = load(make_nested())
    found = diff(model, model)
    assert not found.states
    assert [*found.merged] == [*model]


def test_an_input_that_is_gone_is_still_there() -> None:
    left = load_text("g (float[n] x, float[n] z) => (float[n] y) { [a] y = Add (x, z) }")
    right = load_text("g (float[n] x) => (float[n] y) { [a] y = Add (x, x) }")
    merged = diff(left, right).merged
    assert [value.name for value in merged.graph.inputs] == ["x", "z"]
    assert [v.name for v in merged.node("a").control_inputs] == ["z"]
