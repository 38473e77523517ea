"""For each demand on shapes a use that breaks it, and one that only nearly does.

A case is a rule, the operator set, inputs, stored constants, the node, and how it is made right: a
text that is put in the place of another one.
"""

from __future__ import annotations

from typing import NamedTuple

import onnx
import onnx.parser
import onnx.shape_inference
from onnx import helper


class ShapeCase(NamedTuple):
    """A node that breaks a demand, and what makes it right.

    Parameters
    ----------
    rule
        The id that it has to be found by.
    opset
        The operator set.
    inputs
        Types and names as the text form of ONNX has them; ``|`` and initializers after them.
    node
        The right side of the node, which gives ``y`` and, where there is more, what stands
        before a ``:``.
    wrong, right
        What is wrong in one of both, and what it is replaced by.
    """

    rule: str
    opset: int
    inputs: str
    node: str
    wrong: str
    right: str

    @property
    def op_type(self) -> str:
        """The operator."""
        return self.node.split(":")[-1].replace("<", "(").split("(")[0].strip().split(".")[-1]

    def make(self, *, is_right: bool = False) -> onnx.ModelProto:
        """Return the model."""
        inputs, _, stored = self.inputs.partition("|")
        outputs, _, node = self.node.rpartition(":")
        names = outputs or "y"
        types = ", ".join(f"float {name.strip()}" for name in names.split(","))
        body = f"{{ {names} = {node} }}"
        text = f'<ir_version: 10, opset_import: ["": {self.opset}, "com.microsoft": 1]>\n'
        text += f"g ({inputs}) => ({types}) <{stored}> {body}"
        if is_right:
            assert self.wrong in text, self
            text = text.replace(self.wrong, self.right, 1)
        model = onnx.parser.parse_model(text)
        if is_right:
            return _state_results(model)
        right = self.make(is_right=True)
        for value, known in zip(model.graph.output, right.graph.output, strict=True):
            value.CopyFrom(known)
            for axis, dim in enumerate(value.type.tensor_type.shape.dim):
                dim.dim_param = f"{value.name}{axis}"
        return model

    def __str__(self) -> str:
        return f"{self.rule}-{self.op_type}-{self.opset}-{self.wrong}".replace(" ", "")


