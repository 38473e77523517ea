"""Paths lead to elements, back and forth; names lead there where they are unique."""

from __future__ import annotations

from typing import Any

import pytest

from netloupe.explorer.errors import NotFoundError
from netloupe.explorer.model import Function, Model, Node, Tensor, Value
from netloupe.explorer.readers.load import load
from netloupe.proto import onnx_pb2
from tests.corpus import LIGHT_MODELS, also_beside, corpus_file, light_file
from tests.onnx_text import load_text


def make_named(*names: str) -> Model:
    """Return a model whose nodes have these names."""
    proto = onnx_pb2.ModelProto(ir_version=8)
    for number, name in enumerate(names):
        proto.graph.node.add(op_type="Relu", name=name, input=[f"v{number}"], output=[f"o{number}"])
    return load(proto.SerializeToString())


def paths(model: Model) -> list[str]:
    return [node.path.removeprefix("main/") for node in model.graph.nodes]


@pytest.mark.parametrize(
    ("names", "wanted"),
    [
        (["conv"], ["conv"]),
        (["/model/conv"], ["model/conv"]),
        (["", ""], ["#0:Relu", "#1:Relu"]),
        (["a", "a", "a"], ["a", "a#2", "a#3"]),
        (["a", "/a"], ["a", "/a"]),
        (["/"], ["/"]),
        (["%x"], ["#0:%x"]),
        (["f()/x", "a.b", "#0:Relu"], ["f()/x", "a.b", "#0:Relu"]),
        (["a", "a#2", "a"], ["a", "a#2", "a#3"]),
        (["#1:Relu", ""], ["#1:Relu", "#1:Relu#2"]),
        (["Conv", "conv"], ["Conv", "conv"]),
    ],
)
def test_paths_of_nodes(names: list[str], wanted: list[str]) -> None:
    model = make_named(*names)
    assert paths(model) == wanted
    assert [model[node.path] for node in model.graph.nodes] == model.graph.nodes


def test_many_nodes_of_one_name_have_distinct_paths() -> None:
    model = make_named(*["same"] * 200, *["same#9:"] * 20)
    assert len(set(paths(model))) == 220
    assert [model[node.path] for node in model.graph.nodes] == model.graph.nodes


NESTED = """
g (bool c, float[N] x) => (float[N] y) {
    [if] y = If (c) <
        then_branch = then () => (float[N] a) { [call] a = local.Outer (x) },
        else_branch = else () => (float[N] b) { [call] b = Neg (x) }
    >
}
<domain: "local", opset_import: ["": 21, "local": 1]>
Outer (p) => (q) { [inner] q = local.Inner (p) }
<domain: "local", opset_import: ["": 21]>
Inner (p) => (q) { [relu] q = Relu (p) }
"""


def test_paths_into_subgraphs_and_calls() -> None:
    model = load_text(NESTED)
    assert model["main"] is model.graph
    relu = model["functions/local::Inner/relu"]
    assert isinstance(relu, Node)
    assert model["main/if.then_branch/call()/inner()/relu"] is relu
    assert model["functions/local::Outer/inner()/relu"] is relu
    assert model["main/if.then_branch/call()/%q"] is model["functions/local::Outer/%q"]
    assert isinstance(model["functions/local::Outer"], Function)
    assert model["main/if.then_branch/call()"] is model["functions/local::Outer"]
    assert model["main/if.else_branch/call"] is model.graph.nodes[0].subgraphs[1].nodes[0]


def test_names_that_look_like_paths() -> None:
    model = make_named("a/%v1", "x()/y", "b.c/d", "main/a")
    assert [model[node.path] for node in model.graph.nodes] == model.graph.nodes
    assert [model[node.name] for node in model.graph.nodes] == model.graph.nodes


def check_every_path(model: Model) -> int:
    count = 0
    for graph in model.graphs:
        assert model[graph.path] is graph
        for node in graph.nodes:
            assert model[node.path] is node
        for value in graph.values.values():
            assert model[value.path] is value
        count += 1 + len(graph.nodes) + len(graph.values)
    return count


@pytest.mark.parametrize("name", LIGHT_MODELS)
def test_every_path_of_a_light_model(name: str) -> None:
    assert check_every_path(load(light_file(name))) > 20


@pytest.mark.parametrize(
    "name",
    also_beside(
        [
            "features/control_flow_3deep.onnx",
            "features/functions_nested_transformer.onnx",
            "exported/scripted.legacy.onnx",
            "exported/lstm.legacy-functions.onnx",
            "hostile/evil_names.onnx",
            "hostile/empty_names.onnx",
            "hostile/dup_node_names.onnx",
            "hostile/case_names.onnx",
            "hostile/subgraph_shadow.onnx",
            "hostile/nested_if_20.onnx",
        ]
    ),
)
def test_every_path_of_a_corpus_model(name: str) -> None:
    assert check_every_path(load(corpus_file(name))) > 0


def test_bare_names() -> None:
    model = load_text(NESTED)
    assert model["relu"] is model["functions/local::Inner/relu"]
    weights = load_text("g (float[1] x) => (float[1] y) <float[1] w = {2.0}> { y = Mul (x, w) }")
    assert isinstance(weights["w"], Tensor)
    assert isinstance(weights["main/%w"], Value)
    assert isinstance(weights["y"], Value)


def test_an_ambiguous_name_lists_its_paths() -> None:
    with pytest.raises(NotFoundError) as caught:
        load_text(NESTED)["call"]
    assert "used 2 times: main/if.then_branch/call, main/if.else_branch/call" in str(caught.value)


def test_a_name_used_very_often_is_listed_in_part() -> None:
    with pytest.raises(NotFoundError, match=r"used 50 times.* and 45 more"):
        make_named(*["n"] * 50)["n"]


@pytest.mark.parametrize(
    ("path", "wanted"),
    [("main/Convv_1", "main/Conv_1"), ("conv_1", "main/Conv_1"), ("main/x/Conv_1", "main/Conv_1")],
)
def test_suggestions(path: str, wanted: str) -> None:
    with pytest.raises(NotFoundError) as caught:
        make_named("Conv_1", "Something")[path]
    assert wanted in str(caught.value)
    assert "<bytes>" in str(caught.value)


@pytest.mark.parametrize("path", ["", "/", "main/", "()", "main/()", "%", "main/%", "a()/b()", "."])
def test_nothing_is_found_at_odd_paths(path: str) -> None:
    with pytest.raises(NotFoundError):
        load_text(NESTED)[path]


def test_lookup_errors_are_lookup_errors() -> None:
    with pytest.raises(LookupError):
        make_named("a")["b"]


def test_a_recursive_function_has_paths_of_any_depth() -> None:
    model = load(corpus_file("hostile/func_recursive_mutual.onnx"))
    call: Any = model.graph.nodes[0]
    path = call.path
    for _ in range(30):
        inner = call.function.nodes[0]
        path = f"{path}()/{inner.path.rsplit('/', 1)[-1]}"
        call = inner
        assert model[path] is inner


def test_find() -> None:
    model = load_text(NESTED)
    assert [node.path for node in model.find("Relu")] == ["functions/local::Inner/relu"]
    assert len(model.find("call")) == 2
    assert len(model.find("main/*")) == 3
    assert model.find("[") == []
    assert model.find("") == []
