"""``netloupe diff`` tells what differs, as text and as JSON, and ends as it is asked to."""

from __future__ import annotations

import itertools
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
        "Same inputs and outputs.",
        (
            "Nodes: kept 4 · changed 0 · added 0 · removed 0; "
            "weights: equal 2 · changed 0 · added 0 · removed 0"
        ),
    ]
    assert main(["diff", models["old"], models["renamed"]]) == 0
    assert "identical but for names." in capsys.readouterr().out
    assert main(["diff", models["old"], models["renamed"], "--ignore", "names"]) == 0
    assert "The models are identical." in capsys.readouterr().out


def test_what_changed_is_listed(models: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", models["old"], models["new"]]) == 0
    out = capsys.readouterr().out
    assert "The models differ: other inputs or outputs: " in out
    assert "Conv: attribute pads [1, 1, 1, 1] → [1, 1, 1, 2]" in out
    assert "Inputs or outputs are not compatible" in out
    assert "main/conv: attribute pads [1, 1, 1, 1] → [1, 1, 1, 2]" in out
    assert "names: 4 nodes" in out
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
        (rename_input, "other inputs or outputs: "),
        (raise_opset, "opset of ai.onnx "),
        (turn, "1 weight of 1 convolution of other dims"),
    ):
        path = tmp_path / "edited.onnx"
        onnx.save(make_model(edit), path)
        assert main(["diff", models["old"], str(path)]) == 0
        assert f"The models differ: {told}" in capsys.readouterr().out


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
    "kinds", [*itertools.permutations(["structure", "interface", "weights:1e-3"])]
)
@pytest.mark.parametrize("is_joined", [False, True])
@pytest.mark.parametrize(("other", "status"), [("old", 0), ("renamed", 0), ("retrained", 1)])
def test_it_fails_where_one_of_several_things_that_are_asked_for_differs(
    models: dict[str, str], kinds: tuple[str, ...], is_joined: bool, other: str, status: int
) -> None:
    given = ["--fail-on", ",".join(kinds)] if is_joined else []
    for kind in () if is_joined else kinds:
        given += ["--fail-on", kind]
    assert main(["diff", models["old"], models[other], *given]) == status


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


@pytest.mark.parametrize("ending", ["svg", "html", "png", "pdf", "dot", "md", "json", "txt"])
def test_writes_a_difference_in_each_format(ending: str, tmp_path: Path) -> None:
    left, right = write_pair(tmp_path)
    target = tmp_path / f"diff.{ending}"
    assert main(["diff", str(left), str(right), "-o", str(target)]) == 0
    data = target.read_bytes()
    starts = {"svg": b"<svg", "html": b"<!doctype html>", "png": b"\x89PNG", "pdf": b"%PDF"}
    starts |= {"dot": b"digraph", "md": b"## `right.onnx` against `left.onnx`", "json": b"{"}
    assert data.lstrip()[: len(starts.get(ending, b""))].lower() == starts.get(ending, b"").lower()
    if ending == "json":
        assert json.loads(data)["verdict"] == "structure"
    if ending in ("md", "txt"):
        assert b"1 node removed" in data


