"""Nodes, values and tensors by name, each typed; what a model answers to Python's own questions."""

from __future__ import annotations

import re

import pytest

from netloupe import NotFoundError
from netloupe.explorer.model import Model, Node, SparseTensor, Tensor, Value
from netloupe.explorer.readers.load import load
from netloupe.proto import onnx_pb2
from tests.onnx_text import load_text

MODEL = """g (bool t, float[2] x, float[2] late) => (float[2] y)
<float[2] weight = {2.0, 3.0}, int8[2] packed = {1, 2}, float s = {0.5}, int8 p = {3}> {
    [shared] shared = Mul (x, weight)
    [constant] c = Constant <value = int8[2] {4, 5}> ()
    [numbers] n = Constant <value_ints = [6, 7]> ()
    [dequantize] f = DequantizeLinear (packed, s, p)
    [choose] z = If (t) <
        then_branch = a () => (float[2] u) <float[2] twice = {1.0, 1.0}> {
            [inner] u = Mul (shared, twice)
        },
        else_branch = b () => (float[2] v) <float[2] twice = {2.0, 2.0}> {
            [inner] v = Mul (f, twice)
        }
    >
    y = Add (z, late)
}"""


@pytest.fixture(scope="module")
def model() -> Model:
    return load_text(MODEL)


def test_a_name_that_a_node_and_a_value_share_leads_to_the_kind_asked_for(model: Model) -> None:
    node, value = model.node("shared"), model.value("shared")
    assert node is model.graph.nodes[0]
    assert value is model.graph.values["shared"]
    assert model.node("main/shared") is node
    assert model.value("main/%shared") is value
    assert model.node("main/choose.else_branch/inner").op_type == "Mul"


@pytest.mark.parametrize(
    ("name", "elements"),
    [
        ("weight", [2, 3]),
        ("main/%weight", [2, 3]),
        ("c", [4, 5]),
        ("main/%c", [4, 5]),
        ("main/constant.value", [4, 5]),
        ("n", [6, 7]),
        ("main/choose.then_branch/%twice", [1, 1]),
    ],
)
def test_tensors_by_the_names_of_their_values(model: Model, name: str, elements: list[int]) -> None:
    assert model.tensor(name).numpy().tolist() == elements


def test_a_tensor_among_attributes_has_a_path(model: Model) -> None:
    tensor = model["main/constant.value"]
    assert isinstance(tensor, Tensor)
    assert tensor is model.tensor("main/constant.value")
    assert tensor.path == "main/constant.value"


def test_values_of_initializers_are_values(model: Model) -> None:
    assert model.value("weight").initializer is model.tensor("weight") is model["weight"]


@pytest.mark.parametrize(
    ("kind", "name", "words"),
    [
        ("node", "shred", "no node named 'shred'. Did you mean 'main/shared'?"),
        ("value", "wieght", "no value named 'wieght'. Did you mean 'main/%weight'?"),
        ("tensor", "wieght", "no tensor named 'wieght'. Did you mean 'main/%weight'?"),
        ("node", "weight", "'weight' is a value, not a node. No node gives it"),
        ("node", "main/%c", "is a value, not a node. The node that gives it is 'main/constant'."),
        ("node", "main", "'main' is a graph, not a node. model['main'] gives it."),
        ("node", "model", "'model' is the model, not a node"),
        ("value", "choose", "is a node, not a value. Its values are 'main/%t', 'main/%z'."),
        ("value", "inner", "'inner' is a node's name, used several times, not a value"),
        ("tensor", "dequantize", "Its tensors are 'main/%packed', 'main/%s', 'main/%p'."),
        ("tensor", "choose", "'choose' is a node, not a tensor. It has no tensor."),
        ("tensor", "x", "'x' is a value, not a tensor. Its elements are not stored in the file"),
        ("tensor", "main/%f", "'main/%f' is a value, not a tensor"),
        ("node", "inner", "the name 'inner' is used 2 times: main/choose.then_branch/inner, "),
        ("value", "twice", "the name 'twice' is used 2 times: main/choose.then_branch/%twice, "),
        ("tensor", "twice", "the name 'twice' is used 2 times: main/choose.then_branch/%twice, "),
    ],
)  # fmt: skip
def test_what_is_not_found_says_what_is_there(
    model: Model, kind: str, name: str, words: str
) -> None:
    with pytest.raises(NotFoundError, match=re.escape(words)) as caught:
        getattr(model, kind)(name)
    assert str(caught.value).startswith(f"{model.source}: ")


