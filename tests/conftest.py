"""Settings of all tests; for the browser tests Chromium, and a page that fails on errors."""

from __future__ import annotations

import gc
import os
import shutil
from collections.abc import Generator, Iterator
from typing import Any

import pytest
from hypothesis import settings

from netloupe.explorer.checks.rules import second_opinion
from tests.browser.own_page import open_page

# random examples differ from run to run at a desk; where CI judges a change they are the same
settings.register_profile("netloupe", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("netloupe")

#: As the command line sets them, and so whether or not its tests came before in the same process.
_MADE_BEFORE_SEARCH = 20_000
_YOUNG_SEARCHES = 20
gc.set_threshold(_MADE_BEFORE_SEARCH, _YOUNG_SEARCHES)

# beside busy processes onnx may need longer for its opinion, which tests of the judges need
second_opinion._SECONDS = 120.0

#: folders of modules that start servers, kernels or a browser once for all their tests
_SLOWEST = ("browser", "lab", "notebooks", "site")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Let no garbage be searched for while the modules are imported and the tests are made.

    Most of it stays, and was searched again and again in each process. It is not frozen afterwards:
    netloupe leaves alone what others have frozen, and counts that whenever it has built something.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.collect()  # what stays counts as old from here on


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the slowest modules, each followed by one that only computes.

    So no process is left alone with a slow one at the end, and while pages and servers are waited
    for another process has work.
    """
    modules = list(dict.fromkeys(item.path for item in items))
    slow = [path for path in modules if path.parent.name in _SLOWEST]
    others = [path for path in modules if path.parent.name not in _SLOWEST]
    places = {path: 2 * place for place, path in enumerate(slow)}
    places |= {path: 2 * place + 1 for place, path in enumerate(others)}
    items.sort(key=lambda item: places[item.path])


#: what Playwright turns off, whose list ours takes the place of, then the pages of Chromium's own
#: address bar, which it loads anew for each profile
_FEATURES = (
    *("AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades"),
    *("HttpsFirstBalancedModeAutoEnable", "LensOverlay", "MediaRouter", "PaintHolding"),
    *("ThirdPartyStoragePartitioning", "OptimizationHints", "NetworkTimeServiceQuerying"),
    *("AvoidCorsURLLoaderRestartOnRedirect", "PreconnectToSearch", "AimEnabled"),
    *("PreloadTopChromeWebUI", "InitialWebUI", "WebUIReloadButton"),
    *("WebUIOmnibox", "WebUIOmniboxPopup", "WebUIOmniboxAimPopup"),
    "SpareRendererForSitePerProcess",  # a process ahead for each page, which few tests come to use
)
_ARGUMENTS = [
    f"--disable-features={','.join(_FEATURES)}",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # to anywhere but loopback no request gets an answer; a route of Playwright would cost more, as
    # each request would come through here, and nothing would be kept for the next page
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
]


#: the first is Chromium without windows, toolbars and their own pages, which take as much time as
#: the pages of tests do
_BROWSERS = (
    *("chromium-headless-shell", "chromium", "chromium-browser"),
    *("google-chrome", "google-chrome-stable"),
)


def find_chromium() -> str | None:
    """Return the path of an installed Chromium or Chrome."""
    for name in _BROWSERS:
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


@pytest.fixture(scope="module")
def motion() -> str:
    """What pages are told that the user wants: no motion, of which each frame costs time.

    Modules on what moves have a fixture of this name that returns ``no-preference``.
    """
    return "reduce"


@pytest.fixture(scope="module")
def shared_page(browser: Any, motion: str) -> Iterator[Any]:
    """A page for all tests of a module: JupyterLab takes ten seconds of a core to load."""
    with open_page(browser, motion) as page:
        yield page


@pytest.fixture
def page(browser: Any, motion: str) -> Iterator[Any]:
    """A page of its own profile."""
    with open_page(browser, motion) as page:
        yield page
