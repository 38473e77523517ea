"""A module that is used several times and has one name: each use stands where it is."""

from __future__ import annotations

import pytest

from netloupe.explorer.grouping import Group, build_group_tree
from netloupe.explorer.grouping.scopes import read_module_scopes
from netloupe.explorer.model import Graph
from netloupe.explorer.readers.load import load
from netloupe.proto import onnx_pb2
from tests.corpus import corpus_file

from .circles import list_circles
from .test_repeats import repeats
from .test_tree import check_tree, make_chain, outline

_SCOPES = "pkg.torch.onnx.name_scopes"
_CLASSES = "pkg.torch.onnx.class_hierarchy"


def scoped(*scopes: str) -> dict[int, dict[str, str]]:
    """Return what torch's newer exporter says of nodes in modules such as ``block.relu``."""
    metadata = {}
    for number, scope in enumerate(scopes):
        words = scope.split(".")
        names = [".".join(words[: length + 1]) for length in range(len(words))]
        classes = [f"m.{word.capitalize()}" for word in words]
        metadata[number] = {_SCOPES: repr(names), _CLASSES: repr(classes)}
    return metadata


def chain(*scopes: str) -> Graph:
    names = [f"n{number}" for number in range(len(scopes))]
    return make_chain(*names, metadata=scoped(*scopes))


def test_a_module_that_others_stand_between_is_several() -> None:
    graph = chain("b.c1", "b.relu", "b.c2", "b.relu", "b.c3", "b.relu", "o")
    tree = build_group_tree(graph, "modules")
    check_tree(tree)
    assert outline(tree) == "b(c1=n0 relu=n1 c2=n2 relu_1=n3 c3=n4 relu_2=n5) o=n6"
    scopes = read_module_scopes(graph)
    assert scopes is not None
    assert scopes.type_names["b", "relu_2"] == scopes.type_names["b", "relu"] == "Relu"


def test_uses_hold_what_they_hold() -> None:
    graph = chain("b.act.x", "b.act.y", "b.fc", "b.act.x", "b.act.y", "o")
    tree = build_group_tree(graph, "modules")
    assert outline(tree) == "b(act(x=n0 y=n1) fc=n2 act_1(x=n3 y=n4)) o=n5"


def test_a_number_that_another_module_has_is_not_given_again() -> None:
    graph = chain("b.relu", "b.relu_1", "b.relu", "b.relu_1", "o")
    assert outline(build_group_tree(graph, "modules")) == (
        "b(relu=n0 relu_1=n1 relu_2=n2 relu_1_1=n3) o=n4"
    )


def test_uses_with_nothing_between_are_one() -> None:
    graph = chain("b.pool", "b.pool", "b.pool", "b.fc", "o")
    assert outline(build_group_tree(graph, "modules")) == "b(pool(n0 n1 n2) fc=n3) o=n4"


def branches(scopes: list[str], taken: list[list[str]]) -> Graph:
    """Return a graph of nodes in scopes, each with what it takes: ``x`` or ``v3`` of the fourth."""
    proto = onnx_pb2.ModelProto(ir_version=8)
    proto.graph.input.add(name="x")
    proto.graph.output.add(name=f"v{len(scopes) - 1}")
    metadata = scoped(*scopes)
    for number, inputs in enumerate(taken):
        kind = "Shape" if inputs[-1] == "shape" else "Concat"
        given = [name for name in inputs if name != "shape"]
        node = proto.graph.node.add(op_type=kind, name=f"n{number}", input=given)
        node.output.append(f"v{number}")
        for key, value in metadata[number].items():
            node.metadata_props.add(key=key, value=value)
    return load(proto.SerializeToString()).graph


