"""The workflow that docs/ci.md prints can be copied as it is."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from netloupe.commands.arguments import make_parser

_PAGE = Path(__file__).resolve().parents[2] / "docs" / "ci.md"


@pytest.fixture(scope="module")
def workflow() -> dict[str, Any]:
    block = _PAGE.read_text("utf-8").partition("```yaml\n")[2].partition("```")[0]
    found: dict[str, Any] = yaml.safe_load(block)
    return found


@pytest.fixture
def steps(workflow: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = workflow["jobs"]["check"]["steps"]
    return found


def test_what_was_found_is_uploaded_also_where_the_check_fails(
    workflow: dict[str, Any], steps: list[dict[str, Any]]
) -> None:
    assert workflow["permissions"] == {"contents": "read", "security-events": "write"}
    upload = steps[-1]
    assert upload["uses"].startswith("github/codeql-action/upload-sarif@")
    assert upload["if"] in ("${{ !cancelled() }}", "${{ always() }}")
    check = next(step["run"] for step in steps if "netloupe check" in step.get("run", ""))
    assert check.rpartition(" > ")[2] == upload["with"]["sarif_file"]


def test_what_is_installed_was_checked_out_before(steps: list[dict[str, Any]]) -> None:
    place = next(n for n, step in enumerate(steps) if "pip install" in step.get("run", ""))
    folder = steps[place]["run"].split()[-1]
    checkouts = [step["with"] for step in steps[:place] if "checkout" in step.get("uses", "")]
    assert folder.removeprefix("./") in [given.get("path") for given in checkouts]
    assert "path" not in checkouts[0]  # the repository with the models


def test_its_commands_are_ours(steps: list[dict[str, Any]]) -> None:
    commands = [step["run"] for step in steps if step.get("run", "").startswith("netloupe ")]
    assert commands
    for command in commands:
        words = shlex.split(command.partition(" > ")[0])[1:]
        assert make_parser(words[0]).parse_args(words).command == words[0]
