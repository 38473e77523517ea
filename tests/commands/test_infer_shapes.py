"""``--infer-shapes`` of ``info`` and ``inspect``."""

from __future__ import annotations

import json
from pathlib import Path

import onnx.parser
import pytest

from netloupe.commands.cli import main
from netloupe.explorer.inference import infer

TEXT = """<ir_version: 8, opset_import: ["": 17]>
g (float[N, 2] x) => (y) { [relu] r = Relu (x) [neg] y = Neg (r) }"""


@pytest.fixture
def model(tmp_path: Path) -> str:
    path = tmp_path / "model.onnx"
    path.write_bytes(onnx.parser.parse_model(TEXT).SerializeToString())
    return str(path)


def test_inspect_tells_types_and_that_the_file_does_not_state_them(
    model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["inspect", model, "%r"]) == 0
    text = capsys.readouterr().out
    assert "type unknown  (the file states none: inferring shapes may" in text
    assert main(["inspect", model, "%r", "--infer-shapes"]) == 0
    assert "float32[N, 2]  (inferred: the file states none)" in capsys.readouterr().out
    assert main(["inspect", model, "relu", "--infer-shapes", "--json"]) == 0
    (output,) = json.loads(capsys.readouterr().out)["outputs"]
    assert output["type"] is None
    assert output["inferred_type"] == {"kind": "tensor", "dtype": "float32", "shape": ["N", 2]}


def test_info_tells_the_types_of_outputs(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", model, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["outputs"] == [{"name": "y", "type": ""}]
    assert main(["info", model, "--json", "--infer-shapes"]) == 0
    told = json.loads(capsys.readouterr().out)["outputs"]
    assert told == [{"name": "y", "type": "float32[N, 2]"}]


def test_without_onnx_one_line_says_how_to_get_it(
    model: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(infer, "is_installed", lambda: False)
    assert main(["info", model, "--infer-shapes"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"netloupe: error: {model}: shapes are inferred by onnx")
    assert "pip install onnx" in line
