"""The desktop window: the explorer of a model, served on loopback with a token until Ctrl+C."""

from __future__ import annotations

import asyncio
import contextlib
import html
import os
import secrets
import shutil
import signal
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from netloupe.explorer.errors import OutputError
from netloupe.explorer.layout import shared_engine
from netloupe.explorer.model import Model
from netloupe.explorer.overlays import Overlay
from netloupe.explorer.view import ViewOptions
from netloupe.live.server import LiveServer

_LAST_PORT = 65_535


def serve_model(
    model: Model, *, port: int = 0, browser: bool = True, overlays: Sequence[Overlay] = ()
) -> int:
    """Serve the explorer of a model until interrupted; return the exit status.

    The server listens on 127.0.0.1 only and answers nobody without the token in the address.

    Parameters
    ----------
    model
        The model.
    port
        The port; a free one where 0.
    browser
        Whether to open the address in the user's browser.
    overlays
        What boxes can be coloured by.

    Raises
    ------
    OutputError
        Where the port cannot be had.
    SystemExit
        With 128 and the number of the signal, where SIGTERM or SIGHUP ends it.
    """
    if not 0 <= port <= _LAST_PORT:
        raise OutputError(
            f"{model.source}: --port {port} is no port. Give a number from 1 to {_LAST_PORT}, or "
            "leave it out for a free one."
        )
    options = ViewOptions.parse({"wrap": False})
    try:
        server = LiveServer(model, options, secrets.token_urlsafe(24), port, overlays)
    except OSError as error:
        raise OutputError(
            f"{model.source}: port {port} cannot be had ({error.strerror}). Choose another with "
            "--port, or leave it out for a free one."
        ) from error
    shared_engine().start()
    with _signals_raise(), contextlib.ExitStack() as files:
        name = Path(model.source).name or model.source
        print(f"{name}: {server.address}\n{_say_how_to_stop()}", flush=True)
        if browser:
            import webbrowser

            # whose command line every user can read: the token is in the file, which they cannot
            page = files.enter_context(_page_that_leads_to(server.address))
            webbrowser.open(page.as_uri())
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(_serve(server))
    return 0


async def _serve(server: LiveServer) -> None:
    server.start()
    try:
        await asyncio.Event().wait()
    finally:
        server.stop()


@contextlib.contextmanager
def _page_that_leads_to(address: str) -> Iterator[Path]:
    """Write a page for its owner's eyes only, which leads to an address."""
    folder = Path(tempfile.mkdtemp(prefix="netloupe-"))  # which nobody else can look into
    try:
        page = folder / "open.html"
        descriptor = os.open(page, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(
                '<!doctype html><meta charset="utf-8"><title>netloupe</title>'
                '<meta name="referrer" content="no-referrer">'
                f'<meta http-equiv="refresh" content="0; url={html.escape(address)}">'
                f'<p><a href="{html.escape(address)}">Open the explorer</a>'
            )
        yield page
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _signals_raise() -> Iterator[None]:
    """Let signals that would end this process at once end the block instead.

    What is ignored, as SIGHUP is under nohup, stays ignored.
    """

    def end(number: int, _frame: object) -> None:
        raise SystemExit(128 + number)

    before: dict[int, Any] = {}
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            before[number] = signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _say_how_to_stop() -> str:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # started in the background
        return f"Stop it with `kill {os.getpid()}`."
    return "Press Ctrl+C to stop."
