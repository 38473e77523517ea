"""How much there is in a model: what counts as a parameter, and that all who tell it agree."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from netloupe import Totals
from netloupe.commands.info import format_summary, summarize_model
from netloupe.explorer.costs import count_bytes, count_elements, count_graphs, count_nodes
from netloupe.explorer.describe import describe_path, to_json
from netloupe.explorer.grouping import Group
from netloupe.explorer.model import Model, SparseTensor
from netloupe.explorer.notation import write_bytes, write_count
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.html import write_graph_html, write_model_html, write_tensor_html
from netloupe.explorer.view import View
from netloupe.proto import caffe2_pb2


def make_model(
    nodes: list[onnx.NodeProto],
    initializers: list[onnx.TensorProto],
    *,
    sparse: list[onnx.SparseTensorProto] | None = None,
    functions: list[onnx.FunctionProto] | None = None,
) -> Model:
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, None)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        initializers,
        sparse_initializer=sparse or [],
    )
    opsets = [helper.make_opsetid(domain, 21) for domain in ("", "com.microsoft", "local")]
    return load(
        helper.make_model(graph, functions=functions or [], opset_imports=opsets, ir_version=10)
    )


def fill(name: str, *dims: int, dtype: Any = np.float32) -> onnx.TensorProto:
    return numpy_helper.from_array(np.ones(dims, dtype), name)


def lie_outside(name: str, *dims: int, **places: object) -> onnx.TensorProto:
    tensor = onnx.TensorProto(name=name, data_type=TensorProto.FLOAT, dims=dims)
    tensor.data_location = TensorProto.EXTERNAL
    for key, place in places.items():
        tensor.external_data.add(key=key, value=str(place))
    return tensor


def make_sparse(name: str) -> onnx.SparseTensorProto:
    return onnx.SparseTensorProto(
        values=helper.make_tensor(name, TensorProto.FLOAT, [3], [1.0, 2.0, 3.0]),
        indices=helper.make_tensor("", TensorProto.INT64, [3], [0, 5, 9]),
        dims=[10, 100],
    )


def in_typed_field(name: str) -> onnx.TensorProto:
    """Return four float16 numbers, each in an int32 of its own."""
    return onnx.TensorProto(
        name=name, data_type=TensorProto.FLOAT16, dims=[4], int32_data=[15360] * 4
    )


def read_rows(model: Model, path: str, title: str) -> dict[str, tuple[str, str]]:
    sections = describe_path(model, path).sections
    section = next(section for section in sections if section.title == title)
    return {row.name: (row.value, row.note) for row in section.rows}


def read_html(html: str) -> dict[str, str]:
    """Return the names and values of the tables of a summary."""
    pairs = re.findall(r"<tr><th[^>]*>(.*?)</th> <td[^>]*>(.*?)</td></tr>", html)
    cells = [[re.sub("<[^>]*>", "", cell) for cell in pair] for pair in reversed(pairs)]
    return dict(cells)  # of a name that comes again, the first counts


MODELS = {
    "plain": lambda: make_model(
        [helper.make_node("Gemm", ["x", "w", "b"], ["y"])], [fill("w", 3, 5), fill("b", 5)]
    ),
    "sparse": lambda: make_model(
        [helper.make_node("MatMul", ["x", "s"], ["y"])], [], sparse=[make_sparse("s")]
    ),
    "float16 in int32_data": lambda: make_model(
        [helper.make_node("Mul", ["x", "h"], ["y"])], [in_typed_field("h")]
    ),
    "int4": lambda: make_model(
        [helper.make_node("DequantizeLinear", ["q", "scale"], ["y"])],
        [helper.make_tensor("q", TensorProto.INT4, [5], [1, 2, 3, 4, 5]), fill("scale")],
    ),
    "external": lambda: make_model(
        [helper.make_node("Mul", ["x", "w"], ["y"])], [lie_outside("w", 4, 4, location="w.bin")]
    ),
    "too few bytes": lambda: make_model(
        [helper.make_node("Mul", ["x", "w"], ["y"])],
        [onnx.TensorProto(name="w", data_type=1, dims=[2], raw_data=b"12345")],
    ),
    "batch normalization": lambda: make_model(
        [helper.make_node("BatchNormalization", ["x", "s", "b", "m", "v"], ["y"])],
        [fill(name, 7) for name in "sbmv"],
    ),
}


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_all_who_tell_totals_agree(make: Any) -> None:
    model = make()
    totals = model.totals
    size = write_bytes(totals.bytes)
    summary = summarize_model(model)
    assert Totals(**summary["totals"]) == totals
    lines = format_summary(summary, model.dialect).split("\n")
    (line,) = (line for line in lines if line.endswith(f", {size}"))
    assert f", {write_count(totals.parameters, 'parameter')}" in line
    for path, title in (("model", "Contents"), ("main", "Graph")):
        rows = read_rows(model, path, title)
        assert rows["parameters"][0] == str(totals.parameters)
        assert rows.get("running statistics", ("0", ""))[0] == str(totals.running_statistics)
        assert rows["initializers"][1] == size
        assert Totals(**to_json(describe_path(model, path))["totals"]) == totals
    for html in (write_model_html(model), write_graph_html(model.graph)):
        facts = read_html(html)
        assert facts["parameters"] == str(totals.parameters)
        assert facts.get("running statistics", "0") == str(totals.running_statistics)
        assert facts["initializers"] == f"{totals.initializers}, {size}"


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_the_tensors_of_a_model_add_up_to_its_totals(make: Any) -> None:
    model = make()
    graph = model.graph
    sizes, elements = [], []
    for tensor in (*graph.initializers, *graph.sparse_initializers):
        told = to_json(describe_path(model, f"main/%{tensor.name}"))["tensor"]
        title = "Sparse tensor" if isinstance(tensor, SparseTensor) else "Tensor"
        rows = read_rows(model, f"main/%{tensor.name}", title)
        facts = read_html(write_tensor_html(tensor))
        assert rows["size"][0] == write_bytes(told["bytes"]) == facts["bytes"]
        assert rows["elements"][0] == str(told["elements"]) == facts["elements"].split(" of ")[0]
        assert (told["elements"], told["bytes"]) == (count_elements(tensor), count_bytes(tensor))
        sizes.append(told["bytes"])
        elements.append(told["elements"])
    assert (sum(elements), sum(sizes)) == (model.totals.elements, model.totals.bytes)


def test_what_is_stored_of_sparse_and_typed_tensors_counts() -> None:
    sparse, typed = MODELS["sparse"]().totals, MODELS["float16 in int32_data"]().totals
    assert (sparse.elements, sparse.parameters) == (3, 3)
    assert sparse.bytes == 3 * 4 + 3 * 8
    assert (typed.elements, typed.parameters) == (4, 4)
    assert typed.bytes == 4 * 4


def make_residual_network() -> Model:
    """Return a stem, a residual block and a head like those of ResNet, small."""
    nodes, initializers = [], []

    def convolve(x: str, name: str, given: int, taken: int, kernel: int) -> str:
        initializers.append(fill(f"{name}.w", given, taken, kernel, kernel))
        nodes.append(helper.make_node("Conv", [x, f"{name}.w"], [f"{name}.c"]))
        parts = [f"{name}.{part}" for part in ("scale", "bias", "mean", "var")]
        initializers.extend(fill(part, given) for part in parts)
        nodes.append(helper.make_node("BatchNormalization", [f"{name}.c", *parts], [name]))
        return name

    x = convolve("x", "stem", 64, 3, 7)
    h = convolve(convolve(convolve(x, "1", 64, 64, 1), "2", 64, 64, 3), "3", 256, 64, 1)
    nodes.append(helper.make_node("Add", [h, convolve(x, "down", 256, 64, 1)], ["sum"]))
    initializers += [fill("shape", 2, dtype=np.int64), fill("fc.w", 10, 256), fill("fc.b", 10)]
    nodes.append(helper.make_node("Reshape", ["sum", "shape"], ["flat"]))
    nodes.append(helper.make_node("Gemm", ["flat", "fc.w", "fc.b"], ["y"], transB=1))
    return make_model(nodes, initializers)


def test_a_residual_network_has_the_parameters_that_its_framework_counts() -> None:
    """Sum of the elements of torchvision's modules of these sizes, written out."""
    totals = make_residual_network().totals
    convolutions = 64 * 3 * 49 + 64 * 64 + 64 * 64 * 9 + 256 * 64 + 256 * 64
    channels = 64 + 64 + 64 + 256 + 256
    assert totals.parameters == convolutions + 2 * channels + 256 * 10 + 10
    assert totals.running_statistics == 2 * channels
    assert totals.elements == totals.parameters + totals.running_statistics + 2
    assert totals.initializers == 5 * 5 + 3


