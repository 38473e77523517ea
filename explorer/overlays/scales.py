"""Scales: which tone a number has."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from netloupe.explorer.render.tones import blend_hex

from .column import ColourStop, Column, ScaleKind
from .placed_column import Numbers
from .units import write_amount_of

#: from little to much
SEQUENTIAL = tuple(f"scale-{number}" for number in range(7))
UNDER, OVER = "scale-under", "scale-over"
#: from below the middle to above it; the middle one has no hue
DIVERGING = tuple(f"diverging-{number}" for number in range(7))
#: one for each word, in the order in which words are frequent
CATEGORIES = tuple(f"category-{number}" for number in range(8))
OTHER_WORDS = "category-other"

#: colours of a sum by its share of the whole
SHARES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
#: positive numbers whose largest is so many times the smallest get a logarithmic scale
_WIDE = 1000.0
#: of a gradient so many samples stand in the legend
_SAMPLES = 7


class ScaleRow(NamedTuple):
    """One line of a legend: the tone, "" for none, and the numbers that have it.

    Parameters
    ----------
    tone
        By its name; a theme has a colour for it.
    text
        The numbers or the word.
    """

    tone: str
    text: str


class Scale:
    """Classes of numbers, each with a tone.

    Parameters
    ----------
    kind
        What it is called.
    bounds
        Ascending; a number is in the class after the last bound that it reaches.
    tones
        One more than bounds.
    says
        Returns how a number is written.
    is_upper
        Whether a bound is the largest number of the class before it.
    """

    def __init__(
        self,
        kind: str,
        bounds: Sequence[float],
        tones: Sequence[str],
        says: Callable[[float], str],
        *,
        is_upper: bool = False,
    ) -> None:
        self.kind = kind
        self.bounds = [*bounds]
        self.tones = [*tones]
        self._says = says
        self._find = bisect_left if is_upper else bisect_right
        self._is_upper = is_upper

    def tone(self, number: float) -> str:
        """Return the tone of a number.

        Parameters
        ----------
        number
            In the unit of the column; one beyond the ends has the tone of the nearest class.
        """
        return self.tones[self._find(self.bounds, number)]

    def list_rows(self) -> list[ScaleRow]:
        """Return what the legend says, from little to much."""
        says, bounds, tones = self._says, self.bounds, self.tones
        if not bounds:
            return [ScaleRow(tones[0], "every number")]
        below, above = ("≤", ">") if self._is_upper else ("<", "≥")
        rows = [ScaleRow(tones[0], f"{below} {says(bounds[0])}")]
        rows += [
            ScaleRow(tone, f"{says(low)} to {says(high)}")
            for tone, low, high in zip(tones[1:], bounds, bounds[1:], strict=False)
        ]
        return [*rows, ScaleRow(tones[-1], f"{above} {says(bounds[-1])}")]

    def list_classes(self, most: float) -> list[tuple[str, float]]:
        """Return the tone of each class and the largest number that it has, ascending.

        Parameters
        ----------
        most
            The largest number there is: the last class ends there.
        """
        ends = self.bounds
        if not self._is_upper:
            ends = [math.nextafter(bound, -math.inf) for bound in ends]
        last = max(most, *ends) if ends else most
        return [*zip(self.tones, [*ends, last], strict=True)]


class Gradient(Scale):
    """Colours between given ones, each number its own.

    Parameters
    ----------
    stops
        At shares of the way from ``low`` to ``high``, with ``#rrggbb``.
    low, high
        The numbers at 0 and 1.
    says
        Returns how a number is written.
    """

    def __init__(
        self, stops: Sequence[ColourStop], low: float, high: float, says: Callable[[float], str]
    ) -> None:
        super().__init__("gradient", (), ("",), says)
        self._stops = sorted(stops, key=lambda stop: stop.at)
        self._low, self._high = low, high

    def tone(self, number: float) -> str:
        """Return the colour of a number; what is beyond the ends has theirs.

        Parameters
        ----------
        number
            In the unit of the column.
        """
        span = self._high - self._low
        place = (number - self._low) / span if span > 0 else 0.0
        stops = self._stops
        after = bisect_right([stop.at for stop in stops], place)
        if after == 0 or after == len(stops):
            return stops[0 if after == 0 else -1].tone
        one, other = stops[after - 1], stops[after]
        return blend_hex(one.tone, other.tone, (place - one.at) / (other.at - one.at))

    def list_rows(self) -> list[ScaleRow]:
        """Return samples from little to much."""
        steps = np.linspace(self._low, self._high, _SAMPLES).tolist()
        numbers = dict.fromkeys(steps)
        return [ScaleRow(self.tone(number), self._says(number)) for number in numbers]


def make_scale(column: Column, numbers: Numbers, whole: float | None) -> Scale:
    """Return the scale of a column.

    Parameters
    ----------
    column
        What says which scale, and between which percentiles colours differ.
    numbers
        Of all nodes that have one, float64, finite.
    whole
        Of a sum.
    """

    def says(number: float) -> str:
        return write_amount_of(number, column.unit)

    if column.gradient:
        low, high = _find_ends(numbers, None)
        return Gradient(column.gradient, low, high, says)
    if column.thresholds:
        return _make_thresholds(column, says)
    kind = choose_kind(column, numbers, whole)
    if kind == "share":
        return _Shares(whole or 0.0, says)
    if not len(numbers):
        return Scale(kind, (), SEQUENTIAL[3:4], says)
    low, high = _find_ends(numbers, column.clip)
    if kind == "diverging":
        return _make_diverging(numbers, low, high, column.midpoint or 0.0, says)
    tones = SEQUENTIAL[::-1] if column.better == "higher" else SEQUENTIAL
    if kind == "quantile":
        inner = np.quantile(numbers, np.linspace(0, 1, len(tones) + 1)[1:-1]).tolist()
        return _make_ordered(kind, inner, tones, says)
    if kind == "log" and low <= 0:
        positive = numbers[numbers > 0]
        kind, low = ("log", float(positive.min())) if len(positive) else ("linear", low)
    inner = _divide(low, high, len(tones), is_log=kind == "log")
    return _clip(_make_ordered(kind, inner, tones, says), numbers, low, high, column, says)


def choose_kind(column: Column, numbers: Numbers, whole: float | None) -> ScaleKind:
    """Return the kind of scale that a column has, where ``auto`` the one that fits its numbers."""
    if column.scale != "auto":
        if column.scale == "share" and not whole:
            return "linear"
        return column.scale
    if column.midpoint is not None:
        return "diverging"
    if column.aggregation == "sum" and whole and whole > 0 and not (numbers < 0).any():
        return "share"
    if len(numbers) and numbers.min() > 0 and numbers.max() >= _WIDE * numbers.min():
        return "log"
    return "linear"


def _find_ends(numbers: Numbers, clip: tuple[float, float] | None) -> tuple[float, float]:
    if not len(numbers):
        return 0.0, 0.0
    if clip is None:
        return float(numbers.min()), float(numbers.max())
    low, high = np.percentile(numbers, clip).tolist()
    return low, high


def _divide(low: float, high: float, parts: int, *, is_log: bool) -> list[float]:
    """Return the bounds between equal parts, with three digits, so that they are as written."""
    if not high > low:
        return []
    if is_log:
        inner = np.geomspace(low, high, parts + 1)[1:-1].tolist()
    else:
        inner = (low + (high - low) * np.arange(1, parts) / parts).tolist()
    return [_round(bound, 0.0 if is_log else (high - low) / parts) for bound in inner]


def _round(bound: float, step: float) -> float:
    """Return a bound with three digits, more where the steps between bounds are smaller."""
    if not bound or not math.isfinite(bound):
        return bound
    digits = 2 - math.floor(math.log10(abs(bound)))
    if step > 0:
        digits = max(digits, 1 - math.floor(math.log10(step)))
    return round(bound, min(digits, 300))


def _make_ordered(
    kind: str, inner: Sequence[float], tones: Sequence[str], says: Callable[[float], str]
) -> Scale:
    """Return a scale of the bounds that differ, its tones spread over all that there are."""
    bounds = sorted(set(inner))
    count = len(bounds) + 1
    spread = [tones[round(n * (len(tones) - 1) / max(count - 1, 1))] for n in range(count)]
    return Scale(kind, bounds, spread, says)


def _clip(
    scale: Scale,
    numbers: Numbers,
    low: float,
    high: float,
    column: Column,
    says: Callable[[float], str],
) -> Scale:
    """Return a scale with classes of their own for what is beyond its ends."""
    bounds, tones = scale.bounds, scale.tones
    if not bounds:
        return scale
    low, high = _round(low, 0.0), math.nextafter(_round(high, 0.0), math.inf)
    under, over = (OVER, UNDER) if column.better == "higher" else (UNDER, OVER)
    if numbers.min() < low < bounds[0]:
        bounds, tones = [low, *bounds], [under, *tones]
    # the sum of a group may be more than any node has
    if bounds[-1] < high and (numbers.max() > high or column.aggregation == "sum"):
        bounds, tones = [*bounds, high], [*tones, over]
    return Scale(scale.kind, bounds, tones, says)


def _make_diverging(
    numbers: Numbers, low: float, high: float, middle: float, says: Callable[[float], str]
) -> Scale:
    reach = max(abs(low - middle), abs(high - middle))
    if not reach > 0:
        reach = float(np.abs(numbers - middle).max())
    if not reach > 0:
        return Scale("diverging", (), DIVERGING[3:4], says)
    count = len(DIVERGING)
    steps = [reach * (2 * n - count) / count for n in range(1, count)]
    return Scale("diverging", [middle + _round(step, 0.0) for step in steps], DIVERGING, says)


class _Shares(Scale):
    """Classes by the share of a whole."""

    def __init__(self, whole: float, says: Callable[[float], str]) -> None:
        super().__init__("share", [share * whole for share in SHARES], SEQUENTIAL, says)

    def list_rows(self) -> list[ScaleRow]:
        """Return what the legend says, with the shares before the numbers."""
        parts = [f"{100 * share:g}" for share in SHARES]
        numbers = [self._says(bound) for bound in self.bounds]
        shares = [
            f"< {parts[0]} % (< {numbers[0]})",
            *(
                f"{low} to {high} % ({first} to {last})"
                for low, high, first, last in zip(
                    parts, parts[1:], numbers, numbers[1:], strict=False
                )
            ),
            f"≥ {parts[-1]} % (≥ {numbers[-1]})",
        ]
        return [ScaleRow(tone, text) for tone, text in zip(self.tones, shares, strict=True)]


def _make_thresholds(column: Column, says: Callable[[float], str]) -> Scale:
    stops = sorted(column.thresholds, key=lambda stop: stop.at)
    given = [stop.tone for stop in stops]
    if any(given):
        full = [tone or OTHER_WORDS for tone in (*given, "")]
        return Scale("thresholds", [stop.at for stop in stops], full, says, is_upper=True)
    tones = SEQUENTIAL[::-1] if column.better == "higher" else SEQUENTIAL
    count = len(stops) + 1
    spread = [tones[round(n * (len(tones) - 1) / max(count - 1, 1))] for n in range(count)]
    return Scale("thresholds", [stop.at for stop in stops], spread, says, is_upper=True)
