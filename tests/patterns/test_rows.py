"""Layers in a row: the widths that features go through, and what strides make together."""

from __future__ import annotations

import numpy as np
import onnx.parser
import pytest
from onnx import numpy_helper

from netloupe.explorer.patterns import recognise
from netloupe.explorer.readers.load import load

WEIGHTS = {
    "w": (4, 2, 3, 3),
    "v": (8, 4, 3, 3),
    "narrow": (3, 1, 1, 1),
    "all": (256, 5),
}


def name(body: str) -> str:
    """Return what lines are recognised as that take maps of two channels, ``x``."""
    text = (
        '<ir_version: 8, opset_import: ["" : 18]> g (float[1, 2, 8, 8] x) => (float[n] y) '
        f"{{ {body} }}"
    )
    model = onnx.parser.parse_model(text)
    for key, dims in WEIGHTS.items():
        model.graph.initializer.append(numpy_helper.from_array(np.ones(dims, np.float32), key))
    found = recognise(load(model.SerializeToString()).graph.nodes)
    return found.text if found is not None else ""


CONV = "a = Conv <pads = [1, 1, 1, 1]> (x, w)"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        # the features of all 64 places are no width
        (
            f"{CONV}  b = Relu (a)  c = Flatten (b)  y = MatMul (c, all)",
            "Conv · ReLU · Linear 2 → 4 → 5",
        ),
        # what a pixel shuffle gives is what the next layer takes
        (
            f"{CONV}  b = DepthToSpace <blocksize = 2> (a)  y = Conv (b, narrow)",
            "Conv · Pixel shuffle · Conv 2 → 4 → 1 → 3, ×2",
        ),
        (
            f"{CONV}  y = SpaceToDepth <blocksize = 2> (a)",
            "Conv · Pixel unshuffle, 3×3, 2 → 4 → 16, /2",
        ),
        # strides of a convolution and a pool
        (
            (
                "a = Conv <pads = [1, 1, 1, 1], strides = [2, 2]> (x, w)  b = Relu (a)"
                "  y = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (b)"
            ),
            "Conv · ReLU · MaxPool, 3×3, 2 → 4, /4",
        ),
        (
            "a = Conv <strides = [2, 2]> (x, w)  b = Sin (a)  c = Relu (b)  y = Conv (c, v)",
            "",
        ),
    ],
)
def test_layers_in_a_row(body: str, text: str) -> None:
    assert name(body) == text
