"""Single nodes that only arrange join the operation that they serve."""

from __future__ import annotations

import re

import pytest

from netloupe.explorer.grouping import Group, GroupTree, build_group_tree, simplify
from netloupe.explorer.model import Node
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.faces import make_face
from netloupe.explorer.view import Instance, Item
from tests.corpus import beside, corpus_file
from tests.onnx_text import load_text

from .test_shape_arithmetic import read
from .test_tree import check_tree

_NINE = "{1,2,3,4,5,6,7,8,9}"
#: so many nodes that the graph is not shown as it stands
_MORE = " ".join(f"m{n + 1} = Relu (m{n})  " for n in range(16))


def group(body: str, grouping: str = "auto") -> GroupTree:
    """Return the tree of a graph from a product x to y, with another chain beside it."""
    graph = load_text(f"""
        g (float[3, 3] in) => (y, m16)
        <float[3, 3] w = {_NINE}, int64[2] as = {{3, 3}}, int64[1] one = {{1}},
         int64 zero = {{0}}, int64 three = {{3}},
         float[3] k = {{1, 2, 3}}, int64[2, 2] ids = {{0, 1, 2, 0}}>
        {{ x = MatMul (in, w) {body} m0 = Sigmoid (x) {_MORE} }}
    """).graph
    tree = build_group_tree(graph, grouping)
    check_tree(tree)
    return tree


def outline(parent: Group) -> str:
    """Return the children of a group in one line, without the other chain."""
    return " ".join(
        f"{child.kind}:{child.label}({outline(child)})"
        if isinstance(child, Group)
        else child.op_type
        for child in parent.children
        if not (isinstance(child, Group) and child.kind in ("repeat", "shape"))
    )


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # what takes the result is a node
        ("b = Reshape (x, as)  y = MatMul (b, w)", "operation:MatMul(Reshape MatMul)"),
        # several in a row
        (
            "b = Reshape (x, as)  c = Cast <to = 1> (b)  y = MatMul (c, w)",
            "operation:MatMul(Reshape Cast MatMul)",
        ),
        # what takes it is a residual sum: it joins what gives to it
        (
            "a = MatMul (x, w)  b = Transpose (a)  y = Add (b, x)",
            "operation:MatMul(MatMul Transpose) Add",
        ),
        # a bias is no residual sum
        ("b = Transpose (x)  y = Add (b, k)", "operation:Add(Transpose Add)"),
        # several take it
        (
            "a = MatMul (x, w)  b = Transpose (a)  c = Relu (b)  d = Sigmoid (b)  y = Sub (c, d)",
            "operation:MatMul(MatMul Transpose) Relu Sigmoid Sub",
        ),
        # it is an output
        ("a = MatMul (x, w)  y = Transpose (a)", "operation:MatMul(MatMul Transpose)"),
        # an input gives to it
        ("b = Transpose (in)  y = MatMul (b, w)", "operation:MatMul(Transpose MatMul)"),
        # several take what prepares: a piece of preparation by itself
        (
            "b = Transpose (in)  c = MatMul (b, w)  d = MatMul (w, b)  y = Sub (c, d)",
            "preparation:preparation(Transpose) MatMul MatMul Sub",
        ),
        # between two sums it joins the latter
        (
            "a = MatMul (x, w)  s = Add (a, x)  b = Transpose (s)  c = Add (b, a)  y = Gemm (c, w)",
            "MatMul Add operation:Add(Transpose Add) Gemm",
        ),
    ],
)
def test_what_only_arranges_joins_what_it_serves(body: str, expected: str) -> None:
    assert outline(group(body).root) == f"MatMul {expected} Sigmoid"


def test_every_node_stands_as_in_the_file_without_groups() -> None:
    tree = group("a = Relu (x)  b = Reshape (a, as)  y = MatMul (b, w)", "none")
    assert all(isinstance(child, Node) for child in tree.root.children)


_CHOICE = """
    s = Shape (x)  d = Gather (s, zero)  c = Equal (d, three)
    b = If (c) <then_branch = t () => (u) { u = Reshape (x, as) },
                else_branch = o () => (v) { v = Identity (x) }>
    y = Tanh (b)
"""


def test_a_choice_of_shapes_joins_what_takes_it() -> None:
    assert outline(group(_CHOICE).root) == "MatMul operation:Tanh(If Tanh) Sigmoid"


