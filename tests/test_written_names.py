"""What messages and documents tell people to install is there to be installed."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent
_EXTRA = re.compile(r"pip install[^`)\n]*?'\.\[([a-z,]+)\]'")


def _list_texts() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "*.py", "*.md", "*.1", "*.ipynb", "*.ts"],
        cwd=_ROOT,
        capture_output=True,
        text=True,
        check=False,
    ).stdout.split()
    names = [name for name in listed if not name.startswith("tests/")]
    return [_ROOT / name for name in names if (_ROOT / name).is_file()]


def test_nothing_is_installed_by_a_name_that_no_index_has() -> None:
    told = [path for path in _list_texts() if "netloupe[" in path.read_text()]
    assert told == [], "netloupe is not published: say `pip install '.[extra]'` or name the package"


def test_extras_that_are_named_exist() -> None:
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    named = {one for path in _list_texts() for one in _EXTRA.findall(path.read_text())}
    assert named
    assert {extra for entry in named for extra in entry.split(",")} <= {*extras}
