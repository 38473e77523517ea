"""The process that has one model open, and serves its explorer on loopback.

Run as a script, it reads a line of JSON from its standard input: a ``folder``, the ``path`` of the
model from there, and the ``token`` for its server. It writes one to its standard output: the
``port``, or an ``error``. It ends when its input does: when the Jupyter server wants that, or is
gone.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

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

    def answer(**content: Any) -> None:
        answers.write(json.dumps(content) + "\n")
        answers.flush()

    try:
        os.chdir(asked["folder"])  # as which users of the Jupyter server know the root folder
        _serve(asked["path"], asked["token"], is_over, answer)
    except MemoryError:
        answer(error=f"{asked['path']}: there is not enough memory to read this model.")
    except Exception as error:
        answer(error=_explain(error))


def _explain(error: Exception) -> str:
    from netloupe.explorer.errors import NetloupeError

    return str(error) if isinstance(error, NetloupeError) else f"internal error: {error!r}"


def _serve(path: str, token: str, is_over: threading.Event, answer: Any) -> None:
    from netloupe.explorer.layout import shared_engine
    from netloupe.explorer.readers.load import load
    from netloupe.explorer.view import ViewOptions
    from netloupe.live.server import LiveServer

    shared_engine().start()
    server = LiveServer(load(path), ViewOptions.parse({"wrap": False}), token)

    async def serve() -> None:
        server.start()
        answer(port=server.port)
        try:
            await asyncio.get_running_loop().run_in_executor(None, is_over.wait)
        finally:
            server.stop()

    asyncio.run(serve())


def _wait_for_input(is_over: threading.Event) -> None:
    """Wait for the end of the input, and then for a process that does not end by itself."""
    sys.stdin.read()
    is_over.set()
    time.sleep(_GRACE)
    os._exit(1)


if __name__ == "__main__":
    _main()
