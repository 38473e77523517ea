"""What is said of models of known architectures is so, and says what is known of them."""

from __future__ import annotations

import re

import pytest

from netloupe.explorer.architecture import Architecture as Told
from netloupe.explorer.readers.load import load
from tests.corpus import corpus_file
from tests.known_architectures import MODEST, Architecture
from tests.known_stacks import agrees, list_stacks
from tests.test_known_architectures import KNOWN, find_file

#: names of sizes in ``tests/known_architectures.py``, where facts call them otherwise
_CALLED = {"key_value_heads": "kv_heads"}
_SIZES = (
    *("width", "inner_width", "heads", "key_value_heads", "head_width", "vocabulary", "positions"),
    *("outputs", "patch", "experts", "used_experts", "stage_widths", "stage_heads"),
)
_NO_TABLE = "what picks rows of positions is computed in a way that is not known"
_FOLDED = "rows of positions are stored as they come out"
_STRIPPED = f"{_FOLDED}, and skeletons lack the numbers of the mask"
#: what is known of a model and not said yet
NOT_SAID: dict[str, tuple[set[str], str]] = {
    "exported/bart.dynamo.onnx": ({"positions", "causal"}, _STRIPPED),
    "exported/whisper.dynamo.onnx": ({"positions", "causal"}, _STRIPPED),
    "beside:exported/whisper.dynamo.onnx": (set(), _FOLDED),
    "quantized/bert.dynamic.onnx": ({"positions"}, _NO_TABLE),
    "quantized/bert.qdq.onnx": ({"positions"}, _NO_TABLE),
    "exported/conformer.legacy.onnx": ({"rotary"}, "it is turned before it is projected"),
    "exported/swin.dynamo.onnx": ({"relative"}, "what is added to scores is not recognised"),
    "exported/swin.legacy.onnx": ({"relative"}, "what is added to scores is not recognised"),
    "quantized/mobilenetv3.qoperator.onnx": ({"hard swish"}, "ReLU is in the ranges of results"),
    "exported/yolov8.dynamo.onnx": ({"C2f"}, "blocks of a detector are not told"),
    "exported/yolov8.legacy.onnx": ({"C2f"}, "blocks of a detector are not told"),
    "exported/vae_decoder.dynamo.onnx": ({"blocks"}, "those around the attention count, too"),
    "exported/vae_decoder.legacy.onnx": ({"blocks"}, "those around the attention count, too"),
}
#: models of which nothing is said though they are known
SILENT: dict[str, str] = {
    "sklearn/kmeans.onnx": "no rule knows it",
}
_COUNTS = re.compile(r"Graph of [\d,]+ operators( with control flow \([^)]+\))?: ")
#: models that show operators, names and forms, and are no network of a family
OPERATORS = (
    "exported/condloop.dynamo.onnx",
    "exported/scripted.legacy.onnx",
    "features/all_dtypes_inputs.onnx",
    "features/control_flow_3deep.onnx",
    "features/functions_nested_transformer.onnx",
    "features/onnxscript_functions_loop_if_while.onnx",
    "features/parser_if_loop_if.onnx",
    "hostile/cycle_scc_dense.onnx",
    "hostile/evil_names.onnx",
    "hostile/evil_scopes.onnx",
    "runtimes/custom_domain.onnx",
    "runtimes/types.onnx",
    "caffe2/control/predict_net.pb",
    "caffe2/training/predict_net.pb",
)


def _short(name: str) -> str:
    return name.removeprefix("beside:")


def list_missing(told: Told, known: Architecture) -> set[str]:
    """Return what is known and not said; fail on what is said and not so."""
    missing: set[str] = set()
    for size in _SIZES:
        said = told.facts.get(_CALLED.get(size, size))
        expected = getattr(known, size)
        if expected in (None, ()):
            continue
        if said is None:
            missing.add(size)
        else:
            assert said == expected, f"{size} is said to be {said} and is {expected}"
    if known.classes is not None:
        said = told.facts.get("classes", told.facts.get("outputs"))
        assert said == known.classes
    if known.blocks is not None:
        counts = [block.count for block in told.blocks if block.count > 1]
        if known.blocks and not agrees(counts, known):
            missing.add("blocks")
    missing |= {word for word in known.words if word.lower() not in told.summary.lower()}
    return missing


_TOLD = [name for name in KNOWN if KNOWN[name] != MODEST and _short(name) not in SILENT]


def test_enough_models_are_told_whole() -> None:
    ours = [name for name in _TOLD if not name.startswith("beside:")]
    assert len([name for name in ours if name not in NOT_SAID]) >= 30


@pytest.mark.parametrize("name", [*KNOWN])
def test_what_is_said_is_what_is_known(name: str) -> None:
    """Stacks, and what is told of them, of one and the same model: it is grouped only once."""
    known = KNOWN[name]
    model = load(find_file(name))
    if known.blocks is not None:
        found = [len(group.children) for group in list_stacks(model)]
        assert agrees(found, known), f"{found} instead of {known.counts}"
    told = model.architecture
    if name not in _TOLD:
        assert_nothing_told(told)
        return
    assert told.family == known.family
    expected, _ = NOT_SAID.get(name) or NOT_SAID.get(_short(name), (set(), ""))
    unknown = {size for size in _SIZES if getattr(known, size) in (None, ())}
    assert list_missing(told, known) == expected - unknown, "NOT_SAID says otherwise"
    for block in told.blocks:
        assert model.group(block.path).node_count >= block.count


#: those that have weights, of which no more is told than their layers
LAYERS = {
    "features/sparse_initializer.onnx": "Feed-forward network: linear layer 1,000 → 4, 4 outputs.",
    "quant_annot/qonnx.onnx": (
        "Convolutional network: two 3×3 convolutions 3 → 8 channels, linear layer 8 → 10."
    ),
    "runtimes/fused.onnx": "Linear layer of 8.",
}


@pytest.mark.parametrize("name", LAYERS)
def test_of_models_without_a_family_layers_are_told(name: str) -> None:
    told = load(corpus_file(name)).architecture
    assert (told.family, told.sentence) == ("", LAYERS[name])


@pytest.mark.parametrize("name", OPERATORS)
def test_nothing_is_claimed_of_models_that_only_show_operators(name: str) -> None:
    assert_nothing_told(load(corpus_file(name)).architecture)


def assert_nothing_told(told: Told) -> None:
    """Operators are counted where there are five or more, and no more is said."""
    assert (told.costs_sentence, told.family, told.blocks, dict(told.facts)) == ("", "", (), {})
    assert not told.sentence or _COUNTS.match(told.sentence)
