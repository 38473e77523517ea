"""What the stated sizes of inputs and outputs speak against is not said of a network."""

from __future__ import annotations

import onnx
import pytest
from onnx import helper

from netloupe.explorer.readers.load import load
from tests.corpus import corpus_file


def _read(name: str) -> onnx.ModelProto:
    return onnx.load(corpus_file(f"exported/{name}.onnx"))


def _tell(model: onnx.ModelProto) -> str:
    sentence = load(model).architecture.sentence
    assert sentence is not None
    return sentence


@pytest.mark.parametrize("places", [None, 8])
def test_a_network_that_gives_no_larger_maps_is_none_of_super_resolution(
    places: int | None,
) -> None:
    model = _read("espcn.legacy")
    assert _tell(model).startswith("Super-resolution")
    for value, size in ((model.graph.input[0], 8), (model.graph.output[0], places)):
        last = value.type.tensor_type.shape.dim[-1]
        last.Clear()
        if size is not None:
            last.dim_value = size
    assert _tell(model).startswith("Super-resolution") is (places is None)
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")
    assert _tell(model).startswith("Super-resolution")


def test_queries_without_boxes_detect_nothing() -> None:
    """As of a chunk of actions (T. Zhao and others, 2023, section IV)."""
    model = _read("detr.legacy")
    assert _tell(model).startswith("Detection transformer")
    for value in model.graph.output:
        value.type.tensor_type.shape.dim[-1].dim_value = 14
    assert not _tell(model).startswith("Detection transformer")


@pytest.mark.parametrize("op_type", ["Concat", "Add"])
def test_boxes_may_be_given_beside_their_scores(op_type: str) -> None:
    """As a box, its score and its class are (W. Lv and others, 2023, figure 4)."""
    model = _read("rtdetr.legacy")
    assert _tell(model).startswith("Detection transformer")
    given = [value.name for value in model.graph.output]
    del model.graph.output[1:]
    how = {"axis": -1} if op_type == "Concat" else {}
    model.graph.node.append(helper.make_node(op_type, given[:2], ["all"], **how))
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("all", 1, (1, 30, 9)))
    assert _tell(model).startswith("Detection transformer") is (op_type == "Concat")
