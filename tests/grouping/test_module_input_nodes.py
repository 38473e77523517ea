"""What a module and its residual share stands before the module."""

from __future__ import annotations

import pytest
from onnx import TensorProto, helper

from netloupe.explorer.grouping import Group, GroupTree, build_group_tree
from netloupe.explorer.grouping.module_input_nodes import find_module_input_nodes
from netloupe.explorer.model import Model, Node
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.faces import make_face
from netloupe.explorer.view import View
from tests.grouping.test_tree import check_tree
from tests.test_known_architectures import find_file

NORMS = [
    "exported/gemma.legacy.onnx",
    "exported/llama.legacy.onnx",
    "exported/llama_past.legacy.onnx",
    "exported/mamba.legacy.onnx",
    "exported/mixtral.legacy.onnx",
    "exported/qwen3.legacy.onnx",
    "exported/t5.legacy.onnx",
]


def make_layers(
    *, casts: int = 1, residual: str = "norm/Cast", layers: int = 3, summed: str = "Add"
) -> Model:
    """Return layers whose norm begins with Casts; the residual takes what they give, or others."""
    nodes = [
        helper.make_node("MatMul", ["x", "m"], ["/stem/a"], "/stem/MatMul"),
        helper.make_node("Relu", ["/stem/a"], ["/stem/b"], "/stem/Relu"),
    ]
    stream = "/stem/b"
    for layer in range(layers):
        begin = stream

        def add(
            op: str, *inputs: str, name: str, scope: str = f"/layers.{layer}/", **how: int
        ) -> str:
            nodes.append(helper.make_node(op, [*inputs], [scope + name], scope + name, **how))
            return scope + name

        for number in range(casts):
            stream = add("Cast", stream, name=f"norm/Cast_{number}", to=1)
        cast = stream
        wide = add("Pow", cast, "two", name="norm/Pow")
        mean = add("ReduceMean", wide, name="norm/ReduceMean", keepdims=1)
        root = add("Sqrt", add("Add", mean, "eps", name="norm/Add"), name="norm/Sqrt")
        normal = add("Div", cast, root, name="norm/Div")
        scaled = add("Mul", normal, "w", name="norm/Mul")
        mixed = add("MatMul", scaled, "m", name="mixer/MatMul")
        mixed = add("MatMul", add("Relu", mixed, name="mixer/Relu"), "m", name="mixer/MatMul_1")
        beside = {"norm/Cast": cast, "before": begin, "norm/Div": normal}[residual]
        stream = add("Add", mixed, beside, name=summed)
    value = helper.make_tensor_value_info
    constants = {"two": [2.0], "eps": [1e-5], "w": [1.0] * 4}
    graph = helper.make_graph(
        nodes,
        "g",
        [value("x", TensorProto.FLOAT, [4, 4])],
        [value(stream, TensorProto.FLOAT, [4, 4])],
        [
            helper.make_tensor("m", TensorProto.FLOAT, [4, 4], [0.5] * 16),
            *(
                helper.make_tensor(name, TensorProto.FLOAT, [len(held)], held)
                for name, held in constants.items()
            ),
        ],
    )
    opset = helper.make_opsetid("", 17)
    return load(helper.make_model(graph, opset_imports=[opset]).SerializeToString())


def make_tree(model: Model) -> GroupTree:
    tree = build_group_tree(model.graph)
    check_tree(tree)
    return tree


def find_home(tree: GroupTree, name: str) -> Group:
    node = next(node for node in tree.graph.nodes if node.name == name)
    group = tree.group_of(node)
    assert group is not None
    return group


def test_a_cast_that_the_residual_takes_too_is_no_part_of_the_norm() -> None:
    tree = make_tree(make_layers())
    home = find_home(tree, "/layers.0/norm/Cast_0")
    assert (home.kind, [node.op_type for node in home.children if isinstance(node, Node)]) == (
        "operation",
        ["Cast"],
    )
    assert home.parent is find_home(tree, "/layers.0/norm/Pow").parent
    norm = find_home(tree, "/layers.0/norm/Pow")
    assert norm.recognised is not None
    assert norm.recognised.name == "RMSNorm"


