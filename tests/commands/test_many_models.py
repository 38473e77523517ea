"""Folders and patterns of models, several processes, and tables of all of them."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import onnx
import pytest

from netloupe.commands.cli import main
from netloupe.commands.jobs import do_jobs
from netloupe.commands.operands import expand_operands
from netloupe.explorer.errors import OutputError
from netloupe.explorer.readers.folder import find_models
from tests.corpus import corpus_file

_DEAD = (
    '<ir_version: 10, opset_import: ["": 21]> '
    "g (float[N] x) => (float[N] y) { a = Abs(x) y = Relu(x) }"
)


@pytest.fixture
def zoo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with models, parts of models, and what is none."""
    (tmp_path / "deep" / "deeper").mkdir(parents=True)
    (tmp_path / ".hidden").mkdir()
    data = onnx.parser.parse_model(_DEAD).SerializeToString()
    for name in ("b.onnx", "deep/a.onnx", "deep/deeper/no_ending", ".hidden/h.onnx", ".h.onnx"):
        (tmp_path / name).write_bytes(data)
    (tmp_path / "deep" / "cut.onnx").write_bytes(data[: len(data) // 2])
    for name in ("predict_net.pb", "init_net.pb"):
        made = corpus_file(f"caffe2/mobilenet_int8/{name}")
        shutil.copy(made, tmp_path / "deep" / name)
    tensor = onnx.numpy_helper.from_array(onnx.numpy_helper.np.ones(3, "float32"), "t")
    (tmp_path / "deep" / "input_0.pb").write_bytes(tensor.SerializeToString())
    (tmp_path / "README.md").write_text("# Models\n\nname: these\n")
    (tmp_path / "package.json").write_text('{"name": "a", "op": [], "version": "1"}')
    (tmp_path / "weights.bin").write_bytes(bytes(range(256)) * 64)
    os.mkfifo(tmp_path / "fifo")
    monkeypatch.chdir(tmp_path)
    return tmp_path


_FOUND = ["b.onnx", "deep/a.onnx", "deep/cut.onnx", "deep/predict_net.pb", "deep/deeper/no_ending"]


def test_the_models_of_a_folder(zoo: Path) -> None:
    assert [str(path.relative_to(zoo)) for path in find_models(zoo)] == _FOUND


def test_folders_that_lead_into_themselves(zoo: Path) -> None:
    (zoo / "deep" / "round").symlink_to(zoo, target_is_directory=True)
    assert len(find_models(zoo)) == len(_FOUND)


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (["."], _FOUND),
        (["deep/deeper", "b.onnx", "./deep/deeper"], ["deep/deeper/no_ending", "b.onnx"]),
        (["*.onnx"], ["b.onnx"]),
        (["**/*.onnx"], ["b.onnx", "deep/a.onnx", "deep/cut.onnx"]),
        (["d*p"], ["deep/a.onnx", "deep/cut.onnx", "deep/predict_net.pb", "deep/deeper/no_ending"]),
        (["gone.onnx", "-"], ["gone.onnx", "-"]),
        (["b.onnx", "[ab].onnx"], ["b.onnx"]),
    ],
)
def test_operands(zoo: Path, given: list[str], found: list[str]) -> None:
    assert expand_operands(given) == found


def test_a_file_whose_name_looks_like_a_pattern(zoo: Path) -> None:
    (zoo / "[b].onnx").write_bytes((zoo / "b.onnx").read_bytes())
    assert expand_operands(["[b].onnx"]) == ["[b].onnx"]


@pytest.mark.parametrize("given", ["*.pt", ".hidden/none"])
def test_operands_that_stand_for_nothing(zoo: Path, given: str) -> None:
    (zoo / ".hidden" / "none").mkdir()
    with pytest.raises(OutputError, match=r"no file fits|no model is in"):
        expand_operands([given])


def read_table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_info_of_a_folder_is_a_table(
    zoo: Path, capsys: pytest.CaptureFixture[str], jobs: str
) -> None:
    assert main(["info", ".", "--csv", "--jobs", jobs]) == 2
    out, err = capsys.readouterr()
    rows = read_table(out)
    assert [row["model"] for row in rows] == _FOUND
    assert [bool(row["error"]) for row in rows] == [False, False, True, False, False]
    assert rows[0] | {"nodes": "2", "opsets": "ai.onnx=21", "inputs": "x float32[N]"} == rows[0]
    assert rows[3]["format"] == "Caffe2"
    assert int(rows[3]["parameters"]) > 0  # its init net is read with it
    assert err.count("\n") == 1
    assert "deep/cut.onnx" in err


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_check_of_a_folder(zoo: Path, capsys: pytest.CaptureFixture[str], jobs: str) -> None:
    assert main(["check", ".", "--csv", "--jobs", jobs]) == 2
    rows = read_table(capsys.readouterr().out)
    assert list(dict.fromkeys(row["model"] for row in rows)) == _FOUND
    assert [row["id"] for row in rows if row["model"] == "b.onnx"] == ["NL-G01"]
    assert main(["check", ".", "--json", "--jobs", jobs]) == 2
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["source"] for line in lines] == _FOUND
    assert ["error" in line for line in lines] == [False, False, True, False, False]
    assert main(["check", "b.onnx", "deep/deeper", "--fail-on", "warning", "--jobs", jobs]) == 1


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_audit_of_a_folder(zoo: Path, capsys: pytest.CaptureFixture[str], jobs: str) -> None:
    assert main(["audit", ".", "--csv", "--jobs", jobs]) == 2
    rows = read_table(capsys.readouterr().out)
    assert [row["model"] for row in rows] == _FOUND
    assert [bool(row["error"]) for row in rows] == [False, False, True, False, False]
    assert [row["quantized_weights"] for row in rows if row["verdict"]] == ["0", "0", "25", "0"]
    assert main(["audit", ".", "--json", "--jobs", jobs]) == 2
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["source"] for line in lines] == _FOUND
    assert ["error" in line for line in lines] == [False, False, True, False, False]


