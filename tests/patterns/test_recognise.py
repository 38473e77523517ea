"""What groups of real exports, and graphs written from their sources, are recognised as."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest
from onnx import helper, numpy_helper

from netloupe.explorer.grouping import Group, GroupTree, build_group_tree
from netloupe.explorer.model import Graph, Node
from netloupe.explorer.patterns import MOST_NODES, recognise
from netloupe.explorer.patterns.activations import ACTIVATIONS
from netloupe.explorer.patterns.transformer_details import MlpDetails, TransformerDetails
from netloupe.explorer.readers.load import load
from tests.corpus import corpus_file, light_file


@cache
def tree_of(name: str) -> GroupTree:
    return build_group_tree(load(corpus_file(name)).graph)


def nodes_of(group: Group) -> list[Node]:
    return sorted(list_nodes(group), key=lambda node: node.index)


def list_nodes(group: Group) -> Iterator[Node]:
    for child in group.children:
        if isinstance(child, Node):
            yield child
        elif child.kind != "shape":
            yield from list_nodes(child)


def told(name: str, path: str) -> str:
    found = tree_of(name).find(path)
    assert isinstance(found, Group), path
    recognition = recognise(nodes_of(found))
    return recognition.text if recognition is not None else ""


def graph_of(text: str, **weights: list[int]) -> Graph:
    """Return the graph of nodes in ONNX text; weights are filled with what no rule reads."""
    filled = ", ".join(f"float[{','.join(map(str, dims))}] {n}" for n, dims in weights.items())
    inputs = ", ".join(filter(None, ("float[n] x, float[n] z", filled)))
    header = '<ir_version: 10, opset_import: ["" : 21, "com.microsoft" : 1]>'
    model = load(f"{header} g ({inputs}) => (float[n] y) {{ {text} }}".encode())
    for value in model.graph.inputs:
        value.is_parameter = value.name in weights
    return model.graph


@pytest.mark.parametrize(
    ("name", "path", "text"),
    [
        ("gpt2.legacy", "h.3/attn", "Self-attention, 4 heads × 12, causal"),
        ("gpt2.legacy", "h.3/mlp", "MLP 48 → 192 → 48, GELU (tanh)"),
        ("gpt2.legacy", "h.3/mlp/act", "GELU (tanh)"),
        ("gpt2.legacy", "h.3/mlp/c_fc", "Linear 48 → 192"),
        (
            "gpt2.legacy",
            "h.3",
            "Transformer block, 4 heads × 12, causal, MLP 48 → 192 → 48, pre-norm LayerNorm",
        ),
        ("gpt2.legacy", "transformer", ""),
        ("bert.legacy", "layer.3/attention/self", "Self-attention, 4 heads × 12"),
        ("bert.legacy", "layer.3/intermediate", "Linear · GELU 48 → 192"),
        ("bert.legacy", "layer.3/output", "Linear · Add · LayerNorm 192 → 48"),
        (
            "bert.legacy",
            "layer.3",
            "Transformer block, 4 heads × 12, MLP 48 → 192 → 48, post-norm LayerNorm",
        ),
        ("bert.legacy", "embeddings", "Token + position embedding, 1,000 × 48, 2 × 48, 512 × 48"),
        ("bert.legacy", "encoder", ""),
        ("t5.legacy", "encoder/block.3/layer.0/layer_norm", "RMSNorm"),
        (
            "t5.legacy",
            "encoder/block.3/layer.0/SelfAttention",
            "Self-attention, 4 heads × 8, relative positions",
        ),
        ("t5.legacy", "decoder/block.3/layer.1/EncDecAttention", "Cross-attention, 4 heads × 8"),
        ("whisper.dynamo", "encoder/layers.3/self_attn", "Self-attention, 4 heads × 8"),
        (
            "whisper.dynamo",
            "decoder/layers.3",
            "Transformer decoder block, 4 heads × 8, MLP 32 → 64 → 32, pre-norm LayerNorm",
        ),
        ("vit.dynamo", "embeddings", "Patch embedding, 16×16, 3 → 48, positions"),
        ("unet.dynamo", "down_blocks.2/resnets.0/norm1", "GroupNorm, 4 groups"),
        ("unet.dynamo", "down_blocks.1/resnets.0", "Residual block 16 → 32, with projection"),
        ("unet.dynamo", "mid_block/resnets.0", "Residual block 64 → 64"),
        ("unet.dynamo", "down_blocks.1/attentions.0/transformer_blocks.0/ff", "GEGLU 32 → 64 → 32"),
        ("unet.dynamo", "down_blocks.1", ""),
        ("densenet.legacy", "transition2", "Transition 64 → 32"),
        ("densenet.legacy", "denseblock2/denselayer2", "Dense layer 20 → +4"),
        ("densenet.legacy", "denseblock2", ""),
    ],
)
def test_what_a_group_of_an_export_is(name: str, path: str, text: str) -> None:
    assert told(f"exported/{name}.onnx", path) == text


def text_of(graph: Graph) -> str:
    recognition = recognise(graph.nodes)
    return recognition.text if recognition is not None else ""


def test_nodes_in_numbers_that_no_block_has_are_not_looked_at() -> None:
    graph = graph_of("y = Relu (x)")
    assert text_of(graph) == "Relu"
    assert recognise([*graph.nodes] * (MOST_NODES + 1)) is None
    assert recognise([]) is None


_LAYER_NORM = """
    m = ReduceMean <axes = [-1]> (x)  d = Sub (x, m)  t = Constant <value_float = 2.0> ()
    p = Pow (d, t)  v = ReduceMean <axes = [-1]> (p)  e = Constant <value_float = 0.00001> ()
    a = Add (v, e)  s = Sqrt (a)  q = Div (d, s)  r = Mul (q, w)  y = Add (r, b)
