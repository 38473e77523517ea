"""``netloupe audit`` prints what is quantized and how well, as text and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import pytest

from netloupe.commands.cli import main
from tests.audit.networks import Quantizer, make_cnn


@pytest.fixture
def models(tmp_path: Path) -> dict[str, str]:
    """Return the names of files with a float network, its int8 twin, and one with a wrong bias."""
    wrong = Quantizer()
    wrong.bias_factors = {"body": 4.0}
    files = {}
    for name, proto in (
        ("float", make_cnn()),
        ("int8", Quantizer().make()),
        ("wrong", wrong.make()),
    ):
        files[name] = str(tmp_path / f"{name}.onnx")
        onnx.save(proto, files[name])
    return files


def test_a_verdict_comes_first(models: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", models["int8"], "--float", models["float"]]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{models['int8']} beside {models['float']}"
    assert lines[1].startswith("3 quantized weights: QDQ int8 per channel (3), multiplied U8S8.")
    assert max(map(len, lines[1:6])) <= 100
    assert "Not checked" in lines
    assert any("SQNR dB ↑" in line for line in lines)


def test_a_defect_stands_before_numbers(
    models: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["audit", models["wrong"]]) == 0
    out = capsys.readouterr().out
    assert "Errors\n  NL-Q09 main/body/Conv: its bias is dequantized with" in out
    assert out.index("NL-Q09") < out.index("Codes of weights")
    assert "fidelity of weights: no float model was given (--float)" in out


def test_json_of_one_and_lines_of_several(
    models: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["audit", models["int8"], "--float", models["float"], "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["schema"] == 1
    assert told["tensors"][0]["sqnr_db"] > 40
    arguments = ["audit", models["int8"], models["wrong"], "--float", models["float"], "--json"]
    assert main(arguments) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [len(line["defects"]) for line in lines] == [0, 1]


def test_what_cannot_be_read_is_one_line(
    models: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["audit", models["int8"], "--float", "nothing.onnx"]) == 2
    error = capsys.readouterr().err
    assert len(error.splitlines()) == 1
    assert "nothing.onnx" in error
    assert main(["audit", models["int8"], "--bind", "nothing=3"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert main(["audit", "-", "--float", "-"]) == 2
    assert "only once" in capsys.readouterr().err
