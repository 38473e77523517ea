"""Groups from names and metadata, and how the tree is made readable."""

from __future__ import annotations

import ast
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netloupe.explorer.grouping import Group, GroupTree, build_group_tree
from netloupe.explorer.grouping.scopes import _read_list as read_list
from netloupe.explorer.model import Graph, Node, is_constant_node
from netloupe.explorer.readers.load import load
from netloupe.proto import onnx_pb2
from tests.corpus import LIGHT_MODELS, also_beside, corpus_file, light_file
from tests.steps import count_steps

_SCOPES = "pkg.torch.onnx.name_scopes"
_CLASSES = "pkg.torch.onnx.class_hierarchy"


def make_chain(
    *names: str,
    metadata: dict[int, dict[str, str]] | None = None,
    op_type: str | Sequence[str] = "Relu",
) -> Graph:
    """Return a graph of nodes with these names, each using the one before; kinds come in turn."""
    kinds = (op_type,) if isinstance(op_type, str) else op_type
    proto = onnx_pb2.ModelProto(ir_version=8)
    proto.graph.input.add(name="v0")
    proto.graph.output.add(name=f"v{len(names)}")
    for number, name in enumerate(names):
        node = proto.graph.node.add(
            op_type=kinds[number % len(kinds)],
            name=name,
            input=[f"v{number}"],
            output=[f"v{number + 1}"],
        )
        for key, value in (metadata or {}).get(number, {}).items():
            node.metadata_props.add(key=key, value=value)
    return load(proto.SerializeToString()).graph


def outline(tree: GroupTree, group: Group | None = None) -> str:
    """Return a tree as one line: names of nodes, groups as ``label(…)``."""
    parts = []
    for child in (group or tree.root).children:
        if isinstance(child, Group):
            parts.append(f"{child.label}({outline(tree, child)})")
        else:
            label = tree.node_labels.get(child.index)
            name = child.name.rsplit("/", 1)[-1] or child.op_type
            parts.append(f"{label}={name}" if label else name)
    return " ".join(parts)


def check_tree(tree: GroupTree) -> None:
    """Assert that every shown node is in exactly one group, and the tables agree."""
    graph = tree.graph
    found: list[Node] = []
    pending: list[Group] = [tree.root]
    groups: list[Group] = []
    while pending:
        group = pending.pop()
        groups.append(group)
        for child in group.children:
            if isinstance(child, Group):
                assert child.parent is group
                assert child.children
                pending.append(child)
            else:
                assert tree.group_of(child) is group
                found.append(child)
    shown = [node for node in graph.nodes if not is_constant_node(node)]
    assert sorted(node.index for node in found) == [node.index for node in shown]
    numbers = [tree.positions[node.index] for node in shown]
    assert sorted(numbers) == list(range(len(shown)))
    assert len({group.path for group in groups}) == len(groups)
    for group in groups:
        assert tree.groups[group.path] is group
        assert group.node_count == group.high - group.low
        inside = {node.index for node in shown if tree.holds(group, node)}
        assert len(inside) == group.node_count
        assert group.path.endswith("/")
    constants = set(range(len(graph.nodes))) - {node.index for node in shown}
    assert all(tree.positions[index] == -1 for index in constants)


def group_names(*names: str, grouping: str = "names") -> str:
    tree = build_group_tree(make_chain(*names), grouping)
    check_tree(tree)
    return outline(tree)


def test_scopes_from_names() -> None:
    assert group_names("/a/x", "/a/y", "/b/x", "/b/c/y", "/b/c/z") == "a(x y) b(x c(y z))"


def test_no_scopes_where_few_names_have_any() -> None:
    assert group_names("a/x", "y", "z", "w") == "x y z w"


def test_none_makes_no_groups() -> None:
    assert group_names("/a/x", "/a/y", "/b/x", "/b/y", grouping="none") == "x y x y"


def test_a_group_of_one_node_is_the_node_with_its_label() -> None:
    assert group_names("/a/x", "/a/y", "/ln_1/Norm", "/b/y", "/b/z") == "a(x y) ln_1=Norm b(y z)"


def test_a_scope_with_one_node_and_a_scope_that_has_none_itself_is_a_group() -> None:
    names = [f"/f.{n}/{end}" for n in "01" for end in ("b/0/A", "b/0/B", "b/1/A", "b/1/B", "Add")]
    tree = build_group_tree(make_chain(*names), "names")
    check_tree(tree)
    around = tree.find("f.1")
    assert isinstance(around, Group)
    assert outline(tree, around) == "b(0(A B) 1(A B)) Add"


def test_chains_collapse() -> None:
    names = ["/model/layers/0/x", "/model/layers/0/y", "/head/x", "/head/y"]
    tree = build_group_tree(make_chain(*names), "names")
    check_tree(tree)
    assert outline(tree) == "model / layers / 0(x y) head(x y)"
    inner = tree.groups["main/model/layers/0/"]
    assert tree.groups["main/model/"] is inner
    assert tree.groups["main/model/layers/"] is inner


