"""Numbers of layers and blocks in the sentences of exports, counted anew in their files."""

from __future__ import annotations

import onnx
import pytest

from netloupe.explorer.readers.load import load
from tests.architecture.claim_judge import find_unfounded
from tests.architecture.count_judge import find_contradictions
from tests.known_exports import EXPORTED_ARCHITECTURES
from tests.test_known_architectures import find_file

#: sums are counted where a module of the author's holds three, and where modules are no list
_SUMS = {"exported/fastspeech2.dynamo.onnx", "exported/hifigan.legacy.onnx"}


@pytest.mark.parametrize("name", sorted({*EXPORTED_ARCHITECTURES} - _SUMS))
def test_no_count_is_contradicted_by_the_file(name: str) -> None:
    path = find_file(name)
    told = load(path).architecture.sentence
    model = onnx.load(path, load_external_data=False)
    assert not [*find_contradictions(model, told)], told
    assert not [*find_unfounded(model, told)], told


def test_wrong_counts_are_found() -> None:
    model = onnx.load(find_file("exported/mobilevit.dynamo.onnx"), load_external_data=False)
    wrong = (
        *("540 convolutions", "170 residual blocks", "200 linear layers"),
        *("40 grid samplings", "90 MLPs", "30 self-attentions", "60 inverted residuals"),
        *("30 transformer blocks", "MLP used 41 times"),
    )
    for told in wrong:
        assert [*find_contradictions(model, f"Network: {told}, 10 outputs.")], told


@pytest.mark.parametrize("word", ["ReLU", "LeakyReLU", "LSTM", "UNet", "grid sampling", "RMSNorm"])
def test_words_without_their_operators_are_found(word: str) -> None:
    node = onnx.helper.make_node("Relu", ["x"], ["y"])
    square = onnx.helper.make_node("Mul", ["y", "y"], ["z"])
    graph = onnx.helper.make_graph([node, square], "g", [], [])
    model = onnx.helper.make_model(graph)
    assert [*find_unfounded(model, f"Network: MLP ({word}).")]


def test_a_relu_is_found_where_one_is_not_squared() -> None:
    nodes = [onnx.helper.make_node("Relu", ["x"], ["y"])]
    model = onnx.helper.make_model(onnx.helper.make_graph(nodes, "g", [], []))
    assert not [*find_unfounded(model, "MLP: 8 → 16 → 8, ReLU.")]
