"""Drives one notebook page, in whichever application it is."""

from __future__ import annotations

from typing import Any

from .servers import Server

CANVAS = '[data-netloupe="canvas"]'


class NotebookPage:
    """A notebook in a browser page.

    Parameters
    ----------
    page
        A Playwright page.
    server
        The server that has the notebook.
    notebook
        The notebook's file name.
    """

    def __init__(self, page: Any, server: Server, notebook: str) -> None:
        self.page = page
        self.server = server
        page.goto(server.page(notebook), timeout=120_000)
        if server.application != "voila":
            page.wait_for_selector(".jp-Notebook .jp-CodeCell")
            # keys pressed before the kernel is connected are lost
            page.wait_for_selector(
                '.jp-Notebook-ExecutionIndicator[data-status="idle"], '
                ".jp-NotebookKernelStatus-fade, .jp-NotebookKernelStatus-info",
                state="attached",
            )
            page.wait_for_timeout(1000)

    def run_cell(self, number: int) -> None:
        """Run one cell; Voilà has run them all."""
        if self.server.application == "voila":
            return
        cell = self.page.locator(".jp-Notebook .jp-CodeCell").nth(number)
        before = cell.locator(".jp-InputPrompt").inner_text()
        for _ in range(12):  # a page that is busy with its start loses keys
            cell.locator(".cm-content").click()
            self.page.keyboard.press("Control+Enter")
            for _ in range(50):
                if cell.locator(".jp-InputPrompt").inner_text() != before:
                    return
                self.page.wait_for_timeout(100)
        raise AssertionError(f"cell {number} does not run")

    def wait_for_canvas(self) -> Any:
        """Return the canvas's host element once its first frame is painted."""
        # a kernel takes long to start beside busy processes
        self.page.wait_for_selector(f'{CANVAS}[data-ready="true"]', timeout=120_000)
        return self.page.locator(CANVAS).first

    def call(self, script: str, *arguments: Any) -> Any:
        """Call a function of the canvas's ``netloupe`` property: ``locate``, ``paths`` …"""
        return self.page.evaluate(
            f"(given) => document.querySelector('{CANVAS}').netloupe.{script}(...given)",
            list(arguments),
        )

    def wait_for_path(self, path: str) -> None:
        """Wait until something at a path is drawn."""
        self.page.wait_for_function(
            f"(path) => document.querySelector('{CANVAS}').netloupe.paths().includes(path)",
            arg=path,
        )
        self.settle()

    def wait_until_gone(self, path: str) -> None:
        """Wait until nothing at a path is drawn."""
        self.page.wait_for_function(
            f"(path) => !document.querySelector('{CANVAS}').netloupe.paths().includes(path)",
            arg=path,
        )
        self.settle()

    def settle(self) -> None:
        """Wait until transitions are over."""
        self.page.wait_for_timeout(500)

    def locate(self, path: str) -> dict[str, float]:
        """Return the place of something that is drawn, brought into the window."""
        place = self.call("locate", path)
        assert place is not None, f"{path} is not visible"
        return dict(place)

    def click(self, path: str, *, double: bool = False) -> None:
        """Click or double-click something that is drawn."""
        self.page.locator(CANVAS).first.scroll_into_view_if_needed()
        place = self.locate(path)
        if double:
            self.page.mouse.dblclick(place["x"], place["y"])
        else:
            self.page.mouse.click(place["x"], place["y"])

    def selected(self) -> str:
        """Return the path that the canvas says is selected."""
        return str(self.page.locator(CANVAS).first.get_attribute("data-selected"))

    def wait_for_text(self, text: str) -> None:
        """Wait until a text is on the page."""
        self.page.get_by_text(text).first.wait_for()
