"""What is painted in a function is painted in each call of it that a picture shows open."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from matplotlib.image import imread

from netloupe import Paint
from netloupe.explorer.layout import Composer
from netloupe.explorer.model import Model
from netloupe.explorer.render.called import list_open_calls, paint_calls
from netloupe.explorer.render.labels import Labels
from netloupe.explorer.render.legend import list_legend, walk_items
from netloupe.explorer.render.theme import load_theme
from netloupe.explorer.view import View
from tests.onnx_text import load_text

#: two calls of a function whose body calls another one, which has a branch
NESTED = """
<ir_version: 10, opset_import: ["": 21, "local": 1]>
agraph (float[2] x, bool c) => (float[2] y) {
    [one] a = local.outer(x, c)
    [two] y = local.outer(a, c)
}
<domain: "local", opset_import: ["": 21, "local": 1]>
outer (p, c) => (q) {
    [call] r = local.inner(p, c)
    [soft] q = Softmax(r)
}
<domain: "local", opset_import: ["": 21]>
inner (p, c) => (q) {
    [relu] s = Relu(p)
    [if] q = If<then_branch = yes() => (t) { [tanh] t = Tanh(s) },
                else_branch = no() => (e) { [neg] e = Neg(s) }>(c)
}
"""
RELU = "functions/local::inner/relu"
#: what is opened one in the other
OPENED = ("", "()/call", "()/call()/if", "()/call()/if.then_branch")
TANH = "functions/local::inner/if.then_branch/tanh"


@pytest.fixture(scope="module")
def model() -> Model:
    return load_text(NESTED)


def open_paths(model: Model, *paths: str) -> View:
    view = View(model)
    for path in paths:
        view.open(path)
    return view


def calls_of(view: View) -> dict[str, list[str]]:
    return list_open_calls(walk_items(Composer().compose(view, Labels())))


def test_what_lies_in_open_calls_is_listed_by_function(model: Model) -> None:
    assert calls_of(open_paths(model)) == {}
    view = open_paths(model, "main/one", "main/one()/call", "main/two")
    assert calls_of(view) == {
        "functions/local::outer": ["main/one()", "main/two()"],
        "functions/local::inner": ["main/one()/call()"],
    }


def test_paint_of_a_function_is_where_its_open_calls_are(model: Model) -> None:
    view = open_paths(model, "main/one", "main/one()/call", "main/two")
    paints = {RELU: Paint("warning"), TANH: Paint("error"), "main/one": Paint("note")}
    painted = paint_calls(paints, calls_of(view))
    assert painted == {
        **paints,
        "main/one()/call()/relu": Paint("warning"),
        "main/one()/call()/if.then_branch/tanh": Paint("error"),
    }


def test_paint_of_one_call_is_laid_over_that_of_the_function(model: Model) -> None:
    soft = "functions/local::outer/soft"
    paints = {soft: Paint(ring="error", mark="!"), "main/two()/soft": Paint("scale-3", "8 ms")}
    painted = paint_calls(paints, calls_of(open_paths(model, "main/one", "main/two")))
    assert painted["main/one()/soft"] == paints[soft]
    both = Paint("scale-3", "8 ms", ring="error", mark="!", mark_tone="error")
    assert painted["main/two()/soft"] == both


def test_nothing_is_made_anew_without_open_calls(model: Model) -> None:
    paints = {RELU: Paint("warning")}
    assert paint_calls(paints, calls_of(open_paths(model))) is paints
    # a path that only begins like that of a function lies in no call of it
    calls = {"functions/local::inner": ["main/one()/call()"]}
    other = {"functions/local::inner_2/relu": Paint("warning")}
    assert paint_calls(other, calls) == other


def test_pictures_show_it_and_the_legend_explains_it(model: Model) -> None:
    tone = load_theme("light").tones["error"]
    paint = {TANH: Paint(ring="error", mark="!")}
    svg = model.to_svg(expand="all", paint=paint, theme="light")
    root = ElementTree.fromstring(svg)
    ringed = [
        title.text.split("\n")[0]
        for group in root.iter("{http://www.w3.org/2000/svg}g")
        if (title := group.find("{http://www.w3.org/2000/svg}title")) is not None
        and title.text
        and any(part.get("stroke") == tone.strong for part in group)
    ]
    ends = "()/call()/if.then_branch/tanh"
    assert sorted(ringed) == [f"main/one{ends}", f"main/two{ends}"]
    view = open_paths(model, *(f"main/one{end}" for end in OPENED))
    labels = Labels()
    scene = Composer().compose(view, labels)
    entries = list_legend(scene, labels.draw, paint)
    assert [entry.key for entry in entries if entry.kind == "tones"] == ["error"]
    shut = Composer().compose(open_paths(model, "main/one"), labels)
    assert not [entry for entry in list_legend(shut, labels.draw, paint) if entry.kind == "tones"]


def test_pixels_show_it_too(model: Model, tmp_path: Path) -> None:
    strong = load_theme("light").tones["error"].strong
    wanted = [int(strong[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    file, paint = tmp_path / "picture.png", {RELU: Paint(ring="error")}

    def count() -> int:
        pixels = imread(file)[:, :, :3]
        return int((abs(pixels - wanted).max(axis=2) < 0.01).sum())

    model.to_png(file, expand="none", paint=paint, theme="light")
    assert count() == 0
    model.to_png(file, expand="all", paint=paint, theme="light")
    assert count() > 100
