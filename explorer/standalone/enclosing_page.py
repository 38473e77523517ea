"""A page with something around its explorer, such as a report: above, beside and for paper."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from netloupe.explorer.errors import OutputError

from .document import encode

_STILL = re.compile(rb"<noscript>(.*)</noscript>", re.DOTALL)
#: what :func:`.document.write_html` writes once, and where something is put
_POLICY, _HEAD_END, _BODY, _END = b"; style-src ", b"</head>", b"<body>\n", b"</body>"


@dataclass(frozen=True, slots=True)
class EnclosingPage:
    """What is around the explorer of a page, as HTML without scripts.

    Parameters
    ----------
    before, behind
        What stands before the explorer, and behind it.
    script
        What it does; run when all of it is there.
    body_class, place_class, still_class
        Classes of the body, of what holds the explorer, and of what holds the picture that stands
        in its place on paper and where no script runs.
    """

    before: str
    behind: str
    style: str
    script: str
    body_class: str
    place_class: str
    still_class: str


def enclose_page(page: bytes, around: EnclosingPage) -> bytes:
    """Return a page with something around its explorer.

    The content policy names the script by its hash, as it does that of the explorer; nothing else
    changes.

    Parameters
    ----------
    page
        As :func:`.page.make_page` writes it.
    around
        What is put around.

    Raises
    ------
    OutputError
        Where the page is none of these.
    """
    found = _STILL.search(page)
    if found is None or any(page.count(mark) < 1 for mark in (_POLICY, _HEAD_END, _BODY, _END)):
        raise OutputError("the page is not one that netloupe wrote. Write it anew.")
    still = found[1].strip()
    script = around.script.replace("</script", "<\\/script").encode()
    digest = encode(hashlib.sha256(script).digest()).encode()
    style = f"<style>{around.style}</style></head>".encode()
    without = (
        f"<noscript><style>.{around.still_class}{{display:block!important}}</style></noscript>"
    )
    body = b"".join(
        (
            f'<body class="{around.body_class}">\n{around.before}'.encode(),
            f'<div class="{around.place_class}" data-nl-explorer></div>'.encode(),
            f'<figure class="{around.still_class}">'.encode(),
            still,
            f"</figure>{without}{around.behind}\n".encode(),
            b"<script>",
            script,
            b"</script>\n",
        )
    )
    head, rest = page[: found.start()], page[found.end() :]
    head = head.replace(_POLICY, b" 'sha256-" + digest + b"'" + _POLICY, 1)
    head = head.replace(_HEAD_END, style, 1).replace(_BODY, body, 1)
    return head + rest
