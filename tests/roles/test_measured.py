"""What a layer takes and whose shape is asked for: a decoder's cache, from which it counts."""

from __future__ import annotations

import pytest
from onnx import TensorProto, helper

from netloupe.explorer.grouping import GroupTree, build_group_tree
from netloupe.explorer.grouping.copies import copies_input
from netloupe.explorer.model import Graph, Node
from netloupe.explorer.readers.load import load
from netloupe.explorer.roles import find_roles
from tests.corpus import corpus_file
from tests.onnx_text import load_text

_NINE = "{1,2,3,4,5,6,7,8,9}"


def decoder(count: str, *, use: str = "k = Concat <axis = 1> (copy, q)") -> Graph:
    """Return a layer that continues a cache, after positions were counted in some way."""
    return load_text(f"""
        g (int64[s] ids, float[b, p, 3] past) => (float[b, s, 3] y)
        <float[3, 3] w = {_NINE}, int64 zero = {{0}}, int64 one = {{1}}, int64[1] axis = {{0}}>
        {{
            copy = Concat <axis = 0> (past)
            {count}
            p = Gather (w, rows)
            t = Gather (w, ids)
            h = Add (p, t)
            q = MatMul (h, w)
            {use}
            scores = MatMul (k, w)
            late = Sum (scores, before, here)
            y = MatMul (late, w)
        }}
    """).graph


#: the length of the cache, and as many positions behind it, both for a later sum, too
_LENGTH = "sizes = Shape (copy)  before = Gather (sizes, one)"
_COUNT = "here = Range (zero, one, one)  rows = Add (here, before)"


def operators(graph: Graph) -> list[tuple[str, list[str]]]:
    return [
        (
            piece.purpose.name if piece.purpose is not None else "",
            [graph.nodes[index].op_type for index in piece.nodes],
        )
        for piece in find_roles(graph).pieces
    ]


def test_a_cache_whose_length_is_asked_for_belongs_to_the_positions_that_it_counts() -> None:
    graph = decoder(f"{_LENGTH}  {_COUNT}")
    assert operators(graph) == [("position ids", ["Concat", "Shape", "Gather", "Range", "Add"])]
    assert not find_roles(graph).loose


@pytest.mark.parametrize(
    "use",
    [
        "m = MatMul (copy, w)  k = Add (m, q)",  # here the stream begins
        "m = Tanh (copy)  k = MatMul (m, w)",
    ],
)
def test_where_a_stream_begins_is_no_cache(use: str) -> None:
    graph = decoder(f"{_LENGTH}  {_COUNT}", use=use)
    assert not any("Concat" in found for _, found in operators(graph))


def test_what_gives_other_numbers_than_sizes_and_positions_is_not_named() -> None:
    """Sizes and copies may leave positions; what is computed from these may not."""
    graph = decoder(f"{_LENGTH}  {_COUNT}", use="k = Concat <axis = 1> (copy, q, before)")
    assert [name for name, _ in operators(graph)] == ["position ids"]
    count = "half = Sqrt (before)  here = Range (zero, half, one)  rows = Add (here, before)"
    graph = decoder(f"{_LENGTH}  {count}", use="k = Concat <axis = 1> (copy, q, half)")
    assert "position ids" not in [name for name, _ in operators(graph)]


def test_nothing_is_joined_that_takes_from_what_it_gives_to() -> None:
    """The count goes through a large piece and comes back to another small one."""
    large = "  ".join(f"a{i + 1} = Neg (a{i})" for i in range(5))
    again = "b = Add (a5, before)  more2 = Mul (b, before)  rows = Unsqueeze (b, axis)"
    around = f"{_LENGTH}  a0 = Abs (before)  {large}  twice = Add (a5, a5)  {again}"
    use = "here = Neg (q)  k = Concat <axis = 1> (copy, q, more2, twice)"
    graph = decoder(around, use=use)
    for piece in find_roles(graph).pieces:
        inside, reached = {*piece.nodes}, set[int]()
        for node in graph.nodes:
            given = {v.producer.index for v in node.inputs if v is not None and v.producer}
            if node.index in inside:
                assert not given & reached
            elif given & (inside | reached):
                reached.add(node.index)


def test_a_length_for_each_of_many_layers_stays_with_its_layer() -> None:
    nodes, last = [], "x"
    for i in range(4):
        nodes += [
            helper.make_node("Identity", [f"past{i}"], [f"copy{i}"]),
            helper.make_node("Shape", [f"copy{i}"], [f"size{i}"]),
            helper.make_node("Cast", [f"size{i}"], [f"cast{i}"], to=TensorProto.FLOAT),
            helper.make_node("MatMul", [last, "w"], [f"h{i}"]),
            helper.make_node("Concat", [f"copy{i}", f"h{i}"], [f"k{i}"], axis=0),
            helper.make_node("Mul", [f"k{i}", f"cast{i}"], [f"m{i}"]),
            helper.make_node("Add", [f"m{i}", f"cast{i}"], [f"a{i}"]),
            helper.make_node("Add", [f"a{i}", f"cast{i and i - 1}"], [f"y{i}"]),
        ]
        last = f"y{i}"
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, None)
        for name in ("x", *(f"past{i}" for i in range(4)))
    ]
    outputs = [helper.make_tensor_value_info(last, TensorProto.FLOAT, None)]
    weight = helper.make_tensor("w", TensorProto.FLOAT, [1], [1.0])
    proto = helper.make_graph(nodes, "g", inputs, outputs, [weight])
    roles = find_roles(load(helper.make_model(proto)).graph)
    assert roles.pieces == ()


@pytest.mark.parametrize(
    ("name", "layers"),
    [
        ("exported/gpt2_past.legacy.onnx", 12),
        ("exported/llama_past.legacy.onnx", 16),
        ("exported/distilgpt2_merged.legacy.onnx", 6),
    ],
)
def test_positions_stand_above_the_layers_of_a_decoder_with_a_past(name: str, layers: int) -> None:
    model = load(corpus_file(name))
    graph = model.graph
    if graph.nodes[-1].op_type == "If":
        (graph,) = (g for g in graph.nodes[-1].subgraphs if g.name == "with_past")
    tree = build_group_tree(graph)
    (stack,) = (group for group in tree.root.inner_groups() if group.kind == "repeat")
    assert len(stack.children) == layers
    assert len({block.node_count for block in stack.inner_groups()}) == 1
    above = {node.index for node in tree.order[: stack.low]}
    for node in tree.order[: stack.low]:
        givers = {v.producer.index for v in node.inputs if v is not None and v.producer}
        assert not givers & {other.index for other in tree.order[stack.low :]}
    positions = next(group for group in tree.groups.values() if "position ids" in group.label)
    assert {node.index for node in tree.order[positions.low : positions.high]} <= above
    for value in graph.inputs:
        copies = [node for node in value.users if copies_input(node)]
        assert not any(is_prepared(tree, node) for node in copies)


def is_prepared(tree: GroupTree, node: Node) -> bool:
    group = tree.group_of(node)
    while group is not None and group.kind != "preparation":
        group = group.parent
    return group is not None
