"""The layout process: it can fail, hang, crash or be stopped, and the next layout works."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from netloupe.explorer.errors import LayoutError
from netloupe.explorer.layout import LayoutEngine, shared_engine
from netloupe.explorer.layout.engine import LayoutTimeoutError
from netloupe.explorer.progress import Cancelled, watched

SMALL = 'digraph { a -> b [id="0"] }'
DENSE = (
    "digraph {"
    + "".join(f"a{i} -> b{(i * 37 + j * j) % 400};" for i in range(400) for j in range(25))
    + "}"
)


@pytest.fixture
def engine() -> Iterator[LayoutEngine]:
    engine = LayoutEngine()
    yield engine
    engine.stop()


def works(engine: LayoutEngine) -> bool:
    placement = engine.place(SMALL, 20)
    return set(placement.nodes) == {"a", "b"} and set(placement.edges) == {"0"}


def test_positions_grow_downwards(engine: LayoutEngine) -> None:
    placement = engine.place(SMALL, 20)
    assert placement.nodes["a"][1] < placement.nodes["b"][1]
    assert len(placement.edges["0"]) % 6 == 2
    assert 0 < placement.width < placement.height


def test_the_worker_is_kept(engine: LayoutEngine) -> None:
    assert engine.process_id is None
    engine.start()
    process = engine.process_id
    assert process is not None
    assert works(engine)
    assert works(engine)
    assert engine.process_id == process


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="tells what a process has loaded")
def test_a_worker_has_loaded_graphviz_before_it_is_asked(engine: LayoutEngine) -> None:
    pytest.importorskip("pygraphviz")
    engine.start()
    maps = Path(f"/proc/{engine.process_id}/maps")
    end = time.monotonic() + 60
    while "_graphviz" not in maps.read_text() and time.monotonic() < end:
        time.sleep(0.05)
    assert "_graphviz" in maps.read_text()


def test_a_slow_layout_is_stopped(engine: LayoutEngine) -> None:
    engine.start()
    first = engine.process_id
    started = time.monotonic()
    with pytest.raises(LayoutError, match="took too long"):
        engine.place(DENSE, 0.3)
    assert time.monotonic() - started < 30  # beside busy processes; the layout takes longer
    assert engine.process_id is None
    assert works(engine)
    assert engine.process_id != first


def test_a_layout_that_works_for_too_long_is_stopped(engine: LayoutEngine) -> None:
    engine.start()
    with pytest.raises(LayoutTimeoutError):
        engine.place(DENSE, 600, work=0.3)
    assert engine.process_id is None


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="tells what a process has worked")
def test_a_worker_that_gets_no_processor_is_waited_for(engine: LayoutEngine) -> None:
    assert works(engine)
    process = engine.process_id
    assert process is not None
    os.kill(process, signal.SIGSTOP)
    threading.Timer(2.0, os.kill, (process, signal.SIGCONT)).start()
    assert set(engine.place(SMALL, 60, work=0.5).nodes) == {"a", "b"}
    assert engine.process_id == process
    os.kill(process, signal.SIGSTOP)
    with pytest.raises(LayoutTimeoutError):  # not for ever
        engine.place(SMALL, 1.0, work=0.5)


def test_a_layout_can_be_cancelled(engine: LayoutEngine) -> None:
    asked = iter([None, None])

    def end_third(_what: str, _share: float | None) -> None:
        if next(asked, "over") == "over":
            raise Cancelled

    with pytest.raises(Cancelled), watched(end_third):
        engine.place(DENSE, 30)
    assert engine.process_id is None
    assert works(engine)


def test_a_killed_worker_is_replaced(engine: LayoutEngine) -> None:
    assert works(engine)
    process = engine.process_id
    assert process is not None
    os.kill(process, signal.SIGKILL)
    while engine.process_id is not None:
        time.sleep(0.01)
    assert works(engine)


def test_a_worker_killed_at_work_is_an_error(engine: LayoutEngine) -> None:
    engine.start()
    process = engine.process_id
    assert process is not None
    threading.Timer(0.3, os.kill, (process, signal.SIGKILL)).start()
    with pytest.raises(LayoutError, match=r"process (crashed|ended)"):
        engine.place(DENSE, 30)
    assert works(engine)


@pytest.mark.skipif(sys.platform != "linux", reason="others do not hold processes to such limits")
def test_a_layout_that_takes_too_much_memory_is_ended() -> None:
    engine = LayoutEngine(most_memory=64 * 2**20)
    names = [f"{letter}{number}" for letter in "ab" for number in range(400)]
    circle = "".join(
        f"a{number - 1 if number else 399}:s -> a{number}:n; b{number}:s -> a{number}:n [weight=1];"
        for number in range(400)
    )
    head = "nslimit=0 nslimit1=0 mclimit=0.3 edge [weight=4]"
    ends = "{rank=source; i} {rank=sink; o} i:s -> b0:n [weight=24]; a399:s -> o:n;"
    with pytest.raises(LayoutError, match="gave up, as it does where it needs more than 64 MB"):
        engine.place(f"digraph {{ {head} {';'.join(names)}; {ends} {circle} }}", 60)
    assert works(engine)
    engine.stop()


@pytest.mark.parametrize(
    "dot",
    [
        "",
        "no dot at all",
        "digraph {",
        "graph { a -- }",
        "digraph { a [label=<<b>] }",
        "\0",
        "é" * 9,
    ],
)
def test_text_that_is_no_graph(engine: LayoutEngine, dot: str) -> None:
    message = "Graphviz failed"
    try:
        engine.place(dot, 20)
    except LayoutError as error:
        message = str(error)
    assert "Graphviz failed" in message
    assert works(engine)


def test_a_large_request(engine: LayoutEngine) -> None:
    dot = "digraph {" + ";".join(f"n{number}" for number in range(5_000)) + "}"
    assert len(engine.place(dot, 60).nodes) == 5_000


def test_stopping_twice(engine: LayoutEngine) -> None:
    engine.start()
    engine.stop()
    engine.stop()
    assert works(engine)


def test_two_threads_share_a_worker(engine: LayoutEngine) -> None:
    found: list[bool] = []
    threads = [threading.Thread(target=lambda: found.append(works(engine))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 4


def test_the_shared_engine_is_one() -> None:
    assert shared_engine() is shared_engine()


def test_an_engine_that_nobody_stopped_ends_with_the_interpreter() -> None:
    """Threads that read from workers are held fast while the interpreter is taken apart."""
    script = """
from netloupe.explorer.layout import LayoutEngine

class Holder:
    def __init__(self):
        self.engine, self.me = LayoutEngine(), self

    def __del__(self):
        self.engine.stop()

holder = Holder()
holder.engine.place('digraph { a -> b [id="1"] }', 60)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")
