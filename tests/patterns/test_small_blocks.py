"""Norms written out and summed embeddings, as blocks of their own among named groups."""

from __future__ import annotations

import onnx.parser
import pytest

from netloupe.explorer.grouping import Group, GroupTree, build_group_tree
from netloupe.explorer.grouping.repeat_names import name_span
from netloupe.explorer.model import Graph, Node
from netloupe.explorer.patterns import recognise
from netloupe.explorer.readers.load import load
from tests.corpus import corpus_file, light_file
from tests.grouping.test_tree import check_tree
from tests.onnx_text import load_text


def normalize(body: str) -> Graph:
    return load_text(f"""
        g (float[2, 3] x, float[2, 3] z) => (float[2, 3] y)
        <float two = {{2}}, float half = {{0.5}}, float third = {{0.333}}, float least = {{0.001}},
         int64[1] last = {{-1}}>
        {{ {body} }}
    """).graph


@pytest.mark.parametrize(
    "body",
    [
        # torch's x / x.norm(dim=-1, keepdim=True), by the older exporter
        "s = Pow (x, two)  n = ReduceSum (s, last)  r = Pow (n, half)  y = Div (x, r)",
        "s = Mul (x, x)  n = ReduceSum (s, last)  r = Sqrt (n)  y = Div (x, r)",
        "n = ReduceSumSquare (x, last)  r = Sqrt (n)  y = Div (x, r)",
        # functional.normalize, with a least norm
        "n = ReduceL2 (x, last)  c = Clip (n, least)  e = Expand (c, last)  y = Div (x, e)",
        "s = Mul (x, x)  n = ReduceSum (s, last)  e = Add (n, least)  r = Sqrt (e)  y = Div (x, r)",
        "y = LpNormalization <p = 2> (x)",
    ],
)
def test_a_division_by_the_euclidean_norm(body: str) -> None:
    found = recognise(normalize(body).nodes)
    assert found is not None
    assert (found.name, found.family) == ("L2 normalize", "normalization")


@pytest.mark.parametrize(
    "body",
    [
        # another power, another root, another value, the other way around, no square
        "s = Pow (x, third)  n = ReduceSum (s, last)  r = Pow (n, half)  y = Div (x, r)",
        "s = Pow (x, two)  n = ReduceSum (s, last)  r = Pow (n, third)  y = Div (x, r)",
        "s = Pow (z, two)  n = ReduceSum (s, last)  r = Pow (n, half)  y = Div (x, r)",
        "s = Pow (x, two)  n = ReduceSum (s, last)  r = Pow (n, half)  y = Div (r, x)",
        "s = Mul (x, z)  n = ReduceSum (s, last)  r = Sqrt (n)  y = Div (x, r)",
        "n = ReduceSum (x, last)  r = Sqrt (n)  y = Div (x, r)",
        "n = ReduceL2 (x, last)  c = Max (n, z)  y = Div (x, c)",
        "y = LpNormalization <p = 1> (x)",
    ],
)
def test_what_is_no_euclidean_norm(body: str) -> None:
    found = recognise(normalize(body).nodes)
    assert found is None or found.name != "L2 normalize"


@pytest.mark.parametrize("exporter", ["legacy", "dynamo"])
def test_both_towers_end_with_a_norm(exporter: str) -> None:
    tree = build_group_tree(load(corpus_file(f"exported/clip.{exporter}.onnx")).graph)
    check_tree(tree)
    norms = [group for group in tree.root.inner_groups() if group.label == "L2 normalize"]
    assert [group.kind for group in norms] == ["block", "block"]
    assert [child.op_type for child in norms[0].nodes_alone()][-1] == "Div"


@pytest.mark.parametrize(
    ("model", "path", "facts"),
    [
        ("gpt2.legacy", "transformer", ("1,000 × 48", "128 × 48")),
        ("opt.legacy", "decoder", ("1,000 × 48", "130 × 48")),
    ],
)
def test_tokens_and_positions_are_one_block(model: str, path: str, facts: tuple[str, ...]) -> None:
    tree = build_group_tree(load(corpus_file(f"exported/{model}.onnx")).graph)
    check_tree(tree)
    around = tree.find(path)
    assert isinstance(around, Group)
    (block,) = [group for group in around.inner_groups() if "position emb" in group.label]
    assert block.kind == "block"
    assert block.recognised is not None
    assert (block.recognised.name, block.recognised.facts) == ("Token + position embedding", facts)


def test_tokens_and_their_types_are_no_positions() -> None:
    tree = build_group_tree(load(corpus_file("exported/bert.legacy.onnx")).graph)
    embeddings = tree.find("embeddings")
    assert isinstance(embeddings, Group)
    assert not [group for group in embeddings.inner_groups() if group.kind == "block"]


