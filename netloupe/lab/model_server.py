"""The process that has one model open, and serves its explorer on loopback.

Run as a script, it reads a line of JSON from its standard input: a ``folder``, the ``path`` of the
model from there, and the ``token`` for its server. It writes one to its standard output, with the
``port``. The model is read once a page asks for it. The process ends when its input does: when the
Jupyter server wants that, or is gone; and when the model cannot be shown, once pages know why.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from netloupe.explorer.errors import NetloupeError
from netloupe.live.served import ReadyModel, ServedModel
from netloupe.live.server import LiveServer

#: seconds for what is under way when the process is to end
_GRACE = 5.0
#: where memory runs out, Linux ends this process before the Jupyter server and its kernels
_OOM_SCORE = "700"


def _main() -> None:
    # what prints would get between the lines
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(_OOM_SCORE, "ascii")
    asked = json.loads(sys.stdin.readline())
    is_over = threading.Event()
    threading.Thread(target=_wait_for_input, args=(is_over,), daemon=True).start()
    os.chdir(asked["folder"])  # as which users of the Jupyter server know the root folder
    path = asked["path"]
    served = ServedModel(Path(path).name, partial(_read, path), partial(_explain, path))

    def answer(port: int) -> None:
        answers.write(json.dumps({"port": port}) + "\n")
        answers.flush()

    asyncio.run(_serve(served, asked["token"], is_over, answer))


def _read(path: str) -> ReadyModel:
    """Read a model, and start what lays it out beside that."""
    from netloupe.explorer.layout import shared_engine

    shared_engine().start()
    from netloupe.explorer.readers.load import load

    return ReadyModel(load(path))


def _explain(path: str, error: Exception) -> str:
    if isinstance(error, NetloupeError):
        return str(error)
    if isinstance(error, MemoryError):
        return f"{path}: there is not enough memory to read this model."
    return f"{path}: internal error: {error!r}"


async def _serve(
    served: ServedModel,
    token: str,
    is_over: threading.Event,
    answer: Callable[[int], None],
) -> None:
    """Serve until the input ends, or nothing can be shown."""
    server = LiveServer([served], None, token)
    server.start()
    try:
        answer(server.port)
        ends: list[asyncio.Future[Any]] = [
            asyncio.ensure_future(asyncio.get_running_loop().run_in_executor(None, is_over.wait)),
            asyncio.create_task(server.wait_for_failure(page_comes=False)),
        ]
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    finally:
        server.stop()
        is_over.set()


def _wait_for_input(is_over: threading.Event) -> None:
    """Wait for the end of the input, and then for a process that does not end by itself."""
    sys.stdin.read()
    is_over.set()
    time.sleep(_GRACE)
    os._exit(1)


if __name__ == "__main__":
    _main()
