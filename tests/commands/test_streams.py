"""Several models, the standard input and output, and what goes wrong with them."""

from __future__ import annotations

import json
import os
import pty
import resource
import subprocess
import sys
from functools import cache
from pathlib import Path

import onnx
import onnx.parser
import pytest

from netloupe.commands.cli import main
from netloupe.commands.serve import Serving
from netloupe.explorer.checks.rules import RULES
from netloupe.explorer.checks.runtimes import list_runtimes
from tests.commands.failing import fail
from tests.corpus import corpus_file

_TEXT = """<ir_version: 8, opset_import: ["": 18]>
g (float[N, 2] x) => (float[N, 2] y) { [add] a = Add (x, x) [relu] y = Relu (a) }"""
_COMMAND = [sys.executable, "-m", "netloupe"]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.onnx"
    path.write_bytes(onnx.parser.parse_model(_TEXT).SerializeToString())
    return path


def run(
    *arguments: str | Path, data: bytes | None = None, **options: str
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*_COMMAND, *map(str, arguments)],
        input=data,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": ":".join(filter(None, sys.path)), **options},
        check=False,
    )


def run_in_shell(script: str, *arguments: str | Path) -> subprocess.CompletedProcess[bytes]:
    """Run a script for bash in which ``netloupe`` is the command and ``$1`` … the arguments."""
    words = " ".join(f"'{word}'" for word in _COMMAND)
    return subprocess.run(
        ["bash", "-c", f'netloupe() {{ {words} "$@"; }}\n{script}', "bash", *map(str, arguments)],
        capture_output=True,
        env={**os.environ, "PYTHONPATH": ":".join(filter(None, sys.path))},
        check=False,
    )


def assert_one_line(error: bytes) -> None:
    assert error.startswith(b"netloupe: error: "), error
    assert error.count(b"\n") == 1, error
    assert b"internal error" not in error


# several files


