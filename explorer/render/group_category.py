"""The category of a group, which decides its colours: what dominates its idea, not its parameters.

A transformer block is attention though most of its parameters are in its MLP; a stage of a
residual network is convolution; a decoder around a cell is recurrent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice

from netloupe.explorer.grouping import Group, recognise_function
from netloupe.explorer.grouping.scans import SCAN, STATE_SPACES
from netloupe.explorer.model import Graph, Node
from netloupe.explorer.patterns import IDEA, MOST_NODES, Recognition
from netloupe.explorer.view import Item

from .category import category_of, category_of_family
from .node_ideas import find_node_idea

Holder = Group | Graph

#: so many nodes of a group are looked at, each fold of repeats counting as one of them
MOST_LOOKED_AT = 3_000
#: parts of the name that an author gave a small group; first match counts
_HINTS = (("norm", "norm"), ("attention", "attention"), ("attn", "attention"))
#: a group of more nodes is not what its name says a part of it is
_MOST_NAMED = 24
#: functions and branches are looked into so deep
_MOST_DEPTH = 24
#: so many groups inside are asked what they are
_MOST_ASKED = 64
#: an attention, a cell stands for so many projections with weights, of which exporters fuse some
_PROJECTIONS = 4
#: attention or recurrence is the idea of a group where so much of what has weights is of it
_LEAST_OF_IDEA = 0.2


class GroupCategories:
    """Finds the categories of groups, of each once."""

    def __init__(self) -> None:
        self._known: dict[Holder, str] = {}
        self._depth = 0

    def of_item(self, item: Item) -> str:
        """Return the category of an item that is a group, a call, a branch or a node."""
        element = item.element
        if isinstance(element, Node):
            return self.of_node(element, item)
        if not isinstance(element, Group | Graph):
            return "plain"
        if isinstance(element, Group) and element.main is not None and element.recognised is None:
            return self.of_node(element.main, item)
        return self.of_group(element)

    def of_node(self, node: Node, item: Item | None = None) -> str:
        """Return the category of a node; in attention that of what is multiplied there."""
        category = category_of(node)
        if category == "plain" and node.function is not None:
            recognition = recognise_function(node.function)
            known = "" if recognition is None else category_of_family(recognition.family)
            return known or self.of_group(node.function)
        if category == "plain" and node.subgraphs:
            held = {self.of_group(graph) for graph in node.subgraphs} - {"plain"}
            return held.pop() if len(held) == 1 else "plain"
        if category == "plain" and item is not None and node.operator.multiplies_either:
            return "attention" if _is_in_attention(item) else "plain"
        if category == "plain" and item is not None:
            idea = find_node_idea(node)
            return idea.category or category if idea is not None else category
        return category

    def of_group(self, group: Holder) -> str:
        """Return the category of a group, or of a graph that is a branch or a function."""
        known = self._known.get(group)
        if known is None:
            if self._depth > _MOST_DEPTH:
                return "plain"
            self._known[group] = "plain"  # what a function that calls itself is to itself
            self._depth += 1
            try:
                known = self._known[group] = self._find(group)
            finally:
                self._depth -= 1
        return known

    def _find(self, group: Holder) -> str:
        if isinstance(group, Group):
            if group.is_beside:
                return "preparation"
            if group.kind == "repeat":
                exemplar = group.children[group.exemplar]
                if isinstance(exemplar, Node):
                    return self.of_node(exemplar)
                return self.of_group(exemplar)
            recognition = group.recognised
            if group.kind == "block" and group.label == SCAN:
                return "recurrent"
            if recognition is not None:
                found = category_of_recognised(recognition, group)
                if found:
                    return found
        counts = self._count(group)
        hint = _read_hint(group)
        if hint and _may_be(hint, counts):
            return hint
        found = _weigh(counts)
        return "plain" if found == "norm" and _holds_idea(group) else found

    def _count(self, group: Holder) -> Counter[str]:
        """Count nodes by category, ``products`` of computed values and ``softmaxes`` besides."""
        counts: Counter[str] = Counter()
        for node, times in islice(_walk(group, _MOST_ASKED), MOST_LOOKED_AT):
            if isinstance(node, Group):
                counts[_find_idea(node)] += times * _PROJECTIONS
                continue
            category = self.of_node(node)
            counts[category] += times
            operator = node.operator
            if category == "plain" and operator.multiplies_either:
                counts["products"] += times
            if operator.has("distributes"):
                counts["softmaxes"] += times
        return counts


def _read_hint(group: Holder) -> str:
    """Return the category that the name of a small group speaks of; "" for none."""
    if not isinstance(group, Group) or group.recognised is not None:
        return ""
    if group.node_count > _MOST_NAMED:
        return ""
    for name in (group.type_name, group.label.rsplit(" / ", 1)[-1]):
        lowered = name[-200:].lower()
        for part, category in _HINTS:
            if part in lowered:
                return category
    return ""


def _may_be(hint: str, counts: Counter[str]) -> bool:
    """Return whether a group may be what its name says: a norm-free block is no norm."""
    if hint == "norm":
        return not counts["weights"]
    return bool(counts["products"] or counts["softmaxes"] or counts["attention"])


def category_of_recognised(recognition: Recognition, group: Group) -> str:
    """Return the category of a block of a known kind; "" where its kind does not tell it."""
    category = category_of_family(recognition.family)
    if recognition.name.startswith("+ "):  # stored tokens
        return "lookup"
    if recognition.name.removesuffix(" block") in STATE_SPACES:  # a state goes along the sequence
        return "recurrent"
    if recognition.family == "elementwise":
        return "plain"
    if category != "weights":
        # what is made of positions alone is used as a table of them is
        return "lookup" if recognition.family == "generator" else category
    walked = islice(_walk(group), MOST_LOOKED_AT)
    nodes = [node for node, _ in walked if isinstance(node, Node)]
    has_weights = any(category_of(node) == "weights" for node in nodes)
    # all pairs are compared, as attention does
    has_pairs = any(node.operator.multiplies_either and len(node.inputs) > 1 for node in nodes)
    return "attention" if has_pairs and not has_weights else "weights"


def _weigh(counts: Counter[str]) -> str:
    """Return what dominates the idea of what holds so many nodes of each category."""
    attentions = min(counts["products"] // 2, counts["softmaxes"])
    weighted = counts["weights"] + counts["attention"] + counts["recurrent"]
    attending = counts["attention"] + _PROJECTIONS * attentions
    least = max(_LEAST_OF_IDEA * weighted, 1.0)
    if counts["recurrent"] >= least:  # a decoder that attends as well is a recurrent one
        return "recurrent"
    if attending >= least:
        return "attention"
    if counts["lookup"] >= max(counts["weights"], 1):  # what projects an embedding is part of it
        return "lookup"
    if counts["weights"]:
        return "weights"
    if counts["norm"]:
        return "norm"
    found = max(("resample", "activation"), key=lambda category: counts[category])
    return found if counts[found] else "plain"


def _holds_idea(group: Holder) -> bool:
    """Return whether a group is known to hold an idea: a norm behind a transform is not its own."""
    return isinstance(group, Group) and any(one.rank == IDEA for one in group.contents)


def _find_idea(group: Group) -> str:
    """Return ``attention`` or ``recurrent`` where a group is known to be that; else ""."""
    if group.kind == "repeat" or group.node_count > MOST_NODES:
        return ""
    recognition = group.recognised
    category = "" if recognition is None else category_of_family(recognition.family)
    return category if category in ("attention", "recurrent") else ""


def _walk(group: Holder, asked: int = 0) -> Iterator[tuple[Node | Group, int]]:
    """Yield the nodes inside, those of one repetition for all; arithmetic on shapes left out.

    Of so many groups it is ``asked`` whether they are attention or recurrent: these are yielded.
    """
    pending: list[tuple[Holder | Node, int]] = [(group, 1)]
    while pending:
        child, times = pending.pop()
        if isinstance(child, Group) and child is not group and asked:
            asked -= 1
            if _find_idea(child):
                yield child, times
                continue
        if isinstance(child, Node):
            yield child, times
            continue
        if isinstance(child, Graph):
            yield from ((node, times) for node in child.nodes)
            continue
        if child.kind == "shape" or child.is_beside:
            continue
        if child.kind == "repeat":
            pending.append((child.children[child.exemplar], times * len(child.children)))
        else:
            pending += [(inner, times) for inner in reversed(child.children)]


def _is_in_attention(item: Item) -> bool:
    """Return whether the innermost block of a known kind around an item is attention."""
    outer = item.parent
    while outer is not None:
        element = outer.element
        recognition = element.recognised if isinstance(element, Group) else None
        if recognition is not None:
            return recognition.family == "attention"
        outer = outer.parent
    return False
