"""What is said of a graph does not depend on how many nodes stand in another one.

A body takes values of the graph around it, whose nodes have indices of their own: where one of
these is looked up among those of the body, what is said of the body changes as soon as something
unrelated stands before them.
"""

from __future__ import annotations

import numpy as np
import onnx.parser
import pytest
from onnx import ModelProto, NodeProto, helper, numpy_helper

from netloupe.explorer.compare import match_models
from netloupe.explorer.model import Graph, Model
from netloupe.explorer.readers.load import load
from tests.said_of_graphs import compare_told, tell, tell_costs, tell_difference
from tests.shifted import HOLDER, Holder, Place, Shape, make_twin

_HEADER = '<ir_version: 10, opset_import: ["": 18]>\n'
#: so many nodes stand before the others: their indices fall on those of other nodes in turn
_COUNTS = (1, 2, 5, 40)
_HOLDERS: tuple[Holder, ...] = ("If", "Loop", "Scan", "function")

#: operators that may stand where another one stood
_OTHERS = {"Relu": "Elu", "Add": "Mul", "Sum": "Max", "Exp": "Tanh"}

#: models whose first nodes, as many as the number says, stay in the graph around
_TEXTS = {
    "attention": (
        3,
        """g (float[2, 6, 4] x, float[4, 4] wq, float[4, 4] wk, float[4, 4] wv, float[4, 4] wo,
              float[1] ws) => (float[2, 6, 4] y)
        { q = MatMul (x, wq)  k = MatMul (x, wk)  v = MatMul (x, wv)
          t = Transpose <perm = [0, 2, 1]> (k)  s = MatMul (q, t)  d = Mul (s, ws)
          p = Softmax <axis = -1> (d)  c = MatMul (p, v)  o = MatMul (c, wo)  y = Add (x, o) }""",
    ),
    "gated MLP": (
        2,
        """g (float[2, 4] x, float[4, 8] wg, float[4, 8] wu, float[8, 4] wd) => (float[2, 4] y)
        { u = MatMul (x, wu)  g = MatMul (x, wg)  s = Sigmoid (g)  a = Mul (g, s)
          m = Mul (a, u)  d = MatMul (m, wd)  y = Add (x, d) }""",
    ),
    "norm that is written out": (
        2,
        """g (float[2, 4] x, float[4] wg, float[4] wb, float[1] we, float[4, 4] w)
              => (float[2, 4] y)
        { p = MatMul (x, w)  m = ReduceMean <keepdims = 1> (p)  d = Sub (p, m)  s = Mul (d, d)
          v = ReduceMean <keepdims = 1> (s)  e = Add (v, we)  r = Sqrt (e)  n = Div (d, r)
          a = Mul (n, wg)  b = Add (a, wb)  y = MatMul (b, w) }""",
    ),
    "LSTM with sliced weights": (
        3,
        """g (float[5, 2, 4] x, float[2, 16, 4] w, float[1, 16, 4] wr, float[2, 1, 32] wb)
              => (float[5, 1, 2, 4] y)
        { a = Constant <value_ints = [0]> ()  b = Constant <value_ints = [1]> ()
          v = Slice (w, a, b, a)  c = Slice (wb, a, b, a)  i = Squeeze (c, a)
          j = Unsqueeze (i, a)  h, l, m = LSTM <hidden_size = 4> (x, v, wr)
          k = Relu (h)  n = ReduceMean <keepdims = 1> (j)  y = Add (k, n) }""",
    ),
    "convolutions": (
        2,
        """g (float[1, 3, 8, 8] x, float[4, 3, 3, 3] w, float[4] wg, float[4] wb, float[4] wm,
              float[4] wv, float[4, 4, 3, 3] wc) => (float[1, 4, 8, 8] y)
        { c = Conv <pads = [1, 1, 1, 1]> (x, w)  n = BatchNormalization (c, wg, wb, wm, wv)
          r = Relu (n)  d = Conv <pads = [1, 1, 1, 1]> (r, wc)
          m = BatchNormalization (d, wg, wb, wm, wv)  s = Add (m, n)  t = Relu (s)
          e = Conv <pads = [1, 1, 1, 1]> (t, wc)  y = Relu (e) }""",
    ),
    "QuantizeLinear and DequantizeLinear": (
        3,
        """g (float[2, 4] x, float[4, 4] w, float ws, float wt) => (float[2, 4] y)
        { z = Constant <value_int = 0> ()  i = Cast <to = 3> (z)  q = QuantizeLinear (x, ws, i)
          d = DequantizeLinear (q, ws, i)  v = QuantizeLinear (w, wt, i)
          u = DequantizeLinear (v, wt, i)  m = MatMul (d, u)  o = QuantizeLinear (m, ws, i)
          p = DequantizeLinear (o, ws, i)  e = Exp (p)  r = QuantizeLinear (e, ws, i)
          y = DequantizeLinear (r, ws, i) }""",
    ),
    "arithmetic on shapes": (
        5,
        """g (float[2, 6, 4] x, float[4, 4] w) => (float[N, 4] y)
        { p = MatMul (x, w)  s = Shape (p)  i = Constant <value_ints = [0]> ()
          j = Constant <value_ints = [1]> ()  f = Constant <value_ints = [4]> ()
          a = Gather (s, i)  b = Gather (s, j)  n = Mul (a, b)
          c = Concat <axis = 0> (n, f)  r = Reshape (p, c)  t = Shape (r)
          e = Expand (w, t)  m = MatMul (r, w)  y = Add (m, e) }""",
    ),
    "UNet": (
        3,
        """g (float[1, 4, 8, 8] x, float[4, 4, 3, 3] w, float[4, 4, 2, 2] wt,
              float[4, 8, 3, 3] wc) => (float[1, 4, 6, 6] y, float[1, 4, 8, 8] z)
        { a = Conv <pads = [1, 1, 1, 1]> (x, w)  f = Relu (a)  z = Neg (f)
          [down_0] b = Conv <pads = [1, 1, 1, 1], strides = [2, 2]> (f, w)
          [down_1] g = Relu (b)  [down_2] h = Conv <pads = [1, 1, 1, 1]> (g, w)
          [down_3] u = Relu (h)  [up_0] d = ConvTranspose <strides = [2, 2]> (u, wt)
          [up_1] c = Concat <axis = 1> (f, d)  [up_2] e = Conv (c, wc)
          [up_3] y = Relu (e) }""",
    ),
    "copies of weights": (
        8,
        """g (float[2, 4] x, float[4, 4] w) => (float[2, 4] y)
        { v = Identity (w)  u = Identity (w)  i = MatMul (x, w)  j = Relu (i)  k = MatMul (j, w)
          l = Tanh (k)  m = MatMul (l, w)  n = Sigmoid (m)  a = MatMul (n, w)  b = Relu (a)
          c = MatMul (b, v)  d = Relu (c)  e = MatMul (d, u)  f = Relu (e)  y = Add (x, f) }""",
    ),
    "layers in a row": (
        2,
        "g (float[2, 4] x, float[4, 4] w, float[4] wb) => (float[2, 4] y) {"
        + " ".join(
            f"m{n} = MatMul ({f'r{n - 1}' if n else 'x'}, w)  a{n} = Add (m{n}, wb)"
            f"  r{n} = Relu (a{n})"
            for n in range(5)
        )
        + " s = Add (r4, a0)  y = Softmax (s) }",
    ),
}


