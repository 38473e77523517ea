"""Which rule tells the results, MACs and other operations of which operator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple, TypeAlias

from netloupe.explorer.model import data_type

from . import arrangement, elementwise, regions, selection
from .facts import Fact, Use
from .polynomial import Amount
from .products import (
    attend,
    attend_fused,
    attend_in_groups,
    attend_linearly,
    attend_to_keys,
    broadcast,
    connect,
    contract,
    count_product,
    count_recurrent,
    multiply_shapes,
    project,
    read_factors,
    recur,
)
from .windows import (
    Operands,
    convolve,
    convolve_caffe2,
    convolve_causally,
    count_caffe2_convolution,
    count_convolution,
    count_transposed,
    pool,
    pool_all,
    pool_caffe2,
    transpose_caffe2,
    transpose_convolution,
)

Results: TypeAlias = "list[Fact | None]"
#: gives facts of results and, of an operator that multiplies, its MACs: None where not known
Rule: TypeAlias = Callable[[Use, Sequence[Fact]], "tuple[Results, Amount | None]"]

_INT32, _FLOAT32 = data_type("int32"), data_type("float32")


class Operator(NamedTuple):
    """What is known of an operator.

    Parameters
    ----------
    rule
        Gives results and MACs of a use, from operands and from results as far as they are known.
    multiplies
        Whether it has MACs, so that a use of which they are not known leaves a total open.
    per_element
        Other operations for each element of the first result.
    per_operand
        Other operations for each element of the first operand.
    has_attributes
        Whether attributes change anything of this.
    """

    rule: Rule | None = None
    multiplies: bool = False
    per_element: int = 0
    per_operand: int = 0
    has_attributes: bool = True


def _shape(find: Callable[[Use], Results]) -> Rule:
    """Return the rule of an operator without MACs."""
    return lambda use, results: (find(use), 0)


def _one(find: Callable[[Use], Fact]) -> Rule:
    return lambda use, results: ([find(use)], 0)


def _convolution(places: Operands = Operands(), dtype: str = "") -> Rule:  # noqa: B008 - a tuple
    def rule(use: Use, results: Sequence[Fact]) -> tuple[Results, Amount | None]:
        found = convolve(use, places)
        if dtype:
            found = found._replace(dtype=data_type(dtype))
        return [found], count_convolution(use, _better(found, results), places)

    return rule


def _better(found: Fact, results: Sequence[Fact]) -> Fact:
    """Return what the file says of a result where a rule does not know its size."""
    return found if found.size is not None or not results else results[0]


def _transposed(use: Use, results: Sequence[Fact]) -> tuple[Results, Amount | None]:
    found = transpose_convolution(use)
    return [found], count_transposed(use, found)


def _product(left: int = 0, right: int = 1, dtype: int | str = 0) -> Rule:
    def rule(use: Use, results: Sequence[Fact]) -> tuple[Results, Amount | None]:
        one, two = read_factors(use, left, right)
        found = data_type(dtype) if isinstance(dtype, str) else use.operand(dtype).dtype
        fact = Fact(multiply_shapes(one, two), found)
        return [fact], count_product(_better(fact, results).dims, one, two)

    return rule


def _stated_product(use: Use, results: Sequence[Fact]) -> tuple[Results, Amount | None]:
    fact, macs = project(use, use.integer("N"), use.integer("K"))
    return [fact], macs


def _recurrent(use: Use, results: Sequence[Fact]) -> tuple[Results, Amount | None]:
    return recur(use), count_recurrent(use)


def _both(find: Callable[[Use], tuple[Results, Amount | None]]) -> Rule:
    return lambda use, results: find(use)


def _single(find: Callable[[Use], tuple[Fact, Amount | None]]) -> Rule:
    def rule(use: Use, results: Sequence[Fact]) -> tuple[Results, Amount | None]:
        fact, macs = find(use)
        return [fact], macs

    return rule


def _linear(use: Use, results: Sequence[Fact]) -> tuple[Results, Amount | None]:
    """Return MACs of LinearClassifier and LinearRegressor: each row meets every coefficient."""
    coefficients, dims = use.numbers("coefficients"), use.dims(0)
    if coefficients is None or not dims:
        return [], None
    rows = 1 if len(dims) == 1 else dims[0]
    return [], None if rows is None else rows * len(coefficients)


def _caffe2_convolution(use: Use, results: Sequence[Fact]) -> tuple[Results, Amount | None]:
    fact = convolve_caffe2(use)
    return [fact], count_caffe2_convolution(use, _better(fact, results))


def _like(operand: int, dtype: int | str) -> Rule:
    def rule(use: Use, results: Sequence[Fact]) -> tuple[Results, Amount | None]:
        found = data_type(dtype) if isinstance(dtype, str) else use.operand(dtype).dtype
        return [Fact(use.dims(operand), found)], 0

    return rule


def _combine_quantized(use: Use, results: Sequence[Fact]) -> tuple[Results, Amount | None]:
    """Return the result of QLinearAdd and QLinearMul, whose data are operands 0 and 3."""
    dims = broadcast(use.dims(0), use.dims(3))
    return [Fact(dims, use.operand(0).dtype)], 0


def _concatenate_quantized(use: Use, results: Sequence[Fact]) -> tuple[Results, Amount | None]:
    data = [use.operand(index) for index in range(2, len(use.operands), 3)]
    return [arrangement.join(data, use.integer("axis"), use.operand(1).dtype)], 0


def _skip(use: Use, results: Sequence[Fact]) -> tuple[Results, Amount | None]:
    """Return the results of SkipLayerNormalization: the first and the fourth are data."""
    data = use.operand(0)
    fact = Fact(data.dims, data.dtype)
    return [fact, None, None, fact], 0


def _gate(use: Use, results: Sequence[Fact]) -> tuple[Results, Amount | None]:
    """Return the result of ONNX Runtime's SwiGLU, whose only operand may hold both halves."""
    data = use.operand(0)
    if data.dims is None or use.has(1):
        return [Fact(data.dims, data.dtype)], 0
    last = data.dims[-1] if data.dims else None
    half = last // 2 if isinstance(last, int) and last % 2 == 0 else None
    return [Fact((*data.dims[:-1], half), data.dtype)], 0


