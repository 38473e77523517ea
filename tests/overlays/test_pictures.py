"""Overlays in pictures, pages, notebooks and on the command line."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pypdf
import pytest
from matplotlib.image import imread

import netloupe
from netloupe import OverlayError, Paint
from netloupe.commands.cli import main
from netloupe.explorer.overlays import BUILT_IN, compare_columns, make_overlays
from netloupe.explorer.overlays.formats.ort_profile import REMEDY
from netloupe.explorer.render.theme import load_theme
from netloupe.explorer.session import Session
from netloupe.explorer.view import ViewOptions
from tests.corpus import corpus_file
from tests.onnx_text import load_text
from tests.overlays.profiles import chain, profile_of, run_of

SVG = "{http://www.w3.org/2000/svg}"
TIMES = {"conv": 40.0, "relu": 10.0, "add": 50.0}


def texts_of(svg: str) -> list[str]:
    return ["".join(text.itertext()) for text in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def box_of(svg: str, path: str) -> str:
    for group in ElementTree.fromstring(svg).iter(f"{SVG}g"):
        title = group.find(f"{SVG}title")
        if title is not None and (title.text or "").split("\n")[0] == path:
            return ElementTree.tostring(group, "unicode")
    raise AssertionError(path)


def test_boxes_have_colour_and_number_and_what_is_missing_is_hatched() -> None:
    overlay = netloupe.overlay(chain(), TIMES, unit="ms", aggregation="sum")
    svg = chain().to_svg(color_by=overlay, expand="all")
    tones = load_theme("light").tones
    assert tones["scale-6"].fill in box_of(svg, "main/conv")
    assert ">40 ms<" in box_of(svg, "main/conv")
    missing = box_of(svg, "main/mul")
    assert tones["missing"].fill in missing
    assert "M" in missing
    assert ">0" not in missing


def test_the_legend_has_name_unit_direction_scale_and_what_is_not_placed() -> None:
    numbers = {**TIMES, "gone": 100.0}
    overlay = netloupe.overlay(
        chain(), numbers, name="latency", unit="ms", better="lower", aggregation="sum"
    )
    texts = texts_of(chain().to_svg(color_by=overlay, expand="all"))
    assert any(text.startswith("latency (ms), ↓ better; groups: sum inside;") for text in texts)
    for text in ("≥ 30 % (≥ 60 ms)", "no number", "1 not placed"):
        assert text in texts
    assert any("50 % of 200 ms placed" in text for text in texts)
    without = texts_of(chain().to_svg(color_by={"conv": 1.0, "relu": 2.0, "add": 3.0, "mul": 4.0}))
    assert "no number" not in without


def test_every_format_has_the_legend(tmp_path: Path) -> None:
    model, overlay = chain(), netloupe.overlay(chain(), TIMES, name="latency")
    pdf = pypdf.PdfReader(io.BytesIO(model.to_pdf(color_by=overlay)))
    assert "latency" in pdf.pages[0].extract_text()
    plain = imread(io.BytesIO(model.to_png()))
    coloured = imread(io.BytesIO(model.to_png(color_by=overlay)))
    assert coloured.shape[0] > plain.shape[0]  # the legend is below
    assert "latency" in model.to_html(static=True, color_by=overlay)
    dark = texts_of(model.to_svg(color_by=overlay, theme="dark"))
    assert any(text.startswith("latency") for text in dark)


def test_paint_is_laid_over_an_overlay() -> None:
    paint = {"main/conv": Paint("error", "slow")}
    svg = chain().to_svg(color_by=TIMES, paint=paint, expand="all")
    box = box_of(svg, "main/conv")
    assert load_theme("light").tones["error"].fill in box
    assert ">slow<" in box


@pytest.mark.parametrize("name", BUILT_IN)
def test_what_a_model_has_of_itself_colours_it(name: str) -> None:
    model = netloupe.load(corpus_file("exported/gpt2.legacy.onnx"))
    overlay = netloupe.overlay(model, name)
    svg = model.to_svg(color_by=overlay)
    assert overlay.describe().split(";")[0] in " ".join(texts_of(svg))


def test_counts_of_groups_are_exact_where_weights_are_shared() -> None:
    model = netloupe.load(corpus_file("exported/gpt2.legacy.onnx"))
    overlay = netloupe.overlay(model, "parameters")
    assert overlay.measure("main").value == model.totals.parameters == overlay.whole
    macs = netloupe.overlay(model, "macs", bind={"batch": 2, "sequence": 3})
    bound = model.costs(bind={"batch": 2, "sequence": 3}).macs
    assert macs.measure("main").value == bound == macs.whole
    assert macs.describe_placement() == []
    free = netloupe.overlay(model, "macs")
    assert free.describe_placement() == ["counted with batch = 1, sequence = 1"]


def test_findings_are_coloured_by_their_severity_and_the_worst_counts() -> None:
    model = load_text("""
        two (float[4] x) => (float[4] y) {
            [one] t = Relu (x)
            [two] y = Relu (undefined)
        }""")
    overlay = netloupe.overlay(model, "findings")
    paint = overlay.paint_of(overlay.measure("two"))
    assert (paint.tone, paint.text) == ("error", "error")
    assert overlay.paint_of(overlay.measure("main")).tone == "error"


def test_sqnr_of_an_audit_is_laid_over_the_quantized_model() -> None:
    quantized, twin = (
        netloupe.load(f"demo_notebooks/models/digits_cnn{end}.onnx") for end in (".qdq", "")
    )
    overlay = netloupe.overlay(quantized, netloupe.audit(quantized, twin))
    assert overlay.describe().startswith("SQNR (dB), ↑ better; groups: smallest inside")
    worst = overlay.rank(1)[0]
    assert worst.path == "main/node_conv2d_6"  # whose channel is clipped
    assert overlay.paint_of(overlay.measure(worst.path)).tone == "scale-over"
    with pytest.raises(OverlayError, match="no weight was compared with a float twin"):
        netloupe.overlay(quantized, netloupe.audit(quantized))


def test_a_difference_is_laid_over_the_new_model() -> None:
    old, new = (
        chain(),
        load_text("""
        chain (float[1,4,8,8] x, float[4,4,3,3] w) => (float[1,4,8,8] y) {
            [conv] c = Conv (x, w)
            [relu] r = Relu (c)
            [new] n = Sigmoid (r)
            [add] a = Add (n, n)
            [mul] y = Mul (a, a)
        }"""),
    )
    (overlay,) = make_overlays(new, [netloupe.diff(old, new)])
    assert overlay.measure("new").value == "added"
    assert overlay.measure("conv").value == "kept"
    assert overlay.measure("main").value == "added"


# two columns compared


def test_two_columns_on_two_models_are_compared_through_the_matcher() -> None:
    old = chain()
    new = load_text("""
        renamed (float[1,4,8,8] u, float[4,4,3,3] v) => (float[1,4,8,8] z) {
            [n1] k1 = Conv (u, v)
            [n2] k2 = Relu (k1)
            [n3] k3 = Add (k2, k2)
            [n4] z = Mul (k3, k3)
        }""")
    before = netloupe.overlay(old, {**TIMES, "mul": 0.0}, name="time", unit="ms", aggregation="sum")
    after = netloupe.overlay(
        new, {"n1": 20.0, "n2": 15.0, "n3": 50.0, "n4": 1.0}, name="time", unit="ms",
        aggregation="sum",
    )  # fmt: skip
    difference = netloupe.overlay(new, compare_columns(before, after))
    assert [difference.measure(name).value for name in ("n1", "n2", "n3", "n4")] == [-20, 5, 0, 1]
    assert difference.measure("main").value == -14
    assert difference.scale.kind == "diverging"
    ratio = netloupe.overlay(new, compare_columns(before, after, "ratio"))
    assert ratio.measure("n1").value == 0.5
    assert ratio.measure("n4").value is None  # nothing to divide by
    assert ratio.measure("main").value == 85 / 100  # of the sums
    assert ratio.describe_placement()[-1].startswith("1 pair of nodes has a number on one side")


def test_what_cannot_be_compared_is_refused() -> None:
    model = chain()
    numbers = netloupe.overlay(model, TIMES, unit="ms")
    with pytest.raises(OverlayError, match="Compare numbers of one unit"):
        compare_columns(numbers, netloupe.overlay(model, TIMES, unit="dB"))
    with pytest.raises(OverlayError, match="has words"):
        compare_columns(numbers, netloupe.overlay(model, {"conv": "a"}))
    with pytest.raises(OverlayError, match="no pair of nodes has a number in both"):
        compare_columns(numbers, netloupe.overlay(model, {"mul": 1.0}, unit="ms"))
    wrong: Any = "product"
    with pytest.raises(OverlayError, match="'product' compares nothing"):
        compare_columns(numbers, numbers, wrong)


# sessions: notebooks and live pages


def test_a_session_colours_what_it_shows_and_again_when_that_changes() -> None:
    model = netloupe.load(corpus_file("exported/gpt2.legacy.onnx"))
    session = Session(model, ViewOptions.parse({"expand": "none"}))
    session.set_overlays([netloupe.overlay(model, "parameters"), netloupe.overlay(model, "macs")])
    assert session.coloured == {}  # nothing is shown yet
    session.compose()
    before = dict(session.coloured)
    closed = [item.path for item in session.views.current.root.children if item.kind == "group"]
    assert before.keys() >= {*closed}
    session.views.current.open(closed[0])
    session.compose()
    assert session.coloured.keys() != before.keys()
    entries = session.legend("light")
    assert entries[0] == {
        "text": "parameters; groups: sum inside; colour: share of the whole", "svg": "",
        "overlay": True,
    }  # fmt: skip
    session.choose_overlay(-1)
    assert session.coloured == {}
    assert not any(entry["overlay"] for entry in session.legend("light"))
    for wrong in (2, -2, "1", None, True):
        with pytest.raises(netloupe.ViewError, match="nothing of the number"):
            session.choose_overlay(wrong)


def test_color_by_in_a_notebook() -> None:
    explorer = netloupe.explore(chain(), expand="all")
    explorer.color_by(TIMES, "parameters", name="cost")
    assert explorer.canvas.overlays == ["cost", "cost"]
    assert explorer.canvas.overlay == 0
    assert explorer.overlay is not None
    explorer._requests.scene.result()
    explorer.color_by(TIMES, unit="ms")
    assert explorer.canvas.coloured["main/conv"][1] == "40 ms"
    assert ">40 ms<" in explorer.to_svg()
    explorer.color_by()
    assert explorer.canvas.overlays == []
    assert explorer.canvas.coloured == {}
    assert explorer.overlay is None
    with pytest.raises(OverlayError):
        explorer.color_by({"conv": object()})
    explorer.close()


# pages


def test_a_page_holds_all_overlays_and_shows_the_first() -> None:
    page = chain().to_html(color_by=[TIMES, "parameters"])
    data = json.loads(page.split('id="nl-data">')[1].split("</script>")[0])
    assert data["traits"]["overlays"] == ["value", "parameters"]
    assert data["traits"]["overlay"] == 0
    assert 'data-block="overlays"' in page
    plain = chain().to_html()
    assert 'data-block="overlays"' not in plain


# the command line


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    from netloupe.explorer.readers.source import open_source  # noqa: F401 - as users have it

    source = Path(corpus_file("exported/gpt2.legacy.onnx")).read_bytes()
    (tmp_path / "m.onnx").write_bytes(source)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", ["m.svg", "m.png", "m.pdf", "m.html"])
def test_render_colours_every_format(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert main(["render", "m.onnx", "-o", name, "--color-by", "parameters"]) == 0
    assert (folder / name).stat().st_size > 10_000
    assert "% is in 31 of 2,608 nodes" in capsys.readouterr().err


def test_render_says_what_could_not_be_placed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = netloupe.load("m.onnx")
    first = model.graph.nodes[-1].name
    runs = [run_of([(first, 50, "MatMul"), ("fused_away", 30, "Gelu")], 1000 * k) for k in (1, 2)]
    Path("profile.json").write_text(profile_of(runs), "utf-8")
    assert main(["render", "m.onnx", "-o", "m.svg", "--color-by", "profile.json"]) == 0
    told = capsys.readouterr().err
    assert "56 % of 90 µs placed; 1 of 2 entries placed" in told
    assert "1 not placed: nothing in the model has this name: fused_away" in told
    assert REMEDY in told


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--color-by", "gone.csv"], "neither a file nor a column of the model"),
        (["--color-by", "macs", "--color-by", "bytes"], "a still picture is coloured by one"),
        (["--color-scale", "log"], "--color-scale says how to colour"),
        (["--color-groups", "sum"], "--color-groups says how to colour"),
        (["--color-by", "sqnr"], "Give --float TWIN with it"),
        (["--float", "m.onnx"], "Give --float TWIN with it"),
        (["--color-by", "broken.json"], "broken.json: is no valid JSON"),
    ],
)
def test_what_does_not_fit_is_one_line_and_nothing_is_written(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    Path("broken.json").write_text('{"a": 1')
    assert main(["render", "m.onnx", "-o", "m.svg", *arguments]) == 2
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1
    assert not (folder / "m.svg").exists()


def test_dot_is_refused_and_a_page_takes_several(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["render", "m.onnx", "-o", "m.dot", "--color-by", "macs"]) == 2
    assert "DOT has no colours" in capsys.readouterr().err
    several = ["--color-by", "macs", "--color-by", "bytes", "--weights", "none"]
    assert main(["render", "m.onnx", "-o", "m.html", *several]) == 0
    assert '"overlays":["MACs","bytes of weights"]' in Path("m.html").read_text("utf-8")
