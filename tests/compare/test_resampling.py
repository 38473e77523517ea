"""Upsample and Resize of several versions: told as the same where ONNX Runtime gives the same."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import netloupe
from netloupe.explorer.compare import Diff

_SIZE = (1, 2, 4, 5)
_COORDINATES = (
    *("asymmetric", "half_pixel", "pytorch_half_pixel", "align_corners"),
    *("tf_half_pixel_for_nn", "half_pixel_symmetric"),
)
_NEAREST = ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil")
_SAME = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}


def make(
    op_type: str,
    version: int,
    *,
    mode: str = "nearest",
    scales: Sequence[float] = (1, 1, 2, 2),
    size: Sequence[int | str] = _SIZE,
    roi: Sequence[float] | None = None,
    **stated: str,
) -> onnx.ModelProto:
    """Return a model of one node that resamples, with scales as the version takes them."""
    arrays = {"s": scales} | ({"roi": roi} if roi is not None else {})
    inputs = ["x", "s"]
    if op_type == "Resize" and version >= 11:
        inputs = ["x", "" if roi is None else "roi", "s"]
    if version < 9:
        inputs, arrays = ["x"], {}
    attributes: dict[str, Any] = {"mode": mode, **stated}
    if version < 9:
        attributes["scales"] = [float(scale) for scale in scales]
    graph = helper.make_graph(
        [helper.make_node(op_type, inputs, ["y"], name="up", **attributes)],
        "g",
        [helper.make_tensor_value_info("x", 1, size)],
        [helper.make_tensor_value_info("y", 1, None)],
        [numpy_helper.from_array(np.array(a, np.float32), name) for name, a in arrays.items()],
    )
    opsets = [helper.make_opsetid("", version)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def list_real(found: Diff) -> list[str]:
    """Return what differs but how it is written, and versions of operator sets."""
    told = [change for entry in found.entries if entry.is_real for change in entry.changes]
    told += [c for e in found.entries if e.is_real and not e.changes for c in (e.topic,)]
    return [str(one if isinstance(one, str) else one.what) for one in told]


def run(model: onnx.ModelProto) -> np.ndarray[Any, Any]:
    """Return what ONNX Runtime gives for numbers of which no two are the same."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    numbers = np.random.default_rng(0).permutation(int(np.prod(_SIZE))).astype(np.float32) + 1
    result: np.ndarray[Any, Any] = session.run(None, {"x": numbers.reshape(_SIZE)})[0]
    return result


def list_ways(mode: str) -> Iterator[dict[str, str]]:
    """Yield each way in which a Resize can sample."""
    for coordinates, nearest in itertools.product(_COORDINATES, _NEAREST):
        if mode == "nearest":
            yield {"coordinate_transformation_mode": coordinates, "nearest_mode": nearest}
        elif nearest == "floor":
            yield {"coordinate_transformation_mode": coordinates}


@pytest.mark.parametrize("mode", ["nearest", "linear"])
@pytest.mark.parametrize(
    ("op_type", "version", "scales"),
    [
        *(("Upsample", 9, pair) for pair in ((2, 2), (3, 1), (1.5, 2.5), (1, 1))),
        *(("Resize", 10, pair) for pair in ((2, 2), (0.5, 0.5), (0.7, 2), (0.1, 2))),
    ],
)
def test_what_is_told_is_what_onnx_runtime_gives(
    op_type: str, version: int, scales: tuple[float, float], mode: str
) -> None:
    pytest.importorskip("onnxruntime")
    before = make(op_type, version, mode=mode, scales=(1, 1, *scales))
    wanted = run(before)
    found = []
    for stated in list_ways(mode):
        is_new = stated["coordinate_transformation_mode"] == "half_pixel_symmetric"
        after = make("Resize", 19 if is_new else 13, mode=mode, scales=(1, 1, *scales), **stated)
        given = run(after)
        is_same = given.shape == wanted.shape and np.allclose(given, wanted, rtol=1e-5)
        told = list_real(netloupe.diff(before, after))
        assert (told == []) == is_same, (stated, told)
        assert set(told) <= {f"attribute {name}" for name in stated}
        found.append(is_same)
    assert any(found)  # asymmetric, at least


@pytest.mark.parametrize("is_turned", [False, True], ids=["newer", "older"])
@pytest.mark.parametrize("roi", [None, (), (0, 0, 0, 0, 1, 1, 1, 1)], ids=str)
@pytest.mark.parametrize(
    ("op_type", "version"), [("Upsample", 7), ("Upsample", 9), ("Resize", 10), ("Resize", 13)]
)
def test_the_same_in_another_version_is_only_written_otherwise(
    op_type: str, version: int, roi: Sequence[float] | None, is_turned: bool
) -> None:
    stated = _SAME if version > 10 else {}
    sides = make(op_type, version, **stated), make("Resize", 13, roi=roi, **_SAME)
    found = netloupe.diff(*(sides[::-1] if is_turned else sides))
    assert list_real(found) == []
    assert (found.left_tensors, found.right_tensors) == ([], []) or version == 7
    assert [one for one in found.tensors if one.numbers is not None] == []


