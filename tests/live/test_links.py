"""Addresses of pages, over the socket that a page talks through."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import netloupe
from netloupe.explorer.view import ViewOptions
from netloupe.live.served import ServedModel
from netloupe.live.server import LiveServer
from tests.live.test_server import TOKEN, Talk, connect, is_scene, run, talking

CONDLOOP = "exported/condloop.dynamo.onnx"
PLAIN: dict[str, Any] = {
    "direction": "TB",
    "opened": "",
    "focus": None,
    "selected": [],
    "choices": {},
}


async def ask_first(talk: Talk) -> dict[str, Any]:
    """Ask for the first scene, and return what it says."""
    await talk.send(request={"type": "scene", "id": "first", "window": [900, 700]})
    content, _ = await talk.wait(is_scene)
    found: dict[str, Any] = content["message"]
    return found


async def seen(talk: Talk) -> dict[str, Any]:
    """Wait for what an address has to keep."""
    content, _ = await talk.wait(lambda each: "seen" in each)
    found: dict[str, Any] = content["seen"]
    return found


def test_a_link_before_the_first_picture_is_the_first_picture() -> None:
    async def work(talk: Talk, server: LiveServer) -> None:
        assert server.models[0].loaded is not None
        node = server.models[0].loaded.model.graph.nodes[0].path
        link = {**PLAIN, "direction": "LR", "selected": [node]}
        await talk.send(link=link, id=1)
        assert (await seen(talk))["opened"] == ""
        assert await talk.answer(1) == {"id": 1}
        scene = await ask_first(talk)
        assert scene["header"]["direction"] == "LR"
        assert scene["select"] == node
        # what was to be opened for the window stays closed, and there is nothing to go back to
        assert scene["history"]["undo"] is False
        assert talk.traits["direction"] == "LR"

    talking(work, CONDLOOP)


def test_what_is_open_is_told_after_each_change_and_shown_again() -> None:
    async def work(talk: Talk, server: LiveServer) -> None:
        await ask_first(talk)
        first = await seen(talk)
        await talk.send(request={"type": "expand", "mode": "all", "id": "all"})
        await talk.wait(is_scene)
        opened = await seen(talk)
        assert opened != first
        await talk.send(link={**PLAIN, **first}, id=1)
        content, _ = await talk.wait(is_scene)
        assert "id" not in content["message"]
        assert await seen(talk) == first
        assert await talk.answer(1) == {"id": 1}
        other = Talk(await connect(server))
        await ask_first(other)
        assert await seen(other) == first
        await other.leave()

    talking(work, CONDLOOP)


def test_a_link_that_does_not_fit_is_answered_by_why() -> None:
    async def work(talk: Talk, _server: LiveServer) -> None:
        await ask_first(talk)
        for number, (link, why) in enumerate(
            [
                ({}, "damaged"),
                ({**PLAIN, "opened": "0:main/nothing/"}, "nothing of what it names"),
                ({**PLAIN, "focus": {"path": "main/nothing", "hops": 1}}, "main/nothing"),
                ({**PLAIN, "opened": "9:x"}, "damaged"),
                ({**PLAIN, "choices": {"share": "all"}}, "share"),
            ]
        ):
            await talk.send(link=link, id=number)
            assert why in (await talk.answer(number))["error"]
        # what is no question at all is an error of the page
        await talk.send(link="x", id=9)
        assert (await talk.message("error"))["message"]

    talking(work, CONDLOOP)


def test_a_link_to_what_a_new_reading_does_not_have_says_what_is_gone(tmp_path: Path) -> None:
    demo = Path(__file__).parents[2] / "demo_notebooks" / "models"
    file = tmp_path / "model.onnx"
    shutil.copy(demo / "digits_cnn.onnx", file)

    async def work() -> None:
        served = ServedModel.of(netloupe.load(file))
        server = LiveServer([served], ViewOptions.parse({"wrap": False}), TOKEN)
        server.start()
        talk = Talk(await connect(server))
        await ask_first(talk)
        before = await seen(talk)
        shutil.copy(demo / "digits_refine.onnx", file)
        server.list_explorations(served)[0].show_again(netloupe.load(file))
        await talk.wait(is_scene)
        input_path = server.list_explorations(served)[0]._views.model.graph.nodes[0].path
        await talk.send(link={**PLAIN, **before, "selected": [input_path]}, id=1)
        content, _ = await talk.wait(is_scene)
        (notice,) = content["message"]["header"]["notices"]
        assert notice.startswith("No longer there: main/")
        assert content["message"]["select"] == input_path
        assert await talk.answer(1) == {"id": 1}
        await talk.leave()
        server.stop()

    run(work)


def test_addresses_tell_models_apart_by_their_files(tmp_path: Path) -> None:
    def make(*files: Path) -> str:
        return ServedModel("model.onnx", lambda: None, files=files).mark  # type: ignore[arg-type,return-value]

    one, other = tmp_path / "a" / "model.onnx", tmp_path / "b" / "model.onnx"
    marks = {make(one), make(other), make(one, other), make()}
    assert len(marks) == 4
    assert make(one) == make(one)
    assert not any(part in mark for mark in marks for part in ("model", "a/", "b/"))
