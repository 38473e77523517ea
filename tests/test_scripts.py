"""Scripts that documentation tells to run find what they import, started as it tells."""

from __future__ import annotations

import ast
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
