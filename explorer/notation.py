"""How numbers, bytes, dimensions and lists are written in words, everywhere alike.

Text that comes from a file is not cleaned here: whoever shows it does that.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

MOST_DIMS = 16

_BYTE_UNITS = ("kB", "MB", "GB", "TB", "PB", "EB")


def write_bytes(count: int) -> str:
    """Return a size in powers of 1000: ``1 byte``, ``999 bytes``, ``1.5 kB``, ``123 MB``."""
    if count < 1000:
        return write_count(count, "byte")
    # in integers: dimensions can claim more bytes than a float can count
    for power, name in enumerate(_BYTE_UNITS, 1):
        unit = 1000**power
        if 2 * count < 1999 * unit:  # 999.5 would round to the next unit
            tenths = (20 * count + unit) // (2 * unit)
            amount = f"{tenths / 10:.1f}" if tenths < 1000 else f"{(count + unit // 2) // unit}"
            return f"{amount} {name}"
    return f"over 1,000 {_BYTE_UNITS[-1]}"


def write_count(number: int, noun: str, several: str = "") -> str:
    """Return ``1 node``, ``4,900 nodes``; ``several`` is the plural that is no ``nouns``."""
    return f"{number:,} {noun if number == 1 else several or f'{noun}s'}"


def say_count(number: int, noun: str, several: str = "") -> str:
    """Return ``1 byte is``, ``4,900 bytes are``."""
    return f"{write_count(number, noun, several)} {'is' if number == 1 else 'are'}"


def say_how_many(number: int, noun: str, several: str = "") -> str:
    """Return ``there is 1 part``, ``there are 4 parts``."""
    return f"there {'is' if number == 1 else 'are'} {write_count(number, noun, several)}"


def write_span(numbers: Collection[int]) -> str:
    """Return a number that several things share, or the smallest and the largest: ``46 to 50``."""
    low, high = min(numbers), max(numbers)
    return f"{high:,}" if low == high else f"{low:,} to {high:,}"


def write_counts(numbers: Collection[int], noun: str) -> str:
    """Return what each of several things holds: ``50 nodes``, ``46 to 50 nodes``."""
    return f"{write_span(numbers)} {noun}{'' if max(numbers) == 1 else 's'}"


def write_number(number: float, most: int = 6) -> str:
    """Return a float with so many digits at most: ``1e-5``, ``0.125``, ``-inf``."""
    text = f"{number:.{most}g}"
    if "e" in text:
        digits, exponent = text.split("e")
        text = f"{digits}e{int(exponent)}"
    return text


def write_percent(share: float) -> str:
    """Return a share as ``99.3 %``; what is no whole number of percent is not shown as 0 or 100."""
    if share in (0.0, 1.0):
        return f"{share:.0%}".replace("%", " %")
    text = f"{100 * share:.1f}"
    if text == "0.0":
        return "under 0.1 %"
    return "over 99.9 %" if text == "100.0" else f"{text} %"


def write_computed(number: float) -> str:
    """Return a float that was computed and stands in no file: seven digits at most."""
    return f"{number:.7g}"


def write_float(number: float) -> str:
    """Return a float of a file: the shortest of 7, 9 or 17 digits that is exactly this one."""
    with np.errstate(over="ignore"):
        for digits in (7, 9):
            text = f"{number:.{digits}g}"
            if number != number or float(np.float32(text)) == number or float(text) == number:
                return text
    return repr(float(number))


def write_dims(dims: Sequence[int], most: int = MOST_DIMS) -> str:
    """Return ``[64, 3, 7, 7]``; the empty string for a scalar."""
    return f"[{join_parts([str(dim) for dim in dims[:most]], len(dims))}]" if dims else ""


def join_parts(parts: Sequence[str], count: int) -> str:
    """Return the first parts of a list of ``count``: ``a, b, … 4,900 more``."""
    shown = list(parts)
    if count > len(shown):
        shown.append(f"… {count - len(shown):,} more")
    return ", ".join(shown)


def clip_text(text: str, most: int) -> str:
    """Return the text, or its beginning and an ellipsis: at most ``most`` characters."""
    return text if len(text) <= most else text[: most - 1] + "…"
