"""The family of an operator, which decides the colours of its box."""

from __future__ import annotations

from functools import lru_cache

from netloupe.explorer.model import Node

#: operators by family: ONNX, its common extension domains, and Caffe2
_OPERATORS = {
    "linear": """
        Conv ConvTranspose ConvInteger DeformConv MatMul MatMulInteger Gemm Einsum Det Inverse
        FusedConv FusedGemm FusedMatMul FusedMatMulActivation NhwcConv NhwcFusedConv
        ConvTransposeWithDynamicPads CausalConvWithState VarlenCausalConvWithState
        TransposeMatMul SparseToDenseMatMul GemmFastGelu GemmFloat8 MatMulFpQ4 MatMulBnb4
        MatMulNBits MatMulNBitsMlp MatMulNBitsQkv MoE MoEPacked MoEGroupRouter RouterGateUpProj
        HyperConnectionLowRankMix WordConvEmbedding CDist
        DFT STFT MelWeightMatrix Rfft Irfft Affine
        FC FCTransposed FbFCPacked BatchMatMul DotProduct LC1D Conv1D Conv2D
        Conv3D ConvTranspose2D ConvTranspose3D
        CosineSimilarity L1Distance SquaredL2Distance
    """,
    "activation": """
        Celu Elu Gelu HardSigmoid HardSwish Hardmax LeakyRelu LogSoftmax Mish PRelu Relu Selu
        Shrink Sigmoid Softmax Softplus Softsign Swish SwiGLU Tanh ThresholdedRelu
        ParametricSoftplus ScaledTanh FastGelu QuickGelu BiasGelu BiasSplitGelu BiasSoftmax
        ScaledSiLU GatedAdd EngramGate LinearAttentionGate
        ReluN Logit Glu
    """,
    "normalization": """
        BatchNormalization InstanceNormalization LayerNormalization GroupNormalization
        RMSNormalization SimplifiedLayerNormalization LpNormalization LRN
        MeanVarianceNormalization SkipLayerNormalization SkipSimplifiedLayerNormalization
        SkipGroupNorm GroupNorm EmbedLayerNormalization BranchwiseRMSNorm GatedRMSNorm
        SpatialBN InstanceNorm LayerNorm Normalize NormalizeL1 NormalizePlanarYUV LpNorm
        BatchMoments Standardize
    """,
    "pooling": """
        AveragePool MaxPool LpPool GlobalAveragePool GlobalMaxPool GlobalLpPool MaxUnpool
        MaxRoiPool RoiAlign NhwcMaxPool MaxpoolWithMask PyramidROIAlign_TRT
        MultilevelCropAndResize_TRT NonMaxSuppression EfficientNMS_TRT
        MaxPool1D MaxPool2D MaxPool3D AveragePool1D AveragePool2D AveragePool3D RoIPool
        RoIAlign RoIAlignRotated BoxWithNMSLimit GenerateProposals CollectRpnProposals
        DistributeFpnProposals CollectAndDistributeFpnRpnProposals BBoxTransform
    """,
    "shape": """
        Reshape Transpose Flatten Squeeze Unsqueeze Concat Split Slice Gather GatherElements
        GatherND Scatter ScatterElements ScatterND TensorScatter Expand Tile Pad Shape Size
        DepthToSpace SpaceToDepth Resize Upsample GridSample AffineGrid CenterCropPad Col2Im
        Compress Crop DynamicSlice ReverseSequence Trilu Identity Cast CastLike BitCast OneHot
        NonZero Unique EyeLike SequenceAt SequenceConstruct SequenceEmpty SequenceErase
        SequenceInsert SequenceLength SplitToSequence ConcatFromSequence Optional
        OptionalGetElement StringConcat StringNormalizer StringSplit
        ImageDecoder ImageScaler MemcpyFromHost MemcpyToHost ReorderInput ReorderOutput
        CropAndResize UnfoldTensor RemovePadding RestorePadding TorchEmbedding
        GatherBlockQuantized Tokenizer MurmurHash3 NGramHashMapping VarlenNGramHashMapping
        TfIdfVectorizer
        Copy CopyFromCPUInput CopyGPUToCPU CopyCPUToGPU EnsureCPUOutput EnsureDense Alias
        StopGradient AsyncNetBarrier ExpandDims NHWC2NCHW NCHW2NHWC ResizeNearest ResizeNearest3D
        ResizeLike PadImage PackSegments UnpackSegments GatherPadding AddPadding
        LengthsToSegmentIds SegmentIdsToLengths LengthsTile LengthsGather BatchGather
        SparseToDense SparseToDenseMask SegmentOneHot ChannelShuffle
        FlattenToVec UnsafeCoalesce MergeDim PrependDim
        SplitByLengths FloatToHalf HalfToFloat Perplexity GatherRangesToDense
        GatherRanges TensorProtosDBInput Load Save CreateDB ImageInput
        BatchToSpace SpaceToBatch Swap
    """,
    "elementwise": """
        Abs Acos Acosh Add Asin Asinh Atan Atanh BitShift BitwiseAnd BitwiseNot BitwiseOr
        BitwiseXor Ceil Clip Cos Cosh Div Dropout Erf Exp Floor Log Max Mean Min Mod Mul Neg
        Pow Reciprocal Round Scale Sign Sin Sinh Sqrt Sub Sum Tan CumSum CumProd
        BiasAdd BiasDropout BitmaskDropout BitmaskBiasDropout ComplexMul ComplexMulConj
        HyperConnectionPreMix HyperConnectionPostMix
        Sqr Rsqrt Cbrt Cube Log1p WeightedSum ElementwiseLinear Negative StumpFunc
        ClipTensorByScaling
    """,
    "reduction": """
        ArgMax ArgMin ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean
        ReduceMin ReduceProd ReduceSum ReduceSumSquare TopK
        ReduceBackMean ReduceBackMax ReduceBackSum ReduceFrontMean ReduceFrontMax
        ReduceFrontSum SumElements SumElementsInt SumSqrElements ColwiseMax RowwiseMax
        LengthsSum LengthsMean LengthsMax LengthsWeightedSum SparseLengthsSum
        SparseLengthsMean SparseLengthsMax SparseLengthsWeightedSum SortedSegmentSum
        SortedSegmentMean UnsortedSegmentSum UnsortedSegmentMean Accuracy AveragedLoss
        Percentile
    """,
    "logic": """
        And Or Xor Not Equal Greater GreaterOrEqual Less LessOrEqual IsInf IsNaN Where
        OptionalHasElement RegexFullMatch BifurcationDetector IsAllFinite
        EQ NE LT LE GT GE IsMemberOf IsEmpty ElementwiseAll
    """,
    "quantization": """
        QuantizeLinear DequantizeLinear DynamicQuantizeLinear QLinearConv QLinearMatMul
        QuantizeBFP DequantizeBFP QuantizeWithOrder DequantizeWithOrder MatMulInteger16
        MatMulIntegerToFloat MulInteger ReduceSumInteger DynamicQuantizeMatMul
        DynamicQuantizeLSTM QGemm QMoE QEmbedLayerNormalization
        Quant IntQuant FloatQuant BipolarQuant Trunc MultiThreshold
        Quantize Dequantize FloatToFused8BitRowwiseQuantized
        Fused8BitRowwiseQuantizedToFloat GenQuantParams ComputeEqualizationScale
    """,
    "recurrent": """
        RNN LSTM GRU AttnLSTM GRUUnit LSTMUnit RecurrentNetwork GatedDeltaNet
        GatedDeltaNetStateReplay Mamba2Verify SpeculativePrefixCommit
        BeamSearch GreedySearch WhisperBeamSearch Sampling DynamicTimeWarping NGramRepeatBlock
        CTCBeamSearchDecoder CTCGreedyDecoder
    """,
    "attention": """
        Attention LinearAttention FlexAttention RotaryEmbedding GemmaRotaryEmbedding
        MRotaryEmbedding RelativePositionBias GatedRelativePositionBias
        PackedSparseAttentionIndexer SparseAttentionIndexer
    """,
    "control": """
        If Loop Scan SequenceMap While Do EPContext Snpe

    """,
    "generator": """
        Constant ConstantOfShape Range RandomNormal RandomNormalLike RandomUniform
        RandomUniformLike Bernoulli Multinomial BlackmanWindow HammingWindow HannWindow
        SampleOp
        ConstantFill GivenTensorFill GivenTensorIntFill GivenTensorInt64Fill
        GivenTensorInt16Fill GivenTensorBoolFill GivenTensorDoubleFill GivenTensorStringFill
        GivenTensorByteStringToUInt8Fill Int8GivenTensorFill Int8GivenIntTensorFill
        GaussianFill UniformFill UniformIntFill UniqueUniformFill XavierFill MSRAFill
        DiagonalFill LengthsRangeFill RangeFill
    """,
    "training": """
        NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss Gradient Adagrad Adam Momentum
        SoftmaxWithLoss LabelCrossEntropy CrossEntropy MakeTwoClass SigmoidCrossEntropyWithLogits
        WeightedSigmoidCrossEntropyWithLogits MomentumSGD MomentumSGDUpdate SparseAdagrad
        SparseAdam SparseMomentumSGDUpdate RowWiseSparseAdagrad RmsProp LearningRate Iter
        AtomicIter Ftrl SparseFtrl Adadelta YellowFin SmoothL1Loss SelectSmoothL1Loss
        SigmoidFocalLoss SoftmaxFocalLoss MarginRankingCriterion
    """,
}
#: every family, the keys of a theme's palette besides ``terminal`` and ``constant``
FAMILIES = (*_OPERATORS, "classical", "function", "group", "other")
_FAMILIES = {name: family for family, names in _OPERATORS.items() for name in names.split()}
_DOMAINS = {"ai.onnx.ml": "classical", "ai.onnx.preview.training": "training"}

