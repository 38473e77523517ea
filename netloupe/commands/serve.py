"""The desktop window: explorers of models, served on loopback with a token until Ctrl+C."""

from __future__ import annotations

import contextlib
import html
import os
import secrets
import shutil
import signal
import socket
import tempfile
import threading
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from netloupe.explorer.errors import OutputError
from netloupe.live.loopback import listen, write_address
from netloupe.live.served import ServedModel

from .running import FAILED
from .streams import say

_LAST_PORT = 65_535


def serve_models(models: Sequence[ServedModel], *, port: int = 0, browser: bool = True) -> int:
    """Serve the explorers of models until interrupted; return the exit status.

    The server listens on 127.0.0.1 only and answers nobody without the token in the address. The
    models are read while the browser loads the page; what cannot be shown is said on the standard
    error and on the page, and where nothing can be, that is the end.

    Parameters
    ----------
    models
        The models.
    port
        The port; a free one where 0.
    browser
        Whether to open the address in the user's browser.

    Raises
    ------
    OutputError
        Where the port cannot be had.
    SystemExit
        With 128 and the number of the signal, where SIGTERM or SIGHUP ends it.
    """
    name = models[0].name
    if not 0 <= port <= _LAST_PORT:
        raise OutputError(
            f"{name}: --port {port} is no port. Give a number from 1 to {_LAST_PORT}, or "
            "leave it out for a free one."
        )
    try:
        listening = listen(port)
    except OSError as error:
        raise OutputError(
            f"{name}: port {port} cannot be had ({error.strerror}). Choose another with "
            "--port, or leave it out for a free one."
        ) from error
    token = secrets.token_urlsafe(24)
    address = write_address(listening.getsockname()[1], token)
    with _signals_raise(), contextlib.ExitStack() as files:
        print(f"{name}: {address}\n{_say_how_to_stop()}", flush=True)
        if browser:
            # whose command line every user can read: the token is in the file, which they cannot
            page = files.enter_context(_page_that_leads_to(address))
            # a browser may take seconds to say that it has taken the page
            threading.Thread(target=_open_browser, args=(page,), daemon=True).start()
        with contextlib.suppress(KeyboardInterrupt):
            return _serve(models, token, listening, page_comes=browser)
    return 0


def _open_browser(page: Path) -> None:
    import webbrowser

    webbrowser.open(page.as_uri())


def _serve(
    models: Sequence[ServedModel], token: str, listening: socket.socket, *, page_comes: bool
) -> int:
    """Serve until there is nothing to show; return the exit status for that."""
    # loaded while the browser begins to ask
    import asyncio

    from netloupe.live.server import LiveServer

    async def serve() -> None:
        server = LiveServer(models, None, token, listening)
        server.start()
        for model in models:
            model.follow(partial(_say_failure, model))
            model.begin()
        try:
            await server.wait_for_failure(page_comes=page_comes)
        finally:
            server.stop()

    asyncio.run(serve())
    return FAILED


def _say_failure(model: ServedModel) -> None:
    if model.failure is not None:
        say("error", model.explain())


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
