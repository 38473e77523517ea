"""What differs between two models as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from netloupe.explorer.compare import (
    REAL_LEVELS,
    Change,
    Diff,
    DifferenceEntry,
    EntryLevel,
    NodeDifference,
    Pair,
    Replacement,
    TensorDifference,
)
from netloupe.explorer.compare.node_states import differs
from netloupe.explorer.model import Node, Tensor

from .difference_summary import write_verdict
from .difference_words import (
    list_entry_paths,
    write_difference_entry,
    write_difference_heading,
    write_side,
)
from .encoding import MOST_ENTRIES, Listing, encode_json

_SCHEMA = 1
#: below so much confidence a pair rests on its neighbours alone (see Pair.confidence)
_CERTAIN = 0.5


def encode_diff(found: Diff, *, most: int | None = MOST_ENTRIES) -> dict[str, Any]:
    """Return a difference as JSON can hold it, as ``netloupe diff --json`` prints it.

    Parameters
    ----------
    found
        What differs between two models.
    most
        So many entries of each list are written; all of them where None.
    """
    fused = {*found.fused}
    single = [one for one in found.nodes if one.pair not in fused]
    told = {
        "schema": _SCHEMA,
        "left": found.left.source,
        "right": found.right.source,
        "verdict": found.verdict,
        "summary": write_verdict(found),
        "identical": found.verdict == "identical",
        "counts": _count(found),
        "differences": _list(found.entries, lambda entry: _encode_entry(found, entry)),
        "interface": {
            "compatible": found.is_compatible,
            "same": found.has_same_interface,
            "changes": [_encode_change(change) for change in found.interface],
        },
        "about": [_encode_change(change) for change in found.about],
        "not_looked_at": found.unjudged,
        "nodes": {
            "paired": sum(len(pair.left) for pair in found.matching.pairs),
            "uncertain": sum(pair.confidence < _CERTAIN for pair in found.matching.pairs),
            "added": _list(found.added_nodes, _encode_node),
            "removed": _list(found.removed_nodes, _encode_node),
            "replaced": _list(found.replaced, _encode_replaced),
            "moved": _list(found.moved, _encode_pair),
            "fused": _list(found.fused, lambda pair: _encode_fused(found, pair)),
            "changed": _list([one for one in single if _is_real(one)], _encode_changed),
            "written": _list([one for one in single if not _is_real(one)], _encode_changed),
        },
        "tensors": {
            "equal": found.equal_tensors,
            "unread": len(found.unread),
            "changed": _list(
                [one for one in found.tensors if differs(one) or one.are_unread], _encode_tensors
            ),
            "written": _list(
                [one for one in found.tensors if not differs(one) and not one.are_unread],
                _encode_tensors,
            ),
            "added": _list(found.right_tensors, _encode_tensor),
            "removed": _list(found.left_tensors, _encode_tensor),
        },
    }
    return encode_json(told, most=most)


def _count(found: Diff) -> dict[str, dict[str, int]]:
    """Return how much differs: the numbers of the picture, of its title and of the sentences."""
    counts = found.counts
    levels = [entry.level for entry in found.entries]
    real = sum(entry.is_real for entry in found.entries)
    others = (level for level in get_args(EntryLevel) if level not in REAL_LEVELS)
    return {
        "differences": {
            "real": real,
            **{level: levels.count(level) for level in others},
        },
        "nodes": {
            "kept": counts.kept,
            "changed": counts.changed,
            "changed_in_weights_alone": counts.reweighted,
            "moved": counts.moved,
            "added": counts.added,
            "removed": counts.removed,
        },
        "weights": {
            "equal": found.equal_tensors,
            "changed": counts.weights_changed,
            "added": counts.weights_added,
            "removed": counts.weights_removed,
            "unread": len(found.unread),
        },
    }


def _encode_entry(found: Diff, entry: DifferenceEntry) -> dict[str, Any]:
    """Return one difference of the list, with what is said of it and its places."""
    paths = [*list_entry_paths(entry)] or [one.left.path for one in entry.tensors]
    return {
        "level": entry.level,
        "topic": entry.topic,
        "title": write_difference_heading(found, entry),
        "text": write_difference_entry(found, entry),
        "count": entry.count,
        "paths": paths,
    }


def _is_real(one: NodeDifference) -> bool:
    """Return whether paired nodes do or take something else, and are not only written otherwise."""
    return any(not change.aspect for change in one.changes)


def _encode_changed(one: NodeDifference) -> dict[str, Any]:
    return _encode_pair(one.pair) | {"what": [_encode_change(change) for change in one.changes]}


def _list(entries: Sequence[Any], describe: Any) -> Listing:
    return Listing(entries, describe, len(entries))


def _encode_change(change: Change) -> dict[str, Any]:
    return {
        "what": change.what,
        "left": write_side(change.left),
        "right": write_side(change.right),
        "aspect": change.aspect or None,
    }


def _encode_node(node: Node) -> dict[str, Any]:
    return {"path": node.path, "op_type": node.op_type}


def _encode_replaced(chains: Replacement) -> dict[str, Any]:
    a, b = (list(map(_encode_node, side)) for side in chains)
    return {"a": a, "b": b}


def _encode_pair(pair: Pair) -> dict[str, Any]:
    return {
        "a": [node.path for node in pair.left],
        "b": [node.path for node in pair.right],
        "key": pair.key,
        "confidence": round(pair.confidence, 3),
    }


def _encode_fused(found: Diff, pair: Pair) -> dict[str, Any]:
    """Return nodes that are fused or split; of projections also what the joined weight consists of.

    Its parts count outputs, from ``start`` up to ``stop``, which is none of them.
    """
    told = _encode_pair(pair)
    changes = found.list_changes(pair.right[0])
    if changes:
        told["what"] = [_encode_change(change) for change in changes]
    fold = found.folds.get(pair)
    if fold is not None:
        told["fold"] = {"equal": fold.is_equal, "error": fold.error, "factor": fold.factor}
    joint = found.matching.joined.get(pair)
    if joint is not None:
        parts = [
            {"start": one.start, "stop": one.stop, "weight": one.weight.path} for one in joint.parts
        ]
        side = "a" if joint.is_left else "b"
        told["joined"] = {"side": side, "weight": joint.weight.path, "parts": parts}
    return told


def _encode_tensor(tensor: Tensor) -> dict[str, Any]:
    return {"path": tensor.path, "dtype": tensor.dtype.name, "dims": list(tensor.dims)}


def _encode_tensors(one: TensorDifference) -> dict[str, Any]:
    numbers, part = one.numbers, one.part
    told: dict[str, Any] = {
        "a": one.left.path,
        "b": one.right.path,
        "what": [_encode_change(change) for change in one.changes],
        "numbers": None
        if numbers is None
        else {
            "count": numbers.count,
            "changed": numbers.changed,
            "largest": numbers.largest,
            "relative": numbers.relative,
            "cosine": numbers.cosine,
            "unbounded": numbers.unbounded,
            "other_bits": numbers.other_bits,
        },
        "unread": one.are_unread,
    }
    if part is not None:
        told["part"] = {
            "of": "a" if part.is_left else "b",
            "start": part.start,
            "stop": part.stop,
            "outputs": part.outputs,
        }
    return told
