"""Where ONNX operators have quantized operands, their scales and their zero points."""

from __future__ import annotations

from netloupe.explorer.model import QuantizedOperand

_PAIRS = "QuantizeLinear/DequantizeLinear"
_UNARY = (QuantizedOperand(0, 1, 2), QuantizedOperand(0, 3, 4, is_output=True))
_BINARY = (
    QuantizedOperand(0, 1, 2),
    QuantizedOperand(3, 4, 5),
    QuantizedOperand(0, 6, 7, is_output=True),
)

# operands of quantized operators: ONNX operator specification and the com.microsoft
# operators of ONNX Runtime (ContribOperators)
QUANTIZED_OPERANDS: dict[str, tuple[QuantizedOperand, ...]] = {
    "QuantizeLinear": (
        QuantizedOperand(0, 1, 2, is_output=True, source=_PAIRS),
        QuantizedOperand(0, 1, 2, quantized=0, quantized_is_output=True, source=_PAIRS),
    ),
    "DequantizeLinear": (
        QuantizedOperand(0, 1, 2, source=_PAIRS),
        QuantizedOperand(0, 1, 2, is_output=True, quantized=0, source=_PAIRS),
    ),
    "DynamicQuantizeLinear": (QuantizedOperand(0, 1, 2, is_output=True, scale_is_output=True),),
    "QLinearConv": (
        QuantizedOperand(0, 1, 2),
        QuantizedOperand(3, 4, 5, axis=0),
        QuantizedOperand(0, 6, 7, is_output=True),
    ),
    "QLinearMatMul": (
        QuantizedOperand(0, 1, 2, axis=-2),
        QuantizedOperand(3, 4, 5, axis=-1),
        QuantizedOperand(0, 6, 7, is_output=True),
    ),
    "ConvInteger": (
        QuantizedOperand(0, None, 2, scales_product=True),
        QuantizedOperand(1, None, 3, axis=0, scales_product=True),
    ),
    "MatMulInteger": (
        QuantizedOperand(0, None, 2, scales_product=True),
        QuantizedOperand(1, None, 3, axis=-1, scales_product=True),
    ),
    "MatMulNBits": (QuantizedOperand(1, 2, 3, axis=1),),
    "MatMulNBitsMlp": (QuantizedOperand(3, 4, None, axis=1), QuantizedOperand(6, 7, None, axis=1)),
    "MatMulNBitsQkv": tuple(
        QuantizedOperand(index, index + 1, None, axis=1) for index in (3, 6, 9)
    ),
    "GatherBlockQuantized": (QuantizedOperand(0, 2, 3),),
    "QMoE": (QuantizedOperand(2, 3, 11), QuantizedOperand(5, 6, 12), QuantizedOperand(8, 9, 13)),
    "MatMulIntegerToFloat": (QuantizedOperand(0, 2, 4), QuantizedOperand(1, 3, 5, axis=-1)),
    "DynamicQuantizeMatMul": (QuantizedOperand(1, 2, 3, axis=-1),),
    "DynamicQuantizeLSTM": (QuantizedOperand(1, 8, 9), QuantizedOperand(2, 10, 11)),
    "QAttention": (QuantizedOperand(0, 3, 6), QuantizedOperand(1, 4, 7, axis=-1)),
    "QGemm": (
        QuantizedOperand(0, 1, 2),
        QuantizedOperand(3, 4, 5),
        QuantizedOperand(0, 7, 8, is_output=True),
    ),
    "QLinearAdd": _BINARY,
    "QLinearMul": _BINARY,
    "QLinearWhere": (
        QuantizedOperand(1, 2, 3),
        QuantizedOperand(4, 5, 6),
        QuantizedOperand(0, 7, 8, is_output=True),
    ),
    "QLinearConcat": (  # data, scale and zero point for each of its inputs
        QuantizedOperand(0, 0, 1, is_output=True),
        QuantizedOperand(2, 3, 4, every=3),
    ),
    "QLinearAveragePool": _UNARY,
    "QLinearGlobalAveragePool": _UNARY,
    "QLinearLeakyRelu": _UNARY,
    "QLinearReduceMean": _UNARY,
    "QLinearSigmoid": _UNARY,
    "QLinearSoftmax": _UNARY,
}

#: where these operators have a bias in integers, whose scale is the product of two others
QUANTIZED_BIASES = {"QLinearConv": 8, "QGemm": 6}
