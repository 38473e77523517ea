"""A residual block that makes maps smaller and larger again is a nested U of so many levels."""

from __future__ import annotations

import onnx.parser
import pytest

from netloupe.explorer.patterns import find_ingredients
from netloupe.explorer.readers.load import load


def name_block(levels: int) -> list[str]:
    """Return what a sum around a U is made of; with one level nothing is made smaller."""
    weights, lines, value = [], [], "x"
    count = 0

    def convolve(taken: str, channels: int) -> str:
        nonlocal count
        count += 1
        weights.append(f"float[8, {channels}, 3, 3] w{count}")
        lines.append(f"c{count} = Conv <pads = [1, 1, 1, 1]> ({taken}, w{count})")
        lines.append(f"a{count} = Relu (c{count})")
        return f"a{count}"

    kept = []
    for level in range(levels):
        value = convolve(value, 8)
        if level < levels - 1:
            kept.append(value)
            lines.append(f"p{level} = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> ({value})")
            value = f"p{level}"
    for level, skip in reversed([*enumerate(kept)]):
        lines.append(f'u{level} = Resize <mode = "nearest"> ({value}, none, scales)')
        lines.append(f"j{level} = Concat <axis = 1> (u{level}, {skip})")
        value = convolve(f"j{level}", 16)
    value = convolve(value, 8)
    text = (
        '<ir_version: 8, opset_import: ["" : 18]> g (float[1, 8, 64, 64] x) => (float[n] y)'
        f"<{', '.join(weights)}, float[4] scales = {{1, 1, 2, 2}}, float[0] none = {{}}> "
        f"{{ {' '.join(lines)} y = Add ({value}, x) }}"
    )
    model = load(onnx.parser.parse_model(text).SerializeToString())
    return [one.name for one in find_ingredients(model.graph.nodes)]


@pytest.mark.parametrize("levels", [3, 4, 5])
def test_its_levels_are_counted(levels: int) -> None:
    assert name_block(levels) == [f"Nested U of {levels} levels"]


def test_what_keeps_its_size_is_a_residual_block() -> None:
    assert name_block(1) == ["Residual block"]


def test_branches_of_several_sizes_side_by_side_are_no_levels() -> None:
    weights, lines, branches = [], [], []
    for place, stride in enumerate((2, 4, 8)):  # L. Sun and others, SAFMN, 2023, figure 3
        weights += [
            f"float[8, 1, 3, 3] w{place}",
            f"float[4] s{place} = {{1, 1, {stride}, {stride}}}",
        ]
        window = f"kernel_shape = [{stride}, {stride}], strides = [{stride}, {stride}]"
        lines += [
            f"p{place} = MaxPool <{window}> (x)",
            f"c{place} = Conv <group = 8, pads = [1, 1, 1, 1]> (p{place}, w{place})",
            f"u{place} = Resize (c{place}, none, s{place})",
        ]
        branches.append(f"u{place}")
    text = (
        '<ir_version: 8, opset_import: ["" : 18]> g (float[1, 8, 64, 64] x) => (float[n] y)'
        f"<{', '.join(weights)}, float[8, 24, 1, 1] w, float[0] none = {{}}> {{ {' '.join(lines)} "
        f"j = Concat <axis = 1> ({', '.join(branches)}) z = Conv (j, w) y = Add (z, x) }}"
    )
    model = load(onnx.parser.parse_model(text).SerializeToString())
    names = [one.name for one in find_ingredients(model.graph.nodes)]
    assert names == ["Residual block"]
