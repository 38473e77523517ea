"""Caffe2's spellings of windows: each says the same as each other, and no other number does."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path

import pytest

from netloupe.explorer.compare import diff
from netloupe.explorer.readers.load import load
from netloupe.proto import caffe2_pb2

Window = Mapping[str, int | list[int]]

#: by operator what says the same of a window, each spelling of one part in turn
_KERNELS: tuple[Window, ...] = ({"kernels": [3, 3]}, {"kernel": 3}, {"kernel_h": 3, "kernel_w": 3})
_STRIDES: tuple[Window, ...] = (
    *({}, {"strides": [1, 1]}, {"stride": 1}, {"stride_h": 1, "stride_w": 1}),
)
_DILATIONS: tuple[Window, ...] = (
    *({}, {"dilations": [1, 1]}, {"dilation": 1}, {"dilation_h": 1, "dilation_w": 1}),
)
_NO_PADS: tuple[Window, ...] = (
    *({}, {"pads": [0] * 4}, {"pad": 0}, {"pad_t": 0, "pad_l": 0, "pad_b": 0, "pad_r": 0}),
)
_PADS: tuple[Window, ...] = (
    *({"pads": [2] * 4}, {"pad": 2}, {"pad_t": 2, "pad_l": 2, "pad_b": 2, "pad_r": 2}),
)
_ADJS: tuple[Window, ...] = ({}, {"adjs": [0, 0]}, {"adj": 0}, {"adj_h": 0, "adj_w": 0})
_ALIKE = {
    "kernel": _KERNELS,
    "stride": _STRIDES,
    "dilation": _DILATIONS,
    "no padding": _NO_PADS,
    "padding": _PADS,
}
_OTHER: tuple[tuple[Window, Window], ...] = (
    ({"kernels": [3, 3]}, {"kernel": 5}),
    ({"kernels": [3, 3]}, {"kernel_h": 3, "kernel_w": 5}),
    ({"kernels": [3, 5]}, {"kernel_h": 5, "kernel_w": 3}),
    ({"kernels": [3, 3, 3]}, {"kernel": 3}),
    ({"kernels": [3]}, {"kernel": 3}),
    ({"kernel": 3}, {"kernel": 3, "stride": 2}),
    ({"kernel": 3}, {"kernel": 3, "strides": [1, 2]}),
    ({"kernel": 3}, {"kernel": 3, "dilation_h": 1, "dilation_w": 2}),
    (
        {"kernel": 3, "pads": [1, 2, 3, 4]},
        {"kernel": 3, "pad_t": 1, "pad_l": 3, "pad_b": 2, "pad_r": 4},
    ),
    ({"kernel": 3, "pad": 1}, {"kernel": 3}),
    ({"kernel": 3, "pad": 1}, {"kernel": 3, "pads": [1, 1]}),
    # what is stated in two ways, or in part, is not read
    ({"kernel": 3}, {"kernel": 3, "kernels": [3, 3]}),
    ({"kernel": 3, "pad": 0}, {"kernel": 3, "pad_t": 0, "pad_l": 0}),
    ({"kernels": [3, 3], "stride": 1}, {"kernels": [3, 3], "strides": []}),
)


def make_net(path: Path, op_type: str, window: Window) -> Path:
    net = caffe2_pb2.NetDef(name="net", external_input=["x", "w"], external_output=["y"])
    operator = net.op.add(type=op_type, input=["x", "w"], output=["y"])
    for name, value in window.items():
        argument = operator.arg.add(name=name)
        if isinstance(value, int):
            argument.i = value
        else:
            argument.ints.extend(value)
    path.write_bytes(net.SerializeToString())
    return path


def compare(folder: Path, op_type: str, left: Window, right: Window) -> tuple[str, set[str]]:
    """Return the verdict on two nets of one operator, and the aspects in which they differ."""
    paths = [
        make_net(folder / f"{name}.pb", op_type, window)
        for name, window in (("left", left), ("right", right))
    ]
    found = diff(*map(load, paths))
    return found.verdict, {*found.aspects}


@pytest.mark.parametrize(
    "op_type", ["AveragePool", "Conv", "ConvTranspose", "Int8Conv", "MaxPool2D"]
)
@pytest.mark.parametrize("part", [*_ALIKE, "adj"])
def test_spellings_of_one_window_are_no_structure(op_type: str, part: str, tmp_path: Path) -> None:
    alike = _ADJS if part == "adj" else _ALIKE[part]
    rest: Window = {} if part == "kernel" else {"kernel": 3}
    for left, right in itertools.permutations(alike, 2):
        found = compare(tmp_path, op_type, {**rest, **left}, {**rest, **right})
        assert found == ("cosmetic", {"defaults"}), (left, right)


@pytest.mark.parametrize(("left", "right"), _OTHER)
def test_another_window_is_structure(left: Window, right: Window, tmp_path: Path) -> None:
    for one, other in ((left, right), (right, left)):
        assert compare(tmp_path, "Conv", one, other)[0] == "structure"


def test_spellings_of_what_has_no_such_window_are_told(tmp_path: Path) -> None:
    left, right = {"kernel": 3}, {"kernels": [3, 3]}
    assert compare(tmp_path, "Im2Col", left, right)[0] == "structure"
