"""What is found out about models goes through pickles, so that clusters find it out."""

from __future__ import annotations

import importlib.util
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import netloupe
from netloupe.commands.info import summarize_model
from netloupe.explorer.checks import RULES
from netloupe.explorer.errors import CopyError
from tests.test_examples import ROOT, read_blocks

_MODELS = ROOT / "demo_notebooks" / "models"


@pytest.fixture(scope="module")
def model() -> netloupe.Model:
    return netloupe.load(_MODELS / "digits_cnn.qdq.onnx")


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_results_pickle(model: netloupe.Model, protocol: int) -> None:
    results = [
        netloupe.check(model),
        netloupe.audit(model),
        summarize_model(model),
        model.costs(),
        model.totals,
        model.architecture,
    ]
    for result in results:
        again = pickle.loads(pickle.dumps(result, protocol))
        assert type(again) is type(result)
        assert again == result


def test_what_differs_pickles_as_plain_data(model: netloupe.Model) -> None:
    found = netloupe.diff(model, netloupe.load(_MODELS / "digits_cnn.onnx"))
    told = found.to_dict()
    assert pickle.loads(pickle.dumps(told)) == told
    assert told["verdict"] == found.verdict
    with pytest.raises(CopyError, match=r"diff\.to_dict\(\)"):
        pickle.dumps(found)


def test_rules_pickle() -> None:
    assert pickle.loads(pickle.dumps(RULES)) == RULES


def test_what_is_unpickled_cannot_be_changed_either(model: netloupe.Model) -> None:
    again = pickle.loads(pickle.dumps(model.architecture))
    with pytest.raises(TypeError):
        again.facts["parameters"] = 0


def test_the_example_for_a_cluster_runs(tmp_path: Path) -> None:
    if importlib.util.find_spec("distributed") is None:
        message = "distributed is not installed; `pip install distributed` provides it"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    (code,) = read_blocks(ROOT / "docs" / "many_models.md")
    script = tmp_path / "zoo.py"
    script.write_text(code, "utf-8")
    (tmp_path / "models").mkdir()
    shutil.copy(_MODELS / "digits_cnn.onnx", tmp_path / "models" / "a.onnx")
    shutil.copy(_MODELS / "digits_cnn.retrained.onnx", tmp_path / "models" / "b.onnx")
    (tmp_path / "models" / "c.onnx").write_bytes(b"")
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "120s",
        },
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    first, second, third, last = done.stdout.splitlines()
    assert first == "models/a.onnx <Findings: nothing found>"
    assert second == "models/b.onnx <Findings: nothing found>"
    assert third == "models/c.onnx models/c.onnx: the file is empty. Export or download it again."
    a, b = (netloupe.load(tmp_path / "models" / f"{name}.onnx") for name in "ab")
    assert last == netloupe.diff(a, b).to_dict()["summary"]