def test_info_of_several_is_a_summary_each(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = model.with_name("other.onnx")
    other.write_bytes(model.read_bytes())
    assert main(["info", str(model), str(other)]) == 0
    text = capsys.readouterr().out
    assert text.index("model.onnx") < text.index("other.onnx")
    assert main(["info", str(model), str(other), "--json"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line)["source"] for line in lines] == [str(model), str(other)]


def test_one_that_is_no_model_does_not_keep_the_others_back(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = model.with_name("broken.onnx")
    broken.write_bytes(b"")
    assert main(["info", str(broken), str(model), "--json"]) == 2
    printed = capsys.readouterr()
    unread, told = (json.loads(line) for line in printed.out.splitlines())
    assert unread["source"] == str(broken)
    assert "the file is empty" in unread["error"]
    assert told["source"] == str(model)
    assert printed.err.count("\n") == 1
    assert str(broken) in printed.err


def test_inspect_several_names(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(model), "add", "relu", "--json"]) == 0
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [entry["op_type"] for entry in told] == ["Add", "Relu"]
    assert main(["inspect", str(model), "add", "none", "relu"]) == 2
    printed = capsys.readouterr()
    assert "Add" in printed.out
    assert "Relu" in printed.out
    assert "'none'" in printed.err


def test_render_several_into_a_folder(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = model.with_name("other.onnx")
    other.write_bytes(model.read_bytes())
    folder = model.with_name("pictures")
    folder.mkdir()
    command = ["render", str(model), str(other), "-o", str(folder), "--format", "svg"]
    assert main(command) == 0
    assert sorted(path.name for path in folder.iterdir()) == ["model.svg", "other.svg"]
    assert main(["render", str(model), "-o", f"{folder}/", "--format", "dot"]) == 0
    assert (folder / "model.dot").exists()
    assert "their format must be said" in fail(capsys, "render", model, other, "-o", folder)


@pytest.mark.parametrize("end", ["", "/", "/in/it/"])
def test_a_folder_for_pictures_is_created(
    end: str, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = model.with_name("other.onnx")
    other.write_bytes(model.read_bytes())
    folder = f"{model.with_name('missing')}{end}"
    assert main(["render", str(model), str(other), "-o", folder, "--format", "dot"]) == 0
    assert sorted(path.name for path in Path(folder).iterdir()) == ["model.dot", "other.dot"]
    taken = fail(capsys, "render", model, other, "-o", other, "--format", "svg")
    assert "is a file" in taken
    taken = fail(capsys, "render", model, "-o", f"{other}/in/", "--format", "svg")
    assert "cannot be created" in taken


def test_nothing_is_created_for_pictures_that_are_refused(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = model.with_name("missing")
    twin = model.parent / "x" / model.name
    fail(capsys, "render", model, twin, "-o", folder, "--format", "svg")
    assert not folder.exists()


def test_two_pictures_of_one_name_are_refused(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (model.parent / "b").mkdir()
    twin = model.parent / "b" / "model.onnx"
    twin.write_bytes(model.read_bytes())
    line = fail(capsys, "render", model, twin, "-o", model.parent, "--format", "svg")
    assert str(model) in line
    assert str(twin) in line
    assert not model.with_suffix(".svg").exists()


# the standard input and output


def test_a_model_from_the_standard_input(model: Path) -> None:
    done = run("info", "-", "--json", data=model.read_bytes())
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert summary["source"] == "<standard input>"
    assert summary["totals"]["nodes"] == 2
    done = run("inspect", "-", "relu", data=model.read_bytes())
    assert b"Relu" in done.stdout


def test_what_is_no_model_on_the_standard_input() -> None:
    done = run("info", "-", data=b"")
    assert done.returncode == 2
    assert_one_line(done.stderr)
    assert b"<standard input>: the file is empty" in done.stderr


def test_the_standard_input_is_read_once(model: Path) -> None:
    done = run("info", "-", "-", data=model.read_bytes())
    assert done.returncode == 2
    assert_one_line(done.stderr)
    assert b"only once" in done.stderr


def test_nobody_types_a_model(model: Path) -> None:
    ours, theirs = pty.openpty()
    done = subprocess.run(
        [*_COMMAND, "info", "-"], stdin=theirs, capture_output=True, timeout=120, check=False
    )
    os.close(ours)
    os.close(theirs)
    assert done.returncode == 2
    assert_one_line(done.stderr)
    assert b"is a terminal" in done.stderr


@pytest.mark.parametrize("kind", ["svg", "html", "pdf", "png", "dot"])
def test_a_picture_on_the_standard_output(model: Path, kind: str) -> None:
    done = run("render", model, "-o", "-", "--format", kind)
    assert done.returncode == 0, done.stderr
    output = model.with_name(f"file.{kind}")
    assert main(["render", str(model), "-o", str(output)]) == 0
    if kind == "pdf":  # says when it was made
        assert done.stdout.startswith(b"%PDF-")
    else:
        assert done.stdout == output.read_bytes()


def test_a_picture_from_pipe_to_pipe(model: Path) -> None:
    done = run_in_shell('cat "$1" | netloupe render - -o - --format svg | head -c 5', model)
    assert done.stdout == b"<?xml" or done.stdout.startswith(b"<svg")
    assert done.stderr == b""


def test_a_format_beside_the_name(model: Path) -> None:
    output = model.with_name("picture")
    assert main(["render", str(model), "-o", str(output), "--format", "png"]) == 0
    assert output.read_bytes().startswith(b"\x89PNG")


def test_the_standard_output_needs_a_format(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "--format" in fail(capsys, "render", model, "-o", "-")
    line = fail(capsys, "render", model, "-o", "-", "--format", "svg", "--show")
    assert "--show needs a file" in line
    line = fail(capsys, "render", model, model, "-o", "-", "--format", "svg")
    assert "one picture" in line


def test_a_terminal_gets_no_binary(model: Path) -> None:
    ours, theirs = pty.openpty()
    command = [*_COMMAND, "render", str(model), "-o", "-", "--format", "png"]
    done = subprocess.run(command, stdout=theirs, stderr=subprocess.PIPE, timeout=120, check=False)
    os.close(theirs)
    os.close(ours)
    assert done.returncode == 2
    assert_one_line(done.stderr)
    assert b"no text for a terminal" in done.stderr


@pytest.mark.parametrize("arguments", [["info", "MODEL"], ["inspect", "MODEL", "add"], ["--help"]])
def test_a_full_standard_output(model: Path, arguments: list[str]) -> None:
    words = [str(model) if word == "MODEL" else word for word in arguments]
    done = run_in_shell('netloupe "$@" > /dev/full', *words)
    assert done.returncode == 2
    assert_one_line(done.stderr)
    assert b"no space left" in done.stderr


def test_a_closed_standard_output(model: Path) -> None:
    done = run_in_shell('netloupe info "$1" >&-', model)
    assert done.returncode == 2
    assert_one_line(done.stderr)
    assert b"the standard output is closed" in done.stderr
    output = model.with_suffix(".svg")
    done = run_in_shell('netloupe render "$1" -o "$2" >&-', model, output)
    assert (done.returncode, done.stderr) == (0, b"")
    assert output.exists()


def test_a_closed_standard_error(model: Path) -> None:
    done = run_in_shell('netloupe info "$1" 2>&-', model)
    assert done.returncode == 0
    assert b"parameters" in done.stdout
    done = run_in_shell('netloupe info "$1.missing" 2>&-', model)
    assert (done.returncode, done.stdout) == (2, b"")
    page = model.with_suffix(".html")
    done = run_in_shell('netloupe report "$1" -o "$2" 2>&-', model, page)
    assert (done.returncode, done.stdout) == (0, b"")
    assert page.exists()


def test_a_closed_standard_input(model: Path) -> None:
    done = run_in_shell("netloupe info - <&-")
    assert done.returncode == 2
    assert_one_line(done.stderr)


@pytest.mark.parametrize("limit", [7, 8, 9, 10, 12, 16])
def test_too_few_file_descriptors(model: Path, limit: int) -> None:
    output = model.with_suffix(".svg")
    # what the interpreter itself needs to load a module is not ours to mend
    script = "import netloupe.commands.cli as c, sys; sys.exit(c.main(sys.argv[1:]))"

    def lower() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))

    done = subprocess.run(
        [sys.executable, "-c", script, "render", str(model), "-o", str(output)],
        capture_output=True,
        preexec_fn=lower,
        env={**os.environ, "PYTHONPATH": ":".join(filter(None, sys.path))},
        check=False,
    )
    if done.returncode == 0:
        assert output.exists()
    else:
        assert done.returncode == 2
        assert_one_line(done.stderr)


# names


def test_no_escape_sequence_reaches_the_terminal(model: Path) -> None:
    evil = model.with_name("a\x1b[31mred\x1b]0;title\x07\x9b2J.onnx")
    evil.write_bytes(b"no model")
    good = model.with_name("b\x1b[31m.onnx")
    good.write_bytes(model.read_bytes())
    folder = model.with_name("no\x1b[2Jfolder")
    outputs = [
        run("info", evil),
        run("info", good),
        run("info", good, good),
        run("inspect", good, "no\x1b[31mne"),
        run("inspect", good, "main"),
        run("render", good, "-o", folder / "x.svg"),
        run("render", good, "-o", model.with_name("x\x1b[1m.nope")),
        run("render", good, "--grouping", "\x1b[31m", "-o", "x.svg"),
        run("\x1b[31mcommand"),
    ]
    for done in outputs:
        text = (done.stdout + done.stderr).decode()
        assert "\x1b" not in text
        assert "\x07" not in text
        assert "\x9b" not in text


# what the words say


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (["--wrap", "0"], "'0' is none of auto, yes, no and a number of columns from 1 to 200"),
        (["--wrap", "201"], "from 1 to 200"),
        (["--wrap", "True"], "'True' is none of auto, yes, no"),
        (["--hops", "3"], "--hops says how far around --focus. Give --focus PATH too"),
        (["--focus", "relu", "--hops=-1"], "'-1' is no number of edges, 0 or more"),
        (["--expand", "some"], "'some' is none of auto, all, none and a number of levels"),
    ],
)
def test_messages_are_in_the_words_of_the_shell(
    model: Path, options: list[str], wanted: str, capsys: pytest.CaptureFixture[str]
) -> None:
    line = fail(capsys, "render", model, "-o", model.with_suffix(".svg"), *options)
    assert wanted in line
    for word in ("ViewError", "True, False", "expand=", "hops is"):
        assert word not in line


@pytest.mark.parametrize("command", [[], ["info"], ["inspect"], ["render"], ["open"]])
def test_help_has_examples_that_parse(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    from netloupe.commands.arguments import add_command, make_parser

    with pytest.raises(SystemExit) as caught:
        main([*command, "--help"])
    assert caught.value.code == 0
    text = capsys.readouterr().out
    examples = text[text.index("examples:") :].splitlines()[1:]
    shown = [line[2:].split("   ")[0].split("|")[-1].strip() for line in examples]
    lines = [line.split() for line in shown if line.startswith("netloupe ")]
    lines += [
        line[2:].split("   ")[0].split("|")[0].split()
        for line in examples
        if line.startswith("  netloupe ") and "|" in line
    ]
    assert lines
    commands = ("info", "inspect", "render", "open", "completion")
    for _, *words in lines:
        make_parser().parse_args(add_command(words, commands))


def test_where_names_are_listed_is_said_rightly(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = fail(capsys, "inspect", model, "zzz")
    assert "`netloupe inspect MODEL main`" in line
    assert main(["inspect", str(model), "main"]) == 0
    lines = capsys.readouterr().out.splitlines()
    nodes = lines[lines.index("Nodes") + 1 :]
    assert [line.split() for line in nodes[:2]] == [["add", "Add"], ["relu", "Relu"]]


# a model alone


def test_a_model_alone_is_explored(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from netloupe.commands import serve

    served = []

    def note(serving: Serving) -> int:
        model = serving.models[0]._read().model
        served.append((model.source, [node.name for node in model.graph.nodes]))
        return 0

    monkeypatch.setattr(serve, "serve_models", note)
    assert main([str(model)]) == 0
    assert main(["open", str(model)]) == 0
    monkeypatch.chdir(model.parent)
    assert main(["model.onnx"]) == 0
    names = ["add", "relu"]
    assert served == [(str(model), names), (str(model), names), ("model.onnx", names)]


def test_the_standard_input_is_explored_from_a_file(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from netloupe.commands import cli, serve, streams

    served = []

    def note(serving: Serving) -> int:
        path = Path(serving.models[0]._read().model.source)
        served.append((path, path.read_bytes()))
        return 0

    monkeypatch.setattr(serve, "serve_models", note)
    given = streams.StandardInput(model.read_bytes())
    monkeypatch.setattr(streams, "read_standard_input", lambda: given)
    assert cli.main(["-"]) == 0
    [(path, data)] = served
    assert data == model.read_bytes()
    assert not path.parent.exists()


def test_a_word_that_is_neither_command_nor_file(capsys: pytest.CaptureFixture[str]) -> None:
    line = fail(capsys, "rendre")
    assert "'rendre' is neither a command" in line
    assert "Did you mean 'render'?" in line
    assert "there is no such file" in fail(capsys, "gone.onnx")


# completion


@cache
def read_script() -> str:
    """Return the script for bash, which is the same wherever a line is completed."""
    done = run("completion", "bash")
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()


def complete(line: str, folder: Path) -> list[str]:
    """Return what a bash with the script offers at the end of a line."""
    words = line.split(" ")
    quoted = " ".join(f"'{word}'" for word in words)
    (folder / "netloupe").write_text(f"#!/bin/sh\nexec '{sys.executable}' -m netloupe \"$@\"\n")
    (folder / "netloupe").chmod(0o755)
    script = f"""
        eval "$SCRIPT"
        COMP_LINE='{line}' COMP_POINT={len(line)} COMP_TYPE=9
        COMP_WORDS=({quoted}) COMP_CWORD={len(words) - 1}
        _python_argcomplete netloupe
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(
        ["bash", "-c", script],
        capture_output=True,
        text=True,
        cwd=folder,
        env={
            **os.environ,
            "SCRIPT": read_script(),
            "PATH": f"{folder}:{os.environ['PATH']}",
            "PYTHONPATH": ":".join(filter(None, [str(Path.cwd()), *sys.path])),
        },
        check=False,
    )
    assert done.stderr == ""
    return [word.strip() for word in done.stdout.split("\n") if word]


def test_bash_completes_commands_options_and_names(model: Path) -> None:
    folder = model.parent
    assert complete("netloupe ren", folder) == ["render"]
    assert "--direction" in complete("netloupe render --d", folder)
    assert complete("netloupe render model.onnx --theme d", folder) == ["dark"]
    assert complete("netloupe inspect model.onnx re", folder) == ["relu"]
    assert complete("netloupe inspect model.onnx main/", folder) == [
        *("main/add", "main/relu", "main/%x", "main/%a", "main/%y"),
    ]
    assert complete("netloupe render model.onnx --focus ad", folder) == ["add"]
    assert complete("netloupe inspect gone.onnx re", folder) == []


def test_bash_completes_what_rules_targets_and_columns_there_are(model: Path) -> None:
    folder = model.parent
    assert complete("netloupe check --explain NL-Q0", folder) == [
        rule.id for rule in RULES if rule.id.startswith("NL-Q0")
    ]
    subjects = complete("netloupe check model.onnx --ignore NL-Q,NL-", folder)
    assert {"NL-Q,NL-G", "NL-Q,NL-G01"} <= {*subjects}
    assert complete("netloupe check model.onnx --target ort-1.1", folder) == [
        name for name in list_runtimes() if name.startswith("ort-1.1")
    ]
    assert complete("netloupe render model.onnx --color-by pa", folder) == ["parameters"]
    assert complete("netloupe render model.onnx --color-by mode", folder) == ["model.onnx"]


def test_bash_completes_groups(tmp_path: Path) -> None:
    model = corpus_file("exported/gpt2.legacy.onnx")
    offered = complete(f"netloupe render {model} --focus main/model/transformer/h.0", tmp_path)
    assert "main/model/transformer/h.0/" in offered


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_scripts_for_shells(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    assert "netloupe" in capsys.readouterr().out
