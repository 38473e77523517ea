"""What is said of each difference between two models: a title, the place, and what it was before.

Text, JSON, Markdown, inspector, list of a review and report take their words from here, so that one
difference has one name.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import median

from netloupe.explorer.compare import (
    Change,
    Diff,
    DifferenceEntry,
    Fold,
    NumberDifference,
    Pair,
    TensorDifference,
)
from netloupe.explorer.grouping import Group
from netloupe.explorer.grouping.lookup import find_tree
from netloupe.explorer.model import Node
from netloupe.explorer.notation import clip_text, join_parts, write_count, write_number

from .attributes import write_attribute_value
from .file_text import write_line, write_tensor_type
from .joined_projections import write_compared_weights, write_joined

_LONGEST = 200
_MOST_KINDS = 6
_MOST_STATED = 4
_LONGEST_STATED = 80
#: statements of which there are many, by their beginnings
_ALIKE = {"value ": "what is said of values", "metadata ": "metadata"}
#: what a block is whose nodes are all others
_LEVELS = {"changed": "rewritten"}
#: what stands where a share of the numbers before would, of which there is none
FROM_ZERO = "all numbers were 0 before"
#: what is smaller is no error of float32
_LEAST_ERROR = 1e-8
#: what may be ignored, in words
ASPECTS = {
    "names": "names",
    "docs": "texts for people",
    "storage": "how tensors and attributes are stored",
    "defaults": "defaults and types that are stated, axes counted from the end",
    "order": "the order of nodes, operands or entries",
}
#: what the ones are called to which "Other" does not fit
_HEADINGS = {
    "storage": "Tensors and attributes stored otherwise",
    "order": "Another order of nodes, operands or entries",
}


def write_difference_entry(found: Diff, entry: DifferenceEntry) -> str:
    """Return one difference in a line: the first place, how many others, and what is so."""
    title, place = write_what_differs(found, entry), write_first_place(entry)
    if entry.topic == "unread" and not entry.tensors:
        return title
    told = [part for part in (title, *list_details(entry)) if part]
    return f"{place}: {', '.join(told)}" if place else ", ".join(told)


def write_first_place(entry: DifferenceEntry) -> str:
    """Return the first place of a difference, and how many are alike; "" for the whole model."""
    if entry.topic in ("interface", "model", "version", "aspect", "exchange"):
        return ""
    if entry.topic == "unread" and not entry.tensors:
        return ""
    if entry.tensors:
        first = write_compared_weights(entry.tensors[0])
    else:
        first = write_line(next(iter(list_entry_paths(entry)), ""), _LONGEST)
    return first + (f" (and {entry.count - 1:,} alike)" if entry.count > 1 else "")


def list_entry_paths(entry: DifferenceEntry) -> Iterator[str]:
    """Yield the paths of a difference: of what both models have those of the left one.

    Of what is fused, split or replaced that of the first node, of blocks their own.
    """
    if entry.topic == "block":
        yield from (group.path for group in entry.groups)
    elif entry.topic == "replaced":
        yield from (one.left[0].path for one in entry.replaced)
    else:
        yield from (pair.left[0].path for pair in entry.pairs)
        alone = entry.left_nodes, entry.right_nodes
        yield from (node.path for side in alone for node in side)
        if entry.topic == "lone weight":
            yield from (tensor.path for tensor in (*entry.left_tensors, *entry.right_tensors))


def write_what_differs(found: Diff, entry: DifferenceEntry) -> str:
    """Return in a few words what one difference is."""
    words = {
        "block": _write_block,
        "exchange": _write_exchange,
        "operator": _write_operator,
        "node": _write_node,
        "type": _write_node,
        "alone": _write_alone,
        "model": _write_of_model,
        "lone weight": _write_lone_weight,
        "unread": _write_unread,
        "aspect": _write_aspect,
        "weight": _write_weight,
    }
    write = words.get(entry.topic)
    if write is not None:
        return write(entry)
    if entry.topic == "joined":
        words_of = write_joined(found.matching.joined[entry.pairs[0]])
        return "; ".join(filter(None, (f"{words_of}: {_write_both(entry)}", write_besides(entry))))
    if entry.topic == "fused":
        fold = find_worst_fold(found, entry.pairs)
        besides = write_besides(entry)
        joint = (", but: " if fold is not None else "; ") if besides else ""
        return f"{_write_both(entry)}{write_fold(fold)}{joint}{besides}"
    if entry.topic == "replaced":
        return _write_both(entry)
    if entry.topic == "moved":
        return _write_moved(found, entry.pairs[0])
    return ", ".join(map(write_change, entry.changes[:_MOST_KINDS]))  # interface, version


def write_besides(entry: DifferenceEntry) -> str:
    """Return in what operators of fused nodes differ otherwise; "" for nothing."""
    if len(entry.pairs[0].left) == len(entry.pairs[0].right) == 1:
        return ""  # of single nodes all that differs is told elsewhere
    told = [write_change(change) for change in entry.changes]
    return join_parts(told[:_MOST_KINDS], len(told)) if told else ""


def write_difference_heading(found: Diff, entry: DifferenceEntry) -> str:
    """Return what one difference is called in a list: no numbers, and no place."""
    before, after = (_write_operators(names) for names in entry.operators)
    if entry.topic == "block":
        return f"{name_blocks(entry.groups)} {_LEVELS.get(entry.level, entry.level)}"
    if entry.topic == "exchange":
        return _name_exchange(entry)
    if entry.topic == "interface":
        return f"The {entry.changes[0].what.partition(' ')[0]} is not compatible"
    if entry.topic == "operator":
        return _write_became(before, after)
    if entry.topic == "fused":
        return f"{before} became {after}"
    if entry.topic == "joined":
        words = write_joined(found.matching.joined[entry.pairs[0]])
        return words[:1].upper() + words[1:]
    if entry.topic == "replaced":
        return _write_both(entry)
    if entry.topic in ("node", "type"):
        told = [write_line(change.what, _LONGEST) for change in entry.changes]
        return f"{after}: {join_parts(told[:_MOST_KINDS], len(told))}"
    if entry.topic in ("alone", "moved"):
        return f"{before or after} {entry.level}"
    if entry.topic == "model":
        what = write_line(entry.changes[0].what, _LONGEST)
        return f"{what[:1].upper()}{what[1:]} differs"
    if entry.topic == "aspect":
        return _HEADINGS.get(entry.aspect) or f"Other {ASPECTS[entry.aspect]}"
    return {
        "weight": _name_weight_change(entry),
        "lone weight": f"Weight {entry.level}",
        "unread": "Weight could not be read" if entry.tensors else "Not looked at",
        "version": "Other versions",
    }[entry.topic]


def _name_weight_change(entry: DifferenceEntry) -> str:
    kinds = join_words([write_line(change.what, _LONGEST) for change in entry.changes])
    if not kinds:
        return "Weight differs"
    return "Weight quantized" if kinds == "quantized" else f"Weight of other {kinds}"


def find_worst_fold(found: Diff, pairs: Sequence[Pair]) -> Fold | None:
    """Return of the folded convolutions among some pairs that which is off most; None for none."""
    folds = [found.folds[pair] for pair in pairs if pair in found.folds]
    return max(folds, key=lambda fold: fold.error, default=None)


def _write_block(entry: DifferenceEntry) -> str:
    gone, new = len(entry.left_nodes), len(entry.right_nodes)
    if entry.level == "changed":
        return f"block rewritten, {write_count(gone, 'node')} before and {new:,} now"
    weights = len(entry.left_tensors) + len(entry.right_tensors)
    with_weights = f" with {write_count(weights, 'weight')}" if weights else ""
    noun = "blocks" if entry.count > 1 else "block"
    return f"{noun} {entry.level}: {write_count(gone or new, 'node')}{with_weights}"


def _write_exchange(entry: DifferenceEntry) -> str:
    if entry.is_whole:
        return f"{_name_exchange(entry)}: same weights, in another order"
    count = write_count(len(entry.tensors), "weight")
    return f"{_name_exchange(entry)}: {count}, no number is new"


def _name_exchange(entry: DifferenceEntry) -> str:
    names = name_blocks(entry.groups)
    if not entry.is_whole:
        paths = [write_line(one.left.path, _LONGEST) for one in entry.tensors[:_MOST_KINDS]]
        rest = len(entry.tensors) - _MOST_KINDS
        paths = [*paths, f"{rest:,} more"] if rest > 0 else paths
        names = f"weights of {names}" if entry.groups else join_words(paths)
    return f"{names} exchanged"


def name_blocks(groups: Sequence[Group]) -> str:
    """Return what some blocks are called, without the graph that they are in."""
    rest = len(groups) - _MOST_KINDS
    told = [write_block_name(group) for group in groups[:_MOST_KINDS]]
    return join_words([*told, f"{rest:,} more"] if rest > 0 else told)


def join_words(words: Sequence[str]) -> str:
    """Return words with commas between, and "and" before the last one."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def write_block_name(group: Group) -> str:
    """Return what a block is called: its path in its graph, as ``layers.3``."""
    inside = group.path.removeprefix(f"{group.graph.path}/").rstrip("/")
    return write_line(inside, _LONGEST)


