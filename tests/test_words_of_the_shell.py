"""Words of the command line stand where there is one, and not in a notebook or a page."""

from __future__ import annotations

import argparse
import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import netloupe
from netloupe.commands.cli import make_parser
from netloupe.commands.failures import explain_error
from netloupe.explorer.errors import NetloupeError, NotFoundError
from netloupe.explorer.readers.load import load

ROOT = Path(__file__).parents[1]
DEMO = ROOT / "demo_notebooks" / "models" / "digits_cnn.onnx"
#: what is written for a shell, or names a command on purpose
FOR_SHELLS = {
    "explorer/checks/rule.py": "what check --explain prints",
    "explorer/describe/audits.py": "what audit prints",
    "explorer/describe/differences.py": "what diff prints",
    "explorer/describe/findings.py": "what check prints",
    "explorer/describe/groups.py": "what info prints",
    "explorer/options/command.py": "the command that a menu copies",
    "explorer/report/reviewed.py": "a report says which command has all of a table",
    "widgets/saving.py": "the words of a process of ours",
    "widgets/frontend/src/controls/menu_entries.ts": "the command that a menu copies",
    "widgets/frontend/src/standalone/command.ts": "the command that a menu copies",
}
#: what netloupe open shows, and what sends files to it
BESIDE_SHELLS = ("widgets/frontend/src/live/", "widgets/frontend/src/start_page.ts")


def list_parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield from list_parsers(inner)


def make_pattern() -> re.Pattern[str]:
    """Return what finds commands and options of ours."""
    parsers = [*list_parsers(make_parser())]
    options = {
        text
        for parser in parsers
        for action in parser._actions
        for text in action.option_strings
        if text.startswith("--")
    }
    commands = {parser.prog.split()[-1] for parser in parsers[1:]}
    assert {"--float", "--json"} <= options
    assert {"inspect", "check"} <= commands
    return re.compile(
        rf"(?:{'|'.join(map(re.escape, sorted(options)))})(?![\w-])"
        rf"|\bnetloupe (?:{'|'.join(sorted(commands))})\b"
    )


def list_texts(file: Path) -> Iterator[str]:
    """Yield the texts of a module that are no docstrings and no advice for a shell."""
    tree = ast.parse(file.read_text("utf-8"))
    left_out = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            left_out.add(id(node.value))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "advise_in_shell":
            left_out |= {id(part) for part in ast.walk(node)}
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and id(node) not in left_out:
            yield node.value


def list_typescript_texts(file: Path) -> Iterator[str]:
    """Yield the lines of a module that are no comments."""
    for line in file.read_text("utf-8").splitlines():
        if not line.lstrip().startswith(("//", "/*", "*")):
            yield line


def test_texts_that_a_notebook_may_show_name_no_command() -> None:
    pattern = make_pattern()
    sources = [
        *((file, list_texts) for room in ("explorer", "widgets") for file in _walk(room, "py")),
        *((file, list_typescript_texts) for file in _walk("widgets/frontend/src", "ts")),
    ]
    assert len(sources) > 400
    found, met = {}, set()
    for file, list_all in sources:
        name = file.relative_to(ROOT).as_posix()
        told = [text for text in list_all(file) if pattern.search(text)]
        if told and name in FOR_SHELLS:
            met.add(name)
        elif told and not name.startswith(BESIDE_SHELLS):
            found[name] = told
    assert found == {}
    assert met == set(FOR_SHELLS), "an exception that is not needed"


def _walk(folder: str, suffix: str) -> list[Path]:
    return sorted((ROOT / folder).rglob(f"*.{suffix}"))


@pytest.mark.parametrize(
    ("ask", "command"),
    [
        (lambda model: model["nothing"], "netloupe inspect MODEL main"),
        (lambda model: model.group("nothing/"), "netloupe info MODEL --groups"),
        (lambda model: model.notes.remove("0" * 32), "netloupe notes MODEL"),
        (lambda model: netloupe.check(model, baseline="nothing.json"), "netloupe check MODEL"),
    ],
)
def test_an_error_names_commands_in_a_shell_alone(ask: object, command: str) -> None:
    with pytest.raises(NetloupeError) as raised:
        ask(load(DEMO))  # type: ignore[operator]
    assert "`netloupe" not in str(raised.value)
    assert str(raised.value).rstrip(".") != str(raised.value), "it says what to do"
    told = explain_error(raised.value, ["inspect"])
    assert told.startswith(str(raised.value))
    assert command in told


def test_an_error_that_says_all_is_the_same_in_a_shell() -> None:
    assert explain_error(NotFoundError("m: there is no x. Give y."), []) == (
        "m: there is no x. Give y."
    )
