"""Numbers of layers and blocks in the sentences of exports, counted anew in their files."""

from __future__ import annotations

import onnx
import pytest

from netloupe.explorer.readers.load import load
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


def test_wrong_counts_are_found() -> None:
    model = onnx.load(find_file("exported/mobilevit.dynamo.onnx"), load_external_data=False)
    for told in ("540 convolutions", "170 residual blocks", "200 linear layers"):
        assert [*find_contradictions(model, f"Network: {told}, 10 outputs.")], told
