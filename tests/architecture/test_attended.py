"""Two self-attentions of one block are told by what they go over."""

from __future__ import annotations

import numpy as np
import pytest

from tests.architecture.test_modules import Named

_WIDTH, _HEADS = 8, 2


class _Axial(Named):
    """Blocks that attend along two axes of what is on a grid."""

    def attend_over(self, x: str, batch: int, count: int) -> str:
        size = _WIDTH // _HEADS
        split = self.numbers(batch, count, _HEADS, size)
        query, key, value = (
            self.add("Reshape", self.linear(x, _WIDTH, _WIDTH), split) for _ in range(3)
        )
        query = self.add("Transpose", query, perm=[0, 2, 1, 3])
        key = self.add("Transpose", key, perm=[0, 2, 3, 1])
        value = self.add("Transpose", value, perm=[0, 2, 1, 3])
        scores = self.add("MatMul", query, key)
        scores = self.add("Mul", scores, self.store(np.float32(size**-0.5)))
        weighed = self.add("MatMul", self.add("Softmax", scores, axis=-1), value)
        joined = self.add("Transpose", weighed, perm=[0, 2, 1, 3])
        joined = self.add("Reshape", joined, self.numbers(batch, count, _WIDTH))
        return self.linear(joined, _WIDTH, _WIDTH)

    def cross(self, x: str, rows: int, columns: int) -> str:
        x = self.add("Add", x, self.attend_over(self.norm(x, _WIDTH), rows, columns))
        x = self.add("Transpose", x, perm=[1, 0, 2])
        x = self.add("Add", x, self.attend_over(self.norm(x, _WIDTH), columns, rows))
        x = self.add("Add", x, self.feed(self.norm(x, _WIDTH)))
        return self.add("Transpose", x, perm=[1, 0, 2])


def _tell(rows: int, columns: int, *, batch: int = 1, blocks: int = 4) -> str:
    net = _Axial()
    x = net.take("x", (batch, rows * columns // batch, _WIDTH))
    x = net.add("Reshape", x, net.numbers(rows, columns, _WIDTH))
    for _ in range(blocks):
        x = net.cross(x, rows, columns)
    return net.finish(net.linear(net.norm(x, _WIDTH), _WIDTH, 3)).architecture.sentence


def test_attention_is_told_with_both_counts_of_tokens() -> None:
    assert "over 6, then over 4 tokens;" in _tell(4, 6)


def test_attention_over_what_comes_in_together_is_over_the_batch() -> None:
    assert "over 6 tokens, then over the batch of 4;" in _tell(4, 6, batch=4)


@pytest.mark.parametrize(("rows", "blocks"), [(6, 4), (4, 1)])
def test_equal_counts_and_single_blocks_are_told_without(rows: int, blocks: int) -> None:
    told = _tell(rows, 6, blocks=blocks)
    assert "self-attention" in told
    assert "over" not in told


def test_blocks_of_two_layers_are_told_with_what_is_so_of_both() -> None:
    net = _Axial()
    x = net.add("Reshape", net.take("x", (1, 24, _WIDTH)), net.numbers(4, 6, _WIDTH))
    for number in range(3):
        start = len(net.nodes)
        for rows, columns in ((4, 6), (6, 4)):
            x = net.add("Add", x, net.attend_over(net.norm(x, _WIDTH), rows, columns))
            x = net.add("Add", x, net.feed(net.norm(x, _WIDTH), inner=4 * rows))
            x = net.add("Transpose", x, perm=[1, 0, 2])
        net.within(start, f"layers.{number}")
    told = net.finish(net.linear(net.norm(x, _WIDTH), _WIDTH, 3)).architecture.sentence
    assert "3 blocks of 2 transformer blocks (pre-norm LayerNorm; self-attention 2 heads" in told
    assert "over 6, then over 4 tokens; MLP, GELU)" in told
