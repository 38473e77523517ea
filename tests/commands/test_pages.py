"""What the explorer in one file holds, as the command line is told."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import netloupe
from netloupe.commands.cli import main
from tests.commands.failing import fail

DIGITS = Path(__file__).resolve().parents[2] / "demo_notebooks" / "models" / "digits_cnn.onnx"


def test_weights_may_be_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sizes = []
    for content in ("histograms", "none"):
        output = tmp_path / f"{content}.html"
        assert main(["render", str(DIGITS), "-o", str(output), "--weights", content]) == 0
        sizes.append(output.stat().st_size)
    assert sizes[0] > sizes[1] + 1_000
    assert capsys.readouterr().err == ""


def test_what_a_size_leaves_out_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "out.html"
    assert main(["render", str(DIGITS), "-o", str(output)]) == 0
    limit = output.stat().st_size - 1_000
    assert main(["render", str(DIGITS), "-o", str(output), "--size-limit", str(limit)]) == 0
    assert output.stat().st_size <= limit
    told = capsys.readouterr().err
    assert told.startswith("netloupe: note: To take at most ")
    assert "leaves out statistics of " in told
    assert len(told.splitlines()) == 1


def test_a_size_that_no_page_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "out.html"
    line = fail(capsys, "render", DIGITS, "-o", output, "--size-limit", "20kB")
    assert "at least, more than its size limit of 20.0 kB. Allow more, or" in line
    assert not output.exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["-o", "x.svg", "--weights", "none"], "--weights is of the explorer in a .html file."),
        (
            ["-o", "x.pdf", "--size-limit", "5MB"],
            "--size-limit is of the explorer in a .html file.",
        ),
        (
            ["-o", "x.html", "--static", "--size-limit", "5MB"],
            "Leave --static out, or leave it out.",
        ),
        (["-o", "-", "--format", "svg", "--weights", "none"], "Write one, or leave it out."),
        (["-o", "x.html", "--weights", "all"], "choose from histograms, none"),
        (["-o", "x.html", "--size-limit", "large"], "'large' is not a size such as 5MB"),
    ],
)
def test_options_that_do_not_fit(
    words: list[str],
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert told in fail(capsys, "render", DIGITS, *words).replace(
        "'histograms', 'none'", "histograms, none"
    )
    assert list(tmp_path.iterdir()) == []


def read_data(page: Path, name: str = "nl-data") -> dict[str, Any]:
    """Return what the script of a page is told."""
    text = page.read_text("utf-8")
    data = re.search(rf'id="{name}">([^<]*)<', text)
    assert data is not None
    return dict(json.loads(data[1]))


@pytest.mark.parametrize(
    ("words", "theme"),
    [([], "auto"), (["--theme", "light"], "light"), (["--theme", "dark"], "dark")],
)
def test_a_page_looks_as_the_system_does_unless_a_theme_was_asked_for(
    words: list[str], theme: str, tmp_path: Path
) -> None:
    old, new = str(DIGITS), str(DIGITS.with_name("digits_refine.onnx"))
    page, panes = tmp_path / "page.html", tmp_path / "panes.html"
    assert main(["render", new, "-o", str(page), *words]) == 0
    assert read_data(page)["traits"]["theme"] == theme
    assert main(["diff", old, new, "-o", str(panes), "--panes", *words]) == 0
    assert read_data(panes, "nlp-data")["theme"] == theme
    assert main(["diff", old, new, "-o", str(page), *words]) == 0
    assert read_data(page)["traits"]["theme"] == theme
    asked: dict[str, Any] = {"theme": words[1]} if words else {}
    netloupe.load(new).to_html(page, **asked)
    assert read_data(page)["traits"]["theme"] == theme


def test_a_page_has_the_review_that_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = DIGITS.with_name("digits_cnn.qdq.onnx")
    page = tmp_path / "page.html"
    assert main(["render", str(model), "-o", str(page)]) == 0
    assert not read_data(page)["has_review"]
    assert main(["render", str(model), "-o", str(page), "--review"]) == 0
    assert read_data(page)["has_review"]
    assert read_data(page)["traits"]["marks"]
    line = fail(capsys, "render", DIGITS, "-o", tmp_path / "x.svg", "--review")
    assert "--review is of the explorer in a .html file. Write one, or leave it out." in line
    line = fail(capsys, "render", DIGITS, "-o", tmp_path / "x.html", "--static", "--review")
    assert "Leave --static out, or leave it out." in line
