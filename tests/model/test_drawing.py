"""Models and graphs as pictures: every format, what names promise, elements as options."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from netloupe import NotFoundError, OutputError, ViewError
from netloupe.commands.cli import main
from netloupe.explorer.grouping import build_group_tree
from netloupe.explorer.model import Model
from netloupe.explorer.render.picture import draw_picture, make_picture, render_picture
from netloupe.explorer.view import ViewOptions
from tests.hostile_models import graph_inputs
from tests.onnx_text import load_text

MODEL = """g (bool t, float[2] x) => (float[2] y) <float[2] weight = {2.0, 3.0}> {
    ["/a/Mul"] h = Mul (x, weight)
    ["/a/Relu"] i = Relu (h)
    [constant] c = Constant <value = float[2] {4.0, 5.0}> ()
    [add] j = Add (i, c)
    [far] k = Neg (j)
    [choose] y = If (t) <
        then_branch = a () => (float[2] u) { [inner] u = Exp (k) },
        else_branch = b () => (float[2] v) { [other] v = Neg (k) }
    >
}"""
HEADS = {"to_svg": "<svg ", "to_html": "<!doctype html>", "to_png": b"\x89PNG", "to_pdf": b"%PDF"}


@pytest.fixture(scope="module")
def model() -> Model:
    return load_text(MODEL)


def titles(svg: str) -> set[str]:
    return set(re.findall(r"<title>(.*?)</title>", svg))


@pytest.mark.parametrize("method", HEADS)
def test_each_format_is_returned_and_written(model: Model, tmp_path: Path, method: str) -> None:
    path = tmp_path / f"picture.{method[3:]}"
    drawn: Any = getattr(model, method)(path)
    head = HEADS[method]
    assert drawn[: len(head)].lower() == head.lower()
    assert path.read_bytes() == (drawn.encode() if isinstance(drawn, str) else drawn)
    assert getattr(model, method)() == drawn


@pytest.mark.parametrize("method", HEADS)
def test_a_graph_is_drawn_as_the_model_draws_it(model: Model, method: str) -> None:
    graph = model.graph.nodes[-1].subgraphs[0]
    assert getattr(graph, method)() == getattr(model, method)(graph=graph.path)
    assert graph.to_dot().source == model.to_dot(graph=graph).source


def test_options_of_a_graph_are_those_of_a_model(model: Model) -> None:
    branch = model.graph.nodes[-1].subgraphs[1]
    assert branch.to_svg(theme="dark") == model.to_svg(graph=branch, theme="dark")
    assert model.graph.to_svg(focus="far", hops=0) == model.to_svg(focus="far", hops=0)
    with pytest.raises(TypeError, match="graph"):
        branch.to_svg(graph="main")


@pytest.mark.parametrize(
    ("method", "name", "words"),
    [
        ("to_svg", "x.pdf", "to_svg() writes SVG, which no .pdf is. Call to_pdf("),
        ("to_svg", "x.PNG", "Call to_png("),
        ("to_html", "x.svg", "to_html() writes HTML, which no .svg is. Call to_svg("),
        ("to_png", "x.htm", "Call to_html("),
        ("to_pdf", "x.gv", "Call to_dot("),
        ("to_dot", "x.svg", "to_dot() writes DOT, which no .svg is. Call to_svg("),
        ("to_png", "x.jpg", "netloupe draws no .jpg. Give 'x.png', or choose among to_svg(), "),
        ("to_svg", "x.eps", "netloupe draws no .eps. Give 'x.svg', or"),
    ],
)
def test_a_name_that_promises_another_format_is_refused(
    model: Model, tmp_path: Path, method: str, name: str, words: str
) -> None:
    with pytest.raises(OutputError, match=re.escape(words)) as caught:
        getattr(model, method)(tmp_path / name)
    assert str(caught.value).startswith(str(tmp_path / name))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["picture", "model.v1.2", "a.svg", "A.SVG", "b.xml", "x.onnx.svg"])
def test_other_names_are_written(model: Model, tmp_path: Path, name: str) -> None:
    assert (tmp_path / name).write_text("") == 0
    assert model.to_svg(tmp_path / name) == (tmp_path / name).read_text("utf-8")
    model.to_dot(tmp_path / "x.gv")
    model.to_html(tmp_path / "x.htm")


def test_what_cannot_be_written_is_said_before_anything_is_drawn(
    model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def draw(*_: object, **__: object) -> None:
        raise AssertionError("drawn")

    monkeypatch.setattr("netloupe.explorer.render.picture.make_picture", draw)
    monkeypatch.setattr("netloupe.explorer.render.picture.make_view", draw)
    for path in (tmp_path / "none" / "x", tmp_path, tmp_path / "x.jpg", ""):
        for method in (*HEADS, "to_dot"):
            with pytest.raises(OutputError):
                getattr(model, method)(path)


def test_dot_has_what_a_picture_has(model: Model, tmp_path: Path) -> None:
    laid_out = render_picture(make_picture(model, ViewOptions()), "dot")
    assert draw_picture(model, "dot") == laid_out
    source, drawn = tmp_path / "two.onnx", tmp_path / "two.dot"
    source.write_bytes(graph_inputs(2))
    assert main(["render", str(source), "-o", str(drawn)]) == 0
    assert "Concat" in drawn.read_text("utf-8")


def test_an_unknown_format_is_told_whatever_the_name(model: Model, tmp_path: Path) -> None:
    with pytest.raises(ViewError, match="the format 'jpg' is unknown"):
        draw_picture(model, "jpg", tmp_path / "x.jpg")


def focused(model: Model, element: Any, **view: Any) -> set[str]:
    return titles(model.to_svg(focus=element, hops=0, expand="all", **view))


def test_focus_takes_elements(model: Model) -> None:
    node, value = model.node("far"), model.value("j")
    assert focused(model, node) == focused(model, "main/far")
    assert "main/far" in focused(model, node)
    assert focused(model, value) == focused(model, "main/%j") >= {"main/add", "main/far"}
    branch = node.graph.nodes[-1].subgraphs[0]
    assert focused(model, branch) == focused(model, branch.path) >= {f"{branch.path}/inner"}
    (group,) = [g for g in build_group_tree(model.graph, "names").groups.values() if g.label == "a"]
    assert focused(model, group) == focused(model, "main/a/") >= {"main/a/Mul", "main/a/Relu"}


def test_focus_takes_tensors_and_leads_to_who_uses_them(model: Model) -> None:
    weight, constant = model.tensor("weight"), model.tensor("c")
    assert "main/a/Mul" in focused(model, weight)
    assert focused(model, weight) == focused(model, "weight")
    assert "main/add" in focused(model, constant)
    assert "main/far" not in focused(model, constant)
    assert focused(model, constant) == focused(model, "main/constant.value")
    assert "main/add" in focused(model, model.node("constant"))


def test_an_element_of_another_model_stands_for_its_path(model: Model) -> None:
    other = load_text("g (float[2] x) => (float[2] y) { [far] y = Relu (x) [only] z = Neg (x) }")
    assert focused(model, other.node("far")) == focused(model, "main/far")
    with pytest.raises(NotFoundError, match="main/only"):
        model.to_svg(focus=other.node("only"))


@pytest.mark.parametrize("option", ["focus", "graph"])
def test_anything_else_is_refused(model: Model, option: str) -> None:
    with pytest.raises(ViewError, match=f"{option} is a int. Give a path, or one of: .*Graph"):
        model.to_svg(**{option: 3})
    with pytest.raises(ViewError, match=f"{option} is a Model"):
        model.to_svg(**{option: model})
    with pytest.raises(ViewError, match="graph is a Node"):
        model.to_svg(graph=model.node("far"))
