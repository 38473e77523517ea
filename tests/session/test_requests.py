"""Any client may be answered: requests need no widget."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Unpack

import pytest

from netloupe.explorer.options import Details, Share
from netloupe.explorer.readers.load import load
from netloupe.explorer.session import Requests, Session
from netloupe.explorer.session.messages import Reply, SceneFields
from netloupe.explorer.view import ViewOptions
from tests.browser.servers import ROOT
from tests.wire_reader import SceneReader

REFINE = ROOT / "demo_notebooks" / "models" / "digits_refine.onnx"


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

    def reply(self, request_id: Any, message: Reply, /) -> None:
        self.sent.append((request_id, message))

    def send_error(self, request_id: Any, message: str) -> None:
        self.reply(request_id, {"type": "error", "message": message})


class Asker:
    """Requests of a listener, whose selection is what was selected last."""

    def __init__(self) -> None:
        self.listener = Listener()
        self.selected: Sequence[str] = ()
        self.begun = 0
        self.requests = Requests(
            Session(load(REFINE), ViewOptions()),
            self.listener,
            lambda: self.selected,
            self._select,
            lambda: None,
            lambda: None,
            lambda: None,
            self._begin,
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


@pytest.fixture
def asker() -> Iterator[Asker]:
    asker = Asker()
    yield asker
    asker.requests.close()


def test_the_first_scene_is_sent_whole(asker: Asker) -> None:
    answer = asker.ask(type="scene")
    assert (answer["type"], answer["fit"], answer["history"]["undo"]) == ("scene", True, False)
    assert asker.begun == 1
    assert len(asker.listener.reader.paths()) > 3


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