"""


def test_a_layer_norm_written_out_and_what_only_looks_like_one() -> None:
    weights = {"w": [8], "b": [8]}
    assert text_of(graph_of(_LAYER_NORM, **weights)) == "LayerNorm"
    cast = _LAYER_NORM.replace("(x)", "(c)").replace("(x, m)", "(c, m)")
    assert text_of(graph_of("c = Cast <to = 1> (x)" + cast, **weights)) == "LayerNorm"
    # the mean of something else is subtracted
    assert text_of(graph_of(_LAYER_NORM.replace("(x)  d", "(z)  d"), **weights)) == ""
    # the third power is no variance
    assert text_of(graph_of(_LAYER_NORM.replace("2.0", "3.0"), **weights)) == ""
    # something is divided that is not the difference
    assert text_of(graph_of(_LAYER_NORM.replace("Div (d", "Div (z"), **weights)) == ""


_RMS_NORM = """
    c = Cast <to = 1> (x)  t = Constant <value_float = 2.0> ()  p = Pow (c, t)
    v = ReduceMean <axes = [-1]> (p)  e = Constant <value_float = 0.00001> ()
    a = Add (v, e)  s = Sqrt (a)  i = Reciprocal (s)  q = Mul (c, i)  u = Cast <to = 10> (q)
    y = Mul (w, u)
