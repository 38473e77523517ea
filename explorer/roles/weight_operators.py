"""Which operand of an operator is its weight, and what the weight's dimensions mean.

Sources: the ONNX operator specification; ONNX Runtime's ContribOperators; the documentation of
Caffe2's operators (``conv_op``, ``fully_connected_op``, ``spatial_batch_norm_op`` …).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

#: what an operator does with its weight
WeightKind = Literal[
    "convolution", "linear", "recurrent", "embedding", "normalization", "attention", "experts", "ml"
]
#: how the dimensions are to be read; "" where nothing is said of features
Layout = Literal["", "conv", "conv transposed", "linear", "linear transposed", "recurrent", "table"]


@dataclass(frozen=True, slots=True)
class WeightOperator:
    """An operator that has a weight.

    Parameters
    ----------
    kind
        What it does with the weight.
    operands
        The inputs that may be the weight, the likeliest first.
    layout
        ``conv``: (M, C / group, kernel …); ``conv transposed``: (C, M / group, kernel …);
        ``linear``: (…, in, out); ``linear transposed``: (out, in …); ``recurrent``:
        (directions, gates × hidden, in); ``table``: (rows, width …).
    is_product
        Whether it multiplies two operands of which either may be the weight, but only one: a
        product of two fixed matrices has no weight.
    is_quantized
        Whether the operator takes quantized weights without operands for scales that the dialect
        knows of.
    is_channels_last
        Of a convolution: whether the channels that it takes are the weight's last axis, unless an
        attribute ``order`` says otherwise.
    """

    kind: WeightKind
    operands: tuple[int, ...] = (1,)
    layout: Layout = ""
    is_product: bool = False
    is_quantized: bool = False
    is_channels_last: bool = False


_CONV = WeightOperator("convolution", layout="conv")
_CONV_ANY = WeightOperator("convolution")
_CONV_TRANSPOSED = WeightOperator("convolution", layout="conv transposed")
_PRODUCT = WeightOperator("linear", (1, 0), "linear", is_product=True)
_RECURRENT = WeightOperator("recurrent", layout="recurrent")
_NORMALIZATION = WeightOperator("normalization")
_NORMALIZATION_AFTER_SUM = WeightOperator("normalization", (2,))
_TABLE = WeightOperator("embedding", (0,), "table")
_FULLY_CONNECTED = WeightOperator("linear", layout="linear transposed")
_ML = WeightOperator("ml", ())
_QUANTIZED_LINEAR = WeightOperator("linear", is_quantized=True)
_INT8_CONV = replace(_CONV, is_quantized=True, is_channels_last=True)
_ATTENTION = WeightOperator("attention", (1,), "linear")

_ONNX: dict[str, WeightOperator] = {
    "BatchNormalization": _NORMALIZATION,
    "CausalConvWithState": _CONV_ANY,
    "Conv": _CONV,
    "ConvInteger": _CONV,
    "ConvTranspose": _CONV_TRANSPOSED,
    "DeformConv": _CONV,
    "Einsum": WeightOperator("linear", (1, 0), is_product=True),
    "GRU": _RECURRENT,
    "Gather": _TABLE,
    "Gemm": _PRODUCT,
    "GroupNormalization": _NORMALIZATION,
    "InstanceNormalization": _NORMALIZATION,
    "LSTM": _RECURRENT,
    "LayerNormalization": _NORMALIZATION,
    "MatMul": _PRODUCT,
    "MatMulInteger": _PRODUCT,
    "QLinearConv": WeightOperator("convolution", (3,), "conv"),
    "QLinearMatMul": WeightOperator("linear", (3, 0), "linear", is_product=True),
    "RMSNormalization": _NORMALIZATION,
    "RNN": _RECURRENT,
    "SimplifiedLayerNormalization": _NORMALIZATION,
    "TfIdfVectorizer": _ML,
}

_ONNX_RUNTIME: dict[str, WeightOperator] = {
    "Attention": _ATTENTION,
    "AttnLSTM": _RECURRENT,
    "BranchwiseRMSNorm": _NORMALIZATION,
    "CausalConvWithState": _CONV_ANY,
    "ConvTransposeWithDynamicPads": _CONV_TRANSPOSED,
    "DecoderAttention": WeightOperator("attention", (2,), "linear"),
    "DecoderMaskedSelfAttention": _ATTENTION,
    # the second dimension is the input's, the last one gates × hidden
    "DynamicQuantizeLSTM": WeightOperator("recurrent", is_quantized=True),
    "DynamicQuantizeMatMul": WeightOperator("linear", (1,), "linear", is_quantized=True),
    "EmbedLayerNormalization": WeightOperator("embedding", (2,), "table"),
    "FusedConv": _CONV,
    "FusedGemm": _PRODUCT,
    "FusedMatMul": _PRODUCT,
    "FusedMatMulActivation": _PRODUCT,
    "GatedRMSNorm": _NORMALIZATION,
    "GatherBlockQuantized": WeightOperator("embedding", (0,), "table", is_quantized=True),
    "GemmFastGelu": WeightOperator("linear", (1,), "linear"),
    "GemmFloat8": _PRODUCT,
    "GroupNorm": _NORMALIZATION,
    "LongformerAttention": _ATTENTION,
    "MatMulBlockQuantizedFp4Weight": _QUANTIZED_LINEAR,
    "MatMulBlockQuantizedFp8Weight": _QUANTIZED_LINEAR,
    "MatMulBnb4": _QUANTIZED_LINEAR,
    "MatMulFpQ4": _QUANTIZED_LINEAR,
    "MatMulInteger16": _PRODUCT,
    "MatMulIntegerToFloat": WeightOperator(
        "linear", (1, 0), "linear", is_product=True, is_quantized=True
    ),
    "MatMulNBits": _QUANTIZED_LINEAR,
    "MatMulNBitsMlp": WeightOperator("linear", (3,), is_quantized=True),
    "MatMulNBitsQkv": WeightOperator("linear", (3,), is_quantized=True),
    "MoE": WeightOperator("experts", (2,)),
    "NhwcConv": _CONV_ANY,
    "NhwcFusedConv": _CONV_ANY,
    "PackedAttention": _ATTENTION,
    "QAttention": WeightOperator("attention", (1,), "linear", is_quantized=True),
    "QEmbedLayerNormalization": WeightOperator("embedding", (2,), "table", is_quantized=True),
    "QGemm": WeightOperator("linear", (3, 0), "linear", is_product=True, is_quantized=True),
    "QLinearConv": WeightOperator("convolution", (3,), is_quantized=True),
    "QMoE": WeightOperator("experts", (2,), is_quantized=True),
    "QOrderedAttention": WeightOperator("attention", (5,), "linear", is_quantized=True),
    "QOrderedLayerNormalization": _NORMALIZATION_AFTER_SUM,
    "QOrderedMatMul": WeightOperator("linear", (2,), "linear", is_quantized=True),
    "SimplifiedLayerNormalization": _NORMALIZATION,
    "SkipGroupNorm": _NORMALIZATION,
    "SkipLayerNormalization": _NORMALIZATION_AFTER_SUM,
    "SkipSimplifiedLayerNormalization": _NORMALIZATION_AFTER_SUM,
    "SparseToDenseMatMul": _PRODUCT,
    "TorchEmbedding": _TABLE,
    "TransposeMatMul": _PRODUCT,
    "VarlenCausalConvWithState": _CONV_ANY,
    "WordConvEmbedding": WeightOperator("embedding", (3,)),
}

_CAFFE2: dict[str, WeightOperator] = {
    "BatchMatMul": _PRODUCT,
    "Conv": _CONV,
    "Conv1D": _CONV,
    "Conv2D": _CONV,
    "Conv3D": _CONV,
    "ConvRelu": _CONV,
    "ConvTranspose": _CONV_TRANSPOSED,
    "ElementwiseLinear": _NORMALIZATION,
    "FC": _FULLY_CONNECTED,
    "FCTransposed": WeightOperator("linear", (1,), "linear"),
    "Gather": _TABLE,
    "GroupNorm": _NORMALIZATION,
    "InstanceNorm": _NORMALIZATION,
    "Int8Conv": _INT8_CONV,
    "Int8ConvRelu": _INT8_CONV,
    "Int8ConvTranspose": replace(_INT8_CONV, layout="conv transposed"),
    "Int8FC": replace(_FULLY_CONNECTED, is_quantized=True),
    "Int8FCRelu": replace(_FULLY_CONNECTED, is_quantized=True),
    "LayerNorm": _NORMALIZATION,
    "MatMul": _PRODUCT,
    "SparseLengthsMean": _TABLE,
    "SparseLengthsSum": _TABLE,
    "SparseLengthsWeightedSum": _TABLE,
    "SpatialBN": _NORMALIZATION,
}

#: of scikit-learn pipelines and the like; what they hold was fitted to data
_CLASSIC = (
    "CategoryMapper",
    "DictVectorizer",
    "Imputer",
    "LinearClassifier",
    "LinearRegressor",
    "OneHotEncoder",
    "Scaler",
    "SVMClassifier",
    "SVMRegressor",
    "TreeEnsemble",
    "TreeEnsembleClassifier",
    "TreeEnsembleRegressor",
)

#: by domain and operator
WEIGHT_OPERATORS: Mapping[str, Mapping[str, WeightOperator]] = {
    "": _ONNX,
    "ai.onnx.ml": dict.fromkeys(_CLASSIC, _ML),  # in attributes
    "caffe2": _CAFFE2,
    "com.microsoft": _ONNX_RUNTIME,
    "com.microsoft.nchwc": {"Conv": _CONV},
    "com.ms.internal.nhwc": {
        "BatchNormalization": _NORMALIZATION,
        "Conv": _CONV_ANY,
        "ConvTranspose": _CONV_ANY,
        "InstanceNormalization": _NORMALIZATION,
        "QLinearConv": WeightOperator("convolution", (3,), is_quantized=True),
        "QLinearConvTranspose": WeightOperator("convolution", (3,), is_quantized=True),
    },
}


def find_weight_operator(domain: str, op_type: str) -> WeightOperator | None:
    """Return what is known of an operator that may have a weight; None for all others."""
    operators = WEIGHT_OPERATORS.get(domain)
    return operators.get(op_type) if operators is not None else None
