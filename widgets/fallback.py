"""What a saved notebook shows where no kernel runs: a picture, and the explorer in a page."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any

from netloupe.explorer.layout import Scene

#: the cell waits so long for the static picture; when it takes longer it is added later
PATIENCE_SECONDS = 3.0
#: bytes of a notebook that what is stored takes at most, but for what breaks its text into lines
MOST_BYTES = 980_000
#: above this size the picture is stored once, as HTML, and not as SVG besides
_MOST_TWICE = 300_000

_SAVED = "The graph as it was saved. Run the cell again to explore it."
#: seen where a page is stored and taken out
_TRUST = " Where the notebook is trusted it can be explored as it is."
#: where no kernel runs the page may say above it that the widget was not found: this says what to
#: do; a picture longer than the canvas is high is scrolled; the class hides it in a page of
#: nbconvert --sanitize-html, which would escape it and takes the style out
_PICTURE = (
    '<div class="nl-picture"><div class="jp-FileSize-hidden" style="display:block">'
    '<p style="margin:4px 0;opacity:0.75">{said}</p>'
    '<div style="max-height:640px;overflow:auto">'
    '<img alt="The graph as a static picture" style="max-width:100%;height:auto" '
    'src="data:image/svg+xml;base64,{picture}"></div></div></div>'
)
#: for who takes styles out
_ABSENT = '<div style="display:none">The graph is explored where the notebook is run.</div>'


def show_with_picture(
    bundle: Mapping[str, Any],
    scene: Future[Scene],
    make_static: Callable[[Scene], dict[str, str]],
    static_id: str,
    seconds: float | None = PATIENCE_SECONDS,
) -> None:
    """Show a widget, and below it what stands there for viewers without a kernel.

    The browser hides that as soon as the canvas is painted. A saved notebook keeps both; where no
    kernel runs, it is what is seen.

    Parameters
    ----------
    bundle
        The widget as output data.
    scene
        What is drawn, perhaps still on its way.
    make_static
        Makes output data of it, as :func:`static_bundle` does.
    static_id
        By this the canvas in the browser finds and hides what it replaces.
    seconds
        The cell waits so long for the scene; None where it waits as long as that takes.

    Raises
    ------
    Cancelled, LayoutError
        Where there is no scene; the widget is shown all the same.
    """
    from IPython import display as ipython

    show: Callable[..., Any] = ipython.display
    show(bundle, raw=True)
    try:
        drawn = scene.result(timeout=seconds)
    except TimeoutError:
        show(static_bundle("", static_id), raw=True, display_id=static_id)

        def add_later(future: Future[Scene]) -> None:
            if future.exception() is None:
                update_static(make_static(future.result()), static_id)

        scene.add_done_callback(add_later)
        return
    show(make_static(drawn), raw=True, display_id=static_id)


def update_static(bundle: Mapping[str, str], static_id: str) -> None:
    """Put something else in the place of what stands below a widget."""
    from IPython import display as ipython

    update: Callable[..., Any] = ipython.update_display
    update(bundle, raw=True, display_id=static_id)


def static_bundle(svg: str, static_id: str, frame: str = "", note: str = "") -> dict[str, str]:
    """Return a picture as output data that a viewer without a kernel can show.

    Parameters
    ----------
    svg
        The picture, or "" where it is not ready.
    static_id
        By this the canvas in the browser finds and hides what it replaces.
    frame
        The explorer that stands above the picture where scripts run, as
        :func:`~netloupe.explorer.standalone.frame.frame_page` gives it. It is left out where all
        would take more than a megabyte.
    note
        What else is said above the picture.
    """
    picture = base64.b64encode(svg.encode()).decode()
    said = _SAVED + (_TRUST if frame else "") + note
    shown = _PICTURE.format(picture=picture, said=said) if svg else ""
    bundle = {
        "text/html": f'<div class="nl-static" data-netloupe-static="{static_id}">{frame}{shown}'
        f"{_ABSENT if svg else ''}</div>",
        "text/plain": "The graph as a static picture",
    }
    if frame and _measure(bundle) > MOST_BYTES:
        return static_bundle(svg, static_id, "", note)
    if svg and len(svg) < _MOST_TWICE:
        twice = {**bundle, "image/svg+xml": svg}
        return twice if not frame or _measure(twice) <= MOST_BYTES else bundle
    return bundle


def _measure(bundle: Mapping[str, str]) -> int:
    """Return how many bytes output data takes in a notebook."""
    return len(json.dumps(bundle, ensure_ascii=False).encode())
