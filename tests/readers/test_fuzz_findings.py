"""What fuzzing found, each as small as it could be made."""

from __future__ import annotations

import pytest

from netloupe.commands.info import summarize_model
from netloupe.explorer.describe import describe_element, format_text
from netloupe.explorer.errors import ModelFormatError, TensorDataError
from netloupe.explorer.model import Tensor, Value
from netloupe.explorer.model.storage import MOST_ELEMENTS
from netloupe.explorer.quantization import find_quantization, node_badge
from netloupe.explorer.readers.load import load
from netloupe.proto import caffe2_pb2, onnx_pb2


def only_tensor(message: object) -> Tensor:
    (tensor,) = load(message).graph.initializers
    return tensor


@pytest.mark.parametrize("kind", ["FLOAT", "DOUBLE", "INT64", "UINT32", "COMPLEX64"])
def test_int32_numbers_do_not_stand_for_elements_of_more_bits(kind: str) -> None:
    proto = onnx_pb2.ModelProto(ir_version=10)
    number = onnx_pb2.TensorProto.DataType.Value(kind)
    proto.graph.initializer.add(name="w", data_type=number, dims=[3], int32_data=[1, 2, 3])
    tensor = only_tensor(proto)
    with pytest.raises(TensorDataError, match=r"main/%w: .* cannot be stored as int32 numbers"):
        tensor.numpy()


def test_codes_of_a_qtensor_whose_type_has_more_bits() -> None:
    message = caffe2_pb2.QTensorProto(
        dims=[3], precision=8, scale=0.5, bias=0.0, is_signed=True, data=[1, 2, 3], name="q"
    )
    message.data_type = caffe2_pb2.TensorProto.DOUBLE
    with pytest.raises(TensorDataError, match="cannot be stored as int32 numbers"):
        only_tensor(message).numpy()


def test_dimensions_whose_product_has_thousands_of_digits() -> None:
    message = caffe2_pb2.TensorProto(name="w", data_type=1, dims=[2**62] * 300, float_data=[1.5])
    model = load(message)
    summary = summarize_model(model)
    assert summary["totals"]["parameters"] == MOST_ELEMENTS
    assert any(str(MOST_ELEMENTS) in entry["message"] for entry in summary["warnings"])
    with pytest.raises(TensorDataError):
        only_tensor(message).numpy()
    message.dims.append(0)
    assert only_tensor(message).size == 0


def test_a_text_that_breaks_a_word_is_refused_on_one_line() -> None:
    text = b"ir_version: 8 graph { initializer { segment: -\nbegin: 3 } }"
    with pytest.raises(ModelFormatError, match="segment is") as caught:
        load(text)
    assert "\n" not in str(caught.value)


def test_a_value_taken_by_many_inputs_is_described_without_a_look_at_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    proto = onnx_pb2.ModelProto(ir_version=10)
    proto.graph.input.add(name="x")
    for index in range(20):
        proto.graph.node.add(op_type="Sum", input=["x"] * 500, output=[f"y{index}"])
    model = load(proto)
    graph = model.graph
    uses = len(graph.values["x"].consumers)
    assert uses == 20 * 500
    assert graph.values["x"].consumers[501] == (graph.nodes[1], 1)

    def refuse(value: Value) -> None:
        raise AssertionError(f"all {uses} uses of {value.name} were listed")

    monkeypatch.setattr(Value, "consumers", property(refuse))
    node = graph.nodes[0]
    assert find_quantization(graph.values["x"]) is None
    assert node_badge(node) is None
    assert "data_0[99]" in format_text(describe_element(model, node))
    with pytest.raises(AssertionError, match="all 10000 uses"):
        graph.values["x"].consumers  # noqa: B018 - the test would see it


def test_the_same_operator_without_results_and_with_one() -> None:
    net = caffe2_pb2.NetDef(name="n", external_input=["x"])
    net.op.add(type="WeightedSum", input=["x", "x"])
    net.op.add(type="WeightedSum", input=["x", "x"], output=["y"])
    assert load(net).costs().macs is not None