def _embed(use: Use, results: Sequence[Fact]) -> tuple[Results, Amount | None]:
    """Return the result of EmbedLayerNormalization: ids are operand 0, the table operand 2."""
    ids, table = use.dims(0), use.operand(2)
    if ids is None or table.dims is None or len(table.dims) != 2:
        return [], 0
    return [Fact((*ids, table.dims[1]), table.dtype)], 0


def _each(names: str, operator: Operator) -> dict[str, Operator]:
    return dict.fromkeys(names.split(), operator)


_LIKE_FIRST = _shape(elementwise.like_first)
_MULTIPLY = partial(Operator, multiplies=True)

_WITHOUT_MACS = Operator(has_attributes=False)

#: ai.onnx
ONNX_OPERATORS: dict[str, Operator] = {
    **_each(
        "Abs Acos Acosh Asin Asinh Atan Atanh BitwiseNot Ceil Celu Clip Cos Cosh Elu Erf Exp "
        "Floor Gelu HardSigmoid HardSwish LeakyRelu Log Mish Neg Not PRelu Reciprocal Relu Round "
        "Selu Shrink Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Swish Tan Tanh ThresholdedRelu",
        Operator(_LIKE_FIRST, per_element=1, has_attributes=False),
    ),
    **_each(
        "Add Sub Mul Div Pow Mod Max Min Sum Mean BitShift BitwiseAnd BitwiseOr BitwiseXor",
        Operator(_shape(elementwise.combine), per_element=1, has_attributes=False),
    ),
    **_each(
        "And Or Xor Equal Greater GreaterOrEqual Less LessOrEqual",
        Operator(_shape(elementwise.compare), per_element=1, has_attributes=False),
    ),
    **_each("IsNaN IsInf", Operator(_like(0, "bool"), per_element=1, has_attributes=False)),
    **_each(
        "CumSum CumProd Trilu Scatter ScatterElements ScatterND ReverseSequence TensorScatter",
        Operator(_LIKE_FIRST, has_attributes=False),
    ),
    "Identity": Operator(_shape(elementwise.same), has_attributes=False),
    "Where": Operator(_shape(elementwise.choose), per_element=1, has_attributes=False),
    **_each("Softmax LogSoftmax Hardmax", Operator(_LIKE_FIRST, per_element=5)),
    "BatchNormalization": Operator(_LIKE_FIRST, per_element=2),
    **_each(
        "InstanceNormalization GroupNormalization LpNormalization MeanVarianceNormalization LRN",
        Operator(_LIKE_FIRST, per_element=7, has_attributes=False),
    ),
    "LayerNormalization": Operator(_shape(elementwise.normalize_layer), per_element=7),
    "RMSNormalization": Operator(_LIKE_FIRST, per_element=4, has_attributes=False),
    "RotaryEmbedding": Operator(_LIKE_FIRST, per_element=3, has_attributes=False),
    "Dropout": Operator(_shape(elementwise.drop_out), has_attributes=False),
    "Cast": Operator(_shape(elementwise.cast)),
    "BitCast": Operator(_shape(elementwise.take_bits)),
    "Compress": Operator(_shape(selection.compress)),
    "GridSample": Operator(_shape(regions.sample_grid), has_attributes=False),
    **_each("RoiAlign MaxRoiPool", Operator(_shape(regions.align_regions))),
    "Det": Operator(_shape(regions.find_determinant), has_attributes=False),
    "NonZero": Operator(_shape(regions.find_nonzero), has_attributes=False),
    "NonMaxSuppression": Operator(_shape(regions.select_boxes), has_attributes=False),
    "Unique": Operator(_shape(regions.find_unique)),
    **_each("NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss", Operator(_shape(regions.lose))),
    "RegexFullMatch": Operator(_shape(regions.match_words), has_attributes=False),
    "OptionalHasElement": Operator(_shape(regions.tell_presence), has_attributes=False),
    "CastLike": Operator(_shape(elementwise.cast_like), has_attributes=False),
    "QuantizeLinear": Operator(_shape(elementwise.quantize), per_element=2),
    "DequantizeLinear": Operator(_shape(elementwise.dequantize), per_element=2),
    "DynamicQuantizeLinear": Operator(
        _shape(elementwise.quantize_dynamically), per_element=3, has_attributes=False
    ),
    "Shape": Operator(_shape(arrangement.read_shape)),
    "Size": Operator(_shape(arrangement.read_size), has_attributes=False),
    "Reshape": Operator(_shape(arrangement.reshape)),
    "Flatten": Operator(_shape(arrangement.make_matrix)),
    "Transpose": Operator(_shape(arrangement.transpose)),
    "Squeeze": Operator(_shape(arrangement.squeeze)),
    "Unsqueeze": Operator(_shape(arrangement.unsqueeze)),
    "Concat": Operator(_shape(arrangement.concatenate)),
    "Split": Operator(_shape(selection.split)),
    "Slice": Operator(_shape(selection.slice_)),
    "Gather": Operator(_shape(selection.gather)),
    "GatherElements": Operator(_shape(selection.like_second), has_attributes=False),
    "GatherND": Operator(_shape(selection.gather_nd)),
    "Expand": Operator(_shape(arrangement.expand), has_attributes=False),
    "Tile": Operator(_shape(arrangement.tile), has_attributes=False),
    "Pad": Operator(_shape(arrangement.pad)),
    "ConstantOfShape": Operator(_shape(selection.fill)),
    **_each("RandomNormal RandomUniform", Operator(_shape(selection.draw))),
    **_each(
        "EyeLike RandomNormalLike RandomUniformLike Bernoulli",
        Operator(_shape(selection.make_like)),
    ),
    "Multinomial": Operator(_shape(selection.draw_samples)),
    **_each("HannWindow HammingWindow BlackmanWindow", Operator(_shape(selection.make_window))),
    "MelWeightMatrix": Operator(_shape(selection.make_mel_weights)),
    "Range": Operator(_shape(selection.make_range), has_attributes=False),
    "OneHot": Operator(_shape(selection.encode_one_hot)),
    "TopK": Operator(_shape(selection.take_top)),
    **_each("Resize Upsample", Operator(_shape(arrangement.resize))),
    **_each("DepthToSpace SpaceToDepth", Operator(_shape(arrangement.move_depth))),
    **_each(
        "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd "
        "ReduceSum ReduceSumSquare ArgMax ArgMin",
        Operator(_shape(selection.reduce), per_operand=1),
    ),
    **_each("MaxPool AveragePool LpPool", Operator(_one(pool))),
    **_each(
        "GlobalAveragePool GlobalMaxPool GlobalLpPool",
        Operator(_one(pool_all), per_operand=1, has_attributes=False),
    ),
    "Conv": _MULTIPLY(_convolution()),
    "ConvInteger": _MULTIPLY(_convolution(dtype="int32")),
    "QLinearConv": _MULTIPLY(_convolution(Operands(0, 3, 7))),
    "DeformConv": _MULTIPLY(_convolution(), per_element=4),
    "ConvTranspose": _MULTIPLY(_transposed),
    "MatMul": _MULTIPLY(_product(), has_attributes=False),
    "MatMulInteger": _MULTIPLY(_product(dtype="int32"), has_attributes=False),
    "QLinearMatMul": _MULTIPLY(_product(0, 3, 7), has_attributes=False),
    "Gemm": _MULTIPLY(_product()),
    "Einsum": _MULTIPLY(_single(contract)),
    **_each(" ".join(("RNN", "GRU", "LSTM")), _MULTIPLY(_recurrent)),
    "Attention": _MULTIPLY(_both(attend)),
    "LinearAttention": _MULTIPLY(_both(attend_linearly)),
    "CausalConvWithState": _MULTIPLY(_both(convolve_causally)),
    "AffineGrid": _MULTIPLY(_single(regions.make_grid), has_attributes=False),
    "SwiGLU": Operator(_LIKE_FIRST, per_element=2, has_attributes=False),
    "SimplifiedLayerNormalization": Operator(_LIKE_FIRST, per_element=4, has_attributes=False),
    **_each(
        "Affine ImageScaler ParametricSoftplus Scale ScaledTanh",
        Operator(_LIKE_FIRST, per_element=1, has_attributes=False),
    ),
    # what runs others counts as what it runs
    **_each("If Loop Scan SequenceMap", _WITHOUT_MACS),
    **_each(
        "CenterCropPad Col2Im ConcatFromSequence Constant Crop DynamicSlice GivenTensorFill "
        "ImageDecoder MaxUnpool MemcpyFromHost MemcpyToHost Optional OptionalGetElement "
        "SequenceAt SequenceConstruct SequenceEmpty SequenceErase SequenceInsert SequenceLength "
        "SplitToSequence StringConcat StringNormalizer StringSplit TfIdfVectorizer "
        "DisentangledAttention_TRT EfficientNMS_TRT MultilevelCropAndResize_TRT "
        "PyramidROIAlign_TRT",
        _WITHOUT_MACS,
    ),
}