def make_text(text: str) -> ModelProto:
    """Return the model of a text, in which inputs that begin with ``w`` are stored.

    A node's name says its scope: ``up_1`` is ``/up/1``.
    """
    model = onnx.parser.parse_model(_HEADER + text)
    for node in model.graph.node:
        node.name = f"/{node.name.replace('_', '/')}" if node.name else ""
    chance = np.random.default_rng(7)
    inputs = [*model.graph.input]
    del model.graph.input[:]
    for value in inputs:
        if not value.name.startswith("w"):
            model.graph.input.append(value)
            continue
        dims = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        dtype = helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        spread = 0.5 if dtype.kind == "f" else 50
        array = np.abs(chance.normal(0.0, spread, dims)).astype(dtype)
        model.graph.initializer.append(numpy_helper.from_array(array, value.name))
    return model


def make_scopes() -> ModelProto:
    """Return two scopes of the same operators, of which one takes in between what stands before.

    They are wired alike if the place of what stands before is taken for one in the scope.
    """
    op_types = ("MatMul", "Relu", "Tanh", "Relu", "Tanh") * 4
    givers = [helper.make_node("Abs", ["x"], [f"o{n}"], f"o{n}") for n in range(2 * len(op_types))]

    def list_nodes(scope: str, outer: tuple[int, ...]) -> list[NodeProto]:
        nodes, last = [], "x"
        for place, op_type in enumerate(op_types):
            # one further, since the sum of the first scope stands before the second one
            taken = [f"o{len(op_types) + place}" if place in outer else last]
            last = f"{scope}{place}"
            taken += ["w"] if op_type == "MatMul" else []
            nodes.append(helper.make_node(op_type, taken, [last], f"/{scope}/{op_type}_{place}"))
        ends = [f"{scope}{place}" for place in (1, 6, 11, 16, 19)]
        return [*nodes, helper.make_node("Sum", ends, [f"{scope}s"], f"/{scope}/Sum")]

    x, one, two = (helper.make_tensor_value_info(name, 1, [4, 4]) for name in ("x", "ones", "twos"))
    nodes = [*givers, *list_nodes("one", ()), *list_nodes("two", (2, 7, 12, 17))]
    weight = numpy_helper.from_array(np.eye(4, dtype=np.float32), "w")
    graph = helper.make_graph(nodes, "scopes", [x], [one, two], [weight])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])


