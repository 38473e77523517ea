"""What pages may have opened beside what the server was started with."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.websocket import WebSocketClosedError

import netloupe
from netloupe.live import intake as intakes
from netloupe.live.intake import Intake
from netloupe.live.recent import RecentFiles
from netloupe.live.served import ReadyModel, ServedModel
from netloupe.live.server import LiveServer
from tests.corpus import corpus_file

from .test_server import TOKEN, Talk, connect, fetch, is_scene, run

MODEL = "exported/condloop.dynamo.onnx"
POST = {"method": "POST"}


def make(path: Path, name: str, *, is_sent: bool) -> ServedModel:
    """Make a model to be shown of a path."""
    return ServedModel(name, lambda: ReadyModel(netloupe.load(path)))


@asynccontextmanager
async def choosing(
    recent: RecentFiles | None = None, *given: Path, takes_paths: bool = True
) -> AsyncIterator[LiveServer]:
    """Serve the page on which a model is chosen, or some models, while the block runs."""
    models = [make(path, path.name, is_sent=False) for path in given]
    intake = Intake(make, takes_paths=takes_paths, recent=recent)
    server = LiveServer(models, None, TOKEN, intake=intake)
    server.start()
    try:
        yield server
    finally:
        server.stop()


async def ask(
    server: LiveServer, path: str, body: bytes | str, *, token: str = TOKEN, **headers: str
) -> tuple[int, Any]:
    """Post something as a page of ours does; return status and what is said."""
    mark = "&" if "?" in path else "?"
    request = HTTPRequest(
        f"http://127.0.0.1:{server.port}{path}{mark}token={token}",
        method="POST",
        body=body,
        headers={"Origin": f"http://127.0.0.1:{server.port}", **headers},
    )
    answer = await AsyncHTTPClient().fetch(request, raise_error=False)
    text = answer.body.decode()
    return answer.code, json.loads(text) if answer.code == 200 else text


async def see(server: LiveServer, number: int) -> None:
    """Wait for the first picture of a model."""
    talk = Talk(await connect(server, more=f"&model={number}"))
    await talk.send(request={"type": "scene", "id": "a"})
    await talk.wait(is_scene)
    await talk.leave()


def test_a_path_is_opened_where_no_model_was_given(tmp_path: Path) -> None:
    file = corpus_file(MODEL)
    gone = tmp_path / "<gone>.onnx"
    recent = RecentFiles(tmp_path / "recent.json")
    for path in (gone, file):
        recent.add(path)

    async def work() -> None:
        async with choosing(recent) as server:
            status, page, _ = await fetch(server, f"/?token={TOKEN}")
            assert status == 200
            assert "Drop a model file here" in page
            assert "&lt;gone&gt;.onnx" in page
            assert "<gone>" not in page
            status, told = await ask(server, "/open", json.dumps({"path": f" {file} "}))
            assert (status, told) == (200, {"model": 0})
            await see(server, 0)
            status, page, _ = await fetch(server, f"/?token={TOKEN}")
            assert 'data-model="0"' in page
            for path in (str(gone), "", "\0", "x" * 10_000, str(tmp_path), "relative.onnx"):
                status, told = await ask(server, "/open", json.dumps({"path": path}))
                assert status == 400
                assert "is no file" in told
            for body in ("", "[]", '{"path": 3}', "{}", "[" * 50_000):
                status, told = await ask(server, "/open", body)
                assert (status, told) == (400, "The page names no path.\n")
            assert len(server.models) == 1
            assert (await ask(server, "/forget", ""))[0] == 200
            assert recent.read() == []

    run(work)


def test_a_file_that_is_sent_is_shown_and_removed_at_the_end() -> None:
    data = corpus_file(MODEL).read_bytes()
    kept: list[Path] = []

    async def work() -> None:
        async with choosing(None, corpus_file(MODEL), takes_paths=False) as server:
            for name in ("../../etc/a:b.onnx", "m.onnx", ""):
                status, told = await ask(server, f"/drop?name={name}", data)
                assert status == 200
                await see(server, told["model"])
            names = [each.name for each in server.models[1:]]
            assert names == ["a_b.onnx", "m.onnx", "model"]
            folder = server.intake._folder if server.intake is not None else None
            assert folder is not None
            assert folder.stat().st_mode & 0o077 == 0
            kept.append(folder)
            assert (await ask(server, "/drop?name=x.onnx", b""))[0] == 413

    run(work)
    assert not kept[0].exists()


def test_what_is_too_large_or_ends_early_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intakes, "MOST_BYTES", 1_000)

    async def work() -> None:
        async with choosing() as server:
            status, told = await ask(server, "/drop?name=big.onnx", b"x" * 5_000)
            assert status == 413
            assert "larger than 1,000 bytes" in told
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            head = (
                f"POST /drop?name=late.onnx&token={TOKEN} HTTP/1.1\r\n"
                f"Host: 127.0.0.1:{server.port}\r\nOrigin: http://127.0.0.1:{server.port}\r\n"
                "Content-Length: 900\r\n\r\n"
            )
            writer.write(head.encode() + b"x" * 100)
            await writer.drain()
            intake = server.intake
            assert intake is not None
            folder = intake._folder
            assert folder is not None
            while not [*folder.rglob("late.onnx")]:
                await asyncio.sleep(0.01)
            writer.close()
            while [*folder.rglob("*.onnx")]:
                await asyncio.sleep(0.01)
            assert server.models == []
            del reader

    run(work)


def test_all_that_is_sent_together_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intakes, "MOST_BYTES_TOGETHER", 700)
    intake = Intake(make)
    try:
        first = intake.begin_drop("a")
        first.write(b"x" * 600)
        first.finish()
        intake.take(first)
        second = intake.begin_drop("b")
        second.write(b"x" * 200)
        assert "larger than 100 bytes" in second.problem
        assert not second.path.exists()
    finally:
        intake.close()


@pytest.mark.parametrize("path", ["/open", "/drop?name=a", "/forget"])
@pytest.mark.parametrize(
    ("token", "headers"),
    [
        ("wrong", {}),
        (TOKEN, {"Origin": "http://evil.example"}),
        (TOKEN, {"Origin": "null"}),
        (TOKEN, {"Origin": ""}),
        (TOKEN, {"Host": "evil.example"}),
    ],
)
def test_others_can_have_nothing_opened(path: str, token: str, headers: dict[str, str]) -> None:
    async def work() -> None:
        async with choosing() as server:
            status, _ = await ask(server, path, b"{}", token=token, **headers)
            assert status == 403
            assert server.models == []
            assert server.intake is not None
            assert server.intake._folder is None

    run(work)


def test_paths_are_refused_where_a_model_was_given() -> None:
    file = corpus_file(MODEL)

    async def work() -> None:
        async with choosing(None, file, takes_paths=False) as server:
            status, told = await ask(server, "/open", json.dumps({"path": str(file)}))
            assert status == 403
            assert "started with alone" in told
            assert len(server.models) == 1
        server = LiveServer(netloupe.load(file), None, TOKEN)
        server.start()
        try:
            for path in ("/open", "/drop", "/forget"):
                assert (await ask(server, path, b"{}"))[0] == 404
        finally:
            server.stop()

    run(work)


def test_several_models_are_listed_and_explored_side_by_side() -> None:
    files = [corpus_file(MODEL), corpus_file("exported/gpt2.legacy.onnx")]

    async def work() -> None:
        async with choosing(None, *files, takes_paths=False) as server:
            _, page, _ = await fetch(server, f"/?token={TOKEN}")
            assert all(file.name in page for file in files)
            for number, file in enumerate(files):
                _, page, _ = await fetch(server, f"/?token={TOKEN}&model={number}")
                assert file.name in page
                await see(server, number)
            for number in ("2", "-1", "x", "1" * 50):
                assert (await fetch(server, f"/?token={TOKEN}&model={number}"))[0] == 404
                assert (await fetch(server, f"/socket?token={TOKEN}&model={number}"))[0] == 404

    run(work)


def test_messages_before_the_model_is_read_are_bounded() -> None:
    async def work() -> None:
        slow = asyncio.Event()
        loop = asyncio.get_running_loop()

        def read() -> ReadyModel:
            asyncio.run_coroutine_threadsafe(slow.wait(), loop).result()
            return ReadyModel(netloupe.load(corpus_file(MODEL)))

        server = LiveServer([ServedModel("slow.onnx", read)], None, TOKEN)
        server.start()
        try:
            talk = Talk(await connect(server))
            content, _ = await talk.wait(lambda each: "step" in each)
            assert "slow.onnx" in content["step"]["message"]
            other = Talk(await connect(server))
            with suppress(WebSocketClosedError):  # the end may come while there is more to send
                for number in range(250):
                    await other.send(describe="", id=number)
            while await other.socket.read_message() is not None:
                pass
            assert other.socket.close_code == 1008
            other.socket.close()
            await talk.send(request={"type": "scene", "id": "a"})
            slow.set()
            await talk.wait(is_scene)
            await talk.leave()
        finally:
            slow.set()
            server.stop()

    run(work)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("a.onnx", "a.onnx"),
        ("..", "model"),
        ("C:\\x\\y.onnx", "y.onnx"),
        ("a\0\n\u202eb.onnx", "a___b.onnx"),
        ("é" * 300 + ".onnx", "é" * 100 + ".onnx"),
        ("\ud800.onnx", "?.onnx"),
    ],
)
def test_names_of_files_that_are_sent(given: str, kept: str) -> None:
    assert intakes._clean_name(given).replace("_", "?") == kept.replace("_", "?")


def test_recent_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "state" / "recent.json"
    recent = RecentFiles(file)
    assert recent.read() == []
    for number in range(20):
        recent.add(tmp_path / f"{number}.onnx")
    recent.add(tmp_path / "19.onnx")
    assert recent.read()[:2] == [str(tmp_path / "19.onnx"), str(tmp_path / "18.onnx")]
    assert len(recent.read()) == 12
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    assert [each.name for each in file.parent.iterdir()] == ["recent.json"]
    damages: list[Callable[[], object]] = [
        lambda: file.write_text("{"),
        lambda: file.write_text('{"a": 1}'),
        lambda: file.write_bytes(b"\xff" * 10),
        lambda: file.write_text("[" * 90_000),
        lambda: (file.unlink(missing_ok=True), file.mkdir()),
    ]
    for damage in damages:
        damage()
        assert recent.read() == []
        recent.add("x.onnx")  # nothing is raised
        recent.clear()
    file.rmdir()
    file.parent.rmdir()
    file.parent.write_text("in the way")
    recent.add("x.onnx")
    assert recent.read() == []
    from netloupe.live.recent import find_recent

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "there"))
    found = find_recent()
    assert found is not None
    found.add("y.onnx")
    assert (tmp_path / "there" / "netloupe" / "recent.json").is_file()
    monkeypatch.setenv("NETLOUPE_NO_RECENT", "1")
    assert find_recent() is None
