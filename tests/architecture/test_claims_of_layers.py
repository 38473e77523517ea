"""What a sentence says of relations, points, loops and sizes is so, and said once."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.shape_inference
import pytest
from onnx import TensorProto, helper

from netloupe.explorer.readers.load import load

from .networks import Network

_NODES = 14


class _Layers(Network):
    """Layers that are told as one, or in one place."""

    def relate(self, x: str, graph: str, taken: int, given: int, *, own: bool, sums: bool) -> str:
        """Add a relational graph convolution; each relation has its own matrix, of two bases."""
        at = self.numbers(0)
        bases = self.store(np.random.rand(2, taken, given).astype(np.float32))
        shares = self.weight(5, 2)
        matrices = self.add("Einsum", shares, bases, equation="rb,bio->rio")
        matrices = matrices if own else self.weight(taken, given)
        near = self.add("MatMul", graph, self.add("Unsqueeze", x, at))
        sent = self.add("MatMul", near, matrices)
        total = self.add("ReduceSum" if sums else "ReduceMax", sent, at, keepdims=0)
        return self.add("Add", total, self.add("MatMul", x, self.weight(taken, given)))

    def infer(self, output: str) -> str:
        """Return the sentence of a file that states all shapes."""
        given = [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)]
        graph = helper.make_graph(self.nodes, "g", self.inputs, given, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
        return load(onnx.shape_inference.infer_shapes(model)).architecture.sentence


def _relate(*, relations: int = 5, own: bool = True, sums: bool = True) -> str:
    """M. Schlichtkrull and others, Relational Graph Convolutional Networks, 2018, equation 2."""
    net = _Layers()
    x = net.take("features", (_NODES, 9))
    edges = net.take("adjacency", (relations, _NODES, _NODES))
    counts = net.add("ReduceSum", edges, net.numbers(2), keepdims=1)
    counts = net.add("Clip", counts, net.store(np.float32(1)))
    graph = net.add("Div", edges, counts)
    x = net.add("Relu", net.relate(x, graph, 9, 16, own=own, sums=sums))
    return net.finish(net.relate(x, graph, 16, 4, own=own, sums=sums)).architecture.sentence


def test_a_matrix_for_each_relation_is_a_relational_graph_convolution() -> None:
    told = _relate()
    assert told.startswith("Relational graph convolutional network: 2 relational graph convolution")
    assert "9 → 16 → 4" in told
    assert "linear" not in told


@pytest.mark.parametrize("how", [{"own": False}, {"sums": False}])
def test_one_matrix_for_all_or_no_sum_is_none(how: dict[str, bool]) -> None:
    assert "elational" not in _relate(**how)


@pytest.mark.parametrize("alike", [True, False])
def test_gates_of_each_step_are_told_once(alike: bool) -> None:
    """R. Wang and others, DCN V2, 2021, equation 5."""
    net = _Layers()
    x = net.take("x", (2, 12))
    gates = [net.weight(12, 1) for _ in range(4)]
    for _ in range(3):
        rows, shares = [], []
        for gate in gates:
            shares.append(net.add("MatMul", x if alike or not rows else rows[-1], gate))
            inner = net.add("Tanh", net.linear(x, 12, 6))
            rows.append(net.add("Mul", x, net.linear(inner, 6, 12)))
        stack = net.add(
            "Concat", *(net.add("Unsqueeze", row, net.numbers(2)) for row in rows), axis=2
        )
        share = net.add("Softmax", net.add("Concat", *shares, axis=1), axis=1)
        x = net.add("Add", x, net.add("Einsum", stack, share, equation="nde,ne->nd"))
    told = net.finish(net.linear(x, 12, 2)).architecture.sentence
    assert ("4 linear layers 12 → 1 used 3 times" in told) is alike
    assert not alike or told.count("12 → 1 ") == 1


@pytest.mark.parametrize("turned", [True, False])
def test_maps_that_only_become_smaller_have_no_resolution_that_grows(turned: bool) -> None:
    """Ž. Avsec and others, Enformer, 2021, figure 1: channels come last, and pools are sums."""
    net = _Layers()
    x = net.take("sequence", (1, 512, 4) if turned else (1, 4, 512))
    x = net.add("Transpose", x, perm=[0, 2, 1]) if turned else x
    taken, size = 4, 512
    for given in (8, 16, 24, 32):
        how = {"kernel_shape": [5], "pads": [2, 2]}
        x = net.add("Relu", net.add("Conv", x, net.weight(given, taken, 5), **how))
        pairs = net.add("Reshape", x, net.numbers(1, given, size // 2, 2))
        shares = net.add("Softmax", pairs, axis=-1)
        x = net.add("ReduceSum", net.add("Mul", pairs, shares), net.numbers(-1), keepdims=0)
        taken, size = given, size // 2
    kernel = net.weight(6, taken, 1)
    told = net.infer(net.add("Conv", x, kernel, kernel_shape=[1]))
    assert "resolution" not in told
    assert "×" not in told


def _abstract(*, joins: bool = True, takes_largest: bool = True) -> str:
    """C. Qi and others, PointNet++, 2017, section 3.2."""
    net = _Layers()
    points, centres = net.take("points", (64, 3)), net.take("centres", (16, 1, 3))
    near = net.take("near", (16, 8), TensorProto.INT64)
    apart = net.add("Sub", net.add("Gather", points, near), centres)
    x = net.add("Relu", net.add("MatMul", apart, net.weight(3, 12)))
    x = net.add("ReduceMax", x, net.numbers(1), keepdims=0)
    places = net.add("Squeeze", centres, net.numbers(1))
    taken = 15 if joins else 12
    x = net.add("Concat", places, x, axis=1) if joins else x
    for given in (16, 24):
        x, taken = net.add("Relu", net.linear(x, taken, given)), given
    over = "ReduceMax" if takes_largest else "ReduceMean"
    x = net.add(over, x, net.numbers(0), keepdims=1)
    return net.finish(net.linear(net.add("Relu", net.linear(x, 24, 8)), 8, 5)).architecture.sentence


def test_layers_and_a_maximum_over_all_points_are_a_set_abstraction() -> None:
    told = _abstract()
    assert "2 set abstractions" in told
    assert "15" not in told


@pytest.mark.parametrize("how", [{"joins": False}, {"takes_largest": False}])
def test_layers_without_places_or_maximum_are_none(how: dict[str, bool]) -> None:
    told = _abstract(**how)
    assert "set abstraction" in told
    assert "2 set abstractions" not in told
