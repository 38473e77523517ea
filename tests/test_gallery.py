"""The gallery and the README show first views, each beside what is said of its model today."""

from __future__ import annotations

import html
import re
import sys
from pathlib import Path

import pytest

from netloupe.commands.info import summarize_model
from netloupe.explorer.readers.load import load
from tests.corpus import corpus_file

_ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(_ROOT / "tools"))

from make_gallery import FIRST_VIEWS  # noqa: E402 - after the path is set

_ENTRY = re.compile(
    r'<td valign="top"><a href="(?P<link>[^"]+)"><img src="(?P<picture>[^"]+)"[^>]*></a><br>\n'
    r"<b>(?P<title>[^<]+)</b>: (?P<sentence>[^\n]+)</td>"
)


def list_entries(document: Path) -> list[re.Match[str]]:
    _, _, behind = document.read_text().partition("<!-- first views -->")
    return [*_ENTRY.finditer(behind.partition("<!-- end of first views -->")[0])]


DOCUMENTS = [_ROOT / "README.md", _ROOT / "docs" / "gallery.md"]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_first_views_of_many_fields_are_shown(document: Path) -> None:
    entries = list_entries(document)
    assert len(entries) >= 24
    assert [entry["title"] for entry in entries] == [title for title, _, _ in FIRST_VIEWS]
    for entry in entries:
        assert entry["link"] == entry["picture"]
        assert (document.parent / entry["picture"]).is_file()
    assert len({entry["picture"] for entry in entries}) == len(entries)


@pytest.mark.parametrize("number", range(len(FIRST_VIEWS)), ids=[one[0] for one in FIRST_VIEWS])
def test_each_stands_beside_what_info_says(number: int) -> None:
    _, name, _ = FIRST_VIEWS[number]
    told = summarize_model(load(corpus_file(name)))["architecture"]["summary"]
    assert told
    for document in DOCUMENTS:
        shown = html.unescape(list_entries(document)[number]["sentence"])
        assert shown == told, f"run tools/make_gallery.py: {document.name} says otherwise"
