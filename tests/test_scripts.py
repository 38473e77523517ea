"""Scripts that documentation tells to run find what they import, started as it tells."""

from __future__ import annotations

import ast
import shutil
import subprocess
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = sorted(
    path
    for folder in ("tests/benchmarks", "tools")
    for path in (_ROOT / folder).glob("*.py")
    if "__main__" in path.read_text("utf-8")
)


def list_top(path: Path) -> list[ast.stmt]:
    return ast.parse(path.read_text("utf-8")).body


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_looks_for_the_tests_before_it_imports_them(path: Path) -> None:
    """``python tests/benchmarks/peers.py`` has its own folder to import from, and not the root."""
    knows = False
    for statement in list_top(path):
        knows = knows or "sys.path" in ast.unparse(statement)
        if isinstance(statement, ast.ImportFrom) and (statement.module or "").split(".")[0] in (
            "tests",
            "tools",
        ):
            assert knows, f"{statement.module} in line {statement.lineno}"


def test_there_are_scripts() -> None:
    assert len(SCRIPTS) > 15


#: where a Python is, and what names it; of several the first is taken
_PYTHONS = {
    "said": "PYTHON",
    "active/bin/python": "VIRTUAL_ENV",
    ".venv/bin/python": "",
    "python3": "",
}


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize("first", range(len(_PYTHONS)))
def test_the_documentation_is_built_by_the_python_that_is_there(first: int, tmp_path: Path) -> None:
    found, variables = [*_PYTHONS.items()], {}
    for place, (name, variable) in enumerate(found[first:], first):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked-{place}\n')
        path.chmod(0o700)
        if variable:
            variables[variable] = str(path if variable == "PYTHON" else path.parents[1])
    (tmp_path / "tools").mkdir()
    script = shutil.copy(_ROOT / "tools" / "build_docs", tmp_path / "tools")
    for tool in ("bash", "dirname"):
        (tmp_path / tool).symlink_to(str(shutil.which(tool)))
    done = subprocess.run(
        ["bash", script],
        cwd=tmp_path.parent,
        env={"PATH": str(tmp_path), **variables},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    (asked,) = tmp_path.glob("asked-*")
    assert asked.name == f"asked-{first}"
    assert "-m sphinx -W" in asked.read_text()
