"""What differs between two models, as JSON and as text for a terminal."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from netloupe.explorer.compare import (
    Change,
    Diff,
    Fold,
    NumberDifference,
    Pair,
    Replacement,
    TensorDifference,
)
from netloupe.explorer.model import Node, Tensor
from netloupe.explorer.notation import join_parts, write_count, write_number

from .attributes import write_attribute_value
from .difference_blocks import list_block_changes
from .encoding import MOST_ENTRIES, Listing, encode_json
from .file_text import write_line, write_tensor_type
from .joined_projections import write_compared_weights, write_joined

_SCHEMA = 1
#: so many lines of each kind are shown
_MOST_LINES = 12
_MOST_KINDS = 6
_LONGEST = 200
#: what exporters number names with, where they have one twice
_NUMBERS = re.compile(r"[._]?\d+")
_ASPECTS = {
    "names": "names",
    "docs": "texts for people",
    "storage": "how tensors are stored",
    "defaults": "attributes that state defaults",
    "order": "the order of nodes, operands or entries",
}
#: below so much confidence a pair rests on its neighbours alone (see Pair.confidence)
_CERTAIN = 0.5
#: what is smaller is no error of float32
_LEAST_ERROR = 1e-8


def write_verdict(found: Diff) -> str:
    """Return in a sentence how two models differ."""
    if found.verdict == "identical":
        return "The models are identical."
    if found.verdict == "cosmetic":
        told = [_ASPECTS[aspect] for aspect in found.aspects]
        return f"The models are identical but for {join_parts(told, len(told))}."
    weights = [
        write_count(len(tensors), "weight") + f" {what}"
        for tensors, what in (
            (
                [one for one in found.tensors if _differs(one, but_for_aspects=True)],
                "changed",
            ),
            (found.right_tensors, "added"),
            (found.left_tensors, "removed"),
        )
        if tensors
    ]
    unread = _count_unread(found)
    if found.verdict == "unread":
        return f"The structure is the same, of the weights nothing is said: {unread}."
    if unread:
        weights.append(unread)
    if found.verdict == "weights":
        return f"The structure is the same: {join_parts(weights, len(weights))}."
    changed = [one for one in found.nodes if any(not change.aspect for change in one.changes)]
    nodes = [
        f"{write_count(count, 'node')} {what}"
        for count, what in (
            (len(changed), "changed"),
            (len(found.fused), "fused or split"),
            (len(found.added_nodes), "added"),
            (len(found.removed_nodes), "removed"),
        )
        if count
    ]
    if found.replaced:
        nodes.append(f"{write_count(len(found.replaced), 'chain')} of nodes replaced by others")
    told = nodes + weights
    if found.interface:
        told.append("other inputs or outputs")
    told += _list_kinds(change.what for change in found.about if not change.aspect)
    return f"The models differ: {join_parts(told, len(told))}."


def _count_unread(found: Diff) -> str:
    """Return in words how much could not be read; "" where everything could."""
    told = [
        f"{write_count(count, what)} could not be read"
        for count, what in ((len(found.unread), "weight"), (len(found.unjudged), "other part"))
        if count
    ]
    return join_parts(told, len(told))


def _list_kinds(stated: Iterable[str]) -> list[str]:
    """Return of what kinds differences are in what models and graphs say of themselves."""
    kinds = {
        "other versions or operator sets": ("IR version", "opset of", "format"),
        "inputs or outputs that say something else": ("input ", "output ", "order of "),
    }
    found: dict[str, None] = {}
    for what in stated:
        known = (kind for kind, begins in kinds.items() if what.startswith(begins))
        found[next(known, "other statements of models or graphs")] = None
    return [*found]


def write_compatibility(found: Diff) -> str:
    """Return in a sentence whether one model can stand where the other does."""
    if found.is_compatible:
        return "Inputs and outputs are compatible: a drop-in replacement."
    return "Inputs or outputs are not compatible: no drop-in replacement."


def encode_diff(found: Diff, *, most: int | None = MOST_ENTRIES) -> dict[str, Any]:
    """Return a difference as JSON can hold it, as ``netloupe diff --json`` prints it.

    Parameters
    ----------
    found
        What differs between two models.
    most
        So many entries of each list are written; all of them where None.
    """
    told = {
        "schema": _SCHEMA,
        "left": found.left.source,
        "right": found.right.source,
        "verdict": found.verdict,
        "summary": write_verdict(found),
        "identical": found.verdict == "identical",
        "interface": {
            "compatible": found.is_compatible,
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
            "changed": _list(
                found.nodes,
                lambda one: (
                    _encode_pair(one.pair)
                    | {"what": [_encode_change(change) for change in one.changes]}
                ),
            ),
        },
        "tensors": {
            "equal": found.equal_tensors,
            "unread": len(found.unread),
            "changed": _list(found.tensors, _encode_tensors),
            "added": _list(found.right_tensors, _encode_tensor),
            "removed": _list(found.left_tensors, _encode_tensor),
        },
    }
    return encode_json(told, most=most)


def _list(entries: Sequence[Any], describe: Any) -> Listing:
    return Listing(entries, describe, len(entries))


def _encode_change(change: Change) -> dict[str, Any]:
    return {
        "what": change.what,
        "left": _write(change.left),
        "right": _write(change.right),
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


def format_diff(found: Diff) -> str:
    """Return a difference as text: the verdict first, alike changes told once."""
    lines = [
        f"{write_line(found.left.source)} -> {write_line(found.right.source)}",
        write_verdict(found),
        write_compatibility(found),
    ]
    for told in list_told(found):
        lines += _list_section(told)
    pairs = found.matching.pairs
    uncertain = sum(pair.confidence < _CERTAIN for pair in pairs)
    if uncertain:
        rest = "rests on its" if uncertain == 1 else "rest on their"
        count = f"{uncertain:,} of {write_count(len(pairs), 'pair')} of nodes"
        why = "no name or weight tells them from others like them"
        lines += ["", f"{count} {rest} neighbours alone: {why}."]
    return "\n".join(lines)


class DifferencePart(NamedTuple):
    """What is told of one kind of difference: a line for each, alike ones together."""

    title: str
    entries: list[str]


def list_told(found: Diff) -> list[DifferencePart]:
    """Return what is told of a difference below the verdict; only kinds of which there are some."""
    parts = (
        DifferencePart("Blocks and operators", list_block_changes(found)),
        DifferencePart("Inputs and outputs", [*map(write_change, found.interface)]),
        DifferencePart("The models", [*map(write_change, found.about)]),
        DifferencePart("Moved nodes", _fold(map(_write_moved, found.moved))),
        DifferencePart("Changed nodes", _fold(_list_changed(found))),
        DifferencePart("Fused or split nodes", _fold(_list_fused(found))),
        DifferencePart("Replaced nodes", _fold(map(_write_replaced, found.replaced))),
        DifferencePart("Removed nodes", _fold(map(_write_node, found.removed_nodes))),
        DifferencePart("Added nodes", _fold(map(_write_node, found.added_nodes))),
        DifferencePart("Changed weights", _write_tensors(found)),
        DifferencePart("Weights that could not be read", _fold(_list_unread(found))),
        DifferencePart("Not looked at", [write_line(what, _LONGEST) for what in found.unjudged]),
        DifferencePart("Removed weights", _fold(map(_write_tensor, found.left_tensors))),
        DifferencePart("Added weights", _fold(map(_write_tensor, found.right_tensors))),
    )
    return [part for part in parts if part.entries]


def _list_section(told: DifferencePart) -> Iterator[str]:
    yield ""
    yield told.title
    for entry in told.entries[:_MOST_LINES]:
        yield f"  {entry}"
    if len(told.entries) > _MOST_LINES:
        yield f"  … {len(told.entries) - _MOST_LINES:,} more; --json lists them"


def _fold(entries: Iterable[tuple[str, str]]) -> list[str]:
    """Return lines of paths with what is said of them; alike ones of many layers are one line."""
    firsts: dict[tuple[str, str], str] = {}
    counts: Counter[tuple[str, str]] = Counter()
    for path, told in entries:
        key = _NUMBERS.sub("", path[:_LONGEST]), told
        firsts.setdefault(key, path)
        counts[key] += 1
    return [
        f"{write_line(path, _LONGEST)}"
        + (f" (and {counts[key] - 1:,} alike)" if counts[key] > 1 else "")
        + (f": {key[1]}" if key[1] else "")
        for key, path in firsts.items()
    ]


def _list_changed(found: Diff) -> Iterator[tuple[str, str]]:
    counts: Counter[str] = Counter()
    for one in found.nodes:
        told = [write_change(change) for change in one.changes if not change.aspect]
        if told:
            yield one.pair.left[0].path, join_parts(told[:_MOST_KINDS], len(told))
        counts.update({change.aspect for change in one.changes if change.aspect})
    for aspect, told_as in _ASPECTS.items():
        if counts[aspect]:
            yield write_count(counts[aspect], "node"), f"other {told_as}"


def write_change(change: Change) -> str:
    """Return in what two paired elements differ, in a line."""
    what = write_line(change.what, _LONGEST)  # the name of an input or of metadata is part of it
    if change.left is None and change.right is None:
        return what
    if change.left is None:
        return f"{what} added: {_write(change.right)}"
    if change.right is None:
        return f"{what} removed: {_write(change.left)}"
    return f"{what} {_write(change.left)} -> {_write(change.right)}"


def _write(value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, str):
        return write_line(value, _LONGEST) or '""'
    return write_attribute_value(value)[:_LONGEST]


def _list_fused(found: Diff) -> Iterator[tuple[str, str]]:
    for pair in found.fused:
        joint = found.matching.joined.get(pair)
        told = "" if joint is None else f"{write_joined(joint)}: "
        operators = _write_both(pair.left, pair.right)
        yield pair.left[0].path, f"{told}{operators}{write_fold(found.folds.get(pair))}"


def write_fold(fold: Fold | None) -> str:
    """Return whether a convolution has the numbers of a normalization; "" for None."""
    if fold is None:
        return ""
    if fold.is_equal:
        exponent = math.ceil(math.log10(max(fold.error, _LEAST_ERROR)))
        return f"; BatchNormalization folded: equal to 1e{exponent}"
    by = (
        f": weights are {write_number(fold.factor)} times what they should be"
        if fold.factor
        else ""
    )
    by = by or f": up to {write_number(100 * fold.error)} % of the largest number"
    return f"; BatchNormalization folded: not equal{by}"


def _write_replaced(chains: Replacement) -> tuple[str, str]:
    return chains.left[0].path, _write_both(*chains)


def _write_both(left: Sequence[Node], right: Sequence[Node]) -> str:
    """Return the operators of both sides; with their domains where only these tell them apart."""
    names = [{node.op_type: node.domain for node in nodes} for nodes in (left, right)]
    alike = {name for name, domain in names[0].items() if names[1].get(name, domain) != domain}
    return f"{_write_operators(left, alike)} -> {_write_operators(right, alike)}"


def _write_operators(nodes: Sequence[Node], alike: Collection[str] = ()) -> str:
    told = [
        write_line(
            f"{node.domain}::{node.op_type}"
            if node.domain and node.op_type in alike
            else node.op_type,
            _LONGEST,
        )
        for node in nodes[:_MOST_KINDS]
    ]
    rest = len(nodes) - len(told)
    return " + ".join([*told, f"{rest:,} more"] if rest else told)


def _write_moved(pair: Pair) -> tuple[str, str]:
    """Return where a node is now: its path, or where that is the same what it stands behind."""
    left, right = pair.left[0], pair.right[0]
    if left.path != right.path:
        return left.path, f"now {write_line(right.path, _LONGEST)}"
    givers = dict.fromkeys(value.producer for value in right.inputs if value is not None)
    told = [write_line(node.path, _LONGEST) for node in givers if node is not None]
    return left.path, f"now behind {join_parts(told[:_MOST_KINDS], len(told))}"


def _write_node(node: Node) -> tuple[str, str]:
    return node.path, write_line(node.op_type, _LONGEST)


def _write_tensor(tensor: Tensor) -> tuple[str, str]:
    return tensor.path, write_tensor_type(tensor)


def _write_tensors(found: Diff) -> list[str]:
    """Return a line for each weight that differs, those first that differ most."""
    ordered = sorted(
        (one for one in found.tensors if _differs(one) and not one.are_unread),
        key=lambda one: -(one.numbers.relative if one.numbers else float("inf")),
    )
    lines = []
    alike: dict[str, list[TensorDifference]] = {}
    if len(ordered) > _MOST_LINES:
        for one in ordered:
            if one.numbers is not None and not one.are_unread and one.part is None:
                alike.setdefault(_NUMBERS.sub("", one.left.path[:_LONGEST]), []).append(one)
    summed: set[int] = set()
    for group in alike.values():
        if len(group) > 1:
            summed.update(map(id, group))
            lines.append(_write_alike(group))
    for one in ordered:
        if id(one) in summed:
            continue
        told = [write_change(change) for change in one.changes if change.aspect != "names"]
        if one.numbers is not None:
            told.append(write_numbers(one.numbers))
        lines.append(f"{write_compared_weights(one)}: {', '.join(told)}")
    return lines


def _list_unread(found: Diff) -> Iterator[tuple[str, str]]:
    for one in found.unread:
        told = [write_change(change) for change in one.changes if change.aspect != "names"]
        yield one.left.path if one.part is None else write_compared_weights(one), ", ".join(told)


def _write_alike(group: Sequence[TensorDifference]) -> str:
    """Return a line for weights of many layers, the one that differs most named."""
    errors = sorted(one.numbers.relative for one in group if one.numbers is not None)
    worst = group[0]
    middle = errors[len(errors) // 2]
    return (
        f"{write_compared_weights(worst)} (and {len(group) - 1:,} alike): relative (L2) "
        f"{write_number(100 * errors[-1])} %, median of all {write_number(100 * middle)} %"
    )


def _differs(one: TensorDifference, *, but_for_aspects: bool = False) -> bool:
    changes = (
        not change.aspect if but_for_aspects else change.aspect != "names" for change in one.changes
    )
    return bool(one.numbers or any(changes))


def write_numbers(numbers: NumberDifference) -> str:
    """Return how far the numbers of two weights are apart."""
    bits = f"{write_count(numbers.other_bits, 'number')} in other bits: -0 for 0, or another NaN"
    if not numbers.changed:
        return bits
    share = 100 * numbers.changed / max(numbers.count, 1)
    told = [f"{share:.3g} % of {write_count(numbers.count, 'number')} changed"]
    if numbers.unbounded:
        became = write_count(numbers.unbounded, "number")
        told.append(f"{became} of these to or from NaN or infinity, so that no distance is finite")
        return ", ".join(told)
    told += [
        f"largest difference {write_number(numbers.largest)}",
        f"relative (L2) {write_number(100 * numbers.relative)} %",
    ]
    if numbers.cosine is not None:
        told.append(f"cosine {numbers.cosine:.6f}")
    return ", ".join(told)
