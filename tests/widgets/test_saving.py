"""What a saved notebook keeps of an explorer: when it is written, of what, and how much it is."""

from __future__ import annotations

import base64
import json
import random
import re
import shutil
import zlib
from collections.abc import Iterator
from contextlib import suppress
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import IPython.display
import pytest

import netloupe
from netloupe.explorer.errors import NotesError, ViewError
from netloupe.explorer.page import PAGE
from netloupe.widgets import cell_runner, page_process, saving
from netloupe.widgets.fallback import MOST_BYTES, static_bundle
from tests.layered import make_layers
from tests.onnx_text import load_text
from tests.recorder import Recorder

MODEL = Path(__file__).parents[2] / "demo_notebooks" / "models" / "digits_cnn.onnx"


class Displays:
    """What cells have shown, by the ids of outputs."""

    def __init__(self) -> None:
        self.shown: dict[str, dict[str, str]] = {}
        self.updates = 0

    def display(self, bundle: Any, *, raw: bool, display_id: str | None = None) -> None:
        assert raw
        if display_id is not None:
            self.shown[display_id] = bundle

    def update_display(self, bundle: Any, *, raw: bool, display_id: str) -> None:
        self.updates += 1
        self.display(bundle, raw=raw, display_id=display_id)


class FrameReader(HTMLParser):
    """Finds the page in a frame."""

    def __init__(self) -> None:
        super().__init__()
        self.page = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "iframe":
            self.page = dict(attrs)["srcdoc"] or ""


def read_data(bundle: dict[str, str]) -> Any:
    """Return what the page in a bundle is told."""
    reader = FrameReader()
    reader.feed(bundle["text/html"])
    begin = reader.page.index('id="nl-data">') + len('id="nl-data">')
    return json.loads(reader.page[begin : reader.page.index("</script>", begin)])


@pytest.fixture
def displays(monkeypatch: pytest.MonkeyPatch) -> Iterator[Displays]:
    """A notebook with somebody at it, and what its cells show."""
    displays = Displays()
    monkeypatch.setattr(IPython.display, "display", displays.display)
    monkeypatch.setattr(IPython.display, "update_display", displays.update_display)
    monkeypatch.setattr(saving, "find_cell_runner", lambda: "notebook")
    monkeypatch.setattr(saving, "_SOON", 0.0)
    monkeypatch.setattr(page_process, "_NICENESS", 0)  # else it waits for the other tests
    return displays


