"""What differs between formats is the dialect's to say; nothing else asks which format it is."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from netloupe.commands.info import format_summary, summarize_model
from netloupe.explorer.describe import describe_path, to_json
from netloupe.explorer.grouping.scopes import read_blob_scopes
from netloupe.explorer.model import (
    Attribute,
    Dialect,
    Graph,
    Model,
    Node,
    NodeDetails,
    Payload,
    Tensor,
    Value,
    constant_tensor,
    data_type,
    is_constant_node,
)
from netloupe.explorer.model.node import connect_node
from netloupe.explorer.operators import registry
from netloupe.explorer.quantization import find_quantization
from netloupe.explorer.readers.load import load
from netloupe.explorer.view.bodies import bind_body
from netloupe.explorer.view.item import Instance

_ROOT = Path(__file__).resolve().parents[2]
_FORMATS = frozenset(("onnx", "caffe2", "ai.onnx"))


def list_format_tests(source: str) -> Iterator[int]:
    """Yield the lines that compare with the name of a format or of its own domain."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            asked = node.func.attr in ("startswith", "endswith", "get", "removeprefix")
            sides = [node.func.value, *node.args] if asked else []
        elif isinstance(node, ast.BoolOp | ast.Match | ast.Assign | ast.IfExp | ast.AnnAssign):
            sides = [*ast.iter_child_nodes(node)]
        else:
            continue
        for side in sides:
            items = side.elts if isinstance(side, ast.Tuple | ast.List | ast.Set) else [side]
            words = [i.value for i in items if isinstance(i, ast.Constant)]
            if any(isinstance(word, str) and word.lower() in _FORMATS for word in words) or (
                "" in words and any(_names(s, "domain") for s in sides if s is not side)
            ):
                yield node.lineno
                break
            if isinstance(node, ast.Compare | ast.Call) and _names(side, "format"):
                yield node.lineno
                break


def _names(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == name


@pytest.mark.parametrize(
    "source",
    [
        'if model.format == "Caffe2": pass',
        'x = node.domain in ("", "ai.onnx")',
        'x = "" if node.domain == "ai.onnx" else node.domain',
        '_ONNX = ("", "ai.onnx")',
        'x = domain or "ai.onnx"',
        'if summary["format"] != "Caffe2": pass',
        'x = node.domain != ""',
        "x = model.format.startswith(name)",
    ],
)
def test_a_test_on_a_format_is_noticed(source: str) -> None:
    assert {*list_format_tests(source)} == {1}


def test_nothing_but_readers_and_dialects_asks_which_format_it_is() -> None:
    found = [
        f"{path.relative_to(_ROOT)}:{line}"
        for folder in ("explorer", "widgets", "netloupe/commands")
        for path in sorted((_ROOT / folder).rglob("*.py"))
        if "readers" not in path.parts and "node_modules" not in path.parts
        for line in list_format_tests(path.read_text())
    ]
    assert found == []


def make_spelled(count: int, domain: str = "ai.onnx") -> onnx.ModelProto:
    """Return a chain of Relu of the standard domain under another spelling."""
    nodes = [
        helper.make_node("Relu", [f"v{i}"], [f"v{i + 1}"], name=f"r{i}", domain=domain)
        for i in range(count)
    ]
    value = helper.make_tensor_value_info
    inputs, outputs = ([value(name, TensorProto.FLOAT, [2])] for name in ("v0", f"v{count}"))
    graph = helper.make_graph(nodes, "g", inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("ai.onnx", 17)])


@pytest.mark.parametrize("count", [3, 600])  # read node by node, and by columns
def test_the_standard_domain_is_one_however_it_is_spelled(count: int) -> None:
    model, plain = load(make_spelled(count)), load(make_spelled(count, ""))
    node = model.graph.nodes[1]
    assert (node.domain, node.stated_domain, node.opset_version) == ("", "ai.onnx", 17)
    assert (plain.graph.nodes[1].domain, plain.graph.nodes[1].stated_domain) == ("", "")
    assert model.opset_imports == {"": 17}
    assert model.graph.opset_version("ai.onnx") == 17
    operators = [graph.graph.wiring.operators.tolist() for graph in (model, plain)]
    assert operators[0] == operators[1]
    assert model.graph.dialect is model.dialect is node.graph.dialect


def test_the_spelling_of_the_file_is_what_json_tells() -> None:
    model = load(make_spelled(3))
    assert to_json(describe_path(model, "main/r1"))["domain"] == "ai.onnx"
    assert to_json(describe_path(load(make_spelled(3, "")), "main/r1"))["domain"] == ""


def test_a_mixture_of_spellings_keeps_each() -> None:
    proto = make_spelled(600)
    for node in proto.graph.node[::2]:
        node.domain = ""
    nodes = load(proto).graph.nodes
    assert {node.domain for node in nodes} == {""}
    assert [node.stated_domain for node in nodes[:4]] == ["", "ai.onnx", "", "ai.onnx"]


def test_a_function_of_the_standard_domain_is_found_by_either_spelling() -> None:
    proto = make_spelled(1, "")
    proto.graph.node[0].op_type = "Twice"
    body = [helper.make_node("Add", ["x", "x"], ["y"])]
    imports = [helper.make_opsetid("", 17)]
    function = helper.make_function("ai.onnx", "Twice", ["x"], ["y"], body, imports)
    proto.functions.append(function)
    model = load(proto)
    called = model.graph.nodes[0].function
    assert called is not None
    assert called is model.function("", "Twice") is model.function("ai.onnx", "Twice")
    assert (called.path, called.domain, called.stated_domain) == (
        "functions/ai.onnx::Twice",
        "",
        "ai.onnx",
    )


