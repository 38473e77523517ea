"""A page of netloupe's own in Chromium, of a file or a server: what every test of it does."""

from __future__ import annotations

from typing import Any

CANVAS = '[data-netloupe="canvas"]'
API = f"document.querySelector('{CANVAS}').netloupe"
#: two frames later, whether nothing moves and nothing is asked for; so where there is no canvas
AT_REST = f"""() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() =>
  done(!document.querySelector('{CANVAS}')?.netloupe?.stats().busy))))"""


def wait_for_timers(page: Any, milliseconds: int) -> None:
    """Wait until the timers of a page that are due by then have run, however slow the machine is.

    A page runs its timers in their order, so that one of its own comes after them.
    """
    page.evaluate("(time) => new Promise((done) => setTimeout(done, time))", milliseconds)


class ShownPage:
    """A page once its first picture is painted.

    Parameters
    ----------
    page
        The page of Playwright.
    address
        What it shows.
    """

    def __init__(self, page: Any, address: str) -> None:
        self.page = page
        page.goto(address)
        page.wait_for_selector(f'{CANVAS}[data-ready="true"]')

    def paths(self) -> list[str]:
        """Return the paths of all boxes that are drawn."""
        found: list[str] = self.page.evaluate(f"{API}.paths()")
        return found

    def settle(self) -> None:
        """Wait until nothing moves and nothing is asked for."""
        self.page.wait_for_function(AT_REST)

    def click(self, path: str, *, times: int = 1) -> None:
        """Click on the box at a path."""
        self.page.keyboard.press("f")
        self.settle()
        place = self.page.evaluate(f"(path) => {API}.locate(path)", path)
        assert place, path
        self.page.mouse.click(place["x"], place["y"], click_count=times)
