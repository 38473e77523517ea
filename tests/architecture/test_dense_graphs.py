"""Graphs given as matrices: convolutions along edges, and nodes pooled into soft clusters."""

from __future__ import annotations

import pytest

from netloupe.explorer.architecture.modules import Module
from netloupe.explorer.architecture.pieces import Piece
from netloupe.explorer.architecture.row_names import name_module

from .networks import Network

_NODES, _CLUSTERS = 12, 4


def convolve(net: Network, edges: str, x: str, taken: int, given: int, *, own: bool) -> str:
    near = net.linear(net.add("MatMul", edges, x), taken, given)
    return net.add("Relu", net.add("Add", near, net.linear(x, taken, given)) if own else near)


def pool(*, edges: bool, own: bool = True) -> str:
    """Return what is said of nodes in clusters: their edges are pooled, or read as they are."""
    net = Network()
    x = net.take("nodes", (1, _NODES, 8))
    near = net.take("edges", (1, _NODES, _NODES))
    shares = net.add("Softmax", net.linear(x, 8, _CLUSTERS), axis=-1)
    x = convolve(net, near, x, 8, 8, own=own)
    turned = net.add("Transpose", shares, perm=[0, 2, 1])
    x = net.add("MatMul", turned, x)
    if edges:
        near = net.add("MatMul", net.add("MatMul", turned, near), shares)
        x = convolve(net, near, x, 8, 8, own=own)
    x = net.add("ReduceMax", convolve(net, near, x, 8, 8, own=own) if edges else x, keepdims=0)
    return net.finish(net.linear(x, 8, 6)).architecture.sentence


@pytest.mark.parametrize("own", [True, False])
def test_shares_that_pool_edges_are_no_attention(own: bool) -> None:
    told = pool(edges=True, own=own)
    assert told.startswith("Graph convolutional network: ")
    assert "graph convolution" in told.partition("soft pooling")[0]
    assert ", soft pooling, 2 graph convolutions of 8 channels" in told


def test_shares_that_weigh_features_alone_are_attention() -> None:
    told = pool(edges=False)
    assert told.startswith("Attention network: ")
    assert "pooling" not in told


def test_a_network_that_embeds_nodes_is_no_embedding() -> None:
    pieces = [Piece("graph convolution", "Graph convolution", [])]
    assert name_module(Module(None, "gnn_embed", pieces)) == ""
    assert name_module(Module(None, "gnn_embed", [Piece("linear", "", [])])) == "embedding"
