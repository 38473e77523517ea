"""What is told of blocks and of many places at once."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import ModelProto, numpy_helper

from netloupe.explorer.compare import diff
from netloupe.explorer.describe.differences import format_diff, list_told
from netloupe.explorer.readers.load import load
from netloupe.explorer.review import take_review
from tests.compare.networks import make_layers, make_residual
from tests.compare.twins import make_twin


def tell(left: ModelProto, right: ModelProto) -> str:
    return format_diff(diff(*(load(model.SerializeToString()) for model in (left, right))))


def write_page(left: ModelProto, right: ModelProto) -> str:
    found = diff(*(load(model.SerializeToString()) for model in (left, right)))
    rows = [row for item in take_review(found).items for row in item.evidence]
    return "\n".join(": ".join(row) for row in rows)


def copy(model: ModelProto) -> ModelProto:
    return ModelProto.FromString(model.SerializeToString())


def test_a_layer_that_is_gone_is_told_as_one() -> None:
    twin = make_twin("layer dropped", make_layers())
    assert twin is not None
    found = diff(*(load(model.SerializeToString()) for model in (twin.left, twin.right)))
    (gone,) = {node.path.split("/")[1] for node in found.removed_nodes}
    first = list_told(found)[0]
    assert first.title == "Differences"
    assert first.entries == [f"main/{gone}/: block removed: 4 nodes with 2 weights"]
    back = tell(twin.right, twin.left)
    assert f"main/{gone}/: block added: 4 nodes" in back


def test_an_operator_that_became_another_is_told_once() -> None:
    left = make_layers()
    right = copy(left)
    for node in right.graph.node:
        node.op_type = "Sigmoid" if node.op_type == "Tanh" else node.op_type
    text = tell(left, right)
    assert "Tanh became Sigmoid in 5 places" in text
    assert "Softmax became" not in text


def test_many_weights_are_told_with_the_worst_and_the_median() -> None:
    left = make_layers(8)
    right = copy(left)
    for number, tensor in enumerate(right.graph.initializer):
        array = numpy_helper.to_array(tensor)
        changed = (array * np.float32(1 + 0.01 * number)).astype(np.float32)
        tensor.CopyFrom(numpy_helper.from_array(changed, tensor.name))
    text = tell(left, right)
    assert "main/%layers.7.fc.weight (and 7 alike): relative (L2) 15 %, median of all 8 %" in text
    assert "main/%layers.7.fc.bias (and 7 alike): relative (L2) 16 %, median of all 9 %" in text
    assert "layers.3" not in text


def test_weights_that_were_all_zero_have_no_relative_difference() -> None:
    left = make_layers(8)
    for tensor in left.graph.initializer[:3]:
        array = np.zeros_like(numpy_helper.to_array(tensor))
        tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
    right = copy(left)
    for tensor in right.graph.initializer:
        array = numpy_helper.to_array(tensor)
        changed = (array * np.float32(1.5) if array.any() else array + np.float32(0.25)).astype("f")
        tensor.CopyFrom(numpy_helper.from_array(changed, tensor.name))
    text, page = tell(left, right), write_page(left, right)
    assert "17 weights of" in text
    assert "changed by 50 % (L2), but for 3 that were all 0 before" in text
    assert "relative (L2) 50 %, median of the others 50 %; all numbers were 0 before in" in text
    assert "inf" not in text.replace("interface", "")
    assert "all numbers were 0" in page
    assert ">inf" not in page


def test_shares_beyond_measure_are_written_as_other_numbers_are() -> None:
    left = make_layers(1)
    right = copy(left)
    tensor = right.graph.initializer[0]
    array = (numpy_helper.to_array(tensor) * np.float32(1.5e6)).astype("f")
    tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
    assert "1 weight of 1 Gather changed by 1.5e8 % (L2)" in tell(left, right)


def test_one_weight_that_was_all_zero_is_told_without_a_share() -> None:
    left = make_layers(1)
    for tensor in left.graph.initializer:
        array = np.zeros_like(numpy_helper.to_array(tensor))
        tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
    right = copy(left)
    tensor = right.graph.initializer[0]
    array = numpy_helper.to_array(tensor) + np.float32(0.25)
    tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
    text = tell(left, right)
    assert "largest difference 0.25, all numbers were 0 before" in text
    assert "1 weight of 1 Gather changed, whose numbers were all 0 before" in text


@pytest.mark.parametrize(
    ("order", "last", "told"),
    [
        ([0, 1, 3, 2, 4], "", {"main/blocks.5/: block removed", "blocks.2 and blocks.3"}),
        ([0, 2, 1, 3, 4], "", {"main/blocks.5/: block removed", "blocks.1 and blocks.2"}),
        ([0, 1, 4, 3, 2], "", {"main/blocks.5/: block removed", "blocks.2 and blocks.4"}),
        ([0, 1, 3, 2, 4, 5], "Sigmoid", {"blocks.2 and blocks.3"}),
        ([4, 1, 2, 3, 0, 5], "Sigmoid", {"blocks.0 and blocks.4"}),
    ],
)
@pytest.mark.parametrize("behind", ["", "Relu"])
@pytest.mark.parametrize("named", [True, False])
def test_blocks_that_are_exchanged_beside_another_change_are_told_so(
    order: list[int], last: str, told: set[str], named: bool, behind: str
) -> None:
    models = [
        make_residual(blocks, end, behind=behind) for blocks, end in ((range(6), ""), (order, last))
    ]
    for model in () if named else models:
        for number, node in enumerate(model.graph.node):
            node.name = f"n{number}"
    found = diff(*(load(model.SerializeToString()) for model in models))
    text = format_diff(found)
    assert "exchanged" in text
    if named:
        assert all(words in text for words in told), text
    (exchange,) = (entry for entry in found.entries if entry.topic == "exchange")
    assert exchange.is_whole
    # no paired node takes other values for another reason
    assert not [
        entry for entry in found.entries if entry.is_real and entry.pairs and entry is not exchange
    ]