def test_heads_are_counted_where_queries_are_put_into_groups_that_share_a_key() -> None:
    tree = build_group_tree(load(corpus_file("exported/llama_past.legacy.onnx")).graph)
    found = tree.find("layers.3/self_attn")
    assert isinstance(found, Group)
    assert found.recognised is not None
    # as the configuration in tools/zoo/generation.py says
    text = "Grouped-query attention, 8 heads × 8 over 2, rotary, causal"
    assert found.recognised.text == text


def outline(group: Group, labels: dict[int, str]) -> list[str]:
    """Return what the children of a group are: labels of nodes and groups, or operators."""
    return [
        child.label if isinstance(child, Group) else labels.get(child.index, child.op_type)
        for child in group.children
    ]


def test_modules_in_a_row_are_one_block_as_papers_draw_it() -> None:
    tree = build_group_tree(load(corpus_file("exported/resnet50.legacy.onnx")).graph)
    check_tree(tree)
    assert outline(tree.root, tree.node_labels)[0] == "conv1–relu"
    block = tree.root.children[0]
    assert isinstance(block, Group)
    assert block.recognised is not None
    assert block.recognised.text == "Conv · BN · ReLU, 7×7, 3 → 8, /2"
    assert outline(block, tree.node_labels) == ["conv1", "bn1", "relu"]


def test_modules_in_repeated_blocks_are_joined_in_each_of_them() -> None:
    tree = build_group_tree(load(corpus_file("exported/resnet50.legacy.onnx")).graph)
    stage = tree.find("layer3.1")
    assert isinstance(stage, Group)
    assert stage.parent is not None
    assert len(stage.parent.inner_groups()) == 6
    for block in stage.parent.inner_groups()[1:]:
        assert outline(block, tree.node_labels) == [
            "conv1–relu",
            "conv2–relu_1",
            "conv3–bn3",
            "Add",
            "relu_2",
        ]


def test_modules_of_a_block_are_found_by_their_names() -> None:
    model = load(corpus_file("exported/resnet50.legacy.onnx"))
    tree = build_group_tree(model.graph)
    found = tree.find("layer3.1.bn2")
    assert isinstance(found, Node)
    assert found.op_type == "BatchNormalization"
    assert found.path in model.search("layer3.1 bn2")


@pytest.mark.parametrize("exporter", ["legacy", "dynamo"])
def test_a_value_times_its_sigmoid_beside_modules_is_one_block(exporter: str) -> None:
    tree = build_group_tree(load(corpus_file(f"exported/unet.{exporter}.onnx")).graph)
    check_tree(tree)
    found = [group for group in tree.root.inner_groups() if group.label == "SiLU"]
    # of the time embedding, of what all blocks take of it, and before the last convolution
    assert len(found) == 3
    for group in found:
        assert [node.op_type for node in group.nodes_alone()] == ["Sigmoid", "Mul"]
    assert not [c for c in tree.root.children if isinstance(c, Node) and c.op_type == "Sigmoid"]


def group_named(**nodes: str) -> GroupTree:
    """Return the groups of nodes given by their modules, with ``m.0`` written ``m_0``."""
    proto = onnx.parser.parse_model(f"""<ir_version: 8, opset_import: ["" : 18]>
        g (float[1, 4, 8, 8] x) => (float[1, 4, 8, 8] y, float[1, 4, 8, 8] z)
        <float[4, 4, 1, 1] w = {{{", ".join("0" * 16)}}}, float[4] s = {{1, 1, 1, 1}}>
        {{ {"  ".join(nodes.values())} }}
    """)
    for node, name in zip(proto.graph.node, nodes, strict=True):
        node.name = f"/{name.replace('__', '/')}/{node.op_type}"
    return build_group_tree(load(proto).graph)


IN_A_ROW = {
    "stem": "a = Conv (x, w)",
    "conv": "b = Conv (a, w)",
    "norm": "c = BatchNormalization (b, s, s, s, s)",
    "act": "d = Relu (c)",
    "pool": "y = MaxPool <kernel_shape = [1, 1]> (d)",
}


def test_what_else_takes_a_result_keeps_modules_apart() -> None:
    joined = group_named(**IN_A_ROW, out__neg="e = Neg (d)", out__abs="z = Abs (e)")
    assert outline(joined.root, joined.node_labels) == ["stem", "conv–act", "pool", "out"]
    apart = group_named(**IN_A_ROW, out__neg="e = Neg (c)", out__abs="z = Abs (e)")
    assert outline(apart.root, apart.node_labels) == ["stem", "conv–norm", "act", "pool", "out"]
    alone = group_named(**IN_A_ROW, out__neg="e = Neg (b)", out__abs="z = Abs (e)")
    assert outline(alone.root, alone.node_labels) == [*IN_A_ROW, "out"]


