"""What the legend of a page can say.

The block (see :mod:`.blocks`) has one column, ``entries``: of each entry its kind, its key and its
words (:mod:`netloupe.explorer.render.legend`), and its small picture, light and dark. Which of them
a picture needs is seen in the browser.
"""

from __future__ import annotations

from functools import cache
from typing import get_args

from netloupe.explorer.options import ThemeName
from netloupe.explorer.render.legend import list_all_entries
from netloupe.explorer.render.svg import draw_sample

from .blocks import write_block


@cache
def write_legend() -> bytes:
    """Return the block, which is the same for all models."""
    entries = [
        (*entry, *(draw_sample(entry, theme) for theme in get_args(ThemeName)))
        for entry in list_all_entries()
    ]
    return write_block({}, {"entries": entries})
