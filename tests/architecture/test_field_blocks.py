"""A sentence says what the unit of a network of series, molecules, tables or games is."""

from __future__ import annotations

import onnx.parser
import pytest

from netloupe.explorer.patterns.pattern_examples import EXAMPLES
from netloupe.explorer.readers.load import load
from tests.corpus import corpus_file

_EXAMPLES = {name: text for name, (text, _) in EXAMPLES.items()}


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("edge-attention", "graph attention"),
        ("coordinate-update", "equivariant coordinate update"),
        ("gaussian-basis", "Gaussian basis (5 centres)"),
        ("bessel-basis", "Bessel basis (4 waves)"),
        ("series-decomposition", "series decomposition (moving average 25)"),
        ("stored-basis", "polynomial basis (3 → 8)"),
        ("autoregressive-step", "autoregressive flow step (3 → 4 → 6)"),
        ("label-chain", "Viterbi decoding (5 labels, 2 steps)"),
        ("biaffine", "biaffine scores (6 → 6)"),
        ("copying", "copy mechanism"),
        ("sparsemax", "sparsemax"),
        ("soft-trees", "soft decision trees (6 trees, depth 2)"),
        ("auto-correlation", "correlation (by FFT)"),
        ("value-iteration", "value iteration (3 steps)"),
        ("highway", "highway layer"),
        ("predicted-transform", "predicted transform (2 × 2)"),
        ("spatial-gate", "spatial gating unit (16 tokens)"),
        ("split-scales", "Res2Net module"),
        ("chebyshev", "Chebyshev layer 6 → 5"),
        ("compressed-interaction", "compressed interaction network (2 layers)"),
        ("kernel-pooling", "kernel pooling (3 kernels)"),
        ("sinkhorn", "Sinkhorn normalization (2 iterations)"),
        ("operator-product", "product of branch and trunk (16 terms)"),
        ("graph-network", "graph network block"),
        ("vector-messages", "equivariant message passing (scalars and vectors)"),
        ("vector-update", "equivariant update (scalars and vectors)"),
        ("spatial-softmax", "spatial softmax (8 keypoints)"),
        ("grid-scatter", "scatter to a grid (16 × 16)"),
        ("unpooling", "max unpooling (2×2, to 8 × 8)"),
        ("weighted-fusion", "weighted fusion (2 maps)"),
        ("channel-shift", "temporal shift"),
        ("branched-convolution", "multi-branch 3×3 convolution"),
        ("landmark-attention", "Nystrom attention"),
        ("point-attention", "invariant point attention"),
        ("generated-weights", "hypernetwork layer (3 → 2)"),
        ("squashed-draw", "squashed Gaussian"),
        ("runge-kutta", "Runge-Kutta step (8 → 6 → 8)"),
        ("matrix-memory", "mLSTM"),
        ("target-attention", "target attention"),
        ("soft-mixture", "soft mixture of experts"),
        ("chosen-queries", "ProbSparse attention"),
        ("differential-attention", "differential attention"),
        ("linear-recurrence", "linear recurrence (4 steps)"),
        ("gated-residual-network", "gated residual network"),
        ("averaged-heads", "interpretable multi-head attention"),
        ("band-split", "band split (3 bands)"),
        ("mixture-density", "mixture density head (5 components)"),
        ("backcast", "backcast and forecast block (2 layers of 16)"),
        ("text-pooling", "convolutions (kernels 3, 4, 5) with max-over-time pooling"),
        ("memory-addressing", "NTM addressing"),
        ("summed-embeddings", "summed embeddings (3 tables of 64 × 8)"),
        ("attention-flow", "bidirectional attention flow"),
        ("edge-convolution", "edge convolution 6 → 16"),
        ("box-decoding", "box decoding (3 anchors)"),
        ("joint-network", "joint network (12 → 30)"),
        ("short-convolution", "gated short convolution (kernel 3)"),
        ("variable-selection", "variable selection (2 variables)"),
    ],
)
def test_the_unit_is_in_the_sentence(name: str, told: str) -> None:
    sentence = load(onnx.parser.parse_model(_EXAMPLES[name])).architecture.sentence
    assert told in sentence.replace(": " + told[:1].upper(), ": " + told[:1])


_POINTWISE = """<ir_version: 12, opset_import: ["": 24]>
layer (float[2, 16, 8] x) => (float[2, 8, 16] y, float[2, 8, 16] trend)
<int64[3] up = {24, 8, 1}, int64[3] down = {8, 24, 1}, int64[1] width = {8}>
{
  u = ConstantOfShape (up)  d = ConstantOfShape (down)  s = ConstantOfShape (width)
  normal = LayerNormalization (x, s)
  turned = Transpose <perm = [0, 2, 1]> (normal)
  h = Conv (turned, u)  a = Relu (h)  m = Conv (a, d)
  trend = AveragePool <kernel_shape = [5], pads = [2, 2]> (m)
  y = Sub (m, trend)
}
"""


def test_convolutions_of_turned_features_are_no_mlp_over_tokens() -> None:
    assert "over tokens" not in load(onnx.parser.parse_model(_POINTWISE)).architecture.sentence
    mixed = _POINTWISE.replace("{24, 8, 1}", "{16, 24}").replace("{8, 24, 1}", "{24, 16}")
    mixed = mixed.replace("int64[3]", "int64[2]").replace("Conv (", "MatMul (")
    assert "over tokens" in load(onnx.parser.parse_model(mixed)).architecture.sentence


def test_updates_of_a_routing_are_told_as_its_iterations() -> None:
    told = load(corpus_file("exported/capsules.legacy.onnx")).architecture.sentence
    assert "routing by agreement in 3 iterations" in told
    assert "update" not in told
