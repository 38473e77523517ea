"""Who is answered on loopback, and what a page may send."""

from __future__ import annotations

import asyncio
import json
import struct
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any

import pytest
from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

import netloupe
from netloupe.explorer.layout import Window
from netloupe.explorer.page.description_html import write_path
from netloupe.explorer.session import Session
from netloupe.explorer.view import ViewOptions
from netloupe.live.served import ReadyModel, ServedModel
from netloupe.live.server import LiveServer
from tests.corpus import corpus_file

TOKEN = "right"
SECONDS = 60.0


@asynccontextmanager
async def serving(name: str = "exported/gpt2.legacy.onnx") -> AsyncIterator[LiveServer]:
    """Serve a model while the block runs."""
    model = netloupe.load(corpus_file(name))
    server = LiveServer(model, ViewOptions.parse({"wrap": False}), TOKEN)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def run(work: Callable[[], Awaitable[None]]) -> None:
    """Run a test that waits for a server."""

    async def limited() -> None:
        await asyncio.wait_for(work(), SECONDS)

    # in a thread of its own: browser tests leave a loop running in this one
    with ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: asyncio.run(limited())).result()


async def fetch(server: LiveServer, path: str, **headers: str) -> tuple[int, str, Any]:
    """Return status, text and headers of what the server answers."""
    request = HTTPRequest(f"http://127.0.0.1:{server.port}{path}", headers=headers)
    answer = await AsyncHTTPClient().fetch(request, raise_error=False)
    return answer.code, answer.body.decode(), answer.headers


def test_who_has_the_token_gets_the_page() -> None:
    async def work() -> None:
        async with serving() as server:
            status, text, headers = await fetch(server, f"/?token={TOKEN}")
            assert status == 200
            assert "gpt2.legacy.onnx" in text
            assert str(corpus_file("exported/gpt2.legacy.onnx").parent) not in text
            assert headers["Cache-Control"] == "no-store"
            assert headers["Referrer-Policy"] == "no-referrer"
            assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]

    run(work)


@pytest.mark.parametrize(
    ("path", "host"),
    [
        ("/", "127.0.0.1"),
        ("/?token=", "127.0.0.1"),
        ("/?token=wrong", "127.0.0.1"),
        ("/?token=%ff", "127.0.0.1"),
        (f"/?token={TOKEN}", "evil.example"),
        (f"/?token={TOKEN}", "127.0.0.1.evil.example"),
        (f"/?token={TOKEN}", "localhost@evil.example"),
        ("/socket", "127.0.0.1"),
    ],
)
def test_others_are_refused(path: str, host: str) -> None:
    async def work() -> None:
        async with serving("exported/condloop.dynamo.onnx") as server:
            status, text, _ = await fetch(server, path, Host=f"{host}:{server.port}")
            assert status in (400, 403)
            assert "condloop" not in text

    run(work)


@pytest.mark.parametrize("path", ["/page.js", "/../pyproject.toml", "/static/x", "//etc/passwd"])
def test_nothing_but_the_page_is_there(path: str) -> None:
    async def work() -> None:
        async with serving("exported/condloop.dynamo.onnx") as server:
            assert (await fetch(server, path))[0] == 403
            assert (await fetch(server, f"{path}?token={TOKEN}"))[0] == 404

    run(work)


def test_a_tunnel_may_come_in_at_another_port() -> None:
    async def work() -> None:
        async with serving("exported/condloop.dynamo.onnx") as server:
            assert (await fetch(server, f"/?token={TOKEN}", Host="localhost:9999"))[0] == 200

    run(work)


async def connect(
    server: LiveServer, *, more: str = "", **headers: str
) -> WebSocketClientConnection:
    """Open a socket as the page of the server does; ``more`` is added to its address."""
    origin = headers.pop("Origin", f"http://127.0.0.1:{server.port}")
    request = HTTPRequest(
        f"ws://127.0.0.1:{server.port}/socket?token={headers.pop('token', TOKEN)}{more}",
        headers={"Origin": origin, **headers},
    )
    return await websocket_connect(request)


@pytest.mark.parametrize("origin", ["http://evil.example", "http://127.0.0.1:1", "null"])
def test_pages_of_others_get_no_socket(origin: str) -> None:
    async def work() -> None:
        async with serving("exported/condloop.dynamo.onnx") as server:
            with pytest.raises(HTTPClientError, match="403"):
                await connect(server, Origin=origin)
            with pytest.raises(HTTPClientError, match="403"):
                await connect(server, token="wrong")
            assert not server.pages

    run(work)


class Talk:
    """A page's end of a socket."""

    def __init__(self, socket: WebSocketClientConnection) -> None:
        self.socket = socket
        self.traits: dict[str, Any] = {}

    async def leave(self) -> None:
        """Close the socket, and wait until it is closed."""
        self.socket.close()
        while await self.socket.read_message() is not None:
            pass

    async def send(self, **content: Any) -> None:
        """Send a frame."""
        await self.socket.write_message(json.dumps(content))

    async def wait(self, wanted: Callable[[dict[str, Any]], Any]) -> tuple[dict[str, Any], bytes]:
        """Wait for a frame; return its content and its bytes."""
        while True:
            frame = await self.socket.read_message()
            assert frame is not None, "the server has closed the socket"
            rest = b""
            if isinstance(frame, bytes):
                (length,) = struct.unpack_from("<I", frame)
                rest = frame[4 + length :]
                frame = frame[4 : 4 + length].decode()
            content: dict[str, Any] = json.loads(frame)
            self.traits.update(content.get("traits", {}))
            if wanted(content):
                return content, rest

    async def answer(self, number: int) -> dict[str, Any]:
        """Wait for the answer to a question."""
        content, _ = await self.wait(lambda each: each.get("answer", {}).get("id") == number)
        found: dict[str, Any] = content["answer"]
        return found

    async def message(self, kind: str) -> dict[str, Any]:
        """Wait for a message of a kind."""
        content, _ = await self.wait(lambda each: each.get("message", {}).get("type") == kind)
        found: dict[str, Any] = content["message"]
        return found


