"""A weight that several nodes take, of which one has a normalization folded into it.

What is equal by calculation in the fold is compared as it is for the other nodes.
"""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

import netloupe
from netloupe.commands.diff import read_fail_on
from netloupe.explorer.compare import Diff
from netloupe.explorer.describe.difference_json import encode_diff
from netloupe.explorer.describe.differences import format_diff
from netloupe.explorer.review import make_review

_CHANCE = np.random.default_rng(7)
_WEIGHT = _CHANCE.standard_normal((4, 4, 3, 3)).astype(np.float32)
_VECTORS = {name: _CHANCE.uniform(0.5, 2, 4).astype(np.float32) for name in "gbmv"}
_FACTOR = _VECTORS["g"] / np.sqrt(_VECTORS["v"] + np.float32(1e-5))
_FOLDED = (_WEIGHT * _FACTOR[:, None, None, None]).astype(np.float32)
_BIAS = (_VECTORS["b"] - _VECTORS["m"] * _FACTOR).astype(np.float32)
_ENDS = ("Relu", "Elu", "Sigmoid")


def make_model(weights: list[str], *, place: int, is_folded: bool, count: int = 2) -> ModelProto:
    """Make chains of a convolution and an activation; that of one place is normalized.

    Parameters
    ----------
    weights
        By chain the name of its weight; ``w2`` is the folded one, ``w3`` another.
    place
        Which chain is normalized.
    is_folded
        Whether that is folded.
    count
        How many chains there are.
    """
    arrays = {"w": _WEIGHT, "w2": _FOLDED, "w3": _WEIGHT * 2}
    nodes: list[onnx.NodeProto] = []
    used = {*weights}
    for number in range(count):
        is_here = number == place
        bias = ["b2"] if is_here and is_folded else []
        used.update(bias)
        inputs = [f"x{number}", weights[number], *bias]
        nodes.append(
            helper.make_node("Conv", inputs, [f"c{number}"], f"conv{number}", pads=[1] * 4)
        )
        result = f"c{number}"
        if is_here and not is_folded:
            used.update(_VECTORS)
            norm = [result, *_VECTORS]
            nodes.append(helper.make_node("BatchNormalization", norm, ["n"], "norm"))
            result = "n"
        nodes.append(helper.make_node(_ENDS[number], [result], [f"y{number}"], f"act{number}"))
    arrays |= {"b2": _BIAS, **_VECTORS}
    graph = helper.make_graph(
        nodes,
        "g",
        *(
            [
                helper.make_tensor_value_info(f"{kind}{n}", TensorProto.FLOAT, [1, 4, 8, 8])
                for n in range(count)
            ]
            for kind in "xy"
        ),
        [numpy_helper.from_array(arrays[name], name) for name in arrays if name in used],
    )
    return helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 17)])


def compare(left: ModelProto, right: ModelProto, *, is_backwards: bool) -> Diff:
    sides = (left, right)[:: -1 if is_backwards else 1]
    return netloupe.diff(*(netloupe.load(model.SerializeToString()) for model in sides))


def gates(found: Diff) -> bool:
    return any(one.applies(found) for one in read_fail_on("weights"))


both_ways = pytest.mark.parametrize("is_backwards", [False, True])
places = pytest.mark.parametrize(("place", "count"), [(0, 2), (1, 2), (1, 3)])


@both_ways
@places
def test_the_others_keep_the_weight(place: int, count: int, is_backwards: bool) -> None:
    weights = ["w"] * count
    folded = [*weights]
    folded[place] = "w2"
    found = compare(
        make_model(weights, place=place, is_folded=False, count=count),
        make_model(folded, place=place, is_folded=True, count=count),
        is_backwards=is_backwards,
    )
    (fold,) = found.folds.values()
    assert fold.is_equal
    assert found.equal_tensors == 1
    told = (found.tensors, found.left_tensors, found.right_tensors, found.nodes)
    assert not any(told)
    assert not gates(found)
    assert [entry.level for entry in found.entries] == ["equal"]
    assert make_review(diff=found).verdict == "1 equal by calculation"
    assert encode_diff(found)["counts"]["weights"]["equal"] == 1
    assert found.counts.changed == 0


@both_ways
@places
@pytest.mark.parametrize("weight", ["w2", "w3"])
def test_another_weight_of_the_others_is_told(
    weight: str, place: int, count: int, is_backwards: bool
) -> None:
    """It is also where it is the folded one, though that is equal by calculation in the fold."""
    folded = [weight] * count
    folded[place] = "w2"
    found = compare(
        make_model(["w"] * count, place=place, is_folded=False, count=count),
        make_model(folded, place=place, is_folded=True, count=count),
        is_backwards=is_backwards,
    )
    (fold,) = found.folds.values()
    assert fold.is_equal
    (told,) = found.tensors
    assert told.numbers is not None
    assert told.numbers.changed == _WEIGHT.size
    assert {told.left.name, told.right.name} == {"w", weight}
    assert not found.equal_tensors
    assert gates(found)
    (real,) = (entry for entry in found.entries if entry.is_real)
    assert real.topic == "weight"
    assert "Differences: 1" in format_diff(found)
    assert "1 difference" in make_review(diff=found).verdict
    assert found.counts.changed == found.counts.reweighted == count - 1  # without the fold
