"""Types that onnx infers: which values get one, and what is never said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import onnx.shape_inference
import pytest
from onnx import TensorProto, helper, numpy_helper

import netloupe
from netloupe.explorer.errors import InferenceError
from netloupe.explorer.inference import infer_shapes, lacks_types
from netloupe.explorer.model import Graph, Model
from netloupe.explorer.readers.load import load
from netloupe.explorer.readers.onnx.skeleton import write_skeleton
from netloupe.explorer.readers.onnx.tensors import read_type
from netloupe.proto import onnx_pb2
from tests.corpus import LIGHT_MODELS, corpus_file, light_file
from tests.onnx_text import load_text
from tests.thresholds import threshold


def inferred(model: Model, graph: Graph | None = None) -> dict[str, str]:
    """Return the types of a graph's values after inference, by name; marked where inferred."""
    infer_shapes(model)
    values = (graph or model.graph).values.values()
    return {
        value.name: f"{value.inferred_type}, inferred" if value.inferred_type else str(value.type)
        for value in values
    }


# which values get a type


def test_every_value_of_a_model_without_types_gets_one() -> None:
    model = load_text(
        """g (float[N, 3, 8, 8] x) => (y) <float[4, 3, 3, 3] w, int64[2] flat = {0, -1}> {
            c = Conv <pads = [1, 1, 1, 1]> (x, w)
            r = Relu (c)
            p = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (r)
            y = Reshape (p, flat)
        }"""
    )
    assert inferred(model) == {
        "x": "float32[N, 3, 8, 8]",
        "w": "float32[4, 3, 3, 3]",
        "flat": "int64[2]",
        "c": "float32[N, 4, 8, 8], inferred",
        "r": "float32[N, 4, 8, 8], inferred",
        "p": "float32[N, 4, 4, 4], inferred",
        "y": "float32[N, 64], inferred",
    }
    assert model.value("c").type is None


def test_load_infers_where_it_is_asked_to() -> None:
    text = "g (float[2, 3] x) => (y) { y = Transpose <perm = [1, 0]> (x) }"
    data = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": 17]>\n{text}')
    assert netloupe.load(data).value("y").inferred_type is None
    model = netloupe.load(data, infer_shapes=True)
    assert str(model.value("y").inferred_type) == "float32[3, 2]"
    again = netloupe.load(netloupe.load(data), infer_shapes=True)
    assert str(again.value("y").inferred_type) == "float32[3, 2]"


def test_values_inside_subgraphs_get_types_with_what_they_take_from_outside() -> None:
    model = load_text(
        """g (bool b, float[2, 5] x) => (y) {
            r = Relu (x)
            y = If (b) <
                then_branch = t () => (u) { u = Transpose <perm = [1, 0]> (r) },
                else_branch = e () => (v) { h = Flatten (r) v = Concat <axis = 1> (h, h) }
            >
        }"""
    )
    assert inferred(model)["y"] == "float32[?, ?], inferred"
    then_branch, else_branch = model.graph.nodes[1].subgraphs
    assert inferred(model, then_branch) == {"u": "float32[5, 2], inferred"}
    assert inferred(model, else_branch) == {
        "h": "float32[2, 5], inferred",
        "v": "float32[2, 10], inferred",
    }


def test_what_is_stated_is_refined_and_stays_what_it_is() -> None:
    model = load_text(
        """g (float[N, 3] x) => (float[N, M] y) <float[3, 4] w> {
            r = Relu (x)
            y = MatMul (r, w)
        }"""
    )
    assert inferred(model)["y"] == "float32[N, 4], inferred"
    assert str(model.value("y").type) == "float32[N, M]"
    assert inferred(model)["x"] == "float32[N, 3]"


def test_a_stated_type_that_cannot_be_stays_and_is_warned_of() -> None:
    model = load_text(
        """g (float[2, 3] x) => (float[2, 3] z) <float[7, 7] y> {
            y = Relu (x)
            z = Relu (x)
        }"""
    )
    assert inferred(model)["y"] == "float32[7, 7]"
    (warning,) = model.warnings_at("main/#0:Relu")
    assert warning in model.all_warnings()
    assert "does not give what the file states" in warning.message
    assert "(2) vs (7)" in warning.message


def test_failures_of_onnx_itself_are_no_warnings() -> None:
    # a sparse operand, and what follows from it
    assert not infer_shapes(load(corpus_file("features/sparse_initializer.onnx"))).warnings


# sizes without a name


