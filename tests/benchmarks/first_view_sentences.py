"""Whether a sentence tells the stacks of a model: its words and numbers beside the file's weights.

Nothing of what composes sentences is used: weights are counted from the nodes that take them, and
the sentence is read as text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from math import prod

from netloupe.explorer.grouping import Group
from netloupe.explorer.model import Graph, Model, Node
from tests.known_stacks import list_stacks

#: a stack with a larger share of all weights has to be told
LEAST_OF_STACK = 0.1
_SMALL = (
    *("one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
_NUMBER = re.compile(rf"\b(?:\d[\d,]*|{'|'.join(_SMALL)}|twice)\b")
_STAGES = re.compile(r"(?:stages|levels|blocks) of (\d+(?:, \d+)+)")


def find_untold_stacks(model: Model, sentence: str) -> list[str]:
    """Return the stacks with many of the weights whose number of blocks a sentence does not say.

    It may say that number, one that counts blocks inside of each, or stages in a row.
    """
    total = sum(_weigh(_list_nodes(model.graph)).values())
    said = {*_read_numbers(sentence)}
    found = []
    for group in list_stacks(model) if total and sentence else ():
        share = sum(_weigh(_list_group(group)).values()) / total
        count = len(group.children)
        if share > LEAST_OF_STACK and said.isdisjoint({*_list_counts(group, count)}):
            found.append(f"{group.path}: ×{count} with {share:.0%} of the weights")
    return found


def _list_counts(group: Group, count: int) -> Iterator[int]:
    """Yield how many blocks a stack may be said to have: repetitions, or modules in them."""
    yield count
    for depth in range(4):
        inner = [*_list_level(group, depth)]
        yield len(inner)
        names: dict[str, int] = {}
        for one in inner:
            mask = re.sub(r"\d+", "#", one.label)
            names[mask] = names.get(mask, 0) + 1
        yield from names.values()


def _list_level(group: Group, depth: int) -> Iterator[Group]:
    for child in group.children:
        if isinstance(child, Group):
            if depth:
                yield from _list_level(child, depth - 1)
            else:
                yield child


def _read_numbers(sentence: str) -> Iterator[int]:
    """Yield the numbers of a sentence, and of rows of stages their sums and their lengths."""
    for found in _NUMBER.finditer(sentence):
        word = found[0]
        if word == "twice":
            yield 2
        else:
            yield _SMALL.index(word) + 1 if word in _SMALL else int(word.replace(",", ""))
    for row in _STAGES.finditer(sentence):
        counts = [int(one) for one in row[1].split(", ")]
        yield from (sum(counts), len(counts))


def _list_group(group: Group) -> Iterator[Node]:
    pending: list[Group | Node] = [group]
    while pending:
        one = pending.pop()
        if isinstance(one, Group):
            pending += one.children
        else:
            yield from _list_inner(one)


def _list_nodes(graph: Graph) -> Iterator[Node]:
    for node in graph.nodes:
        yield from _list_inner(node)


def _list_inner(node: Node) -> Iterator[Node]:
    yield node
    for inner in node.subgraphs:
        yield from _list_nodes(inner)


def _weigh(nodes: Iterable[Node]) -> dict[int, int]:
    """Return how many numbers each stored tensor has that some nodes take: those that are many."""
    sizes: dict[int, int] = {}
    for node in nodes:
        for value in node.inputs:
            tensor = value.initializer if value is not None else None
            if tensor is not None and len(tensor.dims) > 1:
                sizes[id(tensor)] = prod(tensor.dims)
    return sizes
