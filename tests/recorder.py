"""An explorer without a browser: what it sends, and its answers."""

from __future__ import annotations

from typing import Any

from netloupe.widgets import Explorer
from tests.wire_reader import SceneReader


class Recorder:
    """Keeps what an explorer sends, and waits for its answers."""

    def __init__(self, explorer: Explorer) -> None:
        self.explorer = explorer
        self.sent: list[dict[str, Any]] = []
        self.reader = SceneReader()
        explorer.canvas.send = self._send

    def _send(self, content: dict[str, Any], buffers: Any = None) -> None:
        self.sent.append(content)
        if content["type"] == "scene":
            self.reader.read(content["header"], buffers)

    def ask(self, **message: Any) -> dict[str, Any]:
        """Send a request as the browser does and return the answer."""
        before = len(self.sent)
        self.explorer._requests.receive({"id": "1", **message}, [])
        self.explorer._requests.pool.submit(lambda: None).result(timeout=60)
        answers = [
            content
            for content in self.sent[before:]
            if content.get("id") == "1" and content["type"] != "busy"
        ]
        assert len(answers) == 1
        return answers[0]

    def begin(self) -> dict[str, Any]:
        """Do as a browser that has come: ask for the first scene, and tell that it is painted."""
        answer = self.ask(type="scene")
        self.explorer._requests.receive({"id": "2", "type": "painted"}, [])
        self.explorer._requests.pool.submit(lambda: None).result(timeout=60)
        return answer

    def is_open(self, path: str) -> bool:
        """Return whether a group is open; what is prepared opens others for a moment."""
        with self.explorer._requests.lock:
            return self.explorer._views.current.items[path].is_open

    @property
    def paths(self) -> set[str]:
        """All names in the last scene."""
        return self.reader.paths()

    @property
    def scene(self) -> dict[str, Any]:
        """The last scene."""
        return [content for content in self.sent if content["type"] == "scene"][-1]
