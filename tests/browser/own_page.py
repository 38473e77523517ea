"""A page of Chromium with a profile of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

#: how long a page is waited for at most, in milliseconds: no test has less patience, since beside
#: busy processes anything may take a minute
PATIENCE = 120_000


@contextmanager
def open_page(browser: Any, motion: str) -> Iterator[Any]:
    """Open a page until the block ends.

    Parameters
    ----------
    browser
        A browser of Playwright.
    motion
        What the user wants: ``reduce`` or ``no-preference``.
    """
    context = browser.new_context(viewport={"width": 1500, "height": 1000}, reduced_motion=motion)

    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    yield page
    context.close()