"""


def test_an_rms_norm_with_the_cast_that_a_residual_goes_around() -> None:
    assert text_of(graph_of(_RMS_NORM, w=[8])) == "RMSNorm"
    around = _RMS_NORM.replace("y = Mul (w, u)", "l = Mul (w, u)  y = Add (x, l)")
    assert text_of(graph_of(around, w=[8])) == "RMSNorm · Add"
    assert text_of(graph_of(_RMS_NORM.replace("Mul (c, i)", "Mul (z, i)"), w=[8])) == ""


def _constant(name: str, number: float) -> str:
    return f"{name} = Constant <value_float = {number}> () "


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("h = Div (x, c2) e = Erf (h) p = Add (e, c1) m = Mul (x, p) y = Mul (m, c5)", "GELU"),
        ("h = Mul (x, root) e = Erf (h) p = Add (e, c1) k = Mul (x, c5) y = Mul (k, p)", "GELU"),
        (
            "h = Mul (x, c2) e = Erf (h) p = Add (e, c1) k = Mul (x, c5) y = Mul (k, p)",
            "Formula, 0.5 · x · (erf(1.41 · x) + 1)",
        ),
        (
            "h = Mul (x, c2) e = Erf (h) p = Add (e, c1) m = Mul (z, p) y = Mul (m, c5)",
            "Formula, 0.5 · a · (erf(1.41 · b) + 1)",
        ),
        (
            (
                "q = Mul (x, x) u = Mul (q, x) a = Mul (u, c4) b = Add (x, a) h = Mul (b, c2) "
                "e = Tanh (h) p = Add (e, c1) m = Mul (x, p) y = Mul (m, c5)"
            ),
            "GELU (tanh)",
        ),
        (
            "h = Mul (x, c2) e = Tanh (h) p = Add (e, c1) m = Mul (x, p) y = Mul (m, c5)",
            "Formula, 0.5 · x · (tanh(1.41 · x) + 1)",
        ),
        ("g = Mul (x, quick) s = Sigmoid (g) y = Mul (x, s)", "quick GELU"),
        ("g = Mul (x, c2) s = Sigmoid (g) y = Mul (x, s)", "Swish"),
        ("s = Sigmoid (x) y = Mul (x, s)", "SiLU"),
        ("s = Sigmoid (x) y = Mul (z, s)", "Gate"),
        ("s = HardSigmoid (x) y = Mul (s, x)", "HardSwish"),
        ("s = HardSigmoid (x) y = Mul (s, z)", "Gate"),
        ("a = Add (x, c3) c = Clip (a, c0, c6) m = Mul (x, c) y = Div (m, c6)", "HardSwish"),
        ("a = Add (x, c3) c = Clip (a, c0, c6) y = Div (c, c6)", "HardSigmoid"),
        (
            "a = Add (x, c3) c = Clip (a, c1, c6) m = Mul (x, c) y = Div (m, c6)",
            "Formula, x · clip(x + 3, 1, 6) / 6",
        ),
        ("y = Clip (x, c0, c6)", "ReLU6"),
        ("y = Clip (x, c0, c5)", ""),
        ("s = Softplus (x) t = Tanh (s) y = Mul (x, t)", "Mish"),
        ("s = Softplus (x) t = Tanh (s) y = Mul (z, t)", "Formula, a · tanh(softplus(b))"),
        ('y = Gelu <approximate = "tanh"> (x)', "Gelu, tanh"),
        ("y = com.microsoft.QuickGelu (x)", "QuickGelu"),
    ],
)
def test_activations_written_out_and_what_only_looks_like_them(text: str, name: str) -> None:
    numbers = {"c0": 0.0, "c1": 1.0, "c2": 1.4142, "c3": 3.0, "c4": 0.0447, "c5": 0.5, "c6": 6.0}
    used = {**numbers, "quick": 1.702, "root": 0.70711}
    constants = "".join(_constant(n, v) for n, v in used.items() if n in text)
    assert text_of(graph_of(constants + text)) == name


@pytest.mark.parametrize("operator", ACTIVATIONS)
@pytest.mark.parametrize("domain", ["", "com.microsoft."])
def test_a_single_activation_is_called_what_its_node_is(operator: str, domain: str) -> None:
    """A block of it stands beside the node in another model, and they are one thing."""
    scale = "s = Constant <value_float = 0.5> () "
    for text in (
        f"y = {domain}{operator} (x)",
        scale + f"q = QuantizeLinear (x, s) d = DequantizeLinear (q, s) y = {domain}{operator} (d)",
    ):
        recognition = recognise(graph_of(text).nodes)
        assert recognition is not None
        assert recognition.name == operator


_MLP = "h = MatMul (x, a) b = Add (h, c) r = Relu (b) y = MatMul (r, d)"


def test_an_mlp_ends_behind_its_last_layer() -> None:
    weights = {"a": [8, 32], "c": [32], "d": [32, 4]}
    assert text_of(graph_of(_MLP, **weights)) == "MLP 8 → 32 → 4, ReLU"
    longer = _MLP.replace("y =", "t =") + " s = Relu (t) y = MatMul (s, e)"
    assert text_of(graph_of(longer, e=[4, 2], **weights)) == "MLP 8 → 32 → 4 → 2, ReLU"
    # what is used besides is no inner layer
    used = _MLP.replace("y =", "t =") + " y = Concat <axis = 0> (t, r)"
    assert text_of(graph_of(used, **weights)) == ""


def test_transposed_and_filled_weights_tell_true_widths() -> None:
    gemm = "y = Gemm <transB = 1> (x, a)"
    assert text_of(graph_of(gemm, a=[32, 8])) == "Linear 8 → 32"
    filled = "s = Constant <value = int64[2] {8, 32}> () a = ConstantOfShape (s) y = MatMul (x, a)"
    assert text_of(graph_of(filled)) == "Linear 8 → 32"
    turned = "t = Transpose <perm = [1, 0]> (a) y = MatMul (x, t)"
    assert text_of(graph_of(turned, a=[32, 8])) == "Linear 8 → 32"
    assert text_of(graph_of("y = MatMul (x, z)")) == ""


_GATED = "g = MatMul (x, a) u = MatMul (x, b) s = Sigmoid (g) i = Mul (g, s) h = Mul (i, u) "


def test_a_gated_mlp_and_what_takes_its_halves_from_elsewhere() -> None:
    weights = {"a": [8, 32], "b": [8, 32], "d": [32, 8]}
    assert text_of(graph_of(_GATED + "y = MatMul (h, d)", **weights)) == "SwiGLU 8 → 32 → 8"
    geglu = _GATED.replace("s = Sigmoid (g) i = Mul (g, s)", "i = Gelu (g)") + "y = MatMul (h, d)"
    assert text_of(graph_of(geglu, **weights)) == "GEGLU 8 → 32 → 8"
    other = _GATED.replace("u = MatMul (x, b)", "u = MatMul (z, b)") + "y = MatMul (h, d)"
    assert text_of(graph_of(other, **weights)) == ""


def test_quantization_around_and_within_changes_no_name() -> None:
    for name in ("dynamic", "matmulnbits_int4", "qdq", "qoperator_perchannel"):
        graph = load(corpus_file(f"quantized/bert.{name}.onnx")).graph
        assert len(graph.nodes) > 10
        tree = build_group_tree(graph)
        found = tree.find("layer.1")
        assert isinstance(found, Group), name
        recognition = recognise(nodes_of(found))
        assert recognition is not None, name
        assert recognition.name == "Transformer block", name
        details = recognition.details.read_as(TransformerDetails)
        assert isinstance(details.feeding, MlpDetails), name
        assert details.feeding.widths == (48, 192, 48), name
        assert details.attention is not None, name
        assert details.attention.heads == 4, name


def told_of_light(name: str) -> set[str]:
    """Return what the groups of one of onnx's light models are recognised as."""
    tree = build_group_tree(load(light_file(f"light_{name}.onnx")).graph)
    found = (group.recognised for group in tree.groups.values())
    return {recognition.text for recognition in found if recognition is not None}


