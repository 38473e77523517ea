"""The picture that a saved notebook shows where no kernel runs."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any

from netloupe.explorer.layout import Scene

#: the cell waits so long for the static picture; when it takes longer it is added later
_SECONDS = 3.0
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


def show_with_picture(
    bundle: Mapping[str, Any],
    scene: Future[Scene],
    draw: Callable[[Scene], str],
    static_id: str,
) -> None:
    """Show a widget, and below it a picture for viewers without a kernel.

    The browser hides the picture as soon as the canvas is painted. A saved notebook keeps
    both; where no kernel runs, the picture is what is seen.

    Parameters
    ----------
    bundle
        The widget as output data.
    scene
        What is drawn, perhaps still on its way.
    draw
        Draws it as SVG.
    static_id
        By this the canvas in the browser finds and hides what it replaces.

    Raises
    ------
    Cancelled, LayoutError
        Where there is no scene; the widget is shown all the same.
    """
    from IPython import display as ipython

    show: Callable[..., Any] = ipython.display
    update: Callable[..., Any] = ipython.update_display
    show(bundle, raw=True)
    try:
        drawn = scene.result(timeout=_SECONDS)
    except TimeoutError:
        show(static_bundle("", static_id), raw=True, display_id=static_id)

        def add_later(future: Future[Scene]) -> None:
            if future.exception() is None:
                later = static_bundle(draw(future.result()), static_id)
                update(later, raw=True, display_id=static_id)

        scene.add_done_callback(add_later)
        return
    show(static_bundle(draw(drawn), static_id), raw=True)


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
