"""Kernels whose stored numbers tell what they are: masked, zero, blurring."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx.parser
import pytest
from onnx import TensorProto, helper, numpy_helper

from netloupe.explorer.model import Graph, Node
from netloupe.explorer.patterns import recognise
from netloupe.explorer.readers.load import load

_RANDOM = np.random.default_rng(0)
_BLUR = np.outer([1, 2, 1], [1, 2, 1]) / 16


def _make(*kernels: np.ndarray[Any, Any], groups: int = 1, copies: int = 0) -> Graph:
    """Return convolutions in a row, the kernels of the first of them copies of one stored besides.

    Exporters store equal weights of several layers once, and copy them for the others.
    """
    nodes, weights, value = [], [], "x"
    for place, kernel in enumerate(kernels):
        name = f"stored{place}" if place < copies else f"w{place}"
        if 0 < place < copies:
            name = "stored0"
        else:
            weights.append(numpy_helper.from_array(kernel.astype(np.float32), name))
        if place < copies:
            nodes.append(helper.make_node("Identity", [name], [f"w{place}"]))
        size = [kernel.shape[-1] // 2] * 4
        nodes.append(helper.make_node("Conv", [value, f"w{place}"], [f"v{place}"], pads=size))
        value = f"v{place}"
    first = next(node for node in nodes if node.op_type == "Conv")
    first.attribute.append(helper.make_attribute("group", groups))
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "kernels",
        [info("x", TensorProto.FLOAT, [1, 4, 8, 8])],
        [info(value, TensorProto.FLOAT, None)],
        weights,
    )
    return load(helper.make_model(graph)).graph


def _tell(graph: Graph) -> str:
    found = recognise([next(node for node in graph.nodes if node.op_type == "Conv")])
    return found.text if found is not None else ""


def _mask(kernel: np.ndarray[Any, Any], *, is_whole: bool) -> np.ndarray[Any, Any]:
    kernel = kernel.copy()
    kernel.reshape(*kernel.shape[:2], -1)[..., kernel.shape[-1] ** 2 // 2 + 1 :] = 0
    if not is_whole:
        kernel[0, 0, -1, -1] = 1
    return kernel


@pytest.mark.parametrize("is_whole", [True, False])
def test_nothing_behind_the_middle_of_a_masked_kernel_counts(*, is_whole: bool) -> None:
    kernel = _mask(_RANDOM.normal(size=(4, 4, 3, 3)), is_whole=is_whole)
    assert ("masked" in _tell(_make(kernel))) == is_whole


@pytest.mark.parametrize("size", [(2, 1), (1, 2), (4, 3)])
def test_a_kernel_that_has_no_middle_is_not_masked(size: tuple[int, int]) -> None:
    kernel = _RANDOM.normal(size=(4, 4, *size))
    kernel.reshape(4, 4, -1)[..., kernel[0, 0].size // 2 + 1 :] = 0
    assert "masked" not in _tell(_make(kernel))


@pytest.mark.parametrize("has_others", [True, False])
def test_a_zero_kernel_is_told_where_a_file_has_numbers(*, has_others: bool) -> None:
    zero = np.zeros((4, 4, 1, 1))
    other = _RANDOM.normal(size=(4, 4, 3, 3)) * has_others
    assert ("zero" in _tell(_make(zero, other))) == has_others


@pytest.mark.parametrize("copies", [1, 2, 8])
@pytest.mark.parametrize("has_others", [True, False])
def test_zero_kernels_are_told_of_which_one_is_stored(copies: int, *, has_others: bool) -> None:
    zero = np.zeros((4, 4, 1, 1))
    other = _RANDOM.normal(size=(4, 4, 3, 3)) * has_others
    graph = _make(*[zero] * copies, other, copies=copies)
    assert ("zero" in _tell(graph)) == has_others


@pytest.mark.parametrize("is_same", [True, False])
def test_one_kernel_for_all_channels_blurs(*, is_same: bool) -> None:
    kernel = np.tile(_BLUR, (4, 1, 1, 1))
    if not is_same:
        kernel[1] = kernel[1] ** 2
    assert ("blurring" in _tell(_make(kernel, groups=4))) == is_same


_ZERO_GRAPH = """
<ir_version: 8, opset_import: ["" : 17]>
g (float[1, 4, 8, 8] x, float[1, 4, 8, 8] hint) => (float[1, 4, 8, 8] y)
<float[4, 4, 3, 3] w, float[4, 4, 1, 1] zero, float[4, 4, 1, 1] wide> {
    BODY
}
"""


_BRANCH = "a = Conv <pads=[1,1,1,1]> (x, w) b = Relu (a) z = Conv (b, zero)"
_OTHER = _BRANCH.replace("(x, w)", "(hint, w)")


@pytest.mark.parametrize(
    ("body", "is_told"),
    [
        # the end of a residual branch, whose folded norm begins with zeros
        (f"{_BRANCH} y = Add (z, x)", False),
        (f"{_BRANCH} y = Add (x, z)", False),
        # its shortcut is made as wide
        (f"{_BRANCH} s = Conv (x, wide) y = Add (z, s)", False),
        # an exporter hands it on first
        (f"{_BRANCH} i = Identity (z) y = Add (i, x)", False),
        # what another input gives is added through a zero convolution
        (f"{_OTHER} y = Add (z, x)", True),
        # and so is a sum with it
        ("s = Add (x, hint) z = Conv (s, zero) t = Conv (x, wide) y = Add (t, z)", True),
        # nothing is added
        (f"{_BRANCH} y = Sigmoid (z)", True),
        # what it is added to is computed besides
        (f"{_BRANCH} c = Conv (hint, wide) d = Sigmoid (c) y = Add (z, d)", True),
    ],
)
def test_zeros_with_which_a_residual_branch_begins_are_not_told(
    body: str, *, is_told: bool
) -> None:
    model = onnx.parser.parse_model(_ZERO_GRAPH.replace("BODY", body))
    shapes = {"w": (4, 4, 3, 3), "zero": (4, 4, 1, 1), "wide": (4, 4, 1, 1)}
    del model.graph.initializer[:]
    for name, shape in shapes.items():
        numbers = np.zeros(shape) if name == "zero" else _RANDOM.normal(size=shape)
        tensor = numpy_helper.from_array(numbers.astype(np.float32), name)
        model.graph.initializer.append(tensor)
    graph = load(model).graph
    node = next(one for one in graph.nodes if one.inputs[1:] and _name(one) == "zero")
    found = recognise([node])
    assert found is not None
    assert ("zero" in found.text) == is_told


def _name(node: Node) -> str:
    value = node.input(1)
    return value.name if value is not None else ""