def is_scene(content: dict[str, Any]) -> bool:
    """Return whether a frame has a scene."""
    return bool(content.get("message", {}).get("type") == "scene")


def talking(
    work: Callable[[Talk, LiveServer], Awaitable[None]],
    name: str = "exported/gpt2.legacy.onnx",
) -> None:
    """Run a test over a socket."""

    async def whole() -> None:
        async with serving(name) as server:
            talk = Talk(await connect(server))
            await work(talk, server)
            await talk.leave()

    run(whole)


def test_a_page_gets_scenes_descriptions_and_weights() -> None:
    async def work(talk: Talk, server: LiveServer) -> None:
        await talk.send(request={"type": "scene", "id": "a"})
        content, rest = await talk.wait(
            lambda each: "message" in each and each["message"]["type"] == "scene"
        )
        assert content["message"]["id"] == "a"
        assert len(rest) >= sum(content["buffers"])
        await talk.send(describe="", id=1)
        assert "gpt2.legacy.onnx" in (await talk.answer(1))["html"]
        assert server.models[0].loaded is not None
        graph = server.models[0].loaded.model.graph
        weight = max(graph.initializers, key=lambda each: each.size)
        await talk.send(describe=weight.path, id=2)
        assert 'data-weight="0"' in (await talk.answer(2))["html"]
        first, second, *_ = graph.nodes
        await talk.send(describe=[first.path, second.path], id=4)
        html = (await talk.answer(4))["html"]
        assert all(write_path(node.path) in html for node in (first, second))
        await talk.send(weight=0, id=3)
        content, rest = await talk.wait(lambda each: each.get("answer", {}).get("id") == 3)
        assert "error" not in content["answer"]
        assert rest
        await talk.send(follow=weight.path)
        await talk.message("scene")
        await talk.wait(lambda _each: bool(talk.traits.get("selection")))

    talking(work)


@pytest.mark.parametrize(
    "frame",
    [
        "",
        "nonsense",
        "[]",
        "[" * 100_000,
        '{"describe": 3, "id": 1}',
        '{"weight": "x", "id": 1}',
        '{"request": []}',
        '{"unknown": 1}',
        '{"describe": "x"}',
        '{"describe": [], "id": 1}',
        '{"describe": [3], "id": 1}',
        json.dumps({"describe": "x" * (9 << 20), "id": 1}),
    ],
)
def test_what_is_no_question_is_answered_by_an_error(frame: str) -> None:
    async def work(talk: Talk, _server: LiveServer) -> None:
        await talk.socket.write_message(frame)
        assert (await talk.message("error"))["message"]
        await talk.send(describe="", id=9)
        assert (await talk.answer(9))["html"]

    talking(work, "exported/condloop.dynamo.onnx")


def test_questions_without_an_answer_say_why() -> None:
    async def work(talk: Talk, _server: LiveServer) -> None:
        await talk.send(describe="main/nothing", id=1)
        assert "nothing" in (await talk.answer(1))["error"]
        for number in (-1, 0, 10**30):
            await talk.send(weight=number, id=2)
            assert "no weight" in (await talk.answer(2))["error"]
        await talk.send(traits={"direction": "UP", "selection": 3, "selected_paths": "x"})
        await talk.send(follow="main/nothing")
        await talk.wait(lambda _each: talk.traits.get("selection") == "main/nothing")

    talking(work, "exported/condloop.dynamo.onnx")


def test_two_pages_do_not_disturb_one_another() -> None:
    async def work(talk: Talk, server: LiveServer) -> None:
        other = Talk(await connect(server))
        for each in (talk, other):
            await each.send(request={"type": "scene", "id": "a"})
            await each.message("scene")
        assert len(server.pages) == 2
        await talk.send(traits={"direction": "LR"})
        await talk.message("scene")
        await other.send(request={"type": "expand", "mode": "none", "id": "b"})
        assert (await other.message("scene"))["id"] == "b"
        assert other.traits["direction"] == "TB"
        await other.leave()
        while len(server.pages) > 1:
            await asyncio.sleep(0.01)

    talking(work, "exported/condloop.dynamo.onnx")


def test_what_is_open_is_chosen_once_for_a_page_that_has_told_its_window(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chosen = []
    choose = Session.choose_for

    def note(session: Session, window: Window) -> bool:
        changed = choose(session, window)
        chosen.append((window, changed))
        return changed

    monkeypatch.setattr(Session, "choose_for", note)

    async def work() -> None:
        may_read = threading.Event()
        model = netloupe.load(corpus_file("exported/gpt2.legacy.onnx"))

        def read() -> ReadyModel:
            assert may_read.wait(SECONDS)
            return ReadyModel(model)

        served = ServedModel("gpt2", read)
        server = LiveServer([served], None, TOKEN)
        server.start()
        try:
            talk = Talk(await connect(server))
            await talk.send(request={"type": "scene", "window": [520, 400], "id": "a"})
            await talk.send(request={"type": "painted", "window": [520, 400], "id": "b"})
            page = next(iter(server.pages))
            while len(page._early or ()) < 2:
                await asyncio.sleep(0.01)
            may_read.set()
            content, _ = await talk.wait(is_scene)
            assert content["message"]["id"] == "a"
            (shown,) = server.list_explorations(served)
            assert shown._session.views.first.window == Window(520, 400)
            assert chosen == [(Window(520, 400), False)]  # nothing had to be chosen anew
            await talk.leave()
        finally:
            server.stop()

    run(work)