def test_sarif_of_a_folder_in_two_processes(zoo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", ".", "--sarif", "--jobs", "2"]) == 2
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    places = [r["locations"][0]["physicalLocation"]["artifactLocation"] for r in run["results"]]
    assert {place["uri"] for place in places} >= {"b.onnx", "deep/a.onnx"}
    notes = run["invocations"][0]["toolExecutionNotifications"]
    assert any("deep/cut.onnx" in note["message"]["text"] for note in notes)


def test_what_is_known_of_many_is_a_baseline(zoo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", ".", "--json"])
    (zoo / "known.json").write_text(capsys.readouterr().out)
    words = ["--baseline", "known.json", "--fail-on", "warning"]
    assert main(["check", "b.onnx", *words]) == 0
    (zoo / "new.onnx").write_bytes((zoo / "b.onnx").read_bytes())
    assert main(["check", "new.onnx", *words]) == 1
    assert main(["check", "b.onnx", "new.onnx", *words]) == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["info", ".", "--csv", "--json"], "--csv prints a table"),
        (["info", ".", "--jobs", "0"], "'0' is no number of processes"),
        (["check", ".", "--jobs", "many"], "'many' is no number of processes"),
        (["check", ".", "--select", "NL-ZZ", "--jobs", "2"], "no rule is called 'NL-ZZ'"),
        (["check", "nothing/*.onnx"], "nothing/*.onnx: no file fits"),
    ],
)
def test_mistakes_are_one_line(
    zoo: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    try:
        status: object = main(words)
    except SystemExit as ended:
        status = ended.code
    assert status == 2
    out, err = capsys.readouterr()
    assert message in err
    assert err.count("\n") == 1
    assert not out


def test_cells_that_a_table_program_would_compute(
    zoo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (zoo / "=cmd()\n,x.onnx").write_bytes((zoo / "b.onnx").read_bytes())
    main(["info", "=*.onnx", "--csv"])
    (row,) = read_table(capsys.readouterr().out)
    assert row["model"].startswith("'=cmd()")
    assert "\n" not in row["model"]


# processes


class Work:
    """Ends its process for some names."""

    def __call__(self, name: str) -> str:
        if name.startswith("die"):
            os.kill(os.getpid(), signal.SIGKILL)
        if name.startswith("leave"):
            os._exit(3)
        if name.startswith("raise"):
            raise ValueError("who knows")
        if name.startswith("print"):
            print("among the frames")
        if name.startswith("slow"):
            time.sleep(0.3)
        if name.startswith("hang"):
            time.sleep(600)
        return name.upper()


def _import_by_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    root = Path(__file__).resolve().parents[2]
    monkeypatch.setenv("PYTHONPATH", str(root))


def test_workers_that_die_cost_their_model(monkeypatch: pytest.MonkeyPatch) -> None:
    _import_by_workers(monkeypatch)
    names = ["slow", "die", "a", "leave", "raise", "print", *(f"b{n}" for n in range(40))]
    outcomes = list(do_jobs(names, Work(), jobs=2))
    assert [outcome.value for outcome in outcomes if outcome.value] == [
        name.upper() for name in names if not name.startswith(("die", "leave", "raise"))
    ]
    assert "was killed, perhaps because memory ran out" in outcomes[1].error
    assert "has ended with status 3" in outcomes[3].error
    assert "internal error (ValueError: who knows)" in outcomes[4].error


def test_workers_end_when_nobody_waits_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    _import_by_workers(monkeypatch)
    begin = time.monotonic()
    outcomes = do_jobs(["a", "hang", "hang2", "b"], Work(), jobs=3)
    assert next(outcomes).value == "A"
    outcomes.close()
    assert time.monotonic() - begin < 60


def test_ctrl_c_ends_all_processes(zoo: Path) -> None:
    for number in range(4_000):  # far more than are done before the signal is there
        (zoo / f"c{number}.onnx").hardlink_to(zoo / "b.onnx")
    command = [sys.executable, "-m", "netloupe", "check", ".", "--jobs", "2", "--json"]
    root = Path(__file__).resolve().parents[2]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(root)},
        preexec_fn=_heed_interrupts,
    )
    assert process.stdout is not None
    assert process.stdout.readline()
    children = _list_children(process.pid)
    assert children
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (130, b"")
    for child in children:
        assert not _is_running(child)


def _heed_interrupts() -> None:
    """Let Ctrl+C end what is started, also where tests run in the background of a shell."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _list_children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


def _is_running(pid: int) -> bool:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return False
        if state == "Z":
            return False
        time.sleep(0.05)
    return True
