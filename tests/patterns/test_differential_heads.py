"""Differential attention of libraries that compute attention as one operation."""

from __future__ import annotations

import pytest

from .test_fused_today import text_of_nodes

_WEIGHTS = dict.fromkeys("qkvo", (32, 32))


def _attend(number: str, values: str) -> str:
    """Return shares of the same scores, and what they mix."""
    return f"p{number} = Softmax (a)  m{number} = MatMul (p{number}, {values})  "


def _write(parts: str, scale: str, *, joined: bool) -> str:
    text = "  ".join(
        f"{name}0 = MatMul (x, {name})  {name}1 = Reshape ({name}0, heads)  "
        f"{name}2 = Transpose <perm = [0, 2, 1, 3]> ({name}1)"
        for name in "qkv"
    )
    text = f"heads = Constant <value = int64[4] {{0, 0, 4, 8}}> ()  {text}  "
    text += "kt = Transpose <perm = [0, 1, 3, 2]> (k2)  a = MatMul (q2, kt)  "
    if joined:
        text += "va, vb = Split <axis = 1, num_outputs = 2> (v2)  "
        text += "reps = Constant <value = int64[4] {1, 2, 1, 1}> ()  "
        text += "vc = Tile (va, reps)  vd = Tile (vb, reps)  "
        text += f"{_attend('0', 'vc')}{_attend('1', 'vd')}m = Concat <axis = -1> (m0, m1)  "
    else:
        text += f"{_attend('0', 'v2')}m = Identity (m0)  "
    return text + (
        f"{parts}  l = Constant <value = float {{0.5}}> ()  t = {scale}  d = Sub (one, t)  "
        "n = RMSNormalization (d, g)  n1 = Mul (n, l)  n2 = Transpose <perm = [0, 2, 1, 3]> (n1)  "
        "flat = Constant <value = int64[3] {0, 0, -1}> ()  n3 = Reshape (n2, flat)  "
        "y = MatMul (n3, o)"
    )


_SPLIT = "one, two = Split <axis = 1, num_outputs = 2> (m)"
_SLICES = """
    from0 = Constant <value = int64[1] {0}> ()  to0 = Constant <value = int64[1] {2}> ()
    to1 = Constant <value = int64[1] {4}> ()  heads_axis = Constant <value = int64[1] {1}> ()
    one = Slice (m, from0, to0, heads_axis)  two = Slice (m, to0, to1, heads_axis)
"""


@pytest.mark.parametrize("joined", [False, True])
@pytest.mark.parametrize("parts", [_SPLIT, _SLICES])
@pytest.mark.parametrize("scale", ["Mul (l, two)", "Mul (two, l)"])
def test_halves_of_heads_are_differential_attention(
    parts: str, scale: str, *, joined: bool
) -> None:
    weights = {**_WEIGHTS, "g": (16 if joined else 8,), "o": (32 if joined else 16, 32)}
    told = text_of_nodes(_write(parts, scale, joined=joined), 23, **weights)
    assert told.startswith("Differential attention")


def test_what_is_taken_of_something_else_is_none() -> None:
    weights = {**_WEIGHTS, "g": (8,), "o": (16, 32)}
    parts = f"{_SPLIT.replace('two', 'rest')}  two = Neg (x)"
    text = _write(parts, "Mul (l, two)", joined=False)
    assert "Differential" not in text_of_nodes(text, 23, **weights)