def _state_results(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a model with the types of its outputs as onnx infers them."""
    for value in model.graph.output:
        value.ClearField("type")
    model = onnx.shape_inference.infer_shapes(model, data_prop=True)
    rank = len(model.graph.input[0].type.tensor_type.shape.dim)
    for value in model.graph.output:
        if not value.type.ByteSize():  # onnx does not know the operator, or infers nothing
            names = [f"{value.name}{axis}" for axis in range(rank)]
            value.CopyFrom(helper.make_tensor_value_info(value.name, onnx.TensorProto.FLOAT, names))
    return model


_X = "float[2,3,8,8] x"
_GRAMS = (
    'mode="TF", min_gram_length=1, max_gram_length=1, max_skip_count=0, ngram_counts=[0], '
    "ngram_indexes=[0, 1], pool_int64s=[2, 3]"
)
_POOLED = "kernel_shape=[2, 2], strides=[2, 2]"
_BINARY = (
    "Add",
    "Sub",
    "Mul",
    "Div",
    "Mod",
    "Min",
    "Max",
    "Sum",
    "Mean",
    "Less",
    "Greater",
    "Equal",
    "LessOrEqual",
    "GreaterOrEqual",
    "Pow",
)


def _list_cases() -> list[ShapeCase]:
    case = ShapeCase
    found = [
        case("NL-T10", 21, "float[2,4] x, float[3,4] w", f"{op}(x, w)", "[3,4]", "[1,4]")
        for op in _BINARY
    ]
    found += [
        case("NL-T10", 21, "bool[2,4] x, bool[3] w", f"{op}(x, w)", "bool[3]", "bool[4]")
        for op in ("And", "Or", "Xor")
    ]
    found += [
        case("NL-T10", 21, "int32[2,4] x, int32[3] w", f"{op}(x, w)", "int32[3]", "int32[4]")
        for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor")
    ]
    found += [
        case(
            "NL-T10",
            21,
            "uint8[2,4] x, uint8[3] w",
            'BitShift<direction="LEFT">(x, w)',
            "uint8[3]",
            "uint8[4]",
        ),
        case(
            "NL-T10",
            21,
            "bool[2] c, float[2] x, float[3] w",
            "Where(c, x, w)",
            "float[3]",
            "float[1]",
        ),
        case("NL-T10", 21, "float[2,4] x, float[3,4] w", "PRelu(x, w)", "[3,4]", "[2,4]"),
        case("NL-T10", 21, "float[2,4] x, float[2,2,4] w", "PRelu(x, w)", "[2,2,4]", "[1,4]"),
        case("NL-T10", 21, "float[2,4] x | int64[2] s = {3,4}", "Expand(x, s)", "{3,4}", "{2,1}"),
        case(
            "NL-T10",
            6,
            "float[2,4] x, float[4] w",
            "Add(x, w)",
            "Add(x, w)",
            "Add<broadcast=1>(x, w)",
        ),
        case(
            "NL-T10",
            6,
            "float[2,4] x, float[2] w",
            "Add<broadcast=1,axis=1>(x, w)",
            "axis=1",
            "axis=0",
        ),
        # products
        case("NL-T11", 21, "float[2,4] x, float[5,6] w", "MatMul(x, w)", "[5,6]", "[4,6]"),
        case("NL-T11", 21, "float[2,3,4] x, float[3,4,6] w", "MatMul(x, w)", "[3,4,6]", "[1,4,6]"),
        case("NL-T11", 21, "float[4] x, float w", "MatMul(x, w)", "float w", "float[4] w"),
        case("NL-T11", 21, "uint8[2,4] x, uint8[5,6] w", "MatMulInteger(x, w)", "[5,6]", "[4,6]"),
        case(
            "NL-T11",
            21,
            "uint8[2,4] x, float s, uint8 z, uint8[5,6] w",
            "QLinearMatMul(x, s, z, w, s, z, s, z)",
            "[5,6]",
            "[4,6]",
        ),
        case("NL-T11", 21, "float[2,4] x, float[6,4] w", "Gemm(x, w)", "Gemm(", "Gemm<transB=1>("),
        case("NL-T11", 21, "float[2,3,4] x, float[4,6] w", "Gemm(x, w)", "[2,3,4]", "[2,4]"),
        case("NL-T11", 21, "float[2,4] x, float[4,6] w, float[5] b", "Gemm(x, w, b)", "[5]", "[6]"),
        case(
            "NL-T11",
            21,
            "float[2,4] x, float[4,6] w, float[1,2,6] b",
            "Gemm(x, w, b)",
            "[1,2,6]",
            "[2,6]",
        ),
        case(
            "NL-T11",
            21,
            "float[2,4] x, float[5,6] w",
            'Einsum<equation="ij,jk->ik">(x, w)',
            "[5,6]",
            "[4,6]",
        ),
        case(
            "NL-T11",
            21,
            "float[2,4] x, float[4,6] w",
            'Einsum<equation="ij,jk,kl->il">(x, w)',
            "ij,jk,kl->il",
            "ij,jk->ik",
        ),
        case(
            "NL-T11",
            21,
            "float[2,4] x, float[4,6] w",
            'Einsum<equation="ijm,jk->ik">(x, w)',
            "ijm",
            "ij",
        ),
        case(
            "NL-T11",
            21,
            "float[5,2,4] x, float[1,24,3] w, float[1,24,6] r",
            "LSTM<hidden_size=6>(x, w, r)",
            "[1,24,3]",
            "[1,24,4]",
        ),
        case(
            "NL-T11",
            21,
            "float[5,2,4] x, float[1,18,4] w, float[1,18,5] r",
            "GRU<hidden_size=6>(x, w, r)",
            "[1,18,5]",
            "[1,18,6]",
        ),
        case(
            "NL-T11",
            21,
            "float[5,2,4] x, float[1,6,4] w, float[1,6,6] r, float[1,6] b",
            "RNN<hidden_size=6>(x, w, r, b)",
            "float[1,6] b",
            "float[1,12] b",
        ),
        case(
            "NL-T11",
            21,
            "float[2,4] x, float[1,6,4] w, float[1,6,6] r",
            "RNN<hidden_size=6>(x, w, r)",
            "float[2,4] x",
            "float[5,2,4] x",
        ),
        case(
            "NL-T11",
            23,
            "float[1,2,5,4] q, float[1,2,7,3] k, float[1,2,7,4] v",
            "Attention(q, k, v)",
            "[1,2,7,3]",
            "[1,2,7,4]",
        ),
        case(
            "NL-T11",
            23,
            "float[1,5,9] q, float[1,7,8] k, float[1,7,8] v",
            "Attention<q_num_heads=2,kv_num_heads=2>(q, k, v)",
            "[1,5,9]",
            "[1,5,8]",
        ),
        case(
            "NL-T11",
            23,
            "float[1,2,5,4] q, float[1,2,7,4] k, float[1,2,6,4] v",
            "Attention(q, k, v)",
            "[1,2,6,4]",
            "[1,2,7,4]",
        ),
        case(
            "NL-T11",
            21,
            "float[2,4] x, float[6,5] w",
            "com.microsoft.FusedMatMul<transB=1>(x, w)",
            "[6,5]",
            "[6,4]",
        ),
        case(
            "NL-T11",
            21,
            "float[2,4] x, uint8[5,6] w, float s",
            "com.microsoft.DynamicQuantizeMatMul(x, w, s)",
            "[5,6] w",
            "[4,6] w",
        ),
        case(
            "NL-T11",
            21,
            "uint8[2,4] x, uint8[5,6] w, float s",
            "com.microsoft.MatMulIntegerToFloat(x, w, s, s)",
            "[5,6]",
            "[4,6]",
        ),
        case(
            "NL-T11",
            21,
            "float[2,32] x, uint8[8,1,16] w, float[8] s",
            "com.microsoft.MatMulNBits<K=64,N=8,bits=4,block_size=32>(x, w, s)",
            "K=64",
            "K=32",
        ),
        # joined
        case(
            "NL-T12", 21, "float[2,4] x, float[2,5] w", "Concat<axis=0>(x, w)", "axis=0", "axis=1"
        ),
        case(
            "NL-T12", 21, "float[2,4] x, float[2,4,1] w", "Concat<axis=0>(x, w)", "[2,4,1]", "[3,4]"
        ),
        # channels
        case(
            "NL-T13",
            15,
            f"{_X}, float[4] s",
            "BatchNormalization(x, s, s, s, s)",
            "float[4]",
            "float[3]",
        ),
        case(
            "NL-T13",
            21,
            f"{_X}, float[3,1] s",
            "InstanceNormalization(x, s, s)",
            "float[3,1]",
            "float[3]",
        ),
        case(
            "NL-T13",
            21,
            "float[2,6,8] x, float[3] s",
            "GroupNormalization<num_groups=3>(x, s, s)",
            "float[3]",
            "float[6]",
        ),
        case(
            "NL-T13",
            21,
            "float[2,6,8] x, float[6] s",
            "GroupNormalization<num_groups=4>(x, s, s)",
            "=4",
            "=3",
        ),
        case(
            "NL-T13",
            21,
            "float[2,3,8] x, float[3] s",
            "LayerNormalization(x, s)",
            "float[3]",
            "float[8]",
        ),
        case(
            "NL-T13",
            23,
            "float[2,3,8] x, float[3] s",
            "RMSNormalization(x, s)",
            "float[3]",
            "float[8]",
        ),
        # kernels
        case("NL-T14", 21, f"{_X}, float[4,2,3,3] w", "Conv(x, w)", "[4,2,3,3]", "[4,3,3,3]"),
        case(
            "NL-T14",
            21,
            "float[2,4,8,8] x, float[4,4,3,3] w",
            "Conv<group=2>(x, w)",
            "[4,4,3,3]",
            "[4,2,3,3]",
        ),
        case("NL-T14", 21, f"{_X}, float[4,3,3,3] w", "Conv<strides=[2]>(x, w)", "[2]", "[2,2]"),
        case(
            "NL-T14", 21, f"{_X}, float[4,3,3,3] w", "Conv<pads=[1,1]>(x, w)", "[1,1]", "[1,1,1,1]"
        ),
        case(
            "NL-T14",
            21,
            f"{_X}, float[4,3,3,3] w",
            "Conv<kernel_shape=[3,5]>(x, w)",
            "[3,5]",
            "[3,3]",
        ),
        case(
            "NL-T14", 21, f"{_X}, float[4,3,3,3] w", "Conv<dilations=[0,1]>(x, w)", "[0,1]", "[2,1]"
        ),
        case("NL-T14", 21, f"{_X}, float[4,3,3] w", "Conv(x, w)", "[4,3,3] w", "[4,3,3,3] w"),
        case("NL-T14", 21, f"{_X}, float[4,3,3,3] w", "Conv<pads=[-1,0,0,0]>(x, w)", "[-1", "[1"),
        case(
            "NL-T14",
            21,
            f"{_X}, float[3,6,3,3] w",
            "ConvTranspose<output_shape=[10]>(x, w)",
            "[10]",
            "[10,10]",
        ),
        case(
            "NL-T14",
            21,
            f"{_X}, float[3,6,3,3] w",
            "ConvTranspose<output_shape=[0,10]>(x, w)",
            "[0,",
            "[10,",
        ),
        case(
            "NL-T14",
            21,
            f"{_X}, float[3,6,3,3] w",
            "ConvTranspose<strides=[2,2],output_padding=[-1,0]>(x, w)",
            "[-1,0]",
            "[1,0]",
        ),
        case(
            "NL-T14",
            21,
            f"{_X}, float[4,3,3,3] w, float[2,18,6,6] o",
            "DeformConv<strides=[0,1]>(x, w, o)",
            "[0,1]",
            "[1,1]",
        ),
        case(
            "NL-T14",
            21,
            f"{_X}, float[4,3,3,3] w, float[2,18,6,6] o",
            "DeformConv<pads=[0,0]>(x, w, o)",
            "[0,0]",
            "[0,0,0,0]",
        ),
        case(
            "NL-T14",
            21,
            "float[1,9,4] x | int64[2] i = {4,4}, int64[2] b = {3,3}",
            "Col2Im<strides=[1,1],pads=[0,0],dilations=[1,1]>(x, i, b)",
            "pads=[0,0]",
            "pads=[0,0,0,0]",
        ),
        case(
            "NL-T14",
            21,
            "float[1,1,2,2] x, int64[1,1,2,2] i",
            "MaxUnpool<kernel_shape=[2,2],strides=[2,2],pads=[2,0,0,0]>(x, i)",
            "pads=[2,",
            "pads=[0,",
        ),
        case(
            "NL-T14",
            21,
            "uint8[1,8,8,3] x",
            "com.microsoft.NhwcMaxPool<kernel_shape=[2,2],strides=[0,1]>(x)",
            "[0,1]",
            "[1,1]",
        ),
        case(
            "NL-T14",
            21,
            "float[1,3,8,8] x, int32[1,3,8,8] m",
            "com.microsoft.MaxpoolWithMask<kernel_shape=[2,2],strides=[0,1]>(x, m)",
            "[0,1]",
            "[1,1]",
        ),
        case(
            "NL-T14",
            21,
            "uint8[1,3,8,8] x, float s, uint8 z",
            "com.microsoft.QLinearAveragePool<kernel_shape=[2,2],strides=[0,1]>(x, s, z, s, z)",
            "[0,1]",
            "[1,1]",
        ),
        case(
            "NL-T14",
            21,
            "float[1,8,8,3] x, float[4,3,3,3] w",
            "com.microsoft.NhwcConv<strides=[0,1]>(x, w)",
            "[0,1]",
            "[1,1]",
        ),
        case(
            "NL-T14",
            21,
            "float[1,8,8,3] x, float[4,3,3,3] w",
            "com.microsoft.NhwcFusedConv<strides=[0,1]>(x, w)",
            "[0,1]",
            "[1,1]",
        ),
        case(
            "NL-T14",
            21,
            "float[1,3,8,8] x, float[3,4,3,3] w",
            "com.microsoft.ConvTransposeWithDynamicPads<strides=[0,1]>(x, w)",
            "[0,1]",
            "[1,1]",
        ),
        case(
            "NL-T14",
            21,
            f"{_X}, float[4,3,3,3] w",
            "com.microsoft.FusedConv<dilations=[1]>(x, w)",
            "[1]",
            "[1,1]",
        ),
        case(
            "NL-T14",
            21,
            _X,
            'MaxPool<kernel_shape=[2,2],auto_pad="SAME_UPPER",pads=[2,0,0,0]>(x)',
            "pads=[2,",
            "pads=[0,",
        ),
        case(
            "NL-T15",
            21,
            f"{_X} | int64[2] s = {{4,4}}",
            "CenterCropPad<axes=[2,4]>(x, s)",
            "4]>",
            "3]>",
        ),
        case(
            "NL-T15",
            21,
            f"{_X} | int64[2] s = {{4,4}}",
            "CenterCropPad<axes=[2]>(x, s)",
            "2]>",
            "2,3]>",
        ),
        case(
            "NL-T15",
            21,
            f"{_X} | float[2] s = {{2.0,2.0}}",
            "Resize<axes=[2,2]>(x, , s)",
            "2]>",
            "3]>",
        ),
        case("NL-T15", 19, "float[1,8,8,2] x", "DFT<axis=3>(x)", "3", "2"),
        case(
            "NL-T15",
            24,
            "float[2,3,8,8] x, float[2,3,1,8] u",
            "TensorScatter<axis=-4>(x, u)",
            "-4",
            "-2",
        ),
        case(
            "NL-T15",
            21,
            "float[8,4] x, float[3,4] s",
            "QuantizeLinear<axis=0,block_size=4>(x, s)",
            "[3,4]",
            "[2,4]",
        ),
        case(
            "NL-T15",
            21,
            "int8[8,4] x, float[2,3] s",
            "DequantizeLinear<axis=0,block_size=4>(x, s)",
            "[2,3]",
            "[2,4]",
        ),
        case(
            "NL-T15",
            21,
            "int8[8,4] x, float[2] s",
            "DequantizeLinear<axis=0,block_size=4>(x, s)",
            "[2]",
            "[2,4]",
        ),
        case(
            "NL-T14",
            21,
            "float[2,3] x, float[4,3] w",
            "Conv(x, w)",
            "float[2,3] x, float[4,3] w",
            "float[2,3,5] x, float[4,3,3] w",
        ),
        case(
            "NL-T14",
            21,
            f"{_X}, float[4,3,3,3] w, float[5] b",
            "Conv(x, w, b)",
            "float[5]",
            "float[4]",
        ),
        case("NL-T21", 21, "float[2,3,8,2] x, float[4,3,3,3] w", "Conv(x, w)", "8,2]", "8,3]"),
        case(
            "NL-T14", 21, f"{_X}, float[4,6,3,3] w", "ConvTranspose(x, w)", "[4,6,3,3]", "[3,6,3,3]"
        ),
        case(
            "NL-T14",
            21,
            f"{_X}, float[3,2,3,3] w, float[3] b",
            "ConvTranspose(x, w, b)",
            "float[3] b",
            "float[2] b",
        ),
        case(
            "NL-T14",
            21,
            "uint8[2,3,8,8] x, uint8[4,2,3,3] w",
            "ConvInteger(x, w)",
            "[4,2,3,3]",
            "[4,3,3,3]",
        ),
        case(
            "NL-T14",
            21,
            "uint8[2,3,8,8] x, float s, uint8 z, uint8[4,2,3,3] w",
            "QLinearConv(x, s, z, w, s, z, s, z)",
            "[4,2,3,3]",
            "[4,3,3,3]",
        ),
        case(
            "NL-T14",
            21,
            f"{_X}, float[4,2,3,3] w",
            "com.microsoft.FusedConv(x, w)",
            "[4,2,3,3]",
            "[4,3,3,3]",
        ),
        case("NL-T14", 21, _X, "MaxPool<kernel_shape=[2]>(x)", "[2]", "[2,2]"),
        case("NL-T14", 21, _X, "AveragePool<kernel_shape=[2,2],pads=[2,0,0,0]>(x)", "[2,0", "[1,0"),
        case("NL-T21", 21, _X, "LpPool<kernel_shape=[9,2]>(x)", "[9,2]", "[8,2]"),
        case("NL-T14", 21, "float[2,3] x", "MaxPool<kernel_shape=[2]>(x)", "[2,3]", "[2,3,4]"),
        case(
            "NL-T14",
            21,
            "float[1,1,4,4] x, int64[1,1,4,4] i",
            "MaxUnpool<kernel_shape=[2,2],strides=[2]>(x, i)",
            "[2]>",
            "[2,2]>",
        ),
        # axes
        case("NL-T15", 21, "float[2,4] x", "Softmax<axis=2>(x)", "=2", "=1"),
        case("NL-T15", 21, "float[2,4] x", "LogSoftmax<axis=-3>(x)", "=-3", "=-2"),
        case("NL-T15", 21, "float[2,4] x", "Hardmax<axis=2>(x)", "=2", "=1"),
        case("NL-T15", 21, "float[2,4] x", "Concat<axis=2>(x, x)", "=2", "=1"),
        case("NL-T15", 21, "float[2,4] x", "ArgMax<axis=2>(x)", "=2", "=1"),
        case("NL-T15", 21, "float[2,4] x", "ArgMin<axis=-3>(x)", "=-3", "=-2"),
        case(
            "NL-T15", 21, "float[2,4] x, float[4] s", "LayerNormalization<axis=2>(x, s)", "=2", "=1"
        ),
        case(
            "NL-T15", 23, "float[2,4] x, float[4] s", "RMSNormalization<axis=2>(x, s)", "=2", "=1"
        ),
        case("NL-T15", 21, "float[2,4] x", "LpNormalization<axis=2>(x)", "=2", "=1"),
        case("NL-T15", 21, "float[2,4] x, bool[2] c", "Compress<axis=2>(x, c)", "=2", "=1"),
        case("NL-T15", 21, "float[2,4] x", "Unique<axis=2>(x)", "=2", "=1"),
        case("NL-T15", 21, "float[2,4] x", "SplitToSequence<axis=2>(x)", "=2", "=1"),
        case("NL-T15", 21, "float[2,4] x", "Flatten<axis=3>(x)", "=3", "=2"),
        case(
            "NL-T15",
            21,
            "int64[2,4] x | int64 d = {5}, float[2] v = {0.0,1.0}",
            "OneHot<axis=3>(x, d, v)",
            "=3",
            "=2",
        ),
        case("NL-T15", 21, "float[2,4] x", "Transpose<perm=[0,0]>(x)", "[0,0]", "[1,0]"),
        case("NL-T15", 21, "float[2,4] x", "Transpose<perm=[0,2,1]>(x)", "[0,2,1]", "[1,0]"),
        case("NL-T15", 21, "float[2,1] x | int64[1] a = {0}", "Squeeze(x, a)", "{0}", "{1}"),
        case("NL-T15", 21, "float[2,1] x | int64[1] a = {2}", "Squeeze(x, a)", "{2}", "{-1}"),
        case(
            "NL-T15", 21, "float[2,4] x | int64[2] a = {0,0}", "Unsqueeze(x, a)", "{0,0}", "{0,3}"
        ),
        case("NL-T15", 11, "float[2,4] x", "Unsqueeze<axes=[3]>(x)", "[3]", "[2]"),
        *(
            case("NL-T15", 21, "float[2,4] x | int64[1] a = {2}", f"{op}(x, a)", "{2}", "{1}")
            for op in (
                "ReduceL1",
                "ReduceL2",
                "ReduceLogSum",
                "ReduceLogSumExp",
                "ReduceMax",
                "ReduceMean",
                "ReduceMin",
                "ReduceProd",
                "ReduceSum",
                "ReduceSumSquare",
            )
        ),
        case("NL-T15", 11, "float[2,4] x", "ReduceMean<axes=[2]>(x)", "[2]", "[1]"),
        case("NL-T15", 21, "float[2,4] x", "MeanVarianceNormalization<axes=[2]>(x)", "[2]", "[1]"),
        case(
            "NL-T15",
            21,
            "float[2,4] x | int64[1] s = {0}, int64[1] e = {1}, int64[1] a = {2}",
            "Slice(x, s, e, a)",
            "{2}",
            "{1}",
        ),
        case(
            "NL-T15",
            21,
            "float[2,4] x | int64[1] s = {0}, int64[2] e = {1,1}",
            "Slice(x, s, e)",
            "int64[2] e = {1,1}",
            "int64[1] e = {1}",
        ),
        case(
            "NL-T15",
            21,
            "float[2,4] x | int64[1] s = {0}, int64[1] e = {1}, int64[1] t = {0}",
            "Slice(x, s, e, s, t)",
            "t = {0}",
            "t = {1}",
        ),
        case(
            "NL-T15",
            9,
            "float[2,4] x",
            "Slice<starts=[0,0,0],ends=[1,1,1]>(x)",
            "[0,0,0],ends=[1,1,1]",
            "[0,0],ends=[1,1]",
        ),
        case("NL-T15", 21, "float[2,4] x | int64 a = {2}", "CumSum(x, a)", "{2}", "{1}"),
        case(
            "NL-T15",
            21,
            "float[2,4] x, int64[2] n",
            "ReverseSequence<batch_axis=0,time_axis=0>(x, n)",
            "time_axis=0",
            "time_axis=1",
        ),
        case(
            "NL-T15", 21, "float[2,4] x, float[3] s", "QuantizeLinear(x, s)", "float[3]", "float[4]"
        ),
        case(
            "NL-T15",
            21,
            "int8[2,4] x, float[2] s, int8[4] z",
            "DequantizeLinear<axis=0>(x, s, z)",
            "int8[4]",
            "int8[2]",
        ),
        # parts
        case(
            "NL-T16",
            21,
            "float[2,6] x | int64[2] s = {3,4}",
            "a, b: Split<axis=1>(x, s)",
            "{3,4}",
            "{2,4}",
        ),
        case(
            "NL-T16",
            21,
            "float[2,6] x | int64[3] s = {2,2,2}",
            "a, b: Split<axis=1>(x, s)",
            "int64[3] s = {2,2,2}",
            "int64[2] s = {2,4}",
        ),
        case("NL-T16", 13, "float[2,5] x", "a, b: Split<axis=1>(x)", "[2,5]", "[2,6]"),
        case("NL-T16", 21, "float[2,5] x", "a, b: Split<axis=1,num_outputs=3>(x)", "=3", "=2"),
        case(
            "NL-T16", 21, "float[2,5] x", "a, b: Split<axis=2,num_outputs=2>(x)", "axis=2", "axis=1"
        ),
        case(
            "NL-T16",
            21,
            "float[2,6] x",
            "a, b: Split<axis=1>(x)",
            "<axis=1>",
            "<axis=1,num_outputs=2>",
        ),
        case(
            "NL-T16",
            21,
            "float[2,6] x | int64[2] s = {2,4}",
            "a, b: Split<axis=1,num_outputs=2>(x, s)",
            ",num_outputs=2",
            "",
        ),
        case("NL-T16", 21, "float[2,5] x | int64[1] k = {6}", "v, i: TopK(x, k)", "{6}", "{5}"),
        case(
            "NL-T16",
            21,
            "float[2,5] x | int64[1] k = {3}",
            "v, i: TopK<axis=0>(x, k)",
            "axis=0",
            "axis=1",
        ),
        # indices
        case("NL-T17", 21, "float[3,5] x | int64[2] i = {0,3}", "Gather(x, i)", "{0,3}", "{0,-3}"),
        case(
            "NL-T17", 21, "float[3,5] x | int64 i = {4}", "Gather<axis=2>(x, i)", "axis=2", "axis=1"
        ),
        case("NL-T17", 21, "float x | int64 i = {0}", "Gather(x, i)", "float x", "float[1] x"),
        case(
            "NL-T17",
            21,
            "float[3,5] x | int64[2,1] i = {0,5}",
            "GatherElements<axis=1>(x, i)",
            "{0,5}",
            "{0,4}",
        ),
        case(
            "NL-T17",
            21,
            "float[3,5] x, int64[2] i",
            "GatherElements(x, i)",
            "int64[2] i",
            "int64[2,1] i",
        ),
        case(
            "NL-T17",
            21,
            "float[3,5] x, float[1,2] u | int64[1,2] i = {0,5}",
            "ScatterElements<axis=1>(x, i, u)",
            "{0,5}",
            "{0,4}",
        ),
        case(
            "NL-T17",
            21,
            "float[3,5] x, int64[1,2] i, float[1,3] u",
            "ScatterElements(x, i, u)",
            "[1,3]",
            "[1,2]",
        ),
        case(
            "NL-T17",
            10,
            "float[3,5] x, int64[1,2] i, float[1,3] u",
            "Scatter(x, i, u)",
            "[1,3]",
            "[1,2]",
        ),
        case("NL-T17", 21, "float[3,5] x, int64[4,3] i", "GatherND(x, i)", "[4,3]", "[4,2]"),
        case(
            "NL-T17",
            21,
            "float[3,5] x, int64[4,1] i, float[4,3] u",
            "ScatterND(x, i, u)",
            "float[4,3]",
            "float[4,5]",
        ),
        # shapes
        case("NL-T18", 21, "float[2,4] x | int64[2] s = {3,3}", "Reshape(x, s)", "{3,3}", "{4,2}"),
        case(
            "NL-T18", 21, "float[2,4] x | int64[2] s = {3,-1}", "Reshape(x, s)", "{3,-1}", "{4,-1}"
        ),
        case(
            "NL-T18",
            21,
            "float[2,4] x | int64[2] s = {-1,-1}",
            "Reshape(x, s)",
            "{-1,-1}",
            "{-1,2}",
        ),
        case(
            "NL-T18",
            21,
            "float[2,4] x | int64[3] s = {2,4,0}",
            "Reshape(x, s)",
            "{2,4,0}",
            "{2,0,1}",
        ),
        case(
            "NL-T18", 21, "float[2,4] x | int64[2] s = {-2,2}", "Reshape(x, s)", "{-2,2}", "{-1,2}"
        ),
        case("NL-T18", 21, "float[2,4] x, int64[2,1] s", "Reshape(x, s)", "int64[2,1]", "int64[2]"),
        case("NL-T18", 21, "float[2,4] x, int64[3] n", "Tile(x, n)", "int64[3]", "int64[2]"),
        case(
            "NL-T18",
            21,
            "float[2,4] x | int64[2] p = {1,1}",
            "Pad(x, p)",
            "int64[2] p = {1,1}",
            "int64[4] p = {1,1,1,1}",
        ),
        case("NL-T18", 10, "float[2,4] x", "Pad<pads=[1,1]>(x)", "[1,1]", "[1,1,1,1]"),
        case(
            "NL-T18",
            21,
            f"{_X} | float[3] s = {{1,1,2}}",
            'Resize(x, "", s)',
            "float[3] s = {1,1,2}",
            "float[4] s = {1,1,2,2}",
        ),
        case(
            "NL-T18",
            21,
            f"{_X} | float[4] s = {{1,1,2,2}}, int64[4] n = {{2,3,16,16}}",
            'Resize(x, "", s, n)',
            ", s, n)",
            ', "", n)',
        ),
        case(
            "NL-T18",
            9,
            f"{_X} | float[3] s = {{1,1,2}}",
            "Upsample(x, s)",
            "float[3] s = {1,1,2}",
            "float[4] s = {1,1,2,2}",
        ),
        case("NL-T18", 21, "float[2,6,8,8] x", "DepthToSpace<blocksize=2>(x)", "[2,6,", "[2,8,"),
        case("NL-T18", 21, "float[2,6,8,9] x", "SpaceToDepth<blocksize=2>(x)", "8,9]", "8,8]"),
        case(
            "NL-T18", 21, "float[2,8,8] x", "DepthToSpace<blocksize=2>(x)", "[2,8,8]", "[2,8,8,1]"
        ),
        # ranks
        case("NL-T19", 21, "int64[2] a, int64 b", "Range(a, b, b)", "int64[2] a", "int64 a"),
        case("NL-T19", 21, "int64[2,1] s", "ConstantOfShape(s)", "int64[2,1]", "int64[2]"),
        case(
            "NL-T19", 21, "float z | int64[2] s = {2,-1}", "ConstantOfShape(s)", "{2,-1}", "{2,1}"
        ),
        case(
            "NL-T19",
            21,
            "float[1,6,4] b, float[6,2] s",
            "NonMaxSuppression(b, s)",
            "[6,2]",
            "[1,2,6]",
        ),
        case(
            "NL-T19",
            21,
            "float[1,6,5] b, float[1,2,6] s",
            "NonMaxSuppression(b, s)",
            "[1,6,5]",
            "[1,6,4]",
        ),
        case(
            "NL-T19",
            21,
            f"{_X}, float[5,4] r, int64[5,1] b",
            "RoiAlign(x, r, b)",
            "int64[5,1]",
            "int64[5]",
        ),
        case("NL-T19", 21, "float[4] x", "Multinomial(x)", "float[4]", "float[1,4]"),
        case("NL-T19", 21, "float[4] x", "EyeLike(x)", "float[4]", "float[4,4]"),
        case("NL-T19", 21, "float[4] x", "Det(x)", "float[4]", "float[4,4]"),
        case("NL-T19", 21, "float[4,3] x", "Det(x)", "float[4,3]", "float[3,3]"),
        case("NL-T19", 21, "float[4] x", "Trilu(x)", "float[4]", "float[4,4]"),
        case("NL-T19", 21, "float[2,4] x, bool[2,1] c", "Compress(x, c)", "bool[2,1]", "bool[2]"),
        case("NL-T19", 21, f"{_X}, float[2,4,4,3] g", "GridSample(x, g)", "4,3]", "4,2]"),
        case("NL-T19", 21, f"{_X}, float[2,4,2] g", "GridSample(x, g)", "[2,4,2]", "[2,4,4,2]"),
        case("NL-T19", 21, "float[4] x", "GlobalAveragePool(x)", "float[4]", "float[1,4,2]"),
        case("NL-T19", 21, "float[4] x", "GlobalMaxPool(x)", "float[4]", "float[1,4,2]"),
        case("NL-T19", 21, "float[4] x", "LRN<size=3>(x)", "float[4]", "float[1,4,2,2]"),
        case("NL-T19", 21, "string[2,4] x", "StringNormalizer(x)", "[2,4]", "[1,4]"),
        case("NL-T19", 21, "string[1,2,4] x", "StringNormalizer(x)", "[1,2,4]", "[4]"),
        *_list_more_ranks(case),
    ]
    return found


def _list_more_ranks(case: type[ShapeCase]) -> list[ShapeCase]:
    rows = [
        (21, "float[2] x, int64 k", "v, y : TopK(x, k)", "int64 k", "int64[1] k"),
        (
            21,
            "float[3] x | int64[2] k = {1,1}",
            "v, y : TopK(x, k)",
            "[2] k = {1,1}",
            "[1] k = {1}",
        ),
        (21, "int64[2] s", "ConstantOfShape<value=float {3.0}>(s)", "float {", "float[1] {"),
        (
            21,
            "int64[2] s",
            "ConstantOfShape<value=float[2] {3.0,1.0}>(s)",
            "[2] {3.0,1.0}",
            "[1] {1.0}",
        ),
        (21, "float[3] x, int64[1,2] s", "Expand(x, s)", "int64[1,2]", "int64[2]"),
        (
            21,
            "float[1,8,25] x, int64[1] a, int64[2] b",
            "Col2Im(x, a, b)",
            "int64[1] a",
            "int64[2] a",
        ),
        (21, "float[1,8,25,1] x, int64[2] a, int64[2] b", "Col2Im(x, a, b)", "25,1]", "25]"),
        (21, "int64[2] i, int64[2] d, float[2] v", "OneHot(i, d, v)", "int64[2] d", "int64[1] d"),
        (21, "int64[2] i, int64 d, float[3] v", "OneHot(i, d, v)", "float[3]", "float[2]"),
        (21, "int64[2] i, int64 d, float v", "OneHot(i, d, v)", "float v", "float[2] v"),
        (21, "float[4,3] x, int64[3,1] n", "ReverseSequence(x, n)", "int64[3,1]", "int64[3]"),
        (21, "int64[2,2,2] x", f"TfIdfVectorizer<{_GRAMS}>(x)", "[2,2,2]", "[2,2]"),
        (21, "float[2,2,3] t, int64[1,4] s", "AffineGrid(t, s)", "int64[1,4]", "int64[4]"),
        (
            21,
            f"{_X}, float[5,4] r, int64[4] b",
            "RoiAlign(x, r, b)",
            "int64[4]",
            "int64[5]",
        ),
        (21, f"{_X}, float[5,3] r, int64[5] b", "RoiAlign(x, r, b)", "[5,3]", "[5,4]"),
        (21, f"{_X}, float[3,4,4,2] g", "GridSample(x, g)", "[3,4,4,2]", "[2,4,4,2]"),
        (
            21,
            "float[1,1,2,2] x, int64[1,1,2,2] i, int64[3] s",
            f"MaxUnpool<{_POOLED}>(x, i, s)",
            "int64[3]",
            "int64[4]",
        ),
        (
            21,
            "float[1,4] x, float[1,1,2,2] w, float[1,8,1,3] o",
            "DeformConv(x, w, o)",
            "float[1,4] x",
            "float[1,1,2,4] x",
        ),
        (21, "float[5] x, int64 s, float[3] w", "STFT(x, s, w)", "float[5]", "float[1,5]"),
        (
            23,
            "float[2,4] x, float[2,9,2] c, float[2,9,2] s",
            "RotaryEmbedding(x, c, s)",
            "[2,4]",
            "[2,1,9,4]",
        ),
        (
            24,
            "float[2,5,4] c, float[2,1,4] u, int64[2,1] i",
            "TensorScatter(c, u, i)",
            "int64[2,1]",
            "int64[2]",
        ),
        (
            21,
            "float[2,3] x, int64[2,1] t",
            "NegativeLogLikelihoodLoss(x, t)",
            "int64[2,1]",
            "int64[2]",
        ),
        (21, "float[2,3] x, int64[3] t", "SoftmaxCrossEntropyLoss(x, t)", "int64[3]", "int64[2]"),
        (
            27,
            "float[1,3] x, float[3,1,2] w",
            "y, p : CausalConvWithState(x, w)",
            "float[1,3] x",
            "float[1,3,4] x",
        ),
        (21, "uint8[2,3] x", "ImageDecoder(x)", "[2,3]", "[2]"),
    ]
    return [case("NL-T19", *row) for row in rows]


CASES = _list_cases()