def test_modules_are_joined_across_no_border() -> None:
    names = {"conv": "one__conv", "norm": "one__norm", "act": "two__act", "pool": "two__pool"}
    tree = group_named(
        **{names.get(name, name): text for name, text in IN_A_ROW.items()}, out="z = Neg (d)"
    )
    check_tree(tree)
    assert outline(tree.root, tree.node_labels) == ["stem", "one", "two", "out"]


def test_nothing_is_joined_where_only_names_count() -> None:
    graph = load(corpus_file("exported/resnet50.legacy.onnx")).graph
    for grouping in ("names", "none"):
        tree = build_group_tree(graph, grouping)
        assert not [group for group in tree.groups.values() if group.kind == "block"]


@pytest.mark.parametrize(
    ("labels", "label", "path"),
    [
        (["conv1", "bn1", "relu"], "conv1–relu", "conv1-relu"),
        (["inc.0", "inc.1", "inc.2"], "inc.0–2", "inc.0-2"),
        (["stem.conv", "stem.act"], "stem.conv–act", "stem.conv-act"),
        (["b.0 / conv", "b.0 / norm"], "b.0 / conv–norm", "b.0 / conv-norm"),
        (["a.conv", "b.act"], "a.conv–b.act", "a.conv-b.act"),
        (["proj", "proj"], "proj", "proj"),
    ],
)
def test_what_several_modules_are_called(labels: list[str], label: str, path: str) -> None:
    assert name_span(labels) == (label, path)


def test_what_stands_between_the_blocks_of_a_densenet() -> None:
    tree = build_group_tree(load(light_file("light_densenet121.onnx")).graph)
    check_tree(tree)
    found = [group for group in tree.root.inner_groups() if group.label.startswith("Transition")]
    # G. Huang and others, 2017, table 1: half of what the dense block before gives
    facts = [group.recognised.facts for group in found if group.recognised is not None]
    assert facts == [("256 → 128",), ("512 → 256",), ("1024 → 512",)]


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({}, "Transition"),
        ({"weight": "3, 4, 3, 3"}, ""),  # 3×3
        ({"weight": "4, 4, 1, 1"}, ""),  # as many channels
        ({"pool": "MaxPool"}, ""),
        ({"first": "a = Relu (x)  b = BatchNormalization (a, s, s, s, s)"}, ""),
    ],
)
def test_what_is_a_transition(change: dict[str, str], name: str) -> None:
    weight = change.get("weight", "3, 4, 1, 1")
    first = change.get("first", "a = BatchNormalization (x, s, s, s, s)  b = Relu (a)")
    graph = load_text(f"""
        g (float[1, 4, 8, 8] x) => (float[1, 3, 4, 4] y)
        <int64[4] n = {{{weight}}}, float[4] s = {{1, 1, 1, 1}}>
        {{ k = ConstantOfShape (n)  {first}  c = Conv (b, k)
           y = {change.get("pool", "AveragePool")} <kernel_shape = [2, 2], strides = [2, 2]> (c) }}
    """).graph
    found = recognise(graph.nodes)
    assert (found.name if found is not None and "·" not in found.name else "") == name


@pytest.mark.parametrize(
    ("padding", "name"),
    [
        ("p = Pad (x, n)", "Conv · ReLU"),
        ("p = Pad (x, n, zero)", "Conv · ReLU"),
        ("p = Pad (x, n, one)", ""),
        ('p = Pad <mode = "reflect"> (x, n)', ""),
        ("q = Pad (x, n)  p = Add (q, one)", ""),
        ("q = Pad (x, n)  p = Add (q, zero)", "Conv · ReLU"),
    ],
)
def test_zeros_around_its_operand_belong_to_a_convolution(padding: str, name: str) -> None:
    graph = load_text(f"""
        g (float[1, 4, 8, 8] x) => (float[1, 4, 8, 8] y)
        <int64[4] d = {{4, 4, 3, 3}}, int64[8] n = {{0, 0, 1, 1, 0, 0, 1, 1}},
         float zero = {{0}}, float one = {{1}}>
        {{ {padding}  k = ConstantOfShape (d)  c = Conv (p, k)  y = Relu (c) }}
    """).graph
    found = recognise(graph.nodes)
    assert (found.name if found is not None else "") == name


def test_blocks_with_padding_of_their_own_are_inverted_residuals() -> None:
    tree = build_group_tree(load(corpus_file("exported/mobilenetv2.legacy.onnx")).graph)
    stacks = [group for group in tree.root.inner_groups() if group.kind == "repeat"]
    # M. Sandler and others, MobileNetV2, 2018, table 2, without the last block
    assert [len(stack.children) for stack in stacks] == [2, 3, 4, 3, 3]
    for stack in stacks:
        assert stack.recognised is not None
        assert stack.recognised.name == "Inverted residual"