def test_a_repeated_parent_is_not_said_twice() -> None:
    names = ["/layers/layers.0/x", "/layers/layers.0/y", "/head/x", "/head/y"]
    assert group_names(*names) == "layers.0(x y) head(x y)"


@pytest.mark.parametrize(
    ("outer", "inner", "label"),
    [
        ("proj.0", "proj.0.0", "proj.0.0"),
        ("conv", "conv", "conv"),
        ("proj.1", "proj.10", "proj.1 / proj.10"),
        ("stem", "conv", "stem / conv"),
    ],
)
def test_a_node_does_not_repeat_what_its_module_is_called(
    outer: str, inner: str, label: str
) -> None:
    tree = build_group_tree(make_chain(f"/{outer}/{inner}/x", "/head/x", "/head/y"), "names")
    check_tree(tree)
    assert tree.node_labels == {0: label}


def test_a_group_around_everything_is_the_graph() -> None:
    tree = build_group_tree(make_chain("/m/a/x", "/m/a/y", "/m/b/x", "/m/b/y"), "names")
    check_tree(tree)
    assert outline(tree) == "a(x y) b(x y)"
    assert tree.groups["main/m/"] is tree.root


def test_nodes_without_scope_join_their_neighbours() -> None:
    assert group_names("/a/x", "", "/a/y", "/b/x", "z", "/b/y") == "a(x Relu y) b(x z y)"


def test_a_node_between_groups_stays_outside() -> None:
    graph = make_chain("/a/x", "/a/y", "between", "/b/x", "/b/y")
    tree = build_group_tree(graph, "names")
    check_tree(tree)
    assert outline(tree) in ("a(x y) b(between x y)", "a(x y between) b(x y)")


def torch_metadata(scopes: list[list[tuple[str, str]]]) -> dict[int, dict[str, str]]:
    return {
        number: {
            _SCOPES: repr([name for name, _ in levels]),
            _CLASSES: repr([kind for _, kind in levels]),
        }
        for number, levels in enumerate(scopes)
    }


BLOCK = [("", "pkg.Model"), ("layers.0", "pkg.Block")]


def test_scopes_from_metadata() -> None:
    scopes = [
        [*BLOCK, ("layers.0.mlp", "pkg.Mlp"), ("linear", "aten.linear.default")],
        [*BLOCK, ("layers.0.mlp", "pkg.Mlp"), ("gelu", "aten.gelu.default")],
        [*BLOCK, ("add", "aten.add.Tensor")],
        [("", "pkg.Model"), ("head", "pkg.Linear"), ("linear_1", "aten.linear.default")],
    ]
    graph = make_chain("n0", "n1", "n2", "n3", metadata=torch_metadata(scopes))
    for grouping in ("auto", "modules"):
        tree = build_group_tree(graph, grouping)
        check_tree(tree)
        assert outline(tree) == "layers.0(mlp(n0 n1) n2) head=n3"
        assert tree.groups["main/layers.0/"].type_name == "Block"
        assert tree.groups["main/layers.0/mlp/"].type_name == "Mlp"
    assert outline(build_group_tree(graph, "names")) == "n0 n1 n2 n3"


def test_operations_of_several_nodes_are_groups() -> None:
    operation = [*BLOCK, ("linear", "aten.linear.default")]
    scopes = [operation, operation, operation, [*BLOCK, ("add", "aten.add.Tensor")]]
    graph = make_chain("n0", "n1", "n2", "n3", metadata=torch_metadata(scopes))
    assert outline(build_group_tree(graph)) == "linear(n0 n1 n2) n3"


def test_scopes_from_the_namespace_alone() -> None:
    metadata = {
        number: {
            "namespace": f": pkg.Root/model: pkg.Bert/layer.{number // 2}: pkg.Layer/x: aten.x"
        }
        for number in range(4)
    }
    tree = build_group_tree(make_chain("a", "b", "c", "d", metadata=metadata))
    check_tree(tree)
    assert outline(tree) == "layer.0(a b) layer.1(c d)"
    assert tree.groups["main/model/layer.1/"].type_name == "Layer"


def test_artefacts_of_exporters_are_no_scopes() -> None:
    artefact = "_empty_nn_module_stack_from_metadata_hook"
    scopes = [
        [("", "pkg.Model"), (artefact, artefact), ("a", "pkg.A")],
        [("", "pkg.Model"), ("a", "pkg.A")],
        [("", "pkg.Model"), ("b", "pkg.B")],
        [("", "pkg.Model"), ("b", "pkg.B")],
    ]
    graph = make_chain("n0", "n1", "n2", "n3", metadata=torch_metadata(scopes))
    tree = build_group_tree(graph)
    check_tree(tree)
    assert outline(tree) == "a(n0 n1) b(n2 n3)"
    assert group_names(f"/{artefact}/x", f"/{artefact}/y", "/b/x", "/b/y") == "x y b(x y)"


