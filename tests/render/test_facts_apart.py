"""What tells a block from others of its name beside it stands on its box, whatever else does."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from netloupe.explorer.readers.load import load
from netloupe.explorer.render.faces import FaceBook
from netloupe.explorer.render.fact_rows import list_facts, pick_unusual
from netloupe.explorer.view import View
from tests.corpus import corpus_file

_FACTS = ("4 heads × 24", "latent 32", "rotary", "causal", "SwiGLU 64 → 192 → 64", "pre-norm")
_FIRST = "4 heads × 24 · latent 32 · rotary · causal"


def write(facts: Sequence[str], difference: Sequence[str], apart: Sequence[str]) -> list[str]:
    return [row.name for row in list_facts(facts, difference, apart)]


@pytest.mark.parametrize(
    ("difference", "apart", "expected"),
    [
        ((), (), [_FIRST]),
        ((), ("rotary",), [_FIRST]),
        ((), ("SwiGLU 64 → 192 → 64",), [_FIRST, "SwiGLU 64 → 192 → 64"]),
        ((), ("pre-norm", "pre-norm"), [_FIRST, "pre-norm"]),
        (("the first is wider",), ("pre-norm",), [_FIRST, "pre-norm", "the first is wider"]),
    ],
)
def test_facts_that_tell_apart_are_in_a_row_of_their_own(
    difference: Sequence[str], apart: Sequence[str], expected: list[str]
) -> None:
    assert write(_FACTS, difference, apart) == expected


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (
            ("4 heads × 64", "spatial reduction /2", "convolutional projections 3×3"),
            ["4 heads × 64 · spatial reduction /2", "convolutional projections 3×3"],
        ),
        # sizes, activations and norms are no such facts
        (("4 heads × 64", "MLP 256 → 1024 → 256", "pre-norm LayerNorm"), None),
        (("256 → 1024 → 256", "GELU", "3 → 12 → 3 channels in each of 8 groups"), None),
        # as many as there is room for
        (
            ("4 heads × 64 over 2", "convolution of values beside", "talking heads", "x" * 50),
            ["4 heads × 64 over 2 · talking heads", "convolution of values beside"],
        ),
    ],
)
def test_facts_that_few_blocks_have_are_told_in_a_row_of_their_own(
    facts: Sequence[str], expected: list[str] | None
) -> None:
    unusual = pick_unusual(facts)
    assert write(facts, (), unusual) == (expected or write(facts, (), ()))
    assert (unusual == []) == (expected is None)


def test_no_facts_are_no_row() -> None:
    assert write((), (), ()) == []
    assert write((), ("one differs",), ()) == ["one differs"]


def test_a_dense_block_is_told_from_those_with_experts() -> None:
    view = View(load(corpus_file("exported/deepseek_v3.legacy.onnx")))
    blocks = [
        item
        for item in view.root.children
        if getattr(item.element, "label", "").startswith("layers.")
    ]
    book = FaceBook("facts")
    told = [[run.text for run in book.face(item).texts] for item in blocks]
    assert len(told) == 2
    assert any(text.startswith("SwiGLU 64") for text in told[0])
    assert any("8 experts" in text for text in told[1])