@pytest.mark.parametrize(
    ("old", "new"), [("v = Identity (x)", "v = Relu (x)"), ("v = Identity (x)", "v = Identity (w)")]
)
def test_a_choice_of_values_stands_for_itself(old: str, new: str) -> None:
    assert "MatMul If Tanh" in outline(group(_CHOICE.replace(old, new)).root)


def test_a_small_graph_is_shown_as_it_stands() -> None:
    graph = load_text(f"""
        g (float[3, 3] x) => (y)
        <float[3, 3] w = {_NINE}> {{ a = Transpose (x)  y = MatMul (a, w) }}
    """).graph
    assert outline(build_group_tree(graph).root) == "Transpose MatMul"


def test_in_a_small_graph_with_blocks_nodes_that_arrange_join_what_they_serve() -> None:
    text = """
        g (float[2, 4, 3, 3] x) => (y)
        <float[4, 4, 1, 1] k, float[36, 5] w, int64[2] flat = {2, 36}>
        { a = Conv (x, k) b = Relu (a) e = Reshape (b, flat) y = MatMul (e, w) }
    """
    expected = "block:Conv · ReLU(Conv Relu) operation:MatMul(Reshape MatMul)"
    assert outline(build_group_tree(load_text(text).graph).root) == expected
    # steps and choices are shown with all that is around them
    chosen = text.replace(
        "y = MatMul (e, w)",
        "c = ReduceSum <keepdims = 0> (e) d = Cast <to = 9> (c)"
        "y = If (d) <then_branch = t () => (u) { u = MatMul (e, w) },"
        " else_branch = o () => (v) { v = Relu (e) }>",
    )
    tree = build_group_tree(load_text(chosen).graph)
    assert outline(tree.root).endswith("Reshape ReduceSum Cast If")


@pytest.mark.parametrize(
    ("model", "path", "text", "nodes"),
    [
        ("gpt2.legacy", "wpe", "Embedding, 128 × 48", ["Gather", "Cast"]),
        ("resnet50.legacy", "fc", "Linear 256 → 10", ["Flatten", "Gemm"]),
    ],
)
def test_an_operation_has_name_and_path_of_what_computes(
    model: str, path: str, text: str, nodes: list[str]
) -> None:
    tree = build_group_tree(load(corpus_file(f"exported/{model}.onnx")).graph)
    check_tree(tree)
    found = tree.find(path)
    assert isinstance(found, Group)
    assert (found.kind, found.label.rsplit(" / ", 1)[-1]) == ("operation", path)
    assert found.recognised is not None
    assert found.recognised.text == text
    assert [child.op_type for child in found.children if isinstance(child, Node)] == nodes


def test_an_operation_of_no_known_kind_looks_like_the_node_that_computes() -> None:
    tree = group("a = Transpose (x)  y = Hardmax <axis = 0> (a)")
    found = next(child for child in tree.root.inner_groups() if child.kind == "operation")
    assert found.recognised is None
    item = Item("group", found.path, found, Instance(tree.graph, "main", None), None)
    item.openable = True
    assert [run.text for run in make_face(item).texts] == ["Hardmax", "+", "over 3"]


def test_a_sum_with_what_arranges_its_result_is_a_circle() -> None:
    tree = group(
        "a = MatMul (x, w)  s = Add (a, x)  b = Cast <to = 1> (s)"
        "  c = MatMul (b, w)  d = Add (c, b)  y = MatMul (d, w)"
    )
    found = next(child for child in tree.root.inner_groups() if child.kind == "operation")
    assert outline(found) == "Add Cast"
    item = Item("group", found.path, found, Instance(tree.graph, "main", None), None)
    item.openable = True
    face = make_face(item)
    assert (face.outline, [run.text for run in face.texts]) == ("junction", ["+"])


@pytest.mark.parametrize(
    "name", ["exported/lstm.legacy.onnx", *beside("exported/lstm.legacy.onnx")]
)
def test_a_node_in_a_group_joins_what_gives_to_the_group_where_a_stack_takes_it(name: str) -> None:
    tree = build_group_tree(load(corpus_file(name)).graph)
    check_tree(tree)
    assert re.match(r"operation:emb\w*\(Gather Transpose\) \w+:", outline(tree.root))


