"""What differs between two models as items of a review, one for each entry of the difference."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median

from netloupe.explorer.compare import Change, Diff, DifferenceEntry, NumberDifference
from netloupe.explorer.describe.attributes import write_attribute_value
from netloupe.explorer.describe.difference_words import (
    FROM_ZERO,
    list_errors,
    write_change,
    write_difference_heading,
    write_fold,
)
from netloupe.explorer.describe.file_text import write_line, write_tensor_type
from netloupe.explorer.describe.joined_projections import write_compared_weights, write_order
from netloupe.explorer.model import Model
from netloupe.explorer.notation import write_count, write_number

from .item import ReviewItem
from .wording import write_message, write_where

_ID = "diff"
_LONGEST = 300
#: so many places of a difference are named
_MOST_PATHS = 1_000
#: so many statements of the models
_MOST_STATED = 40

EvidenceRows = tuple[tuple[str, str], ...]
#: returns where the picture shows what is at a path of the left model (True) or the right one;
#: "" for what it does not show
FindShown = Callable[[str, bool], str]


def find_right(path: str, is_left: bool) -> str:
    """Return where a picture of the right model shows an element: nothing of the left one."""
    return "" if is_left else path


def list_diff_items(found: Diff, find_shown: FindShown = find_right) -> Iterator[ReviewItem]:
    """Yield what differs between two models, the most important first.

    Parameters
    ----------
    found
        What differs.
    find_shown
        Tells where the picture shows elements of either model.
    """
    for entry in found.entries:
        places = [*_list_places(found, entry)][:_MOST_PATHS]
        shown = (find_shown(path, is_left) for path, is_left in places)
        evidence = [*_list_evidence(found, entry)]
        is_of_places = entry.topic not in ("exchange", "version", "aspect")
        if entry.count > 1 and is_of_places:
            evidence.append(("alike", write_count(entry.count, "place")))
        yield ReviewItem(
            "difference",
            entry.level,
            write_difference_heading(found, entry),
            _write_where(entry, [path for path, _ in places]),
            _ID,
            tuple(dict.fromkeys(path for path in shown if path)),
            tuple(evidence),
            why=_WHY if entry.topic == "interface" else "",
            count=entry.count,
        )


_WHY = (
    "What runs the model before does not run this one: it gives or takes other names, types or "
    "sizes."
)


def _write_where(entry: DifferenceEntry, paths: Sequence[str]) -> str:
    if entry.topic == "interface":
        return write_line(entry.changes[0].what.partition(" ")[2], _LONGEST)
    if entry.groups:
        return write_line(entry.groups[0].path.removeprefix("main/"), _LONGEST)
    return write_where(paths, entry.count) if paths else "the model"


def _list_places(found: Diff, entry: DifferenceEntry) -> Iterator[tuple[str, bool]]:
    """Yield paths of what a difference is about, and whether they are of the left model."""
    if entry.level in ("version", "written"):
        return  # no place of a picture is marked for a version, a name or a text
    if entry.topic == "interface":
        yield from _find_end(found, entry.changes[0])
    elif entry.topic in ("block", "exchange") and entry.groups:
        if entry.topic == "block":
            is_left = not entry.right_nodes
            alone = entry.left_nodes if is_left else entry.right_nodes
            yield from ((node.path, is_left) for node in alone)
        yield from ((pair.right[0].path, False) for pair in entry.pairs)
        yield from ((one.right.path, False) for one in entry.tensors)
    elif entry.topic == "replaced":
        yield from ((one.right[0].path, False) for one in entry.replaced)
    else:
        yield from ((pair.right[0].path, False) for pair in entry.pairs)
        yield from ((node.path, True) for node in entry.left_nodes)
        yield from ((node.path, False) for node in entry.right_nodes)
        yield from ((one.right.path, False) for one in entry.tensors)
        if entry.topic == "lone weight":
            yield from ((tensor.path, True) for tensor in entry.left_tensors)
            yield from ((tensor.path, False) for tensor in entry.right_tensors)


def _find_end(found: Diff, change: Change) -> Iterator[tuple[str, bool]]:
    """Yield where an input or output is; what is gone is in the older model alone."""
    what, _, name = change.what.partition(" ")
    for model in (found.right, found.left):
        values = model.graph.inputs if what == "input" else model.graph.outputs
        there = next((value.path for value in values if value.name == name), "")
        if there:
            yield there, model is found.left
            return


def _list_evidence(found: Diff, entry: DifferenceEntry) -> Iterator[tuple[str, str]]:
    if entry.topic in ("version", "aspect"):
        yield from _list_written(found, entry)
    elif entry.topic in ("model", "interface"):
        yield from _list_stated(entry)
    elif entry.topic == "block":
        yield from _list_of_block(found, entry)
    elif entry.topic == "exchange":
        yield ("numbers", "the same, in other places")
        for one in entry.tensors[:_MOST_STATED]:
            yield ("weight", write_line(one.right.path, _LONGEST))
        yield from _count_more(len(entry.tensors), "weight")
    elif entry.topic in ("fused", "joined", "replaced"):
        yield from zip(("before", "after"), map(write_line, entry.operators), strict=True)
        for change in entry.changes:
            yield (write_line(change.what, _LONGEST), _write_change(change))
        yield from _list_of_chain(found, entry)
    elif entry.topic == "alone":
        yield ("only in", _name_side(found, bool(entry.left_nodes)))
    elif entry.topic == "moved":
        # along a chain it may have the same path as before
        yield ("path before", write_message(entry.pairs[0].left[0].path))
    elif entry.tensors:
        yield from _list_of_weights(entry)
    elif entry.topic == "lone weight":
        yield ("type", write_tensor_type((*entry.left_tensors, *entry.right_tensors)[0]))
    else:
        for change in entry.changes:
            yield (write_line(change.what, _LONGEST), _write_change(change))
        for pair in entry.pairs[:1]:
            if pair.left[0].path != pair.right[0].path:
                yield ("path before", write_message(pair.left[0].path))
    weights = len(entry.left_tensors) + len(entry.right_tensors)
    if weights and entry.topic != "lone weight":
        yield ("with", write_count(weights, "weight"))


def _list_written(found: Diff, entry: DifferenceEntry) -> Iterator[tuple[str, str]]:
    for elements, noun in ((entry.pairs, "node"), (entry.tensors, "weight")):
        if elements:
            yield (f"{noun}s", f"{len(elements):,}")
    yield from _find_example(found, entry)
    for change in entry.changes[:_MOST_STATED]:
        yield (write_line(change.what, _LONGEST), _write_change(change))
    yield from _count_more(len(entry.changes), "statement")


def _count_more(count: int, noun: str) -> Iterator[tuple[str, str]]:
    """Yield how many of so many things are not listed, where that are any."""
    if count > _MOST_STATED:
        yield ("more", write_count(count - _MOST_STATED, noun))


def _find_example(found: Diff, entry: DifferenceEntry) -> Iterator[tuple[str, str]]:
    """Yield what one element says otherwise of an aspect: a node, or else a weight."""
    for pair in entry.pairs[:1]:
        for change in found.list_changes(pair.right[0]):
            if change.aspect == entry.aspect:
                path = write_line(pair.left[0].path, _LONGEST)
                yield ("for example", f"{path}: {_write_change(change)}")
                return
    for one in entry.tensors[:1]:
        change = next(change for change in one.changes if change.aspect == entry.aspect)
        path = write_line(one.left.path, _LONGEST)
        yield ("for example", f"{path}: {_write_change(change)}")


def _list_stated(entry: DifferenceEntry) -> Iterator[tuple[str, str]]:
    if entry.count == 1:
        yield from _write_sides(entry.changes[0])
        return
    for change in entry.changes[:_MOST_STATED]:
        yield (write_line(change.what, _LONGEST), _write_change(change))
    yield from _count_more(len(entry.changes), "statement")


def _list_of_block(found: Diff, entry: DifferenceEntry) -> Iterator[tuple[str, str]]:
    if entry.level != "changed":
        yield ("only in", _name_side(found, bool(entry.left_nodes)))
        yield ("nodes", f"{len(entry.left_nodes or entry.right_nodes):,}")
        return
    for when, nodes in (("before", entry.left_nodes), ("now", entry.right_nodes)):
        yield (when, write_count(len(nodes), "node"))


def _list_of_chain(found: Diff, entry: DifferenceEntry) -> Iterator[tuple[str, str]]:
    if entry.topic == "joined":
        yield ("parts", write_order(found.matching.joined[entry.pairs[0]]))
    folds = [found.folds[pair] for pair in entry.pairs if pair in found.folds]
    worst = max(folds, key=lambda fold: fold.error, default=None)
    if worst is not None:
        yield ("calculated", write_fold(worst).removeprefix("; "))
    if entry.topic == "replaced":
        gone, new = len(entry.left_nodes), len(entry.right_nodes)
        yield ("compared", "no: only what is around is")
        yield ("in the picture", f"{write_count(gone, 'node')} removed, {new:,} added")


def _list_of_weights(entry: DifferenceEntry) -> Iterator[tuple[str, str]]:
    """Yield in what weights differ, at the one that differs most, and how far all are apart."""
    one = entry.tensors[0]
    if one.part is not None:
        yield ("compared", write_compared_weights(one))
    for change in entry.changes:
        yield (write_line(change.what, _LONGEST), _write_change(change))
    if one.numbers is not None:
        yield from _write_numbers(one.numbers)
    errors, zeros = list_errors(entry.tensors)
    if len(errors) > 1:
        told = "median of the others" if zeros else "median of all"
        yield (told, f"{write_number(100 * median(errors))} %")
    if zeros and len(entry.tensors) > 1:
        yield (FROM_ZERO, write_count(zeros, "weight"))
    if one.are_unread:
        yield ("numbers", "could not be compared")


def _name_side(found: Diff, is_left: bool) -> str:
    """Return what a model is called, without the folder of its author."""
    model: Model = found.left if is_left else found.right
    name = write_line(Path(model.source).name or model.source, _LONGEST)
    return f"the {'older' if is_left else 'newer'} model, {name}"


def _write_numbers(numbers: NumberDifference) -> list[tuple[str, str]]:
    if not numbers.changed:
        return [("other bits", f"{write_count(numbers.other_bits, 'number')}: -0 or another NaN")]
    share = 100 * numbers.changed / max(numbers.count, 1)
    changed = ("changed", f"{share:.3g} % of {write_count(numbers.count, 'number')}")
    if numbers.unbounded:
        return [changed, ("to or from NaN or ∞", write_count(numbers.unbounded, "number"))]
    rows = [
        changed,
        ("largest |Δ|", write_number(numbers.largest)),
        ("relative L2", f"{write_number(100 * numbers.relative)} %")
        if math.isfinite(numbers.relative)
        else ("before", "all numbers were 0"),
    ]
    if numbers.cosine is not None:
        rows.append(("cosine", f"{numbers.cosine:.6f}"))
    return rows


def _write_sides(change: Change) -> EvidenceRows:
    if change.left is None and change.right is None:  # only that it differs is known
        return (("differs", write_change(change)),)
    return (("before", _write_side(change.left)), ("after", _write_side(change.right)))


def _write_change(change: Change) -> str:
    if change.left is None and change.right is None:
        return "differs"
    return f"{_write_side(change.left)} → {_write_side(change.right)}"


def _write_side(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, str):
        return write_message(value)[:_LONGEST] or '""'
    return write_attribute_value(value)[:_LONGEST]
