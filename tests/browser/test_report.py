"""A report in Chromium, opened from disk with the network off."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import netloupe
from tests.browser.own_page import PATIENCE
from tests.browser.shown_page import API, CANVAS, ShownPage

pytestmark = pytest.mark.browser

_MODELS = Path(__file__).parents[2] / "demo_notebooks" / "models"
_REVIEW = '[data-netloupe="review"]'
_FAULTY = "main/node_linear"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("report") / "report.html"
    original = netloupe.load(_MODELS / "digits_cnn.onnx")
    netloupe.report(
        netloupe.load(_MODELS / "digits_cnn.qdq.onnx"),
        file,
        against=original,
        float_twin=original,
        color_by=["macs", "parameters"],
        bind={"batch": 1},
    )
    return file


class ReportPage(ShownPage):
    """A report once its first picture is painted."""

    def column(self, caption: str, number: int) -> list[str]:
        """Return what stands in a column of a table, in the order of its rows."""
        table = self.page.locator(f'table:has(caption:has-text("{caption}"))')
        cells = table.locator(f"tbody > tr:first-child > td:nth-child({number})")
        return [str(text) for text in cells.all_inner_texts()]

    def head(self, caption: str, title: str) -> Any:
        return self.page.locator(
            f'table:has(caption:has-text("{caption}")) th:has(button:text-is("{title}"))'
        )

    def wait_for_selection(self, path: str) -> None:
        self.page.wait_for_selector(f'{CANVAS}[data-selected="{path}"]')
        self.page.wait_for_function(f"(path) => {API}.locate(path) !== null", arg=path)
        self.settle()


@pytest.fixture
def show(browser: Any, report: Path) -> Iterator[Callable[..., ReportPage]]:
    contexts: list[Any] = []

    def make(script: str = "", **settings: Any) -> ReportPage:
        context = browser.new_context(
            offline=True, **{"viewport": {"width": 1400, "height": 900}, **settings}
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.add_init_script(script)
        problems: list[str] = []
        asked: list[str] = []
        page.on("console", lambda m: problems.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        shown = ReportPage(page, report.as_uri())
        shown.problems, shown.asked = problems, asked  # type: ignore[attr-defined]
        return shown

    yield make
    for context in contexts:
        context.close()


def check_quiet(shown: Any) -> None:
    assert shown.problems == []
    assert [url for url in shown.asked if not url.startswith(("file:", "blob:", "data:"))] == []


def test_a_finding_that_is_selected_is_shown(show: Any) -> None:
    shown = show()
    assert _FAULTY not in shown.paths()
    place = shown.page.locator(f'#nlr-findings [data-path="{_FAULTY}"]')
    place.click()
    shown.wait_for_selection(_FAULTY)
    assert place.get_attribute("aria-current") == "true"
    assert "Gemm" in shown.page.inner_text(".nl-inspector")
    check_quiet(shown)


def test_links_to_biases_without_a_box_lead_to_those_that_show_them(show: Any) -> None:
    shown = show()
    links = shown.page.locator('.nlr-article [data-path$="bias_quantized"]:visible').all()
    by_path = {link.get_attribute("data-path"): link for link in links}
    assert len(by_path) > 5
    for path, link in by_path.items():
        assert path not in shown.paths()
        link.click()
        shown.page.wait_for_selector(f'{CANVAS}[data-selected="{path}"]')
        told = shown.page.locator(f"{CANVAS} .nl-unseen[aria-live]", has_text=f"{path}, shown by ")
        told.wait_for(state="attached")
        assert link.get_attribute("aria-current") == "true"
    check_quiet(shown)


#: tables and texts of a part of a report whose end is beyond what scrolls around them
_CUT = """(part) => [...document.querySelectorAll(`${part} .nlr-scroll, ${part} p`)]
  .filter((each) => each.scrollWidth > each.clientWidth)
  .map((each) => each.getAttribute("aria-label") ?? each.textContent)"""


@pytest.mark.parametrize("part", ["#nlr-findings", "#nlr-differences"])
def test_prose_is_not_cut_beside_the_picture(show: Any, part: str) -> None:
    page = show().page
    assert page.locator(f"{part} .nlr-scroll").count() > 0
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true })")
    for width in (1240, 1300, 1350, 1400, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(_CUT, part) == [], width


def test_what_is_selected_in_the_picture_is_marked_in_the_tables(show: Any) -> None:
    shown = show()
    places = shown.page.locator(".nlr-article [data-path]").all()
    named = {each.get_attribute("data-path") for each in places}
    path = next(path for path in shown.paths() if path in named)
    shown.click(path)
    shown.page.wait_for_selector(f'{CANVAS}[data-selected="{path}"]')
    chosen = shown.page.locator('.nlr-article [aria-current="true"]')
    assert {each.get_attribute("data-path") for each in chosen.all()} == {path}


def test_tables_sort_by_click_and_by_keyboard(show: Any) -> None:
    shown = show()
    head = shown.head("Operators", "Nodes")
    before = shown.column("Operators", 2)
    assert head.get_attribute("aria-sort") == "none"
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    numbers = [int(text.replace(",", "")) for text in shown.column("Operators", 2)]
    assert numbers == sorted(numbers, reverse=True)
    head.locator("button").focus()
    shown.page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    numbers = [int(text.replace(",", "")) for text in shown.column("Operators", 2)]
    assert numbers == sorted(numbers)
    assert sorted(before) == sorted(shown.column("Operators", 2))
    names = shown.head("Operators", "Operator")
    names.locator("button").focus()
    shown.page.keyboard.press("Space")
    assert names.get_attribute("aria-sort") == "ascending"
    assert head.get_attribute("aria-sort") == "none"
    told = shown.column("Operators", 1)
    assert told == sorted(told, key=str.lower)


def test_what_is_not_known_is_sorted_last_both_ways(show: Any) -> None:
    shown = show()
    head = shown.head("Operators", "MACs")
    for _ in range(2):
        head.locator("button").click()
        texts = shown.column("Operators", 3)
        known = [bool(text) for text in texts]
        assert known == sorted(known, reverse=True)


def test_an_overlay_changes_colours(show: Any) -> None:
    shown = show()
    buttons = shown.page.locator("[data-overlay]")
    assert buttons.all_inner_texts() == ["None", "MACs", "parameters", "SQNR of weights"]
    seen = []
    for number in range(4):
        buttons.nth(number).click()
        shown.page.wait_for_selector(f'[data-overlay="{number - 1}"][aria-pressed="true"]')
        shown.settle()
        seen.append(shown.page.locator(f"{CANVAS} canvas").first.screenshot())
    assert len(set(seen)) == 4
    check_quiet(shown)


def test_a_diff_steps(show: Any) -> None:
    shown = show()
    shown.page.get_by_role("tab", name="Review").click()
    rows = shown.page.locator(f"{_REVIEW} .nl-review-row")
    rows.first.click()
    shown.wait_for_selection(_FAULTY)
    selected = []
    for _ in range(8):
        shown.page.keyboard.press("p")
        shown.settle()
        selected.append(shown.page.locator(CANVAS).get_attribute("data-selected"))
    assert len({*selected}) > 2
    check_quiet(shown)


def test_a_note_survives_and_is_merged_into_the_file_beside_the_model(
    show: Any, tmp_path: Path
) -> None:
    shown = show()
    page = shown.page
    page.locator(f'#nlr-findings [data-path="{_FAULTY}"]').click()
    shown.wait_for_selection(_FAULTY)
    page.get_by_role("tab", name="Review").click()
    page.get_by_role("button", name="+ note").click()
    page.get_by_label("Note on").fill("ask the exporter")
    page.get_by_role("button", name="add note").click()
    page.reload()
    page.wait_for_selector(f'{CANVAS}[data-ready="true"]')
    page.get_by_role("tab", name="Review").click()
    page.locator(f"{_REVIEW} input").first.fill(
        "exporter"
    )  # of the list only what is seen is there
    page.get_by_text("“ask the exporter”").first.wait_for()
    with page.expect_download() as started:
        page.get_by_role("button", name="download notes").click()
    started.value.save_as(tmp_path / "downloaded.jsonl")
    # the page shows two models as one: the note is on the newer
    model = netloupe.load((_MODELS / "digits_cnn.qdq.onnx").read_bytes())
    model.notes.open(tmp_path / "kept.notes.jsonl")
    assert model.notes.merge(tmp_path / "downloaded.jsonl") == 1
    (note,) = model.notes
    assert (note.text, note.paths, note.state) == ("ask the exporter", (_FAULTY,), "exact")
    check_quiet(shown)


#: what observers see is told when the test says so: a busy page is told late, too
_LATE_OBSERVERS = """
window.told = [];
window.IntersectionObserver = class extends IntersectionObserver {
  constructor(tell, options) { super((...seen) => told.push(() => tell(...seen)), options); }
};
"""


def test_on_a_narrow_screen_the_table_is_come_back_to(show: Any) -> None:
    shown = show(_LATE_OBSERVERS, viewport={"width": 500, "height": 800})
    page = shown.page
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    back = page.locator(".nlr-back")
    assert back.is_hidden()
    place = page.locator(f'#nlr-findings [data-path="{_FAULTY}"]')
    place.evaluate("(e) => e.scrollIntoView({ block: 'center' })")
    page.wait_for_function("() => told.length > 1")  # that the explorer went out of sight
    place.click()
    shown.wait_for_selection(_FAULTY)
    page.evaluate("() => { for (const tell of told.splice(0)) tell(); }")
    back.click()
    assert place.evaluate("e => e === document.activeElement")
    assert 0 <= place.bounding_box()["y"] <= 800
    assert back.is_hidden()
    # it goes, too, where somebody scrolls away
    place.click()
    back.wait_for()
    page.locator("#nlr-findings").evaluate("(section) => section.scrollIntoView()")
    page.wait_for_function("() => told.length > 0")
    page.evaluate("() => { for (const tell of told.splice(0)) tell(); }")
    assert back.is_hidden()


def test_it_is_light_or_dark_as_the_system_is(show: Any) -> None:
    grounds = []
    for scheme in ("light", "dark"):
        shown = show(color_scheme=scheme)
        assert shown.page.locator("html").get_attribute("data-theme") == scheme
        script = "getComputedStyle(document.querySelector('.nlr-scroll')).backgroundColor"
        grounds.append(shown.page.evaluate(script))
    assert grounds[0] == "rgb(255, 255, 255)"
    assert grounds[0] != grounds[1]


def test_on_paper_the_picture_stands_still(show: Any, tmp_path: Path) -> None:
    shown = show(color_scheme="dark")
    page = shown.page
    assert page.locator("figure.nlr-picture").is_hidden()
    page.emulate_media(media="print")
    assert page.locator("figure.nlr-picture svg").is_visible()
    assert page.locator(".nl-explorer").is_hidden()
    assert page.locator(".nlr-head nav").is_hidden()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    pypdf = pytest.importorskip("pypdf")
    page.pdf(path=tmp_path / "r.pdf", format="A4", print_background=True)
    text = "".join(each.extract_text() for each in pypdf.PdfReader(tmp_path / "r.pdf").pages)
    for words in ("Review of digits_cnn.qdq.onnx", "NL-Q09", "Not checked"):
        assert words in text


def test_without_scripts_all_is_there_but_the_explorer(browser: Any, report: Path) -> None:
    context = browser.new_context(java_script_enabled=False, offline=True)
    try:
        page = context.new_page()
        page.goto(report.as_uri())
        assert page.locator("figure.nlr-picture svg").is_visible()
        assert page.locator("text=NL-Q09").first.is_visible()
    finally:
        context.close()


def test_it_is_read_before_the_picture_is_there(browser: Any, report: Path) -> None:
    """Text and tables stand ahead of the script and the blocks of the explorer."""
    context = browser.new_context(offline=True)
    try:
        page = context.new_page()
        page.goto(report.as_uri(), wait_until="commit")
        page.wait_for_selector("h1:has-text('Review of digits_cnn')")
        page.wait_for_selector(f'{CANVAS}[data-ready="true"]')
        paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        assert paint < 5_000  # in a moment; how long a busy machine takes nobody knows
    finally:
        context.close()
