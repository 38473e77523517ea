"""Heads are what the products of an attention batch, and their width what these sum over.

Wherever an author put either: every layout of queries, keys and values, with sizes of which several
could be the heads.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from netloupe.explorer.patterns import Recognition, recognise
from netloupe.explorer.readers.load import load

#: heads, width, tokens
Sizes = tuple[int, int, int]
_SIZES: tuple[Sizes, ...] = ((3, 16, 16), (4, 4, 4), (4, 8, 4), (2, 8, 16), (3, 8, 9), (8, 2, 8))


class _Writer:
    """Writes the nodes of one attention."""

    def __init__(self, sizes: Sizes, *, is_map: bool = False) -> None:
        self.heads, self.width, self.tokens = sizes
        self.features = self.heads * self.width
        self.is_map = is_map
        self.nodes: list[onnx.NodeProto] = []
        self.stored: list[onnx.TensorProto] = []

    def add(self, op_type: str, *inputs: str, **attributes: object) -> str:
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op_type, inputs, [name], **attributes))
        return name

    def store(self, array: np.ndarray) -> str:
        self.stored.append(numpy_helper.from_array(array, f"w{len(self.stored)}"))
        return self.stored[-1].name

    def shape(self, value: str, *dims: int) -> str:
        return self.add("Reshape", value, self.store(np.array(dims, np.int64)))

    def turn(self, value: str, *order: int) -> str:
        return self.add("Transpose", value, perm=order)

    def project(self, value: str, times: int = 1) -> str:
        out = times * self.features
        if self.is_map:
            weight = np.arange(out * self.features, dtype="f").reshape(out, self.features, 1, 1)
            return self.add("Conv", value, self.store(weight))
        weight = np.arange(out * self.features, dtype="f").reshape(self.features, out)
        return self.add("MatMul", value, self.store(weight))

    def attend(self, q: str, k: str, v: str) -> str:
        """Take (batch, heads, tokens, width) of each, and return the same."""
        return self.weigh(self.add("MatMul", q, self.turn(k, 0, 1, 3, 2)), v)

    def weigh(self, scores: str, v: str) -> str:
        return self.add("MatMul", self.add("Softmax", scores, axis=-1), v)

    def finish(self, mixed: str, *, is_typed: bool) -> Recognition:
        """Return what a graph is whose attention gives (batch, heads, tokens, width)."""
        side = int(self.tokens**0.5)
        dims = [1, self.tokens, self.features]
        if self.is_map:
            dims = [1, self.features, self.tokens // side, side]
            rows = self.shape(self.turn(mixed, 0, 1, 3, 2), *dims)
        else:
            rows = self.shape(self.turn(mixed, 0, 2, 1, 3), *dims)
        self.add("Identity", self.project(rows))
        values = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)
            for name in ("x", self.nodes[-1].output[0])
        ]
        graph = helper.make_graph(self.nodes, "g", values[:1], values[1:], self.stored)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
        if is_typed:
            model = onnx.shape_inference.infer_shapes(model)
        found = recognise(load(model.SerializeToString()).graph.nodes)
        assert found is not None
        return found


def _heads_behind_tokens(net: _Writer) -> str:
    dims = (1, net.tokens, net.heads, net.width)
    return net.attend(*(net.turn(net.shape(net.project("x"), *dims), 0, 2, 1, 3) for _ in "qkv"))


def _heads_last(net: _Writer) -> str:
    dims = (1, net.tokens, net.width, net.heads)
    return net.attend(*(net.turn(net.shape(net.project("x"), *dims), 0, 3, 1, 2) for _ in "qkv"))


def _stacked(net: _Writer) -> str:
    rows = net.shape(net.project("x", 3), 1, net.tokens, 3, net.heads, net.width)
    turned = net.turn(rows, 2, 0, 3, 1, 4)
    places = [net.store(np.array(place, np.int64)) for place in range(3)]
    return net.attend(*(net.add("Gather", turned, place, axis=0) for place in places))


def _stacked_in_heads(net: _Writer) -> str:
    rows = net.shape(net.project("x", 3), 1, net.tokens, net.heads, 3 * net.width)
    return net.attend(*_split(net, net.turn(rows, 0, 2, 1, 3), -1))


def _width_before_places(net: _Writer) -> str:
    dims = (1, net.heads, net.width, net.tokens)
    return net.attend(*(net.turn(net.shape(net.project("x"), *dims), 0, 1, 3, 2) for _ in "qkv"))


def _width_before_heads(net: _Writer) -> str:
    dims = (1, net.width, net.heads, net.tokens)
    return net.attend(*(net.turn(net.shape(net.project("x"), *dims), 0, 2, 3, 1) for _ in "qkv"))


def _stacked_before_places(net: _Writer) -> str:
    rows = net.shape(net.project("x", 3), 1, 3, net.heads, net.width, -1)
    parts = _split(net, net.turn(rows, 1, 0, 2, 4, 3), 0)
    axis = net.store(np.array([0], np.int64))
    return net.attend(*(net.add("Squeeze", part, axis) for part in parts))


def _keys_as_they_are(net: _Writer) -> str:
    """Only the queries are turned: keys have their width before their places."""
    dims = (1, net.heads, net.width, net.tokens)
    q, k, v = (net.shape(net.project("x"), *dims) for _ in "qkv")
    scores = net.add("MatMul", net.turn(q, 0, 1, 3, 2), k)
    return net.weigh(scores, net.turn(v, 0, 1, 3, 2))


def _einsum_of_tokens(net: _Writer) -> str:
    dims = (1, net.tokens, net.heads, net.width)
    q, k, v = (net.shape(net.project("x"), *dims) for _ in "qkv")
    scores = net.add("Einsum", q, k, equation="bnhd,bmhd->bhnm")
    return net.weigh(scores, net.turn(v, 0, 2, 1, 3))


def _einsum_of_maps(net: _Writer) -> str:
    dims = (1, net.width, net.heads, net.tokens)
    q, k, v = (net.shape(net.project("x"), *dims) for _ in "qkv")
    scores = net.add("Einsum", q, k, equation="bdhn,bdhm->bhnm")
    return net.weigh(scores, net.turn(v, 0, 2, 3, 1))


def _in_patches(net: _Writer) -> str:
    """Each attends within its patch, of which there are as many as fit into two rows."""
    patches = 2
    dims = (1, patches, net.tokens // patches, net.heads, net.width)
    q, k, v = (net.turn(net.shape(net.project("x"), *dims), 0, 1, 3, 2, 4) for _ in "qkv")
    mixed = net.weigh(net.add("MatMul", q, net.turn(k, 0, 1, 2, 4, 3)), v)
    rows = net.turn(mixed, 0, 2, 1, 3, 4)
    return net.shape(rows, 1, net.heads, net.tokens, net.width)


def _before_patches(net: _Writer) -> str:
    """Heads are one axis with the batch, and patches stand where heads do elsewhere."""
    patches = 2
    places = net.tokens // patches
    dims = (1, patches, places, net.heads, net.width)
    rows = (net.turn(net.shape(net.project("x"), *dims), 0, 3, 1, 2, 4) for _ in "qkv")
    mixed = net.attend(*(net.shape(one, net.heads, patches, places, net.width) for one in rows))
    return net.shape(mixed, 1, net.heads, net.tokens, net.width)


def _with_batch(net: _Writer) -> str:
    """Heads are one axis with the batch, as where maps were put into rows."""
    dims = (1, net.heads, net.width, net.tokens, 1)
    rows = (net.turn(net.shape(net.project("x"), *dims), 0, 1, 3, 4, 2) for _ in "qkv")
    q, k, v = (net.shape(one, net.heads, net.tokens, net.width) for one in rows)
    scores = net.add("Einsum", q, k, equation="bid,bjd->bij")
    mixed = net.add("Einsum", net.add("Softmax", scores, axis=-1), v, equation="bij,bjd->bid")
    return net.shape(mixed, 1, net.heads, net.tokens, net.width)


def _split(net: _Writer, value: str, axis: int) -> list[str]:
    names = [f"{value}_{place}" for place in range(3)]
    node = helper.make_node("Split", [value], names, axis=axis, num_outputs=3)
    net.nodes.append(node)
    return names


_OF_TOKENS = (
    _heads_behind_tokens,
    _heads_last,
    _stacked,
    _stacked_in_heads,
    _einsum_of_tokens,
)
_OF_MAPS = (
    _width_before_places,
    _width_before_heads,
    _stacked_before_places,
    _keys_as_they_are,
    _einsum_of_maps,
    _with_batch,
)


@pytest.mark.parametrize("is_typed", [False, True], ids=["bare", "typed"])
@pytest.mark.parametrize("sizes", _SIZES, ids=str)
@pytest.mark.parametrize("layout", [*_OF_TOKENS, *_OF_MAPS], ids=lambda one: one.__name__)
def test_heads_are_told_wherever_they_stand(
    layout: Callable[[_Writer], str], sizes: Sizes, is_typed: bool
) -> None:
    net = _Writer(sizes, is_map=layout in _OF_MAPS)
    found = net.finish(layout(net), is_typed=is_typed)
    assert (found.name, found.facts) == ("Self-attention", (f"{sizes[0]} heads × {sizes[1]}",))


@pytest.mark.parametrize("is_typed", [False, True], ids=["bare", "typed"])
@pytest.mark.parametrize("sizes", [(4, 8, 16), (3, 4, 8), (2, 8, 8)], ids=str)
@pytest.mark.parametrize("layout", [_in_patches, _before_patches], ids=lambda one: one.__name__)
def test_heads_are_told_beside_patches(
    layout: Callable[[_Writer], str], sizes: Sizes, is_typed: bool
) -> None:
    net = _Writer(sizes)
    found = net.finish(layout(net), is_typed=is_typed)
    assert (found.name, found.facts) == ("Self-attention", (f"{sizes[0]} heads × {sizes[1]}",))


@pytest.mark.parametrize("kernels", [(3, 3, 3), (3, 3, 5), (0, 0, 0), (3, 0, 0)], ids=str)
def test_projections_of_what_is_convolved_belong_to_attention(kernels: tuple[int, ...]) -> None:
    net = _Writer((2, 8, 16), is_map=True)

    def convolve(size: int) -> str:
        weight = np.ones((net.features, 1, size, size), "f")
        pads = [size // 2] * 4
        how = {"group": net.features, "kernel_shape": [size] * 2, "pads": pads}
        return net.add("Conv", "x", net.store(weight), **how)

    taken = [convolve(size) if size else "x" for size in kernels]
    dims = (1, net.heads, net.width, net.tokens)
    q, k, v = (net.turn(net.shape(net.project(one), *dims), 0, 1, 3, 2) for one in taken)
    found = net.finish(net.attend(q, k, v), is_typed=False)
    told = ["convolutional projections 3×3"] if {*kernels} == {3} else []
    assert (found.name, [*found.facts]) == ("Self-attention", ["2 heads × 8", *told])


@pytest.mark.parametrize("stride", [1, 2])
def test_a_class_token_goes_around_what_projections_take(stride: int) -> None:
    net = _Writer((2, 8, 17))
    sizes = net.store(np.array([1, 16], np.int64))
    net.nodes.append(helper.make_node("Split", ["x", sizes], ["token", "places"], axis=1))
    image = net.shape(net.turn("places", 0, 2, 1), 1, net.features, 4, 4)

    def convolve(step: int) -> str:
        weight = net.store(np.ones((net.features, 1, 3, 3), "f"))
        how = {"group": net.features, "kernel_shape": [3, 3], "pads": [1] * 4}
        given = net.add("Conv", image, weight, strides=[step] * 2, **how)
        rows = net.turn(net.shape(given, 1, net.features, -1), 0, 2, 1)
        return net.add("Concat", "token", rows, axis=1)

    taken = [convolve(step) for step in (1, stride, stride)]
    dims = (1, -1, net.heads, net.width)
    q, k, v = (net.turn(net.shape(net.project(one), *dims), 0, 2, 1, 3) for one in taken)
    found = net.finish(net.attend(q, k, v), is_typed=False)
    reduced = ["spatial reduction /2"] if stride > 1 else []
    told = ["2 heads × 8", *reduced, "convolutional projections 3×3"]
    assert (found.name, [*found.facts]) == ("Self-attention", told)


@pytest.mark.parametrize("is_typed", [False, True], ids=["bare", "typed"])
@pytest.mark.parametrize("sizes", [(2, 8, 8), (3, 4, 4), (2, 8, 6)], ids=str)
@pytest.mark.parametrize("is_map", [False, True], ids=["tokens", "map"])
@pytest.mark.parametrize("equation", ["", "bhin,bhjn->bhij"], ids=["product", "einsum"])
def test_channels_are_compared_where_places_are_summed_over(
    equation: str, is_map: bool, sizes: Sizes, is_typed: bool
) -> None:
    # (batch, heads, width, tokens) times (batch, heads, tokens, width)
    net = _Writer(sizes, is_map=is_map)
    dims = (net.heads, net.width, net.tokens) if is_map else (net.tokens, net.heads, net.width)
    order = (0, 1, 2, 3) if is_map else (0, 2, 3, 1)
    q, k, v = (net.turn(net.shape(net.project("x"), 1, *dims), *order) for _ in "qkv")
    scores = net.add("Einsum", q, k, equation=equation) if equation else ""
    mixed = net.weigh(scores or net.add("MatMul", q, net.turn(k, 0, 1, 3, 2)), v)
    found = net.finish(net.turn(mixed, 0, 1, 3, 2), is_typed=is_typed)
    assert found.name == "Channel self-attention"
    assert found.facts == (f"{sizes[0]} heads × {sizes[1]}",)
