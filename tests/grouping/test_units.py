"""Units of a chain without names: where repetitions of it begin."""

from __future__ import annotations

import pytest

from netloupe.explorer.grouping import Group, build_group_tree, find_tree
from netloupe.explorer.grouping.member_nodes import list_member_nodes, list_nodes_inside
from netloupe.explorer.model import Model
from tests.unrolled import WIDTH, Writer


def add_conv(writer: Writer, value: str, width: tuple[int, int], **attributes: object) -> str:
    name = f"w{len(writer.tensors)}"
    weight = writer.weight(name, width[1], width[0], 3, 3)
    return writer.add("", "Conv", value, weight, kernel_shape=[3, 3], pads=[1] * 4, **attributes)


def add_unit(writer: Writer, value: str, unit: str, width: tuple[int, int], stride: int) -> str:
    """Add the parts of a unit, such as ``Conv BN Relu``, and return the result."""
    for part in unit.split():
        if part == "Conv":
            value = add_conv(writer, value, width, strides=[stride, stride])
            width = width[1], width[1]
        elif part == "BN":
            names = [f"{what}{len(writer.tensors)}" for what in ("s", "b", "m", "v")]
            stored = [writer.weight(name, width[1]) for name in names]
            value = writer.add("", "BatchNormalization", value, *stored)
        else:
            value = writer.add("", part, value)
    return value


def make_stages(unit: str, counts: tuple[int, ...], *, pool: bool = False) -> Model:
    """Return stages of so many equal units, each behind one that halves the resolution.

    Parameters
    ----------
    pool
        Whether a pool halves it instead.
    """
    writer = Writer("plain")
    writer.inputs = {"x": [1, 3, 64, 64]}
    value, last = "x", 3
    for stage, count in enumerate(counts):
        width = 8 * (stage + 1)
        if pool:
            value = writer.add("", "MaxPool", value, kernel_shape=[2, 2], strides=[2, 2])
            value = add_conv(writer, value, (last, width))
            value = writer.add("", "AveragePool", value, kernel_shape=[1, 1])
        else:
            value = add_unit(writer, value, unit, (last, width), 2)
        for _ in range(count):
            value = add_unit(writer, value, unit, (width, width), 1)
        last = width
    value = writer.add("", "GlobalAveragePool", value)
    writer.outputs = [writer.add("", "Flatten", value)]
    return writer.load()


def list_units(model: Model) -> list[list[str]]:
    """Return for each repeat the operators of each of its repetitions."""
    found = []
    pending = [build_group_tree(model.graph).root]
    while pending:
        group = pending.pop(0)
        if group.kind == "repeat":
            blocks = [child for child in group.children if isinstance(child, Group)]
            written = [" ".join(n.op_type for n in list_member_nodes(b, 100)) for b in blocks]
            found.append(written)
        pending += group.inner_groups()
    return found


@pytest.mark.parametrize("unit", ["Conv Relu", "Conv BN Relu", "Conv Relu BN", "Conv LeakyRelu"])
def test_a_unit_begins_with_its_weights(unit: str) -> None:
    """Also where the run begins with the activation of a convolution that has a stride."""
    written = unit.replace("BN", "BatchNormalization")
    counts = (3, 5, 5)
    assert list_units(make_stages(unit, counts)) == [[written] * count for count in counts]


def test_a_norm_before_each_convolution_begins_the_unit() -> None:
    found = list_units(make_stages("BN Relu Conv", (4, 5), pool=True))
    assert found == [["BatchNormalization Relu Conv"] * 4, ["BatchNormalization Relu Conv"] * 5]


def test_equal_stacks_of_one_model_are_cut_alike() -> None:
    """Also where one of them alone would be too short to be found."""
    found = list_units(make_stages("Conv Relu", (2, 6, 2)))
    assert found == [["Conv Relu"] * 2, ["Conv Relu"] * 6, ["Conv Relu"] * 2]


@pytest.mark.parametrize("is_residual", [False, True])
def test_what_a_sum_behind_all_blocks_takes_stands_before_the_first(*, is_residual: bool) -> None:
    """A layer before the blocks may be as one in each of them."""
    writer = Writer("plain")
    writer.inputs = {"x": [WIDTH, WIDTH]}
    value = writer.add("", "Sin", "x")
    before = value = writer.add("", "MatMul", value, writer.weight("w", WIDTH, WIDTH))
    for number in range(6):
        value = writer.add("", "Mul", value, writer.weight(f"d{number}", WIDTH))
        value = writer.add("", "Relu", value)
        value = writer.add("", "MatMul", value, writer.weight(f"w{number}", WIDTH, WIDTH))
    if is_residual:
        value = writer.add("", "Add", value, before)
    writer.outputs = [writer.add("", "Cos", value)]
    model = writer.load()
    stack = next(iter(find_tree(model, model.graph).root.inner_groups()))
    first = list_nodes_inside(stack.children[:1])[0]
    assert first.op_type == ("Mul" if is_residual else "MatMul")
