"""Graphs that loop, nest, repeat names or are enormous, and functions that call themselves."""

from __future__ import annotations

from collections.abc import Callable

import onnx
from onnx import TensorProto, helper

from tests.cases.models import make_model, node, relu, value

_CONDITION = value("c", (), TensorProto.BOOL)


def _serialize(nodes: list[onnx.NodeProto], **fields: object) -> bytes:
    return make_model(nodes, **fields).SerializeToString()  # type: ignore[arg-type]


def _everyone_with_everyone() -> bytes:
    names = [f"t{number}" for number in range(60)]
    nodes = [
        node("Sum", " ".join(["x", *(other for other in names if other != name)]), name, f"n{name}")
        for name in names
    ]
    return _serialize(nodes, outputs=[value("t0")])


def _one_name() -> bytes:
    nodes = [node("Relu", f"t{n}" if n else "x", f"t{n + 1}", "same") for n in range(50)]
    return _serialize(nodes, outputs=[value("t50")])


def _no_names() -> bytes:
    nameless = onnx.NodeProto(input=["", "", ""], output=["", ""])
    inputs, outputs = [value("x"), value("")], [value("y"), value("")]
    return _serialize([nameless, relu("")], inputs=inputs, outputs=outputs)


def _many_outputs() -> bytes:
    names = [f"o{number}" for number in range(5000)]
    split = helper.make_node("Split", ["x"], names, name="s")
    uses = [node("Relu", name, f"r{name}") for name in names]
    return _serialize([split, *uses], outputs=[value("ro0")])


def _message(field: int, content: bytes) -> bytes:
    """Return a message as a field of another; deeper than protobuf's own classes would write."""
    head, length = bytes([field << 3 | 2]), len(content)
    while length > 127:
        head += bytes([length & 127 | 128])
        length >>= 7
    return head + bytes([length]) + content


def _nested(levels: int) -> bytes:
    """Return an If within an If …; every branch names its output as the one around does."""
    ends = onnx.GraphProto(output=[value("y")]).SerializeToString()
    graph = _message(1, node("Identity", "x", "y", "/leaf").SerializeToString()) + ends
    for level in range(levels):
        head = node("If", "c", "y", f"/if.{level}/If").SerializeToString()
        other = _message(1, node("Neg", "x", "y", f"/else.{level}").SerializeToString()) + ends
        for name, branch in ((b"then_branch", graph), (b"else_branch", other)):
            attribute = _message(1, name) + _message(6, branch) + b"\xa0\x01\x05"  # type: GRAPH
            head += _message(5, attribute)
        graph = _message(1, head) + ends
    inputs = onnx.GraphProto(name="g", input=[value("x"), _CONDITION]).SerializeToString()
    opsets = [helper.make_opsetid("", 18)]
    model = onnx.ModelProto(ir_version=8, opset_import=opsets).SerializeToString()
    return model + _message(7, graph + inputs)


def _shadows() -> bytes:
    """Return branches that define the names of the graph around them, and use a later one."""
    then = helper.make_graph(
        [node("Tanh", "t", "t", "a"), node("Relu", "t", "x", "b")], "then", [], [value("x")]
    )
    hidden = helper.make_tensor("x", TensorProto.FLOAT, [1], [0])
    otherwise = helper.make_graph(
        [node("Add", "later x", "q", "a")], "else", [], [value("q")], [hidden]
    )
    nodes = [
        node("Relu", "x", "t", "a"),
        node("If", "c", "y", "if", then_branch=then, else_branch=otherwise),
        node("Relu", "x", "later", "z"),
    ]
    return _serialize(nodes, inputs=[value("x"), _CONDITION])


def _empty_body() -> bytes:
    loop = helper.make_node("Loop", ["", "", "x"], ["y"], name="l", body=onnx.GraphProto())
    return _serialize([loop])


def _function(name: str, calls: str, domain: str = "local", overload: str = "") -> bytes:
    """Return a function of one node, as a field of a model."""
    body = helper.make_node(calls, ["a"], ["b"], name="r", domain="local" * (calls[0] == "F"))
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("local", 1)]
    function = helper.make_function(domain, name, ["a"], ["b"], [body], opsets, overload=overload)
    return onnx.ModelProto(functions=[function]).SerializeToString()


def _calls(*functions: bytes, op_type: str = "F0", domain: str = "local") -> bytes:
    call = helper.make_node(op_type, ["x"], ["y"], name="call", domain=domain)
    return _serialize([call], opsets={"": 18, "local": 1}) + b"".join(functions)


def _overloads() -> bytes:
    nodes = [
        helper.make_node("F0", ["x"], ["t"], name="c1", domain="local", overload="first"),
        helper.make_node("F0", ["t"], ["y"], name="c2", domain="local", overload="second"),
    ]
    model = _serialize(nodes, opsets={"": 18, "local": 1}, ir_version=10)
    first = _function("F0", "Relu", overload="first")
    return model + first + _function("F0", "Tanh", overload="second")


def _wide() -> bytes:
    nodes = [node("Relu", "x", f"o{n}", f"/s{n}/Relu") for n in range(20_000)]
    return _serialize(nodes, outputs=[value("o0")])


def _scopes_in_a_cycle() -> bytes:
    names = ("/A/n1", "/B/n2", "/A/n3", "/B/n4")
    values = ("x", "a", "b", "c", "y")
    return _serialize(
        [node("Relu", values[n], values[n + 1], name) for n, name in enumerate(names)]
    )


def _names_by_case() -> bytes:
    names, values = ("Node", "node", "NODE"), ("x", "A", "a", "y")
    return _serialize(
        [node("Relu", values[n], values[n + 1], name) for n, name in enumerate(names)]
    )


CASES: dict[str, Callable[[], bytes]] = {
    "hostile/zero_nodes.onnx": lambda: _serialize([], outputs=[value("x")]),
    "hostile/opset_99999.onnx": lambda: _serialize([relu()], opsets={"": 99_999}),
    "hostile/ir_version_max.onnx": lambda: _serialize([], ir_version=2**63 - 1),
    "hostile/cycle_self.onnx": lambda: _serialize([node("Add", "x y", "y", "n1")]),
    "hostile/cycle_scc_dense.onnx": _everyone_with_everyone,
    "hostile/dup_node_names.onnx": _one_name,
    "hostile/dup_node_outputs.onnx": lambda: _serialize([node("Split", "x", "y y y", "s")]),
    "hostile/empty_names.onnx": _no_names,
    "hostile/outputs_5000.onnx": _many_outputs,
    "hostile/parallel_edges.onnx": lambda: _serialize([node("Sum", "x " * 500, "y", "s")]),
    **{
        f"hostile/nested_if_{levels}.onnx": lambda levels=levels: _nested(levels)  # type: ignore[misc]
        for levels in (20, 25, 32, 34, 200)  # protobuf's own limit is passed at 33
    },
    "hostile/subgraph_shadow.onnx": _shadows,
    "hostile/empty_subgraph.onnx": _empty_body,
    "hostile/func_recursive_mutual.onnx": lambda: _calls(
        _function("F0", "F1"), _function("F1", "F0")
    ),
    "hostile/func_shadow_std.onnx": lambda: _calls(
        _function("Relu", "Tanh", ""), op_type="Relu", domain=""
    ),
    "hostile/func_undefined.onnx": lambda: _calls(op_type="Unknown"),
    "hostile/func_overload.onnx": _overloads,
    "hostile/scope_wide_20000.onnx": _wide,
    "hostile/scope_cycle.onnx": _scopes_in_a_cycle,
    "hostile/case_names.onnx": _names_by_case,
}