def test_running_statistics_are_found_behind_identity_and_in_functions() -> None:
    normalize = helper.make_function(
        "local",
        "Normalize",
        ["a", "mean", "var", "scale"],
        ["b"],
        [
            helper.make_node("Identity", ["mean"], ["same"]),
            helper.make_node("BatchNormalization", ["a", "scale", "scale", "same", "var"], ["b"]),
        ],
        [helper.make_opsetid("", 21)],
    )
    nodes = [
        helper.make_node("Identity", ["m"], ["copy"]),
        helper.make_node("Normalize", ["x", "copy", "v", "s"], ["y"], domain="local"),
    ]
    model = make_model(nodes, [fill("m", 3), fill("v", 5), fill("s", 7)], functions=[normalize])
    assert (model.totals.running_statistics, model.totals.parameters) == (8, 7)


def test_what_is_used_otherwise_too_is_a_parameter() -> None:
    nodes = [
        helper.make_node("BatchNormalization", ["x", "s", "b", "m", "v"], ["h"]),
        helper.make_node("Add", ["h", "v"], ["y"]),
    ]
    totals = make_model(nodes, [fill(name, 3) for name in "sbmv"]).totals
    assert (totals.running_statistics, totals.parameters) == (3, 9)


def test_a_weight_counts_once_however_often_it_is_used() -> None:
    """Tied, captured by a branch, and in the body of a function that is called twice."""
    branch = helper.make_graph(
        [helper.make_node("Mul", ["w", "w"], ["z"])],
        "branch",
        [],
        [helper.make_tensor_value_info("z", TensorProto.FLOAT, None)],
        [fill("own", 2)],
    )
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["a"]),
        helper.make_node("MatMul", ["a", "w"], ["b"]),
        helper.make_node("If", ["c"], ["y"], "if", then_branch=branch, else_branch=branch),
    ]
    model = make_model(nodes, [fill("w", 4, 4), fill("c", dtype=np.bool_)])
    assert model.totals.parameters == 16 + 2 + 2
    assert count_graphs(model, [model.graph]).parameters == 16
    assert count_nodes(model, model.graph.nodes[:2]).parameters == 16


