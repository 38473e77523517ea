"""The overlays of a page: what each box is painted in, for each column that can be chosen.

Integers and values of the block (see :mod:`.blocks`). A path is told by its number among the texts
of the levels, a paint by its number among ``paints``.

============ ==============================================================
column       content
============ ==============================================================
``overlays`` of each its name, and its legend: words, a small picture light and dark, and
             the tone that is explained; "" for none
``paints``   those that occur, as :meth:`Paint.encode` writes them
``paths``    of each box that any overlay paints its path
``closed``   for each overlay, for each of these paths, the paint of the closed box; -1 for none
``opened``   for each overlay, for each of these paths, the paint of the open one; -1 for none
============ ==============================================================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import get_args

from netloupe.explorer.options import ThemeName
from netloupe.explorer.overlays import Overlay
from netloupe.explorer.render.svg import draw_sample
from netloupe.explorer.view import View

from .blocks import write_block
from .level_block import Numbers


def write_overlays(overlays: Sequence[Overlay], view: View, numbers: Mapping[str, int]) -> bytes:
    """Return the block of overlays.

    Parameters
    ----------
    overlays
        What can be chosen.
    view
        What the page shows.
    numbers
        Of each path at which something is shown its number among the texts of the levels.
    """
    paints = Numbers()
    told = []
    rows: list[tuple[dict[str, int], dict[str, int]]] = []
    for overlay in overlays:
        closed: dict[str, int] = {}
        opened: dict[str, int] = {}
        for path in numbers:
            for paint, row in zip(overlay.paint_path(view, path), (closed, opened), strict=True):
                if paint is not None:
                    row[path] = paints.number(tuple(paint.encode()))
        rows.append((closed, opened))
        legend = [
            [entry.text, *(draw_sample(entry, theme) for theme in get_args(ThemeName)), entry.key]
            if entry.kind != "heading"
            else [entry.text, "", "", ""]
            for entry in overlay.list_legend()
        ]
        told.append([overlay.name, legend])
    paths = [path for path in numbers if any(path in row for pair in rows for row in pair)]
    integers = {
        "paths": [numbers[path] for path in paths],
        "closed": [closed.get(path, -1) for closed, _ in rows for path in paths],
        "opened": [opened.get(path, -1) for _, opened in rows for path in paths],
    }
    return write_block(integers, {"overlays": told, "paints": paints.list()})
