"""The picture that a saved notebook shows where no kernel runs."""

from __future__ import annotations

import base64

#: above this size the picture is stored once, as HTML, and not as SVG besides
_MOST_TWICE = 300_000


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
    image = (
        f'<img alt="The graph as a static picture" style="max-width:100%" '
        f'src="data:image/svg+xml;base64,{picture}">'
        if svg
        else ""
    )
    bundle = {
        "text/html": f'<div class="nl-static" data-netloupe-static="{static_id}">{image}</div>',
        "text/plain": "The graph as a static picture",
    }
    if svg and len(svg) < _MOST_TWICE:
        bundle["image/svg+xml"] = svg
    return bundle
