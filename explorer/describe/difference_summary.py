"""How two models differ in a sentence: blocks and operators first, then nodes, then weights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

from netloupe.explorer.compare import Diff, DifferenceEntry, EntryTopic
from netloupe.explorer.model import Node
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.notation import join_parts, write_count, write_number

from .difference_words import (
    ASPECTS,
    find_worst_fold,
    join_words,
    list_errors,
    write_besides,
    write_change,
    write_difference_heading,
    write_fold,
    write_what_differs,
)
from .file_text import write_line

_LONGEST, _LONGEST_NAME = 200, 120
#: a sentence says so much
_MOST_TOLD = 4
_MOST_OPERATORS = 3
#: fewer entries of a topic are told one by one
_LEAST_TOGETHER = 3
#: what operators are called that take a weight for the same purpose, by the kind of the weight
_PURPOSES = {"convolution": "convolution", "linear": "product"}

Write = Callable[[Diff, Sequence[DifferenceEntry]], list[str]]


def write_verdict(found: Diff) -> str:
    """Return in a sentence how two models differ."""
    if found.verdict == "identical":
        return "The models are identical."
    if found.verdict == "cosmetic":
        told = [ASPECTS[aspect] for aspect in found.aspects]
        return f"The models are identical but for {join_parts(told, len(told))}."
    unread = _count_unread(found)
    if found.verdict == "unread":
        count = found.equal_tensors
        if not count:
            return f"The structure is the same, of the weights nothing is said: {unread}."
        same = "so is the weight" if count == 1 else f"so are the {count:,} weights"
        return f"The structure is the same, and {same} that could be read: {unread}."
    told = _list_statements(found)
    if unread:
        told.append(unread)
    begin = "The structure is the same" if found.verdict == "weights" else "The models differ"
    return f"{begin}: {'; '.join(told)}."


def _list_statements(found: Diff) -> list[str]:
    """Return what differs, at most a few; what is equal or a version only where nothing else is."""
    by_topic: dict[EntryTopic, list[DifferenceEntry]] = {}
    for entry in found.entries:
        if entry.is_real:
            by_topic.setdefault(entry.topic, []).append(entry)
    told: list[tuple[str, int]] = []
    for topic, entries in by_topic.items():
        together = _TOGETHER.get(topic)
        least = 1 if topic in _ALWAYS_TOGETHER else _LEAST_TOGETHER
        if together is None or len(entries) < least:
            told += ((_write_one(found, entry), 1) for entry in entries)
        else:
            texts = together(found, entries)
            told += zip(texts, _share(len(entries), len(texts)), strict=True)
    if not told:
        told = [
            (_write_one(found, entry), 1)
            for entry in found.entries
            if entry.topic in ("fused", "joined", "version")
        ]
    rest = sum(count for _, count in told[_MOST_TOLD:])
    texts = [text for text, _ in told[:_MOST_TOLD]]
    return [*texts, f"and {write_count(rest, 'more difference')}"] if rest else texts


def _share(count: int, parts: int) -> list[int]:
    """Return how many of some entries each of several statements is about."""
    return [count - parts + 1, *[1] * (parts - 1)] if parts else []


def _write_one(found: Diff, entry: DifferenceEntry) -> str:
    """Return what a sentence says of one entry."""
    if entry.topic in ("block", "exchange", "operator", "fused"):
        told = write_difference_heading(found, entry)
    else:
        told = write_what_differs(found, entry)
    if entry.topic in ("node", "type"):
        told = f"{write_line(entry.operators[0], _LONGEST)}: {told}"
    folded = write_fold(find_worst_fold(found, entry.pairs)).removeprefix("; ")
    is_of_nodes = entry.topic != "exchange" and (entry.pairs or entry.replaced)
    places = f" in {entry.count:,} places" if is_of_nodes and entry.count > 1 else ""
    besides = write_besides(entry) if entry.topic in ("fused", "operator") else ""
    more = ", but: ".join(part for part in (folded, besides) if part)
    return f"{told}{places}{f' ({more})' if more else ''}"


def _write_alone(found: Diff, entries: Sequence[DifferenceEntry]) -> list[str]:
    """Return how many nodes one model alone has, with the operators of most of them."""
    told = []
    for level in ("removed", "added"):
        counts = {e.operators[level == "added"]: e.count for e in entries if e.level == level}
        if counts:
            total = sum(counts.values())
            weights = _count_weights([entry for entry in entries if entry.level == level])
            with_weights = f" with {write_count(weights, 'weight')}" if weights else ""
            operators = _write_operators(counts)
            told.append(f"{write_count(total, 'node')} {level}{with_weights} ({operators})")
    return told


def _write_operators(counts: dict[str, int]) -> str:
    if len(counts) == 1:
        return write_line(next(iter(counts)), _LONGEST)
    most = Counter(counts).most_common(_MOST_OPERATORS)
    names = [f"{count:,} {write_line(name, _LONGEST)}" for name, count in most]
    return ", ".join([*names, "…"] if len(counts) > len(most) else names)


def _write_nodes(found: Diff, entries: Sequence[DifferenceEntry]) -> list[str]:
    counts: Counter[str] = Counter()
    for entry in entries:
        counts[entry.operators[1]] += entry.count
    told = {entry.topic for entry in found.entries if entry.is_real}
    noun = "other node" if told & {"operator", "fused", "joined"} else "node"
    changed = write_count(sum(counts.values()), noun)
    return [f"{changed} changed ({_write_operators(dict(counts))})"]


def _write_types(found: Diff, entries: Sequence[DifferenceEntry]) -> list[str]:
    count = write_count(sum(entry.count for entry in entries), "node")
    return [f"{count} with results of other types"]


def _write_interface(found: Diff, entries: Sequence[DifferenceEntry]) -> list[str]:
    return [
        "other inputs or outputs: " + "; ".join(write_change(e.changes[0]) for e in entries[:2])
    ]


def _write_many_of_model(found: Diff, entries: Sequence[DifferenceEntry]) -> list[str]:
    count = sum(entry.count for entry in entries)
    return [f"{count:,} other statements of models or graphs"]


def _write_weights(found: Diff, entries: Sequence[DifferenceEntry]) -> list[str]:
    """Return how many weights differ, of which nodes, and by how much."""
    by_kind: dict[tuple[str, ...], list[DifferenceEntry]] = {}
    for entry in entries:
        kinds = tuple(sorted({change.what for change in entry.changes}))
        by_kind.setdefault(kinds, []).append(entry)
    return [_write_alike_weights(found, kinds, alike) for kinds, alike in by_kind.items()]


def _write_alike_weights(
    found: Diff, kinds: tuple[str, ...], entries: Sequence[DifferenceEntry]
) -> str:
    tensors = [one for entry in entries for one in entry.tensors]
    told = f"{write_count(len(tensors), 'weight')}{_name_takers(found, entries)}"
    errors, zeros = list_errors(tensors)
    if kinds and kinds != ("quantized",):
        names = [write_line(kind, _LONGEST) for kind in kinds]
        return f"{told} of other {join_words(names)}"
    told += " quantized" if kinds else " changed"
    unbounded = sum(one.numbers.unbounded for one in tensors if one.numbers is not None)
    if unbounded:
        return f"{told}, {write_count(unbounded, 'number')} to or from NaN or infinity"
    if len(errors) + zeros < len(tensors):
        return told
    if not errors:
        return f"{told}, whose numbers were all 0 before"
    worst, middle = (f"{write_number(100 * e, 3)} %" for e in (errors[-1], median(errors)))
    by = f"{worst} (L2)" if worst == middle else f"{middle} in the median, {worst} at most (L2)"
    return f"{told} by {by}{f', but for {zeros:,} that were all 0 before' if zeros else ''}"


def _name_takers(found: Diff, entries: Sequence[DifferenceEntry]) -> str:
    """Return of what nodes some weights are, as `` of 4 products``; "" where they are of many."""
    wanted = {one.right for entry in entries for one in entry.tensors}
    takers: dict[Node, str] = {}
    for pair in found.matching.pairs:
        for node in pair.right:
            stored = (v and (v.initializer or find_stored_tensor(v)) for v in node.inputs)
            if any(tensor in wanted for tensor in stored if tensor is not None):
                takers[node] = _name_purpose(node)
    counts = Counter(takers.values())
    if not counts or len(counts) > _MOST_OPERATORS:
        return ""
    names = [_write_purpose(count, name) for name, count in counts.most_common()]
    return f" of {join_words(names)}"


def _name_purpose(node: Node) -> str:
    return _PURPOSES.get(node.operator.weight_kind, node.op_type)


def _write_purpose(count: int, name: str) -> str:
    if name in _PURPOSES.values():
        return write_count(count, name)
    return f"{count:,} {write_line(name, _LONGEST)}"


def _write_lone_weights(found: Diff, entries: Sequence[DifferenceEntry]) -> list[str]:
    told = []
    for level in ("removed", "added"):
        count = sum(entry.count for entry in entries if entry.level == level)
        side = "left_tensors" if level == "removed" else "right_tensors"
        with_nodes = any(getattr(e, side) for e in found.entries if e.topic != "lone weight")
        noun = "other weight" if with_nodes else "weight"
        if count:
            told.append(f"{write_count(count, noun)} {level}")
    return told


def _count_weights(entries: Sequence[DifferenceEntry]) -> int:
    """Return how many weights nodes have with them that one model alone has."""
    return sum(len(entry.left_tensors) + len(entry.right_tensors) for entry in entries)


_TOGETHER: dict[EntryTopic, Write] = {
    "interface": _write_interface,
    "node": _write_nodes,
    "type": _write_types,
    "alone": _write_alone,
    "model": _write_many_of_model,
    "weight": _write_weights,
    "lone weight": _write_lone_weights,
}
_ALWAYS_TOGETHER = frozenset({"interface", "alone", "weight", "lone weight"})


def _count_unread(found: Diff) -> str:
    """Return in words how much could not be read; "" where everything could."""
    told = [
        f"{write_count(count, what)} could not be read"
        for count, what in ((len(found.unread), "weight"), (len(found.unjudged), "other part"))
        if count
    ]
    return join_parts(told, len(told))


def tell_sides_apart(found: Diff) -> tuple[str, str]:
    """Return what both models are called, without the folders of their authors."""
    old, new = (
        write_line(Path(model.source).name or model.source, _LONGEST_NAME)
        for model in (found.left, found.right)
    )
    return (f"{old} (old)", f"{new} (new)") if old == new else (old, new)


def write_compatibility(found: Diff) -> str:
    """Return in a sentence how inputs and outputs differ; of what is computed it says nothing."""
    if found.has_same_interface:
        return "Same inputs and outputs."
    if found.is_compatible:
        return "Inputs and outputs are compatible: what fitted before fits."
    return "Inputs or outputs are not compatible: what fitted before may not fit."
