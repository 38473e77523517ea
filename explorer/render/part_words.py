"""Which part of an axis a node takes, in words that cannot be read in two ways: ``2nd of 3``.

Files count places from 0, and people from 1. So a single place is an ordinal, parts at either end
are told by how many places they have, and those between by their numbers in the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from netloupe.explorer.costs.facts import Dim
from netloupe.explorer.costs.polynomial import TooLargeError
from netloupe.explorer.layout.value_sizes import write_dim
from netloupe.explorer.notation import write_count
from netloupe.explorer.patterns.picked_parts import PickedPart

#: so many parts are written one by one
MOST_PARTS = 4
_WORDS = {1: "first", 2: "second"}
_ENDINGS = {1: "st", 2: "nd", 3: "rd"}
_TEENS = range(11, 14)
_PAIR = 2


def write_ordinal(number: int) -> str:
    """Return ``2nd`` or ``13th``."""
    is_teen = number % 100 in _TEENS
    return f"{number:,}{'th' if is_teen else _ENDINGS.get(number % 10, 'th')}"


def write_place_of_axis(index: Dim, size: Dim) -> str:
    """Return ``first of 3``, ``2nd of 3``, ``last of 3``; "" for the only one, or none known."""
    whole = write_dim(size)
    if not isinstance(index, int) or whole == "?":
        return ""
    if isinstance(size, int):
        index += size if index < 0 else 0
        if not 0 <= index < size:
            return ""
        if size == 1:
            return ""
        if index == size - 1:
            return f"last of {whole}"
    if index == -1:
        return f"last of {whole}"
    if index < 0:
        return f"{write_ordinal(-index)} last of {whole}"
    return f"{_WORDS.get(index + 1) or write_ordinal(index + 1)} of {whole}"


def write_part_of_axis(part: PickedPart) -> str:
    """Return ``last 12 of 168``, ``12 … 155 of 168``, ``every 2nd of 64``; "" where not known.

    Of all of an axis nothing is said, either.
    """
    start, end, step, size = part.start, part.end, part.step, part.size
    whole = write_dim(size)
    if whole == "?" or not isinstance(step, int):
        return ""
    if step < 0:
        return f"{whole} reversed" if part.is_reversal else ""
    if isinstance(size, int) and isinstance(end, int):
        end = min(end, size)
    if part.is_to_end:
        end = size
    if not isinstance(start, int):
        return ""
    if isinstance(end, int) and start >= max(end, 0):
        return ""  # nothing is taken
    if step > 1:
        return _write_strided(start, end, step, size)
    return _write_range(start, end, size)


def _write_strided(start: int, end: Dim, step: int, size: Dim) -> str:
    whole = write_dim(size)
    if start < 0:
        return ""
    every = f"every {write_ordinal(step)} of {whole}"
    is_last = isinstance(end, int) and isinstance(size, int) and end + step > size
    if end == size or (is_last and _ends_alike(start, end, size, step)):
        return every if start == 0 else f"{every}, from the {write_ordinal(start + 1)}"
    if not isinstance(end, int):
        return ""
    last = start + (end - start - 1) // step * step
    return f"{start:,} … {last:,} of {whole}, every {write_ordinal(step)}"


def _ends_alike(start: int, end: Dim, size: Dim, step: int) -> bool:
    """Return whether as many places are taken up to an end as up to that of the axis."""
    if not isinstance(end, int) or not isinstance(size, int):
        return False
    return len(range(start, end, step)) == len(range(start, size, step))


def _write_range(start: int, end: Dim, size: Dim) -> str:
    whole = write_dim(size)
    left = _subtract(size, end)
    if start < 0:  # of an axis whose size has a name
        if left != 0:
            return ""
        return write_place_of_axis(start, size) if start == -1 else f"last {-start:,} of {whole}"
    if isinstance(end, int) and end - start == 1:
        return write_place_of_axis(start, size)
    if start == 0:
        if left == 0:
            return ""
        count = write_dim(end)
        if isinstance(size, int) or left is None:
            return "" if count == "?" else f"first {count} of {whole}"
        return f"all but the last {_count(left)}of {whole}"
    if left == 0:
        if isinstance(size, int):
            return f"last {size - start:,} of {whole}"
        return f"all but the first {_count(start)}of {whole}"
    if isinstance(end, int):
        return f"{start:,} … {end - 1:,} of {whole}"
    return "" if left is None else f"all but the first {start:,} and the last {left:,} of {whole}"


def _count(number: int) -> str:
    return "" if number == 1 else f"{number:,} "


def _subtract(size: Dim, end: Dim) -> int | None:
    """Return how many places are behind an end; None where that is no number of its own."""
    if size is None or end is None:
        return None
    try:
        left = size - end
    except TooLargeError:
        return None
    return left if isinstance(left, int) and left >= 0 else None


def write_picks(indices: Sequence[int], size: int) -> str:
    """Return what some places of an axis of a size are, which need not be in a row.

    ``first 4 of 12``, ``every 2nd of 64``, ``12 reversed``, ``12 in another order``, ``5 of 64``;
    "" where some are none of that axis.
    """
    found = [index + size if index < 0 else index for index in indices]
    if not found or not all(0 <= index < size for index in found):
        return ""
    steps = {after - before for before, after in pairwise(found)}
    if len(found) == 1:
        return write_place_of_axis(found[0], size)
    step = steps.pop() if len(steps) == 1 else 0
    if step > 0:
        part = PickedPart(0, found[0], found[-1] + 1, step, size)
        return write_part_of_axis(part) or f"all {size:,}"
    if sorted(found) == [*range(size)]:
        return f"{size:,} reversed" if step == -1 else f"{size:,} in another order"
    if len({*found}) < len(found):
        return f"{len(found):,} picks of {size:,}"
    return f"{len(found):,} of {size:,}"


def write_parts(parts: Sequence[Dim], count: int, whole: Dim = None) -> str:
    """Return ``24 → 16 + 8`` or ``96 → 3 × 32`` for parts of an axis; ``3 parts`` where unknown."""
    sizes = [write_dim(part) for part in parts]
    if "?" in sizes or len(sizes) < count:
        return write_count(count, "part")
    if {*sizes} == {"1"} and count > MOST_PARTS:
        return f"each of {write_count(count, 'place')}"
    told = write_sum(sizes)
    before = write_dim(whole)
    if not told:
        return write_count(count, "part")
    return told if before == "?" else f"{before} → {told}"


def write_sum(sizes: Sequence[str]) -> str:
    """Return ``16 + 8`` or, of more than two equal ones, ``4 × 16``; "" for many that differ."""
    if len(sizes) > _PAIR and len({*sizes}) == 1:
        size = sizes[0] if " " not in sizes[0] else f"({sizes[0]})"
        return f"{len(sizes):,} × {size}"
    return " + ".join(sizes) if len(sizes) <= MOST_PARTS else ""