def test_a_sparse_tensor_is_none_of_those_that_tensor_gives() -> None:
    proto = onnx_pb2.ModelProto(ir_version=8)
    sparse = proto.graph.sparse_initializer.add(dims=[4])
    sparse.values.name = "few"
    sparse.values.data_type = 1
    model = load(proto.SerializeToString())
    assert isinstance(model["few"], SparseTensor)
    with pytest.raises(NotFoundError, match=r"'few' is a sparse tensor. model\['few'\] gives it"):
        model.tensor("few")


def test_a_percent_sign_marks_the_name_of_a_value(model: Model) -> None:
    assert model["%shared"] is model.value("%shared") is model.value("shared")
    assert model["%weight"] is model.tensor("%weight") is model.tensor("weight")
    assert "%x" in model
    for name in ("%choose", "%", "%%", "%" * 2000):
        assert name not in model
        with pytest.raises(NotFoundError):
            model.node(name)


@pytest.mark.parametrize("key", [0, -1, slice(2), None, b"main", ("main",)])
def test_what_is_no_name_is_refused_with_the_way_to_nodes(model: Model, key: object) -> None:
    for look_up in (model.__getitem__, model.node, model.value, model.tensor):
        with pytest.raises(NotFoundError, match=r"paths and names.*model.graph.nodes") as caught:
            look_up(key)  # type: ignore[arg-type]
        assert type(key).__name__ in str(caught.value)


def test_the_path_that_warnings_of_the_file_have_leads_to_the_model(model: Model) -> None:
    assert model["model"] is model
    assert model.path == "model"
    proto = onnx_pb2.ModelProto()
    proto.graph.node.add(op_type="Relu", name="model")
    odd = load(proto.SerializeToString())
    (path,) = {warning.path for warning in odd.warnings}
    assert odd[path] is odd
    assert odd.node("model") is odd["main/model"] is odd.graph.nodes[0]


def test_in_tells_what_leads_somewhere(model: Model) -> None:
    for name in ("main", "shared", "main/%c", "inner", "model", "main/constant.value"):
        assert name in model
    for name in ("", "Shared", "main/", "main/shared/x", "%", 0, None):
        assert name not in model


def test_in_tells_elements_of_this_model_from_those_of_another(model: Model) -> None:
    other = load_text(MODEL)

    def elements_of(model: Model) -> list[object]:
        tensors = [model.tensor("weight"), model.tensor("c")]
        return [model, model.graph, model.node("shared"), model.value("x"), *tensors]

    assert all(element in model for element in elements_of(model))
    assert not any(element in model for element in elements_of(other))


def test_a_model_is_a_collection_of_paths(model: Model) -> None:
    paths = list(model)
    assert len(model) == len(paths) == len(set(paths))
    assert paths[:3] == ["main", "main/choose.then_branch", "main/choose.else_branch"]
    elements = [model[path] for path in paths]
    assert [element.path for element in elements] == paths
    nodes = {element for element in elements if isinstance(element, Node)}
    assert nodes == {node for graph in model.graphs for node in graph.nodes}
    assert sum(isinstance(element, Value) for element in elements) == len(paths) - 3 - len(nodes)
    assert load(onnx_pb2.ModelProto(ir_version=8, graph={"name": "g"}).SerializeToString())
