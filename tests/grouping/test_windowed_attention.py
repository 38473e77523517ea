"""What a program does around an attention in windows is in one box with it."""

from __future__ import annotations

import pytest

from .test_spilled_ideas import build, find_blocks, list_operators

_TEXT = """
    windows (float[1, 7, 7, 8] x) => (float[1, 7, 7, 8] y)
    <int64[2] square = {8, 8}, int64[1] width = {8}, int64[8] behind = {0,0,0,0,0,1,1,0},
     int64[6] cut = {1, 2, 4, 2, 4, 8}, int64[3] rows = {4, 16, 8}, int64[4] image = {1, 8, 8, 8},
     int64[1] n0 = {0}, int64[1] n1 = {1}, int64[1] n2 = {2}, int64[1] n7 = {7}>
    {
      [w] wq = ConstantOfShape (square)  [w2] wk = ConstantOfShape (square)
      [w3] wv = ConstantOfShape (square) [w4] wo = ConstantOfShape (square)
      [w5] s = ConstantOfShape (width)
      [enter__MatMul] u = MatMul (x, wo)
      [block__norm1__LayerNormalization] n = LayerNormalization (u, s)
      [block__Pad] p = Pad (n, behind)
      [block__Reshape] a = Reshape (p, cut)
      [block__Transpose] b = Transpose <perm = [0, 1, 3, 2, 4, 5]> (a)
      [block__Reshape_1] c = Reshape (b, rows)
      [block__attn__q__MatMul] q = MatMul (c, wq)
      [block__attn__k__MatMul] k = MatMul (c, wk)
      [block__attn__v__MatMul] v = MatMul (c, wv)
      [block__attn__Transpose] t = Transpose <perm = [0, 2, 1]> (k)
      [block__attn__MatMul] m = MatMul (q, t)
      [block__attn__Softmax] h = Softmax <axis = -1> (m)
      [block__attn__MatMul_1] o = MatMul (h, v)
      [block__attn__out__MatMul] z = MatMul (o, wo)
      [block__Reshape_2] d = Reshape (z, cut)
      [block__Transpose_1] e = Transpose <perm = [0, 1, 3, 2, 4, 5]> (d)
      [block__Reshape_3] f = Reshape (e, image)
      [block__Slice] g = Slice (f, n0, n7, n1)
      [block__Slice_1] i = Slice (g, n0, n7, n2)
      [block__Add] r = Add (u, i)
      [block__norm2__LayerNormalization] l = LayerNormalization (r, s)
      [block__mlp__MatMul] j1 = MatMul (l, wq)
      [block__mlp__Relu] j2 = Relu (j1)
      [block__mlp__MatMul_1] j = MatMul (j2, wk)
      [block__Add_1] k1 = Add (r, j)
      [leave__MatMul] y = MatMul (k1, wo)
    }
"""


def test_what_fills_and_cuts_an_image_is_in_a_box_with_the_attention() -> None:
    tree = build(_TEXT)
    (box,) = find_blocks(tree)
    assert box.label == "Window attention"
    assert box.parent is tree.groups["main/block/"]
    assert tree.groups["main/block/attn/"].parent is box
    assert list_operators(box).count("Slice") == 2
    assert "Pad" in list_operators(box)
    assert box.recognised is not None
    assert box.recognised.facts[0] == "4×4"
    block = tree.groups["main/block/"].recognised
    assert block is not None
    assert (block.name, block.facts[0]) == ("Transformer block", "windows 4×4")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(p, cut)", "(n, cut)"),  # filled up for nothing
        ("Transpose <perm = [0, 1, 3, 2, 4, 5]>", "Identity"),  # no windows
    ],
)
def test_without_windows_around_it_an_attention_stays_as_it_is(old: str, new: str) -> None:
    tree = build(_TEXT.replace(old, new).replace("[1, 7, 7, 8] x", "[1, 8, 8, 8] x"))
    assert all(block.label != "Window attention" for block in find_blocks(tree))


def test_a_block_that_cuts_windows_for_its_attention_lists_it_as_such() -> None:
    text = _TEXT.replace("(p, cut)", "(n, cut)").replace("[1, 7, 7, 8] x", "[1, 8, 8, 8] x")
    text = text.replace("Add (u, i)", "Add (u, f)")
    plain = [line for line in text.splitlines() if "Pad (" not in line and "Slice (" not in line]
    block = build("\n".join(plain)).groups["main/block/"]
    assert "Window attention" in [one.name for one in block.contents]
