"""Like columns of boxes side by side, which one box joins: experts that are computed in a loop."""

from __future__ import annotations

import pytest

from netloupe.explorer.grouping import build_group_tree, list_nodes_inside
from netloupe.explorer.grouping.like_columns import fold_like_columns
from netloupe.explorer.grouping.simplify import Folder
from netloupe.explorer.model import Graph
from tests.unrolled import WIDTH, Writer

#: what stands behind the experts, each a box
_BEHIND = ("Sin", "Neg", "Cos", "Floor", "Abs", "Ceil", "Round")


def make_experts(
    count: int = 4, *, last: str = "", behind: int = len(_BEHIND), scope: str = ""
) -> Graph:
    """Return experts of two layers and a step between them each, mixed, with a gate for each.

    Parameters
    ----------
    count
        How many experts there are.
    last
        What is different in the last one: ``"operator"``, ``"number"``, ``"width"``, or
        ``"result"``, which something else takes too.
    behind
        How many boxes there are behind.
    scope
        What an author calls the layers of an expert; its number follows.
    """
    writer = Writer()
    writer.inputs = {"x": [WIDTH, WIDTH]}
    given: list[str] = []
    for number in range(count):
        is_other = last if number == count - 1 else ""
        name = f"mix/{scope}{number}" if scope else "mix"
        width = 2 * WIDTH if is_other == "width" else WIDTH
        value = writer.add(name, "MatMul", "x", writer.weight(f"first{number}", WIDTH, width))
        value = writer.add(name, "Tanh" if is_other == "operator" else "Relu", value)
        if not number:  # what all take is computed where the first of them needs it
            offset = writer.add("mix", "Exp", writer.add("mix", "ReduceMax", "x", keepdims=1))
        value = writer.add(name, "Sub", value, offset)
        value = writer.add(name, "MatMul", value, writer.weight(f"second{number}", width, WIDTH))
        alpha = 0.2 if is_other == "number" else 0.1
        given.append(writer.add(name, "LeakyRelu", value, alpha=alpha))
    scores = [
        writer.add("mix", "MatMul", "x", writer.weight(f"gate{number}", WIDTH, 1))
        for number in range(count)
    ]
    gate = writer.add("mix", "Softmax", writer.add("mix", "Concat", *scores, axis=1), axis=1)
    joined = writer.add("mix", "Concat", *given, axis=1)
    mixed = writer.add("mix", "MatMul", joined, writer.weight("mix", count * WIDTH, WIDTH))
    value = writer.add("mix", "Mul", mixed, writer.add("mix", "ReduceSum", gate, keepdims=1))
    for op_type in _BEHIND[:behind]:
        value = writer.add("mix", op_type, value)
    value = writer.add("head", "MatMul", value, writer.weight("head", WIDTH, WIDTH))
    value = writer.add("head", "Relu", value)
    writer.outputs = [value] + ([given[-1]] if last == "result" else [])
    return writer.load().graph


def list_folds(graph: Graph) -> list[tuple[str, int, int]]:
    """Return the label of what was folded, how many there are, and the nodes in all of them."""
    root = build_group_tree(graph, "names").root
    folder = Folder(root, {}, {group.path for group in root.inner_groups()})
    fold_like_columns(root, {}, folder.make_sibling_repeat)
    found: list[tuple[str, int, int]] = []
    pending = [root]
    while pending:
        group = pending.pop()
        if group.kind == "repeat":
            found.append((group.label, len(group.children), len(list_nodes_inside([group]))))
        pending += group.inner_groups()
    return sorted(found)


def test_experts_and_their_gate_are_one_repeat_each() -> None:
    assert list_folds(make_experts()) == [("Branch", 4, 4), ("Branch", 4, 20)]


def test_three_columns_are_enough_where_each_is_several_boxes() -> None:
    assert list_folds(make_experts(3)) == [("Branch", 3, 15)]
    assert not list_folds(make_experts(2))


def test_names_of_an_author_are_kept() -> None:
    assert ("expert0 … expert3", 4, 20) in list_folds(make_experts(scope="expert"))


@pytest.mark.parametrize("last", ["operator", "number", "width"])
def test_an_unlike_column_stays_beside_the_others(last: str) -> None:
    assert list_folds(make_experts(5, last=last)) == [("Branch", 4, 20), ("Branch", 5, 5)]
    assert list_folds(make_experts(3, last=last)) == []


def test_what_something_else_takes_from_is_no_column() -> None:
    assert list_folds(make_experts(last="result")) == [("Branch", 3, 15), ("Branch", 4, 4)]
