"""What is said of a stack whose blocks have other activations or kernels at the same place."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from netloupe.explorer.grouping import build_group_tree
from netloupe.explorer.grouping.position_differences import tell_activations, tell_pools
from netloupe.explorer.grouping.stack_changes import list_changes
from netloupe.explorer.model import Model
from tests.unrolled import Writer

Block = tuple[str, tuple[int, int], int]
PLAIN: Block = "Relu", (3, 3), 1


def make_blocks(blocks: Sequence[Block]) -> Model:
    """Return modules of three convolutions; of each block the activation, kernel and stride."""
    writer = Writer()
    writer.inputs = {"x": [1, 8, 64, 64]}
    value = "x"
    for number, (activation, kernel, stride) in enumerate(blocks):
        for place in range(3):
            size, step = (kernel, stride) if not place else ((1, 1), 1)
            weight = writer.weight(f"w{number}.{place}", 8, 8, *size)
            scope = f"block.{number}"
            options = {"kernel_shape": [*size], "strides": [1, step]}
            value = writer.add(f"{scope}/conv.{place}", "Conv", value, weight, **options)
            value = writer.add(scope, activation if not place else "Relu", value)
    writer.outputs = [value]
    return writer.load()


@pytest.mark.parametrize(
    ("blocks", "told"),
    [
        ([PLAIN] * 4, []),
        ([PLAIN, ("Tanh", (3, 3), 1), PLAIN], ["ReLU, tanh, ReLU"]),
        (
            [("Relu", (1, 2), 1), ("Relu", (1, 2), 1), ("Relu", (1, 10), 1)],
            ["1×2, 1×2, 1×10"],
        ),
    ],
)
def test_what_blocks_have_at_one_place_is_told(blocks: Sequence[Block], told: list[str]) -> None:
    root = build_group_tree(make_blocks(blocks).graph, "names").root
    repeats = [group for group in root.inner_groups() if group.kind == "repeat"]
    found = [change for repeat in repeats for change in list_changes(repeat)]
    assert found == told


@pytest.mark.parametrize(
    ("blocks", "told"),
    [
        ([PLAIN] * 3 + [("HardSwish", (3, 3), 1)] * 3, "ReLU in 3, then HardSwish in 3"),
        ([PLAIN, ("Elu", (3, 3), 1)] * 3, "ReLU in 3 of 6, ELU in 3 of 6"),
        (
            [PLAIN, *((kind, (3, 3), 1) for kind in ("Elu", "Tanh", "Selu"))],
            "different activations",
        ),
    ],
)
def test_of_many_blocks_it_is_told_how_many_have_what(blocks: Sequence[Block], told: str) -> None:
    nodes = make_blocks(blocks).graph.nodes
    assert tell_activations([nodes[6 * n : 6 * n + 6] for n in range(len(blocks))]) == told


@pytest.mark.parametrize(
    ("dilations", "told"),
    [
        ([1, 2, 4, 8] * 2, "dilation 1 … 8 in 2 cycles"),
        ([1, 2, 4] * 3, "dilation 1, 2, 4 in 3 cycles"),
        ([1, 2] * 3, "dilation 1, 2 in turns"),
        ([1, 2, 4, 8, 1, 2], "dilation 1, 2, 4, 8, 1, 2"),
        # as of a time-delay network: each member's own, and never only which there are
        ([1, 2, 3, 1], "dilation 1, 2, 3, 1"),
        ([1, 2, 2, 4, 4, 4], "dilation 1, 2, 2, 4, 4, 4"),
        ([1, 2, 4, 8], "dilation 1 … 8"),
    ],
)
def test_dilations_that_begin_anew_are_told_to_go_in_cycles(
    dilations: Sequence[int], told: str
) -> None:
    writer = Writer()
    writer.inputs = {"x": [1, 8, 64]}
    value = "x"
    for number, dilation in enumerate(dilations):
        for place, step in enumerate((dilation, 1, 1)):
            weight = writer.weight(f"w{number}.{place}", 8, 8, 3)
            options = {"kernel_shape": [3], "dilations": [step], "pads": [step] * 2}
            value = writer.add(f"block.{number}/conv.{place}", "Conv", value, weight, **options)
            value = writer.add(f"block.{number}", "Relu", value)
    writer.outputs = [value]
    (stack,) = build_group_tree(writer.load().graph, "names").root.inner_groups()
    assert list_changes(stack) == [told]


@pytest.mark.parametrize(
    ("windows", "told"),
    [
        ([(8, 8), (4, 4), (2, 2)], ["pool 8, 4, 2"]),
        ([(1, 8), (1, 4)], ["pool 1×8, 1×4"]),
        ([(2, 2), (4, 4), (6, 6), (8, 8), (16, 16)], ["pool 2 … 16"]),
        ([(4, 4)] * 3, []),
    ],
)
def test_branches_that_pool_by_other_windows_say_which(
    windows: Sequence[tuple[int, int]], told: list[str]
) -> None:
    writer = Writer()
    value = "x"
    writer.inputs = {value: [1, 8, 64, 64]}
    for number, window in enumerate(windows):
        scope, options = f"branch.{number}", {"kernel_shape": [*window], "strides": [*window]}
        pooled = writer.add(f"{scope}/pool", "AveragePool", value, **options)
        weight = writer.weight(f"w{number}", 8, 8, 1, 1)
        pooled = writer.add(f"{scope}/conv", "Conv", pooled, weight, kernel_shape=[1, 1])
        inner = writer.add(scope, "Relu", pooled)
        writer.outputs.append(writer.add(scope, "GlobalMaxPool", inner))
    blocks = [
        [node for node in writer.load().graph.nodes if f"branch.{number}/" in node.name]
        for number in range(len(windows))
    ]
    told_of = tell_pools(blocks)
    assert ([told_of] if told_of else []) == told
