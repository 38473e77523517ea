"""What an unused initializer takes is told where anything is known of it."""

from __future__ import annotations

import pytest
from onnx import TensorProto, helper

from netloupe.explorer.checks import check
from netloupe.explorer.readers.load import load


@pytest.mark.parametrize(
    ("tensor", "told"),
    [
        (
            helper.make_tensor("w", TensorProto.STRING, [2], [b"one", b"three"]),
            "8 bytes for nothing",
        ),
        (helper.make_tensor("w", TensorProto.FLOAT, [2], [1, 2]), "8 bytes for nothing"),
        (helper.make_tensor("w", TensorProto.FLOAT, [0], []), "no node uses it"),
    ],
    ids=["strings", "numbers", "nothing"],
)
def test_nothing_is_said_of_no_bytes(tensor: TensorProto, told: str) -> None:
    graph = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", 1, [2])],
        [helper.make_tensor_value_info("y", 1, [2])],
        [tensor],
    )
    (finding,) = [one for one in check(load(helper.make_model(graph))) if one.id == "NL-G02"]
    assert told in finding.message
    assert "0 bytes" not in finding.message
