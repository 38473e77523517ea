"""Parameters of models whose framework says how many they have, exactly; what is told apart."""

from __future__ import annotations

import pytest

from netloupe.commands.info import format_summary, summarize_model
from netloupe.explorer.describe import describe_path, to_json
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.html import write_model_html
from tests.test_known_architectures import KNOWN, find_file

from .test_totals import read_html, read_rows

#: what a file does not hold as it was learned: how many more it counts, and why
INEXACT: dict[str, tuple[int, str]] = {
    # two tables of 130 × 48 are cut to the rows of the example, one of them twice; its mask
    # of padding, 1,000 zeros added to the logits, stands where a bias does
    "exported/bart.dynamo.onnx": (-2 * 130 * 48 + 2 * 16 * 48 + 7 * 48 + 1000, "tables are cut"),
    "exported/bart.legacy.onnx": (48_000 + 1000, "zeros stand where a bias does"),
    "exported/clip.dynamo.onnx": (-1, "its temperature is folded to a number like any other"),
    "exported/deepseek_v3.dynamo.onnx": (7 * 8, "biases of its routers are buffers in torch"),
    "exported/deepseek_v3.legacy.onnx": (7 * 8, "biases of its routers are buffers in torch"),
    "exported/gemma3.dynamo.onnx": (1, "the factor of embeddings is a tensor of its own"),
    "exported/resnet50.dynamo.onnx": (-3_320, "batch normalizations are in the convolutions"),
    "exported/sam_encoder.dynamo.onnx": (
        -2 * 12 * (8 * 27 + 4 * 63),
        "relative positions are written out",
    ),
    "exported/swin.dynamo.onnx": (-169 * 46, "relative positions are written out"),
    "exported/swin.legacy.onnx": (-169 * 46, "relative positions are written out"),
    "exported/wav2vec2.dynamo.onnx": (-48, "the vector of masked times is not exported"),
    "exported/wav2vec2.legacy.onnx": (-48 - 16, "and the norms of a weight are in the weight"),
}
_STATED = [name for name in KNOWN if KNOWN[name].parameters is not None]


@pytest.mark.parametrize("name", _STATED)
def test_parameters_are_those_of_the_framework(name: str) -> None:
    known = KNOWN[name]
    costs = load(find_file(name)).costs()
    more, _ = INEXACT.get(name.removeprefix("beside:"), (0, ""))
    # skeletons hold what is tied twice, with other values
    assert costs.parameters - (known.parameters or 0) - more in {0, known.tied}


def test_parameters_of_a_detector_are_without_its_grid() -> None:
    """Weights of its convolutions; ``tools/zoo`` registers cells, strides, positions as buffers."""
    for exporter in ("legacy", "dynamo"):
        model = load(find_file(f"exported/yolov8.{exporter}.onnx"))
        tensors = [t for t in model.graph.initializers if t.dtype.is_float]
        buffers = ("cells", "strides", "positions")
        weights = [t for t in tensors if not t.name.endswith(buffers) and t.size > 4]
        assert model.totals.parameters == sum(t.size for t in weights)


def test_attention_biases_are_told_apart_by_all() -> None:
    model = load(find_file("exported/swin.legacy.onnx"))
    count = model.totals.attention_biases
    assert count == 46 * 49 * 49
    assert model.costs().attention_biases == count
    summary = summarize_model(model)
    assert f"438,166 parameters and {count:,} attention biases" in format_summary(
        summary, model.dialect
    )
    assert summary["totals"]["attention_biases"] == summary["costs"]["attention_biases"] == count
    rows = read_rows(model, "model", "Contents")
    assert rows["attention biases"] == (f"{count:,}", "tables of relative positions")
    assert to_json(describe_path(model, "model"))["totals"]["attention_biases"] == count
    assert read_html(write_model_html(model))["attention biases"] == f"{count:,}"
    assert "438 k parameters beside attention biases" in model.architecture.summary


def test_most_are_exact() -> None:
    assert len([name for name in _STATED if name not in INEXACT]) >= 40
