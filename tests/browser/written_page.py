"""The explorer in one file, opened from disk: written once in a process, seen by many tests."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import netloupe
from tests.browser.shown_page import API, CANVAS, ShownPage
from tests.corpus import corpus_file


class WrittenPage(ShownPage):
    """A page that was written for a model, in Chromium.

    Parameters
    ----------
    page
        A Playwright page.
    file
        What it shows.
    fragment
        What follows in its address, with ``#``.
    """

    def __init__(self, page: Any, file: Path, fragment: str = "") -> None:
        self.file = file
        #: what the page has asked the network for
        self.requests: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        super().__init__(page, f"{file.as_uri()}{fragment}")

    def press(self, title: str) -> None:
        """Press the button of a title."""
        self.page.locator(f'{CANVAS} button[title="{title}"]').click()
        self.settle()

    def dismiss(self) -> None:
        """Put away what is said, as of a layout that took too long: Escape would do that first.

        A busy machine has two such notices: statistics that were not read in time are another.
        """
        buttons = self.page.locator(f"{CANVAS} .nl-strip").get_by_role("button")
        while buttons.count():
            buttons.first.click()

    def lit(self) -> int | None:
        """Return how many boxes and edges are lit; None where all are as usual."""
        count: int | None = self.page.evaluate(f"{API}.stats().lit")
        return count

    def inspector(self) -> str:
        """Return what the inspector says."""
        return str(self.page.inner_text(".nl-inspector"))

    def error(self) -> str:
        """Wait for a message, and return it."""
        strip = self.page.locator(f"{CANVAS} .nl-strip")
        strip.locator("text=/./").first.wait_for()
        return str(strip.inner_text())


@cache
def write_page(name: str, **view: Any) -> Path:
    """Return the page of a file of ours with options of its view; nobody may change it."""
    file = _folder() / f"{len(list(_folder().iterdir()))}.html"
    netloupe.load(corpus_file(name)).to_html(file, **view)
    return file


@cache
def _folder() -> Path:
    """Return a folder of this process, removed when it ends."""
    folder = Path(tempfile.mkdtemp(prefix="netloupe-pages-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
