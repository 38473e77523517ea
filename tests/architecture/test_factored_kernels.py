"""A sentence says that kernels are factored, where most of them are."""

from __future__ import annotations

import pytest

from tests.unrolled import Writer

Kernel = tuple[int, ...]


def tell(kernels: list[Kernel], *, between: str = "Relu") -> str:
    """Return the sentence of a network of convolutions in a row."""
    writer = Writer()
    rank = len(kernels[0])
    writer.inputs = {"x": [1, 8, *[16] * rank]}
    value = "x"
    for number, kernel in enumerate(kernels):
        weight = writer.weight(f"w{number}", 8, 8, *kernel)
        pads = [size // 2 for size in kernel] * 2
        value = writer.add(f"c{number}", "Conv", value, weight, kernel_shape=kernel, pads=pads)
        options = {"kernel_shape": [1] * rank} if between == "MaxPool" else {}
        value = writer.add(f"c{number}", between, value, **options)
    pooled = writer.add("", "GlobalAveragePool", value)
    flat = writer.add("", "Flatten", pooled)
    writer.outputs = [writer.add("", "MatMul", flat, writer.weight("head", 8, 5))]
    return writer.load().architecture.sentence or ""


def test_pairs_of_space_and_time_are_counted() -> None:
    assert "4 factored convolutions (1×3×3, then 3×1×1)" in tell([(1, 3, 3), (3, 1, 1)] * 4)
    assert "3 factored convolutions (3×1, then 1×3)" in tell([(3, 1), (1, 3)] * 3 + [(3, 3)])


@pytest.mark.parametrize(
    "kernels",
    [
        [(1, 3, 3), (3, 1, 1)],  # one pair alone
        [(3, 3, 3)] * 4,  # whole kernels
        [(3, 3), (1, 1)] * 4,  # a layer at each place behind
        [(1, 3, 3)] * 4,  # along the same axes
        [(3, 1), (1, 3)] * 2 + [(3, 3)] * 9,  # most are whole
        [(3, 3, 1), (1, 3, 3)] * 2,  # both along one axis
    ],
)
def test_others_are_not(kernels: list[Kernel]) -> None:
    assert "factored" not in tell(kernels)


def test_what_something_stands_between_is_no_pair() -> None:
    assert "factored" not in tell([(3, 1), (1, 3)] * 3, between="MaxPool")
