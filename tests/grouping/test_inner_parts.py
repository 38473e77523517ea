"""Stages of a large group, and groups that are a U altogether."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx.parser
import pytest
from onnx import numpy_helper

from netloupe.explorer.grouping import Group, build_group_tree
from netloupe.explorer.grouping.inner_parts import list_inner_stages
from netloupe.explorer.readers.load import load

_STORED = "float[4] s = {1, 1, 2, 2}, float[0] none = {}"
_WEIGHTS = {"w": (8, 8, 3, 3), "v": (8, 8, 2, 2)}


def find_root(lines: Sequence[str], outputs: str = "y") -> Group:
    """Return what is around lines in ONNX's text form, of modules by what their values are called.

    ``stem_a = Neg (x)`` stands in the module ``stem``.
    """
    given = ", ".join(f"float[1, 8, N, M] {name}" for name in outputs.split())
    text = (
        f'<ir_version: 8, opset_import: ["" : 18]> g (float[1, 8, 64, 64] x) => ({given})'
        f"<{_STORED}> {{ {' '.join(lines)} }}"
    )
    model = onnx.parser.parse_model(text)
    for name, dims in _WEIGHTS.items():
        weight = numpy_helper.from_array(np.ones(dims, np.float32), name)
        model.graph.initializer.append(weight)
    for node in model.graph.node:
        module, _, _ = node.output[0].rpartition("_")
        node.name = "/".join(filter(None, ("", module, f"{node.op_type}_{node.output[0]}")))
    return build_group_tree(load(model.SerializeToString()).graph, "auto").root


def convolve(name: str, taken: str, attributes: str = "") -> str:
    return f"{name} = Conv <pads = [1, 1, 1, 1]{attributes}> ({taken}, w)"


def convolve_all(names: Sequence[str], taken: str) -> list[str]:
    """Return a module with two convolutions that is no known block."""
    name, *others = names
    lines = [convolve(f"{name}_a", taken), f"{name}_b = Sin ({name}_a)"]
    lines += [f"{name}_d = Mul ({name}_b, {taken})", convolve(f"{name}_c", f"{name}_d")]
    return [*lines, *(convolve_all(others, f"{name}_c") if others else [])]


def make_u(levels: int, *, form: str, skips: bool = True) -> list[str]:
    """Return a U of so many resolutions, whose maps an operator or strides make smaller."""
    lines, value, kept = [convolve("first", "x")], "first", []
    for level in range(levels - 1):
        kept.append(value)
        if form == "pools":
            lines.append(f"p{level} = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> ({value})")
            lines.append(convolve(f"d{level}", f"p{level}"))
        else:
            lines.append(convolve(f"d{level}", value, ", strides = [2, 2]"))
        value = f"d{level}"
    for level in reversed(range(levels - 1)):
        if form == "pools":
            lines.append(f'u{level} = Resize <mode = "nearest"> ({value}, none, s)')
        else:
            lines.append(f"u{level} = ConvTranspose <strides = [2, 2]> ({value}, v)")
        value = f"u{level}"
        if skips:
            lines.append(f"j{level} = Add ({value}, {kept[level]})")
            value = f"j{level}"
        lines.append(convolve(f"e{level}", value))
        value = f"e{level}"
    return [*lines, convolve("y", value)]


@pytest.mark.parametrize("form", ["pools", "strides"])
@pytest.mark.parametrize("levels", [3, 4])
def test_a_module_that_is_a_u_is_told_as_one(levels: int, form: str) -> None:
    found = find_root(make_u(levels, form=form)).u
    assert found is not None
    assert found.name == f"U-Net over {levels} resolutions"
    assert found.facts == ("8 → 8 channels",)


def test_what_has_no_skips_or_gives_several_maps_is_no_u() -> None:
    assert find_root(make_u(3, form="strides", skips=False)).u is None
    assert find_root(make_u(3, form="strides"), "y e1").u is None


def test_levels_of_one_step_are_no_u() -> None:
    assert find_root(make_u(2, form="pools")).u is None


def test_stages_are_told_in_their_order_and_by_their_names() -> None:
    lines = [*convolve_all(["stem", "body", "neck"], "x"), "y = Neg (neck_c)"]
    stages = list_inner_stages(find_root(lines))
    assert stages.names == ("stem", "body", "neck")
    assert stages.is_chain


def test_stages_side_by_side_are_no_chain() -> None:
    lines = [*convolve_all(["left"], "x"), *convolve_all(["right"], "x")]
    stages = list_inner_stages(find_root([*lines, "y = Max (left_c, right_c)"]))
    assert stages.names == ("left", "right")
    assert not stages.is_chain


def test_numbers_that_alone_tell_modules_apart_are_left_out() -> None:
    stages = list_inner_stages(find_root(convolve_all(["mix1", "mix2", "end", "half3"], "x")))
    assert stages.names == ("mix", "mix", "end", "half3")
    assert stages.runs == [("mix", 2), ("end", 1), ("half3", 1)]
