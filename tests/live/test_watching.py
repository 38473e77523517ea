"""A model whose file changes while it is watched."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import onnx.parser
import pytest

import netloupe
from netloupe.live import watching
from netloupe.live.served import ReadyModel, ServedModel
from netloupe.live.server import LiveServer
from netloupe.live.watching import Watching

from .test_server import TOKEN, Talk, connect, is_scene, run

BEFORE = """<ir_version: 8, opset_import: ["": 18]>
g (float[N, 2] x) => (float[N, 2] y) { [add] a = Add (x, x) [relu] y = Relu (a) }"""
AFTER = """<ir_version: 8, opset_import: ["": 18]>
g (float[N, 2] x) => (float[N, 2] y) { [add] a = Add (x, x) [tanh] y = Tanh (a) }"""


def write(path: Path, text: str) -> None:
    """Write a model in place of the one that is there."""
    made = path.with_suffix(".part")
    made.write_bytes(onnx.parser.parse_model(text).SerializeToString())
    made.replace(path)


@pytest.fixture
def quickly(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(watching, "_EVERY_SECONDS", 0.05)
    return iter(())


def watch(work: Any, path: Path) -> None:
    """Run a test over the socket of a model that is watched."""

    def read() -> ReadyModel:
        return ReadyModel(netloupe.load(path))

    async def whole() -> None:
        served = ServedModel(path.name, read)
        server = LiveServer([served], None, TOKEN)
        server.start()
        watched = Watching(served, read, lambda: server.list_explorations(served))
        watched.start()
        try:
            talk = Talk(await connect(server))
            await talk.send(request={"type": "scene", "id": "a"})
            await talk.wait(is_scene)
            await work(talk, server)
            await talk.leave()
        finally:
            watched.close()
            server.stop()

    run(whole)


async def hear_notice(talk: Talk) -> str:
    """Wait for a picture that is not asked for; return what is said with it."""
    content, _ = await talk.wait(lambda each: is_scene(each) and each["message"].get("id") is None)
    return " ".join(content["message"]["header"]["notices"])


@pytest.mark.usefixtures("quickly")
def test_it_is_shown_as_it_is_written_again(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    write(path, BEFORE)

    async def work(talk: Talk, server: LiveServer) -> None:
        other = Talk(await connect(server))
        await other.send(request={"type": "scene", "id": "a"})
        await other.wait(is_scene)
        await talk.send(traits={"selection": "main/add", "selected_paths": ["main/add"]})
        await other.send(traits={"selection": "main/relu", "selected_paths": ["main/relu"]})
        await other.send(describe="main/relu", id=1)
        await other.answer(1)
        write(path, AFTER)
        said = await hear_notice(talk)
        assert said == "model.onnx has changed and was read again."
        said = await hear_notice(other)
        assert said.endswith("was read again. No longer there: main/relu.")
        await other.wait(lambda _each: other.traits.get("selection") == "")
        await talk.send(describe="main/tanh", id=2)
        assert "Tanh" in (await talk.answer(2))["html"]
        await other.leave()

    watch(work, path)


@pytest.mark.usefixtures("quickly")
def test_a_file_that_is_gone_or_damaged_is_said_and_the_picture_stays(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    write(path, BEFORE)

    async def work(talk: Talk, _server: LiveServer) -> None:
        path.unlink()
        await talk.wait(lambda _each: "cannot be read now" in talk.traits.get("changed", ""))
        await talk.send(describe="main/relu", id=1)
        assert "Relu" in (await talk.answer(1))["html"]
        await talk.send(request={"type": "expand", "mode": "all", "id": "b"})
        await talk.wait(is_scene)
        path.write_bytes(b"\x08\x07" + b"\xff" * 64)
        await talk.wait(lambda _each: "model.onnx" in talk.traits.get("changed", ""))
        write(path, AFTER)
        assert "was read again" in await hear_notice(talk)
        assert talk.traits["changed"] == ""

    watch(work, path)
