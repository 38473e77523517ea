"""Without pygraphviz the worker runs the ``dot`` of the PATH, and stops it with itself."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from netloupe.explorer.errors import LayoutError
from netloupe.explorer.layout import LayoutEngine
from netloupe.explorer.layout.engine import INSTALL_GRAPHVIZ

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the stand-in for dot is a script")

DRAWING = (
    '{"bb": "0,0,54,108", "objects": [{"name": "n0", "pos": "27,90"}, {"name": "n1", '
    '"pos": "27,18"}], "edges": [{"id": "0", "pos": "27,72 27,60 27,48 27,36"}]}'
)


def write_level_dot(folder: Path, body: str) -> None:
    script = folder / "dot"
    script.write_text(f"#!{sys.executable}\nimport os, sys, time\n{body}\n")
    script.chmod(0o755)


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LayoutEngine]:
    (tmp_path / "pygraphviz.py").write_text("raise ImportError('not here')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    engine = LayoutEngine()
    yield engine
    engine.stop()


def test_dot_of_the_path_is_used(engine: LayoutEngine, tmp_path: Path) -> None:
    write_level_dot(tmp_path, f"sys.stdin.read(); print({DRAWING!r})")
    placement = engine.place('digraph { n0 -> n1 [id="0"] }', 30)
    assert placement.nodes == {"n0": (27.0, 18.0), "n1": (27.0, 90.0)}
    assert placement.edges["0"] == (27.0, 36.0, 27.0, 48.0, 27.0, 60.0, 27.0, 72.0)


def test_dot_is_run_only_when_a_layout_is_asked_for(engine: LayoutEngine, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    write_level_dot(
        tmp_path, f"open({str(runs)!r}, 'a').write('x'); sys.stdin.read(); print({DRAWING!r})"
    )
    engine.place('digraph { n0 -> n1 [id="0"] }', 30)
    assert runs.read_text() == "x"


def test_no_graphviz_at_all_is_said(engine: LayoutEngine) -> None:
    with pytest.raises(LayoutError, match=r"cannot be imported \(not here\) and no dot is") as said:
        engine.place("digraph {}", 30)
    assert INSTALL_GRAPHVIZ in str(said.value)


def test_dot_ends_with_the_worker(engine: LayoutEngine, tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    write_level_dot(tmp_path, f"open({str(mark)!r}, 'w').write(str(os.getpid())); time.sleep(60)")
    with pytest.raises(LayoutError, match="too long"):
        engine.place("digraph {}", 3)
    number = int(mark.read_text())
    for _ in range(50):
        try:
            os.kill(number, 0)
        except ProcessLookupError:
            return
        if "Z" in Path(f"/proc/{number}/stat").read_text().split()[2]:
            return  # ended, and not yet collected by the system
        time.sleep(0.1)
    raise AssertionError("dot goes on")
