"""Operators on quantized numbers look like those on real ones, with a pill."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from netloupe.explorer.readers.load import load
from netloupe.explorer.render.face import Face
from netloupe.explorer.render.faces import FaceBook
from netloupe.explorer.view import View


def draw(op_type: str, *operands: str, domain: str = "com.microsoft", details: Any = None) -> Face:
    """Return the face of an operator: ``x`` and ``y`` are given, ``s`` and ``z`` are stored."""
    stored = {"s": np.float32(0.5), "z": np.int8(0), "w": np.ones((4, 3, 1, 1), np.int8)}
    node = helper.make_node(op_type, operands, ["out"], "n", domain=domain)
    after = helper.make_node("DequantizeLinear", ["out", "s", "z"], ["real"], "after")
    graph = helper.make_graph(
        [node, after],
        "g",
        [helper.make_tensor_value_info(n, TensorProto.INT8, [1, 3, 8, 8]) for n in ("x", "y")],
        [helper.make_tensor_value_info("real", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.array(array), name) for name, array in stored.items()],
    )
    opsets = [helper.make_opsetid(name, version) for name, version in (("", 17), (domain, 1))]
    model = load(helper.make_model(graph, opset_imports=opsets[: 1 + bool(domain)]))
    return FaceBook(details or "facts").face(View(model).items["main/n"])


def read(face: Face) -> list[str]:
    return [run.text for run in face.texts]


@pytest.mark.parametrize(("op_type", "sign"), [("QLinearAdd", "+"), ("QLinearMul", "×")])
def test_what_joins_streams_is_a_sign(op_type: str, sign: str) -> None:
    face = draw(op_type, "x", "s", "z", "y", "s", "z", "s", "z")
    assert face.outline == "junction"
    assert read(face) == [sign]


def test_a_stored_summand_is_no_stream() -> None:
    face = draw("QLinearAdd", "x", "s", "z", "w", "s", "z", "s", "z")
    assert face.outline == "node"
    assert "Add" in read(face)


def test_a_layer_is_called_as_on_real_numbers() -> None:
    face = draw("QLinearConv", "x", "s", "z", "w", "s", "z", "s", "z", domain="")
    assert read(face) == ["Conv", "1×1 · 3 → 4"]
    assert [badge.text for badge in face.badges] == ["int8"]


def test_what_has_no_weight_tells_no_scales() -> None:
    face = draw("QLinearGlobalAveragePool", "x", "s", "z", "s", "z")
    assert read(face) == ["GlobalAveragePool"]
    assert [badge.text for badge in face.badges] == ["int8"]


def test_quantizing_stays_what_it_is() -> None:
    assert "DequantizeLinear" in read(draw("DequantizeLinear", "x", "s", "z", domain=""))


def test_all_of_it_is_told_where_more_than_facts_is_wanted() -> None:
    face = draw("QLinearAdd", "x", "s", "z", "y", "s", "z", "s", "z", details="all")
    assert read(face)[0] == "QLinearAdd"
    assert "A_scale" in read(face)