def test_sizes_that_onnx_does_not_know_have_no_name() -> None:
    model = load_text("g (float[N] x) => (y) { i = NonZero (x) y = Cast <to = 1> (i) }")
    assert inferred(model)["y"] == "float32[1, ?], inferred"


def test_names_of_the_file_stay_though_onnx_makes_up_such_ones() -> None:
    model = load_text("g (float[unk__0] x) => (y) { r = Relu (x) i = NonZero (r) y = Neg (i) }")
    assert inferred(model)["r"] == "float32[unk__0], inferred"
    assert inferred(model)["y"] == "int64[1, ?], inferred"


# names that mean several values


def test_a_name_that_is_given_twice_is_refused() -> None:
    model = load_text("g (float[2] x) => (y) { y = Relu (x) y = Neg (x) }")
    with pytest.raises(InferenceError, match="%y is given more than once in main"):
        model.infer_shapes()


def test_a_subgraph_that_gives_an_outer_name_again_says_nothing() -> None:
    model = load_text(
        """g (bool b, float[2] x) => (y, z) {
            h = Relu (x)
            y = If (b) <
                then_branch = t () => (h) { h = Concat <axis = 0> (x, x, x) },
                else_branch = e () => (v) { v = Identity (x) }
            >
            z = Neg (h)
        }"""
    )
    assert inferred(model)["h"] == "float32[2], inferred"
    assert inferred(model)["z"] == "float32[2], inferred"
    assert inferred(model)["y"] == "None"
    assert inferred(model, model.graph.nodes[1].subgraphs[0])["h"] == "None"


def test_of_two_initializers_of_a_name_the_first_counts() -> None:
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 17]> g (float[2] x) => (y) {y = Expand (x, s)}'
    )
    for dims in ([3, 2], [5, 2]):
        model.graph.initializer.append(numpy_helper.from_array(np.array(dims), "s"))
    assert inferred(load(model))["y"] == "float32[3, 2], inferred"


def test_names_that_are_no_utf8_do_no_harm() -> None:
    text = "g (float[2] x) => (y) { aaa = Relu (x) y = Neg (aaa) }"
    model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": 17]> {text}')
    data = model.SerializeToString().replace(b"aaa", b"a\xffa")
    assert inferred(load(data))["y"] == "float32[2], inferred"


# functions

CALLS = """<ir_version: 10, opset_import: ["": 21, "local": 1]>
g (float[2, N] a, float[3, N] b) => (y, z) { y = local.f <p = [1, 0]> (a) z = local.f <p = %s> (b) }
<domain: "local", opset_import: ["": 21]>
f <p> (x) => (t) { r = Relu (x) t = Transpose <perm: ints = @p> (r) }
"""


def test_inside_functions_types_hold_for_every_call() -> None:
    model = load_text(CALLS % "[1, 0]")
    assert inferred(model)["z"] == "float32[N, 3], inferred"
    assert inferred(model, model.functions[0]) == {
        "x": "float32[?, N], inferred",
        "r": "float32[?, N], inferred",
        "t": "float32[N, ?], inferred",
    }


def test_inside_functions_nothing_is_said_where_attributes_differ() -> None:
    model = load_text(CALLS % "[0, 1]")
    assert inferred(model)["z"] == "float32[3, N], inferred"
    assert inferred(model, model.functions[0])["r"] == "float32[?, N], inferred"
    assert inferred(model, model.functions[0])["t"] == "None"


def test_functions_within_functions_and_their_constants() -> None:
    model = load_text(
        """<ir_version: 10, opset_import: ["": 21, "local": 1]>
        g (float[2, 6] x) => (y) <int64[2] s = {3, 4}> { y = local.outer (x, s) }
        <domain: "local", opset_import: ["": 21, "local": 1]>
        outer (x, s) => (y) { y = local.inner (x, s) }
        <domain: "local", opset_import: ["": 21]>
        inner (x, s) => (y) { r = Reshape (x, s) y = Relu (r) }"""
    )
    assert inferred(model)["y"] == "float32[3, 4], inferred"
    for function in model.functions:
        assert inferred(model, function)["y"] == "float32[3, 4], inferred"


def test_a_function_that_is_also_called_where_nobody_looks_stays_untyped() -> None:
    model = onnx.parser.parse_model(CALLS % "[1, 0]")
    training = model.training_info.add()
    training.algorithm.name = "t"
    training.algorithm.node.append(helper.make_node("f", ["a"], ["q"], domain="local"))
    read = load(model)
    assert set(inferred(read, read.functions[0]).values()) == {"None"}


