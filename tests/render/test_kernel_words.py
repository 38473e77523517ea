"""A box of several convolutions says their kernels, where they differ or are factored."""

from __future__ import annotations

import pytest

from netloupe.explorer.render.faces import FaceBook
from netloupe.explorer.view import View
from tests.unrolled import Writer

Kernel = tuple[int, ...]


def add_convolutions(writer: Writer, value: str, scope: str, kernels: list[Kernel]) -> str:
    for number, kernel in enumerate(kernels):
        weight = writer.weight(f"{scope}.{number}", 8 * number + 16, 8 * number + 8, *kernel)
        pads = [size // 2 for size in kernel] * 2
        inner = f"{scope}/{number}"
        value = writer.add(inner, "Conv", value, weight, kernel_shape=kernel, pads=pads)
        value = writer.add(inner, "Relu", value)
    return value


def tell(*blocks: list[Kernel]) -> list[str]:
    """Return what is written on the boxes of modules of convolutions with some kernels."""
    writer = Writer()
    rank = len(blocks[0][0])
    writer.inputs = {"x": [1, 8, *[16] * rank]}
    value = writer.add("first", "Relu", writer.add("first", "Neg", "x"))
    for number, kernels in enumerate(blocks):
        value = add_convolutions(writer, value, f"block{number}", kernels)
        value = writer.add("", "MaxPool", value, kernel_shape=[2] * rank)
    writer.outputs = [value]
    book = FaceBook("facts")
    items = View(writer.load()).root.children
    return [run.text for item in items for run in book.face(item).texts]


@pytest.mark.parametrize(
    ("kernels", "told"),
    [
        ([(1, 3, 3), (3, 1, 1)], "1×3×3, 3×1×1 · 8 → 16 → 24"),
        ([(1, 1), (3, 3)], "1×1, 3×3 · 8 → 16 → 24"),
        ([(3, 3), (3, 3), (1, 1)], "3×3 ×2, 1×1 · 8 → 16 → 24 → 32"),
        ([(7,), (3,)], "kernels 7, 3 · 8 → 16 → 24"),
        ([(3, 1), (1, 3)] * 2, "3×1, 1×3, 3×1, 1×3"),
    ],
)
def test_kernels_that_differ_are_told(kernels: list[Kernel], told: str) -> None:
    assert told in tell(kernels)


@pytest.mark.parametrize("kernel", [(3, 3), (3, 3, 3), (5,), (1, 1)])
def test_kernels_alike_along_all_axes_are_not(kernel: Kernel) -> None:
    told = tell([kernel] * 3)
    assert "8 → 16 → 24 → 32" in told
    assert not any("×" in text and "·" in text and "→" in text for text in told)


def test_long_chains_tell_runs_of_equal_kernels() -> None:
    told = tell([(1, 3), (3, 1)] * 3)
    assert not any("1×3" in text for text in told)