def test_blocks_of_convolutional_networks() -> None:
    resnet = told_of_light("resnet50")
    assert {"Conv · BN · ReLU, 7×7, 3 → 64, /2", "Bottleneck block 256 → 256"} <= resnet
    assert "Inception block, 4 branches" in told_of_light("inception_v1")
    shuffle = told_of_light("shufflenet")
    assert "ShuffleNet unit" in shuffle
    assert not any("nverted" in text for text in shuffle)
    assert "MLP 9216 → 4096 → 4096 → 1000, ReLU" in told_of_light("bvlc_alexnet")


_FIRE = """
    s = Conv <kernel_shape = [1, 1]> (x, a)  t = Relu (s)
    l = Conv <kernel_shape = [1, 1]> (t, b)  m = Relu (l)
    r = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (t, c)  q = Relu (r)
    y = Concat <axis = 1> (m, q)
"""


def test_a_fire_module_and_what_is_more_than_one() -> None:
    weights = {"a": [16, 64, 1, 1], "b": [64, 16, 1, 1], "c": [64, 16, 3, 3]}
    assert text_of(graph_of(_FIRE, **weights)) == "Fire module 64 → 16 → 64 + 64"
    # the next squeeze is no part of it
    longer = _FIRE.replace("y =", "k =") + "y = Conv <kernel_shape = [1, 1]> (k, d)"
    assert text_of(graph_of(longer, d=[16, 128, 1, 1], **weights)) == ""
    # a branch that takes something else
    other = _FIRE.replace("(t, c)", "(z, c)")
    assert text_of(graph_of(other, **weights)) == ""


_RESIDUAL = """
    a = Conv <kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]> (x, v)  b = Relu (a)
    c = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (b, w)
    p = Conv <kernel_shape = [1, 1], strides = [2, 2]> (x, u)
    s = Add (c, p)  y = Relu (s)
"""


def test_a_residual_block_with_projection_and_a_sum_of_two_branches() -> None:
    weights = {"v": [128, 64, 3, 3], "w": [128, 128, 3, 3], "u": [128, 64, 1, 1]}
    assert text_of(graph_of(_RESIDUAL, **weights)) == "Residual block 64 → 128, /2, with projection"
    branches = _RESIDUAL.replace("(x, u)", "(z, u)")
    assert text_of(graph_of(branches, **weights)) == ""


