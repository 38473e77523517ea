"""What operators, bodies, groups and models cost, and what is said where it is not known."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from netloupe import BindingError, load
from netloupe.commands.cli import main
from netloupe.commands.info import format_summary, summarize_model
from netloupe.explorer.costs import Costs
from netloupe.explorer.costs.costs import analyze, count_nodes_costs
from netloupe.explorer.model import Model
from netloupe.proto import caffe2_pb2
from tests.corpus import MADE, corpus_file
from tests.hostile_models import graph_inputs
from tests.onnx_text import load_text

from .networks import make_bert, make_resnet


def count(text: str, **bind: int) -> Costs:
    return load_text(text).costs(bind=bind)


def why(costs: Costs) -> list[tuple[str, str, int]]:
    return [(one.what, one.reason, one.count) for one in costs.unknown if one.affects == "macs"]


OPERATORS = {
    # by the formulas of the operators' definitions
    "Conv (float[2,6,8,8] x, float[4,3,3,3] w) pads=[1,1,1,1], strides=[2,2], group=2": 2
    * 4
    * 16
    * 27,
    "Conv (float[1,1,10] x, float[5,1,3] w) dilations=[2]": 5 * 6 * 3,
    "Conv (float[1,1,5,5] x, float[1,1,2,2] w) auto_pad='SAME_UPPER', strides=[2,2]": 9 * 4,
    "ConvTranspose (float[1,4,5,5] x, float[4,2,3,3] w) group=2, strides=[2,2]": 100 * 18,
    "Gemm (float[5,7] x, float[3,5] w) transA=1, transB=1": 7 * 3 * 5,
    "MatMul (float[2,1,4,5] x, float[3,5,6] w)": 2 * 3 * 4 * 6 * 5,
    "MatMul (float[5] x, float[5] w)": 5,
    "MatMul (float[5] x, float[2,5,3] w)": 30,
    "MatMul (float[2,4,5] x, float[5] w)": 40,
    "Einsum (float[2,3,4] x, float[2,4,5] w) equation='bij,bjk->bik'": 2 * 3 * 4 * 5,
    "Einsum (float[3,4] x, float[3,4] w) equation='ij,ij'": 12,
    "MatMulInteger (uint8[4,5] x, uint8[5,6] w)": 120,
    "ConvInteger (uint8[1,2,4,4] x, uint8[3,2,1,1] w)": 3 * 16 * 2,
    "Relu (float[9] x)": 0,
    "ReduceMean (float[9,9] x)": 0,
}


@pytest.mark.parametrize("call", OPERATORS)
def test_operators(call: str) -> None:
    head, _, attributes = call.partition(") ")
    op_type, _, inputs = head.rstrip(")").partition(" (")
    names = ", ".join(part.split(",")[0].strip(")") for part in inputs.split("] ")[1:])
    attributes = attributes.replace("'", '"')
    listed = f" <{attributes}>" if attributes else ""
    costs = count(f"g ({inputs}) => (y) {{ y = {op_type}{listed} ({names}) }}")
    assert (costs.macs, why(costs)) == (OPERATORS[call], [])


def make_node_model(
    node: onnx.NodeProto, inputs: dict[str, tuple[int, tuple[int | str, ...]]]
) -> Model:
    values = [
        helper.make_tensor_value_info(name, kind, dims) for name, (kind, dims) in inputs.items()
    ]
    outputs = [helper.make_empty_tensor_value_info(name) for name in node.output]
    graph = helper.make_graph([node], "g", values, outputs)
    opsets = [helper.make_opsetid("", 23), helper.make_opsetid("com.microsoft", 1)]
    return load(helper.make_model(graph, opset_imports=opsets, ir_version=10))


F, U8, I8, I32 = TensorProto.FLOAT, TensorProto.UINT8, TensorProto.INT8, TensorProto.INT32


def use(
    op_type: str, *inputs: tuple[int, tuple[int | str, ...]] | None, **attributes: Any
) -> Costs:
    """Return what one node costs; operands are types and shapes."""
    domain = attributes.pop("domain", "")
    names = ["" if one is None else f"i{n}" for n, one in enumerate(inputs)]
    node = helper.make_node(op_type, names, ["y"], domain=domain, **attributes)
    given = {f"i{n}": one for n, one in enumerate(inputs) if one is not None}
    return make_node_model(node, given).costs()


def test_quantized_forms_cost_what_the_float_operator_costs() -> None:
    scale, zero = (F, ()), (U8, ())
    convolution = use("Conv", (F, (1, 3, 9, 9)), (F, (4, 3, 3, 3)))
    quantized = use(
        *(
            "QLinearConv",
            (U8, (1, 3, 9, 9)),
            scale,
            zero,
            (I8, (4, 3, 3, 3)),
            scale,
            zero,
            scale,
            zero,
        )
    )
    assert convolution.macs == quantized.macs == 4 * 49 * 27
    product = use("MatMul", (F, (2, 8, 16)), (F, (16, 32)))
    forms = [
        use("MatMulInteger", (U8, (2, 8, 16)), (I8, (16, 32))),
        use(
            "QLinearMatMul", (U8, (2, 8, 16)), scale, zero, (I8, (16, 32)), scale, zero, scale, zero
        ),
        use(
            *("MatMulNBits", (F, (2, 8, 16)), (U8, (32, 1, 8)), (F, (32,))),
            K=16,
            N=32,
            bits=4,
            block_size=16,
            domain="com.microsoft",
        ),
        use("FusedMatMul", (F, (2, 8, 16)), (F, (32, 16)), transB=1, domain="com.microsoft"),
        use("DynamicQuantizeMatMul", (F, (2, 8, 16)), (I8, (16, 32)), domain="com.microsoft"),
        use("QGemm", (U8, (16, 16)), scale, zero, (I8, (16, 32)), scale, domain="com.microsoft"),
    ]
    assert [form.macs for form in forms] == [product.macs] * 6 == [2 * 8 * 16 * 32] * 6


def test_recurrent_networks() -> None:
    """Directions × time × batch × gates × hidden × (input + hidden)."""
    for op_type, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
        costs = use(
            *(op_type, (F, (7, 2, 5)), (F, (2, gates * 6, 5)), (F, (2, gates * 6, 6))),
            hidden_size=6,
            direction="bidirectional",
        )
        assert costs.macs == 2 * 7 * 2 * gates * 6 * (5 + 6)


def test_attention_counts_both_products_and_what_it_projects() -> None:
    query, past = (F, (2, 4, 3, 8)), (F, (2, 4, 9, 8))
    assert use("Attention", query, query, query).macs == 2 * 4 * 3 * 3 * 16
    assert use("Attention", query, query, query, None, past, past).macs == 2 * 4 * 3 * 12 * 16
    flat = (F, (2, 3, 32))
    heads = {"q_num_heads": 4, "kv_num_heads": 4}
    assert use("Attention", flat, flat, flat, **heads).macs == 2 * 4 * 3 * 3 * 16
    ms = {"domain": "com.microsoft", "num_heads": 4}
    assert use("MultiHeadAttention", flat, flat, flat, **ms).macs == 2 * 4 * 3 * 3 * 16
    fused = use("Attention", flat, (F, (32, 96)), (F, (96,)), **ms)
    assert fused.macs == 2 * 3 * 32 * 96 + 2 * 4 * 3 * 3 * 16
    few = (F, (2, 3, 16))
    grouped = use("GroupQueryAttention", flat, few, few, (F, (2, 2, 9, 8)), kv_num_heads=2, **ms)
    assert grouped.macs == 2 * 4 * 3 * 12 * 16


def test_einsum_of_three_operands_begins_with_the_cheapest_pair() -> None:
    costs = use("Einsum", (F, (2, 100)), (F, (100, 3)), (F, (3, 4)), equation="ab,bc,cd->ad")
    assert costs.macs == 2 * 100 * 3 + 2 * 3 * 4


def test_shapes_are_followed_without_the_file_stating_them() -> None:
    """Reshape from Shape, as exporters write it for sizes that are not known."""
    costs = count(
        """g (float[batch, seq, 12] x, float[12, 5] w) => (y) {
            shape = Shape (x)
            zero = Constant <value_ints = [0]> ()
            one = Constant <value_ints = [1]> ()
            batch = Gather (shape, zero)
            seq = Gather (shape, one)
            rest = Constant <value_ints = [3, 4]> ()
            wanted = Concat <axis = 0> (batch, seq, rest)
            heads = Reshape (x, wanted)
            turned = Transpose <perm = [0, 2, 1, 3]> (heads)
            back = Transpose <perm = [0, 2, 3, 1]> (heads)
            scores = MatMul (turned, back)
            joined = Transpose <perm = [0, 2, 1, 3]> (turned)
            all = Constant <value_ints = [0, 0, -1]> ()
            flat = Reshape (joined, all)
            y = MatMul (flat, w)
        }"""
    )
    assert costs.macs_expression == "12*batch*seq**2 + 60*batch*seq"
    assert not costs.macs_is_lower_bound


def test_a_picture_of_any_size() -> None:
    """What is rounded down stays exact: sizes give the same whenever they are known."""
    text = """g (float[n, 3, h, w] x, float[8, 3, 3, 3] k) => (y) {
        a = Conv <strides = [2, 2], pads = [1, 1, 1, 1]> (x, k)
        y = MaxPool <kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]> (a)
    }"""
    open_costs = count(text)
    assert open_costs.macs_expression == "216*((h + 1)//2)*((w + 1)//2)*n"
    for h, w in ((224, 224), (225, 33)):
        macs = count(text, n=2, h=h, w=w).macs
        assert macs == 216 * 2 * ((h + 1) // 2) * ((w + 1) // 2)
        assert eval(open_costs.macs_expression, {"n": 2, "h": h, "w": w}) == macs


def test_dimensions_without_a_name_are_called_after_their_input() -> None:
    costs = count("g (float[?, 4] x, float[4, 5] w) => (y) { y = MatMul (x, w) }")
    assert costs.macs_expression == "20*x[0]"
    model = load_text("g (float x, float[4, 5] w) => (y) { y = MatMul (x, w) }")
    assert model.costs().macs_is_lower_bound
    assert model.costs(bind={"x": (7, 3, 4)}).macs == 7 * 3 * 4 * 5


def test_symbols_that_a_tool_made_up_count_for_nothing() -> None:
    """Shape inference names each dimension of which it knows nothing anew."""
    text = """g (float[n, 4] x, float[4, 4] w) => (y) <float[unk__1, 4] a> {
        a = Unheard (x)
        y = MatMul (a, w)
    }"""
    costs = count(text)
    assert (costs.macs_expression, costs.macs_is_lower_bound) == ("0", True)
    assert ("MatMul", "shapes of its operands are not known", 1) in why(costs)
    assert count(text, unk__1=3).macs == 48


def test_inferred_types_fill_what_no_rule_follows() -> None:
    """CenterCropPad has no rule of ours; onnx knows what it gives."""
    model = load_text(
        """g (float[2, 3] x, float[4, 5] w) => (y) {
            size = Constant <value_ints = [6, 4]> ()
            a = CenterCropPad (x, size)
            y = MatMul (a, w)
        }"""
    )
    assert model.costs().macs_is_lower_bound
    model.infer_shapes()
    assert (model.costs().macs, model.costs().unknown) == (6 * 4 * 5, ())


def test_what_is_not_known_is_said() -> None:
    costs = count(
        """g (float[2, 3] x, float[3, 4] w) => (y) {
            a = MatMul (x, w)
            b = local.Odd (a)
            c = local.Odd (b)
            d = MatMul (c, w)
            y = Relu (d)
        }"""
    )
    assert (costs.macs, costs.macs_is_lower_bound) == (24, True)
    assert why(costs) == [
        ("local::Odd", "no rule counts this operator", 2),
        ("MatMul", "shapes of its operands are not known", 1),
    ]
    assert costs.activation_bytes_is_lower_bound
    assert costs.activation_bytes == 2 * 4 * 4


IF = """g (bool c, float[2, 3] x, float[3, 4] w) => (y) {
    y = If (c) <
        then_branch = large () => (a) { a = MatMul (x, w) },
        else_branch = small () => (b) { t = Transpose (x) b = MatMul (x, t) }
    >
}"""


def test_of_an_if_the_larger_branch_counts() -> None:
    costs = count(IF)
    assert (costs.macs, costs.least_macs, costs.macs_is_lower_bound) == (24, 12, False)
    assert "12 to 24 MACs" in format_summary(summarize_model(load_text(IF)), load_text(IF).dialect)


def make_loop(trips: str, condition: str = "again = Identity (go)") -> str:
    return f"""g (float[2, 3] x, float[3, 3] w) => (y) {{
        trips = Constant <value_int = {trips}> ()
        yes = Constant <value = bool {{1}}> ()
        y = Loop (trips, yes, x) <body = body (int64 i, bool go, float[2, 3] s)
            => (bool again, float[2, 3] t) {{ {condition} t = MatMul (s, w) }}>
    }}"""


def test_the_body_of_a_loop_counts_once_for_each_trip() -> None:
    assert count(make_loop("5")).macs == 5 * 18
    assert count(make_loop(str(2**63 - 1))).macs_expression == "18*#2:Loop.trips"
    early = count(
        make_loop("5", "n = ReduceMax <keepdims = 0> (s) z = Sub (n, n) again = Less (z, n)")
    )
    assert (early.least_macs, early.macs) == (0, 90)
    model = load_text(make_loop(str(2**63 - 1)))
    assert model.costs(bind={"#2:Loop.trips": 7}).macs == 7 * 18


def test_what_grows_from_trip_to_trip_is_not_taken_for_known() -> None:
    costs = count(
        """g (float[1, 3] x, float[3, 3] w) => (y) {
            trips = Constant <value_int = 5> ()
            y = Loop (trips, , x) <body = body (int64 i, bool go, float[n, 3] s)
                => (bool again, float[m, 3] t) {
                again = Identity (go)
                p = MatMul (s, w)
                t = Concat <axis = 0> (s, p)
            }>
        }"""
    )
    assert (costs.macs, costs.macs_is_lower_bound) == (0, True)


def test_a_scan_runs_once_for_each_entry() -> None:
    costs = count(
        """g (float[2, 3] s, float[time, 2, 3] x, float[3, 3] w) => (y, z) {
            y, z = Scan (s, x) <num_scan_inputs = 1, body = body (float[2, 3] h, float[2, 3] e)
                => (float[2, 3] k, float[2, 3] o) { k = MatMul (h, w) o = Add (k, e) }>
        }"""
    )
    assert costs.macs_expression == "18*time"


FUNCTION = """<ir_version: 10, opset_import: ["": 21, "local": 1]>
g (float[a, 3] x, float[b, 3] z, float[3, 4] w) => (y, v) {
    y = local.Project <turned = 0> (x, w)
    v = local.Project <turned = 0> (z, w)
    u = local.Outer (x, w)
}
<domain: "local", opset_import: ["": 21, "local": 1]>
Project <turned> (data, weight) => (out) { out = Gemm <transB: int = @turned> (data, weight) }
<domain: "local", opset_import: ["": 21, "local": 1]>
Outer (data, weight) => (out) { out = local.Project <turned = 0> (data, weight) }
"""


def test_functions_cost_what_their_bodies_cost_in_each_call() -> None:
    costs = count(FUNCTION)
    assert costs.macs_expression == "24*a + 12*b"
    assert costs.macs_by_operator == {"Gemm": "24*a + 12*b"}


def test_a_function_that_calls_itself_and_calls_without_end_are_bounded() -> None:
    recursive = """<ir_version: 10, opset_import: ["": 21, "local": 1]>
    g (float[2] x) => (y) { y = local.F (x) }
    <domain: "local", opset_import: ["": 21, "local": 1]>
    F (a) => (b) { b = local.F (a) }"""
    assert why(count(recursive)) == [("local::F", "the function calls itself", 1)]
    doubling = "".join(
        f"""<domain: "local", opset_import: ["": 21, "local": 1]>
        F{n} (a) => (b) {{ c = Concat <axis = 0> (a, a) d = local.F{n + 1} (c)
            k = Constant <value_floats = [1.0]> () f = Concat <axis = 0> (a, k)
            e = local.F{n + 1} (f) b = Concat <axis = 0> (d, e) }}"""
        for n in range(40)
    )
    text = f"""<ir_version: 10, opset_import: ["": 21, "local": 1]>
    g (float[2] x) => (y) {{ y = local.F0 (x) }} {doubling}
    <domain: "local", opset_import: ["": 21, "local": 1]>
    F40 (a) => (b) {{ b = MatMul (a, a) }}"""
    costs = count(text)
    reasons = {reason for _, reason, _ in why(costs)}
    assert "functions are called in too many ways" in reasons


def test_peak_of_live_activations_follows_the_order_of_the_file() -> None:
    """At the Add: x (8), b (8) and c (8) wait for nothing but y; at b all of x, a, b are alive."""
    costs = count(
        """g (float[2] x) => (y) {
            a = Relu (x)
            big = Concat <axis = 0> (a, a, a)
            s = ReduceSum (big)
            y = Add (s, x)
        }"""
    )
    assert costs.activation_bytes == 8 + 24 + 4 + 8
    # at Concat x, a and big are alive
    assert costs.peak_activation_bytes == 8 + 8 + 24
    assert costs.moved_bytes == (8 + 8) + (3 * 8 + 24) + (24 + 4) + (4 + 8 + 8)


def test_peaks_with_symbols_are_told_where_one_node_has_the_most_whatever_their_sizes() -> None:
    chain = "g (float[n, 4] x) => (y) { a = Relu (x) y = Relu (a) }"
    assert count(chain).peak_activation_bytes_expression == "32*n"
    both = """g (float[n] x, float[m] z) => (a, b) {
        p = Concat <axis = 0> (x, x, x, x) a = ReduceSum (p)
        q = Concat <axis = 0> (z, z, z, z) b = ReduceSum (q)
    }"""
    assert count(both).peak_activation_bytes_expression == ""
    assert count(both, n=1, m=1).peak_activation_bytes is not None


def test_constants_and_what_is_made_of_them_are_no_activations() -> None:
    text = """g (float[2, 3] x) => (y) <int8[3, 4] w = {1,1,1,1,1,1,1,1,1,1,1,1}, float s = {0.5}> {
        d = DequantizeLinear (w, s)
        y = MatMul (x, d)
    }"""
    costs = count(text)
    assert (costs.macs, costs.activation_bytes) == (24, 2 * 4 * 4)


def test_the_nodes_of_a_repeated_block_times_its_count_are_the_group() -> None:
    model = make_bert(12, 768, 1, 128)
    analysis = analyze(model)
    layers: dict[str, list[Any]] = {}
    for node in model.graph.nodes:
        layers.setdefault(node.name.rpartition("/")[0], []).append(node)
    each = [count_nodes_costs(analysis, model.graph, nodes) for nodes in layers.values()]
    assert len(each) == 12
    assert len({one.macs for one in each}) == 1
    assert (each[0].macs or 0) * 12 == model.costs().macs
    assert sum(one.parameters for one in each) == model.costs().parameters


def test_each_kind_of_use_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from netloupe.explorer.costs import analysis

    looked: list[str] = []
    look = analysis.look_at_use
    monkeypatch.setattr(
        analysis,
        "look_at_use",
        lambda kind, *rest: (looked.append(kind.label), look(kind, *rest))[1],
    )
    make_bert(2, 128, 1, 16).costs()
    few = len(looked)
    make_bert(20, 128, 1, 16).costs()
    assert len(looked) == 2 * few


def test_names_that_nothing_has_are_refused_with_those_that_there_are() -> None:
    model = make_bert(1, 64, "batch", "seq")
    with pytest.raises(BindingError, match=r"called 'bach'\. Names to bind are batch, seq\."):
        model.costs(bind={"bach": 1})
    with pytest.raises(BindingError, match="batch cannot have the size -1"):
        model.costs(bind={"batch": -1})


def test_caffe2_nets_cost_what_their_shapes_say() -> None:
    net = caffe2_pb2.NetDef(name="net", external_input=["data"])
    init = caffe2_pb2.NetDef(name="init")
    shapes = {"w": (8, 3, 3, 3), "b": (8,), "s": (8,), "m": (8,), "v": (8,), "f": (10, 8 * 49)}
    for name, dims in {**shapes, "g": (10,)}.items():
        fill = init.op.add(type="ConstantFill", output=[name])
        fill.arg.add(name="shape").ints.extend(dims)
        net.external_input.append(name)
    conv = net.op.add(type="Conv", input=["data", "w", "b"], output=["c"])
    for name, value in (("kernel", 3), ("stride", 2), ("pad", 1)):
        conv.arg.add(name=name, i=value)
    net.op.add(type="SpatialBN", input=["c", "s", "b", "m", "v"], output=["n"])
    net.op.add(type="Relu", input=["n"], output=["n"])
    pool = net.op.add(type="MaxPool", input=["n"], output=["p"])
    pool.arg.add(name="kernel", i=2)
    pool.arg.add(name="stride", i=2)
    net.op.add(type="FC", input=["p", "f", "g"], output=["y"])
    model = load(net, init=init)
    convolution, linear = 8 * 14 * 14 * 27, 10 * 8 * 49
    costs = model.costs(bind={"data": (2, 3, 28, 28)})
    assert (costs.macs, why(costs)) == (2 * (convolution + linear), [])
    assert costs.macs_by_operator == {"Conv": str(2 * convolution), "FC": str(2 * linear)}
    assert model.costs().macs_is_lower_bound


def test_caffe2_nets_of_int8_cost_what_those_of_floats_do() -> None:
    net = caffe2_pb2.NetDef(name="net", external_input=["data"])
    init = caffe2_pb2.NetDef(name="init")
    # channels stand last: results, kernel, channels of a group; of transposed ones channels first
    shapes = {"w": (8, 3, 3, 4), "d": (8, 3, 3, 1), "t": (8, 2, 2, 6), "f": (10, 16 * 16 * 6)}
    for name, dims in shapes.items():
        fill = init.op.add(type="Int8GivenTensorFill", output=[name])
        fill.arg.add(name="shape").ints.extend(dims)
        fill.arg.add(name="values", s=bytes(int(np.prod(dims))))
        fill.arg.add(name="Y_scale", f=0.5)
        fill.arg.add(name="Y_zero_point", i=128)
        net.external_input.append(name)

    def add(op_type: str, inputs: list[str], output: str, **arguments: int) -> None:
        node = net.op.add(type=op_type, input=inputs, output=[output])
        node.arg.add(name="order", s=b"NHWC")
        for name, value in arguments.items():
            node.arg.add(name=name, i=value)

    add("Int8Quantize", ["data"], "q")
    add("Int8ConvRelu", ["q", "w"], "c", kernel=3, pad=1, stride=2)
    add("Int8Conv", ["c", "d"], "e", kernel=3, pad=1, group=8)
    add("Int8ConvSumRelu", ["c", "d", "e"], "s", kernel=3, pad=1, group=8)
    add("Int8ConvTranspose", ["s", "t"], "u", kernel=2, stride=2)
    add("Int8FC", ["u", "f"], "y")
    costs = load(net, init=init).costs(bind={"data": (1, 16, 16, 4)})
    assert why(costs) == []
    assert costs.macs_by_operator == {
        "Int8ConvRelu": str(8 * 8 * 8 * 36),
        "Int8Conv": str(8 * 8 * 8 * 9),
        "Int8ConvSumRelu": str(8 * 8 * 8 * 9),
        "Int8ConvTranspose": str(8 * 8 * 8 * 24),
        "Int8FC": str(10 * 16 * 16 * 6),
    }


def test_the_transposed_convolution_of_caffe2_has_channels_second_too() -> None:
    net = caffe2_pb2.NetDef(name="net", external_input=["data", "w", "v"])
    init = caffe2_pb2.NetDef(name="init")
    for name, dims in {"w": (3, 5, 4, 4), "v": (5, 2, 3, 3)}.items():
        fill = init.op.add(type="ConstantFill", output=[name])
        fill.arg.add(name="shape").ints.extend(dims)
    for name, inputs, arguments in (
        ("h", ["data", "w"], {"kernel": 4, "stride": 2, "pad": 1}),
        ("y", ["h", "v"], {"kernel": 3, "stride": 2, "pad": 1, "adj": 1}),
    ):
        node = net.op.add(type="ConvTranspose", input=inputs, output=[name])
        for argument, value in arguments.items():
            node.arg.add(name=argument, i=value)
    costs = load(net, init=init).costs(bind={"data": (2, 3, 7, 7)})
    # (7 - 1) 2 + 4 - 2 = 14 for each side of the first result
    expected = 2 * 3 * 49 * 80 + 2 * 5 * 14 * 14 * 18
    assert (costs.macs, why(costs)) == (expected, [])


def test_info_tells_costs_in_words_and_as_json(tmp_path: Any, capsys: Any) -> None:
    model = helper.make_model(
        helper.make_graph(
            [helper.make_node("Conv", ["x", "w"], ["y"])],
            "g",
            [helper.make_tensor_value_info("x", F, ["batch", 3, 8, 8])],
            [helper.make_tensor_value_info("y", F, None)],
            [numpy_helper.from_array(np.ones((4, 3, 3, 3), np.float32), "w")],
        )
    )
    path = tmp_path / "m.onnx"
    path.write_bytes(model.SerializeToString())
    assert main(["info", str(path)]) == 0
    assert (
        "costs      3.89 k · batch MACs; activations 576 · batch bytes" in capsys.readouterr().out
    )
    assert main(["info", str(path), "--bind", "batch=2", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["costs"]
    assert (told["macs"], told["macs_expression"]) == (2 * 3888, "7776")
    assert (told["macs_is_lower_bound"], told["unknown"]) == (False, [])
    assert (told["parameters"], told["weight_bytes"]) == (108, 432)
    with pytest.raises(SystemExit, match="2"):
        main(["info", str(path), "--bind", "batch=x"])
    assert "is not like NAME=N" in capsys.readouterr().err
    assert main(["info", str(path), "--bind", "bath=1"]) == 2
    assert "Names to bind are batch." in capsys.readouterr().err


def test_a_resnet_scales_with_its_batch() -> None:
    model = make_resnet((1, 1, 1, 1), is_deep=False, batch="batch")
    one, two = (model.costs(bind={"batch": size}) for size in (1, 2))
    assert (one.macs or 0) * 2 == two.macs
    assert model.costs().macs_expression == f"{one.macs}*batch"
    assert model.costs().peak_activation_bytes_expression == f"{one.peak_activation_bytes}*batch"


@pytest.mark.parametrize("name", [name for name in MADE if name.startswith("hostile")])
def test_hostile_models_cost_something_or_say_why_not(name: str) -> None:
    from netloupe import NetloupeError

    try:
        model = load(corpus_file(name))
    except NetloupeError:
        return
    costs = model.costs()
    assert costs.macs_expression
    assert all(one.count > 0 and one.reason for one in costs.unknown)


def test_a_node_of_very_many_like_operands_is_added_up_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from netloupe.explorer.costs.polynomial import Polynomial

    added: list[int] = []
    add = Polynomial.__add__
    monkeypatch.setattr(Polynomial, "__add__", lambda a, b: (added.append(1), add(a, b))[1])
    nodes = [helper.make_node("Relu", ["x"], [f"a{i}"]) for i in range(3000)]
    nodes.append(helper.make_node("Sum", [f"a{i}" for i in range(3000)], ["y"]))
    value = helper.make_tensor_value_info("x", F, ["n", 4])
    graph = helper.make_graph(nodes, "g", [value], [helper.make_empty_tensor_value_info("y")])
    costs = load(helper.make_model(graph)).costs()
    assert costs.moved_bytes is None
    assert costs.activation_bytes_expression == f"{3001 * 16}*n"
    assert len(added) < 100


def test_loops_in_loops_whose_state_grows_are_bounded() -> None:
    """Each is looked at again when its state turns out to vary: twice for each level around it."""
    graph: onnx.GraphProto | None = None
    info = helper.make_tensor_value_info
    for depth in range(25):
        inner = helper.make_node("Concat", ["s", "s"], ["t"], axis=0)
        if graph is not None:
            inner = helper.make_node("Loop", ["", "go", "s"], ["t"], body=graph)
        graph = helper.make_graph(
            [helper.make_node("Identity", ["go"], ["again"]), inner],
            f"body{depth}",
            [
                info("i", TensorProto.INT64, []),
                info("go", TensorProto.BOOL, []),
                info("s", F, None),
            ],
            [info("again", TensorProto.BOOL, []), info("t", F, None)],
        )
    outer = helper.make_node("Loop", ["", "go", "x"], ["y"], body=graph)
    inputs = [info("x", F, [2]), info("go", TensorProto.BOOL, [])]
    main_graph = helper.make_graph([outer], "g", inputs, [info("y", F, None)])
    model = load(helper.make_model(main_graph))
    assert model.costs().unknown
    assert sum(map(len, analyze(model).frames.values())) < 2000


def test_the_peak_is_not_told_where_a_size_is_not_known() -> None:
    odd = load_text("g (float[4] x) => (float[4] y) { a = com.example.Odd (x) y = Add (x, a) }")
    assert odd.costs().peak_activation_bytes is None
    plain = load_text("g (float[4] x) => (float[4] y) { a = Neg (x) y = Add (x, a) }")
    assert plain.costs().peak_activation_bytes == 3 * 16


def test_of_very_many_inputs_the_types_are_not_read() -> None:
    costs = load(graph_inputs(30_000)).costs()
    assert costs.macs == 0
    assert costs.peak_activation_bytes is None