def _write_operator(entry: DifferenceEntry) -> str:
    before, after = (write_line(name, _LONGEST) for name in entry.operators)
    told = [_write_became(before, after)]
    told += (write_change(change) for change in entry.changes if change.what != "operator")
    return join_parts(told[:_MOST_KINDS], len(told))


def _write_became(before: str, after: str) -> str:
    """Return that an operator became another one; a range of what is quantized is clamped so."""
    names = [name.rpartition("::")[2] for name in (before, after)]
    if names[1] == "QuantizeLinear" and names[0] != "QuantizeLinear":
        return f"{before} became the range of {after}"
    return f"{before} became {after}"


def _write_both(entry: DifferenceEntry) -> str:
    before, after = (_write_operators(name) for name in entry.operators)
    return f"{before} {'replaced by' if entry.topic == 'replaced' else '→'} {after}"


def _write_operators(names: str) -> str:
    told = [write_line(name, _LONGEST) for name in names.split(" + ")]
    rest = len(told) - _MOST_KINDS
    return " + ".join([*told[:_MOST_KINDS], f"{rest:,} more"] if rest > 0 else told)


def _write_node(entry: DifferenceEntry) -> str:
    told = [write_change(change) for change in entry.changes]
    return join_parts(told[:_MOST_KINDS], len(told))


