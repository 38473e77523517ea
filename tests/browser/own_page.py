"""A page of Chromium with a profile of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_HERE = ("http://127.0.0.1", "http://localhost", "data:", "blob:", "file:")


@contextmanager
def open_page(browser: Any, motion: str) -> Iterator[Any]:
    """Open a page until the block ends; requests to anywhere but loopback get no answer.

    Parameters
    ----------
    browser
        A browser of Playwright.
    motion
        What the user wants: ``reduce`` or ``no-preference``.
    """
    context = browser.new_context(viewport={"width": 1500, "height": 1000}, reduced_motion=motion)

    def watch(route: Any) -> None:
        if route.request.url.startswith(_HERE):
            route.continue_()
        else:
            route.abort()

    context.route("**/*", watch)
    page = context.new_page()
    page.set_default_timeout(120_000)
    yield page
    context.close()
