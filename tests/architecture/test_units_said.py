"""What tells residual blocks from others is said; and what steers norms is no way down."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from netloupe.explorer.readers.load import load

_WIDTH = 16
_SIZE = 32


class _Network:
    """A network of convolutions that is put together node by node."""

    def __init__(self, *inputs: tuple[str, list[int]]) -> None:
        self.nodes: list[NodeProto] = []
        self.weights: dict[str, np.ndarray[tuple[int, ...], np.dtype[np.float32]]] = {}
        self.inputs = inputs
        self._random = np.random.default_rng(0)

    def add(self, kind: str, *taken: str, **attributes: object) -> str:
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, [*taken], [name], **attributes))
        return name

    def store(self, *dims: int) -> str:
        name = f"w{len(self.weights)}"
        self.weights[name] = self._random.normal(size=dims).astype(np.float32)
        return name

    def convolve(self, value: str, given: int, taken: int, kernel: int = 3) -> str:
        weight = self.store(given, taken, kernel, kernel)
        return self.add("Conv", value, weight, pads=[kernel // 2] * 4, kernel_shape=[kernel] * 2)

    def bend(self, value: str) -> str:
        return self.add("Relu", value)

    def finish(self, value: str) -> ModelProto:
        graph = helper.make_graph(
            [*self.nodes, helper.make_node("Identity", [value], ["y"])],
            "network",
            [helper.make_tensor_value_info(n, TensorProto.FLOAT, d) for n, d in self.inputs],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
            [numpy_helper.from_array(array, name) for name, array in self.weights.items()],
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])

    def say(self, value: str) -> str:
        return load(self.finish(value)).architecture.sentence


def _make_attended(*, with_rows: bool) -> str:
    network = _Network(("x", [1, 3, _SIZE, _SIZE]))
    value = network.bend(network.convolve("x", _WIDTH, 3))
    for _ in range(3):
        inner = network.convolve(network.bend(network.convolve(value, _WIDTH, _WIDTH)), _WIDTH, 16)
        rows = network.add("ReduceMean", inner, axes=[3] if with_rows else [1])
        columns = network.add("ReduceMean", inner, axes=[2])
        turned = network.add("Transpose", columns, perm=[0, 1, 3, 2])
        joined = network.add("Concat", rows, turned, axis=2) if with_rows else turned
        squeezed = network.bend(network.convolve(joined, 4, _WIDTH, 1))
        high = network.add("Sigmoid", network.convolve(squeezed, _WIDTH, 4, 1))
        wide = network.add("Sigmoid", network.convolve(squeezed, _WIDTH, 4, 1))
        inner = network.add("Mul", network.add("Mul", inner, high), wide)
        value = network.bend(network.add("Add", value, inner))
    mean = network.add("Flatten", network.add("GlobalAveragePool", value))
    return network.say(network.add("MatMul", mean, network.store(_WIDTH, 10)))


@pytest.mark.parametrize("with_rows", [True, False])
def test_residual_blocks_are_told_with_what_weighs_in_them(*, with_rows: bool) -> None:
    said = _make_attended(with_rows=with_rows)
    assert "3 " in said
    assert ("coordinate attention" in said) == with_rows


def _make_weighed() -> str:
    """Make blocks whose channels are weighed, and then their places."""
    network = _Network(("x", [1, 3, _SIZE, _SIZE]))
    value = network.bend(network.convolve("x", _WIDTH, 3))
    for _ in range(3):
        inner = network.convolve(network.bend(network.convolve(value, _WIDTH, _WIDTH)), _WIDTH, 16)
        weights = [network.store(4, _WIDTH, 1, 1), network.store(_WIDTH, 4, 1, 1)]
        pooled = []
        for kind in ("GlobalAveragePool", "GlobalMaxPool"):
            hidden = network.bend(network.add("Conv", network.add(kind, inner), weights[0]))
            pooled.append(network.add("Conv", hidden, weights[1]))
        channels = network.add("Sigmoid", network.add("Add", *pooled))
        weighed = network.add("Mul", inner, channels)
        both = [network.add(kind, weighed, axes=[1]) for kind in ("ReduceMean", "ReduceMax")]
        places = network.convolve(network.add("Concat", *both, axis=1), 1, 2, 7)
        inner = network.add("Mul", weighed, network.add("Sigmoid", places))
        value = network.bend(network.add("Add", value, inner))
    mean = network.add("Flatten", network.add("GlobalAveragePool", value))
    return network.say(network.add("MatMul", mean, network.store(_WIDTH, 10)))


def test_attentions_to_channels_and_to_places_are_both_told() -> None:
    assert "with channel and spatial attention" in _make_weighed()


def _make_generator(*, is_steered: bool) -> str:
    """Make blocks between which maps become larger, each normalized by a map that is given."""
    network = _Network(("map", [1, 4, _SIZE, _SIZE]), ("z", [1, _WIDTH, 4, 4]))
    network.weights["double"] = np.array([1, 1, 2, 2], np.float32)
    one = [np.ones(_WIDTH, np.float32), np.zeros(_WIDTH, np.float32)]
    network.weights |= {"scale": one[0], "shift": one[1], "mean": one[1], "variance": one[0]}
    value = network.convolve("z", _WIDTH, _WIDTH)
    for step in range(4):
        ratio = 2.0 ** (step - 3)
        network.weights[f"size{step}"] = np.array([1, 1, ratio, ratio], np.float32)
        inner = value
        for _ in range(2):
            normal = network.add("BatchNormalization", inner, "scale", "shift", "mean", "variance")
            if is_steered:
                steering = network.add("Resize", "map", "", f"size{step}", mode="nearest")
                shared = network.bend(network.convolve(steering, 8, 4))
                scaled = network.add("Mul", normal, network.convolve(shared, _WIDTH, 8))
                normal = network.add("Add", scaled, network.convolve(shared, _WIDTH, 8))
            inner = network.convolve(network.bend(normal), _WIDTH, _WIDTH)
        value = network.add("Add", value, inner)
        if step < 3:
            value = network.add("Resize", value, "", "double", mode="nearest")
    return network.say(network.convolve(value, 3, _WIDTH))


@pytest.mark.parametrize("is_steered", [True, False])
def test_a_map_that_steers_norms_makes_no_way_down(*, is_steered: bool) -> None:
    said = _make_generator(is_steered=is_steered)
    assert not said.startswith(("UNet", "Convolutional encoder-decoder"))
    assert ("with spatially-adaptive BatchNorm" in said) == is_steered


def _make_plain(*, has_pools: bool) -> str:
    network = _Network(("x", [1, 3, _SIZE, _SIZE]))
    value = network.bend(network.convolve("x", 8, 3))
    for given, taken in ((_WIDTH, 8), (2 * _WIDTH, _WIDTH)):
        if has_pools:
            value = network.add("MaxPool", value, kernel_shape=[2, 2], strides=[2, 2])
        value = network.bend(network.convolve(value, given, taken))
    mean = network.add("Flatten", network.add("GlobalAveragePool", value))
    return network.say(network.add("MatMul", mean, network.store(2 * _WIDTH, 10)))


@pytest.mark.parametrize("has_pools", [True, False])
def test_what_no_pool_parts_has_no_stages(*, has_pools: bool) -> None:
    said = _make_plain(has_pools=has_pools)
    assert ("3 convolutions with pools between" in said) == has_pools
    assert ("three 3×3 convolutions 3 → 8 → 16 → 32 channels" in said) != has_pools


def _make_branched(*, is_activated: bool) -> str:
    """Make convolutions of each channel and of all, of two branches each."""
    network = _Network(("x", [1, 3, _SIZE, _SIZE]))
    value = network.bend(network.convolve("x", _WIDTH, 3))
    for _ in range(3):
        for groups in (_WIDTH, 1):
            branches = []
            for kernel in (3 if groups > 1 else 1, 1):
                weight = network.store(_WIDTH, _WIDTH // groups, kernel, kernel)
                sides = [kernel // 2] * 4
                size = [kernel] * 2
                branch = network.add(
                    "Conv", value, weight, pads=sides, kernel_shape=size, group=groups
                )
                branches.append(network.bend(branch) if is_activated else branch)
            value = network.bend(network.add("Add", *branches))
    mean = network.add("Flatten", network.add("GlobalAveragePool", value))
    return network.say(network.add("MatMul", mean, network.store(_WIDTH, 10)))


@pytest.mark.parametrize("is_activated", [True, False])
def test_branches_without_activations_are_one_convolution(*, is_activated: bool) -> None:
    said = _make_branched(is_activated=is_activated)
    told = "3 multi-branch depthwise-separable convolutions"
    assert (told in said) != is_activated
    assert ("multi-branch" in said) != is_activated
