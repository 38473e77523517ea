"""Numbers that differ over the members of a fold are told with which member has which."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from netloupe.explorer.grouping.member_numbers import tell_numbers
from netloupe.explorer.model import Node
from netloupe.explorer.readers.load import load
from tests.fold_graph import read_raw
from tests.fold_numbers import judge_links, judge_numbers
from tests.unrolled import Writer

_WIDTH = 8


def add_constant(writer: Writer, name: str, *numbers: float, dtype: str = "float32") -> str:
    """Add numbers that are stored as a program's constants are; return their name."""
    shape = () if len(numbers) == 1 else (len(numbers),)
    writer.tensors.append(numpy_helper.from_array(np.array(numbers, dtype).reshape(shape), name))
    return name


def add_member(writer: Writer, kind: str, value: str, number: float, place: int) -> str:
    """Add a member of one or two operators of which one has a number; return its result."""
    name = f"c{place}"
    if kind == "slope":
        return writer.add("", "LeakyRelu", value, alpha=number)
    if kind == "clip":
        least = add_constant(writer, name, 0.0)
        most = add_constant(writer, f"{name}.most", number)
        return writer.add("", "Clip", value, least, most)
    if kind == "power":
        return writer.add("", "Pow", value, add_constant(writer, name, number))
    if kind == "scale":
        return writer.add("", "Mul", value, add_constant(writer, name, number))
    if kind == "join":
        return writer.add("", "Concat", value, add_constant(writer, name, number), axis=0)
    if kind == "top":
        count = add_constant(writer, name, number, dtype="int64")
        count = writer.add(
            "", "Reshape", count, add_constant(writer, f"{name}s", -1, dtype="int64")
        )
        chosen = writer.add("", "TopK", value, count, axis=-1)
        return writer.add("", "ReduceSum", chosen, keepdims=1)
    if kind == "resize":
        return writer.add("", "Resize", value, "", add_constant(writer, name, 1, 1, number))
    if kind == "norm":
        return writer.add("", "LpNormalization", value, p=int(number))
    weight = writer.weight(f"w{place}", _WIDTH, _WIDTH, 3)
    dilation = int(number)
    options = {"kernel_shape": [3], "dilations": [dilation], "pads": [dilation] * 2}
    return writer.add("", "Conv", value, weight, **options)


def write_row(kind: str, numbers: Sequence[float]) -> tuple[onnx.ModelProto, list[range]]:
    """Return the file of members in a row, and which nodes are of each."""
    writer = Writer("plain")
    writer.inputs = {"x": [1, _WIDTH, 64]}
    value, ends = "x", [0]
    for place, number in enumerate(numbers):
        value = writer.add("", "Tanh", add_member(writer, kind, value, number, place))
        ends.append(len(writer.nodes))
    writer.outputs = [value]
    return writer.make(), [range(low, high) for low, high in pairwise(ends)]


def make_row(kind: str, numbers: Sequence[float]) -> list[list[Node]]:
    """Return the nodes of members in a row."""
    made, places = write_row(kind, numbers)
    nodes = load(made).graph.nodes
    return [[nodes[number] for number in own] for own in places]


@pytest.mark.parametrize(
    ("kind", "numbers", "told"),
    [
        ("slope", [0.1, 0.2, 0.4], ["LeakyRelu alpha 0.1, 0.2, 0.4"]),
        ("slope", [0.1, 0.1, 0.1], []),
        ("clip", [1, 2, 6], ["at most 1, 2, 6"]),
        ("power", [2, 3, 2, 3], ["exponent 2, 3 in turns"]),
        ("scale", [0.5, 1, 1, 1], ["× 0.5, then 1"]),
        ("scale", [0.5, 0.5, 2, 2], ["× 0.5 in 2, 2 in 2"]),
        ("join", [0, 0.1, 0.2, 0.3, 0.4], ["joined with 0 … 0.4"]),
        ("top", [18, 20, 22, 24], ["top 18, 20, 22, 24"]),
        ("top", [2, 4, 6, 8, 10], ["top 2 … 10"]),
        ("resize", [8, 4, 2], ["resized by 8, 4, 2"]),
        ("norm", [1, 2, 2, 1], ["LpNormalization p 1, 2, 2, 1"]),
        ("dilation", [1, 2, 3, 1], ["dilation 1, 2, 3, 1"]),
        # what nobody wrote is learned, or measured
        ("scale", [0.4271831, 0.9981, 1.0123457], []),
        # sizes are told as such: a mean over 8 features
        ("scale", [8, 64, 8], []),
    ],
)
def test_numbers_are_told_in_the_order_of_members(
    kind: str, numbers: Sequence[float], told: list[str]
) -> None:
    members = make_row(kind, numbers)
    assert tell_numbers(members) == told


