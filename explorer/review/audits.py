"""What an audit of a quantized model says as items of a review."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

from netloupe.explorer.audit import FloatIsland, QuantizationAudit, WeightAudit
from netloupe.explorer.audit.verdict import is_changed
from netloupe.explorer.checks import Rule
from netloupe.explorer.checks.folding import mask_digits
from netloupe.explorer.notation import join_parts, write_bytes, write_count, write_number

from .findings import make_finding_item
from .item import ReviewItem
from .wording import write_message, write_where

#: of items that no rule has found
AUDIT_ID = "audit"
_MOST_OPERATORS = 6
_MOST_PATHS = 1_000
_WHY_FLOATS = (
    "Values are dequantized on its border and quantized behind it: that and the floats in between "
    "are often what makes a quantized model no faster."
)
_WHY_CHANGED = (
    "Codes that were rounded from this twin have an excess error of 1. More says that weights were "
    "clipped, or trained on after quantization, or that the twin is of another training."
)


#: what is told of weights beside how near they are: for which of them, what is wrong, and why it is
_FAULTS: tuple[tuple[Callable[[WeightAudit], bool], str, str], ...] = (
    (
        lambda one: one.state == "other numbers",
        "A {} with other numbers than all of the float model",
        "No float weight with as many elements is like it: changed, or of another training.",
    ),
    (
        lambda one: bool(one.expected),
        "A {} with the numbers of another one of the float model",
        "Weights were exchanged, unless names were given anew.",
    ),
    (
        lambda one: one.is_turned,
        "A {} transposed against the float model",
        "Its operator sums over the axis that the float model's does not sum over.",
    ),
)


def list_audit_items(found: QuantizationAudit, rules: Mapping[str, Rule]) -> Iterator[ReviewItem]:
    """Yield defects, weights that are off by more than rounding, and islands of floats.

    Parameters
    ----------
    found
        What an audit found.
    rules
        By their ids the rules of defects, as far as they are known.
    """
    for defect in found.defects:
        yield make_finding_item(defect, rules.get(defect.id), "audit")
    yield from _list_weights(found)
    for island in found.islands:
        yield _list_island(island)


def _list_weights(found: QuantizationAudit) -> Iterator[ReviewItem]:
    """Yield weights that are not what their twin is, alike ones as one, the worst told."""
    kinds = ((is_changed, "A {} off its float twin by more than rounding", _WHY_CHANGED), *_FAULTS)
    for is_one, title, why in kinds:
        chosen = [one for one in found.weights if is_one(one)]
        yield from _list_alike(chosen, title, why)


def _list_alike(chosen: list[WeightAudit], title: str, why: str) -> Iterator[ReviewItem]:
    alike: dict[str, list[WeightAudit]] = {}
    for one in sorted(chosen, key=_order):
        alike.setdefault(mask_digits(one.path), []).append(one)
    for weights in alike.values():
        paths = tuple(one.path for one in weights[:_MOST_PATHS])
        evidence = _write_fidelity(weights[0])
        if len(weights) > 1:
            evidence.append(("alike", f"{write_count(len(weights), 'weight')}, the worst is told"))
        noun = "bias" if weights[0].is_bias else "weight"
        yield ReviewItem(
            "audit",
            "warning",
            title.format(noun),
            write_where(paths, len(weights)),
            AUDIT_ID,
            paths,
            tuple(evidence),
            why=why,
            count=len(weights),
        )


def _order(one: WeightAudit) -> float:
    return math.inf if one.fidelity is None else one.fidelity.sqnr_db


def _write_fidelity(one: WeightAudit) -> list[tuple[str, str]]:
    """Return how near a weight is to its twin, with units and which way is better."""
    found = one.fidelity
    if found is None:
        return [("not compared", write_message(one.reason))] if one.reason else []
    told = [("SQNR ↑", f"{write_number(found.sqnr_db)} dB")]
    if found.ideal_sqnr_db is not None:
        told.append(("ideal SQNR", f"{write_number(found.ideal_sqnr_db)} dB"))
    for label, number in (
        ("excess error ↓", found.excess_error),
        ("largest error ↓", found.max_step_error),
    ):
        if number is not None:
            unit = " steps" if label.startswith("largest") else " (1 for rounding alone)"
            told.append((label, f"{write_number(number)}{unit}"))
    told.append(("clipped ↓", f"{write_number(100 * found.clipped)} %"))
    if found.channels > 1:
        worst = f"{found.worst_channel:,}: {write_number(found.worst_channel_sqnr_db)} dB"
        told.append(("worst channel", worst))
    if one.expected:
        told.append(("by its name", write_message(one.expected)))
    if one.reference:
        told.append(("twin", write_message(one.reference)))
    return told


def _list_island(island: FloatIsland) -> ReviewItem:
    names = [f"{count:,} {name}" for name, count in island.operators.items()]
    evidence = [
        ("nodes", f"{island.nodes:,}"),
        ("operators", write_message(join_parts(names[:_MOST_OPERATORS], len(names)))),
    ]
    for label, number in (
        ("multiplications", island.macs),
        ("other operations", island.other_operations),
    ):
        if number is not None:
            evidence.append((label, f"{number:,}"))
    if island.border_bytes is not None:
        size = write_bytes(island.border_bytes)
        evidence.append(
            ("on its border", f"{write_count(island.borders, 'value')}, {size} of floats")
        )
    if island.count > 1:
        evidence.append(
            ("alike", f"{write_count(island.count, 'such part')}, each of these numbers")
        )
    return ReviewItem(
        "audit",
        "minor",
        "A part that computes in floats between quantized ones",
        write_where(island.paths, island.nodes),
        AUDIT_ID,
        island.paths,
        tuple(evidence),
        why=_WHY_FLOATS,
        count=island.nodes,
    )
