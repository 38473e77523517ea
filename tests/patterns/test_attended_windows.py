"""Attention in windows of an image is told with what fills up, rolls and cuts the image."""

from __future__ import annotations

import re

import pytest

from netloupe.explorer.patterns import Recognition, recognise
from tests.onnx_text import load_text

_PARTS = """<int64[2] wide = {8, 24}, int64[2] square = {8, 8}, int64[8] behind = {0,0,0,0,0,1,1,0},
 int64[6] cut = {1, 2, 4, 2, 4, 8}, int64[3] rows = {4, 16, 8}, int64[5] heads = {4, 16, 3, 2, 4},
 int64[4] image = {1, 8, 8, 8}, int64[1] n0 = {0}, int64[1] n1 = {1}, int64[1] n2 = {2},
 int64[1] n3 = {3}, int64[1] n6 = {6}, int64[1] n7 = {7}, int64[1] n99 = {99}>"""
_PAD = "padded = Pad (TAKEN, behind)"
_ROLL = """
  NAME_a = Slice (TAKEN, START, n99, AXIS)  NAME_b = Slice (TAKEN, n0, START, AXIS)
  NAME = Concat <axis = PLACE> (NAME_a, NAME_b)
"""
_CORE = """
  wqkv = ConstantOfShape (wide)  wo = ConstantOfShape (square)
  windows = Reshape (TAKEN, cut)  turned = Transpose <perm = [PERM]> (windows)
  tokens = Reshape (turned, rows)
  qkv = MatMul (tokens, wqkv)  apart = Reshape (qkv, heads)
  moved = Transpose <perm = [2, 0, 3, 1, 4]> (apart)
  q, k, v = Split <axis = 0, num_outputs = 3> (moved)
  q1 = Squeeze (q, n0)  k1 = Squeeze (k, n0)  v1 = Squeeze (v, n0)
  k2 = Transpose <perm = [0, 1, 3, 2]> (k1)
  scores = MatMul (q1, k2)  shares = Softmax (scores)  mixed = MatMul (shares, v1)
  back = Transpose <perm = [0, 2, 1, 3]> (mixed)  joined = Reshape (back, rows)
  given = MatMul (joined, wo)
  apart_again = Reshape (given, cut)  put = Transpose <perm = [PERM]> (apart_again)
  whole = Reshape (put, image)
"""
_CUT = "first = Slice (TAKEN, n0, n7, n1)  less = Slice (first, n0, n7, n2)"
_WINDOWS, _GRID = "0, 1, 3, 2, 4, 5", "0, 2, 4, 1, 3, 5"


def tell(*steps: str, perm: str = _WINDOWS, more: str = "") -> Recognition | None:
    """Return what steps one behind the other are; each takes what the last one before gave."""
    text, taken = "", "x"
    for step in steps:
        text += step.replace("TAKEN", taken).replace("PERM", perm)
        taken = re.findall(r"(\w+) = [A-Z]", text)[-1]
    size = 7 if "Pad (" in text else 8
    head = f"g (float[1, {size}, {size}, 8] x) => (y)"
    graph = load_text(f"{head} {_PARTS} {{ {text} {more} y = Identity ({taken}) }}").graph
    return recognise(graph.nodes)


def roll(name: str, start: str, axis: int) -> str:
    found = _ROLL.replace("NAME", name).replace("START", start)
    return found.replace("AXIS", f"n{axis}").replace("PLACE", str(axis))


_FORTH = (roll("down", "n2", 1), roll("right", "n2", 2))
_BACK = (roll("up", "n6", 1), roll("left", "n6", 2))


@pytest.mark.parametrize(
    ("steps", "facts"),
    [
        ((_CORE,), ("4×4", "2 heads × 4")),
        ((_PAD, _CORE, _CUT), ("4×4", "2 heads × 4")),
        ((*_FORTH, _CORE, *_BACK), ("4×4", "shifted", "2 heads × 4")),
        ((_PAD, *_FORTH, _CORE, *_BACK, _CUT), ("4×4", "shifted", "2 heads × 4")),
    ],
)
def test_what_fills_up_and_rolls_an_image_is_part_of_its_attention(
    steps: tuple[str, ...], facts: tuple[str, ...]
) -> None:
    found = tell(*steps)
    assert found is not None
    assert (found.name, found.facts) == ("Window attention", facts)


def test_a_layer_may_take_what_is_put_together_again() -> None:
    """X. Chu and others, Twins, 2021: of the places of the whole image, not of those of windows."""
    core = _CORE.replace("MatMul (joined, wo)", "Identity (joined)")
    found = tell(_PAD, core, _CUT, "w2 = ConstantOfShape (square)  out = MatMul (TAKEN, w2)")
    assert found is not None
    assert (found.name, found.facts) == ("Window attention", ("4×4", "2 heads × 4"))


def test_places_far_from_one_another_are_a_grid() -> None:
    turned_back = _CORE.replace("put = Transpose <perm = [PERM]>", "put = Transpose <perm = [0]>")
    text = turned_back.replace("perm = [0]", "perm = [0, 3, 1, 4, 2, 5]")
    found = tell(text, perm=_GRID)
    assert found is not None
    assert (found.name, found.facts[0]) == ("Grid attention", "2×2")


_OF_TWO = """
  other = Relu (x)  a = Slice (x, n2, n99, n1)  b = Slice (other, n0, n2, n1)
  both = Concat <axis = 1> (a, b)
"""


@pytest.mark.parametrize(
    "steps",
    [
        (_CORE, _CUT),  # nothing was filled up that could be cut off
        (_CORE, *_BACK),  # nor rolled
        (_FORTH[0].replace("(TAKEN, n0", "(TAKEN, n1"), _CORE, *_BACK),
        (_OF_TWO, _CORE),
        (_PAD, _CORE, "other = Neg (padded)  sum = Add (TAKEN, other)"),
    ],
)
def test_what_is_done_besides_is_no_part_of_it(steps: tuple[str, ...]) -> None:
    found = tell(*steps)
    assert found is None or found.name != "Window attention"


def test_without_windows_it_is_self_attention() -> None:
    found = tell(_CORE, perm="0, 1, 2, 3, 4, 5")
    assert found is not None
    assert (found.name, found.facts) == ("Self-attention", ("2 heads × 4",))
