"""The script that compares what netloupe says before and after a change."""

from __future__ import annotations

import gzip
import json
import lzma
import subprocess
import sys
from pathlib import Path

import onnx

_SCRIPT = Path(__file__).resolve().parent.parent / "tools" / "compare_answers.py"
_TEXT = (
    '<ir_version: 10, opset_import: ["" : 20]> g (float[{size}] x) => (float[{size}] y) {{{op}}}'
)


def run(*given: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(_SCRIPT), *map(str, given)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def make(op: str, size: int = 4) -> bytes:
    return onnx.parser.parse_model(_TEXT.format(op=op, size=size)).SerializeToString()


def test_what_changed_is_told_of_each_model(tmp_path: Path) -> None:
    models = tmp_path / "models"
    models.mkdir()
    neg, packed = make("y = Neg(x)"), lzma.compress(make("y = Abs(x)"))
    (models / "neg.legacy.onnx").write_bytes(neg)
    (models / "neg.dynamo.onnx").write_bytes(make("y = Exp(x)"))
    (models / "abs.onnx.xz").write_bytes(packed)
    (models / "broken.onnx").write_bytes(b"no model")
    (models / "notes.md").write_text("no model either")
    before, again, after = (tmp_path / name for name in ("before.gz", "again.gz", "after.gz"))
    assert run("write", before, models).stderr == "4 models asked\n"
    with gzip.open(before, "rt") as lines:
        answers = {found["model"]: found for found in map(json.loads, lines)}
    assert set(answers) == {
        f"models/{name}.onnx" for name in ("abs", "broken", "neg.dynamo", "neg.legacy")
    }
    assert "Neg" in answers["models/neg.legacy.onnx"]["diff"]
    assert "Abs" in answers["models/abs.onnx"]["nodes"]
    assert answers["models/broken.onnx"].keys() == {"model", "load"}
    assert str(tmp_path) not in json.dumps(answers)

    run("write", again, models)
    told = run("compare", before, again)
    assert (told.returncode, told.stdout) == (
        0,
        "4 models as before, 1 of all refused; changed: nothing\n",
    )

    (models / "abs.onnx.xz").write_bytes(lzma.compress(make("y = Abs(x)", size=5)))
    (models / "new.onnx").write_bytes(neg)
    run("write", after, models)
    told = run("compare", before, after)
    assert told.returncode == 1
    printed = told.stdout.splitlines()
    assert printed[0] == f"models/new.onnx: only in {after}"
    assert "models/abs.onnx: info" in printed
    assert printed[-1].startswith("3 models as before, 1 of all refused; changed: ")
    assert "picture of 1" in printed[-1]
    assert not any(line.startswith("models/neg") for line in printed)


def test_models_that_are_called_the_same_are_each_asked(tmp_path: Path) -> None:
    given = []
    for folder, op in (("a", "Neg"), ("b", "Exp"), ("c", "Abs")):
        (tmp_path / folder).mkdir()
        path = tmp_path / folder / "model.onnx.xz"
        path.write_bytes(lzma.compress(make(f"y = {op}(x)")))
        given.append(path)
    out = tmp_path / "answers.gz"
    assert run("write", out, *given, "--tree", _SCRIPT.parents[1]).stderr == "3 models asked\n"
    with gzip.open(out, "rt") as lines:
        answers = {found["model"]: found["nodes"] for found in map(json.loads, lines)}
    assert sorted(answers) == ["model.onnx", "model.onnx (2)", "model.onnx (3)"]
    assert ["Exp" in told for told in answers.values()] == [False, True, False]
