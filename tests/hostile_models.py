"""Models that hold very many of one thing, made in a moment, of any size."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from netloupe.proto import caffe2_pb2, onnx_pb2
from tests.wire_writer import field


def _onnx() -> onnx_pb2.ModelProto:
    model = onnx_pb2.ModelProto(ir_version=10)
    model.opset_import.add(domain="", version=21)
    model.graph.name = "hostile"
    return model


def _info(name: str) -> onnx_pb2.ValueInfoProto:
    info = onnx_pb2.ValueInfoProto(name=name)
    info.type.tensor_type.elem_type = 1
    info.type.tensor_type.shape.dim.add(dim_value=2)
    return info


def _concat(inputs: list[str]) -> onnx_pb2.ModelProto:
    model = _onnx()
    model.graph.node.add(op_type="Concat", name="join", input=inputs, output=["y"])
    model.graph.output.append(_info("y"))
    return model


def graph_inputs(count: int) -> bytes:
    """Return a Concat of inputs of the graph."""
    names = [f"x{number}" for number in range(count)]
    model = _concat(names)
    model.graph.input.extend([_info(name) for name in names])
    return model.SerializeToString()


def branches(count: int, kinds: int = 1) -> bytes:
    """Return a Sum of results, each of a Relu that takes an input of its own.

    Inputs are of so many sizes in turn.
    """
    model = _onnx()
    for number in range(count):
        info = _info(f"x{number}")
        info.type.tensor_type.shape.dim.add(dim_value=1 + number % kinds)
        model.graph.input.append(info)
        model.graph.node.add(
            op_type="Relu", name=f"n{number}", input=[f"x{number}"], output=[f"y{number}"]
        )
    names = [f"y{number}" for number in range(count)]
    model.graph.node.add(op_type="Sum", name="join", input=names, output=["y"])
    model.graph.output.append(_info("y"))
    return model.SerializeToString()


def circle(count: int) -> bytes:
    """Return so many products in a circle, which no layout puts in layers soon."""
    model = _onnx()
    for number in range(count):
        following = f"v{(number + 1) % count}"
        model.graph.node.add(op_type="Mul", input=[f"v{number}", "s"], output=[following])
    model.graph.node[-1].name = "join"
    model.graph.input.append(_info("s"))
    model.graph.output.append(_info("v0"))
    return model.SerializeToString()


def laughs(count: int) -> bytes:
    """Return functions each of which calls the next one twice."""
    model = _onnx()
    model.opset_import.add(domain="local", version=1)
    for number in range(count):
        made = model.functions.add(name=f"f{number}", domain="local", input=["a"], output=["c"])
        for domain in ("", "local"):
            made.opset_import.add(domain=domain, version=1 if domain else 21)
        for taken, given in (("a", "b"), ("b", "c")):
            node = made.node.add(op_type="Relu", input=[taken], output=[given])
            if number:
                node.op_type, node.domain = f"f{number - 1}", "local"
    node = model.graph.node.add(op_type=f"f{count - 1}", domain="local", name="join")
    node.input.append("x")
    node.output.append("y")
    model.graph.input.append(_info("x"))
    model.graph.output.append(_info("y"))
    return model.SerializeToString()


def undefined_inputs(count: int) -> bytes:
    """Return a Concat of values that nothing gives."""
    return _concat([f"undefined {number}" for number in range(count)]).SerializeToString()


def equal_inputs(count: int) -> bytes:
    """Return a Concat that takes one input again and again."""
    model = _concat(["x"] * count)
    model.graph.input.append(_info("x"))
    return model.SerializeToString()


def outputs(count: int) -> bytes:
    """Return a Split with so many results, all of them outputs of the graph."""
    model = _onnx()
    names = [f"y{number}" for number in range(count)]
    model.graph.input.append(_info("x"))
    model.graph.node.add(op_type="Split", name="join", input=["x"], output=names)
    model.graph.output.extend([_info(name) for name in names])
    return model.SerializeToString()


def empty_nodes(count: int) -> bytes:
    """Return nodes of which nothing is said."""
    node = b"\x0a\x00"  # field 1 of a graph, of no bytes
    graph = node * count
    return b"\x08\x0a" + field(7, graph)


def functions(count: int) -> bytes:
    """Return a call of the first of so many functions."""
    model = _onnx()
    model.opset_import.add(domain="local", version=1)
    model.graph.input.append(_info("x"))
    model.graph.output.append(_info("y"))
    model.graph.node.add(op_type="f0", domain="local", name="join", input=["x"], output=["y"])
    body = onnx_pb2.NodeProto(op_type="Relu", input=["a"], output=["b"])
    for number in range(count):
        model.functions.add(
            name=f"f{number}", domain="local", input=["a"], output=["b"], node=[body]
        )
    return model.SerializeToString()


def attributes(count: int) -> bytes:
    """Return a node with so many attributes."""
    model = _concat(["x"])
    model.graph.node[0].op_type = "Own"
    model.graph.node[0].attribute.extend(
        [onnx_pb2.AttributeProto(name=f"a{n}", type=2, i=n) for n in range(count)]
    )
    return model.SerializeToString()


def equal_attributes(count: int) -> bytes:
    """Return a node with so many attributes of one name."""
    model = _concat(["x"])
    model.graph.node[0].attribute.extend(
        [onnx_pb2.AttributeProto(name="axis", type=2, i=n) for n in range(count)]
    )
    return model.SerializeToString()


def redefined_values(count: int) -> bytes:
    """Return a chain of nodes that all take and give the value of one name."""
    model = _concat(["x"])
    node = onnx_pb2.NodeProto(op_type="Relu", input=["x"], output=["x"])
    model.graph.input.append(_info("x"))
    model.graph.node.extend([node] * count)
    return model.SerializeToString()


def captures(count: int) -> bytes:
    """Return an If whose branch uses so many values of the graph around."""
    model = _onnx()
    names = [f"x{number}" for number in range(count)]
    model.graph.input.extend([_info("c"), *(_info(name) for name in names)])
    model.graph.output.append(_info("y"))
    node = model.graph.node.add(op_type="If", name="branch", input=["c"], output=["y"])
    for name in ("then_branch", "else_branch"):
        body = onnx_pb2.GraphProto(name=name, output=[_info("b")])
        body.node.add(op_type="Concat", input=names, output=["b"])
        node.attribute.add(name=name, type=5, g=body)
    return model.SerializeToString()


def graph_attribute(count: int) -> bytes:
    """Return a node with one attribute of so many graphs."""
    model = _concat(["x"])
    model.graph.input.append(_info("x"))
    body = onnx_pb2.GraphProto(name="body", output=[_info("b")])
    body.node.add(op_type="Relu", input=["x"], output=["b"])
    attribute = model.graph.node[0].attribute.add(name="bodies", type=10)
    attribute.graphs.extend([body] * count)
    return model.SerializeToString()


def metadata(count: int) -> bytes:
    """Return a model whose model, graph and node have so many entries of metadata."""
    model = _concat(["x"])
    entries = [onnx_pb2.StringStringEntryProto(key=f"k{n}", value="v") for n in range(count)]
    for holder in (model, model.graph, model.graph.node[0]):
        holder.metadata_props.extend(entries)
    return model.SerializeToString()


def initializers(count: int) -> bytes:
    """Return a Concat of so many initializers."""
    names = [f"w{number}" for number in range(count)]
    model = _concat(names)
    model.graph.initializer.extend(
        [onnx_pb2.TensorProto(name=name, data_type=1, dims=[1], raw_data=b"1234") for name in names]
    )
    return model.SerializeToString()


def opset_imports(count: int) -> bytes:
    """Return a model that imports so many operator sets."""
    model = _concat(["x"])
    for number in range(count):
        model.opset_import.add(domain=f"d{number}", version=1)
    return model.SerializeToString()


def op_types(count: int) -> bytes:
    """Return a chain of nodes of which each has an operator of its own, and a domain."""
    model = _concat(["x"])
    for number in range(count):
        model.graph.node.add(op_type=f"Op{'abcdefghij'[number % 10]}{number}", domain=f"d{number}")
    return model.SerializeToString()


def long_names(count: int) -> bytes:
    """Return ten nodes all of whose names and texts have so many characters."""
    model = _onnx()
    before = "x" * count
    model.graph.input.append(_info(before))
    for number in range(10):
        after = f"{number}" * count
        model.graph.node.add(
            op_type="Own" + after, name=after, domain=after, input=[before], output=[after],
            doc_string=after,
        )  # fmt: skip
        model.graph.node[-1].attribute.add(name=after, type=3, s=after.encode())
        before = after
    model.graph.output.append(_info(before))
    return model.SerializeToString()


def annotations(count: int) -> bytes:
    """Return a value with so many quantization annotations of its own and of others."""
    model = _concat(["x"])
    for number in range(count):
        annotation = model.graph.quantization_annotation.add(tensor_name=f"x{number}")
        annotation.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="s")
    return model.SerializeToString()


def consumers(count: int) -> bytes:
    """Return a value that so many nodes take."""
    model = _concat(["x"])
    node = onnx_pb2.NodeProto(op_type="Relu", input=["x"])
    model.graph.input.append(_info("x"))
    model.graph.node.extend([node] * count)
    return model.SerializeToString()


def _net(operator: str, output: str = "w") -> caffe2_pb2.NetDef:
    net = caffe2_pb2.NetDef(name="init")
    net.op.add(type=operator, output=[output])
    return net


def string_fill(count: int) -> bytes:
    """Return a Caffe2 net that fills so many places with one string of 10 kB."""
    net = _net("ConstantFill")
    net.op[0].arg.add(name="shape", ints=[count])
    net.op[0].arg.add(name="value", s=b"text" * 2500)
    net.op[0].arg.add(name="dtype", i=4)
    return net.SerializeToString()


def constant_fill(count: int) -> bytes:
    """Return a Caffe2 net that fills so many places with one number."""
    net = _net("ConstantFill")
    net.op[0].arg.add(name="shape", ints=[count])
    net.op[0].arg.add(name="value", f=0.25)
    return net.SerializeToString()


class Case(NamedTuple):
    """A kind of model, how many of its thing are hostile, and what to inspect in it.

    Each thing is so many elements: a function is a graph, a node and two values; an operator that
    one node has is looked up, checked and drawn by itself. None where a count is but a number in
    the file.
    """

    make: Callable[[int], bytes]
    count: int
    name: str = "main/join"
    ending: str = "onnx"
    elements: int = 1


CASES = {
    "100 inputs": Case(graph_inputs, 100),
    "500 inputs": Case(graph_inputs, 500),
    "2,000 inputs": Case(graph_inputs, 2_000),
    "3,000 inputs": Case(graph_inputs, 3_000),
    "3,000 branches": Case(branches, 3_000),
    "circle of 1,000": Case(circle, 1_000),
    "functions that call twice": Case(laughs, 30),
    "50,000 undefined inputs": Case(undefined_inputs, 50_000),
    "10^6 distinct inputs": Case(undefined_inputs, 10**6),
    "10^6 graph inputs": Case(graph_inputs, 10**6),
    "10^6 equal inputs": Case(equal_inputs, 10**6),
    "10^6 outputs": Case(outputs, 10**6),
    "10^6 empty nodes": Case(empty_nodes, 10**6, "main"),
    "50,000 functions": Case(functions, 50_000, elements=4),
    "attribute of 20,000 graphs": Case(graph_attribute, 20_000, elements=4),
    "10^6 attributes": Case(attributes, 10**6),
    "10^6 attributes of one name": Case(equal_attributes, 10**6),
    "10^6 values of one name": Case(redefined_values, 10**6, "main"),
    "200,000 captured values": Case(captures, 200_000, "main/branch"),
    "10^6 entries of metadata": Case(metadata, 10**6),
    "10^6 initializers": Case(initializers, 10**6),
    "10^6 operator sets": Case(opset_imports, 10**6),
    "10^5 operators": Case(op_types, 10**5, "main", elements=2),
    "10^6 annotations": Case(annotations, 10**6, "main"),
    "10^6 consumers": Case(consumers, 10**6, "main/%x"),
    "names of 1 MB": Case(long_names, 10**6, "main", elements=0),
    "10^6 strings of 10 kB": Case(string_fill, 10**6, "w", "pb", elements=0),
    "fill of 2^28": Case(constant_fill, 2**28, "w", "pb", elements=0),
}
