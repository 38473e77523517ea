"""What enters and leaves a stack of which one repetition differs is what does so there."""

from __future__ import annotations

import numpy as np
import pytest

from netloupe.explorer.grouping import Group, GroupTree
from netloupe.explorer.readers.load import load
from netloupe.explorer.view.alignment import align
from netloupe.explorer.view.repetitions import Repetitions
from netloupe.proto import onnx_pb2
from tests.trees import make_view, wrap, wrap_repeat


class Network:
    """Writes blocks whose inner results are summed up beside a stream with residuals."""

    def __init__(self, inner: int, *, skips_first: bool) -> None:
        self.inner, self.skips_first = inner, skips_first
        self.proto = onnx_pb2.ModelProto(ir_version=8)
        self.proto.graph.input.add(name="x")
        self.stream, self.total = "x", self.add("Conv", "x", name="first")

    def add(self, op_type: str, *operands: str, name: str) -> str:
        self.proto.graph.node.add(op_type=op_type, name=name, input=operands, output=[f"{name}:0"])
        return f"{name}:0"

    def add_block(self, number: int, *, has_residual: bool) -> None:
        x, stream = self.stream, self.stream
        for place in range(self.inner):
            x = self.add("Tanh" if place % 2 else "Conv", x, name=f"inner{number}.{place}")
        for adds_skip in (True, False) if self.skips_first else (False, True):
            if adds_skip:
                skip = self.add("Conv", x, name=f"skip{number}")
                self.total = self.add("Add", self.total, skip, name=f"total{number}")
            elif has_residual:
                residual = self.add("Conv", x, name=f"residual{number}")
                self.stream = self.add("Add", stream, residual, name=f"stream{number}")


def find_repetitions(
    count: int, inner: int, lacking: int, exemplar: int, *, skips_first: bool
) -> Repetitions:
    """Return a stack of blocks of which one has no residual."""
    network = Network(inner, skips_first=skips_first)
    for number in range(count):
        network.add_block(number, has_residual=number != lacking)
    network.add("Relu", network.total, name="head")
    network.proto.graph.output.add(name="head:0")
    model = load(network.proto.SerializeToString())

    def change(tree: GroupTree) -> None:
        size = sum(inner + (2 if number == lacking else 4) for number in range(count))
        repeat = wrap(tree.root, "repeat", 1, 1 + size, "Block")
        repeat.exemplar = exemplar
        for number in range(count):
            size = inner + (2 if number == lacking else 4)
            wrap(repeat, "block", number, number + size, str(number))

    borders = make_view(model, change, "none").borders(model.graph)
    (repeat,) = (child for child in borders.tree.root.children if isinstance(child, Group))
    return borders.repetitions(repeat)


@pytest.mark.parametrize("count", [3, 5, 12])
@pytest.mark.parametrize("inner", [1, 2, 5])
@pytest.mark.parametrize("skips_first", [False, True])
@pytest.mark.parametrize("lacks", ["first", "middle", "last"])
def test_a_sum_of_skips_leaves_where_a_repetition_has_no_residual(
    count: int, inner: int, skips_first: bool, lacks: str
) -> None:
    lacking = {"first": 0, "middle": count // 2, "last": count - 1}[lacks]
    exemplar = 1 if lacking == 0 else 0
    found = find_repetitions(count, inner, lacking, exemplar, skips_first=skips_first)
    border = found.correspond(exemplar)
    results = {
        value.name: [outer.name for outer in outers] for value, outers in border.results.items()
    }
    assert results == {f"total{exemplar}:0": [f"total{count - 1}:0"]}
    assert [value.name for value in border.only_to_others] == [f"stream{exemplar}:0"]
    bindings = {value.name: outer.name for value, outer in border.bindings.items()}
    # what the first block takes first of all, and the sum that it adds to
    before = {0: ("x", "first:0"), 1: ("x", "total0:0")}[exemplar]
    assert bindings == dict(zip(before, ("x", "first:0"), strict=True))


@pytest.mark.parametrize("count", [2, 4])
def test_repetitions_that_are_alike_need_no_colours(count: int) -> None:
    network = Network(3, skips_first=False)
    for number in range(count):
        network.add_block(number, has_residual=True)
    network.add("Sum", network.total, network.stream, name="head")
    network.proto.graph.output.add(name="head:0")
    model = load(network.proto.SerializeToString())

    def change(tree: GroupTree) -> None:
        wrap_repeat(tree.root, 1, 7, count)

    borders = make_view(model, change, "none").borders(model.graph)
    (repeat,) = (child for child in borders.tree.root.children if isinstance(child, Group))
    results = borders.repetitions(repeat).correspond(0).results
    last = count - 1
    assert {value.name: [outer.name for outer in outers] for value, outers in results.items()} == {
        "stream0:0": [f"stream{last}:0"],
        "total0:0": [f"total{last}:0"],
    }


def test_finer_colours_come_first_and_coarser_ones_fill_what_is_between() -> None:
    model = [np.array(row, np.uint64) for row in ([1, 2, 3, 4, 5, 6], [7, 7, 7, 7, 7, 7])]
    other = [np.array(row, np.uint64) for row in ([1, 9, 5, 6], [7, 7, 7, 7])]
    assert align(model, other).tolist() == [0, 1, 4, 5]
    other = [np.array(row, np.uint64) for row in ([9, 8, 5, 6], [7, 0, 7, 7])]
    assert align(model, other).tolist() == [0, -1, 4, 5]
    assert align(model, [row[:0] for row in model]).tolist() == []
