"""Stages of blocks, of which the first differs, and chains that stand side by side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from netloupe.explorer.grouping import Group, build_group_tree
from netloupe.explorer.grouping.words import WordFinder
from netloupe.explorer.model import Graph, Node

from .test_repeats import Builder, counts, repeats
from .test_tree import check_tree


class Convolutional(Builder):
    """Writes blocks of convolutions, named by a scope or without names."""

    scope = ""

    def node(self, op: str, *operands: str, **attributes: object) -> str:
        name = f"{self.scope}/{op}_{self.names}" if self.scope else ""
        return self.add(op, *operands, name=name, **attributes)

    def conv(self, x: str, size: int = 3, stride: int = 1, group: int = 1) -> str:
        attributes = {"kernel_shape": [size] * 2, "strides": [stride] * 2, "group": group}
        return self.node("Conv", x, self.weight(), self.weight(), **attributes)

    def basic(self, x: str, *, stride: int = 1) -> str:
        """Write a basic block of a residual network, with a projection where it has a stride."""
        main = self.conv(self.node("Relu", self.conv(x, stride=stride)))
        shortcut = self.conv(x, 1, stride) if stride > 1 else x
        return self.node("Relu", self.node("Add", main, shortcut))

    def inverted(self, x: str, size: int, group: int, *, is_first: bool) -> str:
        """Write an inverted residual; the first of a stage has none."""
        inner = self.node("Relu", self.conv(x, 1))
        inner = self.node("Relu", self.conv(inner, size, 2 if is_first else 1, group))
        end = self.conv(inner, 1)
        return end if is_first else self.node("Add", end, x)


def residual_network(depths: Sequence[int]) -> Convolutional:
    builder = Convolutional()
    x = builder.node("MaxPool", builder.node("Relu", builder.conv("x", 7, 2)), kernel_shape=[3, 3])
    for stage, depth in enumerate(depths):
        for number in range(depth):
            x = builder.basic(x, stride=2 if stage and not number else 1)
    builder.node("GlobalAveragePool", x)
    return builder


@pytest.mark.parametrize("between", [(), ("BatchNormalization",)])
@pytest.mark.parametrize("depths", [(1, 2, 8, 8, 4), (2, 4, 8), (4, 6, 2), (8, 3, 1), (16, 4)])
def test_stages_of_many_blocks_are_no_stages_of_pairs(
    depths: tuple[int, ...], between: tuple[str, ...]
) -> None:
    """Whatever stands between two stages, a block is the shortest that repeats."""
    builder = Convolutional()

    def conv(x: str, size: int, stride: int) -> str:
        x = builder.conv(x, size, stride)
        for op in (*between, "LeakyRelu"):
            x = builder.node(op, x)
        return x

    x = conv("x", 3, 1)
    for depth in depths:
        x = conv(x, 3, 2)
        for _ in range(depth):
            x = builder.node("Add", conv(conv(x, 1, 1), 3, 1), x)
    builder.node("Identity", x)
    graph = builder.load(f"t{builder.names}")
    assert [count for _, count in counts(graph)] == [depth for depth in depths if depth > 1]


@pytest.mark.parametrize("depths", [(3, 4, 6, 3), (2, 2, 2, 2)])
def test_stages_of_a_residual_network_without_names(depths: tuple[int, ...]) -> None:
    builder = residual_network(depths)
    graph = builder.load(f"t{builder.names}")
    assert [count for _, count in counts(graph)] == [*depths]
    firsts = [repeat.children[0] for repeat in repeats(build_group_tree(graph))]
    assert [child.node_count for child in firsts if isinstance(child, Group)] == [5, 6, 6, 6]


#: depth, kernel and channels of stages
STAGES = ((2, 3, 96), (3, 5, 144), (4, 3, 240), (3, 5, 480))


def inverted_network(*, is_named: bool) -> Graph:
    builder = Convolutional()
    number = 0
    builder.scope = "/stem" if is_named else ""
    x = builder.node("Relu", builder.conv("x", 3, 2))
    for depth, size, channels in (*STAGES, (1, 3, 960)):
        for place in range(depth):
            builder.scope = f"/blocks.{number}" if is_named else ""
            x = builder.inverted(x, size, channels, is_first=not place)
            number += 1
    builder.scope = "/head" if is_named else ""
    return builder.load(builder.node("GlobalAveragePool", builder.node("Relu", x)))


@pytest.mark.parametrize("is_named", [False, True])
def test_a_block_without_a_residual_begins_a_stage(is_named: bool) -> None:
    graph = inverted_network(is_named=is_named)
    found = counts(graph, "auto")
    assert [count for _, count in found] == [depth for depth, _, _ in STAGES]
    if is_named:
        assert [label for label, _ in found][:2] == ["blocks.0 … blocks.1", "blocks.2 … blocks.4"]


def test_named_stages_with_a_projection_of_which_no_two_blocks_are_alike() -> None:
    builder = Convolutional()
    builder.scope = "/stem"
    x = builder.node("Relu", builder.conv("x", 7, 2))
    for stage in range(4):
        for number in range(2):
            builder.scope = f"/layer{stage}/{number}"
            x = builder.basic(x, stride=2 if stage and not number else 1)
    builder.scope = "/head"
    graph = builder.load(builder.node("GlobalAveragePool", builder.node("Neg", x)))
    # three of the stages are built alike, but the first is no different kind of thing
    assert counts(graph, "names") == [("0 … 1", 2)] * 4


def test_pools_between_blocks_belong_to_none() -> None:
    builder = Convolutional()
    x = builder.node("MaxPool", builder.node("Relu", builder.conv("x", 7, 2)), kernel_shape=[3, 3])
    for stage in (2, 2, 4):
        for _ in range(stage):
            squeezed = builder.node("Relu", builder.conv(x, 1))
            sides = [builder.node("Relu", builder.conv(squeezed, size)) for size in (1, 3)]
            x = builder.node("Concat", *sides, axis=1)
        x = builder.node("MaxPool" if stage == 2 else "Dropout", x)
    graph = builder.load(builder.node("Relu", builder.conv(x, 1)))
    assert counts(graph) == [("Fire module", 2), ("Fire module", 2), ("Fire module", 4)]


def test_branches_in_turns_are_no_repeat_of_their_own() -> None:
    builder = Convolutional()
    x = builder.node("Relu", builder.conv("x", 7, 2))
    for _ in range(4):
        first = builder.node("Relu", builder.conv(x))
        second = builder.node("Relu", builder.conv(builder.node("Relu", builder.conv(x))))
        third = builder.node("Relu", builder.conv(x))
        x = builder.node("Concat", first, second, third, axis=1)
    tree = build_group_tree(builder.load(builder.node("Neg", x)), "repeats")
    check_tree(tree)
    (repeat,) = repeats(tree)
    assert len(repeat.children) == 4
    assert [*repeats(tree, repeat.children[0])] == []  # type: ignore[arg-type]


def test_chains_side_by_side_are_one_stack() -> None:
    builder = Builder()
    x = builder.add("Neg", "x")
    chains = [x] * 30
    # as converters write them: all nodes of an operator, then all of the next
    for op in ("Exp", "Log", "Abs", "Sqrt"):
        chains = [builder.add(op, value) for value in chains]
    tree = build_group_tree(builder.load(builder.add("Sum", *chains)))
    check_tree(tree)
    (repeat,) = repeats(tree)
    assert len(repeat.children) == 30
    block = repeat.children[0]
    assert isinstance(block, Group)
    assert [node.op_type for node in block.children if isinstance(node, Node)] == [
        "Exp",
        "Log",
        "Abs",
        "Sqrt",
    ]


def test_pairs_of_named_blocks_are_titled_from_the_first_to_the_last() -> None:
    builder = Builder()
    x = builder.add("Neg", "x", name="/in/Neg")
    for number in range(6):
        ops = ("Exp", "Log") if number % 2 == 0 else ("Sin", "Cos", "Abs", "Tan")
        for op in ops:
            x = builder.add(op, x, name=f"/blocks.{number}/{op}")
    graph = builder.load(builder.add("Neg", x, name="/out/Neg"))
    assert counts(graph, "names") == [("blocks.0–1 … blocks.4–5", 3)]


def test_copies_of_shared_weights_do_not_turn_layers_around() -> None:
    builder = Builder()
    weight = builder.weight()
    copies = {
        number: builder.add("Identity", weight, name=f"/layers.{number}/Identity")
        for number in (3, 2, 1)
    }
    x = "x"
    for number in range(4):
        x = builder.add("Mul", x, copies.get(number, weight), name=f"/layers.{number}/Mul")
        x = builder.add("Exp", x, name=f"/layers.{number}/Exp")
        x = builder.add("Log", x, name=f"/layers.{number}/Log")
    graph = builder.load(builder.add("Neg", x, name="/out/Neg"))
    assert counts(graph, "names") == [("layers.0 … layers.3", 4)]


@pytest.mark.parametrize(
    ("numbers", "word", "wanted"),
    [
        ([1, 2, 9, 1, 2, 1, 2, 8], (0, 2), [(0, 1), (3, 2)]),
        ([1, 1, 1, 1, 1], (0, 2), [(0, 2)]),
        ([1, 2, 1, 2, 1, 3], (2, 3), [(0, 1)]),
    ],
)
def test_where_a_word_is_said(
    numbers: list[int], word: tuple[int, int], wanted: list[tuple[int, int]]
) -> None:
    finder = WordFinder(np.array(numbers))
    assert finder.find(*word, 0, len(numbers)) == wanted
    assert all(finder.is_said(*word, place, times) for place, times in wanted)


def test_a_word_is_not_said_where_another_stands() -> None:
    finder = WordFinder(np.array([1, 2, 1, 2, 1, 3]))
    assert finder.is_said(0, 2, 2, 1)
    assert not finder.is_said(0, 2, 2, 2)
    assert not finder.is_said(0, 2, 4, 1)