def test_what_is_said_is_not_said_again() -> None:
    members = make_row("dilation", [1, 2, 3, 1])
    assert tell_numbers(members, ["dilation 1, 2, 3, 1"]) == []
    assert tell_numbers(members, ["the first halves the size"]) == ["dilation 1, 2, 3, 1"]


@pytest.mark.parametrize(
    ("kind", "numbers", "text", "is_fault"),
    [
        ("top", [18, 20, 22, 24], "layers ×4 · 18, 20, 22, 24 neighbours", False),
        ("top", [18, 20, 22, 24], "layers ×4 · 18 … 24 neighbours", False),
        ("top", [18, 20, 22, 24], "layers ×4 · 18 neighbours", True),
        ("top", [18, 20, 22, 24], "layers ×4", True),
        # not which member has which, as of 1, 2, 3 for four
        ("dilation", [1, 2, 3, 1], "layers ×4 · dilation 1, 2, 3", True),
        ("dilation", [1, 2, 3, 1], "layers ×4 · dilation 1 to 3", True),
        ("dilation", [1, 2, 3, 1], "layers ×4 · dilation 1, 2, 3, 1", False),
        ("dilation", [1, 2, 4, 1, 2, 4], "layers ×6 · dilation 1, 2, 4 in 2 cycles", False),
        ("dilation", [2, 1, 1], "layers ×3 · dilation 2, then 1", False),
        ("slope", [0.1, 0.2, 0.2], "layers ×3", True),
        ("norm", [1, 2, 2, 1], "layers ×4", True),
        ("scale", [0.4271831, 0.9981, 1.0123457], "layers ×3", False),
        ("scale", [3, 3, 3], "layers ×3", False),
    ],
)
def test_the_judge_of_numbers_finds_what_is_not_told(
    kind: str, numbers: Sequence[float], text: str, *, is_fault: bool
) -> None:
    made, places = write_row(kind, numbers)
    members = [frozenset(own) for own in places]
    assert bool(judge_numbers(read_raw(made), members, text)) is is_fault


def test_the_judge_of_links_finds_members_that_hang_otherwise() -> None:
    made, places = write_row("slope", [0.1] * 4)
    raw, members = read_raw(made), [frozenset(own) for own in places]
    assert judge_links(raw, members, "layers ×4") is None
    assert judge_links(raw, [members[0], members[2]], "layers ×2") is None
    # of two streams by turns, and one that is left out between
    for order in ([0, 2, 1, 3], [0, 1, 3]):
        assert judge_links(raw, [members[place] for place in order], "layers") is not None


@pytest.mark.parametrize("kind", ["slope", "top", "dilation", "power", "clip"])
def test_what_is_told_suffices_the_judge(kind: str) -> None:
    for numbers in ([1, 2, 3, 1], [1, 2, 3, 4, 5], [1, 2, 1, 2], [2, 1, 1, 1], [1, 1, 2, 2]):
        made, places = write_row(kind, numbers)
        text = " · ".join(tell_numbers(make_row(kind, numbers)))
        members = [frozenset(own) for own in places]
        assert judge_numbers(read_raw(made), members, text) == [], text
