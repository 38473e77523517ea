"""The options of a view: their names, defaults, choices and words, from ``options.json``.

This file is their single source. The command line, the canvas's menus (TypeScript reads the same
file), the page ``docs/view_options.md`` and the checks of what Python is given come from it.
Types, which a type checker must read in code, say it once more; a test holds them to the file.
"""

from .option import OPTIONS, Choice, Number, Option, Text, check_option
from .types import Details, Direction, Expand, Grouping, PageName, Share, ThemeName, Wrap

__all__ = [
    "OPTIONS",
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
    "Wrap",
    "check_option",
]
