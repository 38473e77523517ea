"""Shape arithmetic: what counts as such, where it is put, and what it is in words."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from onnx import parser

from netloupe.explorer.grouping import Group, GroupTree, build_group_tree
from netloupe.explorer.model import Graph, is_constant_node
from netloupe.explorer.patterns import describe_shape_value
from netloupe.explorer.readers.load import load
from tests.corpus import beside, corpus_file

from .test_tree import check_tree


def read(text: str, names: Sequence[str] = ()) -> Graph:
    """Return the graph of a text; its nodes get names that the text form has no way to write."""
    header = '<ir_version: 9, opset_import: ["" : 18]>\n'
    proto = parser.parse_model(header + text)
    for node, name in zip(proto.graph.node, names, strict=bool(names)):
        node.name = name
    return load(proto.SerializeToString()).graph


RESHAPE = """g (float[batch, seq, 768] x, float[batch, seq, 768] other) => (float[a, b, c, d] y)
<int64 zero = {0}, int64 one = {1}, int64[1] axis = {0}, int64[1] heads = {12},
 int64[1] size = {64}>
{
    r = Relu (x)
    s = Shape (x)
    b0 = Gather (s, zero)
    l0 = Gather (s, one)
    b1 = Unsqueeze (b0, axis)
    l1 = Unsqueeze (l0, axis)
    target = Concat <axis = 0> (b1, l1, heads, size)
    y = Reshape (r, target)
}"""


def shapes(tree: GroupTree) -> list[Group]:
    found = [group for group in tree.groups.values() if group.label == "shape arithmetic"]
    return sorted(found, key=lambda group: group.low)


def ops(group: Group) -> list[str]:
    return [child.op_type for child in group.children]  # type: ignore[union-attr]


@pytest.mark.parametrize("grouping", ["auto", "names", "modules", "repeats"])
def test_a_chain_from_shape_to_reshape_is_one_group(grouping: str) -> None:
    graph = read(RESHAPE)
    tree = build_group_tree(graph, grouping)
    check_tree(tree)
    (shape,) = shapes(tree)
    assert ops(shape) == ["Shape", "Gather", "Gather", "Unsqueeze", "Unsqueeze", "Concat"]
    assert shape.parent is tree.root
    # it stands before the node that uses it
    assert [child for child in tree.root.children if child is not shape] == [
        graph.nodes[0],
        graph.nodes[-1],
    ]
    assert tree.root.children[1] is shape
    assert describe_shape_value(graph.values["target"]) == "[batch, seq, 12, 64]"


def test_no_groups_means_no_shapes_either() -> None:
    graph = read(RESHAPE)
    assert build_group_tree(graph, "none").root.children == graph.nodes


def test_what_ordinary_nodes_use_as_data_is_left_alone() -> None:
    graph = read(
        """g (float[batch, 4] x) => (float[batch, 4] y, float[n, m] z) <int64 zero = {0}> {
            s = Shape (x)
            n = Gather (s, zero)
            scale = Cast <to = 1> (n)
            y = Div (x, scale)
            z = Reshape (x, s)
        }"""
    )
    tree = build_group_tree(graph)
    assert shapes(tree) == []
    check_tree(tree)


def test_an_output_of_the_graph_is_left_alone() -> None:
    graph = read(
        "g (float[batch, 4] x) => (int64[2] s, float[n, m] y) { s = Shape (x) y = Reshape (x, s) }"
    )
    assert shapes(build_group_tree(graph)) == []


def test_arithmetic_without_shapes_is_left_alone() -> None:
    graph = read(
        """g (float[4] x) => (float[n, m] y) <int64[1] a = {2}, int64[1] b = {2}> {
            t = Concat <axis = 0> (a, b)
            y = Reshape (x, t)
        }"""
    )
    assert shapes(build_group_tree(graph)) == []


def test_each_piece_is_where_its_users_are() -> None:
    operators = ["a/Relu", "a/Shape", "a/Gather", "a/Unsqueeze", "a/Concat", "a/Reshape"]
    operators += ["b/Concat", "b/Reshape", "b/Relu"]
    graph = read(
        """g (float[batch, 4] x) => (float[n, m] y)
        <int64 zero = {0}, int64[1] axis = {0}, int64[1] four = {4}> {
            r = Relu (x)
            s = Shape (r)
            n = Gather (s, zero)
            u = Unsqueeze (n, axis)
            t = Concat <axis = 0> (u, four)
            p = Reshape (r, t)
            t2 = Concat <axis = 0> (u, four)
            q = Reshape (p, t2)
            y = Relu (q)
        }""",
        [f"/{name}" for name in operators],
    )
    tree = build_group_tree(graph)
    check_tree(tree)
    assert [(shape.path, ops(shape)) for shape in shapes(tree)] == [
        ("main/shape/", ["Shape", "Gather", "Unsqueeze"]),
        ("main/a/shape/", ["Concat"]),
        ("main/b/shape/", ["Concat"]),
    ]
    for shape in shapes(tree):
        assert shape.parent is tree.groups[shape.path.removesuffix("shape/")]


def test_shapes_of_a_repeat_are_in_its_repetitions_or_beside_it() -> None:
    lines, names = ["s = Shape (x)", "h0 = Relu (x)"], ["/in/Shape", "/in/Relu"]
    for layer in range(4):
        lines += [
            f"s{layer} = Shape (h{layer})",
            f"e{layer} = Exp (h{layer})",
            f"r{layer} = Reshape (e{layer}, s{layer})",
            f"h{layer + 1} = Expand (r{layer}, s)",
        ]
        names += [f"/h.{layer}/{op}" for op in ("Shape", "Exp", "Reshape", "Expand")]
    graph = read(f"g (float[b, 4] x) => (float[n, m] h4) {{ {' '.join(lines)} }}", names)
    tree = build_group_tree(graph)
    check_tree(tree)
    (repeat,) = [
        child for child in tree.root.children if isinstance(child, Group) and child.kind == "repeat"
    ]
    parents = {shape.path: shape.parent for shape in shapes(tree)}
    assert parents == {
        "main/shape/": tree.root,
        **{f"main/h.{layer}/shape/": repeat.children[layer] for layer in range(4)},
    }


def test_only_some_nodes() -> None:
    graph = read(RESHAPE)
    tree = build_group_tree(graph, "auto", frozenset({1, 2, 5}))
    assert [ops(shape) for shape in shapes(tree)] == [["Shape", "Gather"], ["Unsqueeze"]]
    assert [position >= 0 for position in tree.positions] == [
        index in (1, 2, 5) for index in range(len(graph.nodes))
    ]


def test_use_inside_a_subgraph() -> None:
    graph = read(
        """g (float[b, 4] x, bool c) => (float[n, m] y) {
            s = Shape (x)
            y = If (c) <
                then_branch = t () => (float[n, m] p) { p = Reshape (x, s) },
                else_branch = e () => (float[n, m] q) { q = Relu (x) }
            >
        }"""
    )
    tree = build_group_tree(graph)
    check_tree(tree)
    assert [ops(shape) for shape in shapes(tree)] == [["Shape"]]


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        ("v = Shape (x)", "[batch, seq, 768]"),
        ("v = Shape <start = 1> (x)", "[seq, 768]"),
        ("v = Size (x)", "batch·seq·768"),
        ("s = Shape (x) v = Gather (s, one)", "seq"),
        ("s = Shape (x) v = Gather (s, last)", "[768]"),
        ("s = Shape (x) n = Gather (s, zero) v = Mul (n, twelve)", "batch·12"),
        (
            "s = Shape (x) n = Gather (s, zero) m = Add (n, one) v = Mul (m, twelve)",
            "(batch + 1)·12",
        ),
        ("s = Shape (x) n = Gather (s, zero) v = Sub (n, one)", "batch - 1"),
        ("s = Shape (x) n = Gather (s, zero) v = Sub (n, n)", "0"),
        ("s = Shape (x) l = Gather (s, last) v = Div (l, twelve)", "[64]"),
        ("s = Shape (x) v = Slice (s, axis, last)", "[batch, seq]"),
        ("s = Shape (x) v = Concat <axis = 0> (s, axis)", "[batch, seq, 768, 0]"),
        ("s = Shape (x) n = Gather (s, one) v = Range (zero, n, one)", "0 … seq"),
        ("s = Shape (unknown) v = Gather (s, one)", "?"),
        ("v = Shape (unknown)", "?"),
        (
            "s = Shape (x) e = Equal (s, last) o = Shape (x) v = Where (e, o, s)",
            "[batch, seq, 768]",
        ),
        ("v = NoSuchOperator (x)", "?"),
    ],
)
def test_values_in_words(lines: str, text: str) -> None:
    graph = read(
        f"""g (float[batch, seq, 768] x, float unknown0) => (int64[n] w)
        <int64 zero = {{0}}, int64 one = {{1}}, int64 twelve = {{12}}, int64[1] axis = {{0}},
         int64[1] last = {{-1}}> {{
            unknown = NoSuchOperator (unknown0)
            {lines}
            w = Identity (v)
        }}"""
    )
    assert describe_shape_value(graph.values["v"]) == text


def test_long_and_growing_arithmetic_is_bounded() -> None:
    lines = ["v0 = Gather (s, zero)"]
    lines += [f"v{n + 1} = Mul (v{n}, v{n})" for n in range(200)]
    graph = read(
        f"g (float[batch, 3] x) => (int64 w) <int64 zero = {{0}}> "
        f"{{ s = Shape (x) {' '.join(lines)} w = Identity (v200) }}"
    )
    for depth in (5, 30, 200):
        assert describe_shape_value(graph.values[f"v{depth}"]) == "?"
    assert describe_shape_value(graph.values["v2"]) == "batch·batch·(batch·batch)".replace(
        "(", ""
    ).replace(")", "")


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("exported/gpt2.legacy.onnx", 0.6, 0.66),
        ("exported/bert.legacy.onnx", 0.38, 0.44),
        ("exported/vit.dynamo.onnx", 0.12, 0.16),  # this exporter folds some of it away
        ("exported/segformer.dynamo.onnx", 0, 0.02),  # and all where shapes are known
        *((name, 0.6, 0.66) for name in beside("exported/gpt2.legacy.onnx")),
        *((name, 0.3, 0.38) for name in beside("exported/bert.legacy.onnx")),
        *((name, 0, 0.02) for name in beside("exported/vit.dynamo.onnx")),
    ],
)
def test_share_of_shape_arithmetic_in_exports(name: str, low: float, high: float) -> None:
    graph = load(corpus_file(name)).graph
    tree = build_group_tree(graph)
    check_tree(tree)
    nodes = sum(not is_constant_node(node) for node in graph.nodes)
    assert low <= sum(shape.node_count for shape in shapes(tree)) / nodes <= high


@pytest.mark.parametrize(
    ("use", "told"), [("t = Shape (n)", [["Add", "Add", "Shape"]]), ("t = Relu (n)", [])]
)
def test_sums_of_which_only_the_shape_is_read_tell_shapes(use: str, told: list[list[str]]) -> None:
    """So exporters write what several values are broadcast to."""
    target = "t" if "Shape" in use else "d"
    graph = read(f"""g (float[4, 1] x, float[1, 4] z) => (float[4, 4] y, float[4, 4] s)
        <int64[2] d = {{4, 4}}, float zero = {{0}}>
        {{
            m = Add (zero, x)  n = Add (m, z)  {use}
            r = Relu (x)  y = Expand (r, {target})  s = Sigmoid ({"z" if target == "t" else "t"})
        }}""")
    found = shapes(build_group_tree(graph))
    assert [sorted(ops(group)) for group in found] == told