@pytest.mark.parametrize(
    "text",
    [
        "[" * 200,
        "[1, 2]",
        "[b'a']",
        "['a'] + ['b']",
        "[__import__('os')]",
        "['" + "a" * 30_000 + "']",
        "{'a': 1}",
        "[" + "-" * 5000 + "1]",
        "['\\ud800']",
        "[[], []]",
        "[None]",
        "",
    ],
)
def test_odd_metadata_is_no_scope_or_harmless(text: str) -> None:
    metadata = {number: {_SCOPES: text, _CLASSES: text, "namespace": text} for number in range(4)}
    graph = make_chain("a", "b", "c", "d", metadata=metadata)
    for grouping in ("auto", "modules", "names"):
        check_tree(build_group_tree(graph, grouping))


@pytest.mark.parametrize(
    "text", ["['']", "['', 'a.b']", "['a\\\\n']", "['a\n']", "['a' 'b']", "['a',]"]
)
def test_lists_of_names_are_python_literals(text: str) -> None:
    assert read_list(text) == read_literal(text)


@given(st.lists(st.text("ab', \\\"[].\n\r\0\ud800é")), st.booleans())
def test_any_list_of_names_is_a_python_literal(names: list[str], is_bare: bool) -> None:
    text = "['" + "', '".join(names) + "']" if is_bare else repr(names)
    assert read_list(text) == read_literal(text)


def read_literal(text: str) -> list[str] | None:
    """Return what Python reads; None where that is no list of texts."""
    try:
        entries = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return None
    return entries if all(isinstance(entry, str) for entry in entries) else None


def test_only_some_nodes() -> None:
    graph = make_chain("/a/x", "/a/y", "/b/x", "/b/y")
    tree = build_group_tree(graph, "names", frozenset({0, 2, 3}))
    assert outline(tree) == "a=x b(x y)"
    assert tree.positions[1] == -1


@pytest.mark.parametrize("depth", [60, 500, 5000])
def test_deep_scopes(depth: int) -> None:
    names = ["/".join(f"s{n}" for n in range(k + 1)) + "/x" for k in range(0, depth, depth // 20)]
    group_names(*names, *[name + "y" for name in names])


def test_many_siblings_take_steps_in_proportion() -> None:
    steps = []
    for count in (500, 2_000):
        graph = make_chain(*[f"/s{number}/{part}" for number in range(count) for part in "xy"])
        taken, tree = count_steps(lambda graph=graph: build_group_tree(graph, "names"))
        steps.append(taken)
    assert steps[1] < 6 * steps[0]  # quadratic work would be sixteen times as much
    (repeat,) = tree.root.children
    assert isinstance(repeat, Group)
    assert repeat.kind == "repeat"
    assert len(repeat.children) == 2_000


_SEGMENTS = st.sampled_from(
    ["a", "b", "layers", "layers.0", "0", "", " ", "%", "()", ".", "..", "é"]
)


@settings(max_examples=200)
@given(st.lists(st.lists(_SEGMENTS, max_size=6).map("/".join), min_size=1, max_size=30))
def test_any_names_give_a_sound_tree(names: list[str]) -> None:
    graph = make_chain(*names)
    for grouping in ("auto", "names", "modules", "none"):
        check_tree(build_group_tree(graph, grouping))


@pytest.mark.parametrize("name", LIGHT_MODELS)
def test_light_models(name: str) -> None:
    check_tree(build_group_tree(load(light_file(name)).graph))


@pytest.mark.parametrize(
    "name",
    also_beside(
        [
            "hostile/evil_scopes.onnx",
            "hostile/evil_names.onnx",
            "hostile/scope_cycle.onnx",
            "hostile/empty_names.onnx",
            "hostile/name_1mb_nospace_unicode.onnx",
            "exported/gpt2.legacy.onnx",
            "exported/vit.dynamo.onnx",
            "quantized/bert.qdq.onnx",
        ]
    ),
)
def test_corpus_models(name: str) -> None:
    for graph in load(corpus_file(name)).graphs:
        check_tree(build_group_tree(graph))


def test_the_share_of_a_group_is_of_nodes_and_of_parameters() -> None:
    text = """
        <ir_version: 10, opset_import: ["" : 21]>
        g (float[2] x) => (float[2] y) <float[2, 2] w = {1, 2, 3, 4}, float[2, 2] v = {1, 1, 2, 2}>
        {
          [a_a] a = MatMul (x, w)  [a_b] b = Relu (a)  [c_a] c = MatMul (b, v)
          [d_a] d = Abs (c)  [d_b] e = Neg (d)  [d_c] f = Exp (e)  [d_d] g = Sin (f)
          [d_e] y = Cos (g)
        }
    """
    root = build_group_tree(load(text.encode()).graph, "names").root
    assert root.share == 1
    half = Group("block", root.graph, "half/", "half", "", root)
    half.children = [*root.graph.nodes[:2]]
    assert half.share == (2 / 8 + 4 / 8) / 2
    assert Group("block", root.graph, "none/", "none", "", root).share == 0
