"""What of a page is left out for it not to be larger than it may be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from netloupe.explorer.errors import OutputError
from netloupe.explorer.notation import write_bytes

from .limits import Limits
from .parts import PageParts

#: with notices about it
_Page = tuple[bytes, list[str]]


def fit_page(
    collect: Callable[[Limits, bool], PageParts], limits: Limits, data: dict[str, Any], svg: str
) -> _Page:
    """Return a page that is not larger than it may be, and notices about it.

    Left out are statistics of weights, the smallest weights first; then descriptions, those in
    repetitions but the first and in most groups first; then what is in the innermost groups.

    Parameters
    ----------
    collect
        Makes all that there is within limits, its descriptions ranked or not.
    limits
        How much is written where the page may be of any size.
    data, svg
        As for :meth:`.parts.PageParts.put_together`.

    Raises
    ------
    OutputError
        Where none is so small.
    """
    parts = collect(limits, False)
    limit = parts.content.size_limit
    page = parts.put_together(data, svg)
    if limit is None or len(page[0]) <= limit:
        return page
    found = _leave_out_weights(parts, limit, data, svg)
    while found is None:
        parts = collect(limits, True)
        found = _leave_out_descriptions(parts, limit, data, svg)
        if found is None:
            least = len(parts.put_together(data, svg, 1, 0)[0])
            if max(parts.facts.depths, default=0) == 0:
                raise OutputError(
                    f"the page takes {write_bytes(least)} at least, more than its size limit of "
                    f"{write_bytes(limit)}. Allow more, or write a part of the model or the still "
                    "picture alone."
                )
            share = (parts.size - least + limit) / parts.size
            limits = replace(limits, depth=choose_depth(parts.facts.depths, share))
    return found


def _leave_out_weights(
    parts: PageParts, limit: int, data: dict[str, Any], svg: str
) -> _Page | None:
    """Return a page with as much of weights as fits; None where it does not fit without them."""
    return _find_page(
        len(parts.weights), limit, lambda weighed: parts.put_together(data, svg, None, weighed)
    )


def _leave_out_descriptions(
    parts: PageParts, limit: int, data: dict[str, Any], svg: str
) -> _Page | None:
    """Return a page with as many descriptions as fit and nothing of weights; None for none.

    The first block is in it, as it tells of the model itself.
    """
    return _find_page(
        len(parts.described) - 1, limit, lambda more: parts.put_together(data, svg, 1 + more, 0)
    )


def _find_page(count: int, limit: int, make: Callable[[int], _Page]) -> _Page | None:
    """Return the page made of the most, up to a count, that is not larger than it may be."""
    found = None

    def fits(number: int) -> bool:
        nonlocal found
        page = make(number)
        if len(page[0]) > limit:
            return False
        found = page
        return True

    find_most(count, fits)
    return found


def find_most(count: int, fits: Callable[[int], bool]) -> int:
    """Return the largest number up to ``count`` that fits, where less fits too; -1 for none."""
    if fits(count):
        return count
    low, high = -1, count
    while high - low > 1:
        middle = (low + high) // 2
        if fits(middle):
            low = middle
        else:
            high = middle
    return low


def choose_depth(depths: Mapping[int, int], share: float) -> int:
    """Return in how many open groups at most a share of all paths is, less than the deepest.

    Parameters
    ----------
    depths
        How many paths are in so many open groups.
    share
        The share, 0 to 1.
    """
    total, found = sum(depths.values()), 0
    deepest = max(depths)
    for depth in range(deepest):
        found += depths.get(depth, 0)
        if found > share * total:
            return max(depth - 1, 0)
    return max(deepest - 1, 0)
