"""Conformer blocks, their convolution modules, and attention to a smaller picture."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from netloupe.explorer.grouping import Group, build_group_tree
from netloupe.explorer.model import Graph
from netloupe.explorer.patterns import recognise
from netloupe.explorer.readers.load import load
from tests.corpus import corpus_file
from tests.onnx_text import load_text

LAYER = "encoder/layers.1"


def find(model: str, path: str) -> Group:
    found = build_group_tree(load(corpus_file(f"exported/{model}.onnx")).graph).find(path)
    assert isinstance(found, Group)
    return found


def test_a_conformer_block_tells_heads_widths_and_kernel() -> None:
    """A. Gulati and others, 2020, figure 1, of the sizes that tools/zoo configures."""
    block = find("conformer.legacy", LAYER)
    assert block.recognised is not None
    text = "Conformer block, 4 heads × 12, MLP 48 → 192 → 48, depthwise kernel 31"
    assert block.recognised.text == text
    assert block.parent is not None
    assert block.parent.recognised is not None
    assert block.parent.recognised.text == text
    module = find("conformer.legacy", f"{LAYER}/conv_module").recognised
    assert module is not None
    assert module.text == "Convolution module, kernel 31, 48 → 48"


def test_what_is_not_all_of_one_conformer_block_is_none() -> None:
    block = find("conformer.legacy", LAYER).recognised
    assert block is not None
    nodes = block.nodes
    ends = [place for place, node in enumerate(nodes) if node.op_type == "LayerNormalization"]
    for low, high in ((0, ends[-1]), (ends[1], len(nodes))):  # no last norm, no first half
        found = recognise(nodes[low:high])
        assert found is None or found.name != "Conformer block"


def test_feed_forward_modules_that_are_not_halved_make_no_conformer() -> None:
    proto = onnx.load(corpus_file("exported/conformer.legacy.onnx"))
    for node in proto.graph.node:
        for attribute in node.attribute:
            if node.op_type == "Constant" and attribute.HasField("t") and "ffn" not in node.name:
                value = numpy_helper.to_array(attribute.t)
                if value.shape == () and value == 0.5:
                    attribute.t.CopyFrom(numpy_helper.from_array(np.float32(0.25)))
    found = build_group_tree(load(proto).graph).find(LAYER)
    assert isinstance(found, Group)
    assert found.recognised is None


MODULE = """
    l = LayerNormalization (x, s)  t = Transpose <perm = [0, 2, 1]> (l)
    d = Conv (t, w1)  a, b = Split <axis = 1, num_outputs = 2> (d)  g = Sigmoid (b)
    m = Mul (a, g)  c = Conv <group = 4> (m, w2)  n = BatchNormalization (c, s, s, s, s)
    e = Sigmoid (n)  f = Mul (n, e)  y = Conv (f, w3)
