"""Graphviz on exported DOT text, in a process of its own: on some texts it crashes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

_SCRIPT = (
    "import sys; from netloupe.explorer.layout.worker import Layout\n"
    "with Layout(sys.stdin.buffer.read().decode()) as layout:\n"
    "    sys.stdout.buffer.write(layout.render('json0'))"
)


def draw_with_graphviz(text: str) -> dict[str, Any]:
    """Return Graphviz's drawing of a graph; fails where Graphviz does."""
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT],
        input=text.encode(),
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONPATH": ":".join(filter(None, sys.path))},
    )
    assert done.returncode == 0, done.stderr[-500:]
    drawing: dict[str, Any] = json.loads(done.stdout)
    return drawing
