"""``netloupe diff`` tells what differs, as text and as JSON, and ends as it is asked to."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import pytest

from netloupe.commands.cli import main
from tests.compare.test_difference import make_model, rename, retrain


@pytest.fixture
def models(tmp_path: Path) -> dict[str, str]:
    """Return the names of files with a network as it was, renamed, retrained and changed."""

    def widen(model: onnx.ModelProto) -> None:
        rename(model)
        retrain(model)
        model.graph.node[0].attribute[0].ints[:] = [1, 1, 1, 2]
        del model.graph.output[0].type.tensor_type.shape.dim[0]

    files = {}
    for name, edit in (("old", None), ("renamed", rename), ("retrained", retrain), ("new", widen)):
        files[name] = str(tmp_path / f"{name}.onnx")
        onnx.save(make_model(edit), files[name])
    return files


def test_a_verdict_comes_first(models: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", models["old"], models["old"]]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:] == [
        "The models are identical.",
        "Inputs and outputs are compatible: a drop-in replacement.",
    ]
    assert main(["diff", models["old"], models["renamed"]]) == 0
    assert "identical but for names." in capsys.readouterr().out
    assert main(["diff", models["old"], models["renamed"], "--ignore", "names"]) == 0
    assert "The models are identical." in capsys.readouterr().out


def test_what_changed_is_listed(models: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", models["old"], models["new"]]) == 0
    out = capsys.readouterr().out
    assert "The models differ: 2 nodes changed, 1 weight changed, other inputs or outputs." in out
    assert "no drop-in replacement" in out
    assert "main/conv: attribute pads [1, 1, 1, 1] -> [1, 1, 1, 2]" in out
    assert "4 nodes: other names" in out
    assert "main/%w: 0.926 % of 108 numbers changed, largest difference 0.5" in out


def test_what_changed_beside_nodes_is_in_the_verdict(
    tmp_path: Path, models: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    def rename_input(model: onnx.ModelProto) -> None:
        model.graph.input[0].name = model.graph.node[0].input[0] = "data"

    def raise_opset(model: onnx.ModelProto) -> None:
        model.opset_import[0].version += 1

    def turn(model: onnx.ModelProto) -> None:
        model.graph.initializer[1].dims[:] = [4, 2, 1, 1]

    for edit, told in (
        (rename_input, "other inputs or outputs"),
        (raise_opset, "other versions or operator sets"),
        (turn, "1 weight changed"),
    ):
        path = tmp_path / "edited.onnx"
        onnx.save(make_model(edit), path)
        assert main(["diff", models["old"], str(path)]) == 0
        assert f"The models differ: {told}.\n" in capsys.readouterr().out


def test_json_has_everything(models: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", models["old"], models["new"], "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["schema"], told["verdict"], told["identical"]) == (1, "structure", False)
    assert not told["interface"]["compatible"]
    assert told["nodes"]["paired"] == 4
    changed = {one["a"][0]: one for one in told["nodes"]["changed"]}
    assert changed["main/conv"]["b"] == ["main/new_conv"]
    assert {
        "what": "attribute pads",
        "left": "[1, 1, 1, 1]",
        "right": "[1, 1, 1, 2]",
        "aspect": None,
    } in changed["main/conv"]["what"]
    assert told["tensors"]["equal"] == 1
    assert told["tensors"]["changed"][0]["numbers"]["changed"] == 1


@pytest.mark.parametrize(
    ("other", "fail_on", "status"),
    [
        ("old", "structure", 0),
        ("renamed", "structure", 0),
        ("retrained", "structure", 0),
        ("new", "structure", 1),
        ("retrained", "interface", 0),
        ("new", "interface", 1),
        ("renamed", "weights", 0),
        ("retrained", "weights", 1),
        ("retrained", "weights:1e-3", 1),
        ("retrained", "weights:0.5", 0),
    ],
)
def test_it_fails_where_it_is_asked_to(
    models: dict[str, str], other: str, fail_on: str, status: int
) -> None:
    assert main(["diff", models["old"], models[other], "--fail-on", fail_on]) == status


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--fail-on", "everything"], "'everything' is none of structure, interface, weights"),
        (["--fail-on", "weights:-1"], "'weights:-1' is none of"),
        (["--fail-on", "structure:3"], "'structure:3' is none of"),
        (["--ignore", "names,layout"], "'layout' is none of names, docs, storage"),
    ],
)
def test_what_nobody_understands_is_said(
    models: dict[str, str],
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    with pytest.raises(SystemExit) as ending:
        main(["diff", models["old"], models["new"], *arguments])
    assert ending.value.code == 2
    assert message in capsys.readouterr().err


def test_a_file_that_is_not_there(
    models: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", models["old"], "missing.onnx"]) == 2
    assert "missing.onnx" in capsys.readouterr().err
