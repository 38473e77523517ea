"""Dimensions whose names tools have made up: pictures show what they are, or ``?``."""

from __future__ import annotations

import pytest

from netloupe.explorer.costs.symbols import is_generated_dim
from netloupe.explorer.render.faces import FaceBook
from netloupe.explorer.view import View
from tests.onnx_text import load_text


@pytest.mark.parametrize(
    "name",
    [
        *("s77", "u0", "3*s53", "s0 + 1", "unk__12", "x_dynamic_axes_1", "DynamicDimension.0"),
        *("MatMullogits_dim_0", "LayerNormalizationlast_hidden_state_dim_1", "Looph_dim_0"),
    ],
)
def test_names_that_tools_make_up_are_known_as_such(name: str) -> None:
    assert is_generated_dim(name)


@pytest.mark.parametrize(
    "name",
    ["batch", "N", "past_sequence + sequence", "seq_dim", "hidden_dim_0", "states", "unknown", "S"],
)
def test_names_of_authors_are_no_such_names(name: str) -> None:
    assert not is_generated_dim(name)


def classify(shape: str, result: str) -> list[str]:
    """Return the types on the boxes of the input and the output of a model."""
    model = load_text(f"""
    g (float[{shape}] x) => (float[{result}] logits) {{
      dims = Constant <value_ints: ints = [8, 1000]> ()
      w = ConstantOfShape (dims)
      logits = MatMul (x, w)
    }}
    """)
    book, view = FaceBook("facts"), View(model)
    items = [item for item in view.items.values() if item.is_terminal]
    return [book.face(item).texts[1].text for item in items]


def test_a_made_up_name_gives_way_to_the_dimension_that_it_equals() -> None:
    assert classify("batch, seq, 8", "MatMullogits_dim_0, MatMullogits_dim_1, 1000") == [
        "float32[batch, seq, 8]",
        "float32[batch, seq, 1000]",
    ]


def test_a_dimension_with_a_made_up_name_alone_has_none() -> None:
    assert classify("s77, 4, 8", "s77, MatMullogits_dim_1, 1000") == [
        "float32[?, 4, 8]",
        "float32[?, 4, 1000]",
    ]
