"""Random models: nodes in random scopes, wired at random, some with subgraphs and calls."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load
from netloupe.proto import onnx_pb2

_SCOPES = st.lists(st.sampled_from(["a", "b", "layers.0", "layers.1"]), max_size=4)


@st.composite
def random_models(draw: st.DrawFn, most_nodes: int = 14) -> Model:
    """Return a model whose nodes use any values that are known, and sometimes later ones."""
    proto = onnx_pb2.ModelProto(ir_version=10)
    graph = proto.graph
    graph.input.add(name="x")
    graph.input.add(name="flag")
    graph.initializer.add(name="w", dims=[2], data_type=1, float_data=[1, 2])
    _fill(draw, graph, ["x", "flag", "w"], most_nodes, 2)
    for number in range(draw(st.integers(0, 2))):
        function = proto.functions.add(domain="local", name=f"F{number}")
        function.input.extend(["p", "q"])
        _fill_function(draw, function, number)
    return load(proto.SerializeToString())


def _fill(draw: st.DrawFn, graph: Any, known: list[str], most: int, depth: int) -> None:
    count = draw(st.integers(0, most))
    own: list[str] = []
    later = [f"{depth}v{number}" for number in range(count)]
    for number in range(count):
        name = "/".join([*draw(_SCOPES), f"n{number}"])
        choices = st.sampled_from([*known, *own, *own, *(later if draw(st.booleans()) else [])])
        inputs = draw(st.lists(choices, max_size=4)) if known or own else []
        kind = draw(st.sampled_from(["plain"] * 6 + ["constant", "call", "if", "loop"]))
        node = graph.node.add(name=name, output=[later[number]], op_type="Add", input=inputs)
        if kind == "constant":
            node.op_type = "Constant"
            del node.input[:]
            node.attribute.add(name="value_int", type=2, i=3)
        elif kind == "call":
            node.op_type, node.domain = draw(st.sampled_from(["F0", "F1"])), "local"
        elif kind in ("if", "loop") and depth > 0:
            node.op_type = "If" if kind == "if" else "Loop"
            for field in ("then_branch", "else_branch") if kind == "if" else ("body",):
                attribute = node.attribute.add(name=field, type=5)
                attribute.g.SetInParent()
                inner = list(known) + own
                if kind == "loop":
                    for formal in ("i", "cond", "carried")[: draw(st.integers(0, 3))]:
                        attribute.g.input.add(name=f"{depth}{formal}{number}")
                        inner.append(f"{depth}{formal}{number}")
                _fill(draw, attribute.g, inner, 4, depth - 1)
        own.append(later[number])
    for name in draw(st.lists(st.sampled_from([*known, *own]), max_size=3, unique=True)):
        graph.output.add(name=name)


def _fill_function(draw: st.DrawFn, function: Any, number: int) -> None:
    known = ["p", "q"]
    for index in range(draw(st.integers(0, 4))):
        call = number == 0 and draw(st.booleans())
        function.node.add(
            name=f"s/{index}",
            op_type="F1" if call else "Mul",
            domain="local" if call else "",
            input=draw(st.lists(st.sampled_from(known), max_size=3)),
            output=[f"f{index}"],
        )
        known.append(f"f{index}")
    function.output.extend(draw(st.lists(st.sampled_from(known), max_size=2, unique=True)))
