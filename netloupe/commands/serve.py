"""The desktop window: explorers of models, served on loopback with a token until Ctrl+C."""

from __future__ import annotations

import contextlib
import html
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from netloupe.explorer.errors import OutputError
from netloupe.live.intake import Intake
from netloupe.live.loopback import listen, write_address
from netloupe.live.served import ReadyModel, ServedModel

from .running import FAILED
from .streams import say
from .tunnel import write_tunnel_command
from .window import check_window, choose_window, opened_window

_LAST_PORT = 65_535


@dataclass
class Serving:
    """What is served, and how it is shown.

    Parameters
    ----------
    models
        The models; without any a page is shown on which one is chosen.
    intake
        Opens what pages ask for.
    port
        The port; a free one where 0.
    browser
        Whether to open the address in the user's browser.
    window
        Whether to open it in a window of its own, whose end is the end of it all.
    watched
        Those that are read again when their files change, each with what reads it.
    """

    models: Sequence[ServedModel]
    intake: Intake
    port: int = 0
    browser: bool = True
    window: bool = False
    watched: Sequence[tuple[ServedModel, Callable[[], ReadyModel]]] = ()

    @property
    def name(self) -> str:
        """What it is called on the terminal."""
        if len(self.models) == 1:
            return self.models[0].name
        return f"{len(self.models):,} models" if self.models else "netloupe"


def serve_models(serving: Serving) -> int:
    """Serve the explorers of models until interrupted; return the exit status.

    The server listens on 127.0.0.1 only and answers nobody without the token in the address. The
    models are read while the browser loads the page; what cannot be shown is said on the standard
    error and on the page, and where nothing can be, that is the end.

    Raises
    ------
    OutputError
        Where the port cannot be had, or there can be no window.
    SystemExit
        With 128 and the number of the signal, where SIGTERM or SIGHUP ends it.
    """
    name, port = serving.name, serving.port
    if not 0 <= port <= _LAST_PORT:
        raise OutputError(
            f"{name}: --port {port} is no port. Give a number from 1 to {_LAST_PORT}, or "
            "leave it out for a free one."
        )
    open_window = choose_window() if serving.window else None
    try:
        listening = listen(port)
    except OSError as error:
        raise OutputError(
            f"{name}: port {port} cannot be had ({error.strerror}). Choose another with "
            "--port, or leave it out for a free one."
        ) from error
    token = secrets.token_urlsafe(24)
    had = listening.getsockname()[1]
    address = write_address(had, token)
    tunnel = write_tunnel_command(had)
    page_comes = serving.window or (serving.browser and not tunnel)
    with _signals_raise(), contextlib.ExitStack() as files:
        files.callback(listening.close)
        print(f"{name}: {address}\n{_say_how_to_stop()}", flush=True)
        if tunnel:
            print(f"To see it from the machine you came from, run there: {tunnel}", flush=True)
        window: subprocess.Popen[bytes] | None = None
        if page_comes:
            # whose command line every user can read: the token is in the file, which they cannot
            page = files.enter_context(_page_that_leads_to(address))
            if open_window is not None:
                window = files.enter_context(opened_window(open_window, page))
            else:
                # a browser may take seconds to say that it has taken the page
                threading.Thread(target=_open_browser, args=(page,), daemon=True).start()
        with contextlib.suppress(KeyboardInterrupt):
            return _serve(serving, token, listening, window, page_comes=page_comes)
    return 0


def _open_browser(page: Path) -> None:
    import webbrowser

    webbrowser.open(page.as_uri())


def _serve(
    serving: Serving,
    token: str,
    listening: socket.socket,
    window: subprocess.Popen[bytes] | None,
    *,
    page_comes: bool,
) -> int:
    """Serve until there is nothing to show, or nobody to see it; return the exit status."""
    if serving.models:
        # starts beside all that follows, none of which it needs
        from netloupe.explorer.layout.engine import shared_engine

        shared_engine().start()
    # loaded while the browser begins to ask
    import asyncio

    from netloupe.live.server import LiveServer
    from netloupe.live.watching import Watching

    async def serve() -> int:
        server = LiveServer(serving.models, None, token, listening, intake=serving.intake)
        server.start()
        for model in serving.models:
            model.follow(partial(_say_failure, model))
            model.begin()
        watchings = [
            Watching(model, read, partial(server.list_explorations, model))
            for model, read in serving.watched
        ]
        for each in watchings:
            each.start()
        loop = asyncio.get_running_loop()
        waits = [asyncio.create_task(server.wait_for_failure(page_comes=page_comes))]
        if window is not None:
            closed = loop.run_in_executor(None, window.wait)
            waits.append(asyncio.ensure_future(closed))  # type: ignore[arg-type]
        try:
            done, _ = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in watchings:
                each.close()
            server.stop()
            if window is not None:
                window.terminate()  # else its wait would hold the end up
        return FAILED if waits[0] in done else check_window(window, server.was_seen)

    return asyncio.run(serve())


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
