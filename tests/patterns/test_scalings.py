"""Which nodes multiply what a layer gives by a number is found without a look at most factors."""

from __future__ import annotations

import pytest

from netloupe.explorer.patterns.scalings import list_scalings, read_scaling
from tests.corpus import shared_model


@pytest.mark.parametrize("name", ["bart.legacy", "gemma3.dynamo", "gpt2.legacy", "whisper.legacy"])
def test_scalings_are_those_of_all_nodes(name: str) -> None:
    graph = shared_model(f"exported/{name}.onnx").graph
    found = [index for index, node in enumerate(graph.nodes) if read_scaling(node)]
    assert list_scalings(graph) == found


def test_a_scaled_query_is_found() -> None:
    assert list_scalings(shared_model("exported/bart.legacy.onnx").graph)