#: com.microsoft
CONTRIB_OPERATORS: dict[str, Operator] = {
    **_each(
        "Gelu FastGelu BiasGelu QuickGelu BiasSplitGelu BiasAdd RotaryEmbedding "
        "SimplifiedLayerNormalization GroupNorm BiasSoftmax",
        Operator(_LIKE_FIRST, per_element=1, has_attributes=False),
    ),
    **_each(
        "SkipLayerNormalization SkipSimplifiedLayerNormalization",
        Operator(_skip, per_element=8, has_attributes=False),
    ),
    "EmbedLayerNormalization": Operator(_embed, per_element=9, has_attributes=False),
    "SwiGLU": Operator(_gate, per_element=2, has_attributes=False),
    **_each("QLinearAdd QLinearMul", Operator(_combine_quantized, per_element=1)),
    **_each("QLinearSigmoid QLinearLeakyRelu QLinearSoftmax", Operator(_LIKE_FIRST, per_element=1)),
    "QLinearConcat": Operator(_concatenate_quantized),
    **_each("QLinearAveragePool", Operator(_one(pool))),
    "QuantizeLinear": ONNX_OPERATORS["QuantizeLinear"],
    "DequantizeLinear": ONNX_OPERATORS["DequantizeLinear"],
    "FusedConv": _MULTIPLY(_convolution()),
    **_each("FusedMatMul TransposeMatMul FusedMatMulActivation", _MULTIPLY(_product())),
    **_each("FusedGemm GemmFastGelu DynamicQuantizeMatMul", _MULTIPLY(_product())),
    "MatMulIntegerToFloat": _MULTIPLY(_product(dtype=2)),
    "MatMulInteger16": _MULTIPLY(_product(dtype="int32")),
    "QGemm": _MULTIPLY(_product(0, 3, 8)),
    **_each("MatMulNBits MatMulBnb4", _MULTIPLY(_stated_product)),
    "DynamicQuantizeLSTM": _MULTIPLY(_recurrent),
    **_each("Attention QAttention", _MULTIPLY(_both(attend_fused))),
    "MultiHeadAttention": _MULTIPLY(_both(attend_to_keys)),
    "GroupQueryAttention": _MULTIPLY(_both(attend_in_groups)),
    "LinearAttention": _MULTIPLY(_both(attend_linearly)),
    "CausalConvWithState": _MULTIPLY(_both(convolve_causally)),
}

