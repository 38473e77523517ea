"""Overlays in words: what boxes say, how columns are described, what could not be placed."""

from __future__ import annotations

from collections.abc import Sequence

from netloupe.explorer.notation import write_count
from netloupe.explorer.render.text import clean_label

from .amounts import STANDS_OUT, Measured, RepeatSpread
from .column import Column, ModelColumn
from .placed_column import PlacedColumn
from .ranking import RankedNode
from .units import write_amount_of, write_part, write_three

LONGEST_LABEL = 48
_MOST_NAMED = 3
_INSIDE = {"sum": "sum", "mean": "mean", "max": "largest", "min": "smallest"}
_BETTER = {"higher": ", ↑ better", "lower": ", ↓ better", "": ""}


def write_measured(measured: Measured, column: Column) -> str:
    """Return what a closed box with a value says: ``1.2 ms``, ``14 ms · 34 %``, ``int8 87 %``."""
    value = measured.value
    if isinstance(value, str):
        text = clean_label(value, LONGEST_LABEL)
        total = sum(count for _, count in measured.words)
        own = dict(measured.words).get(value, 0)
        return f"{text} {write_part(own / total)}" if len(measured.words) > 1 else text
    assert value is not None  # noqa: S101 - who asks has looked
    if measured.spread is not None:
        return write_spread(measured.spread, column, value, measured.share)
    text = write_amount_of(value, column.unit)
    if measured.in_set:
        return f"{text} for {write_count(measured.in_set, 'node')}"
    if measured.share is not None and measured.count > 1:
        text = f"{text} · {write_part(measured.share)}"
    shared = write_amount_of(measured.shared, column.unit)
    return f"{text} + {shared} shared" if measured.shared else text


def write_spread(
    spread: RepeatSpread, column: Column, value: float | None = None, share: float | None = None
) -> str:
    """Return what the repetitions have.

    Of a closed box, which has its own number: ``14 ms · 34 %; layer.17: 2.3× median``. Of an open
    one, which shows one for all: ``mean 1.2 ms, 1.1 ms to 2.8 ms; layer.17: 2.3× median``.
    """

    def says(number: float) -> str:
        return write_amount_of(number, column.unit)

    ratio, label = spread.ratio, clean_label(spread.worst, 20)
    stands_out = ratio is not None and not 1 / STANDS_OUT < ratio < STANDS_OUT
    worst = f"{label}: {write_three(ratio)}× median" if stands_out and ratio else ""
    if spread.least == spread.most:
        spans = f"{says(spread.mean)} each"
    elif value is None:
        spans = f"mean {says(spread.mean)}, {says(spread.least)} to {says(spread.most)}"
    else:
        spans = "" if worst else f"{says(spread.least)} to {says(spread.most)} each"
    own = ""
    if value is not None and column.aggregation == "sum":
        own = says(value) + (f" · {write_part(share)}" if share is not None else "")
    return "; ".join(filter(None, (own, spans, worst)))


def describe_column(column: Column, scale_kind: str) -> str:
    """Return name, unit, direction, and how groups add up and numbers become colours."""
    name = clean_label(column.name, LONGEST_LABEL)
    if column.unit and column.unit not in name:
        name += f" ({column.unit})"
    name += _BETTER[column.better]
    if column.has_words:
        order = ", ".join(column.order)
        first = f"first inside of {order}" if order else "most frequent inside"
        return f"{name}; groups: {clean_label(first, 80)}"
    weighed = "weighted " if column.weights and column.aggregation == "mean" else ""
    inside = f"{weighed}{_INSIDE[column.aggregation]}"
    return f"{name}; groups: {inside} inside; {_describe_scale(column, scale_kind)}"


def _describe_scale(column: Column, kind: str) -> str:
    if kind == "share":
        return "colour: share of the whole"
    text = f"{kind} colours"
    if kind in ("linear", "log", "diverging") and column.clip is not None:
        text += f", clipped at p{column.clip[0]:g} and p{column.clip[1]:g}"
    return text


def describe_placement(
    column: Column, placement: PlacedColumn, placed: float, whole: float | None
) -> list[str]:
    """Return how much could be placed, what could not, why, and what to do.

    Parameters
    ----------
    column, placement
        What is where.
    placed, whole
        Of sums: what was placed, and what everything has together.
    """
    if isinstance(column, ModelColumn):
        return [*column.notes]
    total = placement.placed_count + placement.unplaced_count
    if not total:
        return [f"{column.name}: there is nothing in it", *column.notes]
    line = f"{placement.placed_count:,} of {total:,} entries placed"
    if column.aggregation == "sum" and whole and whole > 0 and not column.has_words:
        share = write_part(min(max(placed / whole, 0.0), 1.0))
        line = f"{share} of {write_amount_of(whole, column.unit)} placed; {line}"
    lines = [line]
    if placement.normalised_count:
        lines.append(
            f"{placement.normalised_count:,} placed by names that differ in case or signs, or by "
            "the end of the path of a group"
        )
    if placement.unplaced_count:
        lines += _say_unplaced(column, placement)
    return [*lines, *column.notes]


def _say_unplaced(column: Column, placement: PlacedColumn) -> list[str]:
    lines = []
    for reason, count in placement.reasons.most_common():
        found = [one.name for one in placement.unplaced if one.reason == reason][:_MOST_NAMED]
        named = ", ".join(clean_label(name, 60) for name in found)
        more = f" and {count - len(found):,} more" if count > len(found) else ""
        lines.append(f"{count:,} not placed: {reason}: {named}{more}")
    return [*lines, column.remedy] if column.remedy else lines


def describe_ranking(found: Sequence[RankedNode], count: int, *, names: bool) -> list[str]:
    """Return where most of it is: ``80 % is in 12 of 341 nodes: main/Conv_1, …``.

    Parameters
    ----------
    found
        The nodes that have it; nothing is said without.
    count
        Of all nodes.
    names
        Whether the first are named.
    """
    if not found:
        return []
    share = sum(one.share or 0.0 for one in found)
    nodes = sum(one.nodes for one in found)
    text = f"{write_part(min(share, 1.0))} is in {nodes:,} of {write_count(count, 'node')}"
    if not names:
        return [text]
    named = ", ".join(clean_label(one.path, 80) for one in found[:_MOST_NAMED])
    more = f" and {len(found) - _MOST_NAMED:,} more" if len(found) > _MOST_NAMED else ""
    return [f"{text}: {named}{more}"]


def break_lines(text: str, most: int = 60) -> list[str]:
    """Return a text in lines of so many letters at most, broken between words."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}".strip()
        if len(longer) <= most or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines
