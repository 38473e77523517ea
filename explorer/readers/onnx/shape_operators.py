"""The ONNX operators that compute shapes, ranges and indices (ONNX operator specification)."""

from __future__ import annotations

from netloupe.explorer.model import ShapeOperators

_ARITHMETIC = """
    Add And Abs Cast Ceil Concat ConcatFromSequence ConstantOfShape Div Equal Expand Flatten
    Floor Gather Greater GreaterOrEqual Identity Less LessOrEqual Max Min Mod Mul Neg Not Or
    Range ReduceMax ReduceMin ReduceProd ReduceSum Reshape ScatterElements ScatterND
    SequenceAt SequenceConstruct Slice Split SplitToSequence Sqrt Squeeze Sub Sum Transpose
    Unsqueeze Where
"""
_OPERANDS: dict[str, frozenset[int]] = {
    "AffineGrid": frozenset({1}),
    "BlackmanWindow": frozenset({0}),
    "CenterCropPad": frozenset({1}),
    "Col2Im": frozenset({1, 2}),
    "ConstantOfShape": frozenset({0}),
    "CumSum": frozenset({1}),
    "DFT": frozenset({1, 2}),
    "Expand": frozenset({1}),
    "HammingWindow": frozenset({0}),
    "HannWindow": frozenset({0}),
    "If": frozenset({0}),
    "Loop": frozenset({0, 1}),
    "MaxUnpool": frozenset({2}),
    "OneHot": frozenset({1}),
    "Pad": frozenset({1, 3}),
    "Range": frozenset({0, 1, 2}),
    "ReduceL1": frozenset({1}),
    "ReduceL2": frozenset({1}),
    "ReduceLogSum": frozenset({1}),
    "ReduceLogSumExp": frozenset({1}),
    "ReduceMax": frozenset({1}),
    "ReduceMean": frozenset({1}),
    "ReduceMin": frozenset({1}),
    "ReduceProd": frozenset({1}),
    "ReduceSum": frozenset({1}),
    "ReduceSumSquare": frozenset({1}),
    "Reshape": frozenset({1}),
    "Resize": frozenset({1, 2, 3}),
    "STFT": frozenset({1, 3}),
    "SequenceAt": frozenset({1}),
    "Slice": frozenset({1, 2, 3, 4}),
    "Split": frozenset({1}),
    "SplitToSequence": frozenset({1}),
    "Squeeze": frozenset({1}),
    "Tile": frozenset({1, 2}),
    "TopK": frozenset({1}),
    "Trilu": frozenset({1}),
    "Unsqueeze": frozenset({1}),
    "Upsample": frozenset({1}),
}

SHAPE_OPERATORS = ShapeOperators(
    readers=frozenset({"Shape", "Size"}),
    arithmetic=frozenset(_ARITHMETIC.split()),
    operands=_OPERANDS,
)