def _write_alone(entry: DifferenceEntry) -> str:
    name = write_line(entry.operators[0] or entry.operators[1], _LONGEST)
    weights = len(entry.left_tensors) + len(entry.right_tensors)
    with_weights = f" with {write_count(weights, 'weight')}" if weights else ""
    return f"{name} {entry.level}{with_weights}"


def _write_moved(found: Diff, pair: Pair) -> str:
    """Return where a node is now: its path, or the modules where that is the same."""
    left, right = pair.left[0], pair.right[0]
    if left.path != right.path:
        return f"now {write_line(right.path, _LONGEST)}"
    before, after = (
        _name_module(model, node) for model, node in ((found.left, left), (found.right, right))
    )
    return f"in {before} before, now in {after}"


def _name_module(model: object, node: Node) -> str:
    group = find_tree(node.graph.model, node.graph).group_of(node)
    is_named = group is not None and group.kind != "graph"
    return write_block_name(group) if group is not None and is_named else "no module"


def _write_of_model(entry: DifferenceEntry) -> str:
    told = write_change(entry.changes[0])
    return told + (f" (and {entry.count - 1:,} alike)" if entry.count > 1 else "")


def _write_lone_weight(entry: DifferenceEntry) -> str:
    tensor = (*entry.left_tensors, *entry.right_tensors)[0]
    return f"{write_tensor_type(tensor)} {entry.level}"


def _write_unread(entry: DifferenceEntry) -> str:
    if not entry.tensors:
        return write_line(entry.changes[0].what, _LONGEST)
    return "numbers could not be read"