#: parts of a name that tell the family of an operator that no table lists; first match counts
_HINTS = (
    ("attention", "attention"),
    ("quant", "quantization"),
    ("qlinear", "quantization"),
    ("int8", "quantization"),
    ("lstm", "recurrent"),
    ("gru", "recurrent"),
    ("norm", "normalization"),
    ("pool", "pooling"),
    ("conv", "linear"),
    ("matmul", "linear"),
    ("gemm", "linear"),
    ("softmax", "activation"),
    ("relu", "activation"),
    ("gelu", "activation"),
    ("sigmoid", "activation"),
    ("reduce", "reduction"),
    ("loss", "training"),
    ("random", "generator"),
    ("reshape", "shape"),
    ("transpose", "shape"),
    ("concat", "shape"),
    ("gather", "shape"),
)


def category_of(node: Node) -> str:
    """Return the family of a node's operator: a key of the theme's palette.

    A call of a function of the model counts as ``function`` unless its name is an operator's.
    """
    if node.op_type not in _FAMILIES and node.function is not None:
        return "function"
    return category_of_operator(node.domain, node.op_type)


@lru_cache(maxsize=1 << 17)
def category_of_operator(domain: str, op_type: str) -> str:
    """Return the family of an operator by its domain and name; ``other`` where unknown."""
    if domain in _DOMAINS:
        return _DOMAINS[domain]
    # Int8Conv and Int8FC of Caffe2 differ from QLinearConv only in name
    if op_type.startswith("Int8"):
        return "quantization"
    family = _FAMILIES.get(op_type)
    if family is not None:
        return family
    if op_type.endswith("Gradient"):
        return "training"
    lowered = op_type[:200].lower()
    return next((family for part, family in _HINTS if part in lowered), "other")