def test_a_node_behind_a_stack_joins_what_alone_takes_it_beside_their_group() -> None:
    nodes, names = ["x0 = Exp (in)"], ["/stem/Exp"]
    for layer in range(6):
        nodes += [f"m{layer} = MatMul (x{layer}, w)", f"s{layer} = Sigmoid (m{layer})"]
        nodes += [f"t{layer} = Mul (s{layer}, x{layer})", f"x{layer + 1} = Tanh (t{layer})"]
        names += [f"/body/layers.{layer}/{op}" for op in ("MatMul", "Sigmoid", "Mul", "Tanh")]
    nodes += ["t = Transpose (x6)", "y = MatMul (t, w)"]
    names += ["/body/Transpose", "/head/MatMul"]
    text = f"g (float[3, 3] in) => (float[3, 3] y) <float[3, 3] w = {_NINE}>"
    graph = read(f"{text} {{ {' '.join(nodes)} }}", names)
    tree = build_group_tree(graph)
    check_tree(tree)
    assert outline(tree.root).endswith("operation:head(Transpose MatMul)")


@pytest.mark.parametrize(
    ("text", "is_piece"),
    [("t = Cast <to = 1> (raw)", True), ("t = Concat <axis = 0> (raw)", False)],
)
def test_inputs_put_beside_each_other_stand_for_themselves(text: str, is_piece: bool) -> None:
    """A piece of preparation would say nothing of what is taken apart or put together."""
    graph = load_text(f"""
        g (float[3, 3] raw) => (y, m16) <float[3, 3] w = {_NINE}>
        {{ {text} a = MatMul (t, w) b = MatMul (t, w) y = Add (a, b) m0 = Sigmoid (y) {_MORE} }}
    """).graph
    tree = build_group_tree(graph)
    check_tree(tree)
    kinds = [child.kind for child in tree.root.inner_groups()]
    assert ("preparation" in kinds) is is_piece


def test_preparation_that_several_take_is_a_piece_by_itself() -> None:
    tree = build_group_tree(load(corpus_file("exported/detr.legacy.onnx")).graph)
    check_tree(tree)
    model = tree.find("model")
    assert isinstance(model, Group)
    # the queries' positions, once for each image
    assert "preparation:preparation(Expand Tile)" in outline(model)


@pytest.mark.parametrize("name", ["bert.legacy", "gpt2_past.legacy", "whisper.legacy"])
def test_repeats_are_as_they_would_be_without(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = load(corpus_file(f"exported/{name}.onnx")).graph
    joined = list_repeats(build_group_tree(graph))
    monkeypatch.setattr(simplify, "join_arrangement", lambda *_: {})
    assert joined == list_repeats(build_group_tree(graph))


def list_repeats(tree: GroupTree) -> list[tuple[str, list[int]]]:
    """Return the repeats, and by how many nodes their blocks are larger than the first."""
    found = []
    for repeat in {id(g): g for g in tree.groups.values() if g.kind == "repeat"}.values():
        sizes = [child.node_count for child in repeat.children if isinstance(child, Group)]
        found.append((repeat.label, [size - sizes[0] for size in sizes]))
    return found


def test_inside_of_repeated_blocks_nodes_join_at_every_depth() -> None:
    nodes, names = ["x0 = Exp (in)"], ["/stem/Exp"]
    for layer in range(4):
        nodes += [f"m{layer} = MatMul (x{layer}, w)", f"t{layer} = Transpose (m{layer})"]
        nodes += [f"n{layer} = MatMul (t{layer}, w)", f"x{layer + 1} = Tanh (n{layer})"]
        names += [f"/layers.{layer}/mix/{op}" for op in ("a/MatMul", "Transpose", "b/MatMul")]
        names += [f"/layers.{layer}/Tanh"]
    text = f"g (float[3, 3] in) => (float[3, 3] y) <float[3, 3] w = {_NINE}>"
    graph = read(f"{text} {{ {' '.join(nodes)} y = Neg (x4) }}", [*names, "/Neg"])
    tree = build_group_tree(graph)
    check_tree(tree)
    loose = [
        node.op_type
        for group in tree.groups.values()
        for node in group.children
        if isinstance(node, Node) and group.kind != "operation"
    ]
    assert "Transpose" not in loose


def test_a_bias_joins_its_layer_and_other_stored_sums_do_not() -> None:
    tree = group("a = MatMul (x, w)  b = Add (k, a)  c = Reshape (b, as)  y = Exp (c)")
    assert outline(tree.root).startswith("MatMul operation:MatMul(MatMul Add) ")
    tree = group("a = MatMul (x, w)  b = Add (w, a)  c = Reshape (b, as)  y = Exp (c)")
    assert outline(tree.root).startswith("MatMul MatMul Add ")
    tree = group("a = Relu (x)  b = Add (k, a)  c = Reshape (b, as)  y = Exp (c)")
    assert outline(tree.root).startswith("MatMul Relu Add ")