def _write_aspect(entry: DifferenceEntry) -> str:
    """Return what is only written otherwise: how many elements it is of, and the first of these."""
    told = [
        write_count(len(elements), noun)
        for elements, noun in ((entry.pairs, "node"), (entry.tensors, "weight"))
        if elements
    ]
    # of each of many values the same is mostly said, as of many entries of metadata
    alike = {kind: [c for c in entry.changes if c.what.startswith(kind)] for kind in _ALIKE}
    many = {kind for kind, changes in alike.items() if len(changes) > _MOST_STATED}
    told += (f"{_ALIKE[kind]} {len(alike[kind]):,} times" for kind in _ALIKE if kind in many)
    others = [c for c in entry.changes if not c.what.startswith((*many,))]
    told += (clip_text(write_change(c), _LONGEST_STATED) for c in others[:_MOST_STATED])
    if len(others) > _MOST_STATED:
        told.append(f"{len(others) - _MOST_STATED:,} more of the models")
    return f"{ASPECTS[entry.aspect]}: {'; '.join(told)}"


def _write_weight(entry: DifferenceEntry) -> str:
    told = [*map(write_change, entry.changes)]
    if any(one.are_unread for one in entry.tensors):
        told.append("numbers that could not be read")
    return ", ".join(told)


def list_details(entry: DifferenceEntry) -> list[str]:
    """Return how far the weights of one difference are apart: all alike ones in one line."""
    if entry.topic != "weight":
        return []
    numbers = [one.numbers for one in entry.tensors if one.numbers is not None]
    if len(entry.tensors) == 1:
        return [write_numbers(one) for one in numbers]
    if not numbers:
        return []
    unbounded = sum(one.unbounded for one in numbers)
    if unbounded:
        became = write_count(unbounded, "number")
        return [f"{became} to or from NaN or infinity, so that no distance is finite"]
    errors, zeros = list_errors(entry.tensors)
    if not errors:
        return [FROM_ZERO]
    worst, middle = (write_number(100 * error) for error in (errors[-1], median(errors)))
    told = f"relative (L2) {worst} %, median {'of the others' if zeros else 'of all'} {middle} %"
    return [f"{told}; {FROM_ZERO} in {zeros:,}" if zeros else told]


def list_errors(tensors: Sequence[TensorDifference]) -> tuple[list[float], int]:
    """Return in order how far weights are apart, as shares of their lengths (L2).

    Beside it how many have no such share: of numbers that were all 0 none is one.
    """
    errors = sorted(one.numbers.relative for one in tensors if one.numbers is not None)
    finite = [error for error in errors if math.isfinite(error)]
    return finite, len(errors) - len(finite)


def write_change(change: Change) -> str:
    """Return in what two paired elements differ, in a line."""
    what = write_line(change.what, _LONGEST)  # the name of an input or of metadata is part of it
    if change.left is None and change.right is None:
        return what
    if change.left is None:
        return f"{what} added: {write_side(change.right)}"
    if change.right is None:
        return f"{what} removed: {write_side(change.left)}"
    return f"{what} {write_side(change.left)} → {write_side(change.right)}"


def write_side(value: object) -> str | None:
    """Return what stands on one side of a change; None for nothing."""
    if value is None:
        return None
    if isinstance(value, str):
        return write_line(value, _LONGEST) or '""'
    return write_attribute_value(value)[:_LONGEST]


def write_fold(fold: Fold | None) -> str:
    """Return whether a convolution has the numbers of a normalization; "" for None."""
    if fold is None:
        return ""
    if fold.has_equal_weights:
        exponent = math.ceil(math.log10(max(fold.error, _LEAST_ERROR)))
        what = "folded: equal" if fold.is_equal else "folded: weights equal"
        return f"; BatchNormalization {what} to 1e{exponent}"
    by = (
        f": weights are {write_number(fold.factor)} times what they should be"
        if fold.factor
        else ""
    )
    by = by or f": up to {write_number(100 * fold.error)} % of the largest number of a channel"
    return f"; BatchNormalization folded: not equal{by}"


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
        f"relative (L2) {write_number(100 * numbers.relative)} %"
        if math.isfinite(numbers.relative)
        else FROM_ZERO,
    ]
    if numbers.cosine is not None:
        told.append(f"cosine {numbers.cosine:.6f}")
    return ", ".join(told)
