"""One subject a model: types, control flow, functions, denotations; some in every text form."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
import onnx.printer
from google.protobuf import json_format, text_format
from onnx import TensorProto, helper, numpy_helper

from tests.cases.models import make_model, node, parse, relu, value

_KINDS = tuple(kind for kind in TensorProto.DataType.values() if kind != TensorProto.UNDEFINED)

_CONTROL_FLOW = """
main (int64 trip, bool keep, float[4] start, float[T, 4] X) => (float[4] out, float[n, 4] all)
<float[4, 4] W = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}>
{
    ["/loop/Loop"] last, all = Loop (trip, keep, start) <body: graph = loop_body
        (int64 i, bool c, float[4] v) => (bool c_out, float[4] v_out, float[4] row)
        <int64 two = {2}, int64 three = {3}>
    {
        ["/loop/body/Mod"] rest = Mod (i, two)
        ["/loop/body/Cast"] odd = Cast <to: int = 9> (rest)
        ["/loop/body/If"] v_out = If (odd) <
            then_branch: graph = then () => (float[4] scanned) {
                ["/loop/then/Scan"] scanned, rows = Scan <
                    num_scan_inputs: int = 1,
                    body: graph = scan_body (float[4] s, float[4] x) => (float[4] s_out, float[4] y)
                    {
                        ["/loop/then/scan/body/Add"] sum = Add (s, x)
                        ["/loop/then/scan/body/MatMul"] s_out = MatMul (sum, W)
                        ["/loop/then/scan/body/Relu"] y = Relu (s_out)
                    }
                > (v, X)
            },
            else_branch: graph = otherwise () => (float[4] halved) {
                ["/loop/else/Loop"] halved = Loop (three, "", v) <body: graph = inner_body
                    (int64 j, bool d, float[4] h) => (bool go, float[4] h_out)
                    <float half = {0.5}>
                {
                    ["/loop/else/loop/body/Mul"] less = Mul (h, half)
                    ["/loop/else/loop/body/ReduceMax"] most = ReduceMax <keepdims: int = 0> (less)
                    ["/loop/else/loop/body/Greater"] go = Greater (most, half)
                    ["/loop/else/loop/body/If"] h_out = If (go) <
                        then_branch: graph = deep_then () => (float[4] same) {
                            ["deep/Identity"] same = Identity (less)
                        },
                        else_branch: graph = deep_else () => (float[4] negative) {
                            ["deep/Neg"] negative = Neg (less)
                        }
                    >
                }>
            }
        >
        ["/loop/body/Identity"] c_out = Identity (c)
        ["/loop/body/Identity_1"] row = Identity (v_out)
    }>
    ["/Relu"] out = Relu (last)
}
"""

_IF_LOOP_IF = """
main (float[N, 8] X, bool c, int64 trip) => (float[N, 8] Y)
{
    T = Relu (X)
    Y = If (c) <
        then_branch: graph = g1 () => (float[N, 8] a) {
            a = Loop (trip, c, T) <body: graph = g2 (int64 i, bool d, float[N, 8] v)
                => (bool d_out, float[N, 8] v_out)
            {
                d_out = Identity (d)
                v_out = If (d) <
                    then_branch: graph = g3 () => (float[N, 8] e) { e = Tanh (v) },
                    else_branch: graph = g4 () => (float[N, 8] f) { f = Add (v, X) }
                >
            }>
        },
        else_branch: graph = g5 () => (float[N, 8] b) { b = Neg (T) }
    >
}
"""

_LOOP_OF_FUNCTIONS = """
main (float[B, 8] x, float[8, 16] w1, float[16, 8] w2, int64 n) => (float[B, 8] y)
{
    [n0] y = Loop (n, "", x) <body: graph = body (int64 i, bool c, float[B, 8] h)
        => (bool c_out, float[B, 8] h_out)
    {
        [n0] z = local.FeedForward <scale: float = 0.25> (h, w1, w2)
        [n1] total = ReduceSum <keepdims: int = 0> (z)
        [n2] zero = Constant <value: tensor = float {0}> ()
        [n3] positive = Greater (total, zero)
        [n4] h_out = If (positive) <
            then_branch: graph = shrink () => (float[B, 8] small) {
                [n0] small = Loop ("", positive, z) <body: graph = while_large
                    (int64 j, bool d, float[B, 8] v) => (bool d_out, float[B, 8] v_out)
                {
                    [n0] half = Constant <value: tensor = float {0.5}> ()
                    [n1] v_out = Mul (v, half)
                    [n2] most = ReduceMax <keepdims: int = 0> (v_out)
                    [n3] d_out = Greater (most, half)
                }>
            },
            else_branch: graph = flip () => (float[B, 8] negative) { [n0] negative = Neg (z) }
        >
        [n5] c_out = Identity (c)
    }>
}
<domain: "local", opset_import: ["" : 18, "local" : 1]>
FeedForward <scale> (x, w1, w2) => (y)
{
    [n0] s = Constant <value_float: float = @scale> ()
    [n1] h = MatMul (x, w1)
    [n2] g = local.Swish (h)
    [n3] o = MatMul (g, w2)
    [n4] y = Mul (o, s)
}
<domain: "local", opset_import: ["" : 18]>
Swish (x) => (y)
{
    [n0] s = Sigmoid (x)
    [n1] y = Mul (x, s)
}
"""

_FUNCTIONS = """
<domain: "local", opset_import: ["" : 18]>
Norm <epsilon> (x, w, b) => (y)
{
    y = LayerNormalization <axis: int = -1, epsilon: float = @epsilon> (x, w, b)
}
<domain: "local", opset_import: ["" : 18]>
Gelu (x) => (y)
{
    root = Constant <value: tensor = float {1.4142135}> ()
    half = Constant <value: tensor = float {0.5}> ()
    one = Constant <value: tensor = float {1.0}> ()
    part = Div (x, root)
    curve = Erf (part)
    more = Add (curve, one)
    full = Mul (x, more)
    y = Mul (full, half)
}
<domain: "local", opset_import: ["" : 18]>
Attention (x, wq, wk, wv, wo) => (y)
{
    q = MatMul (x, wq)
    k = MatMul (x, wk)
    v = MatMul (x, wv)
    kt = Transpose <perm = [0, 2, 1]> (k)
    scores = MatMul (q, kt)
    weights = Softmax <axis: int = -1> (scores)
    mixed = MatMul (weights, v)
    y = MatMul (mixed, wo)
}
<domain: "local", opset_import: ["" : 18, "local" : 1]>
FeedForward (x, w1, w2) => (y)
{
    h = MatMul (x, w1)
    g = local.Gelu (h)
    y = MatMul (g, w2)
}
<domain: "local", opset_import: ["" : 18, "local" : 1]>
Block <epsilon> (x, n, b, wq, wk, wv, wo, w1, w2) => (y)
{
    [norm1] a = local.Norm <epsilon: float = @epsilon> (x, n, b)
    [attention] c = local.Attention (a, wq, wk, wv, wo)
    [add1] d = Add (x, c)
    [norm2] e = local.Norm <epsilon: float = @epsilon> (d, n, b)
    [mlp] f = local.FeedForward (e, w1, w2)
    [add2] y = Add (d, f)
}
"""


def _functions() -> onnx.ModelProto:
    """Return twelve blocks, each a call of a function that calls functions."""
    calls = []
    before = "x"
    for number in range(12):
        after = "y" if number == 11 else f"h{number}"
        calls.append(
            f'["layers.{number}"] {after} = local.Block <epsilon: float = 0.00001> '
            f"({before}, n, b, wq, wk, wv, wo, w1, w2)"
        )
        before = after
    weights = [f"float[8, 8] {name}" for name in ("wq", "wk", "wv", "wo")]
    inputs = ["float[B, T, 8] x", "float[8] n", "float[8] b", *weights]
    inputs += ["float[8, 16] w1", "float[16, 8] w2"]
    body = "\n".join(calls)
    return parse(f"main ({', '.join(inputs)}) => (float[B, T, 8] y) {{ {body} }}{_FUNCTIONS}")


def _raw(kind: int, count: int = 4) -> bytes:
    """Return elements of a type as they are stored raw; four and two bit types are packed."""
    if kind in (TensorProto.INT4, TensorProto.UINT4, TensorProto.FLOAT4E2M1):
        return bytes([0x21, 0x43])
    if kind in (TensorProto.INT2, TensorProto.UINT2):
        return bytes([0b11100100])
    size = np.dtype(helper.tensor_dtype_to_np_dtype(kind)).itemsize
    return (bytes(size - 1) + b"\x01") * count


def _all_raw() -> bytes:
    weights = []
    for kind in _KINDS:
        tensor = TensorProto(name=TensorProto.DataType.Name(kind), data_type=kind, dims=[4])
        if kind == TensorProto.STRING:
            tensor.string_data.extend([b"a", b"", "ü".encode(), b"\xff"])
        else:
            tensor.raw_data = _raw(kind)
        weights.append(tensor)
    return make_model([relu()], weights, ir_version=12, opsets={"": 25}).SerializeToString()


def _all_inputs() -> bytes:
    nodes, inputs, outputs = [], [], []
    for kind in _KINDS:
        name = TensorProto.DataType.Name(kind).lower()
        nodes.append(node("Identity", f"x_{name}", f"y_{name}", name))
        inputs.append(value(f"x_{name}", ("N", 4), kind))
        outputs.append(value(f"y_{name}", ("N", 4), kind))
    model = make_model(nodes, (), inputs, outputs, ir_version=12, opsets={"": 25})
    return model.SerializeToString()


def _sparse() -> bytes:
    def sparse(name: str, indices: list[int], rows: bool, dims: tuple[int, int]) -> object:
        array = np.arange(1, len(indices) + 1, dtype=np.float32)
        places = np.array(indices)
        if rows:  # of each element its row and column
            places = np.stack([places // dims[1], places % dims[1]], axis=1)
        return helper.make_sparse_tensor(
            numpy_helper.from_array(array, name),
            numpy_helper.from_array(places.astype(np.int64), f"{name}_indices"),
            list(dims),
        )

    nodes = [
        node("MatMul", "x w", "h", "mm"),
        node("Add", "h w2", "h2", "add"),
        helper.make_node(
            "Constant", [], ["c"], name="constant", sparse_value=sparse("", [0, 5], False, (4, 4))
        ),
        node("MatMul", "h2 c", "y", "mm2"),
    ]
    model = make_model(nodes, (), [value("x", (2, 1000))], [value("y", (2, 4))])
    model.graph.sparse_initializer.append(sparse("w", [1, 7, 3998], False, (1000, 4)))  # type: ignore[arg-type]
    model.graph.sparse_initializer.append(sparse("w2", [0, 6], True, (2, 4)))  # type: ignore[arg-type]
    return model.SerializeToString()


def _denotations() -> bytes:
    model = make_model(
        [node("Conv", "image w", "y", "conv", doc_string="A convolution.")],
        [numpy_helper.from_array(np.ones((4, 3, 1, 1), np.float32), "w")],
        [value("image", ("N", 3, 224, 224))],
        [value("y", ("N", 4, 224, 224))],
        producer_name="netloupe",
        producer_version="1",
        domain="org.example",
        model_version=7,
        doc_string="A model *with* metadata.",
    )
    model.graph.input[0].type.denotation = "IMAGE"
    dims = model.graph.input[0].type.tensor_type.shape.dim
    for dim, name in zip(dims, ("BATCH", "CHANNEL", "HEIGHT", "WIDTH"), strict=True):
        dim.denotation = f"DATA_{name}"
    model.graph.input[0].doc_string = "Pixels from 0 to 255."
    for key, text in (("Image.BitmapPixelFormat", "Bgr8"), ("author", "ourselves"), ("empty", "")):
        model.metadata_props.add(key=key, value=text)
    return model.SerializeToString()


def _training() -> bytes:
    model = make_model(
        [node("MatMul", "x w", "y", "mm")],
        [numpy_helper.from_array(np.ones((2, 2), np.float32), "w")],
        [value("x", ("N", 2))],
        [value("y", ("N", 2))],
    )
    training = model.training_info.add()
    training.initialization.node.append(node("RandomNormal", "", "w0", "new", shape=[2, 2]))
    training.initialization.output.append(value("w0", (2, 2)))
    training.algorithm.node.append(node("Sub", "w gradient", "w_new", "step"))
    training.algorithm.input.append(value("gradient", (2, 2)))
    training.algorithm.output.append(value("w_new", (2, 2)))
    training.initialization_binding.add(key="w", value="w0")
    training.update_binding.add(key="w", value="w_new")
    return model.SerializeToString()


def _distributions() -> bytes:
    chance = np.random.default_rng(5)
    spread = chance.normal(size=(16, 64)) * np.logspace(-2, 2, 16)[:, None]
    arrays = {
        "normal": chance.normal(size=(64, 64)),
        "channels": spread,
        "outliers": np.append(chance.normal(size=4095), 1e6),
        "two values": chance.choice([-1.0, 1.0], 4096),
        "sparse": chance.normal(size=4096) * (chance.random(4096) < 0.02),
        "half": chance.normal(size=4096).astype(np.float16),
        "whole": chance.integers(-128, 128, 4096).astype(np.int8),
        "none": np.zeros((0, 3)),
    }
    weights = [
        numpy_helper.from_array(a.astype(np.float32) if a.dtype == np.float64 else a, name)
        for name, a in arrays.items()
    ]
    return make_model([relu()], weights).SerializeToString()


def _forms(name: str, make: Callable[[], onnx.ModelProto]) -> dict[str, Callable[[], bytes]]:
    """Return a model in binary and in each text form."""
    return {
        f"features/{name}.onnx": lambda: make().SerializeToString(),
        f"features/{name}.textproto": lambda: text_format.MessageToString(make()).encode(),
        f"features/{name}.json": lambda: json_format.MessageToJson(make()).encode(),
        f"features/{name}.onnxtext": lambda: onnx.printer.to_text(make()).encode(),
    }


CASES: dict[str, Callable[[], bytes]] = {
    **_forms("control_flow_3deep", lambda: parse(_CONTROL_FLOW)),
    **_forms("functions_nested_transformer", _functions),
    **_forms("parser_if_loop_if", lambda: parse(_IF_LOOP_IF)),
    "features/onnxscript_functions_loop_if_while.onnx": lambda: parse(
        _LOOP_OF_FUNCTIONS
    ).SerializeToString(),
    "features/all_dtypes_raw.onnx": _all_raw,
    "features/all_dtypes_inputs.onnx": _all_inputs,
    "features/sparse_initializer.onnx": _sparse,
    "features/denotations_metadata.onnx": _denotations,
    "features/training.onnx": _training,
    "features/weight_distributions.onnx": _distributions,
}
