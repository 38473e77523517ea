"""Who is on this machine and has no token neither locks the owner out nor learns anything."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tornado.websocket import websocket_connect

from netloupe.live import intake as intake_module
from netloupe.live import leftovers
from netloupe.live import server as server_module
from netloupe.live.bounded import MOST_WAITING
from netloupe.live.intake import DroppedFile, Intake, Room
from netloupe.live.server import LiveServer
from tests.onnx_text import load_text

TOKEN = "right-token-of-this-server"

#: asks for a socket as a page does
_SOCKET = f"""\
GET /socket?token={TOKEN} HTTP/1.1\r
Host: localhost\r
Origin: http://localhost\r
Connection: Upgrade\r
Upgrade: websocket\r
Sec-WebSocket-Key: MTIzNDU2Nzg5MDEyMzQ1Ng==\r
Sec-WebSocket-Version: 13\r
\r
"""


@contextlib.contextmanager
def serving() -> Iterator[LiveServer]:
    model = load_text("main (float[2] x) => (float[2] y) { y = Relu (x) }")
    server = LiveServer(model, None, TOKEN)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def run(work: Callable[[LiveServer], Awaitable[None]]) -> None:
    async def limited() -> None:
        with serving() as server:
            await asyncio.wait_for(work(server), 120)

    with ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: asyncio.run(limited())).result()


async def ask(server: LiveServer, lines: str) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(f"{lines}\r\nConnection: close\r\n\r\n".encode())
    answer = await reader.read()
    writer.close()
    return answer


def test_idle_connections_of_strangers_are_bounded() -> None:
    async def work(server: LiveServer) -> None:
        page = await websocket_connect(f"ws://127.0.0.1:{server.port}/socket?token={TOKEN}")
        strangers = [
            await asyncio.open_connection("127.0.0.1", server.port) for _ in range(3 * MOST_WAITING)
        ]
        answer = await ask(server, f"GET /?token={TOKEN} HTTP/1.1\r\nHost: localhost")
        assert answer.startswith(b"HTTP/1.1 200")
        assert len(server._server._waiting) <= MOST_WAITING
        first, _ = strangers[0]
        assert await first.read() == b""  # the oldest was closed
        assert await page.read_message() is not None  # who has the token stays
        for _, writer in strangers:
            writer.close()
        page.close()
        while await page.read_message() is not None:
            pass

    run(work)


@pytest.mark.parametrize(
    "begun",
    ["", "GET / HTTP/1.1\r\nHost: loc", "POST /drop HTTP/1.1\r\nContent-Length: 60000\r\n\r\n"],
    ids=["nothing", "half of a question", "no body"],
)
def test_who_asks_for_nothing_is_not_waited_for(
    begun: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_module, "_IDLE_SECONDS", 0.2, raising=False)

    async def work(server: LiveServer) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(begun.encode())
        await asyncio.wait_for(reader.read(), 60)  # until the server ends the connection
        writer.close()

    run(work)


def test_what_waits_for_a_page_that_is_gone_is_dropped_in_silence(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def work(server: LiveServer) -> None:
        _, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(_SOCKET.encode())
        while not server.pages:
            await asyncio.sleep(0.01)
        (page,) = server.pages
        for _ in range(200):  # more than what the system takes of who reads nothing
            page._send(bytes(100_000))
        writer.transport.abort()
        while server.pages:
            await asyncio.sleep(0.01)
        page._send("more")
        del page
        gc.collect()

    with caplog.at_level(logging.WARNING):
        run(work)
        gc.collect()
    assert caplog.text == ""


@pytest.mark.parametrize("host", ["[::1", "[", "a]b"])
def test_a_host_that_is_no_name_is_refused_without_a_traceback(
    host: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def work(server: LiveServer) -> None:
        answer = await ask(server, f"GET /?token={TOKEN} HTTP/1.1\r\nHost: {host}")
        assert answer.split()[1] in (b"400", b"403")
        assert b"Traceback" not in answer

    with caplog.at_level(logging.DEBUG):
        run(work)
    assert "Traceback" not in caplog.text


@pytest.mark.parametrize(
    "end",
    ["/?token={0}&model=%ff", "/nothing?token={0}", "/?token={0}&model=7", "/?x=%ff&token={0}"],
)
def test_no_log_has_the_token(end: str, caplog: pytest.LogCaptureFixture) -> None:
    async def work(server: LiveServer) -> None:
        answer = await ask(server, f"GET {end.format(TOKEN)} HTTP/1.1\r\nHost: localhost")
        assert answer.startswith(b"HTTP/1.1 ")

    with caplog.at_level(logging.INFO):
        run(work)
    assert TOKEN not in caplog.text


def test_a_mistake_of_ours_is_logged_without_the_address(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> str:
        raise KeyError("planted")

    monkeypatch.setattr(LiveServer, "write_page", fail)

    async def work(server: LiveServer) -> None:
        answer = await ask(server, f"GET /?token={TOKEN} HTTP/1.1\r\nHost: localhost")
        assert answer.startswith(b"HTTP/1.1 500")

    run(work)
    assert "planted" in caplog.text
    assert TOKEN not in caplog.text


def test_files_under_way_share_the_room(tmp_path: Path) -> None:
    room = Room(100)
    files = []
    for number in range(3):
        (tmp_path / str(number)).mkdir()
        files.append(DroppedFile(tmp_path / str(number) / "m", 80, room))
    for _ in range(4):
        for file in files:
            file.write(bytes(20))
    assert room.left >= 0
    assert [bool(file.problem) for file in files].count(False) >= 1
    kept = sum(path.stat().st_size for path in tmp_path.rglob("m"))
    for file in files:
        file.finish()
    assert kept <= 100
    for file in files:
        file.abandon()
    assert room.left == 100


_KILLED = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
from netloupe.live.intake import Intake
dropped = Intake(lambda *_, **__: None).begin_drop("m.onnx")
dropped.write(b"x" * 100)
print(dropped.path.parent.parent, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="there is no such signal")
def test_what_a_killed_server_has_left_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", _KILLED, str(root)],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    left = Path(done.stdout.strip())
    assert left.is_dir()
    living = Intake(lambda *_, **__: None)  # type: ignore[arg-type]
    dropped = living.begin_drop("m.onnx")
    dropped.finish()
    own = dropped.path.parent.parent
    assert not left.exists()
    leftovers.clean_up()
    assert own.is_dir()  # it is in use
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / f"{leftovers.PREFIX}link").symlink_to(tmp_path / "elsewhere")
    leftovers.clean_up()
    assert (tmp_path / "elsewhere").is_dir()
    living.close()
    assert not own.exists()
    assert intake_module.MOST_BYTES_TOGETHER > intake_module.MOST_BYTES
