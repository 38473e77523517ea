"""Mixtures of experts of which an exporter wrote those alone that its example was sent to."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import numpy_helper

from netloupe.explorer.grouping import Group, build_group_tree
from netloupe.explorer.grouping.tree import GroupTree
from netloupe.explorer.render.group_summary import list_end_differences
from tests.unrolled import WIDTH, Writer

_TOKENS, _EXPERTS = 6, 8


class _Layers(Writer):
    """Writes layers of attention and an MLP, or of attention and experts."""

    def store(self, name: str, *numbers: int, shape: tuple[int, ...] | None = None) -> str:
        if all(tensor.name != name for tensor in self.tensors):
            array = np.array(numbers, np.int64).reshape(shape if shape is not None else -1)
            self.tensors.append(numpy_helper.from_array(array, name))
        return name

    def linear(self, scope: str, x: str, taken: int = WIDTH, given: int = WIDTH) -> str:
        return self.add(scope, "MatMul", x, self.weight(f"{scope}.weight", taken, given))

    def norm(self, scope: str, x: str) -> str:
        return self.add(scope, "LayerNormalization", x, self.weight(f"{scope}.weight", WIDTH))

    def attend(self, scope: str, x: str) -> str:
        normal = self.norm(f"{scope}/norm", x)
        query, key, value = (self.linear(f"{scope}/{name}", normal) for name in "qkv")
        keys = self.add(scope, "Transpose", key, perm=[1, 0])
        shares = self.add(scope, "Softmax", self.add(scope, "MatMul", query, keys))
        mixed = self.add(scope, "MatMul", shares, value)
        return self.add(scope, "Add", x, self.linear(f"{scope}/o", mixed))

    def feed(self, scope: str, x: str) -> str:
        inner = self.add(scope, "Relu", self.linear(f"{scope}/wi", x, WIDTH, 4 * WIDTH))
        return self.linear(f"{scope}/wo", inner, 4 * WIDTH, WIDTH)

    def route(self, scope: str, x: str, written: int) -> str:
        """Write a router, and so many of its experts."""
        router = f"{scope}/router"
        scores = self.add(router, "Softmax", self.linear(f"{router}/gate", x, WIDTH, _EXPERTS))
        chosen = self.add(router, "ArgMax", scores, axis=-1, keepdims=0)
        given = x
        for number in range(written):
            expert = f"{scope}/experts/expert_{number}"
            is_sent = self.add(
                f"{scope}/experts", "Equal", chosen, self.store(f"number{number}", number)
            )
            places = self.add(f"{scope}/experts", "NonZero", is_sent)
            rows = self.add(f"{scope}/experts", "Squeeze", places, self.store("zero", 0))
            taken = self.add(f"{scope}/experts", "Gather", x, rows, axis=0)
            indices = self.add(f"{scope}/experts", "Unsqueeze", rows, self.store("last", -1))
            given = self.add(
                f"{scope}/experts", "ScatterND", given, indices, self.feed(expert, taken)
            )
        return given

    def stack(self, *written: int) -> GroupTree:
        """Return the groups of layers; one without written experts has an MLP."""
        x = "x"
        self.inputs[x] = [_TOKENS, WIDTH]
        for layer, count in enumerate(written):
            scope = f"block.{layer}"
            x = self.attend(f"{scope}/attention", x)
            normal = self.norm(f"{scope}/norm", x)
            fed = self.route(scope, normal, count) if count else self.feed(f"{scope}/mlp", normal)
            x = self.add(scope, "Add", x, fed)
        self.outputs = [self.add("head", "Sigmoid", x)]
        return build_group_tree(self.load().graph)


def _list_repeats(tree: GroupTree) -> list[Group]:
    return [one for one in tree.root.inner_groups() if one.kind == "repeat"]


@pytest.mark.parametrize("written", [(6, 7, 5), (8, 4, 6, 5), (4, 5)])
def test_layers_with_and_without_experts_are_a_stack_of_pairs(written: tuple[int, ...]) -> None:
    counts = [count for each in written for count in (0, each)]
    (repeat,) = _list_repeats(_Layers().stack(*counts))
    assert len(repeat.children) == len(written)
    for pair in repeat.inner_groups():
        found = [block.recognised for block in pair.inner_groups()]
        assert [one and one.name for one in found] == ["Transformer block"] * 2
    # how many experts an example was sent to is nothing of the model's
    assert list_end_differences(repeat) == []


@pytest.mark.parametrize("written", [(6, 7, 5), (8, 4, 6, 5)])
def test_layers_of_experts_are_a_stack(written: tuple[int, ...]) -> None:
    (repeat,) = _list_repeats(_Layers().stack(*written))
    assert len(repeat.children) == len(written)
    assert repeat.recognised is not None
    assert f"{_EXPERTS} experts" in repeat.recognised.facts
