"""Signs of ours in the characters of a terminal that has no others."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from typing import TextIO, cast

#: the name under which streams are told to write so
PLAIN = "netloupe.plain"

_SIGNS = {
    "→": "->",
    "ᵀ": "^T",
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


def asks_for_ascii(stream: TextIO, environment: Mapping[str, str]) -> bool:
    """Return whether a terminal is one of ASCII, as its user says by the locale ``C``.

    Python writes UTF-8 there (PEP 538 and PEP 540), and sets ``LC_CTYPE`` for that, so that
    ``LC_ALL`` and ``LANG`` are asked. Where nothing is said, or the output goes to a file or
    another program, it stays so.
    """
    if {"PYTHONIOENCODING", "PYTHONUTF8"} & {*environment} or not stream.isatty():
        return False
    said = (environment.get(name, "") for name in ("LC_ALL", "LC_CTYPE", "LANG"))
    wanted = [locale for locale in said if locale]
    if wanted[:1] == ["C.UTF-8"] and not environment.get("LC_ALL"):  # perhaps set by Python
        wanted = wanted[1:]
    return wanted[:1] in (["C"], ["POSIX"])


codecs.register_error(PLAIN, spell_plainly)
