"""What is drawn as ×N is N like members, or its box says in what they differ."""

from __future__ import annotations

import pytest

from netloupe.explorer.layout import Composer, LayoutEngine
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.picture import make_picture
from netloupe.explorer.view import ViewOptions
from tests.corpus import corpus_file
from tests.fold_judge import Fault
from tests.fold_pictures import find_untold, is_told


@pytest.mark.parametrize(
    "name", ["resnet50.dynamo", "mobilenetv2.legacy", "perceiver.dynamo", "nbeats.dynamo"]
)
def test_boxes_tell_in_what_members_differ(name: str) -> None:
    path = corpus_file(f"exported/{name}.onnx")
    engine = LayoutEngine()
    try:
        picture = make_picture(load(path), ViewOptions.parse({}), composer=Composer(engine))
        assert find_untold(picture, path) == []
    finally:
        engine.stop()


@pytest.mark.parametrize(
    ("fault", "text", "is_said"),
    [
        (Fault("operators", "[0]: +Conv", (0,)), "layers ×4 · the first with projection", True),
        (Fault("operators", "[0]: +Conv", (0,)), "layers ×4", False),
        (Fault("operators", "[2]: +Conv", (2,)), "layers ×4 · the first with projection", False),
        (Fault("operators", "[3]: −Concat", (3,)), "the last without the branch", True),
        (Fault("operators", "[0]: −Add", (0,)), "layers ×4 · side by side, summed", True),
        (Fault("operators", "[0]: −Add", (0,)), "layers ×4 · dilation 1 … 8 in 3 cycles", False),
        (Fault("streams", "[1, 3]: +MatMul", (1, 3)), "layers ×4 · the first without sum", False),
        (Fault("streams", "[1, 3]: +MatMul", (1, 3)), "layers ×4 · self and cross alternate", True),
        (Fault("operators", "[1]: −Add", (1,)), "layers ×4", False),
        (Fault("operators", "[0]: −Gemm −Split", (0,)), "cell ↻ ×4", True),
        (Fault("operators", "[1, 3]: +TopK", (1, 3)), "8 experts in 2 of 4", True),
        (Fault("widths", "[1]: +(Conv)", (1,)), "Conv ×4 · 64 → 128", True),
        (Fault("widths", "[1]: +(Conv)", (1,)), "Conv ×4", False),
        (Fault("scopes", "cuts layers.1"), "layers ×4 · the first with projection", False),
    ],
)
def test_a_difference_is_told_of_where_it_is(fault: Fault, text: str, *, is_said: bool) -> None:
    assert is_told(fault, text, 3) is is_said