def test_panes_are_a_page_and_nothing_else(
    models: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "panes.html"
    both = [models["old"], models["new"]]
    assert main(["diff", *both, "--panes", "-o", str(file), "--theme", "dark"]) == 0
    page = file.read_text("utf-8")
    assert page.startswith('<!DOCTYPE html>\n<html lang="en" data-theme="dark">')
    assert 'aria-label="old: old.onnx"' in page
    for given in (["-o", str(tmp_path / "p.svg")], ["-o", str(file), "--static"], []):
        capsys.readouterr()
        assert main(["diff", *both, "--panes", *given]) == 2
        assert "--panes is of the explorer in a .html file" in capsys.readouterr().err
    assert main(["diff", *both, "--panes", "-o", str(file), "--focus", "x"]) == 2
    assert "two panes show two" in capsys.readouterr().err


def test_a_ladder_is_a_still_picture(
    models: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = [models["old"], models["new"]]
    begins = {"svg": b"<svg", "html": b"<!DOCTYPE html>", "pdf": b"%PDF", "png": b"\x89PNG"}
    for ending, begin in begins.items():
        file = tmp_path / f"ladder.{ending}"
        assert main(["diff", *both, "--ladder", "-o", str(file), "--theme", "dark"]) == 0
        data = file.read_bytes()
        assert data.startswith(begin)
        assert b"<script" not in data
    capsys.readouterr()
    for given, said in (
        (["-o", str(tmp_path / "ladder.md")], "a still picture"),
        (["-o", str(tmp_path / "ladder.html"), "--panes"], "two pictures"),
        (
            ["-o", str(tmp_path / "ladder.svg"), "--expand", "all"],
            "expand is of a picture of nodes",
        ),
        ([], "a still picture"),
    ):
        assert main(["diff", *both, "--ladder", *given]) == 2
        assert said in capsys.readouterr().err


def test_model_explorer_gets_the_pairs(tmp_path: Path) -> None:
    left, right = write_pair(tmp_path)
    target = tmp_path / "pairs.json"
    given = ["-o", str(target), "--format", "model-explorer"]
    assert main(["diff", str(left), str(right), *given]) == 0
    told = json.loads(target.read_text())
    assert told["type"] == "sync_navigation"
    assert told["mapping"] == {"<node_0>": "<node_0>", "<node_2>": "<node_1>"}
    assert told["mappingEntries"][1] == {
        "leftNodeIds": ["<node_2>"],
        "rightNodeIds": ["<node_1>"],
    }


def test_what_cannot_be_written_is_said_before_the_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left, right = map(str, write_pair(tmp_path))
    for given, told in (
        (["-o", str(tmp_path / "diff.xyz")], "does not name a format"),
        (["-o", str(tmp_path / "none" / "diff.svg")], "does not exist"),
        (["-o", "-"], "needs a format"),
        (["--format", "svg"], "goes to a file"),
        (["--json", "-o", str(tmp_path / "a.json")], "--json prints"),
        (["-o", str(tmp_path / "a.svg"), "--weights", "none"], "--weights"),
    ):
        assert main(["diff", left, right, *given]) == 2
        assert told in capsys.readouterr().err


def test_a_report_goes_to_the_standard_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left, right = map(str, write_pair(tmp_path))
    assert main(["diff", left, right, "--format", "md", "--fail-on", "structure"]) == 1
    assert "### Differences: 1" in capsys.readouterr().out


def test_names_cannot_break_out_of_a_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left, right = write_pair(tmp_path, name="a`b``<img src=x>\n# c|d")
    assert main(["diff", str(left), str(right), "--format", "md"]) == 0
    out = capsys.readouterr().out
    (line,) = [line for line in out.splitlines() if "<img" in line]
    assert line.startswith("- ``` main/a`b``<img src=x>")
    assert line.endswith(" ```")
    assert "\n# c" not in out


def write_pair(folder: Path, name: str = "b") -> tuple[Path, Path]:
    """Write a model and the same without its second node, which has a name."""
    texts = (
        "g (float[n] x) => (float[n] y) { p = Relu (x) q = Tanh (p) y = Neg (q) }",
        "g (float[n] x) => (float[n] y) { p = Relu (x) y = Neg (p) }",
    )
    paths = folder / "left.onnx", folder / "right.onnx"
    for path, text in zip(paths, texts, strict=True):
        model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]> {text}')
        if path.name == "left.onnx":
            model.graph.node[1].name = name
        onnx.save(model, path)
    return paths


def test_pairs_are_made_and_broken_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left, right = map(str, write_pair(tmp_path))
    assert main(["diff", left, right, "--break", "main/#0:Relu=main/#0:Relu", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [node["path"] for node in told["nodes"]["added"]] == ["main/#0:Relu"]
    assert main(["diff", left, right, "--pin", "b=main/#1:Neg", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [pair["key"] for pair in told["nodes"]["changed"]] == ["by hand"]
    assert main(["diff", left, right, "--pin", "nothing=b"]) == 2
    assert "nothing" in capsys.readouterr().err
