"""Inference in a process of its own: whatever it does, who waits survives, and it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import onnx
import onnx.parser
import pytest

from netloupe.explorer.errors import InferenceError
from netloupe.explorer.inference import infer, infer_shapes, process
from netloupe.explorer.model import Model
from netloupe.explorer.progress import Cancelled, watched
from netloupe.explorer.readers.load import load
from tests.corpus import corpus_file
from tests.onnx_text import load_text

SECONDS = 60.0


@pytest.fixture
def model() -> Model:
    return load_text("g (float[2] x) => (y) { r = Relu (x) y = Neg (r) }")


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[subprocess.Popen[bytes]]]:
    """All workers that are started; none of them runs at the end."""
    started: list[subprocess.Popen[bytes]] = []
    start = subprocess.Popen

    def note(*given: object, **options: object) -> subprocess.Popen[bytes]:
        started.append(start(*given, **options))
        return started[-1]

    process.end_idle()
    monkeypatch.setattr(process.subprocess, "Popen", note)
    yield started
    process.end_idle()
    assert started
    assert all(worker.returncode is not None for worker in started)


def use(monkeypatch: pytest.MonkeyPatch, folder: Path, script: str) -> None:
    """Let another script be the worker."""
    path = folder / "worker.py"
    path.write_text(script)
    monkeypatch.setattr(process, "_WORKER", path)


WAITING = "import sys, time; sys.stdin.buffer.read(); time.sleep(600)"


def test_a_worker_that_takes_too_long_is_ended(
    model: Model,
    workers: list[subprocess.Popen[bytes]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    use(monkeypatch, tmp_path, WAITING)
    with pytest.raises(InferenceError, match=r"longer than 0\.2 s .* infer_shapes\(timeout"):
        model.infer_shapes(timeout=0.2)
    assert model.value("y").inferred_type is None


def test_a_worker_that_does_not_read_is_ended_too(
    workers: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    use(monkeypatch, tmp_path, "import time; time.sleep(600)")
    assert process.run_worker(bytes(2**22), 0.2).is_late


def test_a_worker_that_is_killed_leaves_the_model_as_it_was(
    model: Model,
    workers: list[subprocess.Popen[bytes]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    use(monkeypatch, tmp_path, f"import os, signal; os.kill(os.getpid(), {signal.SIGTERM:d})")
    with pytest.raises(InferenceError, match="crashed or ran out of memory"):
        model.infer_shapes()
    monkeypatch.undo()
    model.infer_shapes()  # another try succeeds
    assert str(model.value("y").inferred_type) == "float32[2]"


@pytest.mark.parametrize("end", [KeyboardInterrupt, Cancelled])
def test_who_waits_can_end_it(
    end: type[BaseException],
    model: Model,
    workers: list[subprocess.Popen[bytes]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    use(monkeypatch, tmp_path, WAITING)

    def watch(what: str, share: float | None) -> None:
        if workers:
            raise end

    with pytest.raises(end), watched(watch):
        model.infer_shapes()


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_an_interrupt_ends_it_though_nobody_watches(
    model: Model,
    workers: list[subprocess.Popen[bytes]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    use(monkeypatch, tmp_path, WAITING)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    waiting = threading.Event()
    monkeypatch.setattr(process, "step", lambda _what: workers and waiting.set())

    def interrupt() -> None:
        waiting.wait(SECONDS)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    try:
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            model.infer_shapes()
    finally:
        thread.join()
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(
    "said",
    [b"", b"G\0\0\0\x05ab", b"M\0\0", b"\xff" * 100, b"G\0\0\0\x02\xff\xffM\0\0\0\0D\0\0\0\0"],
)
def test_answers_that_are_cut_short_or_wrong_are_refused(
    said: bytes, model: Model, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    use(monkeypatch, tmp_path, f"import sys; sys.stdout.buffer.write({said!r})")
    with pytest.raises(InferenceError):
        model.infer_shapes()
    assert model.value("y").inferred_type is None


def test_a_worker_that_ends_within_functions_has_told_of_the_main_graph(
    model: Model, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    graph = onnx.GraphProto(name="0")
    graph.value_info.add(name="y").type.tensor_type.elem_type = 1
    content = graph.SerializeToString()
    said = b"V\0\0\0\x011G" + len(content).to_bytes(4, "big") + content + b"M\0\0\0\0G\0"
    use(monkeypatch, tmp_path, f"import sys; sys.stdout.buffer.write({said!r})")
    inference = infer_shapes(model)
    assert str(model.value("y").inferred_type) == "float32"
    assert "functions" in inference.problem


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    worker = process._WORKER.read_text()
    greedy = worker.replace('    send("V"', '    hoard = bytearray(2**34)\n    send("V"')
    assert greedy != worker
    use(monkeypatch, tmp_path, greedy)
    answer = process.run_worker(b"", SECONDS)
    assert not answer.version
    assert not answer.is_late


def test_one_worker_answers_one_model_after_the_other(
    workers: list[subprocess.Popen[bytes]],
) -> None:
    for dtype in ("float", "int8", "bool"):
        model = load_text(f"g ({dtype}[2] x) => (y) {{ y = Identity (x) }}")
        model.infer_shapes()
        assert model.value("y").inferred_type == model.value("x").type
    assert len(workers) == 1


def test_after_a_crash_another_one_is_asked(
    model: Model,
    workers: list[subprocess.Popen[bytes]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    worker = process._WORKER.read_text()
    crashing = worker.replace(
        '    send("V"', '    if b"boom" in data:\n        os.abort()\n    send("V"'
    )
    assert crashing != worker
    use(monkeypatch, tmp_path, crashing)
    with pytest.raises(InferenceError, match="crashed"):
        load_text("g (float[boom] x) => (y) { y = Relu (x) }").infer_shapes()
    model.infer_shapes()
    assert str(model.value("y").inferred_type) == "float32[2]"
    assert len(workers) == 2


def test_a_worker_is_kept_after_what_is_small(
    model: Model, workers: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "_MOST_KEPT_BYTES", 10)
    model.infer_shapes()
    assert [worker.returncode is None for worker in workers] == [False]
    monkeypatch.setattr(process, "_MOST_KEPT_BYTES", 2**20)
    assert process.run_worker(b"no model", SECONDS).error  # refused, and nothing the matter
    model = load_text("g (float[2] x) => (y) { y = Relu (x) }")
    model.infer_shapes()
    assert [worker.returncode is None for worker in workers] == [False, True]


def test_a_worker_that_lacked_memory_is_not_kept(
    model: Model,
    workers: list[subprocess.Popen[bytes]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    worker = process._WORKER.read_text()
    greedy = worker.replace(
        '    send("V", onnx.__version__.encode())\n    try:\n',
        '    send("V", b"1")\n    try:\n        if b"boom" in data: raise MemoryError\n',
    )
    assert greedy != worker
    use(monkeypatch, tmp_path, greedy)
    assert process.run_worker(b"boom", SECONDS).error == "MemoryError: "
    assert workers[0].wait(SECONDS) == 0
    model.infer_shapes()
    assert len(workers) == 2


@pytest.mark.skipif(os.name != "posix", reason="waits for pipes")
def test_a_worker_that_nobody_asks_ends(
    workers: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    worker = process._WORKER.read_text()
    hasty = worker.replace("IDLE_SECONDS = 60.0", "IDLE_SECONDS = 0.0")
    assert hasty != worker
    use(monkeypatch, tmp_path, hasty)
    for count in (1, 2):
        load_text("g (float[2] x) => (y) { y = Relu (x) }").infer_shapes()
        assert len(workers) == count
        assert workers[-1].wait(SECONDS) == 0


def test_who_asks_at_the_same_time_has_a_worker_of_its_own(
    model: Model, workers: list[subprocess.Popen[bytes]]
) -> None:
    asked = []

    def ask_within(what: str, share: float | None) -> None:
        if workers and not asked:
            asked.append(True)
            load_text("g (float[3] x) => (y) { y = Relu (x) }").infer_shapes()

    with watched(ask_within):
        model.infer_shapes()
    assert str(model.value("y").inferred_type) == "float32[2]"
    assert len(workers) == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_forked_process_has_a_worker_of_its_own(
    model: Model, workers: list[subprocess.Popen[bytes]]
) -> None:
    model.infer_shapes()
    again = load_text("g (int8[2] x) => (y) { y = Identity (x) }")
    child = os.fork()
    if not child:
        try:
            infer_shapes(again)
            process.end_idle()
            is_right = len(workers) == 2 and str(again.value("y").inferred_type) == "int8[2]"
            os._exit(0 if is_right else 3)
        finally:
            os._exit(4)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    infer_shapes(again)  # the parent's is as it was
    assert len(workers) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="other systems bound less")
def test_functions_that_grow_without_end_are_stopped(
    workers: list[subprocess.Popen[bytes]],
) -> None:
    calls = "".join(
        f'<domain: "local", opset_import: ["": 21, "local": 1]> '
        f"f{n} (x) => (y) {{ a = local.f{n - 1} (x) y = local.f{n - 1} (a) }}\n"
        for n in range(1, 60)
    )
    model = load_text(
        '<ir_version: 10, opset_import: ["": 21, "local": 1]>\n'
        "g (float[2] x) => (y) { y = local.f59 (x) }\n"
        '<domain: "local", opset_import: ["": 21]> f0 (x) => (y) { y = Relu (x) }\n' + calls
    )
    with pytest.raises(InferenceError, match="longer than 4 s"):
        model.infer_shapes(timeout=4)


HOSTILE = (
    "cycle_scc_dense",
    "dims_overflow_zero",
    "dtype_neg",
    "empty_subgraph",
    "evil_names",
    "func_overload",
    "input_is_init_is_output",
    "nested_if_200",
    "raw_odd_length",
    "subgraph_shadow",
)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_models_are_inferred_as_far_as_they_go(name: str) -> None:
    model = load(corpus_file(f"hostile/{name}.onnx"))
    inference = infer_shapes(model)
    assert inference.version
    for warning in inference.warnings:
        assert warning in model.warnings_at(warning.path)


def test_without_onnx_it_says_how_to_get_it(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(infer, "is_installed", lambda: False)
    with pytest.raises(InferenceError, match=r"pip install onnx"):
        model.infer_shapes()


def test_an_onnx_that_cannot_be_imported_is_named(
    model: Model, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "onnx.py").write_text("raise OSError('no such library')")
    use(monkeypatch, tmp_path, process._WORKER.read_text())
    with pytest.raises(InferenceError, match=r"cannot be imported \(OSError: no such library\)"):
        model.infer_shapes()


def test_caffe2_models_are_refused_in_words() -> None:
    with pytest.raises(InferenceError, match="is no ONNX model"):
        load(corpus_file("caffe2/control/predict_net.pb")).infer_shapes()
