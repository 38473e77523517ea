"""Something around the explorer of a page: its policy holds, and the picture stays for paper."""

from __future__ import annotations

import base64
import hashlib
import re

import pytest

from netloupe.explorer.errors import OutputError
from netloupe.explorer.standalone.document import write_html
from netloupe.explorer.standalone.enclosing_page import EnclosingPage, enclose_page

_AROUND = EnclosingPage(
    before="<header>before</header>",
    behind="<main>behind</main>",
    style="main { color: red }",
    script='document.title = "</script>"',
    body_class="around",
    place_class="place",
    still_class="still",
)


def make() -> str:
    page = write_html("m <b>", {"a": 1}, {"x": b"block"}, "<svg>picture</svg>")
    return enclose_page(page.encode(), _AROUND).decode()


def test_the_order_of_what_is_read() -> None:
    page = make()
    marks = [
        '<body class="around">',
        "<header>before</header>",
        '<div class="place" data-nl-explorer></div>',
        '<figure class="still"><svg>picture</svg></figure>',
        "<main>behind</main>",
        'id="nl-data"',
        'data-block="x"',
        "</body>",
    ]
    places = [page.index(mark) for mark in marks]
    assert places == sorted(places)
    assert page.count("<svg>picture</svg>") == 1
    assert "main { color: red }</style></head>" in page


def test_the_policy_names_both_scripts_by_their_hashes() -> None:
    page = make()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    assert policy[1].startswith("default-src 'none'; script-src 'sha256-")
    assert "connect-src" not in policy[1]
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digests = {base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts}
    assert {*re.findall(r"'sha256-([^']+)'", policy[1])} == digests
    assert len(digests) == 2


def test_what_is_no_page_is_refused() -> None:
    for page in (b"", b"<html><body>\n</body></html>", b"<noscript></noscript>"):
        with pytest.raises(OutputError, match="not one that netloupe wrote"):
            enclose_page(page, _AROUND)