@pytest.mark.parametrize(
    ("asked", "environment", "expected"),
    [
        ({"allow_stdin": False}, {}, "executor"),
        ({"allow_stdin": True}, {}, "notebook"),
        ({}, {}, "notebook"),
        ({"allow_stdin": False}, {"SERVER_SOFTWARE": "voila/0.5"}, "dashboard"),
        ({"allow_stdin": False}, {"VOILA_PREHEAT": "True"}, "dashboard"),
    ],
)
def test_who_runs_the_cells(
    monkeypatch: pytest.MonkeyPatch,
    asked: dict[str, bool],
    environment: dict[str, str],
    expected: str,
) -> None:
    shell = SimpleNamespace(get_parent=lambda: {"content": asked})
    monkeypatch.setattr(cell_runner, "find_kernel_shell", lambda: shell)
    for name in ("SERVER_SOFTWARE", "VOILA_PREHEAT"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert cell_runner.find_cell_runner() == expected


def test_where_there_is_no_kernel() -> None:
    assert cell_runner.find_cell_runner() == "none"


def test_it_is_written_once_after_the_first_picture(displays: Displays) -> None:
    explorer = netloupe.explore(MODEL, expand="none")
    explorer._ipython_display_()
    [before] = displays.shown.values()
    assert "<iframe" not in before["text/html"]
    assert not explorer._saved._is_started
    Recorder(explorer).begin()
    explorer.open("main/blocks/0-3/")
    explorer.select("main/head/")
    explorer.canvas.shown_theme = "dark"
    explorer.paint = {"main/head/": netloupe.Paint("warning", "here")}
    assert explorer._saved.wait(60)
    [kept] = displays.shown.values()
    assert displays.updates == 1
    data = read_data(kept)
    # what was open, selected and painted then
    assert list(data["first"]) == ["main/blocks/0-3/"]
    assert data["traits"]["selection"] == "main/head/"
    assert data["traits"]["paints"] == {"main/head/": ["warning", "here"]}
    assert data["traits"]["height"] == 560
    assert data["traits"]["theme"] == "dark"
    assert str(MODEL.parent) not in kept["text/html"]
    framed = kept["text/html"][kept["text/html"].index("<iframe") :]
    assert re.findall(r"(?s)<noscript>(.*?)</noscript>", framed) == [""]
    # another browser that asks for the picture has nothing written anew
    Recorder(explorer).begin()
    assert explorer._saved.wait(60)
    assert displays.updates == 1
    explorer.close()


def test_what_is_shown_again_has_what_is_open_by_then(displays: Displays) -> None:
    explorer = netloupe.explore(MODEL, expand="none")
    explorer._ipython_display_()
    Recorder(explorer).begin()
    assert explorer._saved.wait(60)
    explorer.open("main/stem/")
    explorer._ipython_display_()
    [kept] = displays.shown.values()
    assert list(read_data(kept)["first"]) == ["main/stem/"]
    explorer.close()


def test_of_what_was_read_anew_the_page_is_written_anew(
    displays: Displays, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(shutil.copy(MODEL, tmp_path))
    explorer = netloupe.explore(path)
    explorer._ipython_display_()
    Recorder(explorer).begin()
    assert explorer._saved.wait(60)
    assert displays.updates == 1
    shutil.copy(MODEL.with_name("digits_refine.onnx"), path)
    monkeypatch.setattr(saving, "_SOON", 1.0)
    explorer.reload()
    # what is shown meanwhile has no page of the earlier reading
    explorer._ipython_display_()
    [kept] = displays.shown.values()
    assert "<iframe" not in kept["text/html"]
    assert explorer._saved.wait(60)
    [kept] = displays.shown.values()
    assert displays.updates == 2
    groups = [item.key for item in explorer._views.current.root.children if item.is_open]
    assert list(read_data(kept)["first"]) == groups
    explorer.close()


def test_a_page_is_cut_to_what_a_notebook_may_hold(
    displays: Displays, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saving, "find_cell_runner", lambda: "executor")
    kept = []
    code = (PAGE / "page.js").stat().st_size
    for most in (860_000, code + 55_000, 1_000):
        monkeypatch.setattr(saving, "_PAGE_BYTES", most)
        explorer = netloupe.explore(MODEL)
        explorer._ipython_display_()
        kept.append([*displays.shown.values()][-1]["text/html"])
        explorer.close()
    whole, cut, none = kept
    assert len(cut) < len(whole)
    assert "<iframe" in cut
    assert "<iframe" not in none
    assert ["model.to_html" in html for html in kept] == [False, False, True]


def test_what_is_closed_is_not_written(displays: Displays) -> None:
    explorer = netloupe.explore(MODEL)
    explorer._ipython_display_()
    Recorder(explorer).begin()
    explorer.close()
    assert explorer._saved.wait(20)
    assert displays.updates == 0


def test_a_cell_that_a_program_runs_has_it_at_once(
    displays: Displays, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saving, "find_cell_runner", lambda: "executor")
    explorer = netloupe.explore(make_layers(), expand="all")  # which comes from no file
    explorer._ipython_display_()
    [kept] = displays.shown.values()
    assert read_data(kept)["first"]
    assert displays.updates == 0
    explorer.close()


def test_inside_of_another_widget_there_is_no_output_to_keep_it(displays: Displays) -> None:
    explorer = netloupe.explore(MODEL)
    Recorder(explorer).begin()
    assert not explorer._saved._is_started
    explorer.close()


@pytest.mark.parametrize("around", ["dashboard", "none"])
def test_nothing_is_written_where_nobody_keeps_it(
    displays: Displays, monkeypatch: pytest.MonkeyPatch, around: str
) -> None:
    monkeypatch.setattr(saving, "find_cell_runner", lambda: around)
    explorer = netloupe.explore(MODEL)
    explorer._ipython_display_()
    Recorder(explorer).begin()
    assert not explorer._saved._is_started
    assert "<iframe" not in str(displays.shown)
    explorer.close()


def test_the_picture_stays_where_the_page_cannot_be_written(
    displays: Displays, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> bytes:
        raise RuntimeError("no memory")

    monkeypatch.setattr(saving, "find_cell_runner", lambda: "executor")
    monkeypatch.setattr(saving, "make_page", fail)
    explorer = netloupe.explore(MODEL)
    explorer._ipython_display_()
    [kept] = displays.shown.values()
    assert "<iframe" not in kept["text/html"]
    assert "<img" in kept["text/html"]
    explorer.close()


def test_what_is_kept_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NETLOUPE_SAVED", raising=False)
    assert saving.choose_saved(None) == "explorer"
    monkeypatch.setenv("NETLOUPE_SAVED", "picture")
    assert saving.choose_saved(None) == "picture"
    assert saving.choose_saved("explorer") == "explorer"
    monkeypatch.setenv("NETLOUPE_SAVED", "all")
    with pytest.raises(ViewError, match="NETLOUPE_SAVED is 'all'"):
        saving.choose_saved(None)
    with pytest.raises(ViewError, match="saved is 'no'"):
        netloupe.explore(MODEL, saved="no")  # type: ignore[arg-type]


def test_a_page_that_does_not_fit_is_left_out() -> None:
    svg = '<svg xmlns="http://www.w3.org/2000/svg"/>'
    small = static_bundle(svg, "1", "<iframe></iframe>")
    assert "<iframe" in small["text/html"]
    large = static_bundle(svg, "1", f"<iframe srcdoc='{'a' * MOST_BYTES}'></iframe>")
    assert large == static_bundle(svg, "1")
    # a large picture gives way first: it is in the HTML too
    wide = svg.replace("/>", f">{' ' * 200_000}</svg>")
    both = static_bundle(wide, "1", f"<iframe srcdoc='{'a' * 600_000}'></iframe>")
    assert "<iframe" in both["text/html"]
    assert "image/svg+xml" not in both


def read_review(bundle: dict[str, str]) -> dict[str, Any]:
    """Return the columns of what the Review tab of the page in a bundle lists."""
    reader = FrameReader()
    reader.feed(bundle["text/html"])
    (written,) = re.findall(r'data-block="review">([^<]*)<', reader.page)
    assert len(written) <= saving._REVIEW_BYTES
    unpacked = zlib.decompress(base64.b64decode(written), -zlib.MAX_WBITS)
    head, _, columns = unpacked.partition(b"\n")
    found, at = {}, 0
    for column in json.loads(head)["columns"]:
        found[column["name"]] = json.loads(columns[at : at + column["bytes"]])
        at += column["bytes"] + -column["bytes"] % 4
    return found


@pytest.fixture
def executing(displays: Displays, monkeypatch: pytest.MonkeyPatch) -> Displays:
    """As where a notebook is executed, and nobody is at it."""
    monkeypatch.setattr(saving, "find_cell_runner", lambda: "executor")
    return displays


def test_the_review_tab_is_kept_though_no_browser_asked_for_it(
    executing: Displays, tmp_path: Path
) -> None:
    model = netloupe.load(shutil.copy(MODEL, tmp_path))
    node = model.graph.nodes[0]
    note = model.notes.add(node, "the first of all")
    explorer = netloupe.explore(model)
    try:
        explorer._ipython_display_()
        (bundle,) = executing.shown.values()
        data, kept = read_data(bundle), read_review(bundle)
        assert data["has_review"]
        assert data["traits"]["marks"] == {}  # nobody asked for them
        ids = [kept["review"]["texts"][row[4]] for row in kept["review"]["items"]]
        assert ids == [item.id for item in explorer.review]
        assert "note" in ids
        assert kept["notes"][0]["id"] == note.id
        assert ids[kept["places"]["marked"][node.path][-1]] == "note"
    finally:
        explorer.close()


def test_marks_that_are_shown_are_kept_apart_from_paint(executing: Displays) -> None:
    explorer = netloupe.explore(MODEL)
    try:
        explorer.paint = {"main/%image": netloupe.Paint("warning", "odd")}
        explorer.marks_shown = True
        explorer._ipython_display_()
        (bundle,) = executing.shown.values()
        traits = read_data(bundle)["traits"]
        assert [*traits["paints"]] == ["main/%image"]
        places = read_review(bundle)["places"]
        assert traits["marks"].keys() == set().union(*places.values())
    finally:
        explorer.close()


def test_of_a_long_review_the_first_items_are_kept_and_how_many_there_were_is_said(
    executing: Displays, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saving, "_REVIEW_BYTES", 2_500)
    nodes = [f"[n{number}] v{number + 1} = Identity (v{number})" for number in range(200)]
    body = "\n".join([*nodes, "y = Relu (v200)"]).replace("(v0)", "(x)")
    model = load_text(f"long (float[4] x) => (float[4] y) {{ {body} }}")
    rng = random.Random(0)
    for node in model.graph.nodes[:150]:
        with suppress(NotesError):  # kept in memory
            model.notes.add(node, f"{rng.random()}")
    explorer = netloupe.explore(model)
    try:
        explorer._ipython_display_()
        (bundle,) = executing.shown.values()
        review = read_review(bundle)["review"]
        told, count = review["unchecked"][0][0], len(review["items"])
        assert 0 < count < len(explorer.review)
        assert told == (f"a saved notebook lists the first {count} of {len(explorer.review)} items")
    finally:
        explorer.close()


def test_what_is_found_later_is_kept_too(displays: Displays, tmp_path: Path) -> None:
    model = netloupe.load(shutil.copy(MODEL, tmp_path))
    explorer = netloupe.explore(model)
    try:
        explorer._ipython_display_()
        Recorder(explorer).begin()
        assert explorer._saved.wait(120)
        explorer.findings  # noqa: B018 - applies rules
        shown = displays.shown[explorer._static_id]
        assert "note" not in read_review(shown)["review"]["texts"]
        updates = displays.updates
        explorer._reviewing.receive({"note": "seen", "paths": [model.graph.nodes[0].path]})
        assert "“seen”" in read_review(displays.shown[explorer._static_id])["review"]["texts"]
        assert displays.updates == updates + 1
    finally:
        explorer.close()
