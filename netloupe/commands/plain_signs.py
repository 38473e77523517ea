"""Signs of ours in the characters of a terminal that has no others."""

from __future__ import annotations

import codecs
from typing import cast

#: the name under which streams are told to write so
PLAIN = "netloupe.plain"

_SIGNS = {
    "→": "->",
    "↑": "^",
    "↓": "v",
    "×": "x",
    "·": "*",
    "−": "-",
    "–": "-",
    "…": "...",
    "≥": ">=",
    "≤": "<=",
    "█": "#",
    "▏": ".",
    "▎": ".",
    "▍": ":",
    "▌": ":",
    "▋": "+",
    "▊": "+",
    "▉": "#",
    **{sign: f"^{digit}" for digit, sign in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
}


def spell_plainly(error: UnicodeError) -> tuple[str, int]:
    """Return what stands for characters that a stream cannot write, and where to go on.

    Signs that netloupe itself writes are spelled by others that mean the same; all others, as
    those of names, are escaped.
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    escape = codecs.lookup_error("backslashreplace")
    written = ""
    for place in range(error.start, error.end):
        sign = error.object[place]
        one = UnicodeEncodeError(error.encoding, error.object, place, place + 1, error.reason)
        written += _SIGNS[sign] if sign in _SIGNS else cast(str, escape(one)[0])
    return written, error.end


codecs.register_error(PLAIN, spell_plainly)
