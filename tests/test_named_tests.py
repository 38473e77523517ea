"""Tests and files of tests that documents name are there."""

from __future__ import annotations

import re
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent
_TEST = re.compile(r"::(test_\w+)")
_FILE = re.compile(r"`(?:tests/)?((?:[\w-]+/)*\w+\.py)(?:::\w+)?`")


def list_documents() -> list[Path]:
    return [*sorted((_ROOT / "docs").glob("*.md")), *sorted(_ROOT.glob("*.md"))]


def list_unknown(text: str) -> set[str]:
    """Return the tests, and the files of tests, that a text names and that are not there."""
    sources = [path.read_text("utf-8") for path in (_ROOT / "tests").rglob("test_*.py")]
    known = {name for source in sources for name in re.findall(r"def (test_\w+)", source)}
    files = {name for name in _FILE.findall(text) if name.split("/")[-1].startswith("test_")}
    # a file may be named by its end alone
    absent = {name for name in files if not [*(_ROOT / "tests").rglob(name)]}
    return absent | ({*_TEST.findall(text)} - known)


def test_what_is_not_there_is_found() -> None:
    text = "`test_fuzz.py::test_of_nothing`, `readers/test_nothing.py`, `test_fuzz.py`"
    assert list_unknown(text) == {"test_of_nothing", "readers/test_nothing.py"}


def test_documents_name_tests_that_are_there() -> None:
    text = "\n".join(path.read_text("utf-8") for path in list_documents())
    assert len({*_TEST.findall(text)}) > 50
    assert list_unknown(text) == set()


def test_the_change_log_tells_each_thing_once() -> None:
    entries = re.split(r"^- ", (_ROOT / "CHANGELOG.md").read_text("utf-8"), flags=re.MULTILINE)[1:]
    assert sorted(each for each in {*entries} if entries.count(each) > 1) == []
