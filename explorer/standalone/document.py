"""The HTML document of a page: one script, allowed by its hash, and behind it what it reads."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from html import escape
from typing import Any, NamedTuple

from netloupe.explorer.errors import OutputError
from netloupe.explorer.page import PAGE
from netloupe.explorer.render.json_text import write_json
from netloupe.explorer.render.text import clean_label

_STYLE = """
body { background: #fbfcfd; margin: 12px; }
[data-theme="dark"] body { background: #0f1318; }
.nl-page-error { max-width: 720px; margin: 40px auto; padding: 0 12px; color: #b3261e;
  font: 400 15px/1.5 "DejaVu Sans", Verdana, sans-serif; overflow-wrap: anywhere; }
[data-theme="dark"] .nl-page-error { color: #ff8a80; }
.nl-page-link { display: block; max-width: 720px; margin: -20px auto 0; padding: 0 12px;
  color: #1769aa; font: 15px/1.5 "DejaVu Sans", Verdana, sans-serif; }
[data-theme="dark"] .nl-page-link { color: #6cb6f5; }
.nl-page-heading { position: absolute; width: 1px; height: 1px; margin: 0; overflow: hidden;
  clip-path: inset(50%); white-space: nowrap; }
noscript svg { max-width: 100%; height: auto; }
@media print {
  body, [data-theme="dark"] body { background: #fff; margin: 0; }
}
"""

_PAGE = re.compile(
    r"""(?P<head>.*?<title>)[^<]*(?P<rest></title>.*?)"""
    r"""<script\ type="application/json"\ id="nl-data">(?P<data>[^<]*)</script>\n"""
    r"""(?P<blocks>.*)<noscript>(?P<still>.*)</noscript>\s*</body>\s*</html>\s*""",
    re.DOTALL | re.VERBOSE,
)


class SplitPage(NamedTuple):
    """The parts of a page.

    Parameters
    ----------
    head
        What stands ahead of the data, with the script: in all pages the same. Its title is empty.
    data
        What the script is told, as JSON in which no ``<`` is.
    blocks
        The elements of the blocks.
    still
        What stands in its place where no script runs, as HTML.
    """

    head: str
    data: str
    blocks: str
    still: str


def split_page(page: bytes) -> SplitPage:
    """Return the parts of a page, as :func:`write_html` writes it.

    Raises
    ------
    OutputError
        Where it is none of these.
    """
    found = _PAGE.fullmatch(page.decode())
    if found is None:
        raise OutputError("the page is not one that netloupe wrote. Write it anew.")
    head = found["head"] + found["rest"]
    return SplitPage(head, found["data"], found["blocks"], found["still"].strip())


def encode(block: bytes) -> str:
    """Return bytes as they stand in a page."""
    return base64.b64encode(block).decode()


def write_element(name: str, block: bytes) -> str:
    """Return the element of a page that holds a block."""
    return f'<script type="text/plain" data-block="{name}">{encode(block)}</script>\n'


def write_html(
    title: str, data: Any, blocks: Mapping[str, bytes], still: str, reach: str = ""
) -> str:
    """Return the document.

    Parameters
    ----------
    title
        What the page is called.
    data
        What the script is told, as JSON.
    blocks
        What it reads when that is needed, by names; what is needed first stands first.
    still
        What stands in its place where no script runs, as HTML.
    reach
        What the script may ask, as a content policy names it; "" for nothing.
    """
    script = (PAGE / "page.js").read_text("utf-8").replace("</script", "<\\/script")
    digest = encode(hashlib.sha256(script.encode()).digest())
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "img-src data:"  # the samples of the legend
    )
    if reach:
        policy += f"; connect-src {reach}"
    style = (PAGE / "explorer.css").read_text("utf-8") + _STYLE
    written = "".join(write_element(name, block) for name, block in blocks.items())
    heading = escape(clean_label(title))
    # no text of a model ends the element
    told = write_json(data).decode("utf-8", "surrogateescape").replace("<", "\\u003c")
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{heading}</title>
<style>{style}</style>
</head>
<body>
<script>{script}</script>
<script type="application/json" id="nl-data">{told}</script>
{written}<noscript>
{still}</noscript>
</body>
</html>
"""
