"""In models without names a sum around several residual sums is one box."""

from __future__ import annotations

import pytest

from netloupe.explorer.grouping import Group, build_group_tree
from netloupe.explorer.model import Graph, Node
from tests.grouping.test_repeats import Builder
from tests.grouping.test_tree import check_tree


def write_groups(*, rows: int = 2, inner: int = 3, leaves: bool = False) -> Graph:
    """Write groups of residual blocks that all differ, so that none of them are a stack."""
    builder = Builder()
    kinds = ["Relu", "Neg", "Exp", "Abs", "Tanh", "Sigmoid", "Softplus", "Elu", "Selu", "Erf"]
    value = builder.add("Sin", "x")
    given = ""
    for row in range(rows):
        stream = value = builder.add("Floor", value)
        for number in range(inner):
            kind = kinds[(row * inner + number) % len(kinds)]
            changed = builder.add(kind, builder.add("MatMul", value, builder.weight()))
            value = builder.add("Add", value, builder.add("MatMul", changed, builder.weight()))
            given = value if not number else given
        value = builder.add("MatMul", value, builder.weight())
        value = builder.add("Add", stream, value)
    value = builder.add("Ceil", value)
    return builder.load(builder.add("Mul", value, given) if leaves else value)


def list_groups(graph: Graph) -> list[Group]:
    tree = build_group_tree(graph)
    check_tree(tree)
    return [one for one in tree.root.inner_groups() if one.label.startswith("Residual group")]


@pytest.mark.parametrize("rows", [1, 2])
def test_each_is_one_box(rows: int) -> None:
    found = list_groups(write_groups(rows=rows))
    assert len(found) == rows
    assert all(sum(n.op_type == "Add" for n in _list_nodes(one)) == 4 for one in found)


def test_a_block_alone_is_none_and_neither_is_what_gives_something_else() -> None:
    assert list_groups(write_groups(inner=1)) == []
    assert len(list_groups(write_groups(leaves=True))) == 1


def _list_nodes(group: Group) -> list[Node]:
    nodes: list[Node] = []
    pending: list[Group | Node] = [group]
    while pending:
        one = pending.pop()
        if isinstance(one, Node):
            nodes.append(one)
        else:
            pending += one.children
    return nodes
