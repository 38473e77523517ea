"""Faults among numbers: weights, siblings and quantization."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from onnx import TensorProto, helper

from .editing import Array, Editor, Fault

_WEIGHT = "onnx::MatMul_1769"  # bert, layer 3, [48, 192]
_TABLE = "model.embeddings.position_embeddings.weight"  # [512, 48]
_ALL, _REST = slice(None), slice(1, None)
_LAYER = "/model/encoder/layer.3"


def _change(rule: str, what: str, name: str, change: Callable[[Array], object]) -> Fault:
    """Return the fault of a weight of bert in which some numbers are others."""

    def plant(editor: Editor) -> None:
        numbers = editor.read(name)
        change(numbers)
        editor.write(name, numbers)

    return Fault(rule, what, "bert", plant)


def _put(*place: int | slice, number: float) -> Callable[[Array], object]:
    return lambda numbers: numbers.__setitem__(place, number)


def _make_half(editor: Editor) -> None:
    """Make a weight float16 in which most numbers are too small for it."""
    name = "onnx::MatMul_1770"
    editor.write(name, (editor.read(name) * 1e-5).astype(np.float16))
    cast = helper.make_node("Cast", [name], ["wide"], name="widen", to=TensorProto.FLOAT)
    editor.add_nodes(cast, before=f"{_LAYER}/output/dense/MatMul")
    editor.node(f"{_LAYER}/output/dense/MatMul").input[1] = "wide"


def _add_negative_variance(editor: Editor) -> None:
    numbers = np.full(12, 0.9, np.float32)
    names = [editor.add_weight(f"norm_{part}", numbers + i / 10) for i, part in enumerate("sbm")]
    numbers[3] = -0.2
    names.append(editor.add_weight("norm_v", numbers))
    editor.insert("node_relu", "BatchNormalization", names)


def _lose_variance(editor: Editor) -> None:
    _add_negative_variance(editor)
    numbers = editor.read("norm_v")
    numbers[3] = 0
    editor.write("norm_v", numbers)
    (norm,) = (node for node in editor.graph.node if node.op_type == "BatchNormalization")
    editor.set_attribute(norm.name, "epsilon", 0.0)


def _kill_relu(editor: Editor) -> None:
    """Give a convolution between two Relus a bias that nothing gets above."""
    makers = {node.output[0]: node for node in editor.graph.node}
    relus = [node for node in editor.graph.node if node.op_type == "Relu"]
    chains = [makers[node.input[0]] for node in relus if node.input[0] in makers]
    conv = next(
        node
        for node in chains
        if node.op_type == "Conv"
        and len(node.input) > 2
        and getattr(makers.get(node.input[0]), "op_type", "") == "Relu"
    )
    editor.write(conv.input[2], editor.read(conv.input[2]) * 0 - np.float32(6e4))


def _lose_epsilon(editor: Editor) -> None:
    half = editor.insert("node_relu", "Cast", to=TensorProto.FLOAT16)
    scale = editor.add_weight("norm_s", np.linspace(0.5, 1, 12).astype(np.float16))
    bias = editor.add_weight("norm_b", np.linspace(0.1, 1, 12).astype(np.float16))
    editor.insert(half.name, "InstanceNormalization", [scale, bias], epsilon=1e-12)
    editor.insert(f"{half.name}.InstanceNormalization", "Cast", to=TensorProto.FLOAT)
    editor.graph.value_info.append(
        helper.make_tensor_value_info(half.output[0], TensorProto.FLOAT16, ["N", 12, 8, 8])
    )


def _store_double(editor: Editor) -> None:
    name = "stem.1.conv.weight"
    wide = editor.add_weight("stem.1.wide", editor.read(name).astype(np.float64))
    editor.graph.initializer.remove(editor.weight(name))
    cast = helper.make_node("Cast", [wide], [name], name="narrow", to=TensorProto.FLOAT)
    editor.add_nodes(cast, before="node_conv2d_1")


def _store_wide_integer(editor: Editor) -> None:
    ends = editor.add_weight("ends", np.array([2**62]))
    starts = editor.add_weight("starts", np.array([0]))
    axes = editor.add_weight("axes", np.array([2]))
    editor.insert("node_relu", "Slice", [starts, ends, axes])


def _square_block(editor: Editor) -> None:
    """Give the GELU of one layer of twelve another power."""
    node = editor.node("/model/transformer/h.5/mlp/act/Mul")
    node.op_type = "Div"


# quantization


def _scale(rule: str, what: str, name: str, change: Callable[[Array], Array]) -> Fault:
    """Return the fault of a scale, or another initializer, of the quantized network."""

    def plant(editor: Editor) -> None:
        editor.write(name, change(editor.read(name)))

    return Fault(rule, what, "qdq", plant)


def _set_channel(number: float) -> Callable[[Array], Array]:
    def change(numbers: Array) -> Array:
        numbers[3] = number
        return numbers

    return change


def _set_tiny(numbers: Array) -> Array:
    return np.full_like(numbers, 1e-40)


def _mistype_zero_point(editor: Editor) -> None:
    node = editor.node("blocks.1.first.conv.weight_DequantizeLinear")
    editor.write(node.input[2], np.zeros(24, np.uint8))


def _turn_axis(editor: Editor) -> None:
    editor.set_attribute("blocks.1.first.conv.weight_DequantizeLinear", "axis", 1)


def _miss_axis(editor: Editor) -> None:
    editor.set_attribute("stem.1.conv.weight_DequantizeLinear", "axis", 1)


def _use_old_opset(editor: Editor) -> None:
    node = editor.node("stem.1.conv.weight_DequantizeLinear")
    codes = editor.read(node.input[0])
    tensor = editor.weight(node.input[0])
    tensor.CopyFrom(
        helper.make_tensor(node.input[0], TensorProto.INT4, codes.shape, codes.reshape(-1) // 16)
    )
    zero = editor.weight(node.input[2])
    zero.CopyFrom(helper.make_tensor(node.input[2], TensorProto.INT4, zero.dims, [0] * 24))


def _forget_calibration(editor: Editor) -> None:
    """Give all activations one scale, and biases what follows of it."""
    before = {}
    for node in editor.graph.node:
        if node.op_type == "QuantizeLinear":
            before[node.input[1]] = float(editor.read(node.input[1]))
            editor.write(node.input[1], np.array(1.0, np.float32))
    gives = {output: node for node in editor.graph.node for output in node.output}
    for node in editor.graph.node:
        if node.op_type in ("Conv", "Gemm"):
            bias, data = gives[node.input[2]].input[1], gives[node.input[0]].input[1]
            numbers = editor.read(bias)
            editor.write(bias, (numbers / before[data]).astype(np.float32))


def _part_pair(editor: Editor) -> None:
    """Give the DequantizeLinear of a residual sum a scale of its own."""
    node = editor.node("add_65_DequantizeLinear")
    other = editor.add_weight("another_scale", editor.read(node.input[1]) * np.float32(1.5))
    node.input[1] = other


def _quantize_again(editor: Editor) -> None:
    node = editor.node("image_DequantizeLinear")
    names = list(node.input[1:3])
    editor.insert(node.name, "QuantizeLinear", names)
    editor.insert(f"{node.name}.QuantizeLinear", "DequantizeLinear", names)


def _saturate(numbers: Array) -> Array:
    numbers[5] = np.iinfo(np.int32).max
    return numbers


FAULTS = (
    _change("NL-N01", "a weight has a NaN", _WEIGHT, _put(3, 5, number=np.nan)),
    _change("NL-N02", "a weight has an infinity", _WEIGHT, _put(3, 5, number=-np.inf)),
    _change("NL-N03", "a weight is beyond float16", _TABLE, _put(3, 5, number=7e4)),
    _change("NL-N04", "a weight is subnormal", _WEIGHT, _put(3, 5, number=1e-40)),
    Fault(
        "NL-N04",
        "a float16 weight has lost its digits",
        "bert",
        _make_half,
        implied=frozenset({"NL-G08"}),  # it is cast at run time
    ),
    _change("NL-N05", "two output channels are zero", _WEIGHT, _put(_ALL, slice(2), number=0)),
    _change("NL-N06", "a weight was never loaded", _WEIGHT, _put(_ALL, number=0.02)),
    Fault("NL-N07", "a variance is negative", "cnn", _add_negative_variance),
    Fault("NL-N07", "a variance is 0 without an epsilon", "cnn", _lose_variance),
    Fault("NL-N12", "a bias pushes a Relu below 0", "cnn", _kill_relu),
    Fault("NL-N08", "an epsilon is 0 in float16", "cnn", _lose_epsilon),
    Fault(
        "NL-N09",
        "a weight has 64 bits",
        "cnn",
        _store_double,
        implied=frozenset({"NL-G08"}),  # it is cast at run time
    ),
    Fault("NL-N10", "an integer needs 64 bits", "cnn", _store_wide_integer),
    _change(
        "NL-N11", "most of a weight is zero", _WEIGHT, _put(slice(30), slice(1, None), number=0)
    ),
    Fault("NL-R01", "one GELU of twelve is another", "gpt2", _square_block),
    _change("NL-R02", "a weight is scaled twice", _WEIGHT, lambda numbers: numbers.__imul__(30)),
    _scale("NL-Q01", "a scale is 0", "relu_4_scale", lambda numbers: numbers * 0),
    _scale(
        "NL-Q01", "a channel's scale is infinite", "stem.1.conv.weight_scale", _set_channel(np.inf)
    ),
    _scale("NL-Q01", "a scale is subnormal", "sigmoid_scale", _set_tiny),
    Fault(
        "NL-Q02",
        "zero points are of another type",
        "qdq",
        _mistype_zero_point,
        implied=frozenset({"NL-T02"}),  # the same, as for any operator
    ),
    Fault(
        "NL-Q05",
        "there are more scales than channels",
        "qdq",
        _miss_axis,
        implied=frozenset({"NL-T15"}),  # the same, as for any operator
    ),
    Fault("NL-Q06", "scales lie along the input channels", "qdq", _turn_axis),
    Fault(
        "NL-Q25",
        "codes of four bits at operator set 20",
        "qdq",
        _use_old_opset,
        implied=frozenset({"NL-T01"}),  # the same, as for any operator
    ),
    Fault(
        "NL-Q30",
        "calibration never ran",
        "qdq",
        _forget_calibration,
        implied=frozenset({"NL-Q29"}),  # a scale of 1 is too large for Sigmoid
    ),
    Fault("NL-Q07", "a pair has two scales", "qdq", _part_pair),
    Fault("NL-Q08", "a value is quantized again", "qdq", _quantize_again),
    _scale(
        "NL-Q09",
        "a channel's bias has a wrong scale",
        "stem.1.conv.bias_quantized_scale",
        lambda numbers: np.concatenate([numbers[:3], numbers[3:4] * 2, numbers[4:]]),
    ),
    _scale("NL-Q10", "a bias is clipped", "stem.1.conv.bias_quantized", _saturate),
)
