"""What differs between two models as a table: a row for each thing that is not the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from netloupe.explorer.dataframes import make_dataframe

from .changes import Change
from .numbers import NumberDifference

if TYPE_CHECKING:
    import pandas

    from .difference import Diff

_COLUMNS = (
    *("kind", "a", "b", "what", "before", "after", "ignorable", "key", "confidence"),
    *("numbers_changed", "largest_difference", "relative_l2", "cosine"),
)


def tabulate_diff(found: Diff) -> pandas.DataFrame:
    """Return a row for each difference.

    ``kind`` is ``interface``, ``model``, ``node``, ``fused``, ``removed node``, ``added node``,
    ``weight``, ``removed weight`` or ``added weight``; ``a`` and ``b`` are the paths in the two
    models, ``numbers_changed`` and ``relative_l2`` shares from 0 to 1. Where weights were joined,
    ``what`` says which outputs of the joined one a row is about.

    Raises
    ------
    MissingPackageError
        Where pandas is not installed.
    """
    rows = [*_list_rows(found)]
    return make_dataframe({name: [row.get(name) for row in rows] for name in _COLUMNS})


def _list_rows(found: Diff) -> Iterator[dict[str, Any]]:
    for change in found.interface:
        yield {"kind": "interface", **_tell(change)}
    for change in found.about:
        yield {"kind": "model", **_tell(change)}
    for node in found.nodes:
        sides = {"a": node.pair.left[0].path, "b": node.pair.right[0].path}
        pair = {"key": node.pair.key, "confidence": node.pair.confidence}
        for change in node.changes:
            yield {"kind": "node", **sides, **_tell(change), **pair}
    for fused in found.fused:
        left, right = ([each.path for each in side] for side in (fused.left, fused.right))
        yield {
            "kind": "fused",
            "a": ", ".join(left),
            "b": ", ".join(right),
            "what": "joined projection" if fused in found.matching.joined else None,
            "key": fused.key,
            "confidence": fused.confidence,
        }
    for chains in found.replaced:
        a, b = (", ".join(node.path for node in side) for side in chains)
        what = " → ".join(" + ".join(node.op_type for node in side) for side in chains)
        yield {"kind": "replaced", "a": a, "b": b, "what": what}
    for alone in found.removed_nodes:
        yield {"kind": "removed node", "a": alone.path, "what": alone.op_type}
    for alone in found.added_nodes:
        yield {"kind": "added node", "b": alone.path, "what": alone.op_type}
    for one in found.tensors:
        sides = {"a": one.left.path, "b": one.right.path}
        of_part = "" if one.part is None else f", {one.part}"
        for change in one.changes:
            row = _tell(change)
            yield {"kind": "weight", **sides, **row, "what": f"{change.what}{of_part}"}
        if one.numbers is not None:
            row = {"what": f"numbers{of_part}", **_tell_numbers(one.numbers)}
            yield {"kind": "weight", **sides, **row}
        if one.are_unread:
            yield {"kind": "weight", **sides, "what": f"numbers could not be compared{of_part}"}
    for tensor in found.left_tensors:
        yield {"kind": "removed weight", "a": tensor.path}
    for tensor in found.right_tensors:
        yield {"kind": "added weight", "b": tensor.path}


def _tell(change: Change) -> dict[str, Any]:
    return {
        "what": change.what,
        "before": change.left,
        "after": change.right,
        "ignorable": change.aspect,
    }


def _tell_numbers(numbers: NumberDifference) -> dict[str, Any]:
    return {
        "ignorable": "",
        "numbers_changed": numbers.changed / max(numbers.count, 1),
        "largest_difference": numbers.largest,
        "relative_l2": numbers.relative,
        "cosine": numbers.cosine,
    }
