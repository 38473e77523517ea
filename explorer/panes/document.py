"""The HTML document around two panes: their header, what differs, and what both are made of."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from netloupe.explorer.page import PAGE
from netloupe.explorer.render.json_text import write_json
from netloupe.explorer.render.text import clean_label
from netloupe.explorer.standalone.document import encode

_STYLE = Path(__file__).parent / "panes.css"
_SCRIPT_HASH = re.compile(r"script-src ('sha256-[A-Za-z0-9+/=]+')")
_SIDES = ("old", "new")
#: a sign, its tone and what it stands for
_LEGEND = (
    ("−", "removed", "removed"),
    ("+", "added", "added"),
    ("Δ", "changed", "changed"),
    ("⇄", "changed", "moved"),
    ("12", "changed", "nodes that differ inside"),
)


@dataclass(frozen=True, slots=True)
class PaneContent:
    """One of both panes.

    Parameters
    ----------
    name
        What its model is called.
    data
        What its script is told, as JSON.
    blocks
        The elements of its blocks, as HTML.
    still
        The picture that stands in its place where no script runs, as HTML.
    """

    name: str
    data: str
    blocks: str
    still: str


@dataclass(frozen=True, slots=True)
class PanesContent:
    """What stands in the page.

    Parameters
    ----------
    title
        What it is called.
    verdict, compatibility
        In a sentence each, how the models differ and whether one can stand for the other.
    theme
        ``auto``, ``light`` or ``dark``.
    review
        What differs, as :func:`netloupe.explorer.review.encode_review` writes it; paths begin with
        the side that they are of.
    pairs
        The block of pairs in base64.
    panes
        The older model, and the newer one.
    """

    title: str
    verdict: str
    compatibility: str
    theme: str
    review: Mapping[str, Any]
    pairs: str
    panes: tuple[PaneContent, ...]


def write_panes_html(content: PanesContent, head: str) -> str:
    """Return the document.

    Parameters
    ----------
    content
        What stands in it.
    head
        What stands ahead of the data in the page of either model, with the script.
    """
    script = (PAGE / "panes.js").read_text("utf-8").replace("</script", "<\\/script")
    digest = encode(hashlib.sha256(script.encode()).digest())
    inside = _SCRIPT_HASH.search(head)
    allowed = f"'sha256-{digest}'" + (f" {inside[1]}" if inside is not None else "")
    # frames made of a text have the policy of the page around them, and their own
    policy = f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:"
    told = {
        "theme": content.theme,
        "names": [pane.name for pane in content.panes],
        "review": content.review,
        "pairs": content.pairs,
        "head": head,
        "panes": [[pane.data, pane.blocks] for pane in content.panes],
    }
    # no text of a model ends the element
    data = write_json(told).decode("utf-8", "surrogateescape").replace("<", "\\u003c")
    panes = "".join(
        _write_pane(side, pane) for side, pane in zip(_SIDES, content.panes, strict=False)
    )
    heading = escape(clean_label(content.title))
    theme = f' data-theme="{content.theme}"' if content.theme != "auto" else ""
    return f"""<!DOCTYPE html>
<html lang="en"{theme}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{heading}</title>
<style>{_STYLE.read_text("utf-8")}</style>
</head>
<body class="nlp">
{_write_header(content)}
<main class="nlp-main">
<section class="nlp-list" aria-label="Differences" hidden></section>
{panes}</main>
<script>{script}</script>
<script type="application/json" id="nlp-data">{data}</script>
</body>
</html>
"""


def _write_header(content: PanesContent) -> str:
    legend = "".join(
        f'<li><span class="nlp-sign nlp-{tone}" aria-hidden="true">{sign}</span>{meaning}</li>'
        for sign, tone, meaning in _LEGEND
    )
    return f"""<header class="nlp-head">
<h1>{escape(content.verdict)}</h1>
<p class="nlp-quiet">{escape(content.compatibility)}</p>
<ul class="nlp-legend" aria-label="Legend">{legend}</ul>
<div class="nlp-steps" role="group" aria-label="Differences">
<button type="button" data-step="-1" title="Previous difference (K)" disabled>‹ previous</button>
<button type="button" data-list aria-expanded="false" title="List the differences (L)" disabled>\
differences</button>
<button type="button" data-step="1" title="Next difference (J)" disabled>next ›</button>
</div>
<button type="button" class="nlp-switch" role="switch" data-synchronised aria-checked="true" \
title="Both panes show the same place (S)">synchronised</button>
<p class="nlp-told" role="status" data-tone=""></p>
</header>"""


def _write_pane(side: str, pane: PaneContent) -> str:
    name = escape(pane.name)
    return (
        f'<section class="nlp-pane" data-side="{side}" aria-label="{side}: {name}">'
        f'<div class="nlp-title"><h2 title="{name}"><span class="nlp-side">{side}</span> {name}'
        '</h2><p class="nlp-alone" role="status"></p></div>'
        f'<div class="nlp-frame"><noscript>{pane.still}</noscript></div></section>\n'
    )
