"""A sentence says what the unit of a network of series, molecules, tables or games is."""

from __future__ import annotations

import onnx.parser
import pytest

from netloupe.explorer.patterns.known_patterns import PATTERNS
from netloupe.explorer.readers.load import load

_EXAMPLES = {pattern.id: pattern.example for pattern in PATTERNS}


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("edge-attention", "graph attention"),
        ("coordinate-update", "equivariant coordinate update"),
        ("gaussian-basis", "Gaussian basis (5 places)"),
        ("bessel-basis", "Bessel basis (4 waves)"),
        ("series-decomposition", "series decomposition (moving average 25)"),
        ("stored-basis", "polynomial basis (3 → 8)"),
        ("autoregressive-step", "autoregressive flow step (3 → 4 → 6)"),
        ("label-chain", "Viterbi decoding (5 labels, 2 steps)"),
        ("biaffine", "biaffine scores (6 → 6)"),
        ("copying", "copy mechanism"),
        ("sparsemax", "sparsemax"),
        ("soft-trees", "soft decision trees (depth 2)"),
        ("auto-correlation", "correlation (by FFT)"),
        ("value-iteration", "value iteration (3 steps)"),
        ("highway", "highway layer"),
        ("linear-recurrence", "linear recurrence (4 steps)"),
        ("gated-residual-network", "gated residual network"),
        ("variable-selection", "variable selection (2 variables)"),
    ],
)
def test_the_unit_is_in_the_sentence(name: str, told: str) -> None:
    sentence = load(onnx.parser.parse_model(_EXAMPLES[name])).architecture.sentence
    assert told in sentence.replace(": " + told[:1].upper(), ": " + told[:1])
