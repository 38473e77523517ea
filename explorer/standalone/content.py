"""What a page holds, as users say it and as it is checked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from netloupe.explorer.errors import ViewError
from netloupe.explorer.options import PAGE_OPTIONS, WeightContent, check_option

_FACTORS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}


@dataclass(frozen=True, slots=True)
class PageContent:
    """What a page holds.

    Parameters
    ----------
    weights
        What it has of weights: statistics and histograms, or nothing. In neither case it has
        their elements, but for those of which their descriptions tell.
    size_limit
        Bytes that it has at most; None for no limit.
    """

    weights: WeightContent = "histograms"
    size_limit: int | None = None

    @classmethod
    def parse(cls, weights: Any = None, size_limit: Any = None) -> PageContent:
        """Check what is given; None stands for the default.

        Raises
        ------
        ViewError
            For what there is not, or what is no size.
        """
        content = PAGE_OPTIONS["weights"].default if weights is None else weights
        limit = None if size_limit is None else _read_size(size_limit)
        return cls(check_option("weights", content), limit)


#: a page as large as it becomes
EVERYTHING = PageContent()


def _read_size(given: Any) -> int:
    """Return how many bytes are meant."""
    is_number = isinstance(given, int) and not isinstance(given, bool) and given > 0
    text = check_option("size_limit", str(given) if is_number else given)
    number, unit = re.fullmatch(r"([\d.]+) ?([a-z]?)b?", text.lower()).groups()  # type: ignore[union-attr] # as the option has it
    size = int(Decimal(number) * _FACTORS[unit.removesuffix("b")])
    if size < 1:
        raise ViewError(f"size_limit is {given!r}. Give {PAGE_OPTIONS['size_limit'].text}.")
    return size
