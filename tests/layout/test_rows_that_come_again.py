"""Layers that come again in a row are told by a closed box, and not drawn one by one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from onnx import NodeProto, TensorProto, helper, numpy_helper

from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.picture import make_picture
from netloupe.explorer.view import ViewOptions

_WIDTH = 16


def _make(kinds: Sequence[str]) -> Model:
    """Return a model with a module of operators in a row beside a layer, joined at the end."""
    nodes: list[NodeProto] = []
    weights = [numpy_helper.from_array(np.full(_WIDTH, 0.5, np.float32), "vector")]
    x = "x"
    for number, kind in enumerate(kinds):
        taken = [x]
        if kind == "Gemm":
            weights.append(
                numpy_helper.from_array(
                    np.random.default_rng(number).random((_WIDTH, _WIDTH), np.float32),
                    f"w{number}",
                )
            )
            taken += [f"w{number}"]
        elif kind == "BatchNormalization":
            taken += ["vector"] * 4
        name = f"/deep/deep.{number}/{kind}"
        nodes.append(helper.make_node(kind, taken, [f"v{number}"], name=name))
        x = f"v{number}"
    nodes += [
        helper.make_node("Gemm", ["x", "beside"], ["side"], name="/wide/Gemm"),
        helper.make_node("Concat", [x, "side"], ["joined"], name="/Concat", axis=1),
        helper.make_node("Gemm", ["joined", "last"], ["y"], name="/out/Gemm"),
    ]
    for name, dims in {"beside": (_WIDTH, _WIDTH), "last": (2 * _WIDTH, 1)}.items():
        weights.append(numpy_helper.from_array(np.ones(dims, np.float32), name))
    given, made = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, (4, width))
        for name, width in (("x", _WIDTH), ("y", 1))
    )
    graph = helper.make_graph(nodes, "g", [given], [made], weights)
    return load(helper.make_model(graph).SerializeToString())


@pytest.mark.parametrize(
    ("kinds", "is_open"),
    [
        (["Gemm", "BatchNormalization", "Relu"] * 3, False),
        (["Gemm", "Tanh"] * 4, False),
        (
            ["Gemm", "BatchNormalization", "Relu", "Gemm", "Tanh", "Gemm", "Elu", "Gemm", "Selu"],
            True,
        ),
    ],
)
def test_what_comes_again_in_a_row_has_no_inset(kinds: list[str], is_open: bool) -> None:
    scene = make_picture(_make(kinds), ViewOptions.parse({})).scene
    opened = [box.item.label for box in scene.boxes if box.item.is_open]
    assert ("deep" in opened) == is_open
