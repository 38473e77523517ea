"""What a stack says of itself is counted again from the nodes, in every model and grouping."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache

import pytest

from netloupe.explorer.grouping import Group, GroupTree, build_group_tree
from netloupe.explorer.model import Graph, Model, Node
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.group_summary import write_difference, write_member_nodes
from tests.test_known_architectures import KNOWN, find_file

_EACH = re.compile(r"([\d,]+) nodes? each(?:, the (first|last) ([\d,]+) with projection)?")
_SPAN = re.compile(r"([\d,]+) to ([\d,]+) nodes each")
_ODD = re.compile(r"the (first|last) has ([\d,]+) nodes?, the others? ([\d,]+)")
_RANGE = re.compile(r"(.*\D|)(\d+) … \1(\d+)", re.DOTALL)
#: a block has so many of the operators of the one that stands for all, counted
_ALIKE = 0.6


@cache
def open_model(name: str) -> Model:
    return load(find_file(name))


def list_graphs(model: Model) -> Iterator[Graph]:
    """Yield the main graph, the bodies of functions, and the graphs inside these."""
    pending = [model.graph, *model.functions]
    while pending:
        graph = pending.pop()
        yield graph
        pending += [inner for node in graph.nodes for inner in node.subgraphs]


def list_repeats(tree: GroupTree) -> Iterator[Group]:
    return (group for group in {*tree.groups.values()} if group.kind == "repeat")


def walk(child: Group | Node) -> list[Node]:
    """Return all nodes of a block, from its children and not from any count."""
    nodes: list[Node] = []
    pending = [child]
    while pending:
        inner = pending.pop()
        if isinstance(inner, Group):
            pending += inner.children
        else:
            nodes.append(inner)
    return nodes


def number(text: str) -> int:
    return int(text.replace(",", ""))


def check_sizes(text: str, sizes: list[int], blocks: list[list[Node]]) -> None:
    """Assert that a text says how many nodes there are in blocks, and of which it says more."""
    if (match := _EACH.fullmatch(text)) is not None:
        place = {None: None, "first": 0, "last": len(sizes) - 1}[match[2]]
        others = [size for at, size in enumerate(sizes) if at != place]
        assert {*others} == {number(match[1])}
        if place is not None:
            assert sizes[place] == number(match[3])
            operators = [Counter(node.op_type for node in block) for block in blocks]
            more = operators[place] - operators[1 if place == 0 else place - 1]
            assert sum(count for op, count in more.items() if "Conv" in op) >= 1
    elif (match := _ODD.fullmatch(text)) is not None:
        place = 0 if match[1] == "first" else len(sizes) - 1
        assert sizes[place] == number(match[2])
        assert {*sizes[:place], *sizes[place + 1 :]} == {number(match[3])}
    else:
        match = _SPAN.fullmatch(text)
        assert match is not None, text
        assert (min(sizes), max(sizes)) == (number(match[1]), number(match[2]))


@pytest.mark.parametrize("grouping", ["auto", "names", "modules", "repeats"])
@pytest.mark.parametrize("name", [*KNOWN])
def test_what_a_stack_says_is_so(name: str, grouping: str) -> None:
    for graph in list_graphs(open_model(name)):
        tree = build_group_tree(graph, grouping)
        for repeat in list_repeats(tree):
            blocks = [walk(child) for child in repeat.children]
            sizes = [*map(len, blocks)]
            assert len(blocks) > 1
            assert sum(sizes) == len({node.index for block in blocks for node in block})
            assert repeat.node_count == sum(sizes)
            check_sizes(write_member_nodes(repeat), sizes, blocks)
            assert bool(write_difference(repeat)) == (len({*sizes}) > 1)
            exemplar = Counter(node.op_type for node in blocks[repeat.exemplar])
            for block in blocks:
                shared = (exemplar & Counter(node.op_type for node in block)).total()
                assert shared >= _ALIKE * max(len(block), exemplar.total()), repeat.path
            numbers = _RANGE.fullmatch(repeat.label)
            if numbers is not None:
                assert int(numbers[3]) - int(numbers[2]) + 1 == len(blocks), repeat.label
