"""The options of a view: their names, defaults, choices and words, from ``options.json``.

This file is their single source, as ``page_options.json`` is of those of the explorer in a page.
The command line, the canvas's menus (TypeScript reads the first file), the page
``docs/view_options.md`` and the checks of what Python is given come from them. Types, which a type
checker must read in code, say it once more; a test holds them to the files.
"""

from .option import OPTIONS, PAGE_OPTIONS, Choice, Number, Option, Text, check_option
from .types import (
    Background,
    Details,
    Direction,
    Expand,
    Grouping,
    PageName,
    Share,
    ThemeName,
    WeightContent,
    Wrap,
)

__all__ = [
    "OPTIONS",
    "PAGE_OPTIONS",
    "Background",
    "Choice",
    "Details",
    "Direction",
    "Expand",
    "Grouping",
    "Number",
    "Option",
    "PageName",
    "Share",
    "Text",
    "ThemeName",
    "WeightContent",
    "Wrap",
    "check_option",
]