_SHAPES = {name: (make_text(text), cut) for name, (cut, text) in _TEXTS.items()}
_SHAPES["scopes"] = (make_scopes(), 40)


def find_body(model: Model) -> Graph:
    """Return the body that a twin's nodes were moved into."""
    names = ("then_branch", "body")
    (found,) = (
        graph
        for graph in model.graphs
        if graph.parent_attribute in names
        and graph.parent_node is not None
        and graph.parent_node.name == HOLDER
    )
    return found


def tell_twin(twin: ModelProto, place: Place, *, draw: bool = False) -> dict[str, list[str]]:
    """Return what is said of the graph that nothing was put into."""
    model = load(twin)
    body = find_body(model)
    if place == "around":
        return {**tell(model, body, draw=draw), "costs": tell_costs(model, body)}
    assert body.parent_node is not None
    return tell(model, body.parent_node.graph, frozenset({HOLDER}))


@pytest.mark.parametrize("place", ["around", "inside"])
@pytest.mark.parametrize("holder", _HOLDERS)
@pytest.mark.parametrize("name", _SHAPES)
def test_nothing_depends_on_the_nodes_of_another_graph(
    name: str, holder: Holder, place: Place
) -> None:
    model, cut = _SHAPES[name]
    # weights are captured, but where a Loop has them itself
    shape = Shape(model, cut, holder, holder == "Loop")
    first = tell_twin(make_twin(shape, 0, place), place)
    assert first["groups"]
    for count in _COUNTS if holder == "If" else _COUNTS[2:3]:
        assert compare_told(first, tell_twin(make_twin(shape, count, place), place)) == {}, count


@pytest.mark.parametrize("name", ["attention", "UNet", "scopes"])
def test_a_body_is_drawn_alike_whatever_stands_before_it(name: str) -> None:
    model, cut = _SHAPES[name]
    shape = Shape(model, cut, "If")
    first, other = (tell_twin(make_twin(shape, n, "around"), "around", draw=True) for n in (0, 5))
    assert len(first["boxes"]) > 3
    assert compare_told(first, other) == {}


@pytest.mark.parametrize("name", _SHAPES)
def test_what_changes_in_a_body_is_told_alike_whatever_stands_before_it(name: str) -> None:
    model, cut = _SHAPES[name]
    changed = ModelProto()
    changed.CopyFrom(model)
    last = next(node for node in reversed(changed.graph.node) if node.op_type in _OTHERS)
    last.op_type = _OTHERS[last.op_type]
    told = []
    for count in (0, *_COUNTS):
        sides = (load(make_twin(Shape(one, cut, "If"), count)) for one in (model, changed))
        told.append(tell_difference(*sides))
    assert told[0]
    for count, each in zip(_COUNTS, told[1:], strict=True):
        assert each == told[0], count


def test_what_quantizes_around_a_body_is_in_no_pair_of_the_body() -> None:
    floats = """g (float[2, 4] x, float[4, 4] w) => (float[2, 4] y)
        { a = Relu (x)  p = MatMul (a, w)  y = Tanh (p) }"""
    integers = """g (float[2, 4] x, int8[4, 4] w, int8 wz, float ws) => (float[2, 4] y)
        { a = Relu (x)  q, s, z = DynamicQuantizeLinear (a)  p = MatMulInteger (q, w, z, wz)
          c = Cast <to = 1> (p)  m = Mul (s, ws)  d = Mul (c, m)  y = Tanh (d) }"""
    left, right = (
        load(make_twin(Shape(make_text(text), cut, "If"), 0))
        for text, cut in ((floats, 1), (integers, 2))
    )
    pairs = match_models(left, right).pairs
    operators = [[node.op_type for node in pair.right] for pair in pairs]
    assert ["MatMulInteger", "Cast", "Mul", "Mul"] in operators
    for pair in pairs:
        for side in (pair.left, pair.right):
            assert len({node.graph for node in side}) == 1, pair
