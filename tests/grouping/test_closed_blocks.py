"""Nothing outside of a found block lies on a way out of it and back."""

from __future__ import annotations

import re

import numpy as np
import onnx.parser
import pytest
from onnx import numpy_helper

from netloupe.explorer.grouping import Group, GroupTree, build_group_tree
from netloupe.explorer.grouping.closed_blocks import close_blocks
from netloupe.explorer.model import Node, Value
from netloupe.explorer.patterns import NestedBlock
from netloupe.explorer.readers.load import load
from tests.onnx_text import load_text

from .test_tree import check_tree


def list_ways_back(tree: GroupTree, group: Group) -> list[Node]:
    """Return the nodes outside of a group that take from it, by any way, and give to it.

    Arithmetic on shapes is not drawn.
    """
    inside = set(tree.order[group.low : group.high])
    behind: set[Node] = set()
    for node in tree.graph.nodes:
        given = {value.producer for value in node.inputs if isinstance(value, Value)}
        if node not in inside and (given & inside or given & behind):
            behind.add(node)
    givers = {value.producer for node in inside for value in node.inputs if value is not None}
    shapes = {group for group in tree.groups.values() if group.kind == "shape"}
    return [node for node in behind & givers if node and tree.group_of(node) not in shapes]


@pytest.mark.parametrize("layers", [1, 3])
def test_a_scale_made_from_the_shape_of_queries_is_in_the_attention(layers: int) -> None:
    text, x = [], "x"
    for layer in range(layers):
        lines = f"""
        turned = Transpose <perm = [1, 0, 2]> ({x})
        wide = MatMul (turned, w)
        biased = Add (b, wide)
        split = Reshape (biased, three)
        more = Unsqueeze (split, zero)
        third = Transpose <perm = [3, 1, 2, 0, 4]> (more)
        all = Squeeze (third, minus)
        q0 = Gather <axis = 0> (all, at0)
        k0 = Gather <axis = 0> (all, at1)
        v0 = Gather <axis = 0> (all, at2)
        q1 = Reshape (q0, heads)
        q2 = Transpose <perm = [1, 0, 2]> (q1)
        k1 = Reshape (k0, heads)
        k2 = Transpose <perm = [1, 0, 2]> (k1)
        v1 = Reshape (v0, heads)
        v2 = Transpose <perm = [1, 0, 2]> (v1)
        q = Reshape (q2, four)
        k = Reshape (k2, four)
        v = Reshape (v2, four)
        shape = Shape (q)
        last = Slice (shape, minus, stop)
        width = Cast <to = 1> (last)
        root = Sqrt (width)
        part = Div (one, root)
        scale = Cast <to = 1> (part)
        kt = Transpose <perm = [0, 1, 3, 2]> (k)
        scale_q = Sqrt (scale)
        qs = Mul (q, scale_q)
        scale_k = Sqrt (scale)
        ks = Mul (kt, scale_k)
        scores = MatMul (qs, ks)
        weights = Softmax <axis = -1> (scores)
        mixed = MatMul (weights, v)
        back = Transpose <perm = [2, 0, 1, 3]> (mixed)
        flat = Reshape (back, join)
        out = Gemm (flat, wo, bo)
        rows = Reshape (out, unflat)
        end = Transpose <perm = [1, 0, 2]> (rows)"""
        for name in re.findall(r"^ +(\w+) = ", lines, re.MULTILINE):
            lines = re.sub(rf"\b{name}\b(?! = \[)", f"l{layer}_{name}", lines)
        text.append(f"{lines}\n        y{layer} = Add ({x}, l{layer}_end)")
        x = f"y{layer}"
    proto = onnx.parser.parse_model(f"""<ir_version: 10, opset_import: ["": 17]>
    g (float[1, 6, 8] x) => (float[1, 6, 8] y)
    <int64[4] three = {{6, 1, 3, 8}},
     int64[1] zero = {{0}}, int64[1] minus = {{-1}}, int64[1] stop = {{9}}, int64 at0 = {{0}},
     int64 at1 = {{1}}, int64 at2 = {{2}}, int64[3] heads = {{6, 2, 4}},
     int64[4] four = {{1, 2, 6, 4}}, int64[2] join = {{6, 8}}, int64[3] unflat = {{6, 1, 8}},
     float one = {{1}}> {{
        {"".join(text)}
        y = Tanh ({x})
    }}""")
    for name, dims in {"w": (8, 24), "b": (24,), "wo": (8, 8), "bo": (8,)}.items():
        tensor = numpy_helper.from_array(np.ones(dims, np.float32), name)
        proto.graph.initializer.append(tensor)
    for node in proto.graph.node:
        layer, _, rest = node.output[0].partition("_")
        node.name = f"/layers.{layer[1:]}/attention/{rest}" if rest else f"/{layer}"
    tree = build_group_tree(load(proto.SerializeToString()).graph)
    check_tree(tree)
    groups = [group for group in {*tree.groups.values()} if group is not tree.root]
    assert any("Attention" in group.label or "attention" in group.label for group in groups)
    for group in groups:
        if group.kind != "shape":
            assert not list_ways_back(tree, group), group.path


def test_a_block_takes_what_only_it_uses_and_comes_from_it() -> None:
    nodes = load_text("""
    g (float[4] x) => (float[4] y, float[4] z) {
        a = Relu (x)
        b = Abs (a)
        c = Neg (x)
        d = Exp (b)
        e = Sin (a)
        f = Sum (a, d, c, e)
        z = Cos (e)
        y = Tanh (f)
    }""").graph.nodes
    (closed,) = close_blocks([NestedBlock("block", frozenset({0, 5}))], nodes)
    # c comes from elsewhere, and e goes elsewhere too
    assert closed.places == {0, 1, 3, 5}
    blocks = [NestedBlock("block", frozenset({0, 5})), NestedBlock("other", frozenset({3, 6}))]
    assert close_blocks(blocks, nodes) == blocks


def test_no_block_becomes_all_nodes() -> None:
    text = "g (float[4] x) => (float[4] y) { a = Relu (x) b = Abs (a) y = Add (a, b) }"
    blocks = [NestedBlock("block", frozenset({0, 2}))]
    assert close_blocks(blocks, load_text(text).graph.nodes) == blocks
