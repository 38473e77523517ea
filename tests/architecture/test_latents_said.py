"""How many stored queries ask for what comes in is said of the block that has them."""

from __future__ import annotations

import pytest

from netloupe.explorer.architecture.layer_facts import describe_layers
from netloupe.explorer.architecture.layer_words import write_attention
from netloupe.explorer.architecture.layers import Layer
from netloupe.explorer.architecture.outline import Outline, OutlinePart
from netloupe.explorer.patterns.transformer_details import AttentionDetails
from netloupe.explorer.readers.load import load
from tests.corpus import corpus_file

from .networks import Network


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (("4 heads × 6", "16 × 32 latents"), "attention 4 heads × 6 of 16 × 32 latents"),
        (("4 heads × 6", "1 learned query"), "attention 4 heads × 6 of 1 learned query"),
        (("4 heads × 6", "latent 16"), "attention 4 heads × 6"),  # latent features of keys
        (("4 heads × 6",), "attention 4 heads × 6"),
    ],
)
def test_stored_queries_of_attention_are_counted(facts: tuple[str, ...], expected: str) -> None:
    net = Network()
    graph = net.finish(net.linear(net.take("x", (1, 8)), 8, 8)).graph
    outline = Outline(graph, graph.nodes)
    details = AttentionDetails(heads=4, head_width=6, attention="Cross-attention")
    part = OutlinePart("attention", frozenset({0}), 0, "Cross-attention", details, facts=facts)
    told = describe_layers(outline, [Layer([part])])
    assert write_attention(told) == expected


def test_a_perceiver_says_its_latents() -> None:
    said = load(corpus_file("exported/perceiver.dynamo.onnx")).architecture.sentence
    assert "attention 4 heads × 6 of 16 × 32 latents" in said
