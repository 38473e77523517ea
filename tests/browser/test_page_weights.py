"""Histograms and statistics of weights in a page that stands alone, opened from a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from netloupe.explorer.standalone.page import make_page
from netloupe.explorer.standalone.weight_statistics import WeightBudget
from netloupe.explorer.view import ViewOptions
from tests.standalone.test_weight_statistics import make_model

pytestmark = pytest.mark.browser

INSPECTOR = ".nl-inspector"
#: pairs of texts of a histogram that lie over each other, and texts outside of it
FIND_FAULTS = """() => {
    const picture = document.querySelector('.nl-histogram-picture');
    const around = picture.getBoundingClientRect();
    const texts = [...picture.querySelectorAll('text')];
    const boxes = texts.map((text) => text.getBoundingClientRect());
    const faults = [];
    boxes.forEach((one, k) => {
        if (one.left < around.left - 1 || one.right > around.right + 1
            || one.top < around.top - 1 || one.bottom > around.bottom + 1)
            faults.push(texts[k].textContent);
        for (const other of boxes.slice(k + 1))
            if (one.left < other.right && other.left < one.right
                && one.top + 2 < other.bottom && other.top + 2 < one.bottom)
                faults.push(`${texts[k].textContent} over another`);
    });
    return faults;
}"""


def open_page(page: Any, folder: Path, budget: WeightBudget | None = None, **view: Any) -> None:
    """Write the page of a model with weights of all kinds and open it from its file."""
    file = folder / "page.html"
    options = ViewOptions.parse(view)
    file.write_bytes(make_page(make_model(folder), options, budget=budget)[0])
    page.goto(file.as_uri())


def show_weight(page: Any, name: str) -> None:
    """Select a weight by the link to it in the model's description."""
    page.goto(page.url.partition("#")[0])  # the address keeps what was selected before
    path = quote(f"main/%{name}", safe="")
    page.locator(f'{INSPECTOR} button[data-path="{path}"]').first.click()
    page.locator(f"{INSPECTOR}-title", has_text=name).wait_for()
    page.locator(f"{INSPECTOR}-weight > *").first.wait_for()


@pytest.mark.parametrize(("theme", "bar"), [("light", "91, 132, 177"), ("dark", "127, 168, 214")])
def test_a_weight_is_shown_below_the_first_section(
    page: Any, tmp_path: Path, theme: str, bar: str
) -> None:
    open_page(page, tmp_path, theme=theme)
    for name in ("normal", "far", "tiny", "indices", "huge", "flags", "packed"):
        show_weight(page, name)
        for width in (240, 360, 500):
            page.locator(INSPECTOR).evaluate(
                "(inspector, width) => inspector.firstElementChild.style.setProperty("
                "'width', `${width - 26}px`, 'important')",
                width,
            )
            page.wait_for_function(
                "(width) => document.querySelector('.nl-histogram-picture')"
                ".getBoundingClientRect().width === width",
                arg=width - 26,
            )
            assert page.evaluate(FIND_FAULTS) == [], (name, width)
    show_weight(page, "normal")
    titles = page.locator(f"{INSPECTOR}-section-title").all_inner_texts()
    assert titles[:3] == ["Value", "Statistics", "Tensor"]
    fill = "(element) => getComputedStyle(element).fill"
    assert page.locator(".nl-histogram-bar").first.evaluate(fill) == f"rgb({bar})"
    show_weight(page, "odd")
    assert page.locator(".nl-histogram-notes").inner_text() == "1 NaN · 1 +Inf · 1 −Inf"


def test_what_is_not_in_the_file_says_why(page: Any, tmp_path: Path) -> None:
    open_page(page, tmp_path, WeightBudget(size=30_000))
    show_weight(page, "away")
    assert "gone.bin" in page.locator(f"{INSPECTOR}-weight").inner_text()
    show_weight(page, "indices")
    assert page.locator(f"{INSPECTOR}-weight").inner_text() == (
        "Not in this file: it takes 16.0 kB, and at most 30.0 kB of weights were read, the "
        "largest that fit first."
    )
    show_weight(page, "names")
    assert page.locator(".nl-histogram").count() == 0
    assert "secret" not in page.locator(INSPECTOR).inner_text()


def test_a_damaged_block_is_said_where_it_is_needed(page: Any, tmp_path: Path) -> None:
    open_page(page, tmp_path)
    file = tmp_path / "page.html"
    whole = file.read_text("utf-8")
    begin = whole.rindex('data-block="weights-0">') + len('data-block="weights-0">')
    file.write_text(whole[:begin] + "AAAA" + whole[whole.index("<", begin) :], "utf-8")
    show_weight(page, "normal")
    told = page.locator(f"{INSPECTOR}-weight [role=alert]").inner_text()
    assert told == "The statistics of this file cannot be read: the file is damaged."
    assert page.locator(f"{INSPECTOR}-facts").count() > 0
