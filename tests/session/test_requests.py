"""Any client may be answered: requests need no widget."""

from __future__ import annotations

import logging
import shlex
import struct
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack
from xml.etree import ElementTree

import pytest

from netloupe.commands.cli import main
from netloupe.explorer.options import Details, Share
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.paint import Paint
from netloupe.explorer.render.picture import render_picture
from netloupe.explorer.render.theme import load_theme
from netloupe.explorer.session import Requests, Session
from netloupe.explorer.session.messages import Reply, SceneFields
from netloupe.explorer.view import ViewOptions, expand_view
from tests.browser.servers import ROOT
from tests.wire_reader import SceneReader

CNN = ROOT / "demo_notebooks" / "models" / "digits_cnn.onnx"
REFINE = ROOT / "demo_notebooks" / "models" / "digits_refine.onnx"

SVG = "{http://www.w3.org/2000/svg}"


class Listener:
    """A client that is nothing but one: it keeps what it is sent and told."""

    def __init__(self) -> None:
        self.focus, self.hops, self.grouping = "", 0, ""
        self.wrap = False
        self.details: Details = "facts"
        self.share: Share = "none"
        self.breadcrumb: list[list[str]] = []
        self.log = logging.getLogger("tests.session")
        self.sent: list[tuple[Any, Mapping[str, Any]]] = []
        self.files: list[bytes] = []
        self.reader = SceneReader()

    def reply_scene(
        self,
        request_id: Any,
        header: Mapping[str, Any],
        buffers: Sequence[bytes],
        /,
        **fields: Unpack[SceneFields],
    ) -> None:
        self.reader.read(dict(header), list(buffers))
        self.sent.append((request_id, {**fields, "type": "scene"}))

    def push_scene(
        self, header: Mapping[str, Any], buffers: Sequence[bytes], **fields: Unpack[SceneFields]
    ) -> None:
        self.reply_scene(None, header, buffers, **fields)

    def reply(self, request_id: Any, message: Reply, /, *buffers: bytes) -> None:
        self.files += buffers
        self.sent.append((request_id, message))

    def send_error(self, request_id: Any, message: str) -> None:
        self.reply(request_id, {"type": "error", "message": message})


class Asker:
    """Requests of a listener, whose selection is what was selected last."""

    def __init__(self, model: Path = REFINE, offer: Any = None) -> None:
        self.listener = Listener()
        self.selected: Sequence[str] = ()
        self.begun = 0
        self.requests = Requests(
            Session(load(model), ViewOptions()),
            self.listener,
            lambda: self.selected,
            self._select,
            lambda: None,
            lambda: None,
            lambda: None,
            self._begin,
            offer=offer,
        )

    def _select(self, paths: Sequence[str]) -> None:
        self.selected = paths

    def _begin(self) -> None:
        self.begun += 1

    def ask(self, **message: Any) -> Mapping[str, Any]:
        """Return the answer to a request."""
        number = f"{len(self.listener.sent)}"
        self.requests.receive({"id": number, **message}, [])
        self.requests.pool.submit(lambda: None).result(timeout=60)
        (answer,) = [
            told
            for request, told in self.listener.sent
            if request == number and told["type"] != "busy"
        ]
        return answer

    def tell(self, **message: Any) -> list[Mapping[str, Any]]:
        """Return what is sent where no answer is waited for."""
        before = len(self.listener.sent)
        self.requests.receive({"id": "told", **message}, [])
        self.requests.pool.submit(lambda: None).result(timeout=60)
        return [told for _, told in self.listener.sent[before:] if told["type"] != "busy"]


@pytest.fixture
def asker() -> Iterator[Asker]:
    asker = Asker()
    yield asker
    asker.requests.close()


def test_the_first_scene_is_sent_whole(asker: Asker) -> None:
    answer = asker.ask(type="scene")
    assert (answer["type"], answer["fit"], answer["history"]["undo"]) == ("scene", True, False)
    assert len(asker.listener.reader.paths()) > 3


def test_other_work_begins_once_the_first_scene_is_painted(asker: Asker) -> None:
    asker.ask(type="scene")
    assert asker.begun == 0
    assert asker.tell(type="painted") == []
    assert asker.begun == 1


def test_the_painted_scene_is_replaced_where_the_window_is_another(asker: Asker) -> None:
    asker.ask(type="scene")
    before = asker.listener.reader.paths()
    (pushed,) = asker.tell(type="painted", window=[3000, 9000])
    assert (pushed["type"], pushed["fit"], pushed["history"]["undo"]) == ("scene", True, False)
    assert asker.listener.reader.paths() != before
    # of its own window, and where another page is of another size, nothing is told
    assert asker.tell(type="painted", window=[300, 200]) == []


def test_a_scene_is_offered_until_somebody_is_shown_one() -> None:
    offered: list[tuple[set[str], SceneFields]] = []

    def offer(
        header: Mapping[str, Any], buffers: Sequence[bytes], **fields: Unpack[SceneFields]
    ) -> None:
        reader = SceneReader()
        reader.read(dict(header), list(buffers))  # which takes nothing that is not whole
        offered.append((reader.paths(), fields))

    asker = Asker(offer=offer)
    requests = asker.requests
    requests.scene.result(timeout=60)
    (first, fields), *others = offered
    assert (fields["fit"], others) == (True, [])
    # what Python shows meanwhile takes its place
    with requests.wanted():
        requests.views.expand("all")
        path = next(iter(requests.session.views.model.graph.nodes)).path
        requests.push(select=path, center=path)
    second, fields = offered[-1]
    assert first < second
    assert fields["select"] == path
    asker.tell(type="painted")
    with requests.wanted():
        requests.views.expand("none")
        requests.push()
    assert len(offered) == 2
    requests.close()


