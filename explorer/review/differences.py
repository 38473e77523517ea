"""What differs between two models as items of a review, alike places told as one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from netloupe.explorer.checks.folding import mask_digits
from netloupe.explorer.compare import Change, Diff, NumberDifference, TensorDifference
from netloupe.explorer.describe.attributes import write_attribute_value
from netloupe.explorer.describe.file_text import write_line, write_tensor_type
from netloupe.explorer.describe.joined_projections import (
    write_compared_weights,
    write_joined,
    write_order,
)
from netloupe.explorer.model import Model
from netloupe.explorer.notation import join_parts, write_count, write_number

from .item import Level, ReviewItem
from .wording import write_message, write_where

_ID = "diff"
_LONGEST = 300
_MOST_TOLD = 6
#: so many places of a difference are named
_MOST_PATHS = 1_000
#: what may be ignored, in words
_ASPECTS = {
    "names": "Names",
    "docs": "Texts for people",
    "storage": "How tensors are stored",
    "defaults": "Attributes that state defaults",
    "order": "Orders",
}

Evidence = tuple[tuple[str, str], ...]
#: returns where the picture shows what is at a path of the left model (True) or the right one;
#: "" for what it does not show
FindShown = Callable[[str, bool], str]


def find_right(path: str, is_left: bool) -> str:
    """Return where a picture of the right model shows an element: nothing of the left one."""
    return "" if is_left else path


@dataclass(slots=True)
class _Alike:
    """Places that differ in the same way."""

    level: Level
    title: str
    evidence: Evidence
    is_left: bool
    paths: list[str] = field(default_factory=list)
    count: int = 0

    def add(self, path: str) -> None:
        self.count += 1
        if len(self.paths) < _MOST_PATHS:
            self.paths.append(path)


class _Fold:
    """Collects differences; those at alike places become one item."""

    def __init__(self, find_shown: FindShown) -> None:
        self._find_shown = find_shown
        self._alike: dict[tuple[str, ...], _Alike] = {}

    def add(
        self,
        level: Level,
        title: str,
        path: str,
        evidence: Evidence = (),
        *,
        is_left: bool = False,
        key: Sequence[str] | None = None,
    ) -> None:
        """Add one place; ``key`` is what it is alike in, where that is not title and evidence."""
        told = key if key is not None else [text for row in evidence for text in row]
        known = (level, title, mask_digits(path), *told)
        alike = self._alike.get(known)
        if alike is None:
            alike = self._alike[known] = _Alike(level, title, evidence, is_left)
        alike.add(path)

    def items(self) -> Iterator[ReviewItem]:
        for alike in self._alike.values():
            shown = (self._find_shown(path, alike.is_left) for path in alike.paths if path)
            paths = tuple(dict.fromkeys(path for path in shown if path))
            evidence = list(alike.evidence)
            if alike.count > 1:
                evidence.append(("alike", write_count(alike.count, "place")))
            named = [path for path in alike.paths if path]
            yield ReviewItem(
                "difference",
                alike.level,
                alike.title,
                write_where(named, alike.count),
                _ID,
                paths,
                tuple(evidence),
                count=alike.count,
            )


def list_diff_items(found: Diff, find_shown: FindShown = find_right) -> Iterator[ReviewItem]:
    """Yield what differs between two models.

    Parameters
    ----------
    found
        What differs.
    find_shown
        Tells where the picture shows elements of either model.
    """
    yield from _list_interface(found, find_shown)
    yield from _list_about(found.about)
    fold = _Fold(find_shown)
    aspects = _Fold(find_shown)
    _add_nodes(found, fold, aspects)
    _add_tensors(found, fold, aspects)
    yield from fold.items()
    yield from aspects.items()


def _list_interface(found: Diff, find_shown: FindShown) -> Iterator[ReviewItem]:
    for change in found.interface:
        what, _, name = change.what.partition(" ")
        path = ""
        for model in (found.right, found.left):  # what is gone is in the older one alone
            values = model.graph.inputs if what == "input" else model.graph.outputs
            there = next((value.path for value in values if value.name == name), "")
            path = path or (there and find_shown(there, model is found.left))
        yield ReviewItem(
            "difference",
            "changed",
            f"The {what} is not compatible",
            write_line(name, _LONGEST),
            _ID,
            (path,) if path else (),
            (*_write_sides(change), ("so", "no drop-in replacement")),
            why="What runs the model before it does not run this one: it gives or takes other "
            "names, types or sizes.",
        )


def _list_about(changes: Iterable[Change]) -> Iterator[ReviewItem]:
    for change in changes:
        title = write_line(change.what, _LONGEST)
        title = title[:1].upper() + title[1:]
        yield ReviewItem(
            "difference", "changed", f"{title} differs", "the model", _ID, (), _write_sides(change)
        )


def _add_nodes(found: Diff, fold: _Fold, aspects: _Fold) -> None:
    for one in found.nodes:
        left, right = one.pair.left[0], one.pair.right[0]
        real = [change for change in one.changes if not change.aspect]
        if real:
            told = [write_line(change.what, _LONGEST) for change in real]
            title = f"{write_line(right.op_type)}: {join_parts(told[:_MOST_TOLD], len(told))}"
            if left.op_type != right.op_type:
                title = f"{write_line(left.op_type)} became {write_line(right.op_type)}"
            evidence = tuple(
                (write_line(change.what, _LONGEST), _write_change(change)) for change in real
            )
            fold.add("changed", title, right.path, evidence)
        for aspect in dict.fromkeys(change.aspect for change in one.changes if change.aspect):
            row = next(change for change in one.changes if change.aspect == aspect)
            example = (("for example", f"{left.path}: {_write_change(row)}"),)
            title = f"{_ASPECTS[aspect]} of nodes differ"
            aspects.add("changed", title, right.path, example, key=(aspect,))
    for pair in found.moved:
        # along a chain it may have the same path as before
        before = ("path before", write_message(pair.left[0].path))
        title = f"{write_line(pair.right[0].op_type)} moved"
        fold.add("moved", title, pair.right[0].path, (before,), key=())
    for pair in found.fused:
        older, newer = (
            write_line(" + ".join(node.op_type for node in side))
            for side in (pair.left, pair.right)
        )
        rows = [("before", older), ("after", newer)]
        title, joint = f"{older} became {newer}", found.matching.joined.get(pair)
        if joint is not None:
            words = write_joined(joint)
            title = words[:1].upper() + words[1:]
            rows.append(("parts", write_order(joint)))
        path = pair.right[0].path
        fold.add("changed", title, path, tuple(rows), key=(older, newer))
    only_left = (("only in", f"the older model, {_name_model(found.left)}"),)
    only_right = (("only in", f"the newer model, {_name_model(found.right)}"),)
    for chains in found.replaced:
        gave_way, instead = (write_line(", ".join(n.op_type for n in side)) for side in chains)
        gone, new = (write_count(len(side), "node") for side in chains)
        rows = [
            ("before", gave_way),
            ("after", instead),
            ("compared", "no: only what is around is"),
        ]
        rows.append(("in the picture", f"{gone} removed, {new} added"))
        path = chains.right[0].path
        fold.add("changed", f"{gave_way} replaced by {instead}", path, tuple(rows))
    for node in found.removed_nodes:
        operator = write_line(node.op_type)
        fold.add("removed", f"{operator} removed", node.path, only_left, is_left=True)
    for node in found.added_nodes:
        fold.add("added", f"{write_line(node.op_type)} added", node.path, only_right)


def _add_tensors(found: Diff, fold: _Fold, aspects: _Fold) -> None:
    for one in _sort_tensors(found.tensors):
        real = [change for change in one.changes if not change.aspect]
        if real or one.numbers is not None or one.are_unread:
            rows = [(write_line(change.what, _LONGEST), _write_change(change)) for change in real]
            if one.part is not None:
                rows.insert(0, ("compared", write_compared_weights(one)))
            if one.numbers is not None:
                rows += _write_numbers(one.numbers)
            if one.are_unread:
                rows.append(("numbers", "could not be compared"))
            title = "Weight could not be read" if one.are_unread and not real else "Weight differs"
            # of many layers that were trained on, the one that differs most is told
            kinds = [*(change.what for change in real), str(one.are_unread)]
            fold.add("changed", title, one.right.path, tuple(rows), key=kinds)
        for change in one.changes:
            if change.aspect:
                title = f"{_ASPECTS[change.aspect]} differ, of weights"
                example = (("for example", f"{one.left.path}: {_write_change(change)}"),)
                aspects.add("changed", title, one.right.path, example, key=(change.aspect,))
    for tensors, level in ((found.left_tensors, "removed"), (found.right_tensors, "added")):
        is_left = level == "removed"
        for tensor in tensors:
            rows = [("type", write_tensor_type(tensor))]
            title = f"Weight {level}"
            fold.add(level, title, tensor.path, tuple(rows), is_left=is_left)  # type: ignore[arg-type]


def _name_model(model: Model) -> str:
    """Return what a model is called, without the folder of its author."""
    return write_line(Path(model.source).name or model.source, _LONGEST)


def _sort_tensors(tensors: Iterable[TensorDifference]) -> list[TensorDifference]:
    """Return weights, those first whose numbers are furthest apart."""
    return sorted(tensors, key=lambda one: -(one.numbers.relative if one.numbers else math.inf))


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
        ("relative L2", f"{write_number(100 * numbers.relative)} %"),
    ]
    if numbers.cosine is not None:
        rows.append(("cosine", f"{numbers.cosine:.6f}"))
    return rows


def _write_sides(change: Change) -> Evidence:
    if change.left is None and change.right is None:  # only that it differs is known
        return ()
    return (("before", _write_side(change.left)), ("after", _write_side(change.right)))


def _write_change(change: Change) -> str:
    return f"{_write_side(change.left)} → {_write_side(change.right)}"


def _write_side(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, str):
        return write_message(value)[:_LONGEST] or '""'
    return write_attribute_value(value)[:_LONGEST]
