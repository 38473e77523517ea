"""Two towers of transformer blocks: of one set of weights or of two, and how they are compared."""

from __future__ import annotations

import pytest
from onnx import TensorProto

from netloupe.explorer.architecture import Architecture

from .networks import Network


class _Replaying(Network):
    """Nodes whose weights are those of an earlier call, where one is told."""

    def __init__(self) -> None:
        super().__init__()
        self.known: list[str] = []
        self.place = -1

    def weight(self, *dims: int) -> str:
        if self.place >= 0:
            self.place += 1
            return self.known[self.place - 1]
        self.known.append(super().weight(*dims))
        return self.known[-1]


def compare(
    *,
    shared: bool = True,
    tokens: bool = True,
    largest: bool = True,
    normal: bool = True,
    depths: tuple[int, int] = (3, 3),
) -> Architecture:
    """Return what is said of a question and a document, compared by tokens or by vectors."""
    net = _Replaying()
    sides = []
    for name, count, depth in zip(("question", "document"), (6, 10), depths, strict=True):
        x = net.add("Gather", net.weight(100, 8), net.take(name, (1, count), TensorProto.INT64))
        for _ in range(depth):
            x = net.block(x)
        x = net.linear(x, 8, 8)
        if not tokens:
            x = net.add("ReduceMean", x, net.numbers(1), keepdims=0)
        sides.append(net.add("LpNormalization", x, axis=-1, p=2) if normal else x)
        net.place = 0 if shared else -1
    sides[1] = net.add("Transpose", sides[1], perm=[0, 2, 1] if tokens else [1, 0])
    score = net.add("MatMul", *sides)
    if tokens:
        over = "ReduceMax" if largest else "ReduceMean"
        score = net.add(over, score, net.numbers(-1), keepdims=0)
        score = net.add("ReduceSum", score, net.numbers(-1), keepdims=0)
    return net.finish(score).architecture


def test_one_tower_that_is_called_twice_is_told_once() -> None:
    told = compare(tokens=False)
    assert told.sentence.startswith("Two towers with shared weights, compared by cosine: ")
    assert told.sentence.count("text transformer of 3 blocks") == 1
    assert [block.count for block in told.blocks] == [3]
    apart = compare(shared=False, tokens=False)
    assert apart.sentence.startswith("Two towers, compared by cosine: ")
    assert ": two text transformers with own weights, each of 3 blocks (" in apart.sentence
    assert [block.count for block in apart.blocks] == [3, 3]


def test_towers_that_differ_are_told_one_by_one() -> None:
    told = compare(shared=False, tokens=False, depths=(3, 4)).sentence
    assert "text transformer of 3 blocks" in told
    assert "text transformer of 4 blocks" in told
    assert "own weights" not in told


def test_vectors_that_are_not_normalized_are_compared_by_their_product() -> None:
    told = compare(shared=False, tokens=False, normal=False).sentence
    assert told.startswith("Two towers, compared by dot product: ")
    assert "product" not in compare(normal=False).sentence


@pytest.mark.parametrize("largest", [True, False])
def test_largest_similarities_of_tokens_are_no_cosine_of_vectors(largest: bool) -> None:
    told = compare(largest=largest).sentence
    assert "cosine" not in told
    assert ("token by token (largest similarities summed up)" in told) is largest


@pytest.mark.parametrize("depth", [2, 3])
def test_a_layer_that_asks_once_pools_and_is_no_block(depth: int) -> None:
    """X. Zhai and others, Scaling Vision Transformers, 2022, section 3.1."""
    net = Network()
    kernel = net.weight(8, 3, 16, 16)
    x = net.take("image", (1, 3, 64, 64))
    x = net.add("Conv", x, kernel, kernel_shape=[16, 16], strides=[16, 16])
    x = net.add("Reshape", x, net.numbers(0, 8, -1))
    x = net.add("Transpose", x, perm=[0, 2, 1])
    for _ in range(depth):
        x = net.block(x)
    x = net.norm(x, 8)
    heads = net.numbers(0, -1, 2, 4)
    key, value = (net.add("Reshape", net.linear(x, 8, 8), heads) for _ in "kv")
    scores = net.add("MatMul", net.weight(1, 2, 1, 4), net.add("Transpose", key, perm=[0, 2, 3, 1]))
    value = net.add("Transpose", value, perm=[0, 2, 1, 3])
    pooled = net.add("MatMul", net.add("Softmax", scores, axis=-1), value)
    pooled = net.add(
        "Reshape", net.add("Transpose", pooled, perm=[0, 2, 1, 3]), net.numbers(0, -1, 8)
    )
    pooled = net.linear(pooled, 8, 8)
    pooled = net.add("Add", pooled, net.feed(net.norm(pooled, 8)))
    y = net.embed("ids")
    for _ in range(3):
        y = net.block(y)
    sides = [
        net.add("LpNormalization", net.add("ReduceMean", one, net.numbers(1), keepdims=0), axis=-1)
        for one in (pooled, y)
    ]
    sides[1] = net.add("Transpose", sides[1], perm=[1, 0])
    sentence = net.finish(net.add("MatMul", *sides)).architecture.sentence
    assert f"vision transformer of {depth} blocks" in sentence
    assert "attention pooling" in sentence
    assert sentence.count("self-attention 2 heads × 4") == 2
