"""What pages may have opened: a path, where that is allowed, and files that they send."""

from __future__ import annotations

import asyncio
import json

from tornado.web import stream_request_body

from netloupe.explorer.errors import NetloupeError

from .handlers import Guarded, RefusalError
from .intake import MOST_BYTES, DroppedFile, Intake


class _Asked(Guarded):
    """A request of a page of ours that changes something."""

    def prepare(self) -> None:
        """Refuse whoever may not ask."""
        super().prepare()
        self.refuse_others()

    @property
    def intake(self) -> Intake:
        """What opens files."""
        found = self._server.intake
        if found is None:
            raise RefusalError(404, "There is nothing here.")
        return found


class OpenHandler(_Asked):
    """Opens the file at a path."""

    async def post(self) -> None:
        """Answer with the number of the model."""
        try:
            asked = json.loads(self.request.body)
        except (ValueError, RecursionError):
            asked = None
        if not isinstance(asked, dict) or not isinstance(asked.get("path"), str):
            raise RefusalError(400, "The page names no path.")
        path = asked["path"]
        if not self.intake.takes_paths:
            raise RefusalError(403, "This server shows what it was started with alone.")
        loop = asyncio.get_running_loop()
        try:
            served = await loop.run_in_executor(None, self.intake.open_path, path)
        except NetloupeError as error:
            raise RefusalError(400, str(error)) from error
        self.finish({"model": self._server.add(served)})


@stream_request_body
class DropHandler(_Asked):
    """Takes a file that a page sends, piece by piece, and opens it."""

    _dropped: DroppedFile | None = None

    def prepare(self) -> None:
        """Refuse whoever may not ask, and what is too large; begin to take it."""
        super().prepare()
        length = self.request.headers.get("Content-Length", "")
        if length.isdecimal() and int(length) > MOST_BYTES:
            raise RefusalError(413, f"The file is larger than {MOST_BYTES:,} bytes.")
        self.request.connection.set_max_body_size(MOST_BYTES)  # type: ignore[union-attr]
        try:
            self._dropped = self.intake.begin_drop(self.get_query_argument("name", ""))
        except NetloupeError as error:
            raise RefusalError(507, str(error)) from error

    def data_received(self, chunk: bytes) -> None:
        """Keep a piece."""
        if self._dropped is not None:
            self._dropped.write(chunk)

    def post(self) -> None:
        """Open the file; answer with the number of the model."""
        dropped, self._dropped = self._dropped, None
        if dropped is None:
            raise RefusalError(400, "The page has sent no file.")
        dropped.finish()
        if not dropped.size:
            dropped.abandon("The file is empty.")
        if dropped.problem:
            raise RefusalError(413, dropped.problem)
        self.finish({"model": self._server.add(self.intake.take(dropped))})

    def on_connection_close(self) -> None:
        """Remove what has come of a file whose page is gone."""
        super().on_connection_close()
        if self._dropped is not None:
            self._dropped.abandon()
            self._dropped = None


class ForgetHandler(_Asked):
    """Forgets the files that were opened last."""

    def post(self) -> None:
        """Forget them."""
        if self.intake.recent is not None:
            self.intake.recent.clear()
        self.finish({})