def test_a_module_used_on_several_branches_is_one_unless_one_beside_it_is_not() -> None:
    """A head that is shared takes nothing from its earlier uses."""
    scopes = ["head", "neck", "head", "o"]
    shared = branches(scopes, [["x"], ["x"], ["v1"], ["v0", "v2"]])
    assert outline(build_group_tree(shared, "modules")) == "head(n0 n2) neck=n1 o=n3"
    scopes = ["c.i", "c.s", "c.i", "c.s", "o"]
    steps = branches(scopes, [["x"], ["x", "v0"], ["x"], ["v1", "v2"], ["v3"]])
    assert outline(build_group_tree(steps, "modules")) == "c(i(n0 n2) s(n1 n3)) o=n4"
    scopes = ["c.i", "c.s", "c.f", "c.i", "c.s", "c.f", "o"]
    given = [["x"], ["x", "v0"], ["v1"], ["x"], ["v2", "v3"], ["v4"], ["v5"]]
    assert outline(build_group_tree(branches(scopes, given), "modules")) == (
        "c(i=n0 s=n1 f=n2 i_1=n3 s_1=n4 f_1=n5) o=n6"
    )


def test_a_shape_that_comes_back_tells_no_uses_apart() -> None:
    scopes = ["attn", "size", "attn", "o"]
    graph = branches(scopes, [["x"], ["v0", "shape"], ["v0", "v1"], ["v2"]])
    assert read_scopes(graph) == [("attn",), ("size",), ("attn",), ("o",)]


def read_scopes(graph: Graph) -> list[tuple[str, ...] | None]:
    scopes = read_module_scopes(graph)
    assert scopes is not None
    return scopes.of_node


def test_very_many_uses_within_each_other_take_linear_time() -> None:
    """What is past the limit stays as it is, and nothing is lost."""
    depth, count = 12, 1_000
    scopes = [".".join("abcdefghij"[place % 10] for place in range(depth)), "z"] * count
    found = read_scopes(chain(*scopes))
    assert len(found) == 2 * count
    assert len({*found}) > 2


@pytest.mark.parametrize("name", ["gru_cells", "lstm_cells", "resnet50", "unet", "vit"])
def test_no_group_of_an_export_gives_to_what_gives_to_it(name: str) -> None:
    tree = build_group_tree(load(corpus_file(f"exported/{name}.dynamo.onnx")).graph)
    assert [[getattr(c, "label", "") for c in circle] for circle in list_circles(tree)] == []


@pytest.mark.parametrize("name", ["gru_cells", "lstm_cells"])
def test_the_steps_of_a_cell_that_is_called_again_are_a_stack(name: str) -> None:
    tree = build_group_tree(load(corpus_file(f"exported/{name}.dynamo.onnx")).graph)
    (stack,) = repeats(tree)
    steps = [block for block in stack.children if isinstance(block, Group)]
    assert len(steps) == 8
    assert stack.recognised is not None
    assert stack.recognised.name == f"{name[:-6].upper()} cell"


def test_a_tower_that_is_used_twice_is_told_apart_as_a_whole() -> None:
    scopes = ["t.c1", "t.relu", "t.c2", "t.fc"]
    apart = [["x"], ["v0"], ["v1"], ["v2"], ["x"], ["v4"], ["v5"], ["v6"], ["v3", "v7"]]
    graph = branches([*scopes, *scopes, "o"], apart)
    assert outline(build_group_tree(graph, "modules")) == (
        "t(c1=n0 relu=n1 c2=n2 fc=n3) t_1(c1=n4 relu=n5 c2=n6 fc=n7) o=n8"
    )
    again = [*apart[:4], ["v3"], *apart[5:]]  # the second use takes what the first one gives
    graph = branches([*scopes, *scopes, "o"], again)
    assert "t_1" not in outline(build_group_tree(graph, "modules"))


@pytest.mark.parametrize(("first", "said"), [("Cell", "Cell"), ("FirstCell", "")])
def test_a_stack_has_the_class_of_its_members_where_they_share_one(first: str, said: str) -> None:
    kinds = ("Relu", "Sin", "Tanh")
    metadata = {}
    for number in range(12):
        cell = number // len(kinds)
        levels = {"": "m.Net", f"cells.{cell}": f"m.{first if cell == 0 else 'Cell'}"}
        levels[f"cells.{cell}.{kinds[number % len(kinds)].lower()}"] = "m.Act"
        metadata[number] = {_SCOPES: repr([*levels]), _CLASSES: repr([*levels.values()])}
    names = [f"n{number}" for number in range(12)]
    graph = make_chain(*names, metadata=metadata, op_type=kinds)
    (stack,) = repeats(build_group_tree(graph, "auto"))
    assert len(stack.children) == 4
    assert stack.type_name == said