def test_weights_at_the_same_place_of_a_file_count_once() -> None:
    weights = [
        lie_outside("a", 4, 4, location="w.bin", offset=0, length=64),
        lie_outside("tied", 16, location="w.bin", length=64),
        lie_outside("next", 4, 4, location="w.bin", offset=64, length=64),
        lie_outside("other", 4, 4, location="v.bin", offset=0, length=64),
        lie_outside("odd", 4, 4, location="w.bin", offset="?"),
        lie_outside("odder", 4, 4, location="w.bin", offset="?"),
        lie_outside("lost", 4, 4),
        lie_outside("lost too", 4, 4),
    ]
    nodes = [helper.make_node("Sum", ["x", *(weight.name for weight in weights)], ["y"])]
    model = make_model(nodes, weights)
    totals = model.totals
    assert totals.initializers == 8
    assert (totals.parameters, totals.elements, totals.bytes) == (7 * 16, 7 * 16, 7 * 64)
    tied = count_nodes(model, model.graph.nodes)
    assert (tied.parameters, tied.bytes) == (7 * 16, 7 * 64)


def test_weights_that_share_bytes_are_counted_and_not_the_bytes() -> None:
    """MatMulNBits: 3 rows of 40 numbers of 4 bits in blocks of 32, the second block padded."""
    weights = [
        fill("w", 3, 2, 16, dtype=np.uint8),
        fill("scales", 6),
        fill("zeros", 3, dtype=np.uint8),
        fill("order", 40, dtype=np.int32),
    ]
    names = ["x", *(weight.name for weight in weights)]
    node = helper.make_node(
        "MatMulNBits", names, ["y"], domain="com.microsoft", N=3, K=40, bits=4, block_size=32
    )
    totals = make_model([node], weights).totals
    assert totals.parameters == 3 * 40
    assert totals.elements == 3 * 2 * 16 + 6 + 3 + 40
    assert totals.bytes == 96 + 24 + 3 + 160


def test_quantized_numbers_and_their_biases_are_parameters_but_no_scales() -> None:
    convolution = helper.make_node(
        "QLinearConv", ["x", "xs", "xz", "w", "ws", "wz", "xs", "xz", "bias"], ["h"]
    )
    dequantize = helper.make_node("DequantizeLinear", ["stored", "ss"], ["d"])
    reshape = helper.make_node("Reshape", ["h", "shape"], ["r"])
    add = helper.make_node("Add", ["r", "d"], ["y"])
    weights = [
        fill("xs"),
        fill("xz", dtype=np.uint8),
        fill("w", 8, 3, 3, 3, dtype=np.int8),
        fill("ws", 8),
        fill("wz", 8, dtype=np.int8),
        fill("bias", 8, dtype=np.int32),
        fill("stored", 11, dtype=np.int32),
        fill("ss"),
        fill("shape", 4, dtype=np.int64),
    ]
    totals = make_model([convolution, dequantize, reshape, add], weights).totals
    assert totals.parameters == 8 * 27 + 8 + 11
    assert totals.elements == totals.parameters + 1 + 1 + 8 + 8 + 1 + 4


def test_shapes_truth_values_and_strings_are_no_parameters() -> None:
    weights = [
        fill("shape", 2, dtype=np.int64),
        fill("indices", 3, dtype=np.int32),
        fill("mask", 4, dtype=np.bool_),
        helper.make_tensor("words", TensorProto.STRING, [2], [b"a", b"b"]),
        fill("phase", 5, dtype=np.complex64),
    ]
    nodes = [helper.make_node("Odd", [weight.name for weight in weights], ["y"])]
    totals = make_model(nodes, weights).totals
    assert (totals.parameters, totals.elements) == (5, 16)


