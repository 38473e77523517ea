"""Stacks begin and end where an author's modules do, though a file has no names.

What structure alone finds is judged by the same file with its names (:mod:`tests.fold_borders`).
"""

from __future__ import annotations

import pytest

from tests.corpus import corpus_file
from tests.fold_borders import Stack, compare, compare_file


@pytest.mark.parametrize(
    "name",
    [
        "detr.legacy",  # attention to another network, and projections between layers
        "resnet50.dynamo",
        "resnet50.legacy",
        "vit.dynamo",
        "whisper.dynamo",
    ],
)
def test_stacks_are_the_same_without_names(name: str) -> None:
    assert compare_file(corpus_file(f"exported/{name}.onnx")) == []


def test_layers_that_attend_to_an_encoder_are_a_stack_of_their_own() -> None:
    """Without names it begins one node before: with what the first layer alone does not need."""
    (line,) = compare_file(corpus_file("exported/bart.dynamo.onnx"))
    assert line.startswith("layers.0 … layers.5 ×6 [222, 287 …]: ")
    assert line.endswith(" ×6 [221, 286 …]")


def test_a_stack_with_another_border_is_told() -> None:
    named = [Stack("layers", (frozenset((1, 2)), frozenset((3, 4))))]
    assert [*compare(named, named)] == []
    rotated = [Stack("Block A", (frozenset((2, 3)), frozenset((4, 5))))]
    assert [*compare(named, rotated)] == ["layers ×2 [1, 3 …]: Block A ×2 [2, 4 …]"]
    assert [*compare(named, [])] == ["layers ×2 [1, 3 …]: no stack"]
