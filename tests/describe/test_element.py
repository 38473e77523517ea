from __future__ import annotations

import numpy as np
import pytest
from onnx import helper, numpy_helper

import netloupe
from netloupe.explorer.describe import (
    Description,
    Row,
    add_statistics,
    describe_element,
    describe_path,
    describe_statistics,
    to_json,
)
from netloupe.explorer.errors import NotFoundError
from netloupe.explorer.model import Model, Payload, Tensor, data_type
from netloupe.explorer.view import View
from netloupe.proto import caffe2_pb2
from tests.onnx_text import load_text


def rows(description: Description, title: str) -> dict[str, Row]:
    for section in description.sections:
        if section.title == title:
            return {row.name: row for row in section.rows}
    raise AssertionError(f"no section {title!r} in {[s.title for s in description.sections]}")


def text_of(description: Description, title: str) -> str:
    return next(section.text for section in description.sections if section.title == title)


def test_node_attributes_say_kind_and_default(model: Model) -> None:
    attributes = rows(describe_path(model, "main/conv"), "Attributes")
    assert attributes["pads"] == Row("pads", "[1, 1, 1, 1]", "ints")
    assert attributes["group"].note == "int, as by default"
    assert attributes["auto_pad"] == Row("auto_pad", '"NOTSET"', "string, default")


def test_node_inputs_have_formal_names_types_and_paths(model: Model) -> None:
    description = describe_path(model, "main/conv")
    assert (description.title, description.subtitle) == ("Conv", "ai.onnx 18")
    inputs = rows(description, "Inputs")
    assert inputs["X"] == Row("X", "x", "float32[batch, 3, 8, 8] · input of main", "main/%x")
    assert inputs["W"].note == "float32[8, 3, 3, 3] · constant · 864 bytes"
    assert inputs["W"].path == "main/%W"
    outputs = rows(description, "Outputs")
    assert outputs["Y"].note == "type unknown · to main/quantize"
    assert rows(description, "Operator")["schema"].value == "as declared since version 11"
    assert text_of(description, "Note in the file") == "first layer"
    assert "convolution" in text_of(description, "Documentation")
    assert rows(description, "Metadata")["trace"].value == "File a.py\n    y = conv(x)"


def test_operands_are_called_by_their_roles_where_no_schema_is_known() -> None:
    given = ["x", "w", "b", "y"]
    net = caffe2_pb2.NetDef(name="net", external_input=given)
    net.op.add(type="Int8ConvSumRelu", input=given, output=["z"])
    net.op.add(type="SumRelu", input=["x", "y"], output=["s"])
    net.op.add(type="NoSuchOperator", input=["s"], output=["r"])
    model = netloupe.load(net)
    convolution, total, unknown = model.graph.nodes
    assert [*rows(describe_element(model, convolution), "Inputs")] == [
        "data",
        "weight",
        "bias",
        "addend",
    ]
    assert [*rows(describe_element(model, convolution), "Outputs")] == ["data"]
    assert [*rows(describe_element(model, total), "Inputs")] == ["data[0]", "data[1]"]
    assert [*rows(describe_element(model, unknown), "Inputs")] == ["0"]
    encoded = to_json(describe_element(model, convolution))
    assert [row["formal"] for row in encoded["inputs"]] == ["data", "weight", "bias", "addend"]
    uses = rows(describe_element(model, model.graph.values["w"]), "Uses")
    assert [row.note for row in uses.values()] == ["Int8ConvSumRelu · weight"]


def test_node_says_how_its_operands_are_quantized(model: Model) -> None:
    quantized = rows(describe_path(model, "main/quantize"), "Quantization")
    assert quantized["x"].value == "int8 · per tensor · [-65.5, 62]"


def test_subgraphs_and_captures_are_listed(model: Model) -> None:
    description = describe_path(model, "main/if")
    inside = rows(description, "Inside")
    assert inside["then_branch"] == Row(
        "then_branch", "1 node", "then_branch body", "main/if.then_branch"
    )
    assert rows(description, "Captured by subgraphs")["y"].path == "main/%y"


