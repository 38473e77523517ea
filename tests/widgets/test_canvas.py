from __future__ import annotations

import logging
from typing import Any

import pytest

from netloupe.explorer.errors import NotFoundError
from netloupe.widgets.canvas import Canvas


class Sent(list[tuple[dict[str, Any], list[bytes] | None]]):
    """What a canvas has sent, in place of a browser."""

    def __call__(self, content: dict[str, Any], buffers: list[bytes] | None = None) -> None:
        self.append((content, buffers))


@pytest.fixture
def sent() -> Sent:
    return Sent()


@pytest.fixture
def canvas(sent: Sent, monkeypatch: pytest.MonkeyPatch) -> Canvas:
    canvas = Canvas(title="tiny")
    monkeypatch.setattr(canvas, "send", sent)
    return canvas


def receive(canvas: Canvas, content: object) -> None:
    canvas._handle_custom_msg(content, [])


def test_unknown_keyword_is_refused() -> None:
    with pytest.raises(TypeError, match="'colour'"):
        Canvas(colour="red")


def test_traits_start_with_nothing_selected(canvas: Canvas) -> None:
    assert (canvas.selection, canvas.hover, canvas.theme) == ("", "", "auto")
    assert canvas.title == "tiny"


def test_built_files_are_there(canvas: Canvas) -> None:
    assert "export{" in canvas._esm
    assert ".nl-canvas" in canvas._css


def test_request_reaches_the_handler_and_the_scene_its_request(canvas: Canvas, sent: Sent) -> None:
    def answer(message: dict[str, Any], buffers: list[memoryview]) -> None:
        canvas.reply_scene(message["id"], {"version": 1}, [b"f", b"i"], anchor=message["path"])

    canvas.on_request = answer
    receive(canvas, {"id": "1-a-1", "type": "toggle", "path": "main/layer"})
    content, buffers = sent[0]
    assert content == {
        "id": "1-a-1",
        "type": "scene",
        "header": {"version": 1},
        "anchor": "main/layer",
    }
    assert buffers == [b"f", b"i"]


def test_pushed_scene_has_no_id(canvas: Canvas, sent: Sent) -> None:
    canvas.push_scene({"version": 1}, [b"", b""], select="main/x", center="main/x")
    assert "id" not in sent[0][0]
    assert sent[0][0]["center"] == "main/x"


def test_reply_carries_its_fields(canvas: Canvas, sent: Sent) -> None:
    canvas.reply("1-a-2", "hits", hits=[], total=0)
    assert sent[0][0] == {"id": "1-a-2", "type": "hits", "hits": [], "total": 0}


def test_netloupe_error_becomes_its_message(canvas: Canvas, sent: Sent) -> None:
    def fail(message: dict[str, Any], buffers: list[memoryview]) -> None:
        raise NotFoundError("main/gone: there is no such element")

    canvas.on_request = fail
    receive(canvas, {"id": "7", "type": "reveal", "path": "main/gone"})
    assert sent[0][0] == {
        "id": "7",
        "type": "error",
        "message": "main/gone: there is no such element",
    }


def test_any_other_error_is_logged_and_told(
    canvas: Canvas, sent: Sent, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(message: dict[str, Any], buffers: list[memoryview]) -> None:
        raise ZeroDivisionError("oh")

    canvas.on_request = fail
    with caplog.at_level(logging.ERROR):
        receive(canvas, {"id": "8", "type": "scene"})
    assert sent[0][0]["message"] == "internal error: oh"
    assert "ZeroDivisionError" in caplog.text


def test_message_that_is_no_request_is_left_alone(canvas: Canvas, sent: Sent) -> None:
    receive(canvas, "hello")
    receive(canvas, {"id": "9", "type": "scene"})
    assert sent == []