def test_casts_in_a_row_are_one_dot_without_a_text() -> None:
    model = make_layers(casts=2)
    home = find_home(make_tree(model), "/layers.0/norm/Cast_1")
    assert [node.name for node in home.children if isinstance(node, Node)] == [
        "/layers.0/norm/Cast_0",
        "/layers.0/norm/Cast_1",
    ]
    view = View(model)
    view.open("main/layers.0/")
    faces = [make_face(item) for item in view.items.values() if item.path == home.path]
    assert [(face.outline, face.texts) for face in faces] == [("junction", ())]
    assert model.to_dot(expand=1).source.count("label=Cast") == 1


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (make_layers(layers=2), {f"/layers.{n}/norm/Cast_0": (f"layers.{n}",) for n in range(2)}),
        # only the norm itself takes what the Cast gives
        (make_layers(residual="before"), {}),
        # another module takes it, not the one that holds both
        (make_layers(summed="tail/Add"), {}),
        # what the norm has computed is taken elsewhere: nothing of it passes only
        (make_layers(residual="norm/Div"), {}),
    ],
)
def test_only_what_passes_in_and_goes_around_is_moved(
    model: Model, expected: dict[str, tuple[str, ...]]
) -> None:
    graph = model.graph
    found = find_module_input_nodes(
        graph, [tuple(node.name.strip("/").split("/")[:-1]) for node in graph.nodes]
    )
    assert {graph.nodes[index].name: scope for index, scope in found.items()} == expected


@pytest.mark.parametrize("name", NORMS)
def test_a_norm_gives_only_what_it_has_normalized(name: str) -> None:
    graph = load(find_file(name)).graph
    tree = make_tree(graph.model)
    norms = [group for group in tree.groups.values() if group.label.endswith(("norm", "norm_f"))]
    assert len(norms) > 1
    for norm in norms:
        givers = {
            value
            for node in tree.order[norm.low : norm.high]
            for value in node.outputs
            if value is not None and any(not tree.holds(norm, user) for user in value.users)
        }
        assert len(givers) == 1, norm.path


def make_shared_layout(op: str, *, is_taken_inside: bool, is_own_input: bool) -> Model:
    """Return two modules that take one layout of a value, which the first of them has made."""
    wide = "a/x" if is_own_input else "x"
    how = {"perm": [1, 0]} if op == "Transpose" else {}
    others = [] if op == "Transpose" else ["shape"]
    own = "t" if is_taken_inside else "x"
    nodes = [
        helper.make_node("Relu", ["x"], ["a/x"], "/block/a/Relu"),
        helper.make_node(op, [wide, *others], ["t"], "/block/a/op/Layout", **how),
        helper.make_node("MatMul", [own, "m"], ["u"], "/block/a/MatMul"),
        helper.make_node("Add", ["u", "a/x"], ["v"], "/block/a/Add"),
        helper.make_node("MatMul", ["t", "v"], ["w"], "/block/b/MatMul"),
        helper.make_node("Relu", ["w"], ["y"], "/block/b/Relu"),
    ]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "g",
        [value("x", TensorProto.FLOAT, [4, 4])],
        [value("y", TensorProto.FLOAT, [4, 4])],
        [
            helper.make_tensor("m", TensorProto.FLOAT, [4, 4], [0.5] * 16),
            helper.make_tensor("shape", TensorProto.INT64, [2], [4, 4]),
        ],
    )
    opset = helper.make_opsetid("", 17)
    return load(helper.make_model(graph, opset_imports=[opset]).SerializeToString())


@pytest.mark.parametrize(
    ("how", "is_moved"),
    [
        ({"is_taken_inside": True, "is_own_input": False}, True),
        # only the other module takes it: it is what the first one gives
        ({"is_taken_inside": False, "is_own_input": False}, False),
        # it lays out what the first module has computed
        ({"is_taken_inside": True, "is_own_input": True}, False),
    ],
)
def test_a_layout_that_two_modules_share_stands_before_both(
    how: dict[str, bool], is_moved: bool
) -> None:
    graph = make_shared_layout("Transpose", **how).graph
    scopes = [tuple(node.name.strip("/").split("/")[:-1]) for node in graph.nodes]
    found = find_module_input_nodes(graph, scopes)
    assert {graph.nodes[at].name: scope for at, scope in found.items()} == (
        {"/block/a/op/Layout": ("block",)} if is_moved else {}
    )


def test_a_shared_shape_stays_where_its_author_made_it() -> None:
    """Else what gates and experts of a mixture take would be two values."""
    graph = make_shared_layout("Reshape", is_taken_inside=True, is_own_input=False).graph
    scopes = [tuple(node.name.strip("/").split("/")[:-1]) for node in graph.nodes]
    assert find_module_input_nodes(graph, scopes) == {}
