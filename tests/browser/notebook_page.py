"""Drives one notebook page, in whichever application it is."""

from __future__ import annotations

import json
import time
import urllib.request
from contextlib import suppress
from typing import Any

from playwright.sync_api import TimeoutError as NotInTime

from .servers import TOKEN, Server
from .shown_page import AT_REST, CANVAS

#: a kernel takes long to start beside busy processes
KERNEL_SECONDS = 120
_OPEN = "(path) => window.jupyterapp.commands.execute('docmanager:open', { path }).then(() => null)"


def close_documents(page: Any) -> None:
    """Close all that is open in JupyterLab; nothing is asked and nothing saved."""
    page.evaluate(
        """() => {
            for (const shown of [...window.jupyterapp.shell.widgets("main")]) shown.dispose();
        }"""
    )


class NotebookPage:
    """A notebook in a browser page.

    Parameters
    ----------
    page
        A Playwright page; where it shows JupyterLab of this server, its documents are closed, and
        the notebook is opened without loading JupyterLab again.
    server
        The server that has the notebook.
    notebook
        The notebook's file name.
    """

    def __init__(self, page: Any, server: Server, notebook: str) -> None:
        self.page = page
        self.server = server
        self.notebook = notebook
        #: the cell that was run last
        self._cell = 0
        self.console: list[str] = []
        page.on("console", lambda message: self.console.append(message.text))
        page.on("pageerror", lambda error: self.console.append(str(error)))
        if page.url.startswith(f"{server.address}/lab/"):
            close_documents(page)
            page.evaluate(_OPEN, notebook)
        else:
            page.goto(server.page(notebook), timeout=120_000)
        if server.application != "voila":
            page.wait_for_selector(".jp-Notebook .jp-CodeCell")
            # keys pressed before the kernel is connected are lost
            page.wait_for_selector(
                '.jp-Notebook-ExecutionIndicator[data-status="idle"], '
                ".jp-NotebookKernelStatus-fade, .jp-NotebookKernelStatus-info",
                state="attached",
            )
            self._wait_for_kernel()

    def _wait_for_kernel(self) -> None:
        """Wait until the server says that the page is connected to a kernel that is idle."""
        end = time.monotonic() + KERNEL_SECONDS
        while time.monotonic() < end:
            kernels = [session["kernel"] for session in self._sessions()]
            if any(
                kernel["connections"] and kernel["execution_state"] == "idle" for kernel in kernels
            ):
                return
            self.page.wait_for_timeout(200)
        raise AssertionError(f"{self.notebook} has no kernel: {self._sessions()}")

    def _sessions(self) -> list[Any]:
        """Return what the server says of this notebook's kernels."""
        request = urllib.request.Request(
            f"{self.server.address}/api/sessions", headers={"Authorization": f"token {TOKEN}"}
        )
        with urllib.request.urlopen(request, timeout=20) as answer:
            sessions = json.load(answer)
        return [session for session in sessions if session["path"] == self.notebook]

    def run_cell(self, number: int) -> None:
        """Run one cell; Voilà has run them all."""
        if self.server.application == "voila":
            return
        self._cell = number
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

    def run_anew(self, number: int) -> None:
        """Run one cell, and wait until another canvas is there instead of those before."""
        mark = f"() => document.querySelectorAll('{CANVAS}').forEach((old) => old.dataset.old = 1)"
        self.page.evaluate(mark)
        self.run_cell(number)
        self.page.wait_for_selector(f"{CANVAS}[data-old]", state="detached")
        self.wait_for_canvas()
        self.settle()

    def wait_for_canvas(self) -> Any:
        """Return the canvas's host element once its first frame is painted."""
        end, was_idle = time.monotonic() + KERNEL_SECONDS, False
        while time.monotonic() < end:
            with suppress(NotInTime):
                self.page.wait_for_selector(f'{CANVAS}[data-ready="true"]', timeout=5_000)
                return self.page.locator(CANVAS).first
            # the page sometimes loses what it should tell a kernel that has just started
            is_idle = self._waits_for_idle_kernel()
            if was_idle and is_idle:
                self.run_cell(self._cell)
            was_idle = is_idle
        raise AssertionError(f"no canvas: {self._state()}")

    def _waits_for_idle_kernel(self) -> bool:
        """Return whether the page says that the cell runs, and the server that nothing does."""
        if self.server.application == "voila":
            return False
        prompt = self.page.locator(".jp-Notebook .jp-CodeCell .jp-InputPrompt").nth(self._cell)
        states = [session["kernel"]["execution_state"] for session in self._sessions()]
        return "*" in prompt.inner_text() and states == ["idle"]

    def _state(self) -> dict[str, Any]:
        """Return what there is instead of what a test waits for."""
        shown = self.page.evaluate(
            f"""() => ({{
                canvases: [...document.querySelectorAll('{CANVAS}')].map((canvas) =>
                    [{{ ...canvas.dataset }}, canvas.checkVisibility(),
                     JSON.stringify(canvas.getBoundingClientRect())]),
                prompts: [...document.querySelectorAll('.jp-InputPrompt')].map((prompt) =>
                    prompt.textContent),
                outputs: [...document.querySelectorAll('.jp-OutputArea-child')].map((output) =>
                    output.innerText.slice(0, 500)),
            }})"""
        )
        sessions = self._sessions() if self.server.application != "voila" else []
        return {**shown, "sessions": sessions, "console": self.console[-20:]}

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
        """Wait until nothing moves and nothing is asked for."""
        self.page.wait_for_function(AT_REST, polling=50)

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
