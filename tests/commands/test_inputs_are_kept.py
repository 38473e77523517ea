"""No command writes over a file that it reads."""

from __future__ import annotations

import argparse
import gc
import os
import weakref
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import onnx.numpy_helper
import onnx.parser
import pytest

from netloupe.commands.arguments import make_parser
from netloupe.commands.cli import INPUT_FILES, main
from netloupe.commands.shared_arguments import read_file_name
from netloupe.explorer.files import inputs
from netloupe.explorer.files.output import write_file
from netloupe.explorer.readers.load import load
from netloupe.proto import caffe2_pb2

_TEXT = """
<ir_version: 10, opset_import: ["": 21]>
main (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Add (x, w) }
"""


@pytest.fixture(autouse=True)
def forget() -> Iterator[None]:
    yield
    inputs.stop_noting_inputs()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    data = onnx.parser.parse_model(_TEXT).SerializeToString()
    for name in ("m.onnx", "other.onnx", "m.svg", "m.html", "m.json"):
        (tmp_path / name).write_bytes(data)
    (tmp_path / "ms.csv").write_text("node,ms\nmain/#0:Add,1\n")
    (tmp_path / "m.onnx.notes.jsonl").write_text("")
    (tmp_path / "link.html").symlink_to("m.html")
    os.link(tmp_path / "m.html", tmp_path / "hard.html")
    monkeypatch.chdir(tmp_path)
    return tmp_path


WRITING = {
    "model": "render m.svg -o m.svg",
    "by another way": "render m.html -o ./../{name}/m.html",
    "through a link": "render m.html -o link.html",
    "read through a link": "render link.html -o m.html",
    "by another name": "render m.html -o hard.html",
    "init": "render m.onnx --init m.html -o m.html",
    "float": "render m.onnx --float m.html --color-by sqnr -o m.html",
    "numbers": "render m.onnx --color-by ms.csv -o ms.csv --format svg",
    "one of several numbers": "render m.onnx --color-by ms.csv:ms -o ms.csv --format svg",
    "left": "diff m.json other.onnx -o m.json",
    "right": "diff other.onnx m.json -o m.json",
    "against": "report m.onnx --against m.html -o m.html",
    "twin": "report m.onnx --float m.html -o m.html",
    "reported": "report m.html -o m.html",
    "notes": "render m.onnx -o m.onnx.notes.jsonl --format svg",
    "several": "render m.svg other.onnx -o . --format svg",
}


@pytest.mark.parametrize("what", WRITING)
def test_an_input_is_not_written_over(
    what: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    words = WRITING[what].format(name=folder.name).split()
    assert main(words) == 2
    assert "is read by this command" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_both_names_are_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["render", "m.html", "-o", "link.html"]) == 2
    assert "link.html: is read by this command, which is m.html" in capsys.readouterr().err


def test_an_output_of_before_is_written_again(folder: Path) -> None:
    for _ in range(2):
        assert main(["diff", "m.onnx", "other.onnx", "-o", "found.json"]) == 0


def test_every_argument_that_is_read_is_noted() -> None:
    found = set()
    pending = [make_parser()]
    while pending:
        for action in pending.pop()._actions:
            if isinstance(action, argparse._SubParsersAction):
                pending += action.choices.values()
            elif action.type is read_file_name:
                found.add(action.dest)
    assert found - {"output", "log", "save_figure"} <= set(INPUT_FILES)
    assert {"models", "init", "against", "twin", "baseline", "other"} <= found


@pytest.mark.parametrize(
    "words",
    [
        "render m.onnx -o w.bin --format svg",
        "diff plain.onnx m.onnx -o w.bin --format md",
        "diff m.onnx plain.onnx -o w.bin --format md",
    ],
)
def test_external_data_is_not_written_over(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    model = onnx.parser.parse_model(_TEXT)
    onnx.save(model, "plain.onnx")
    weight = np.array([1, 2], np.float32)  # only raw data goes to another file
    model.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(weight, "w"))
    onnx.save(model, "m.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    before = (tmp_path / "w.bin").read_bytes()
    assert main(words.split()) == 2
    assert "w.bin: is read by this command" in capsys.readouterr().err
    assert (tmp_path / "w.bin").read_bytes() == before


def test_an_init_net_that_is_found_is_not_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    net = caffe2_pb2.NetDef(name="net", external_input=["x"], external_output=["y"])
    net.op.add(type="Relu", input=["x"], output=["y"])
    init = caffe2_pb2.NetDef(name="init")
    init.op.add(type="ConstantFill", output=["w"]).arg.add(name="shape", ints=[1])
    Path("predict_net.pb").write_bytes(net.SerializeToString())
    Path("init_net.pb").write_bytes(init.SerializeToString())
    assert main(["render", "predict_net.pb", "-o", "init_net.pb", "--format", "svg"]) == 2
    assert "init_net.pb: is read by this command" in capsys.readouterr().err
    assert Path("init_net.pb").read_bytes() == init.SerializeToString()


def test_what_was_read_keeps_no_model_but_the_last(folder: Path) -> None:
    inputs.start_noting_inputs()
    models = [weakref.ref(load("m.onnx")) for _ in range(3)]
    gc.collect()
    assert [model() is not None for model in models] == [False, False, True]
    inputs.stop_noting_inputs()
    gc.collect()
    assert models[-1]() is None


def test_after_a_command_nothing_is_noted(folder: Path) -> None:
    assert main(["info", "m.onnx"]) == 0
    model = weakref.ref(load("m.onnx"))
    gc.collect()
    assert model() is None


def test_nothing_is_noted_outside_of_commands(tmp_path: Path) -> None:
    path = tmp_path / "again.csv"
    path.write_text("node,ms\n")
    inputs.note_input(path)
    write_file(path, b"node,s\n")
