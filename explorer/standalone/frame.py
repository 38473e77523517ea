"""A page inside something else, such as the output of a notebook: a frame that holds it all.

The frame has no origin of its own: the page in it reaches neither what is around it nor storage.
It stands above a picture, which is seen where frames are taken out, and through it while or where
no script runs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from netloupe.explorer.render.json_text import write_json
from netloupe.explorer.render.paint import NO_PAINTS, Paints, encode_paints

from .document import write_element

#: pixels, where the page is to be as high as the window
_USUAL_HEIGHT = 640
#: below the canvas, for the handle there
_BELOW = 10
#: for the inspector, where it stands below the canvas
_INSPECTOR_HEIGHT = 430

_DATA = re.compile(rb'(<script type="application/json" id="nl-data">)([^<]*)')
#: the picture that stands below the frame is in its place
#: by the last element a page knows that nothing is missing
_NO_STILL = b"<noscript></noscript>"
_STILL = re.compile(rb"<noscript>.*</noscript>", re.DOTALL)
_REVIEW = re.compile(rb'<script type="text/plain" data-block="review">[^<]*</script>\n')
#: nothing covers the picture before the explorer is there
_INSIDE = b"<style>body{margin:0}body:not(:has(.nl-explorer)){background:none}</style></head>"

#: What takes style sheets out and keeps a frame shows it above the picture. A widget before it that
#: has no kernel is hidden: that of a notebook as a page (its script) and that of which JupyterLab
#: knows nothing (no element).
_STYLE = """\
<style>
.nl-static:has(iframe){container-type:inline-size;position:relative}
.nl-static iframe{border:0;display:block;position:relative;width:100%;z-index:1}
@container(max-width:759px){.nl-static iframe{min-height:var(--nl-stacked-height)}}
.nl-static:has(iframe) .nl-picture{inset:0;overflow:hidden;position:absolute}
.nl-static:has(iframe) .nl-picture p{display:none}
.jp-OutputArea-child:has(>.jupyter-widgets>script):has(+.jp-OutputArea-child .nl-static iframe),
.jp-OutputArea-child:has(>.jupyter-widgets):not(:has(>.jupyter-widgets *))\
:has(+.jp-OutputArea-child .nl-static iframe),
.output_area:has(>.output_widget_view):has(+.output_area .nl-static iframe){display:none}
</style><noscript><style>
.nl-static iframe{display:none}
.nl-static:has(iframe) .nl-picture{position:static}
.nl-static:has(iframe) .nl-picture p{display:block}
</style></noscript>"""

#: What escapes tags in place of taking them out (nbconvert --sanitize-html) takes the style out too
#: that overrules these classes, which hide in its pages.
_HIDDEN_TAGS = '<div class="hidden jp-FileSize-hidden" style="display:block!important">'


@dataclass(frozen=True, slots=True)
class FirstSight:
    """What is seen of a page at first.

    Parameters
    ----------
    opened
        What is open, as :func:`.page.write_open_groups` gives it; what the page opens where None.
    selected
        Paths of what is selected.
    paints
        How boxes and edges are painted, by path.
    overlay
        The number of the overlay that boxes are coloured by; -1 for none.
    marks
        What a review marks, laid over the paints.
    review
        The block of what its Review tab lists, as :func:`.review_block.write_review` writes it;
        None for that of the page, where it has one.
    """

    opened: Mapping[str, Any] | None = None
    selected: Sequence[str] = ()
    paints: Paints = field(default_factory=lambda: NO_PAINTS)
    overlay: int = -1
    marks: Paints = field(default_factory=lambda: NO_PAINTS)
    review: bytes | None = None


def frame_page(page: bytes, title: str, height: int, shown: FirstSight) -> str:
    """Return the HTML of a frame that holds a page.

    Parameters
    ----------
    page
        As :func:`.page.make_page` writes it.
    title
        What a screen reader calls the frame.
    height
        Of the canvas in pixels, 0 for that of the window.
    shown
        What is seen of it at first.
    """
    page = _STILL.sub(_NO_STILL, page).replace(b"</head>", _INSIDE, 1)
    height = height or _USUAL_HEIGHT
    page = _DATA.sub(lambda found: found[1] + _show(found[2], height, shown), page, count=1)
    if shown.review is not None:
        element = write_element("review", shown.review).encode()
        page = _REVIEW.sub(b"", page).replace(_NO_STILL, element + _NO_STILL, 1)
    high = height + _BELOW
    quoted = page.decode().replace("&", "&amp;").replace('"', "&quot;")
    return (
        f'{_HIDDEN_TAGS}{_STYLE}<iframe title="{escape(title)}" '
        'sandbox="allow-scripts allow-downloads" allow="clipboard-write; fullscreen" '
        f'style="height:{high}px;--nl-stacked-height:{high + _INSPECTOR_HEIGHT}px" '
        f'srcdoc="{quoted}"></iframe></div>'
    )


def _show(written: bytes, height: int, shown: FirstSight) -> bytes:
    """Return the data of a page with other things open, selected and painted."""
    data = json.loads(written)
    if shown.opened is not None:
        data["first"] = shown.opened
        data["command"]["expand"] = ""
    selected = list(shown.selected)
    data["traits"] |= {
        "height": height,
        "selection": selected[0] if selected else "",
        "selected_paths": selected,
        "paints": encode_paints(shown.paints),
        "marks": encode_paints(shown.marks),
        "overlay": shown.overlay if data["traits"].get("overlays") else -1,
    }
    data["has_review"] = data["has_review"] or shown.review is not None
    return write_json(data).replace(b"<", b"\\u003c")