#: ai.onnx.ml
ML_OPERATORS: dict[str, Operator] = {
    **_each("LinearClassifier LinearRegressor", _MULTIPLY(_linear)),
    **_each("SVMClassifier SVMRegressor", _MULTIPLY()),
    **_each("Normalizer Scaler Imputer Binarizer", Operator(_LIKE_FIRST, per_element=1)),
    **_each(
        "ArrayFeatureExtractor CastMap CategoryMapper DictVectorizer FeatureVectorizer "
        "LabelEncoder OneHotEncoder TreeEnsemble TreeEnsembleClassifier TreeEnsembleRegressor "
        "ZipMap",
        _WITHOUT_MACS,
    ),
}

#: Caffe2
CAFFE2_OPERATORS: dict[str, Operator] = {
    **_each(
        "Relu Sigmoid Tanh Elu LeakyRelu PRelu Swish Abs Sqr Sqrt Exp Log Negative Scale Clip "
        "Int8Relu Int8Sigmoid Int8LeakyRelu ReplaceNaN",
        Operator(_LIKE_FIRST, per_element=1, has_attributes=False),
    ),
    **_each(
        "Add Sub Mul Div Sum Max Min Mean Int8Add Int8AddRelu Int8Sum Int8SumRelu",
        Operator(_LIKE_FIRST, per_element=1, has_attributes=False),
    ),
    **_each(
        "Copy StopGradient ChannelShuffle Int8ChannelShuffle Alias CopyCPUToGPU CopyGPUToCPU "
        "EnsureCPUOutput EnsureDense",
        Operator(_LIKE_FIRST, has_attributes=False),
    ),
    **_each("Softmax Int8Softmax", Operator(_LIKE_FIRST, per_element=5)),
    "SpatialBN": Operator(_LIKE_FIRST, per_element=2),
    **_each("LRN InstanceNorm GroupNorm", Operator(_LIKE_FIRST, per_element=7)),
    "Dropout": Operator(_shape(elementwise.drop_out), has_attributes=False),
    **_each("Int8Quantize", Operator(_like(0, "uint8"), per_element=2)),
    **_each("Int8Dequantize", Operator(_like(0, "float32"), per_element=2)),
    **_each("MaxPool AveragePool Int8MaxPool Int8AveragePool", Operator(_one(pool_caffe2))),
    "Concat": Operator(_shape(arrangement.concatenate_with_sizes)),
    **_each("Reshape Int8Reshape", Operator(_shape(arrangement.reshape))),
    **_each("Flatten Int8Flatten", Operator(_shape(arrangement.make_matrix))),
    "FlattenToVec": _WITHOUT_MACS,
    **_each("Transpose Int8Transpose", Operator(_shape(arrangement.transpose))),
    **_each(
        "NCHW2NHWC NHWC2NCHW", Operator(_shape(arrangement.move_channels), has_attributes=False)
    ),
    "Shape": Operator(_shape(arrangement.read_shape), has_attributes=False),
    **_each(
        "Conv Int8Conv Int8ConvRelu Int8ConvSum Int8ConvSumRelu ConvRelu",
        _MULTIPLY(_caffe2_convolution),
    ),
    **_each("ConvTranspose Int8ConvTranspose", _MULTIPLY(_single(transpose_caffe2))),
    **_each("FC Int8FC FCTransposed Int8FCRelu", _MULTIPLY(_single(connect))),
    **_each("MatMul BatchMatMul", _MULTIPLY(_product())),
    **_each("RecurrentNetwork LSTMUnit", _MULTIPLY()),
    **_each(
        "GenerateProposals BBoxTransform BoxWithNMSLimit RoIAlign CollectAndDistributeFpnRpn "
        "ResizeNearest Int8ResizeNearest UpsampleNearest Gather Slice Split Squeeze ExpandDims "
        "SparseLengthsSum SparseLengthsMean SparseLengthsWeightedSum TopK ArgMax PadImage "
        "SparseLengthsSum8BitsRowwise SparseLengthsWeightedSum8BitsRowwise "
        "SparseLengthsSumFused8BitRowwise SparseLengthsWeightedSumFused8BitRowwise "
        "ConstantFill GaussianFill UniformFill XavierFill MSRAFill GivenTensorFill Iter "
        "LabelToOneHot IsEmpty LT GT EQ And Or Not Cast Accuracy AveragedLoss LabelCrossEntropy "
        "WeightedSum ElementwiseLinear Print",
        _WITHOUT_MACS,
    ),
}

#: quantization as QONNX, Brevitas and FINN write it
_QUANTIZERS = _each(
    "Quant BipolarQuant IntQuant FloatQuant Trunc MultiThreshold",
    Operator(_LIKE_FIRST, per_element=2, has_attributes=False),
)

#: by domain, operators of which it is known whether they have MACs
_TABLES: dict[str, dict[str, Operator]] = {
    "com.microsoft": CONTRIB_OPERATORS,
    "caffe2": CAFFE2_OPERATORS,
    "": ONNX_OPERATORS,
    "ai.onnx.ml": ML_OPERATORS,
    "finn.custom_op.general": _QUANTIZERS,
    "onnx.brevitas": _QUANTIZERS,
    "qonnx.custom_op.general": _QUANTIZERS,
}


def find_operator(domain: str, op_type: str) -> Operator | None:
    """Return what is known of an operator; None where it may have MACs that no rule counts."""
    return _TABLES.get(domain, {}).get(op_type)
