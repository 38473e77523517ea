"""Figures: what is hidden, renamed and highlighted for one picture, and kept in a file."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any

import pytest

import netloupe
from netloupe.commands.cli import main
from netloupe.explorer.errors import ViewError
from netloupe.explorer.model import Model
from netloupe.explorer.render import figure as figures
from netloupe.explorer.render.figure import Figure
from netloupe.explorer.render.theme import load_theme
from netloupe.explorer.view import View
from tests.onnx_text import load_text

TEXT = """
    <ir_version: 8, opset_import: ["": 17]>
    g (float[4] x) => (float[4] y) {
        [first] a = Relu(x)
        [second] b = Sin(a)
        [third] y = Cos(b)
    }
"""


@pytest.fixture(scope="module")
def model() -> Model:
    return load_text(TEXT)


def texts(svg: str) -> list[str]:
    return re.findall(r"<text [^>]*>([^<]*)</text>", svg)


def test_what_is_hidden_is_not_drawn_and_its_neighbours_stay_joined(model: Model) -> None:
    svg = model.to_svg(figure=Figure(hide=["second"]))
    assert "Sin" not in texts(svg)
    assert svg.count('class="edge"') == model.to_svg().count('class="edge"') - 1


def test_words_find_what_search_finds(model: Model) -> None:
    svg = model.to_svg(figure=Figure(hide=["cos"]))
    assert "Cos" not in texts(svg)
    assert "Relu" in texts(svg)


def test_a_new_name_is_written_and_escaped(model: Model) -> None:
    svg = model.to_svg(figure=Figure(rename={"main/second": "A <b> & 'c'"}))
    assert "A &lt;b&gt; &amp; &#39;c&#39;" in texts(svg)
    assert "<b>" not in svg
    assert texts(model.to_svg()) != texts(svg)  # the model itself is as it was


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_highlight_is_a_category_of_the_theme_or_a_colour(model: Model, theme: Any) -> None:
    figure = Figure(highlight={"second": "attention", "third": "#AB0123"})
    svg = model.to_svg(figure=figure, theme=theme)
    assert load_theme(theme).category("attention").tint in svg
    assert "#ab0123" in svg


def test_a_file_makes_the_same_figure_again(model: Model, tmp_path: Path) -> None:
    path = tmp_path / "figure.toml"
    figure = Figure(["second"], {"first": 'quote " and \\ slash é'}, {"main/third": "#123456"})
    figure.write(path)
    read = Figure.read(path)
    assert (read.hide, read.rename, read.highlight) == (
        figure.hide,
        figure.rename,
        figure.highlight,
    )
    assert model.to_svg(figure=path) == model.to_svg(figure=figure)
    assert Figure().text == ""


def test_what_is_gone_is_told_with_what_is_near_and_the_rest_holds(
    model: Model, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    path = tmp_path / "figure.toml"
    Figure(["secnd", "second"], {"elsewhere": "x"}, {"frist": "norm"}).write(path)
    with caplog.at_level(logging.WARNING):
        svg = model.to_svg(figure=path)
    told = [record.getMessage() for record in caplog.records]
    assert len(told) == 3
    assert all(str(path) in text for text in told)
    assert any("hide 'secnd'" in text and "'second'" in text for text in told)
    assert any(
        "rename 'elsewhere'" in text and "Nothing is called nearly so" in text for text in told
    )
    assert any("highlight 'frist'" in text and "'first'" in text for text in told)
    assert "Sin" not in texts(svg)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hide = 3", "hide is a int. Give a list of texts."),
        ('hide = "x"', "hide is a str. Give a list of texts."),
        ("hide = [1]", "hide 1 is a int. Give a text."),
        ('hide = [""]', "has 0 letters. Give a text of 1 to 4,000."),
        ("rename = [1]", "rename is a list. Give a table of paths and texts."),
        ("[rename]\na = 1", "rename 'a' is a int. Give a text."),
        ('[rename]\na = ""', "rename 'a' has 0 letters. Give a text of 1 to 120."),
        (f'[rename]\na = "{"x" * 121}"', "rename 'a' has 121 letters. Give a text of 1 to 120."),
        ('[rename]\na = "b\\u0007"', "rename 'a' has letters that cannot be printed."),
        (
            '[highlight]\na = "reddish"',
            "highlight 'a' is 'reddish'. Give one of weights, attention",
        ),
        ('[highlight]\na = "#12345"', "or #rrggbb."),
        ("[highlight]\na = 7", "highlight 'a' is 7. Give one of"),
        ("colour = 1", "there is no entry 'colour'. Choose among hide, rename, highlight."),
        ("hide = [", "is no TOML: "),
        ("source = 'x'", "there is no entry 'source'."),
    ],
)
def test_a_wrong_entry_is_told_in_a_line_with_its_file(
    text: str, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "figure.toml"
    path.write_text(text)
    with pytest.raises(ViewError) as caught:
        Figure.read(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert said in message
    assert "\n" not in message


def test_files_that_cannot_be_read_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ViewError, match=r"none\.toml: cannot be read: No such file"):
        Figure.read(tmp_path / "none.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ViewError, match="is no TOML"):
        Figure.read(tmp_path / "binary.toml")
    monkeypatch.setattr(figures, "MOST_BYTES", 10)
    (tmp_path / "large.toml").write_text("# " + "x" * 20)
    with pytest.raises(ViewError, match="more than 10 bytes"):
        Figure.read(tmp_path / "large.toml")
    monkeypatch.setattr(figures, "MOST_ENTRIES", 1)
    with pytest.raises(ViewError, match=r"hide has 2 entries\. Give 1 at most"):
        Figure(["a", "b"])


def test_other_formats_say_what_they_have_not(model: Model) -> None:
    with pytest.raises(ViewError, match="figure is of still pictures"):
        model.to_html(figure=Figure(hide=["second"]))
    assert "Sin" not in model.to_html(figure=Figure(hide=["second"]), static=True).split("<svg")[1]
    with pytest.raises(ViewError, match="figure is a int"):
        model.to_svg(figure=3)  # type: ignore[arg-type]


def test_the_shell_takes_words_and_writes_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import onnx.parser

    source, out, kept = (tmp_path / name for name in ("m.onnx", "m.svg", "figure.toml"))
    source.write_bytes(onnx.parser.parse_model(TEXT).SerializeToString())

    def render(*words: str) -> tuple[int, str]:
        code = main(["render", str(source), "-o", str(out), *words])
        return code, capsys.readouterr().err

    assert render(
        *("--hide", "second", "--rename", "first=One = 1", "--highlight", "third=norm"),
        *("--save-figure", str(kept)),
    ) == (0, "")
    first = out.read_bytes()
    assert "One = 1" in texts(first.decode())
    assert render("--figure", str(kept)) == (0, "")
    assert out.read_bytes() == first
    assert render("--figure", str(kept), "--rename", "first=Two")[0] == 0
    assert "Two" in texts(out.read_text())
    code, said = render("--hide", "nothing at all")
    assert (code, said.count("\n")) == (0, 1)
    assert said.startswith("netloupe: warning: hide 'nothing at all'")
    for words, wanted in [
        (("--rename", "first"), "--rename 'first' has no path, sign = and text"),
        (("--highlight", "first=puce"), "highlight 'first' is 'puce'. Give one of weights"),
        (("--figure", str(tmp_path / "no.toml")), "cannot be read"),
    ]:
        code, said = render(*words)
        assert code != 0
        assert wanted in said
        assert said.count("\n") == 1
    for name, words, wanted in [
        ("m.html", ("--hide", "second"), "are of still pictures"),
        ("m.dot", ("--highlight", "first=norm"), "DOT has no colours of boxes"),
    ]:
        assert main(["render", str(source), "-o", str(tmp_path / name), *words]) != 0
        assert wanted in capsys.readouterr().err
    assert main(["render", str(source), "-o", str(tmp_path / "m.dot"), "--hide", "second"]) == 0
    assert "Sin" not in (tmp_path / "m.dot").read_text()


def test_it_has_a_public_name() -> None:
    assert netloupe.Figure is Figure


def test_the_view_that_is_given_is_not_changed(model: Model) -> None:
    before = [item.label for item in View(model).root.children]
    model.to_svg(figure=Figure(rename={"first": "other"}))
    assert [item.label for item in View(model).root.children] == before
