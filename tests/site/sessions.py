"""What pages show of a shell and of Python: the commands and statements, and what they give."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_CONSOLE = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
_PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
_TOLD = re.compile(r"^(?P<code>\S.*?) {2,}# (?P<value>.*)$")
LEFT_OUT = "…"


@dataclass(frozen=True)
class Shown:
    """A command and the lines under it; a line of ``…`` stands for lines that are left out."""

    words: tuple[str, ...]
    lines: tuple[str, ...]

    def matches(self, output: str) -> bool:
        """Return whether an output is what is shown."""
        parts = re.split(rf"^{LEFT_OUT}$\n?", "".join(f"{x}\n" for x in self.lines), flags=re.M)
        pattern = "(?:.*\n)*?".join(re.escape(part) for part in parts)
        return (
            re.fullmatch(pattern, output if not output or output[-1] == "\n" else f"{output}\n")
            is not None
        )


def list_commands(page: Path) -> list[Shown]:
    """Return the commands behind ``$`` on a page, in order."""
    found = []
    for block in _CONSOLE.findall(page.read_text("utf-8")):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append(Shown(tuple(shlex.split(command)), tuple(output.splitlines())))
    return found


def run_python(page: Path, names: dict[str, Any]) -> Iterator[tuple[str, object, str]]:
    """Run the Python on a page; yield each line that says what it gives, that, and what it says."""
    for block in _PYTHON.findall(page.read_text("utf-8")):
        told = {
            number: match["value"]
            for number, line in enumerate(block.splitlines(), 1)
            if (match := _TOLD.match(line))
        }
        for statement in ast.parse(block).body:
            tree = ast.Module([statement], [])
            if isinstance(statement, ast.Expr):
                code = compile(ast.Expression(statement.value), str(page), "eval")
                given = eval(code, names)
                if statement.end_lineno in told:
                    yield ast.unparse(statement), given, told[statement.end_lineno]
            else:
                exec(compile(tree, str(page), "exec"), names)