"""


def module(body: str) -> Graph:
    return load_text(f"""
        g (float[1, 20, 4] x) => (float[1, 4, 20] y)
        <float[4] s = {{1, 1, 1, 1}}, int64[3] d1 = {{8, 4, 1}}, int64[3] d2 = {{4, 1, 31}},
         int64[3] d3 = {{4, 4, 1}}, int64[3] d4 = {{12, 4, 1}}>
        {{ w1 = ConstantOfShape (d1)  w2 = ConstantOfShape (d2)  w3 = ConstantOfShape (d3)
           w4 = ConstantOfShape (d4)  {body} }}
    """).graph


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("", "", "Convolution module, kernel 31, 4 → 4"),
        # nothing doubled, no gate, a gate of another kind
        ("d = Conv (t, w1)", "d = Conv (t, w4)", ""),
        ("m = Mul (a, g)", "m = Identity (g)", ""),
        ("g = Sigmoid (b)", "g = Tanh (b)", ""),
    ],
)
def test_a_convolution_module(old: str, new: str, text: str) -> None:
    found = recognise(module(MODULE.replace(old, new) if old else MODULE).nodes)
    told = found.text if found is not None else ""
    assert told == text if text else "module" not in told


def test_attention_whose_keys_are_of_fewer_places_is_self_attention() -> None:
    """E. Xie and others, 2021, table 6: of stage 2 in squares of 4, 2 heads in tools/zoo."""
    found = find("segformer.dynamo", "stages.1/blocks.0/attention").recognised
    assert found is not None
    assert found.text == "Self-attention, 2 heads × 16, spatial reduction /4"
    # the last stage reduces nothing
    last = find("segformer.dynamo", "stages.3/blocks.0/attention").recognised
    assert last is not None
    assert "reduction" not in last.text


@pytest.mark.parametrize(
    ("queries", "keys", "strides", "is_reduced"),
    [
        ("x", "x", "2, 2", True),
        ("z", "x", "2, 2", False),  # queries of something else
        ("x", "x", "1, 1", False),  # as many places, but for the borders
    ],
)
def test_what_reduces_the_places_of_keys(
    queries: str, keys: str, strides: str, is_reduced: bool
) -> None:
    graph = load_text(f"""
        g (float[1, 64, 8] x, float[1, 64, 8] z) => (float[1, 64, 8] y)
        <int64[4] cd = {{8, 8, 2, 2}}, int64[2] wd = {{8, 8}}, int64[4] image = {{1, 8, 8, 8}},
         int64[3] places = {{1, 8, -1}}>
        {{ cw = ConstantOfShape (cd)  a = ConstantOfShape (wd)  b = ConstantOfShape (wd)
           d = ConstantOfShape (wd)  t = Transpose <perm = [0, 2, 1]> ({keys})
           i = Reshape (t, image)  c = Conv <strides = [{strides}]> (i, cw)
           f = Reshape (c, places)  u = Transpose <perm = [0, 2, 1]> (f)
           q = MatMul ({queries}, a)  k = MatMul (u, b)  v = MatMul (u, d)
           kt = Transpose <perm = [0, 2, 1]> (k)  s = MatMul (q, kt)  p = Softmax (s)
           y = MatMul (p, v) }}
    """).graph
    found = recognise(graph.nodes)
    assert (found is not None and "spatial reduction /2" in found.text) == is_reduced


def test_a_row_of_a_convolution_and_a_separable_one() -> None:
    """The stem of MobileNetV2 (M. Sandler and others, 2018, table 2: without expansion)."""
    found = find("mobilenetv2.legacy", "conv_stem").recognised
    assert found is not None
    assert found.text == "Conv · ReLU6 · Depthwise-separable conv 3 → 8 → 8, /2"


ROTATED = """
    a = Slice (x, o, h, ax)  b = Slice (x, h, w, ax)  m = Neg (b)  c = Concat <axis = 2> (m, a)
    e = Mul (x, cos)  f = Mul (c, sin)  r = Add (e, f)
    q = MatMul (r, wq)  k = MatMul (r, wk)  v = MatMul (x, wv)
    kt = Transpose <perm = [0, 2, 1]> (k)  s = MatMul (q, kt)  p = Softmax (s)
    g = MatMul (p, v)  y = MatMul (g, wo)
"""


@pytest.mark.parametrize(
    ("old", "new", "is_rotary"),
    [
        ("", "", True),
        ("f = Mul (c, sin)  r = Add (e, f)", "f = Mul (c, sin)  r = Add (f, e)", True),
        # nothing turned, halves in their order, another value turned
        ("m = Neg (b)", "m = Abs (b)", False),
        ("(m, a)", "(a, m)", False),
        ("a = Slice (x,", "a = Slice (z,", False),
        # what is turned goes elsewhere too
        ("y = MatMul (g, wo)", "u = MatMul (g, wo)  y = Add (u, r)", False),
    ],
)
def test_attention_that_is_given_positions_by_a_rotation(
    old: str, new: str, is_rotary: bool
) -> None:
    body = ROTATED.replace(old, new) if old else ROTATED
    weights = "  ".join(f"{name} = ConstantOfShape (wd)" for name in ("wq", "wk", "wv", "wo"))
    graph = load_text(f"""
        g (float[1, 20, 8] x, float[1, 20, 8] z) => (float[1, 20, 8] y)
        <int64[2] wd = {{8, 8}}, int64[1] o = {{0}}, int64[1] h = {{4}}, int64[1] w = {{8}},
         int64[1] ax = {{2}}, int64[3] td = {{1, 20, 8}}>
        {{ {weights}  cos = ConstantOfShape (td)  sin = ConstantOfShape (td)  {body} }}
    """).graph
    found = recognise(graph.nodes)
    assert (found is not None and found.text.endswith("rotary")) == is_rotary


def test_the_attention_of_a_conformer() -> None:
    found = find("conformer.legacy", f"{LAYER}/self_attn").recognised
    assert found is not None
    assert found.text == "Self-attention, 4 heads × 12, rotary"
