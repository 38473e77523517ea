"""Groups are told what they are: once for all that are alike, and only where it is asked."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import NodeProto, TensorProto, helper, numpy_helper

from netloupe.explorer.grouping import Group, GroupTree, build_group_tree, recognised
from netloupe.explorer.grouping.member_nodes import list_member_nodes
from netloupe.explorer.grouping.scopes import read_name_scopes
from netloupe.explorer.grouping.stack_facts import StackDetails
from netloupe.explorer.model import Node
from netloupe.explorer.patterns.convolution_details import DenseDetails
from netloupe.explorer.readers.load import load
from tests.corpus import corpus_file
from tests.onnx_text import load_text
from tests.unrolled import Writer

from .test_repeats import Builder


def tree_of(name: str) -> GroupTree:
    return build_group_tree(load(corpus_file(f"exported/{name}.onnx")).graph)


def group_of(tree: GroupTree, path: str) -> Group:
    found = tree.find(path)
    assert isinstance(found, Group), path
    return found


def text_of(group: Group) -> str:
    return group.recognised.text if group.recognised is not None else ""


def test_a_stack_is_what_all_its_blocks_are() -> None:
    tree = tree_of("t5.legacy")
    stack = group_of(tree, "encoder/block.1").parent
    assert stack is not None
    assert stack.kind == "repeat"
    assert text_of(stack) == (
        "Transformer block, 4 heads × 8, relative positions, GEGLU 32 → 64 → 32, pre-norm RMSNorm"
    )


def test_a_recurrence_written_out_step_by_step_is_part_of_its_block() -> None:
    mixer = group_of(tree_of("mamba.legacy"), "layers.0/mixer")
    (scan,) = (one for one in mixer.inner_groups() if one.label == "Selective scan")
    assert [one.kind for one in scan.inner_groups()].count("repeat") == 1
    assert text_of(mixer) == "Mamba block 32 → 64 → 32"


def test_a_stack_whose_widths_grow_says_what_goes_in_and_comes_out() -> None:
    tree = tree_of("densenet.legacy")
    layer = group_of(tree, "denseblock2/denselayer3")
    assert text_of(layer) == "Dense layer 24 → +4"
    stack = layer.parent
    assert stack is not None
    assert stack.recognised is not None
    # twelve layers; each takes what the one before it takes, and what that adds
    assert stack.recognised.text == "Dense layer 16 → 64, +4 each"
    each = stack.recognised.details.read_as(StackDetails).each
    assert each.read_as(DenseDetails).growth == 4
    assert stack.recognised.details.to_mapping() == {"in": 16, "out": 64, "growth": 4}


@pytest.mark.parametrize(
    ("name", "block", "text"),
    [
        # side by side: each projects another stage's features
        ("segformer.dynamo", "linear_projections.1", "Linear · Resize 16 to 64 → 32"),
        ("resnet50.dynamo", "layer3/1", "Bottleneck block 64 → 128"),
    ],
)
def test_a_stack_says_from_where_to_where_widths_go(name: str, block: str, text: str) -> None:
    stack = group_of(tree_of(name), block)
    while stack.kind != "repeat":
        assert stack.parent is not None
        stack = stack.parent
    assert text_of(stack) == text


def test_a_long_stack_is_told_by_all_its_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    # of these only the first and the last are compared as a whole
    monkeypatch.setattr(recognised, "_MOST_COMPARED", 1)
    stack = group_of(tree_of("densenet.legacy"), "denseblock3/denselayer3").parent
    assert stack is not None
    assert text_of(stack) == "Dense layer 32 → 128, +4 each"
    # one that is too long for that says what holds of those that were looked at, and no chain
    monkeypatch.setattr(recognised, "_MOST_MEASURED", 1)
    stack = group_of(tree_of("densenet.legacy"), "denseblock3/denselayer3").parent
    assert stack is not None
    assert text_of(stack) == "Dense layer"


def test_what_is_around_a_stack_is_no_block() -> None:
    tree = tree_of("bert.legacy")
    assert group_of(tree, "encoder").recognised is None
    assert tree.root.recognised is None


def test_of_layers_that_are_alike_one_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = tree_of("bert.legacy")
    looked: list[int] = []
    recognise = recognised.try_to_recognise

    def count(*args: object) -> object:
        looked.append(1)
        return recognise(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(recognised, "try_to_recognise", count)
    stack = group_of(tree, "layer.3").parent
    assert stack is not None
    assert text_of(stack).startswith("Transformer block")
    assert len(looked) == 1
    texts = {text_of(group_of(tree, f"layer.{layer}/attention/self")) for layer in range(12)}
    assert texts == {"Self-attention, 4 heads × 12"}
    assert len(looked) == 2
    assert text_of(stack).startswith("Transformer block")
    assert len(looked) == 2


def test_recognition_asks_nothing_while_the_tree_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("a group was recognised that nobody asked for")

    monkeypatch.setattr(recognised, "try_to_recognise", fail)
    assert group_of(tree_of("gpt2.legacy"), "h.3/mlp").node_count > 10


def test_a_mask_tells_encoders_from_decoders_that_are_wired_alike() -> None:
    builder = Builder()
    ones = builder.weight()
    causal = builder.add("Trilu", builder.add("Expand", ones, builder.add("Shape", "x")))
    other = builder.add("Expand", ones, builder.add("Shape", "x"))
    x = "x"
    for mask in (causal, other):
        x = builder.add("Relu", builder.attention(x, mask))
    graph = builder.load(x).nodes[0].graph
    tree = GroupTree(graph, Group("graph", graph, "main/", ""))
    half = [node for node in graph.nodes if node.op_type in ("Softmax", "Relu")]
    ends = [node.index for node in half]
    texts = []
    for number in range(2):
        low = 0 if not number else ends[1] + 1
        group = Group("scope", graph, f"main/{number}/", str(number), "", tree.root)
        group.children = [
            node
            for node in graph.nodes[low : ends[2 * number + 1]]
            if node.op_type not in ("Trilu", "Expand", "Shape")
        ]
        texts.append(text_of(group))
    assert texts == ["Self-attention, causal", "Self-attention"]


def test_shape_arithmetic_has_no_part_in_it() -> None:
    tree = tree_of("gpt2.legacy")
    group = group_of(tree, "h.3/attn")
    assert group.recognised is not None
    inside = {node.op_type for node in group.recognised.nodes}
    assert "Softmax" in inside
    assert "Shape" not in inside
    assert group.node_count >= len(group.recognised.nodes)


@pytest.mark.parametrize("name", ["detr.legacy", "detr.dynamo"])
def test_a_layer_of_a_detector_adds_positions_in_each_attention(name: str) -> None:
    text = text_of(group_of(tree_of(name), "decoder/layers.1"))
    assert text.startswith("Transformer decoder block, 4 heads × 8, MLP 32 → 64 → 32")


@pytest.mark.parametrize("name", ["unet.legacy", "unet.dynamo"])
def test_self_and_cross_attention_are_no_stack(name: str) -> None:
    tree = tree_of(name)
    block = group_of(tree, "down_blocks.0/attentions.0/transformer_blocks.0")
    names = {one.label: text_of(one).split(",")[0] for one in block.inner_groups()}
    assert names["attn1"] == "Self-attention"
    assert names["attn2"] == "Cross-attention"


def test_a_quantized_activation_without_names_stands_where_its_result_is_called_after() -> None:
    model = load(corpus_file("quantized/mobilenetv3.qoperator.onnx"))
    tree = build_group_tree(model.graph)
    act = group_of(tree, "features.16/features.16.2")
    assert "" in {node.name for node in list_member_nodes(act, 9)}
    assert text_of(act) == "HardSwish"
    assert text_of(group_of(tree, "features.16")) == "Conv · HardSwish, 1×1, 40 → 240"
    assert isinstance(tree.find("avgpool"), Node)


def test_a_result_that_is_called_otherwise_tells_no_scope() -> None:
    graph = load_text("""
        g (float[n] x) => (float[n] y)
        { [m_a] a = Relu (x) [m_b] b = Relu (a) c = Neg (b) y = Neg (c) }
    """).graph
    for node, name in zip(graph.nodes, ("/m/a", "/m/b", "", ""), strict=True):
        node.name = name
    renamed = {"c": "/other/c_output", "y": "other/y_output_0"}
    for node in graph.nodes[2:]:
        node.outputs[0].name = renamed[node.outputs[0].name]
    scopes = read_name_scopes(graph)
    assert scopes is not None
    assert scopes.of_node == [("m",), ("m",), None, None]
    graph.nodes[2].outputs[0].name = "/other/Neg_output_0_quantized"
    scopes = read_name_scopes(graph)
    assert scopes is not None
    assert scopes.of_node[2] == ("other",)


@pytest.mark.parametrize(
    ("op_type", "text"),
    [
        ("Transpose", "Residual block 4 → 8, with projection"),
        ("Sigmoid", ""),  # this is more than to turn what comes in
    ],
)
def test_a_block_may_turn_what_comes_in(op_type: str, text: str) -> None:
    writer = Writer()
    writer.inputs = {"x": [1, 16, 4] if text else [1, 4, 16]}
    first = writer.add("", op_type, "x", **({"perm": [0, 2, 1]} if text else {}))
    inner = writer.add("", "Conv", first, writer.weight("a", 8, 4, 3), pads=[1, 1])
    inner = writer.add("", "Relu", inner)
    inner = writer.add("", "Conv", inner, writer.weight("b", 8, 8, 3), pads=[1, 1])
    shortcut = writer.add("", "Conv", first, writer.weight("c", 8, 4, 1))
    writer.outputs = [writer.add("", "Exp", writer.add("", "Add", inner, shortcut))]
    graph = writer.load().graph
    block = Group("scope", graph, "main/block/", "block")
    block.children = [*graph.nodes[:-1]]
    block.node_count = len(block.children)
    found = recognised.Recogniser(graph).recognise(block)
    assert (found.text if found is not None else "") == text


@pytest.mark.parametrize(
    ("widths", "text"),
    [
        ([(8, 8), (16, 16), (8, 8)], "Conv 8 or 16 → same, 1×1"),
        ([(4, 4), (8, 8), (16, 16)], "Conv 4, 8 or 16 → same, 1×1"),
        ([(4, 4), (8, 8), (16, 16), (32, 32)], "Conv 4 to 32 → same, 1×1"),
        ([(4, 8), (8, 8), (16, 8)], "Conv 4 to 16 → 8, 1×1"),
        ([(8, 4), (8, 4), (8, 4)], "Conv, 1×1, 8 → 4"),
    ],
)
def test_layers_beside_each_other_say_in_which_widths_they_differ(
    widths: list[tuple[int, int]], text: str
) -> None:
    writer = Writer()
    for number, (taken, given) in enumerate(widths):
        writer.inputs[f"x{number}"] = [1, taken, 4, 4]
        weight = writer.weight(f"w{number}", given, taken, 1, 1)
        writer.outputs.append(writer.add("", "Conv", f"x{number}", weight))
    graph = writer.load().graph
    stack = Group("repeat", graph, "main/heads/", "heads")
    stack.children = [*graph.nodes]
    stack.node_count = len(graph.nodes)
    assert text_of(stack) == text


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_what_is_of_sizes_alone_is_not_taken_for_what_is_computed(order: tuple[int, int]) -> None:
    """Queries that are stored for as many examples as there are need not be seen as a stream."""
    graph = load_text(
        """
        <ir_version: 8, opset_import: ["" : 17]>
        g (float[n, 5, 8] x) => (float[n, 5, 8] y, float[n, 5, 8] z)
        <int64[3] dims = {1, 5, 8}, int64[2] rest = {5, 8}>
        {
          queries = ConstantOfShape (dims)
          size = Shape <start = 0, end = 1> (x)  all = Concat <axis = 0> (size, rest)
          stored = Expand (queries, all)
          a = Tanh (stored)  b = Add (a, stored)  y = Softmax (b)
          c = Tanh (x)  d = Add (c, x)  z = Softmax (d)
        }
        """
    ).graph
    groups = []
    for number, start in enumerate((4, 7)):
        group = Group("scope", graph, f"main/{number}/", str(number))
        group.children = [*graph.nodes[start : start + 2]]
        group.node_count = 2
        groups.append(group)
    recogniser = recognised.Recogniser(graph)
    found = [recogniser.recognise(groups[number]) for number in order]
    alone = [recognised.Recogniser(graph).recognise(groups[number]) for number in order]
    assert [one and one.text for one in found] == [one and one.text for one in alone]
    assert len({one and one.text for one in found}) == 2


@pytest.mark.parametrize("every", [True, False])
def test_blocks_of_which_several_results_are_joined_are_no_mere_stack(every: bool) -> None:
    weights: list[TensorProto] = []
    nodes: list[NodeProto] = []

    def convolve(scope: str, value: str, dims: tuple[int, int], kernel: int) -> str:
        name = f"/{scope}"
        tensor = np.ones((*dims, kernel, kernel), np.float32)
        weights.append(numpy_helper.from_array(tensor, f"{name}.weight"))
        pads = [kernel // 2] * 4
        operands = [value, f"{name}.weight"]
        nodes.append(helper.make_node("Conv", operands, [f"{name}/c"], f"{name}/Conv", pads=pads))
        nodes.append(helper.make_node("Relu", [f"{name}/c"], [f"{name}/y"], f"{name}/Relu"))
        return f"{name}/y"

    last = convolve("stem", "x", (16, 16), 3)
    for scope in ("s", "d/s"):
        wide = convolve(f"{scope}/cv1", last, (16, 16), 1)
        parts = [f"/{scope}/a", f"/{scope}/b"]
        nodes.append(
            helper.make_node("Split", [wide], parts, f"/{scope}/Split", axis=1, num_outputs=2)
        )
        joined = [*parts]
        for n in range(4):
            inner = convolve(f"{scope}/m.{n}/one", joined[-1], (8, 8), 3)
            inner = convolve(f"{scope}/m.{n}/two", inner, (8, 8), 3)
            joined.append(f"/{scope}/m.{n}/t")
            adds = [joined[-2], inner], [joined[-1]]
            nodes.append(helper.make_node("Add", *adds, f"/{scope}/m.{n}/Add"))
        joined = joined if every else [joined[0], joined[-1]]
        whole = f"/{scope}/j"
        nodes.append(helper.make_node("Concat", joined, [whole], f"/{scope}/Concat", axis=1))
        last = convolve(f"{scope}/cv2", whole, (16, 8 * len(joined)), 1)
    last = convolve("head", last, (16, 16), 3)
    dims = (1, 16, 8, 8)
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name in ("x", last)]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], weights)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
    groups = build_group_tree(load(made).graph).root.inner_groups()
    block = next(one for one in groups if one.label == "s")
    assert any(one.kind == "repeat" for one in block.inner_groups())
    assert text_of(block) == ("CSP block 16 → 16, 4 blocks" if every else "")
