"""Names that a group and something else have: which of them an explorer means."""

from __future__ import annotations

import pytest

from netloupe import ViewError
from netloupe.explorer.layout import Composer, FirstView
from netloupe.explorer.render.asked_view import make_view
from netloupe.explorer.render.labels import Labels
from netloupe.explorer.session import Views
from netloupe.explorer.session.reveal import reveal
from netloupe.explorer.view import ViewOptions
from tests.onnx_text import load_text

MODEL = """g (float[2] x) => (float[2] y) {
    ["/model/a/Relu"] h = Relu (x)
    ["/model/a/Neg"] i = Neg (h)
    ["/model/b/Relu"] j = Relu (i)
    ["/model/b/Neg"] k = Neg (j)
    ["/head/Neg"] l = Neg (k)
    ["/head/Relu"] y = Relu (l)
}"""
PLAIN = "g (float[2] x) => (float[2] y) { h = Relu (x) y = Neg (h) }"


def test_the_group_that_is_called_model_is_selected_and_not_the_model() -> None:
    model = load_text(MODEL)
    views = Views(model, ViewOptions.parse({"expand": "none"}), FirstView(Composer(), Labels()))
    assert reveal(views, "model") == "main/model/"
    view, _ = make_view(model, ViewOptions.parse({"focus": "model", "hops": 0}))
    assert view.only == {0, 1, 2, 3}


def test_the_model_itself_has_no_box() -> None:
    views = Views(load_text(PLAIN), ViewOptions.parse({}), FirstView(Composer(), Labels()))
    with pytest.raises(ViewError, match="the model itself has no box"):
        reveal(views, "model")
