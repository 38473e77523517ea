"""Colours that are given as ``#rrggbb`` in place of a tone, as other tools write them.

They are the same in every theme; the text on them is black or white, whichever is easier to read.
"""

from __future__ import annotations

import re
from functools import lru_cache

_HEX = r"#[0-9a-f]{6}"
_BLACK, _WHITE = "#000000", "#ffffff"
#: of the way from the fill to the text
_BORDER = 0.3


def is_hex(tone: str) -> bool:
    """Return whether a tone is given as ``#rrggbb``, in small letters."""
    return re.fullmatch(_HEX, tone) is not None


def blend_hex(one: str, other: str, share: float) -> str:
    """Return the colour that lies a share of the way from one to another, channel by channel."""
    mixed = [
        int(a + (b - a) * min(max(share, 0.0), 1.0) + 0.5)  # as JavaScript rounds
        for a, b in zip(_read(one), _read(other), strict=True)
    ]
    return "#{:02x}{:02x}{:02x}".format(*mixed)


def measure_luminance(colour: str) -> float:
    """Return the relative luminance of ``#rrggbb``, 0 to 1 (WCAG 2.2, relative luminance)."""
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (channel / 255 for channel in _read(colour))
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def measure_contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours, 1 to 21 (WCAG 2.2, contrast ratio)."""
    low, high = sorted((measure_luminance(one), measure_luminance(other)))
    return (high + 0.05) / (low + 0.05)


@lru_cache(maxsize=4096)
def choose_text(fill: str) -> str:
    """Return black or white, whichever has the higher contrast on a colour: 4.58 at least."""
    return max(_BLACK, _WHITE, key=lambda ink: measure_contrast(ink, fill))


def choose_border(fill: str) -> str:
    """Return the colour of a line around what is filled with a colour."""
    return blend_hex(fill, choose_text(fill), _BORDER)


def _read(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
