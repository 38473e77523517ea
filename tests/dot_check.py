"""Graphviz on exported DOT text, in a process of its own: on some texts it crashes."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from netloupe.explorer.layout import worker

# the worker by its path: it needs nothing else of netloupe, which takes far longer to import
_SCRIPT = (
    "import runpy, sys; Layout = runpy.run_path(sys.argv[1])['Layout']\n"
    "with Layout(sys.stdin.buffer.read().decode()) as layout:\n"
    "    sys.stdout.buffer.write(layout.render('json0'))"
)


def draw_with_graphviz(text: str) -> dict[str, Any]:
    """Return Graphviz's drawing of a graph; fails where Graphviz does."""
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT, worker.__file__],
        input=text.encode(),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-500:]
    drawing: dict[str, Any] = json.loads(done.stdout)
    return drawing
