"""Columns: numbers or words by name, with what they mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from netloupe.explorer.errors import OverlayError
from netloupe.explorer.model import Node

Better = Literal["", "higher", "lower"]
Aggregation = Literal["sum", "mean", "max", "min"]
ScaleKind = Literal["auto", "share", "linear", "log", "quantile", "diverging"]
AGGREGATIONS: tuple[Aggregation, ...] = get_args(Aggregation)
SCALE_KINDS: tuple[ScaleKind, ...] = get_args(ScaleKind)

#: sums of so many numbers as there can be, and steps of a scale between them, stay finite
LARGEST = 1e290

#: percentiles of the numbers between which colours differ
USUAL_CLIP = (1.0, 99.0)


def is_measurable(number: float) -> bool:
    """Return whether a number can be added up and be part of a scale: neither NaN nor too large."""
    return abs(number) <= LARGEST


def to_number(count: int | None) -> float | None:
    """Return a count as a number; None where it is not known or too large for one."""
    return float(count) if count is not None and is_measurable(count) else None


@dataclass(frozen=True, slots=True)
class ColourStop:
    """A colour and where it stands.

    Parameters
    ----------
    at
        Of thresholds the largest number that has the colour; of a gradient a share of the way
        from the smallest number to the largest, 0 to 1.
    tone
        ``#rrggbb``, or a tone of the themes; "" for none.
    """

    at: float
    tone: str = ""


@dataclass(frozen=True, slots=True)
class NodeSet:
    """One number that several nodes have together, such as the time of a fused kernel.

    Parameters
    ----------
    names
        Of the nodes, or of their outputs.
    number
        Is not divided among them.
    label
        What the set is called where it was measured.
    """

    names: tuple[str, ...]
    number: float
    label: str = ""


@dataclass(frozen=True, slots=True)
class RunTimes:
    """How one number was measured several times.

    Parameters
    ----------
    count
        How often.
    median, least, p95
        Of what was measured, in the unit of the column; the number itself is the median. The 95th
        percentile is interpolated linearly between the two nearest.
    """

    count: int
    median: float
    least: float
    p95: float


@dataclass(frozen=True, slots=True)
class Column:
    """Numbers or words by name, with what they mean.

    Parameters
    ----------
    name
        What they are, as the legend calls it.
    values
        By path (``main/Conv_1``), name of a node, or name of an output or weight. Where any value
        is a word all are taken as words.
    unit
        ``ms``, ``B``, ``dB``; "" for none. ``B`` is bytes.
    better
        Whether ``higher`` or ``lower`` is better; "" for neither.
    aggregation
        What a group has of the numbers inside of it: their ``sum``, weighted ``mean``, ``max`` or
        ``min``. Of words a group has the most frequent one, or the first in ``order``.
    weights
        For a mean, under the same names: how much each number counts; all alike without.
    scale
        How numbers become colours. ``share``: by their share of the whole sum; ``quantile``: so
        that each colour has as many nodes; ``diverging``: about ``midpoint``. ``auto`` takes
        ``share`` for sums, ``diverging`` where a midpoint is given, ``log`` for positive numbers
        that span more than three powers of ten, and else ``linear``.
    midpoint
        Of a diverging scale.
    clip
        Percentiles of the nodes' numbers between which colours differ; what is beyond has a colour
        of its own. None for the smallest and the largest number.
    thresholds, gradient
        Colours that are given, in place of a scale.
    sets
        Numbers that several nodes have together.
    candidates
        By name, further names of the same thing that are tried in turn where nothing has it.
    operators
        By name, what the node computed where it was measured: where that was fused with those
        beside it, the number is that of all of them.
    nested
        Names whose numbers are contained in those of others, and not added to them.
    reasons
        By name, why nothing may be found for it.
    colours
        By name, ``#rrggbb`` in place of the scale's.
    whole
        What everything took together, in the unit of the column, where that was measured, too.
    order
        Of words: those that a group takes first, however rare.
    tones
        Of words: their tones.
    runs
        By name, of numbers that were measured several times.
    notes
        What is to be said of how the numbers came about.
    remedy
        What to do where many names are not found.
    source
        The file, or "".
    heading
        What the file calls it, unit and all; "" where it has no headings.

    Raises
    ------
    OverlayError
        For an aggregation, scale or other word that there is not, and for what is neither a
        number nor a word.
    """

    name: str
    values: Mapping[str, float | str]
    unit: str = ""
    better: Better = ""
    aggregation: Aggregation = "max"
    weights: Mapping[str, float] = field(default_factory=dict)
    scale: ScaleKind = "auto"
    midpoint: float | None = None
    clip: tuple[float, float] | None = USUAL_CLIP
    thresholds: tuple[ColourStop, ...] = ()
    gradient: tuple[ColourStop, ...] = ()
    sets: tuple[NodeSet, ...] = ()
    candidates: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    operators: Mapping[str, str] = field(default_factory=dict)
    nested: frozenset[str] = frozenset()
    reasons: Mapping[str, str] = field(default_factory=dict)
    colours: Mapping[str, str] = field(default_factory=dict)
    whole: float | None = None
    order: tuple[str, ...] = ()
    tones: Mapping[str, str] = field(default_factory=dict)
    runs: Mapping[str, RunTimes] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    remedy: str = ""
    source: str = ""
    heading: str = ""
    #: whether the values are words
    has_words: bool = field(init=False, repr=False, default=False)

    def __post_init__(self) -> None:
        # what has an order has words, also where there are none
        kinds = set(map(type, self.values.values()))
        has_words = bool(self.order) or any(issubclass(kind, str) for kind in kinds)
        object.__setattr__(self, "has_words", has_words)
        for what, given, choices in (
            ("aggregation", self.aggregation, AGGREGATIONS),
            ("scale", self.scale, SCALE_KINDS),
            ("better", self.better, get_args(Better)),
        ):
            if given not in choices:
                shown = ", ".join(repr(choice) for choice in choices)
                raise OverlayError(f"{what} is {given!r}. Choose one of {shown}.")
        if self.clip is not None:
            low, high = self.clip
            if not 0 <= low < high <= 100:
                raise OverlayError(
                    f"clip is {self.clip!r}. Give two percentiles from 0 to 100, the lower first, "
                    "or None."
                )
        if self.midpoint is not None and not is_measurable(self.midpoint):
            raise OverlayError(f"midpoint is {self.midpoint!r}. Give a number.")


@dataclass(frozen=True, slots=True)
class ModelColumn(Column):
    """A column of a model itself: counted where it is asked for, and exactly.

    Parameters
    ----------
    count
        Returns the number of some nodes of one graph together: what several of them share counts
        once. None where it is not known.
    """

    count: Callable[[Sequence[Node]], float | None] | None = None
