"""Sums over the neighbours in a graph that is stored, learned or fed; and layers that are none."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from netloupe.explorer.patterns import find_graph_context, recognise
from netloupe.explorer.patterns.recognise import find_ideas
from netloupe.explorer.readers.load import load

Array = npt.NDArray[np.float32]
_RNG = np.random.default_rng(0)
_NODES = 12


def _weights(*dims: int) -> Array:
    return _RNG.normal(size=dims).astype(np.float32)


def _transitions() -> Array:
    joined = _RNG.random((_NODES, _NODES)) ** 6
    return (joined / joined.sum(1, keepdims=True)).astype(np.float32)


def _laplacian() -> Array:
    joined = _RNG.random((_NODES, _NODES)) > 0.7
    return -(joined | joined.T).astype(np.float32) / 5


def _build(
    nodes: list[onnx.NodeProto], stored: dict[str, Array], fed: dict[str, list[int]]
) -> onnx.ModelProto:
    graph = helper.make_graph(
        nodes,
        "main",
        [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)
            for name, dims in fed.items()
        ],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(array, name) for name, array in stored.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])


def _tell(model: onnx.ModelProto, *, is_blank: bool = False) -> str:
    if is_blank:
        for node in model.graph.node:
            node.name = ""
    graph = load(model.SerializeToString()).graph
    told = recognise([*graph.nodes], find_graph_context(graph))
    return told.text if told is not None else ""


def _diffusion(graph: Array, equation: str = "bcnt,nm->bcmt") -> onnx.ModelProto:
    return _build(
        [
            helper.make_node("Einsum", ["x", "a"], ["one"], "one", equation=equation),
            helper.make_node("Einsum", ["one", "a"], ["two"], "two", equation=equation),
            helper.make_node("Concat", ["x", "one", "two"], ["all"], "all", axis=1),
            helper.make_node("Conv", ["all", "w", "b"], ["y"], "mix"),
        ],
        {"a": graph, "w": _weights(8, 24, 1, 1), "b": _weights(8)},
        {"x": [2, 8, _NODES, 6]},
    )


def _chebyshev(graph: Array, sign: str = "Sub") -> onnx.ModelProto:
    return _build(
        [
            helper.make_node("MatMul", ["l", "x"], ["one"], "one"),
            helper.make_node("MatMul", ["l", "one"], ["again"], "again"),
            helper.make_node("Mul", ["again", "c"], ["twice"], "twice"),
            helper.make_node(sign, ["twice", "x"], ["two"], "two"),
            helper.make_node("MatMul", ["one", "u"], ["first"], "first"),
            helper.make_node("MatMul", ["two", "v"], ["second"], "second"),
            helper.make_node("Add", ["first", "second"], ["y"], "sum"),
        ],
        {
            "l": graph,
            "c": np.array(2, np.float32),
            "u": _weights(8, 4),
            "v": _weights(8, 4),
        },
        {"x": [2, _NODES, 8]},
    )


@pytest.mark.parametrize("is_blank", [False, True])
def test_steps_that_are_joined_are_a_diffusion(*, is_blank: bool) -> None:
    told = _tell(_diffusion(_transitions()), is_blank=is_blank)
    assert told == "Graph diffusion convolution, 2 steps"


@pytest.mark.parametrize("is_blank", [False, True])
def test_steps_of_a_laplacian_are_chebyshev(*, is_blank: bool) -> None:
    told = _tell(_chebyshev(_laplacian()), is_blank=is_blank)
    assert told == "Chebyshev graph convolution, 2 steps"


def test_steps_that_are_only_added_are_not_chebyshev() -> None:
    assert _tell(_chebyshev(_laplacian(), "Add")) == "Graph diffusion convolution, 2 steps"


@pytest.mark.parametrize(
    "square",
    [
        pytest.param(_weights(_NODES, _NODES), id="trained"),
        pytest.param(np.abs(_weights(_NODES, _NODES)), id="positive"),
        pytest.param(np.tril(np.ones((_NODES, _NODES), np.float32)), id="causal"),
        pytest.param(np.full((_NODES, _NODES), 1 / _NODES, np.float32), id="mean"),
        pytest.param(np.eye(_NODES, dtype=np.float32)[::-1].copy(), id="order"),
        pytest.param(
            sum(np.eye(_NODES, k=k, dtype=np.float32) for k in (-1, 0, 1)) / np.float32(3),
            id="moving average",
        ),
    ],
)
def test_a_square_that_is_no_graph_is_a_layer(square: Array) -> None:
    for model in (_diffusion(square), _chebyshev(square)):
        assert "raph" not in _tell(model)
        graph = load(model.SerializeToString()).graph
        found = [name for name, *_ in find_ideas([*graph.nodes], find_graph_context(graph))]
        assert not [name for name in found if "raph" in name or "eighbour" in name]


def _partitions() -> Array:
    """Return a chain of nodes with branches in three parts: itself, one way, and back."""
    along = np.zeros((_NODES, _NODES), np.float32)
    for node in range(1, _NODES):
        along[node // 2, node] = 1
    parts = np.stack([np.eye(_NODES, dtype=np.float32), np.triu(along, 1), np.triu(along, 1).T])
    return parts * _RNG.normal(size=parts.shape).astype(np.float32)


def _unit(graphs: Array) -> onnx.ModelProto:
    return _build(
        [
            helper.make_node("Conv", ["x", "w", "b"], ["mixed"], "mix"),
            helper.make_node("Reshape", ["mixed", "apart"], ["parts"], "parts"),
            helper.make_node("Einsum", ["parts", "a"], ["y"], "s", equation="nkctv,kvw->nctw"),
        ],
        {
            "a": graphs,
            "w": _weights(24, 8, 1, 1),
            "b": _weights(24),
            "apart": np.array([0, 3, 8, 6, _NODES], np.int64),
        },
        {"x": [2, 8, 6, _NODES]},
    )


def test_weighted_partitions_of_a_graph_are_one() -> None:
    assert _tell(_unit(_partitions())) == "Graph convolution 8 → 8, 3 graphs"
    one_way = _partitions()
    one_way[2] = 0
    apart = np.kron(np.eye(3), np.ones((4, 4))) * _weights(3, _NODES, _NODES)
    for squares in (_weights(3, _NODES, _NODES), one_way, apart.astype(np.float32)):
        assert "raph" not in _tell(_unit(squares))


def test_a_stored_order_is_no_layer() -> None:
    order = np.triu(np.ones((_NODES, _NODES), np.float32), 1)
    for square, told in ((order, ""), (np.triu(_weights(_NODES, _NODES), 1), "Linear 12 → 12")):
        nodes = [helper.make_node("MatMul", ["x", "a"], ["y"])]
        assert _tell(_build(nodes, {"a": square}, {"x": [2, _NODES]})) == told


def _learned(rectified: str) -> onnx.ModelProto:
    return _build(
        [
            helper.make_node("MatMul", ["e", "f"], ["like"], "like"),
            helper.make_node(rectified, ["like"], ["none"], "none"),
            helper.make_node("Softmax", ["none"], ["a"], "a")
            if rectified == "Relu"
            else helper.make_node("Identity", ["none"], ["a"], "a"),
            helper.make_node("MatMul", ["a", "x"], ["sum"], "sum"),
            helper.make_node("MatMul", ["sum", "w"], ["y"], "mix"),
        ],
        {"e": _weights(_NODES, 3), "f": _weights(3, _NODES), "w": _weights(8, 4)},
        {"x": [2, _NODES, 8]},
    )


def test_rectified_likeness_of_stored_vectors_is_a_learned_graph() -> None:
    assert _tell(_learned("Relu")) == "Graph convolution 8 → 4, learned adjacency"
    assert "raph" not in _tell(_learned("Tanh"))


@pytest.mark.parametrize(("rectified", "told"), [("Relu", "Learned adjacency"), ("Tanh", "")])
def test_what_makes_a_learned_graph_is_one_box(rectified: str, told: str) -> None:
    graph = load(_learned(rectified).SerializeToString()).graph
    ideas = [name for name, *_ in find_ideas([*graph.nodes], find_graph_context(graph))]
    assert ("Learned adjacency" in ideas) is bool(told)
    alone = recognise([*graph.nodes][:3], find_graph_context(graph))
    assert (alone.name if alone is not None else "") == told


def test_a_graph_that_is_fed_may_be_made_into_shares_first() -> None:
    nodes = [
        helper.make_node("ReduceSum", ["a", "last"], ["degree"], "degree", keepdims=1),
        helper.make_node("Div", ["a", "degree"], ["shares"], "shares"),
        helper.make_node("MatMul", ["shares", "x"], ["sum"], "sum"),
        helper.make_node("MatMul", ["sum", "w"], ["y"], "mix"),
    ]
    stored = {"last": np.array([-1]), "w": _weights(8, 4)}
    model = _build(nodes, stored, {"x": [_NODES, 8], "a": [_NODES, _NODES]})
    graph = load(model.SerializeToString()).graph
    ideas = [name for name, *_ in find_ideas([*graph.nodes], find_graph_context(graph))]
    assert ideas == ["Graph convolution"]
    other = _build(nodes, stored, {"x": [_NODES, 8], "a": [_NODES, _NODES + 1]})
    graph = load(other.SerializeToString()).graph
    assert not [*find_ideas([*graph.nodes], find_graph_context(graph))]


@pytest.mark.parametrize(
    ("edges", "nodes_of", "told"),
    [
        # of each relation a graph, and a mean over its neighbours, of which there is one at least
        ([6, _NODES, _NODES], [_NODES, 8], "Graph convolution, 6 graphs"),
        ([1, _NODES, _NODES], [_NODES, 8], "Graph convolution"),
        # an example of its own for each
        ([6, _NODES, _NODES], [6, _NODES, 8], "Graph convolution"),
    ],
)
def test_relations_have_a_graph_each(edges: list[int], nodes_of: list[int], told: str) -> None:
    """M. Schlichtkrull and others, Modeling Relational Data with Graph Convolutional Networks,
    2018, equation 2.
    """
    steps = [
        helper.make_node("ReduceSum", ["a", "last"], ["sums"], "sums", keepdims=1),
        helper.make_node("Clip", ["sums", "one"], ["degree"], "degree"),
        helper.make_node("Div", ["a", "degree"], ["shares"], "shares"),
        helper.make_node("MatMul", ["shares", "x"], ["sum"], "sum"),
        helper.make_node("MatMul", ["sum", "w"], ["y"], "mix"),
    ]
    stored = {"last": np.array([-1]), "one": np.array(1, np.float32), "w": _weights(6, 8, 4)}
    model = _build(steps, stored, {"x": nodes_of, "a": edges})
    graph = load(model.SerializeToString()).graph
    context = find_graph_context(graph)
    (found,) = find_ideas([*graph.nodes], context)
    alone = recognise([*found[1]], context)
    assert (alone.text if alone is not None else "") == told


def _order() -> Array:
    return np.tril(np.ones((_NODES, _NODES), np.float32), -1)


def _kinds_of_edges() -> Array:
    joined = _RNG.random((3, _NODES, _NODES)) > 0.8
    return joined * _weights(3, _NODES, _NODES)


@pytest.mark.parametrize(
    ("table", "is_layer"),
    [
        (_order(), False),
        (_order() * 0.5 - 0.25, True),
        (np.ones((_NODES, _NODES), np.float32), True),
        (_weights(_NODES, _NODES), True),
    ],
)
def test_a_product_with_zeros_and_ones_is_no_layer(table: Array, *, is_layer: bool) -> None:
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    told = _tell(_build([node], {"w": table}, {"x": [1, 4, _NODES]}))
    assert told.startswith("Linear") == is_layer


@pytest.mark.parametrize(
    ("tables", "is_layer"),
    [(_kinds_of_edges(), False), (_weights(3, _NODES, _NODES), True)],
)
def test_a_sum_over_kinds_of_edges_is_no_layer(tables: Array, *, is_layer: bool) -> None:
    node = helper.make_node("Einsum", ["x", "w"], ["y"], equation="nkctv,kvw->nctw")
    told = _tell(_build([node], {"w": tables}, {"x": [1, 3, 4, 5, _NODES]}))
    assert told.startswith("Linear") == is_layer