_INVERTED = """
    a = Conv <kernel_shape = [1, 1]> (x, e)  b = Clip (a, lo, hi)
    c = Conv <kernel_shape = [3, 3], group = 96, pads = [1, 1, 1, 1]> (b, d)  f = Clip (c, lo, hi)
    g = Conv <kernel_shape = [1, 1]> (f, p)  y = Add (x, g)
"""


def test_an_inverted_residual_and_what_only_has_a_depthwise_convolution() -> None:
    clip = _constant("lo", 0.0) + _constant("hi", 6.0)
    weights = {"e": [96, 16, 1, 1], "d": [96, 1, 3, 3], "p": [16, 96, 1, 1]}
    assert text_of(graph_of(clip + _INVERTED, **weights)) == "Inverted residual 16 → 16"
    body = _INVERTED.replace("g =", "y =").replace("y = Add (x, g)", "")
    assert text_of(graph_of(clip + body, **weights)) == "Inverted residual, 3×3, 16 → 16"
    # a narrowing before it makes it a bottleneck's, and groups of several channels no depthwise one
    grouped = _INVERTED.replace("group = 96", "group = 4")
    weights["d"] = [96, 24, 3, 3]
    assert "nverted" not in text_of(graph_of(clip + grouped, **weights))


_EXCITATION = """
    m = GlobalAveragePool (x)  a = Conv <kernel_shape = [1, 1]> (m, v)  b = Relu (a)
    c = Conv <kernel_shape = [1, 1]> (b, w)  s = HardSigmoid (c)  y = Mul (s, x)
"""


def test_squeeze_and_excitation_weights_what_it_has_averaged() -> None:
    weights = {"v": [8, 32, 1, 1], "w": [32, 8, 1, 1]}
    assert text_of(graph_of(_EXCITATION, **weights)) == "Squeeze-and-excitation 32 → 8 → 32"
    assert text_of(graph_of(_EXCITATION.replace("Mul (s, x)", "Mul (s, z)"), **weights)) == ""


@pytest.mark.parametrize(("start", "is_one"), [("x", True), ("s", False)])
def test_branches_of_an_inception_block_begin_at_what_it_takes(start: str, is_one: bool) -> None:
    """Heads of a detector share a stem, and are put side by side as well."""
    sizes = {"s": ("x", 1), "a": (start, 1), "b": (start, 3), "c": ("s", 5)}
    nodes = [
        helper.make_node("Conv", [taken, f"w{name}"], [name], pads=[size // 2] * 4)
        for name, (taken, size) in sizes.items()
    ]
    nodes.append(helper.make_node("Concat", ["a", "b", "c"], ["y"], axis=1))
    stored = [
        numpy_helper.from_array(np.ones((8, 8, size, size), np.float32), f"w{name}")
        for name, (_, size) in sizes.items()
    ]
    ends = [helper.make_tensor_value_info(name, 1, (1, None, 16, 16)) for name in ("x", "y")]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], stored)
    model = load(helper.make_model(graph).SerializeToString())
    found = recognise(model.graph.nodes)
    assert (found is not None and found.name == "Inception block") == is_one


@pytest.mark.parametrize(
    ("op_type", "domain", "given", "name"),
    [
        ("QuickGelu", "com.microsoft", {"alpha": 1.0}, "SiLU"),
        ("QuickGelu", "com.microsoft", {"alpha": 1.702}, "quick GELU"),
        ("QuickGelu", "com.microsoft", {}, "quick GELU"),
        ("QuickGelu", "com.microsoft", {"alpha": 1.3}, "Swish"),
        ("Swish", "", {}, "SiLU"),
        ("Swish", "", {"alpha": 1.702}, "quick GELU"),
    ],
)
def test_an_activation_is_called_by_its_factor(
    op_type: str, domain: str, given: dict[str, float], name: str
) -> None:
    """ONNX Runtime writes SiLU as QuickGelu."""
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], pads=[1] * 4),
        helper.make_node(op_type, ["c"], ["y"], domain=domain, **given),
    ]
    stored = [numpy_helper.from_array(np.ones((8, 8, 3, 3), np.float32), "w")]
    ends = [helper.make_tensor_value_info(end, 1, (1, 8, 16, 16)) for end in ("x", "y")]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], stored)
    opsets = [helper.make_opsetid("", 24), helper.make_opsetid("com.microsoft", 1)]
    proto = helper.make_model(graph, opset_imports=opsets)
    found = recognise(load(proto.SerializeToString()).graph.nodes)
    assert found is not None
    assert found.name == f"Conv · {name}"