def test_a_group_is_opened_and_taken_back(asker: Asker) -> None:
    asker.ask(type="scene")
    before = asker.listener.reader.paths()
    assert asker.ask(type="expand", mode="all")["history"]["undo"] is True
    assert len(asker.listener.reader.paths()) > len(before)
    assert asker.ask(type="undo")["restore"] is True
    assert asker.listener.reader.paths() == before


def test_a_client_is_told_what_is_shown(asker: Asker) -> None:
    asker.ask(type="scene")
    path = next(iter(asker.requests.session.views.model.graph.nodes)).path
    asker.ask(type="reveal", path=path)
    assert list(asker.selected) == [path]
    asker.ask(type="focus", path=path, hops=2)
    listener = asker.listener
    assert (listener.focus, listener.hops) == (path, 2)
    assert listener.breadcrumb == [["main", "main"]]
    asker.ask(type="share", share="bytes")
    assert listener.share == "bytes"


def test_what_is_found_and_what_is_wrong_come_as_messages(asker: Asker) -> None:
    hits = asker.ask(type="search", text="Conv")
    assert hits["type"] == "hits"
    assert hits["total"] == len(hits["hits"]) > 0
    assert asker.ask(type="sing")["message"].startswith("the request 'sing' is unknown")


def test_our_own_failure_is_logged_and_told(
    asker: Asker, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise KeyError("boom")

    monkeypatch.setattr(asker.requests.session, "legend", fail)
    assert asker.ask(type="legend", theme="light")["message"] == "internal error: 'boom'"
    assert "a request of the canvas failed" in caplog.text


def draw(asker: Asker, **fields: Any) -> bytes:
    """Return the file that a request is answered with."""
    answer = asker.ask(type="picture", theme="light", **fields)
    assert answer["type"] == "file", answer
    return asker.listener.files[-1]


def test_pictures_of_all_are_those_that_python_writes(asker: Asker) -> None:
    asker.ask(type="expand", mode="all")
    session = asker.requests.session
    for format in ("svg", "png", "pdf"):
        wanted = render_picture(session.draw(None, "light"), format)
        assert draw(asker, format=format) == wanted
    asker.ask(type="picture", format="svg", theme="dark")
    assert load_theme("dark").page in asker.listener.files[-1].decode()


def test_a_picture_of_what_is_seen_holds_what_is_in_the_window(asker: Asker) -> None:
    asker.ask(type="expand", mode="all")
    scene = asker.requests.scene.result()
    inner = [box for box in scene.boxes if not box.item.is_open]
    seen = inner[0]
    part = [seen.x - 4, seen.y - 4, seen.width + 8, seen.height + 8]
    svg = draw(asker, format="svg", part=part).decode()
    root = ElementTree.fromstring(svg)
    left, top = max(part[0], 0), max(part[1], 0)
    right, bottom = part[0] + part[2], part[1] + part[3]
    assert float(root.get("width", 0)) == pytest.approx(right - left, abs=0.01)
    assert float(root.get("height", 0)) == pytest.approx(bottom - top, abs=0.01)
    titles = [found.text or "" for found in root.iter(f"{SVG}title")]
    paths = {text.split("\n")[0] for text in titles}
    assert seen.item.path in paths
    far = [box.item.path for box in inner if box.y > bottom + 400]
    assert far
    assert not paths & set(far)
    png = draw(asker, format="png", part=part)
    assert struct.unpack(">II", png[16:24]) == (int(2 * (right - left)), int(2 * (bottom - top)))
    assert draw(asker, format="pdf", part=part).startswith(b"%PDF")


@pytest.mark.parametrize(
    "part", [[0, 0, 1], "all", [0, 0, float("nan"), 9], [-900, -900, 20, 20], [0, 0, 1e308, -1]]
)
def test_no_picture_is_made_of_nothing(asker: Asker, part: object) -> None:
    asked = {"type": "picture", "theme": "light"}
    assert asker.ask(**asked, format="svg", part=part)["type"] == "error"
    assert "svg, png, pdf or html" in asker.ask(**asked, format="gif")["message"]


def read_command(asker: Asker) -> tuple[list[str], list[str]]:
    told = asker.ask(type="command", theme="light")
    return shlex.split(told["text"]), told["left"]


@pytest.mark.parametrize("mode", ["none", "all", 1, "auto"])
def test_the_command_draws_the_same_groups_open(
    asker: Asker, mode: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    views = asker.requests.views
    if mode == "auto":
        asker.ask(type="scene", window=[700, 500])
    elif isinstance(mode, int):
        views.expand("none")
        expand_view(views.current, mode)
    else:
        asker.ask(type="expand", mode=mode)
    words, left = read_command(asker)
    assert left == []
    monkeypatch.chdir(tmp_path)
    assert main(words[1:]) == 0
    written = words[words.index("-o") + 1]
    drawn = ElementTree.parse(tmp_path / written).getroot()
    paths = {(each.text or "").split("\n")[0] for each in drawn.iter(f"{SVG}title")}
    with asker.requests.lock:  # what is likely to be opened next is opened for a moment meanwhile
        items = list(views.current.items.values())
    for item in items:
        assert item.path in paths or item.kind == "root"


def test_the_command_says_what_it_leaves_out() -> None:
    asker = Asker(CNN)
    asker.ask(type="expand", mode="none")
    groups = [item for item in asker.requests.views.current.root.children if item.openable]
    assert len(groups) > 1
    asker.ask(type="open", path=groups[0].path)
    words, left = read_command(asker)
    assert left == ["which groups are open: it opens what fits"]
    assert "--expand" not in words
    asker.requests.session.paints = {"main": Paint("added")}
    assert "how it is painted" in read_command(asker)[1]
    asker.requests.close()