def test_inside_a_call_paths_and_references_are_those_of_the_call(model: Model) -> None:
    description = describe_path(model, "main/call()/leaky")
    assert description.path == "main/call()/leaky"
    assert rows(description, "Inputs")["X"].path == "main/call()/%a"
    assert rows(description, "Attributes")["alpha"] == Row(
        "alpha", "@factor", "float, = 2.5 in this call"
    )
    formal = rows(describe_path(model, "main/call()/%a"), "Value")
    assert (formal["in this call"].value, formal["in this call"].path) == ("r", "main/%r")


def test_value_tells_denotations_in_plain_words(model: Model) -> None:
    description = describe_path(model, "main/%x")
    denoted = rows(description, "Denotations")
    assert denoted["denotation"].value == "IMAGE"
    assert denoted["axis 1"] == Row("axis 1", "3", "DATA_CHANNEL")
    assert denoted["meaning"].value == "image, N×C×H×W, BGR 8-bit, 0–255"
    assert rows(description, "Uses")["consumer"].note == "Conv · X"


def test_value_tells_every_number_of_its_quantization(model: Model) -> None:
    found = rows(describe_path(model, "main/%q"), "Quantization")
    assert found["scale"] == Row("scale", "0.5", "%s", "main/%s")
    assert found["zero point"].value == "3"
    assert found["real range"].value == "-65.5 … 62"


def test_tensor_tells_storage_and_on_demand_statistics(model: Model) -> None:
    description = describe_path(model, "W")
    tensor = description.tensor
    assert isinstance(tensor, Tensor)
    assert (description.kind, description.path) == ("tensor", "main/%W")
    assert rows(description, "Tensor")["stored in"].value == "raw_data"
    assert text_of(description, "Note in the file") == "weights from training"
    assert rows(description, "Metadata")["tensor key"].value == "tensor text"
    found = {row.name: row.value for row in describe_statistics(tensor).rows}
    assert (found["min"], found["max"], found["zeros"]) == ("-1.6875", "1.671875", "1")
    titles = [section.title for section in add_statistics(description).sections]
    assert titles[-2:] == ["Statistics", "Histogram"]


def test_graph_function_and_model(model: Model) -> None:
    graph = describe_path(model, "main/if.then_branch")
    assert rows(graph, "Graph")["of node"].path == "main/if"
    function = describe_path(model, "functions/local::Twice")
    assert (function.kind, function.title) == ("function", "local::Twice")
    assert rows(function, "Attributes")["factor"].value == "required"
    assert rows(function, "Calls")["caller"].path == "main/call"
    whole = describe_path(model, "model")
    assert rows(whole, "Model")["image"].value == "BGR 8-bit, 0–255"
    assert rows(whole, "Contents")["parameters"].value == "216"
    assert rows(whole, "Quantization")["quantized values"].value == "3"


def test_unknown_path_is_refused(model: Model) -> None:
    with pytest.raises(NotFoundError, match="nothing_like_it"):
        describe_path(model, "main/nothing_like_it")


def test_group_lists_what_crosses_its_border() -> None:
    onnx = pytest.importorskip("onnx")
    import netloupe

    nodes = [
        onnx.helper.make_node("Relu", ["x"], ["a"], name="/block/first"),
        onnx.helper.make_node("Neg", ["a"], ["b"], name="/block/second"),
        onnx.helper.make_node("Abs", ["b"], ["c"], name="/block/third"),
        onnx.helper.make_node("Exp", ["c"], ["d"], name="/last/exp"),
        onnx.helper.make_node("Log", ["d"], ["y"], name="/last/log"),
    ]
    ends = [onnx.helper.make_tensor_value_info(n, 1, ["N"]) for n in ("x", "y")]
    graph = onnx.helper.make_graph(nodes, "scoped", ends[:1], ends[1:])
    model = netloupe.load(onnx.helper.make_model(graph))
    view = View(model)
    description = describe_path(model, "main/block/", view)
    assert (description.kind, description.subtitle) == ("group", "3 nodes")
    assert list(rows(description, "Inputs")) == ["x"]
    assert list(rows(description, "Outputs")) == ["c"]
    assert rows(description, "Contents")["/block/first"].path == "main/block/first"


