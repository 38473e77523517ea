"""Layers that are used again with other queries are one layer."""

from __future__ import annotations

import numpy as np
import pytest

from .test_modules import Named


class _Reader(Named):
    """Writes a layer of cross-attention and MLP that asks with a query of its own in each step."""

    def __init__(self, *, is_shared: bool) -> None:
        super().__init__()
        self._is_shared = is_shared
        self._known: dict[str, str] = {}

    def matrix(self, name: str, taken: int, given: int) -> str:
        if name not in self._known or not self._is_shared:
            self._known[name] = self.weight(taken, given)
        return self._known[name]

    def split(self, x: str, perm: list[int]) -> str:
        rows = self.add("Reshape", x, self.numbers(1, -1, 2, 8))
        return self.add("Transpose", rows, perm=perm)

    def read(self, memory: str, step: int) -> str:
        start = len(self.nodes)
        stored = self.store(np.full((1, 1, 16), step + 1, np.float32))
        query = self.add("MatMul", self.add("Tanh", stored), self.matrix("query", 16, 16))
        key = self.add("MatMul", memory, self.matrix("key", 16, 16))
        value = self.add("MatMul", memory, self.matrix("value", 16, 16))
        scores = self.add("MatMul", self.split(query, [0, 2, 1, 3]), self.split(key, [0, 2, 3, 1]))
        weighed = self.add("Softmax", self.add("Mul", scores, self.store(np.float32(0.3))))
        found = self.add("MatMul", weighed, self.split(value, [0, 2, 1, 3]))
        found = self.add("Transpose", found, perm=[0, 2, 1, 3])
        found = self.add("Reshape", found, self.numbers(1, -1, 16))
        found = self.add("Add", stored, self.add("MatMul", found, self.matrix("result", 16, 16)))
        inner = self.add("Gelu", self.add("MatMul", found, self.matrix("up", 16, 64)))
        found = self.add("Add", found, self.add("MatMul", inner, self.matrix("down", 64, 16)))
        self.within(start, f"decoder_{step}" if step else "decoder")
        return found


@pytest.mark.parametrize("is_shared", [True, False])
def test_a_layer_that_asks_with_another_query_is_used_again(*, is_shared: bool) -> None:
    net = _Reader(is_shared=is_shared)
    memory = net.linear(net.take("x", (1, 10, 8)), 8, 16)
    given = net.add("Concat", *[net.read(memory, step) for step in range(5)], axis=1)
    told = net.finish(given).architecture.sentence
    assert ("used 5 times" in told) == is_shared
    assert ("decoder of cross-attention block" in told) != is_shared
