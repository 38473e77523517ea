from __future__ import annotations

import base64
import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netloupe.explorer.errors import NotFoundError
from netloupe.explorer.layout import Scene, SceneLevel
from netloupe.explorer.layout.placement import Curves
from netloupe.explorer.layout.scene import EdgeKind, Inside, LevelEdge
from netloupe.explorer.render.face import Badge, Face, Outline, TextRun
from netloupe.explorer.render.wire import encode_scene
from netloupe.explorer.view import ConstantRow, Item
from netloupe.explorer.view.item import ItemKind
from netloupe.widgets.canvas import Canvas
from netloupe.widgets.shared_code import find_code


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
    code = find_code(canvas.code_file).code
    assert "export{" in code
    assert ".nl-canvas" in code  # its style sheet is in it, for the shadow root


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
    canvas.reply("1-a-2", {"type": "hits", "hits": [], "total": 0})
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


# ------------------------------------------------------- the scene that the front end's tests read

SCENE_FILE = Path(__file__).parents[2] / "widgets" / "frontend" / "test" / "scene.json"


def make_small_scene() -> tuple[Scene, Callable[[Item], Face]]:
    """An input, an open group with two nodes, a closed group, an output; x goes to both groups.

    Two values flow from the closed group to the output.
    """

    def face(shape: Outline, title: str, width: float, height: float) -> Face:
        return Face(shape, "linear", width, height, 26, (TextRun(10, 17.5, title, "title"),))

    conv = Face(
        *("node", "linear", 100, 60, 26),
        texts=(TextRun(10, 17.5, "Conv", "title"), TextRun(10, 41.5, "W", "name")),
        badges=(Badge(60, 5, 34, 15, "int8"),),
        targets=((0, 30, 45),),
    )
    faces = {
        "main/%x": face("terminal", "x", 100, 40),
        "main/g/": face("frame", "g", 60, 26),
        "main/a": conv,
        "main/b": face("node", "Relu", 100, 30),
        "main/c/": face("group", "c", 100, 40),
        "main/%y output": face("terminal", "y", 100, 40),
    }
    nothing: Any = None

    def make_item(kind: ItemKind, path: str, key: str = "") -> Item:
        item = Item(kind, path, nothing, nothing, None, key=key, openable=kind == "group")
        item.is_open = path == "main/g/"
        if path == "main/a":
            item.constants = (ConstantRow(1, None, "", "main/%w"),)
        return item

    def make_layer(
        number: int,
        items: list[tuple[Item, tuple[float, float, float, float]]],
        edges: list[tuple[str, int, int, tuple[float, float, float, float], EdgeKind, bool]],
        ports: list[tuple[str, float, float]],
        inner: dict[int, SceneLevel],
    ) -> SceneLevel:
        curves: list[tuple[float, ...]] = []
        for _, _, _, (x, y, to_x, to_y), _, _ in edges:
            middle = (y + to_y) / 2
            curves.append((x, y, x, middle, to_x, middle, to_x, to_y))
        boxes = np.array([place for _, place in items])
        border = np.array([(x, y) for _, x, y in ports]).reshape(-1, 2)
        inside = Inside(0, 0, boxes, Curves.of(curves), (), (), border)
        labelled = [path == "main/%t" for path, *_ in edges]
        return SceneLevel(
            *(number, nothing, inside),
            [
                LevelEdge(
                    nothing, path, *ends, bundle=("main/%z", "main/%z2") * (path == "main/%z")
                )
                for path, *ends in _without_places(edges)
            ],
            [path for path, _, _ in ports],
            ["float32[1, 8]" if has else "" for has in labelled],
            np.array(
                [
                    (curve[0], curve[3]) if has else (np.nan, np.nan)
                    for has, curve in zip(labelled, curves, strict=True)
                ]
            ),
            inner,
            [item for item, _ in items],
        )

    # what is inside g stands at (50, 80)
    inside = make_layer(
        2,
        [
            (make_item("node", "main/a"), (50, 40, 100, 60)),
            (make_item("node", "main/b"), (50, 170, 100, 30)),
        ],
        [
            ("main/%x", -1, 0, (100, 0, 100, 40), "data", True),
            ("main/%t", 0, 1, (100, 100, 100, 170), "data", True),
            ("main/%y", 1, -1, (100, 200, 100, 300), "data", False),
        ],
        [("main/%x", 100, 0), ("main/%y", 100, 300)],
        {},
    )
    root = make_layer(
        1,
        [
            (make_item("input", "main/%x"), (100, 0, 100, 40)),
            (make_item("group", "main/g/"), (50, 80, 300, 300)),
            (make_item("group", "main/c/"), (400, 120, 100, 40)),
            (make_item("output", "main/%y", "main/%y output"), (100, 420, 100, 40)),
        ],
        [
            ("main/%x", 0, 1, (150, 40, 150, 80), "data", False),
            ("main/%y", 1, 3, (150, 380, 150, 420), "data", True),
            ("main/%x", 0, 2, (180, 40, 450, 120), "captured", True),
            ("main/%z", 2, 3, (450, 160, 180, 420), "control", True),
        ],
        [],
        {1: inside},
    )
    return Scene(520, 480, notices=("a small scene",), root=root), lambda item: faces[item.key]


def _without_places(edges: list[Any]) -> list[tuple[str, int, int, EdgeKind, bool]]:
    return [(path, source, target, kind, arrow) for path, source, target, _, kind, arrow in edges]


def encode_small_scene() -> str:
    header, buffers = encode_scene(*make_small_scene())
    encoded = [base64.b64encode(buffer).decode() for buffer in buffers]
    return json.dumps({"header": header, "buffers": encoded}, indent=1) + "\n"


def test_front_end_reads_what_is_written_here() -> None:
    assert SCENE_FILE.read_text(encoding="utf-8") == encode_small_scene(), (
        "the format has changed: write the file anew with "
        "PYTHONPATH=. python tests/widgets/test_canvas.py, "
        "and adapt widgets/frontend/src/scene/wire.ts"
    )


if __name__ == "__main__":
    SCENE_FILE.write_text(encode_small_scene(), encoding="utf-8")