def test_a_constant_of_another_domain_is_none_that_is_known() -> None:
    tensor = helper.make_tensor("t", TensorProto.FLOAT, [2], [1.0, 2.0])
    proto = make_spelled(1, "")
    proto.graph.node[0].input[0] = "c"
    for domain, known in (("", True), ("ai.onnx", True), ("org.example", False)):
        node = helper.make_node("Constant", [], ["c"], value=tensor, domain=domain)
        copy = onnx.ModelProto()
        copy.CopyFrom(proto)
        copy.graph.node.insert(0, node)
        found = load(copy).graph.nodes[0]
        assert is_constant_node(found) is known, domain
        (output,) = found.outputs
        assert output is not None
        assert (constant_tensor(output) is not None) is known, domain


TOY = Dialect(
    name="Toy",
    domain="toy",
    domain_name="toy operators",
    domain_spellings=frozenset({"t", ""}),
    has_opsets=False,
    names_tell_scopes=True,
    constant_attributes={"number": "int64"},
    element_types={7: "int8"},
    element_type_attributes=frozenset({"kind"}),
    node_fields=("engine",),
)


class ToyLoader:
    """What a reader of a third format offers to nodes."""

    def __init__(self, details: dict[str, NodeDetails]) -> None:
        self._details = details

    def details(self, node: Node) -> NodeDetails:
        return self._details.get(node.name, NodeDetails())

    def may_have_attributes(self, node: Node) -> bool:
        return True

    def oddities(self, node: Node) -> tuple[()]:
        return ()

    def metadata(self, node: Node) -> dict[str, str]:
        return {}

    def attribute_key(self, node: Node, *, is_whole: bool = False) -> bytes:
        return b""

    def statement_key(self, node: Node) -> bytes:
        return b""

    def unknown_fields(self, node: Node) -> tuple[()]:
        return ()


def make_toy() -> Model:
    """Return a model of a format that netloupe does not read, made as a reader would."""
    model = Model("net.toy", TOY.name, "text", TOY)
    graph = model.graph
    tensor = Tensor("w", "w", data_type("int8"), (2,), "raw", 2, lambda: Payload("raw", b"\1\2"))
    kind = Attribute("kind", "int", 7)
    loader = ToyLoader(
        {
            "w": NodeDetails(constant=tensor),
            "s": NodeDetails({"number": Attribute("number", "int", 3)}),
            "mac": NodeDetails({"kind": kind}, engine="fast"),
        }
    )

    def add(name: str, op_type: str, inputs: list[Value], output: str) -> Value:
        node = Node(graph, len(graph.nodes), name, op_type, TOY.read_domain("t"), loader)
        connect_node(node, tuple(inputs))
        value = graph.values[output] = Value(output, graph, "", node, 0)
        node.outputs = (value,)
        graph.nodes.append(node)
        return value

    w, s = add("w", "Literal", [], "w"), add("s", "Literal", [], "s")
    x = add("mac", "Mac8", [w, s], "a/b/x")
    body = Graph(model, "subgraph", "body", "main/loop.body")
    inner = [Value(name, body) for name in ("i", "carried")]
    body.inputs += inner
    body.values |= {value.name: value for value in inner}
    body.outputs.append(inner[1])
    y = add("loop", "Repeat", [s, x], "a/b/y")
    assert y.producer is not None
    body.parent_node, body.parent_attribute = y.producer, "body"
    y.producer.subgraphs = (body,)
    y.is_output = True
    graph.outputs.append(y)
    return model


@pytest.fixture
def toy_operators() -> Iterator[None]:
    entries = {
        "Literal": {"traits": "stores_constant"},
        "Mac8": {"operands": "data data.scale", "quantized": "linear"},
        "Repeat": {"body": {"first_operand": 1}},
    }
    registry.set_entries("toy", entries)
    yield
    registry.remove_domain("toy")


@pytest.mark.usefixtures("toy_operators")
def test_another_format_needs_its_dialect_and_operators_only() -> None:
    model = make_toy()
    graph = model.graph
    _, _, mac, loop = graph.nodes
    assert [is_constant_node(node) for node in graph.nodes] == [True, True, False, False]
    assert (stored := constant_tensor(graph.values["w"])) is not None
    assert stored.numpy().tolist() == [1, 2]
    assert model.tensor("s").numpy().tolist() == 3
    assert (found := find_quantization(graph.values["w"])) is not None
    assert found.source == "operands of Mac8"
    assert found.scale_value is graph.values["s"]
    assert [warning.message for warning in model.findings] == []
    told = to_json(describe_path(model, "main/mac"))
    assert (told["domain"], told["engine"]) == ("toy", "fast")
    shown = describe_path(model, "main/mac")
    assert shown.subtitle == "toy operators"
    rows = {row.name: row for section in shown.sections for row in section.rows}
    assert rows["kind"].note == "int, element type int8"
    assert "opsets" not in format_summary(summarize_model(model), model.dialect)
    assert summarize_model(model)["op_types"] == {"Literal": 2, "Mac8": 1, "Repeat": 1}
    scopes = read_blob_scopes(graph)
    assert scopes is not None
    assert scopes.of_node[mac.index] == ("a", "b")
    instance = Instance(loop.subgraphs[0], "main/loop.body", None)
    bind_body(instance, loop)
    (carried,) = instance.graph.outputs
    assert instance.bindings == {carried: mac.outputs[0]}
    assert instance.results == {carried: (loop.outputs[0],)}
    assert "Mac8" in model.to_svg(expand="all")