def test_weights_that_are_not_in_the_file_are_no_stored_elements() -> None:
    weight = onnx.TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[6])
    model = make_model([helper.make_node("Mul", ["x", "w"], ["y"])], [weight])
    totals = model.totals
    assert (totals.parameters, totals.elements, totals.bytes) == (6, 0, 0)
    assert read_rows(model, "main/%w", "Tensor")["elements"] == ("0", "of 6")


def test_caffe2_keeps_running_statistics_and_integer_biases_apart_too() -> None:
    net = caffe2_pb2.NetDef(name="net", external_input=["data"])
    init = caffe2_pb2.NetDef(name="init")
    for name in ("s", "b", "rm", "riv"):
        operator = init.op.add(type="GivenTensorFill", output=[name])
        operator.arg.add(name="shape").ints.append(3)
        operator.arg.add(name="values").floats.extend([1.0, 2.0, 3.0])
        net.external_input.append(name)
    bias = init.op.add(type="Int8GivenIntTensorFill", output=["bias"])
    bias.arg.add(name="shape").ints.append(2)
    bias.arg.add(name="values").ints.extend([1, 2])
    bias.arg.add(name="Y_scale").f = 0.5
    bias.arg.add(name="Y_zero_point").i = 0
    net.external_input.append("bias")
    net.op.add(type="SpatialBN", input=["data", "s", "b", "rm", "riv"], output=["h"])
    net.op.add(type="Int8Add", input=["h", "bias"], output=["y"])
    totals = load(net, init=init).totals
    assert (totals.parameters, totals.running_statistics) == (3 + 3 + 2, 3 + 3)


def test_a_group_counts_what_its_nodes_use() -> None:
    nodes = [
        helper.make_node("Gemm", ["x", "w", "b"], ["h"], "/block/gemm"),
        helper.make_node("BatchNormalization", ["h", "b", "b", "m", "v"], ["n"], "/block/norm"),
        helper.make_node("Reshape", ["n", "shape"], ["r"], "/block/reshape"),
        helper.make_node("Mul", ["r", "last"], ["y"], "/other/mul"),
    ]
    weights = [fill("w", 4, 3), fill("b", 3), fill("m", 3), fill("v", 3), fill("last", 99)]
    model = make_model(nodes, [*weights, fill("shape", 2, dtype=np.int64)])
    description = describe_path(model, "main/block/", View(model))
    assert isinstance(description.element, Group)
    section = next(section for section in description.sections if section.title == "Group")
    rows = {row.name: (row.value, row.note) for row in section.rows}
    assert (rows["parameters"][0], rows["running statistics"][0]) == ("15", "6")
    assert rows["constants"] == ("5", "100 bytes")
    told = to_json(description)["totals"]
    assert (told["parameters"], told["running_statistics"], told["bytes"]) == (15, 6, 100)


def test_weights_that_nodes_give_count_where_they_are_taken_as_weights() -> None:
    shape = helper.make_tensor("shape", TensorProto.INT64, [2], [3, 5])
    half = helper.make_tensor("half", TensorProto.FLOAT, [], [0.5])
    nodes = [
        helper.make_node("ConstantOfShape", ["shape"], ["w"]),
        helper.make_node("Transpose", ["w"], ["turned"], perm=[1, 0]),
        helper.make_node("Transpose", ["turned"], ["again"], perm=[1, 0]),
        helper.make_node("Constant", [], ["b"], value=helper.make_tensor("", 1, [5], [1.0] * 5)),
        helper.make_node("Constant", [], ["h"], value=half),
        helper.make_node("ConstantOfShape", ["shape"], ["mask"]),
        helper.make_node("Gemm", ["x", "w", "b"], ["g"]),
        helper.make_node("MatMul", ["x", "again"], ["m"]),
        helper.make_node("Where", ["g", "m", "mask"], ["p"]),
        helper.make_node("Mul", ["p", "h"], ["y"]),
    ]
    model = make_model(nodes, [shape, fill("unused", 99)])
    assert model.totals.parameters == 3 * 5 + 5
    assert count_nodes(model, model.graph.nodes[6:7]).parameters == 3 * 5 + 5
    assert count_nodes(model, model.graph.nodes[7:8]).parameters == 3 * 5


def test_totals_are_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    model = MODELS["plain"]()
    first = model.totals
    monkeypatch.setattr(
        "netloupe.explorer.costs.totals.count_model", lambda *_: pytest.fail("counted again")
    )
    assert model.totals is first
    assert (first.nodes, first.graphs) == (1, 1)
    assert repr(model).endswith("1 node in 1 graph>")
