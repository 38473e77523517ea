"""The picture that a saved notebook shows where no kernel runs."""

from __future__ import annotations

import base64

#: above this size the picture is stored once, as HTML, and not as SVG besides
_MOST_TWICE = 300_000

#: where no kernel runs the page may say above it that the widget was not found: this says what to
#: do; a picture longer than the canvas is high is scrolled
_PICTURE = (
    '<p style="margin:4px 0;opacity:0.75">The graph as it was saved. '
    "Run the cell again to explore it.</p>"
    '<div style="max-height:640px;overflow:auto">'
    '<img alt="The graph as a static picture" style="max-width:100%;height:auto" '
    'src="data:image/svg+xml;base64,{picture}"></div>'
)


def static_bundle(svg: str, static_id: str) -> dict[str, str]:
    """Return a picture as output data that a viewer without a kernel can show.

    Parameters
    ----------
    svg
        The picture, or "" where it is not ready.
    static_id
        By this the canvas in the browser finds and hides what it replaces.
    """
    picture = base64.b64encode(svg.encode()).decode()
    shown = _PICTURE.format(picture=picture) if svg else ""
    bundle = {
        "text/html": f'<div class="nl-static" data-netloupe-static="{static_id}">{shown}</div>',
        "text/plain": "The graph as a static picture",
    }
    if svg and len(svg) < _MOST_TWICE:
        bundle["image/svg+xml"] = svg
    return bundle
