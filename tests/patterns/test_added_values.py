"""Stored values that are added to a stream: positions of maps, and learned queries."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import numpy_helper, parser

from netloupe.explorer.model import Node
from netloupe.explorer.patterns.added_positions import read_added_positions
from netloupe.explorer.patterns.added_queries import read_added_queries
from netloupe.explorer.readers.load import load

_RANDOM = np.random.default_rng(0)


def _find_node(text: str, **stored: np.ndarray) -> Node:
    """Return the node n of a graph with some stored tensors."""
    proto = parser.parse_model(f'<ir_version: 10, opset_import: ["": 21]>\n{text}')
    for name, numbers in stored.items():
        tensor = numpy_helper.from_array(numbers.astype(np.float32), name)
        proto.graph.initializer.append(tensor)
    return next(node for node in load(proto.SerializeToString()).graph.nodes if node.name == "n")


_MAPS = """
g (float[1, 3, 16, 16] x) => (y) <int64[3] dims = {{1, 48, 16}}> {{
  {before}
  [n] sum = Add (c, table)
  q = Conv (sum, w)
  row = Reshape (q, dims)
  turned = Transpose <perm = [0, 2, 1]> (row)
  scores = MatMul (turned, row)
  weights = Softmax (scores)
  y = MatMul (weights, turned)
}}
"""
_PROJECTED = "c = Conv <strides = [4, 4]> (x, patches)"


def _read_positions(before: str, *dims: int, is_even: bool = False) -> tuple[int, ...]:
    table = _RANDOM.normal(size=dims)
    if is_even:  # the same at each place
        table[...] = table[..., :1, :1]
    node = _find_node(
        _MAPS.format(before=before),
        table=table,
        patches=_RANDOM.normal(size=(48, 3, 4, 4)),
        w=_RANDOM.normal(size=(48, 48, 1, 1)),
    )
    found = read_added_positions(node)
    return found.dims if found is not None else ()


@pytest.mark.parametrize("before", [_PROJECTED, f"{_PROJECTED.replace('c =', 'a =')} c = Relu (a)"])
def test_positions_of_maps_have_their_features_first(before: str) -> None:
    assert _read_positions(before, 1, 48, 4, 4) == (4, 4, 48)


def test_one_number_for_each_channel_of_maps_is_no_position() -> None:
    assert not _read_positions(_PROJECTED, 1, 48, 4, 4, is_even=True)


def test_features_that_no_convolution_puts_first_are_last() -> None:
    before = "u = Unsqueeze (x, one) c = Squeeze (u, one)".replace("one", "axis")
    text = _MAPS.replace("int64[3] dims", "int64[1] axis = {{1}}, int64[3] dims")
    node = _find_node(
        text.format(before=before).replace("[1, 3, 16, 16]", "[1, 48, 4, 4]"),
        table=_RANDOM.normal(size=(1, 48, 4, 4)),
        w=_RANDOM.normal(size=(48, 48, 1, 1)),
    )
    assert read_added_positions(node) is None  # four features are none


_QUERIES = """
g (float[2, 20, 32] x, float[2, 8, 32] other) => (y) {{
  q = MatMul ({queries}, wq)
  k = MatMul (x, wk)
  kt = Transpose <perm = [0, 2, 1]> (k)
  v = MatMul (x, wv)
  scores = MatMul (q, kt)
  weights = Softmax (scores)
  mixed = MatMul (weights, v)
  o = MatMul (mixed, wo)
  [n] sum = Add ({added})
  y = Tanh (sum)
}}
"""


def _read_queries(queries: str, added: str, *, are_zeros: bool = False) -> tuple[int, ...]:
    weights = {name: _RANDOM.normal(size=(32, 32)) for name in ("wq", "wk", "wv", "wo")}
    latents = _RANDOM.normal(size=(1, 8, 32)) * (not are_zeros)
    text = _QUERIES.format(queries=queries, added=added)
    node = _find_node(text, latents=latents, table=_RANDOM.normal(size=(1, 8, 32)), **weights)
    return read_added_queries(node)


@pytest.mark.parametrize("added", ["o, latents", "latents, o"])
def test_attention_is_added_to_its_learned_queries(added: str) -> None:
    assert _read_queries("latents", added) == (8, 32)


@pytest.mark.parametrize(
    ("queries", "added", "are_zeros"),
    [
        ("other", "o, latents", False),  # it was no query
        ("latents", "o, table", False),  # neither was this
        ("latents", "o, other", False),  # nothing stored is added
        ("latents", "v, latents", False),  # no attention gives it
        ("latents", "o, latents", True),  # there are no queries yet
    ],
)
def test_other_sums_begin_with_no_learned_queries(
    queries: str, added: str, *, are_zeros: bool
) -> None:
    assert _read_queries(queries, added, are_zeros=are_zeros) == ()
