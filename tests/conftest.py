"""Settings of all tests; for the browser tests Chromium, and a page that fails on errors."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

# random examples differ from run to run at a desk; where CI judges a change they are the same
settings.register_profile("netloupe", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("netloupe")

#: folders of modules that start servers, kernels or a browser once for all their tests
_SLOWEST = ("browser", "lab", "notebooks", "site")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the slowest modules, so that no process is left alone with one at the end."""
    items.sort(key=lambda item: item.path.parent.name not in _SLOWEST)


_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def find_chromium() -> str | None:
    """Return the path of an installed Chromium or Chrome."""
    for name in ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"):
        path = shutil.which(name)
        if path:
            return path
    return None


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium, started once."""
    path = find_chromium()
    if path is None:
        message = "no Chromium is installed; `apt-get install chromium` provides one"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=_ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page of its own profile; requests to anywhere but loopback fail the test."""
    context = browser.new_context(viewport={"width": 1500, "height": 1000})
    foreign: list[str] = []

    def watch(route: Any) -> None:
        address = route.request.url
        if address.startswith(("http://127.0.0.1", "http://localhost", "data:", "blob:", "file:")):
            route.continue_()
        else:
            foreign.append(address)
            route.abort()

    context.route("**/*", watch)
    page = context.new_page()
    page.set_default_timeout(120_000)
    yield page
    context.close()
    page.foreign_requests = foreign  # type: ignore[attr-defined]