def test_operands_that_every_call_leaves_out_are_not_there() -> None:
    model = load_text(
        """<ir_version: 10, opset_import: ["": 21, "local": 1]>
        g (float[2] x) => (y) { y = local.f (x) }
        <domain: "local", opset_import: ["": 21]>
        f (x, low) => (y) { y = Clip (x, low) }"""
    )
    assert inferred(model, model.functions[0])["y"] == "float32[2], inferred"


def test_a_function_counts_before_an_operator_of_its_name() -> None:
    model = load(corpus_file("hostile/func_shadow_std.onnx"))
    function = model.functions[0]
    (result,) = next(node for node in model.graph.nodes if node.function is function).outputs
    given = inferred(model, function)[function.outputs[0].name]
    assert given == f"{result.type}, inferred"


def test_functions_that_call_each_other_in_a_circle_are_refused() -> None:
    with pytest.raises(InferenceError, match="calls itself"):
        load(corpus_file("hostile/func_recursive_mutual.onnx")).infer_shapes()


# what onnx itself says


def expected(data: bytes) -> dict[str, object]:
    """Return the types of the main graph that onnx infers of the whole model in this process."""
    model = onnx.shape_inference.infer_shapes(data, data_prop=True)
    found = {}
    symbols = {
        dim.dim_param
        for info in onnx.ModelProto.FromString(data).graph.input
        for dim in info.type.tensor_type.shape.dim
    }
    for info in (*model.graph.value_info, *model.graph.output):
        for dim in info.type.tensor_type.shape.dim:
            if dim.dim_param.startswith("unk__") and dim.dim_param not in symbols:
                dim.ClearField("dim_param")
        found[info.name] = read_type(onnx_pb2.TypeProto.FromString(info.type.SerializeToString()))
    return found


def without_types(path: Path) -> bytes:
    model = onnx.ModelProto.FromString(path.read_bytes())
    model.graph.ClearField("value_info")
    for info in model.graph.output:
        info.ClearField("type")
    return model.SerializeToString()


ZOO = (
    "exported/bert.dynamo.onnx",
    "exported/gpt2.legacy.onnx",
    "exported/lstm.legacy-functions.onnx",
    "exported/t5.legacy.onnx",
    "exported/unet.dynamo.onnx",
    "quantized/bert.qdq.onnx",
)


@pytest.mark.parametrize("name", [*ZOO, *LIGHT_MODELS])
def test_the_types_are_those_that_onnx_infers_with_all_weights(name: str) -> None:
    data = without_types(light_file(name) if name in LIGHT_MODELS else corpus_file(name))
    with threshold(2**12):  # weights stay in the file
        model = load(data)
    model.infer_shapes()
    found = {
        value.name: value.inferred_type or value.type
        for value in model.graph.values.values()
        if value.producer is not None and (value.inferred_type or value.type) is not None
    }
    outputs = {name for node in onnx.ModelProto.FromString(data).graph.node for name in node.output}
    wanted = {name: each for name, each in expected(data).items() if name in outputs}
    assert len(found) > len(model.graph.nodes) // 2
    # of the results of some operators netloupe knows the type by itself
    assert {name: found.get(name) for name in wanted} == wanted


# what the skeleton holds


def test_weights_are_left_out_and_small_integers_kept_wherever_they_are(tmp_path: Path) -> None:
    weight = np.zeros((300, 300), np.float32)
    model = helper.make_model(
        helper.make_graph(
            [helper.make_node("Reshape", ["w", "s"], ["y"])],
            "g",
            [],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
            [
                numpy_helper.from_array(weight, "w"),
                numpy_helper.from_array(np.array([3, 30000]), "s"),
            ],
        )
    )
    path = tmp_path / "model.onnx"
    onnx.save(model, path, save_as_external_data=True, location="weights.bin", size_threshold=0)
    read = load(path)
    assert len(write_skeleton(read).data) < 1000
    assert inferred(read)["y"] == "float32[3, 30000], inferred"
    (tmp_path / "weights.bin").unlink()  # then less follows, and nothing fails
    assert inferred(load(path))["y"] == "float32"


def test_lacking_types_are_found_without_those_of_constants() -> None:
    assert lacks_types(load_text("g (float[2] x) => (float[2] y) { r = Relu (x) y = Neg (r) }"))
    stated = "g (float[2] x) => (float[2] y) { c = Constant <value_int = 1> () y = Relu (x) }"
    assert not lacks_types(load_text(stated))
