"""Columns and legend of an explorer: in its pictures, and on the canvas where asked."""

from __future__ import annotations

import pytest

import netloupe
from netloupe.explorer.errors import ViewError
from netloupe.explorer.readers.load import load
from netloupe.explorer.session import Session
from netloupe.explorer.view import ViewOptions
from tests.corpus import light_file


def test_a_picture_of_an_explorer_is_cut_as_asked_and_the_canvas_is_not() -> None:
    explorer = netloupe.explore(light_file("light_squeezenet.onnx"), expand=2)
    plain = explorer.to_svg()
    two, three = explorer.to_svg(wrap=2), explorer.to_svg(wrap=3)
    assert len({plain, two, three}) == 3
    assert explorer.to_svg() == plain
    assert explorer.to_svg(wrap=2) == two
    with pytest.raises(ViewError, match="wrap is 0"):
        explorer.to_svg(wrap=0)
    explorer.close()


def test_the_canvas_has_as_many_columns_as_asked_for() -> None:
    options = ViewOptions.parse({"grouping": "none", "wrap": 3})
    session = Session(load(light_file("light_bvlc_alexnet.onnx")), options)
    root = session.compose().root
    assert root is not None
    assert root.inside.columns == 3
    session.set_wrap(False)
    root = session.compose().root
    assert root is not None
    assert root.inside.columns == 1


def test_a_session_explains_what_is_on_the_canvas_in_a_theme() -> None:
    session = Session(load(light_file("light_bvlc_alexnet.onnx")), ViewOptions.parse({}))
    assert session.legend("light") == []
    session.compose()
    light, dark = session.legend("light"), session.legend("dark")
    assert [entry["text"] for entry in light] == [entry["text"] for entry in dark]
    assert "value" in [entry["text"] for entry in light]
    assert all(entry["svg"].startswith("<svg ") for entry in light)
    assert light != dark
    with pytest.raises(ViewError, match="no theme 'auto'"):
        session.legend("auto")
