"""The pairs of two models as a page takes them: which path of one is which of the other.

Integers and texts of the block (see :mod:`netloupe.explorer.standalone.blocks`):

================ ==============================================================
column           content
================ ==============================================================
``texts``        paths; those that both models have stand here once
``left``         of each pair the number of a path of the older model; several pairs may share it
``right``        of each pair the number of a path of the newer model
``repetitions``  the numbers of pairs of repetitions
``left_places``  of each of these the place in its repeat, from 0, in the older model
``right_places`` likewise in the newer model
``left_calls``   calls of functions in the older model: number of the call's path, and of that of
                 the function, in turn
``right_calls``  likewise in the newer model
================ ==============================================================
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from netloupe.explorer.compare import Diff
from netloupe.explorer.compare.elements import (
    GroupPair,
    list_around,
    list_partners,
    pair_groups_of,
)
from netloupe.explorer.grouping import Group, GroupTree, build_group_tree
from netloupe.explorer.grouping.lookup import find_tree
from netloupe.explorer.model import Graph, Model, Node, Value
from netloupe.explorer.progress import step
from netloupe.explorer.standalone.blocks import write_block
from netloupe.explorer.standalone.level_block import Numbers


def write_pairs(found: Diff, grouping: str = "auto") -> bytes:
    """Return the block of the pairs of two compared models.

    Parameters
    ----------
    found
        What differs between them, and which of their elements are the same.
    grouping
        How their pictures group nodes.
    """
    step("writing pairs")
    texts = Numbers()
    pairs: dict[tuple[int, int], int] = {}

    def add(left: str, right: str) -> int:
        return pairs.setdefault((texts.number(left), texts.number(right)), len(pairs))

    matching = found.matching
    for graph, other_graph in matching.graphs:
        add(graph.path, other_graph.path)
    for pair in matching.pairs:
        for node in pair.left:
            for other_node in pair.right:
                add(node.path, other_node.path)
    for value, other_value in _pair_ends(found.left, found.right):
        add(value.path, other_value.path)
    for value, other_value in matching.values.items():
        add(value.path, other_value.path)
    for tensor, other_tensor in matching.tensors.items():
        add(tensor.path, other_tensor.path)
    for joint in matching.joined.values():
        for one in joint.list_pairs():
            add(*(tensor.path for tensor in one))
    repetitions: list[tuple[int, int, int]] = []
    groups = [*pair_shown_groups(found, grouping)]
    places = _number_repetitions(group for pair in groups for group in pair)
    for group, other_group in groups:
        row = add(group.path, other_group.path)
        if group in places and other_group in places:
            repetitions.append((row, places[group], places[other_group]))
    columns: dict[str, list[int]] = {
        "left": [left for left, _ in pairs],
        "right": [right for _, right in pairs],
        "repetitions": [row for row, _, _ in repetitions],
        "left_places": [place for _, place, _ in repetitions],
        "right_places": [place for _, _, place in repetitions],
        "left_calls": [*_list_calls(found.left, texts)],
        "right_calls": [*_list_calls(found.right, texts)],
    }
    return write_block(columns, {}, texts.list())


def pair_shown_groups(found: Diff, grouping: str) -> Iterator[tuple[Group, Group]]:
    """Yield the pairs of groups of two models as pictures with a grouping show them.

    They are those of the matcher, which have most of their nodes in common; and, of the groups that
    are left, those of one path that have any in common: the block around a convolution stays its
    block where quantization has more nodes in it than there were.
    """
    matching = found.matching
    partners = list_partners(matching)
    found_groups: dict[Graph, list[GroupPair]] = {}
    for one in matching.groups if grouping == "auto" else ():
        found_groups.setdefault(one.left.graph, []).append(one)
    for left, right in matching.graphs:
        trees = _find_tree(found.left, left, grouping), _find_tree(found.right, right, grouping)
        inside = partners.get(left, {})
        known_groups = (
            found_groups.get(left, []) if grouping == "auto" else pair_groups_of(*trees, inside)
        )
        pairs = {one.left: one.right for one in known_groups}
        yield from pairs.items()
        yield from _pair_namesakes(*trees, inside, pairs)


def _find_tree(model: Model, graph: Graph, grouping: str) -> GroupTree:
    return find_tree(model, graph) if grouping == "auto" else build_group_tree(graph, grouping)


def _pair_namesakes(
    left: GroupTree,
    right: GroupTree,
    partners: Mapping[Node, list[Node]],
    pairs: Mapping[Group, Group],
) -> Iterator[tuple[Group, Group]]:
    """Yield groups of one path, each in no pair, that have a pair of nodes in common.

    Where nothing has the path, what is directly inside or around may: of groups that hold but one
    group, the path is that of the inner one.
    """
    done = {*pairs, *pairs.values()}
    begin = len(left.graph.path)
    for is_exact in (True, False):
        for node, others in partners.items():
            around = [group for group in list_around(left, node) if group not in done]
            if not around:
                continue
            there = [
                other
                for partner in others
                for other in list_around(right, partner)
                if other not in done
            ]
            for group in reversed(around):  # the outermost first
                path = right.graph.path + group.path[begin:]
                alike = [
                    other
                    for other in there
                    if other not in done
                    and (other.kind == "repeat") == (group.kind == "repeat")
                    and (other.path == path if is_exact else _is_nested(other.path, path))
                ]
                if alike:
                    inner = [other for other in alike if len(other.path) > len(path)]
                    other = inner[-1] if inner else alike[0]
                    done |= {group, other}
                    yield group, other


def _is_nested(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)


def _number_repetitions(groups: Iterable[Group]) -> dict[Group, int]:
    """Return by repetition its place in its repeat."""
    repeats = {
        group.parent: None
        for group in groups
        if group.parent is not None and group.parent.kind == "repeat"
    }
    return {
        child: place
        for repeat in repeats
        for place, child in enumerate(repeat.children)
        if isinstance(child, Group)
    }


def _pair_ends(left: Model, right: Model) -> Iterator[tuple[Value, Value]]:
    """Yield the inputs and outputs of one name, by which who uses a model knows them."""
    for ends, others in (
        (left.graph.inputs, right.graph.inputs),
        (left.graph.outputs, right.graph.outputs),
    ):
        named = {value.name: value for value in others}
        for value in ends:
            if value.name in named:
                yield value, named[value.name]


def _list_calls(model: Model, texts: Numbers) -> Iterator[int]:
    if not model.functions:
        return
    for graph in model.graphs:
        for node in graph.nodes:
            function = node.function
            if function is not None:
                yield texts.number(node.path)
                yield texts.number(function.path)