def test_constant_nodes_show_their_tensor() -> None:
    onnx = pytest.importorskip("onnx")
    import netloupe

    proto = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 18]> g (float[3] x) => (float[3] y) '
        "{ c = Constant <value = float[3] {1.0, 2.0, 3.0}> () y = Add(x, c) }"
    )
    model = netloupe.load(proto)
    node = model.graph.nodes[0]
    description = describe_element(model, node)
    value = rows(description, "Attributes")["value"]
    assert value.value == "float32[3] = [1, 2, 3]"
    assert description.tensor is not None
    assert describe_path(model, value.path).tensor is description.tensor


_CALL = """<ir_version: 10, opset_import: ["": 18, "local": 1]>
g (float[2] x) => (float[2] y) {
    [call] y = local.Scale <must: float = 3.0> (x)
    [bare] z = local.Scale (x)
}
<domain: "local", opset_import: ["": 18]>
Scale <must, alpha: float = 0.25, name: string = "soft"> (a) => (b) {
    b = LeakyRelu <alpha: float = @alpha> (a)
}"""


def test_a_call_shows_the_defaults_that_it_leaves_alone() -> None:
    model = load_text(_CALL)
    found = rows(describe_path(model, "main/call"), "Attributes")
    assert found["must"] == Row("must", "3", "float")
    assert found["alpha"] == Row("alpha", "0.25", "float, the function's default")
    assert found["name"] == Row("name", '"soft"', "string, the function's default")
    found = rows(describe_path(model, "main/bare"), "Attributes")
    assert found["must"] == Row("must", "not given", "required by the function")
    told = to_json(describe_path(model, "main/call"))["attributes"]
    assert told["alpha"] == {"kind": "float", "value": 0.25, "default": True}
    assert told["must"]["default"] is False


def test_tensors_inside_attributes_have_their_names() -> None:
    tensors = [
        numpy_helper.from_array(np.zeros(count, np.float32), f"table_{count}") for count in (2, 3)
    ]
    nodes = [
        helper.make_node("Constant", [], ["c"], name="constant", value=tensors[0]),
        helper.make_node("Custom", [], ["d"], name="custom", domain="d", tables=tensors),
    ]
    model = netloupe.load(helper.make_model(helper.make_graph(nodes, "g", [], [])))
    found = rows(describe_path(model, "main/constant"), "Attributes")
    assert found["value"].value == "float32[2] = [0, 0]"
    assert found["value"].note == "tensor, named table_2"
    found = rows(describe_path(model, "main/custom"), "Attributes")
    assert found["tables[1]"].note == "named table_3"
    told = to_json(describe_path(model, "main/custom"))["attributes"]["tables"]["value"]
    assert [tensor["name"] for tensor in told] == ["table_2", "table_3"]


def test_a_graph_lists_its_nodes() -> None:
    found = rows(describe_path(load_text(_CALL), "main"), "Nodes")
    assert [(row.name, row.value, row.path) for row in found.values()] == [
        ("call", "Scale", "main/call"),
        ("bare", "Scale", "main/bare"),
    ]


def test_ends_of_float64_have_as_many_digits_as_the_other_statistics() -> None:
    data = np.array([1 / 3, 0.1 + 0.2, -2 / 7])
    payload = Payload("raw", data.tobytes())
    tensor = Tensor("w", "w", data_type("float64"), (3,), "raw_data", 24, lambda: payload)
    found = {row.name: row.value for row in describe_statistics(tensor).rows}
    assert (found["min"], found["max"]) == ("-0.2857143", "0.3333333")