def test_what_is_sampled_elsewhere_is_named() -> None:
    before = make("Upsample", 9, mode="linear")
    found = netloupe.diff(before, make("Resize", 13, mode="linear"))
    (entry,) = [entry for entry in found.entries if entry.is_real]
    (change,) = [change for change in entry.changes if not change.aspect]
    assert change.what == "default of attribute coordinate_transformation_mode"
    assert (change.left, change.right) == ("asymmetric", "half_pixel")
    other = netloupe.diff(before, make("Upsample", 9, mode="nearest"))
    assert list_real(other) == ["attribute mode"]
    scaled = netloupe.diff(before, make("Resize", 10, mode="linear", scales=(1, 1, 2, 3)))
    assert list_real(scaled) != []


@pytest.mark.parametrize(
    ("scale", "stated", "is_same"),
    [
        (2, {}, True),  # round_prefer_floor of half pixels
        (2, _SAME, True),
        (2, _SAME | {"nearest_mode": "ceil"}, False),
        (1.5, _SAME, True),
        (1.5, {}, False),  # not the same for each length, or not known to be
    ],
)
def test_of_unknown_lengths_what_holds_for_all_is_told(
    scale: float, stated: dict[str, str], is_same: bool
) -> None:
    options: dict[str, Any] = {"scales": (1, 1, scale, scale), "size": ("N", 3, "H", "W")}
    found = netloupe.diff(make("Upsample", 9, **options), make("Resize", 13, **options, **stated))
    assert (list_real(found) == []) == is_same


def test_a_region_that_is_cropped_counts() -> None:
    crop = {"coordinate_transformation_mode": "tf_crop_and_resize"}
    regions = [(0, 0, 0, 0, 1, 1, end, 1) for end in (0.5, 0.75)]
    one, other = (make("Resize", 13, roi=region, **crop) for region in regions)
    assert list_real(netloupe.diff(one, other)) != []
    unread = [make("Resize", 13, roi=region, **_SAME) for region in regions]
    assert list_real(netloupe.diff(*unread)) == []


@pytest.mark.parametrize("scale", [0.0, -1.0, 1e-45, 1e-30, 1e30, 3e38, np.inf, np.nan])
@pytest.mark.parametrize("length", [0, -1, 1, 2**62, "N"])
def test_scales_and_lengths_at_odd_values_are_not_taken_for_the_same(
    scale: float, length: int | str
) -> None:
    options: dict[str, Any] = {"scales": (1, 1, scale, 2), "size": (1, 3, length, 4)}
    before = make("Resize", 10, **options)
    told = list_real(netloupe.diff(before, make("Resize", 13, **options)))
    is_empty = isinstance(length, int) and length >= 0 and 0 < scale * length < 1
    is_empty = is_empty or (length == 0 and 0 < scale < np.inf)
    assert (told == []) == is_empty
    kinds = {"scales": "text", "mode": 3, "axes": [7, 7, 7, 7], "nearest_mode": [1.0]}
    odd = make("Resize", 13, **options)
    odd.graph.node[0].ClearField("attribute")
    for name, value in kinds.items():
        odd.graph.node[0].attribute.append(helper.make_attribute(name, value))
    assert list_real(netloupe.diff(before, odd)) != []


@pytest.mark.parametrize("scale", [0.25, 0.5, 2])
def test_what_is_the_same_for_any_length_is_so_for_each(scale: float) -> None:
    """Lengths that nobody states are not all tried: what is told of them holds for every one."""
    ways = [*itertools.product(_COORDINATES, _NEAREST)]
    pairs = [(a, b) for a, b in itertools.combinations(ways, 2) if a[0] == b[0] or a[1] == b[1]]
    scales = (1, 1, scale, 1)

    def is_same(pair: Sequence[tuple[str, str]], length: int | str) -> bool:
        size = (1, 1, length, 1)
        names = ("coordinate_transformation_mode", "nearest_mode")
        sides = (
            make("Resize", 19, scales=scales, size=size, **dict(zip(names, way, strict=True)))
            for way in pair
        )
        return not list_real(netloupe.diff(*sides))

    same = [pair for pair in pairs if is_same(pair, "n")]
    assert len(same) < len(pairs)
    for pair in same:
        for length in (12, 17, 22, 25, 33):
            assert is_same(pair, length), (pair, length)
