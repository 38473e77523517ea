"""One model has a norm or an activation as one operator, the other written out: they are paired.

By construction: what is written out calculates the same, with the same weights. So each weight is
paired with the one in its role, however these are called and in whichever order they are taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pytest
from onnx import parser

from netloupe.explorer.checks import check
from netloupe.explorer.compare import diff
from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load
from tests.compare.networks import store

_CHANCE = np.random.default_rng(11)
_WIDTH = 8
_MATRICES = {
    name: _CHANCE.standard_normal((_WIDTH, _WIDTH)).astype(np.float32) for name in ("m", "w")
}
_SCALE, _SHIFT = _CHANCE.standard_normal((2, _WIDTH)).astype(np.float32)
_NUMBERS = "half = Constant <value_float=0.5> () less = Constant <value_float=-0.5> () "
_NUMBERS += "two = Constant <value_float=2.0> () eps = Constant <value_float=1e-5> () "
#: by a word how X is divided by the root of its variance
_DIVIDED = {
    "Sqrt": "r = Sqrt (e) k = Div (X, r)",
    "Pow": "r = Pow (e, half) k = Div (X, r)",
    "inverse Pow": "r = Pow (e, less) k = Mul (X, r)",
    "Reciprocal": "s = Sqrt (e) r = Reciprocal (s) k = Mul (X, r)",
}
_SQUARES = ("Pow (X, two)", "Mul (X, X)")


class Norm(NamedTuple):
    """A norm as one operator, and how it begins where it is written out.

    Parameters
    ----------
    operator
        The operator.
    before
        The nodes before the square.
    squared
        What is squared.
    has_shift
        Whether something is added to the result.
    opset
        The version of ``ai.onnx``.
    """

    operator: str
    before: str
    squared: str
    has_shift: bool
    opset: int


NORMS = {
    "LayerNorm": Norm(
        "LayerNormalization <epsilon=1e-5> (h, g, b)",
        "c = ReduceMean <axes=[-1]> (h) d = Sub (h, c)",
        "d",
        True,
        17,
    ),
    "RMSNorm": Norm(
        "com.microsoft.SimplifiedLayerNormalization <axis=-1, epsilon=1e-5> (h, g)",
        "",
        "h",
        False,
        17,
    ),
    "sum and LayerNorm": Norm(
        "com.microsoft.SkipLayerNormalization <epsilon=1e-5> (h, x, g, b)",
        "z = Add (h, x) c = ReduceMean <axes=[-1]> (z) d = Sub (z, c)",
        "d",
        True,
        17,
    ),
    "sum and RMSNorm": Norm(
        "com.microsoft.SkipSimplifiedLayerNormalization <epsilon=1e-5> (h, x, g)",
        "d = Add (h, x)",
        "d",
        False,
        17,
    ),
}


def read(body: str, arrays: dict[str, np.ndarray], opset: int, sizes: str = "n,s,8") -> Model:
    """Return a model of some nodes between two products or convolutions."""
    opsets = f'"": {opset}, "com.microsoft": 1'
    is_picture = sizes.count(",") == 3
    first, last = (
        ("Conv (x, m)", "Conv (y, w)") if is_picture else ("MatMul (x, m)", "MatMul (y, w)")
    )
    text = f"""<ir_version: 9, opset_import: [{opsets}]> g (float[{sizes}] x) => (float[{sizes}] o)
      {{ h = {first} {body} o = {last} }}"""
    kernels = {
        name: matrix.reshape(*matrix.shape, *(1, 1) * is_picture)
        for name, matrix in _MATRICES.items()
    }
    return load(store(parser.parse_model(text), kernels | arrays).SerializeToString())


def list_written(norm: Norm, names: tuple[str, str]) -> Iterator[str]:
    """Yield the nodes of a norm, written out in every way, by what their weights are called."""
    scale, shift = names
    for square in _SQUARES:
        for divided in _DIVIDED.values():
            for is_turned in (False, True):
                last = ["y" if not norm.has_shift else "u", "y"]
                operands = [("k", scale), ("u", shift)]
                if is_turned:
                    operands = [pair[::-1] for pair in operands]
                affine = f"{last[0]} = Mul ({', '.join(operands[0])})"
                if norm.has_shift:
                    affine += f" y = Add ({', '.join(operands[1])})"
                inside = f"q = {square} v = ReduceMean <axes=[-1]> (q) e = Add (v, eps) {divided}"
                inside = inside.replace("X", norm.squared)
                yield f"{_NUMBERS} {norm.before} {inside} {affine}"


@pytest.mark.parametrize("names", [("g", "b"), ("b", "g"), ("scale", "shift")])
@pytest.mark.parametrize("kind", NORMS)
def test_weights_of_a_norm_are_paired_by_their_roles(kind: str, names: tuple[str, str]) -> None:
    norm = NORMS[kind]
    own = {"g": _SCALE, "b": _SHIFT} if norm.has_shift else {"g": _SCALE}
    fused = read(f"y = {norm.operator}", own, norm.opset)
    arrays = dict(zip(names, (_SCALE, _SHIFT)[: len(own)], strict=False))
    wanted = dict(zip(own, names, strict=False)) | {"m": "m", "w": "w"}
    for body in list_written(norm, names):
        written = read(body, arrays, norm.opset)
        assert pair_weights(fused, written) == wanted, body
        assert pair_weights(written, fused) == {new: old for old, new in wanted.items()}, body


def pair_weights(left: Model, right: Model) -> dict[str, str]:
    """Return by name which weights are paired, where these are equal and no node is alone."""
    found = diff(left, right)
    assert not [node for node in found.left_alone + found.right_alone if node.inputs]
    assert not [each for each in found.tensors if each.numbers is not None]
    return {one.name: other.name for one, other in found.matching.tensors.items() if one.name}


_SIZES = "three = Constant <value_float=3.0> () six = Constant <value_float=6.0> () "
_SIZES += "zero = Constant <value_float=0.0> () "
#: by the operator how it is written out
BLOCKS = {
    "y = Mish (h)": (
        "s = Softplus (h) t = Tanh (s) y = Mul (h, t)",
        "s = Softplus (h) t = Tanh (s) y = Mul (t, h)",
    ),
    "y = HardSwish (h)": (
        "s = HardSigmoid <alpha=0.16666667> (h) y = Mul (h, s)",
        f"{_SIZES} p = Add (h, three) c = Clip (p, zero, six) q = Mul (h, c) y = Div (q, six)",
        f"{_SIZES} p = Add (h, three) c = Clip (p, zero, six) q = Div (c, six) y = Mul (q, h)",
    ),
    "y = LayerNormalization (h, g, b)": (*list_written(NORMS["LayerNorm"], ("g", "b")),),
    "y = GroupNormalization <num_groups=2> (h, g, b)": (
        """some = Constant <value_ints=[0, 2, -1]> () all = Constant <value_ints=[0, 8, 4, 4]> ()
        r = Reshape (h, some) i = InstanceNormalization (r, one, none) z = Reshape (i, all)
        u = Mul (z, g3) y = Add (u, b3)""",
    ),
}


@pytest.mark.parametrize("operator", BLOCKS)
def test_what_check_calls_written_out_is_paired_with_its_operator(operator: str) -> None:
    arrays = {"g": _SCALE, "b": _SHIFT}
    arrays |= {"g3": _SCALE.reshape(-1, 1, 1), "b3": _SHIFT.reshape(-1, 1, 1)}
    arrays |= {"one": np.ones(2, np.float32), "none": np.zeros(2, np.float32)}
    sizes = "n,s,8" if "Layer" in operator else "1,8,4,4"

    def build(body: str) -> Model:
        words = {*re.findall(r"\w+", body)}
        known = {name: array for name, array in arrays.items() if name in words}
        return read(body, known, 17 if "Layer" in operator else 21, sizes)

    for body in BLOCKS[operator]:
        one, other = build(operator), build(body)
        assert "NL-G14" in {finding.id for finding in check(other).findings}, body
        for found in (diff(one, other), diff(other, one)):
            assert not [node for node in found.left_alone + found.right_alone if node.inputs], body
            assert len(found.fused) == 1, body
