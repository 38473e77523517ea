"""The command line: what it prints and writes, and one line for everything that is wrong."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import numpy_helper

import netloupe
from netloupe.commands.cli import main
from netloupe.explorer.errors import ReadingError
from tests.commands.failing import fail
from tests.corpus import LIGHT_MODELS, also_beside, corpus_file, light_file
from tests.dot_check import draw_with_graphviz

_TEXT = """<ir_version: 8, opset_import: ["": 18], producer_name: "me">
g (float[N, 2] x, bool c) => (float[N, 2] y) <float[2] w = {1.0, 2.0}> {
    [add] a = Add (x, w)
    [if] b = If (c) <
        then_branch = t () => (float[N, 2] p) { [neg] p = Neg (a) },
        else_branch = e () => (float[N, 2] q) { [abs] q = Abs (a) }
    >
    [relu] y = Relu (b)
}"""
FORMATS = ("svg", "html", "dot", "png", "pdf")
_MAGIC = {"png": b"\x89PNG", "pdf": b"%PDF-", "svg": b"<", "html": b"<!", "dot": b"digraph"}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.onnx"
    path.write_bytes(onnx.parser.parse_model(_TEXT).SerializeToString())
    return path


def test_info(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", str(model)]) == 0
    text = capsys.readouterr().out
    for part in ("model.onnx", "IR version 8", "me", "ai.onnx 18", "5 nodes in 3 graphs", "Relu"):
        assert part in text


def test_info_json(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", str(model), "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["format"] == "ONNX"
    assert summary["container"] == "protobuf"
    assert summary["ir_version"] == 8
    assert summary["opsets"] == {"ai.onnx": 18}
    assert summary["graphs"] == [
        {"path": "main", "kind": "main", "nodes": 3, "initializers": 1},
        {"path": "main/if.then_branch", "kind": "subgraph", "nodes": 1, "initializers": 0},
        {"path": "main/if.else_branch", "kind": "subgraph", "nodes": 1, "initializers": 0},
    ]
    assert summary["totals"] == {
        "graphs": 3,
        "nodes": 5,
        "initializers": 1,
        "elements": 2,
        "parameters": 2,
        "running_statistics": 0,
        "attention_biases": 0,
        "attribute_values": 0,
        "bytes": 8,
    }
    assert summary["op_types"] == {"Abs": 1, "Add": 1, "If": 1, "Neg": 1, "Relu": 1}
    assert set(summary["quantization"]) >= {"tensors", "sources"}
    assert summary["warnings"] == []


def test_info_of_hostile_names_is_plain_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", str(corpus_file("hostile/evil_names.onnx"))]) == 0
    text = capsys.readouterr().out
    assert "\x1b" not in text
    assert all(character.isprintable() for line in text.splitlines() for character in line)


@pytest.mark.parametrize("kind", FORMATS)
def test_render(model: Path, tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / f"out.{kind.upper()}"
    assert main(["render", str(model), "-o", str(output)]) == 0
    assert output.read_bytes().lstrip().startswith(_MAGIC[kind])
    assert capsys.readouterr().err == ""
    first = output.read_bytes()
    assert main(["render", str(model), "-o", str(output)]) == 0
    if kind in ("svg", "html", "dot"):
        assert output.read_bytes() == first
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.onnx", output.name]


def titles(path: Path) -> set[str]:
    """Return the paths of everything in an SVG."""
    root = ET.fromstring(path.read_bytes())
    return {element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}title")}


def render(model: Path, *options: str) -> set[str]:
    output = model.with_suffix(".svg")
    assert main(["render", str(model), "-o", str(output), *options]) == 0
    return titles(output)


def test_what_is_open(model: Path) -> None:
    inside = "main/if.then_branch/neg"
    assert inside in render(model, "--expand", "all")
    assert inside not in render(model, "--expand", "none")
    assert inside not in render(model, "--expand", "1")
    assert inside in render(model, "--expand", "2")
    # the closed box of a branch of one node says what the node is
    assert inside not in render(model)
    assert "main/if.then_branch" in render(model)


def test_one_graph(model: Path) -> None:
    shown = render(model, "--graph", "main/if.then_branch")
    assert "main/if.then_branch/neg" in shown
    assert "main/relu" not in shown


def test_a_focus(model: Path) -> None:
    shown = render(model, "--focus", "relu", "--hops", "0", "--expand", "none")
    assert "main/relu" in shown
    assert "main/add" not in shown
    assert "main/add" in render(model, "--focus", "relu", "--hops", "2")
    assert "main/add" in render(model, "--focus", "w", "--hops", "0")
    assert "main/if" in render(model, "--focus", "main/%b", "--hops", "0")


def test_direction_and_theme(model: Path) -> None:
    output = model.with_suffix(".svg")
    pictures = set()
    for options in ([], ["--direction", "LR"], ["--theme", "dark"], ["--grouping", "none"]):
        assert main(["render", str(model), "-o", str(output), *options]) == 0
        pictures.add(output.read_bytes())
    assert len(pictures) == 3  # this model has no scopes to leave out


@pytest.mark.parametrize("name", [LIGHT_MODELS[1], LIGHT_MODELS[5]])
def test_the_same_bytes_twice(name: str, tmp_path: Path) -> None:
    pictures = []
    for number in range(2):
        output = tmp_path / f"{number}.svg"
        assert main(["render", str(light_file(name)), "-o", str(output)]) == 0
        pictures.append(output.read_bytes())
    assert pictures[0] == pictures[1]


@pytest.mark.parametrize(
    "name",
    also_beside(
        [
            "hostile/evil_names.onnx",
            "hostile/evil_scopes.onnx",
            "hostile/invalid_utf8.onnx",
            "hostile/empty_names.onnx",
            "hostile/name_1mb_nospace_unicode.onnx",
        ]
    ),
)
@pytest.mark.parametrize("kind", ["svg", "html", "dot"])
def test_hostile_names_in_pictures(name: str, kind: str, tmp_path: Path) -> None:
    output = tmp_path / f"out.{kind}"
    assert main(["render", str(corpus_file(name)), "-o", str(output)]) == 0
    text = output.read_text("utf-8")
    assert len(text) < 3_000_000
    if kind == "dot":
        assert draw_with_graphviz(text)["objects"]
    elif kind == "html":
        scripts = re.findall(r"<script[^>]*>", text, re.IGNORECASE)
        assert len([script for script in scripts if "type=" not in script]) == 1
        assert {re.sub(r'"[^"]*\d[^"]*"', "", script) for script in scripts} <= _SCRIPTS
        assert main(["render", str(corpus_file(name)), "-o", str(output), "--static"]) == 0
        text = output.read_text("utf-8")
    if kind != "dot":
        assert "<script" not in text.lower()
    if kind == "svg":
        ET.fromstring(text)


#: how the elements of a page begin that are no text to be seen
_SCRIPTS = {
    "<script>",
    '<script type="application/json" id="nl-data">',
    '<script type="text/plain" data-block="elements">',
    '<script type="text/plain" data-block="links">',
    '<script type="text/plain" data-block="legend">',
    '<script type="text/plain" data-block="search">',
    '<script type="text/plain" data-block="levels-TB">',
    '<script type="text/plain" data-block="levels-LR">',
    '<script type="text/plain" data-block=>',
}


# what is wrong with the model

_IMPOSTORS = {
    "empty": (b"", "is empty"),
    "picture": (b"\x89PNG\r\n\x1a\n" + bytes(100), "PNG"),
    "noise": (bytes(range(256)) * 8, "no ONNX model"),
    "gzip": (gzip.compress(b"model"), "unpacked from gzip"),
    "lfs": (b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
    "page": (b"<html>404</html>", "web page"),
}


@pytest.mark.parametrize("command", ["info", "inspect", "render", "open"])
@pytest.mark.parametrize("kind", [*_IMPOSTORS, "missing", "directory", "fifo", "truncated"])
def test_what_is_no_model(
    command: str, kind: str, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = model.with_name(f"{kind} file.onnx")
    if kind == "directory":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "truncated":
        path.write_bytes(model.read_bytes()[:-40])
    elif kind != "missing":
        path.write_bytes(_IMPOSTORS[kind][0])
    output = model.with_name("out.svg")
    more: dict[str, list[str]] = {
        "render": ["-o", str(output)],
        "inspect": ["x"],
        "open": ["--no-browser"],
    }
    line = fail(capsys, command, path, *more.get(command, []))
    assert str(path) in line
    assert line.rstrip().endswith(".")
    if kind in _IMPOSTORS:
        assert _IMPOSTORS[kind][1] in line
    assert not output.exists()


# what is wrong with the command


def test_the_output_folder_does_not_exist(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = model.parent / "no such folder" / "out.svg"
    line = fail(capsys, "render", model, "-o", output)
    assert f"the folder {output.parent} does not exist" in line
    assert not output.parent.exists()


@pytest.mark.parametrize("name", ["out", "out.jpg", "out.svg.gz", ".svg"])
def test_the_ending_names_no_format(
    model: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    line = fail(capsys, "render", model, "-o", model.with_name(name))
    assert "the ending does not name a format" in line
    assert not model.with_name(name).exists()


@pytest.mark.parametrize("name", ["out.eps", "out.PS"])
def test_postscript_is_refused_with_the_reason(
    model: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    line = fail(capsys, "render", model, "-o", model.with_name(name))
    assert "knows no transparency" in line
    assert "pdftops -eps" in line


def test_the_output_is_a_directory(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = model.with_name("out.svg")
    output.mkdir()
    assert "is a directory" in fail(capsys, "render", model, "-o", output)
    assert list(output.iterdir()) == []


@pytest.mark.parametrize("name", ["x" * 300 + ".svg", "x" * 300 + "/out.svg", "a\0b.svg"])
def test_an_output_that_cannot_be(
    model: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    line = fail(capsys, "render", model, "-o", model.parent / name)
    assert "internal error" not in line


def test_an_element_that_cannot_be_read_is_named_and_traced_when_asked_for(
    model: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stumble(*_: object) -> None:
        raise KeyError("stumbled")

    monkeypatch.setattr("netloupe.explorer.readers.onnx.scope.Scope.use", stumble)
    line = fail(capsys, "info", model)
    assert f"{model}: node 'add' in main cannot be read (KeyError: " in line
    monkeypatch.setenv("NETLOUPE_DEBUG", "1")
    with pytest.raises(ReadingError) as caught:
        main(["info", str(model)])
    assert isinstance(caught.value.__cause__, KeyError)


def test_an_existing_picture_stays_when_rendering_fails(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = model.with_name("out.svg")
    output.write_text("before")
    fail(capsys, "render", model, "-o", output, "--focus", "nothing")
    assert output.read_text() == "before"
    assert len(list(model.parent.iterdir())) == 2


@pytest.mark.parametrize(
    "options",
    [
        ["--focus", "relo"],
        ["--graph", "main/iff.then_branch"],
        ["--graph", "main/relu"],
        ["--expand", "some"],
        ["--expand=-1"],
        ["--hops=-1"],
        ["--hops", "x"],
        ["--theme", "pink"],
        ["--direction", "BT"],
        ["--grouping", "odd"],
        ["--nonsense"],
    ],
)
def test_options_that_do_not_fit(
    model: Path, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    output = model.with_name("out.svg")
    fail(capsys, "render", model, "-o", output, *options)
    assert not output.exists()


def test_an_unknown_name_has_suggestions(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = fail(capsys, "render", model, "-o", model.with_name("out.svg"), "--focus", "relo")
    assert str(model) in line
    assert "'main/relu'" in line
    assert "'main/relu'" in fail(capsys, "inspect", model, "relo")


@pytest.mark.parametrize(
    "arguments", [[], ["nonsense"], ["info"], ["render"], ["inspect", "a"], ["open", "a", "--port"]]
)
def test_commands_that_do_not_fit(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert "--help" in fail(capsys, *arguments)


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    for option in ("--version", "--help"):
        with pytest.raises(SystemExit) as caught:
            main([option])
        assert caught.value.code == 0
    text = capsys.readouterr().out
    assert "netloupe 0." in text
    for command in ("info", "inspect", "render", "open"):
        assert command in text


# inspect


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("add", "Add"),
        ("main/%w", "float32"),
        ("w", "float32"),
        ("main/if", "then_branch"),
        ("main", "Relu"),
        ("main/%x", "float32[N, 2]"),
    ],
)
def test_inspect(model: Path, name: str, wanted: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(model), name]) == 0
    assert wanted in capsys.readouterr().out
    assert main(["inspect", str(model), name, "--json"]) == 0
    assert isinstance(json.loads(capsys.readouterr().out), dict)


def test_inspect_gives_statistics(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    proto = onnx.parser.parse_model(_TEXT)
    del proto.graph.initializer[:]
    weight = np.array([-1.5, 4.25], np.float32)
    proto.graph.initializer.append(numpy_helper.from_array(weight, "w"))
    path = tmp_path / "model.onnx"
    path.write_bytes(proto.SerializeToString())
    assert main(["inspect", str(path), "w"]) == 0
    text = capsys.readouterr().out
    assert "-1.5" in text
    assert "4.25" in text


# as a process


def run(*arguments: str | Path, **options: str) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "PYTHONPATH": ":".join(filter(None, sys.path)), **options}
    return subprocess.run(
        [sys.executable, "-m", "netloupe", *map(str, arguments)],
        capture_output=True,
        env=environment,
        check=False,
    )


def test_as_a_process(model: Path) -> None:
    done = run("render", model, "-o", model.with_name("out.svg"))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    done = run("info", model.with_name("gone.onnx"))
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1
    assert b"there is no such file" in done.stderr


def test_a_terminal_without_unicode(model: Path) -> None:
    odd = model.with_name("ö🙂.onnx")
    odd.write_bytes(model.read_bytes())
    for options in ({"PYTHONIOENCODING": "ascii"}, {"PYTHONUTF8": "0", "LC_ALL": "C"}):
        done = run("info", odd, **options)
        assert done.returncode == 0, done.stderr
        assert b"5 nodes" in done.stdout


def test_a_file_name_that_is_not_utf_8(model: Path) -> None:
    odd = os.fsencode(model.parent) + b"/\xff.onnx"
    Path(os.fsdecode(odd)).write_bytes(model.read_bytes())
    done = run("info", os.fsdecode(odd))
    assert done.returncode == 0, done.stderr
    Path(os.fsdecode(odd)).write_bytes(b"")
    done = run("info", os.fsdecode(odd))
    assert done.returncode == 2
    assert b"is empty" in done.stderr


def test_a_reader_that_has_seen_enough(model: Path) -> None:
    command = f"'{sys.executable}' -m netloupe info '{model}' --json | head -n 1"
    environment = {**os.environ, "PYTHONPATH": ":".join(filter(None, sys.path))}
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        capture_output=True,
        env=environment,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"{\n", b"")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o500)
    assert "cannot be written" in fail(capsys, "render", model, "-o", folder / "out.svg")


@pytest.mark.parametrize(
    "name",
    [
        "with \"quotes\" and 'more'.onnx",
        "new\nline.onnx",
        "🙂 中文.onnx",
        "<b>&amp;.onnx",
        "%s.onnx",
    ],
)
def test_odd_file_names(model: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = model.with_name(name)
    path.write_bytes(model.read_bytes())
    picture = model.with_name("out.svg")
    assert main(["info", str(path)]) == 0
    assert main(["render", str(path), "-o", str(picture)]) == 0
    assert "<b>" not in picture.read_text()
    path.write_bytes(b"no model")
    capsys.readouterr()
    line = fail(capsys, "info", path)
    assert line.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "which"),
    [
        (["info", ""], "MODEL"),
        (["inspect", "", "x"], "MODEL"),
        (["render", "", "-o", "x.svg"], "MODEL"),
        (["open", " "], "MODEL"),
        (["render", "MODEL", "-o", ""], "--output"),
        (["info", "MODEL", "--init", ""], "--init"),
    ],
)
def test_an_empty_file_name(
    arguments: list[str], which: str, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [str(model) if argument == "MODEL" else argument for argument in arguments]
    line = fail(capsys, *given)
    assert which in line
    assert "the file name is empty. Give the name of a file." in line
    assert "directory" not in line


def test_an_empty_path_in_python(model: Path) -> None:
    for source in ("", (str(model), "")):
        with pytest.raises(netloupe.SourceError, match="empty"):
            netloupe.load(source)
    with pytest.raises(netloupe.OutputError, match="empty"):
        netloupe.load(model).to_svg("")


def test_a_device_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert "is no regular file" in fail(capsys, "info", Path("/dev/zero"))


def test_nothing_is_searched_for_garbage_at_the_end_of_a_command(model: Path) -> None:
    script = (
        "import atexit, gc, sys; from netloupe.commands.cli import main\n"
        "atexit.register(lambda: print('frozen', gc.get_freeze_count() > 0))\n"
        "sys.exit(main(['info', sys.argv[1]]))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script, str(model)], capture_output=True, text=True, check=True
    )
    assert ran.stdout.endswith("frozen True\n")


def test_the_message_about_a_command_names_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["info"])
    assert "See `netloupe info --help`." in capsys.readouterr().err
