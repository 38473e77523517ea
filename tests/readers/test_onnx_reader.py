"""What ONNX messages become in the model, and how odd files are read."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from netloupe.explorer.describe import describe_path
from netloupe.explorer.describe.as_json import to_json
from netloupe.explorer.model import Function, Graph, Model, SparseTensor, Tensor, TensorType, Value
from netloupe.explorer.readers.load import load
from netloupe.explorer.readers.onnx.scope import MOST_UNDEFINED
from netloupe.proto import onnx_pb2
from tests.corpus import also_beside, corpus_file
from tests.hostile_models import undefined_inputs
from tests.onnx_text import load_text


def messages(model: Model) -> list[str]:
    return [warning.message for warning in model.all_warnings()]


def load_node(op_type: str = "Odd", *attributes: onnx.AttributeProto) -> Any:
    """Return the only node of a model with these attributes."""
    node = helper.make_node(op_type, ["x"], ["y"], name="node")
    node.attribute.extend(attributes)
    graph = helper.make_graph([node], "g", [], [])
    return load(helper.make_model(graph)).graph.nodes[0]


def test_the_header() -> None:
    model = load_text(
        """<ir_version: 9, opset_import: ["": 18, "com.microsoft": 1],
            producer_name: "pytorch", producer_version: "2.4", domain: "org.example",
            model_version: 7, doc_string: "what it is", metadata_props: ["author": "me"]>
        g (float[N] x) => (float[N] y) { y = Relu(x) }"""
    )
    header = model.header
    assert model.ir_version == 9
    assert model.opset_imports == {"": 18, "com.microsoft": 1}
    assert (header.producer_name, header.producer_version) == ("pytorch", "2.4")
    assert (header.domain, header.model_version) == ("org.example", 7)
    assert model.doc == "what it is"
    assert model.metadata == {"author": "me"}
    assert model.graph.name == "g"
    assert model.graph.nodes[0].opset_version == 18


def test_metadata_with_a_key_twice_keeps_both() -> None:
    proto = onnx_pb2.ModelProto(ir_version=8)
    proto.graph.SetInParent()
    for value in ("a", "b"):
        proto.metadata_props.add(key="k", value=value)
    assert load(proto.SerializeToString()).metadata == {"k": "a", "k#2": "b"}


def test_metadata_at_every_level() -> None:
    proto = onnx_pb2.ModelProto(ir_version=10)
    graph = proto.graph
    graph.metadata_props.add(key="level", value="graph")
    node = graph.node.add(op_type="Relu", input=["x"], output=["y"])
    node.metadata_props.add(key="level", value="node")
    graph.input.add(name="x").metadata_props.add(key="level", value="value")
    graph.initializer.add(name="w").metadata_props.add(key="level", value="tensor")
    function = proto.functions.add(name="F", domain="d")
    function.metadata_props.add(key="level", value="function")
    model = load(proto.SerializeToString())
    tensor = model["w"]
    assert isinstance(tensor, Tensor)
    found = [
        model.graph.metadata,
        model.graph.nodes[0].metadata,
        model.graph.inputs[0].metadata,
        tensor.metadata,
        model.functions[0].metadata,
    ]
    assert [entry["level"] for entry in found] == ["graph", "node", "value", "tensor", "function"]


def test_functions_with_overloads_and_defaults() -> None:
    proto = onnx_pb2.ModelProto(ir_version=10)
    proto.opset_import.add(domain="", version=21)
    for overload in ("", "wide"):
        function = proto.functions.add(name="F", domain="d", overload=overload)
        function.input.append("a")
        function.output.append("b")
        function.attribute.append("must")
        function.attribute_proto.add(name="alpha", f=0.5, type=1)
        function.opset_import.add(domain="", version=18)
        node = function.node.add(op_type="LeakyRelu", input=["a"], output=["b"])
        node.attribute.add(name="alpha", ref_attr_name="alpha", type=1)
    for overload in ("", "wide", "missing"):
        proto.graph.node.add(op_type="F", domain="d", overload=overload, name=f"call{overload}")
    model = load(proto.SerializeToString())
    plain, wide = model.functions
    calls = model.graph.nodes
    assert [call.function for call in calls] == [plain, wide, None]
    assert [function.path for function in model.functions] == [
        "functions/d::F",
        "functions/d::F:wide",
    ]
    assert wide.attribute_names == ("must",)
    assert wide.attribute_defaults["alpha"].value == 0.5
    assert wide.nodes[0].attributes["alpha"].reference == "alpha"
    assert wide.nodes[0].attributes["alpha"].value is None
    assert (wide.nodes[0].opset_version, calls[0].opset_version) == (18, None)


def test_two_functions_of_one_identity() -> None:
    proto = onnx_pb2.ModelProto(ir_version=10)
    for _ in range(3):
        proto.functions.add(name="F", domain="d")
    model = load(proto.SerializeToString())
    assert len({function.path for function in model.functions}) == 3
    assert "another function has the same domain, name and overload" in messages(model)


def test_training_sees_the_main_graph() -> None:
    proto = onnx_pb2.ModelProto(ir_version=8)
    proto.graph.initializer.add(name="w", dims=[1], data_type=1, float_data=[1.0])
    training = proto.training_info.add()
    training.initialization.node.add(op_type="RandomNormal", output=["w0"])
    training.algorithm.node.add(op_type="Sub", input=["w", "g"], output=["w_new"])
    training.initialization_binding.add(key="w", value="w0")
    training.update_binding.add(key="w", value="w_new")
    model = load(proto.SerializeToString())
    info = model.training[0]
    assert info.algorithm is not None
    assert info.algorithm.nodes[0].inputs[0] is model.graph.values["w"]
    assert info.initialization_binding == (("w", "w0"),)
    assert info.update_binding == (("w", "w_new"),)
    assert [graph.path for graph in model.graphs] == [
        "main",
        "training_0.initialization",
        "training_0.algorithm",
    ]


@pytest.mark.parametrize("indices", [[1, 5], [[0, 1], [1, 1]]])
def test_sparse_initializers(indices: Any) -> None:
    values = numpy_helper.from_array(np.array([7, 9], np.float32), "w")
    given = numpy_helper.from_array(np.array(indices, np.int64), "w_indices")
    sparse = helper.make_sparse_tensor(values, given, [2, 4])
    graph = helper.make_graph([], "g", [], [], sparse_initializer=[sparse])
    tensor = load(helper.make_model(graph))["w"]
    assert isinstance(tensor, SparseTensor)
    assert tensor.numpy().tolist() == [[0, 7, 0, 0], [0, 9, 0, 0]]
    assert str(load(helper.make_model(graph)).graph.values["w"].type) == "sparse(float32[2, 4])"


def test_quantization_annotations() -> None:
    proto = onnx_pb2.ModelProto(ir_version=8)
    proto.graph.input.add(name="x")
    for tensor in ("x", "gone", "x"):
        message = proto.graph.quantization_annotation.add(tensor_name=tensor)
        message.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="s")
        message.quant_parameter_tensor_names.add(key="finn_datatype", value="INT4")
    model = load(proto.SerializeToString())
    annotation = model.graph.values["x"].annotation
    assert annotation is not None
    assert annotation.entries == (("SCALE_TENSOR", "s"), ("finn_datatype", "INT4"))
    assert len(model.graph.annotations) == 3
    assert "has a quantization annotation but does not exist" in messages(model)
    assert "has two quantization annotations" in messages(model)


def test_all_kinds_of_types() -> None:
    tensor = helper.make_tensor_type_proto(TensorProto.FLOAT, ["N", 3, None])
    tensor.tensor_type.shape.dim[1].denotation = "DATA_CHANNEL"
    tensor.denotation = "IMAGE"
    types = {
        "tensor": tensor,
        "no_rank": helper.make_tensor_type_proto(TensorProto.INT8, None),
        "scalar": helper.make_tensor_type_proto(TensorProto.INT8, []),
        "sparse": helper.make_sparse_tensor_type_proto(TensorProto.DOUBLE, [2]),
        "sequence": helper.make_sequence_type_proto(tensor),
        "optional": helper.make_optional_type_proto(helper.make_sequence_type_proto(tensor)),
        "map": helper.make_map_type_proto(TensorProto.INT64, tensor),
        "nothing": onnx.TypeProto(),
    }
    opaque = onnx_pb2.TypeProto()
    opaque.opaque_type.domain, opaque.opaque_type.name = "org", "Blob"
    infos = [helper.make_value_info(name, kind) for name, kind in types.items()]
    proto = onnx_pb2.ModelProto.FromString(
        helper.make_model(helper.make_graph([], "g", infos, [])).SerializeToString()
    )
    proto.graph.input.add(name="opaque", type=opaque)
    values = {value.name: value for value in load(proto.SerializeToString()).graph.inputs}
    assert {name: str(value.type) for name, value in values.items()} == {
        "tensor": "float32[N, 3, ?]",
        "no_rank": "int8",
        "scalar": "int8[]",
        "sparse": "sparse(float64[2])",
        "sequence": "sequence(float32[N, 3, ?])",
        "optional": "optional(sequence(float32[N, 3, ?]))",
        "map": "map(int64, float32[N, 3, ?])",
        "opaque": "opaque(org.Blob)",
        "nothing": "unknown type",
    }
    image = values["tensor"].type
    assert isinstance(image, TensorType)
    assert image.shape is not None
    assert (image.denotation, image.shape[1].denotation) == ("IMAGE", "DATA_CHANNEL")


def test_all_kinds_of_attributes() -> None:
    tensor = numpy_helper.from_array(np.arange(3), "t")
    graph = helper.make_graph([], "inner", [], [])
    node = load_node(
        "Odd",
        helper.make_attribute("a_float", 1.5),
        helper.make_attribute("an_int", -(2**63)),
        helper.make_attribute("a_string", "ö"),
        helper.make_attribute("floats", [1.5, 2.5]),
        helper.make_attribute("ints", [1, 2]),
        helper.make_attribute("strings", ["a", "b"]),
        helper.make_attribute("a_tensor", tensor),
        helper.make_attribute("tensors", [tensor, tensor]),
        helper.make_attribute("a_graph", graph),
        helper.make_attribute("graphs", [graph, graph]),
        helper.make_attribute("a_type", helper.make_tensor_type_proto(1, [2])),
    )
    attributes = node.attributes
    assert {name: attribute.kind for name, attribute in attributes.items()} == {
        "a_float": "float",
        "an_int": "int",
        "a_string": "string",
        "floats": "floats",
        "ints": "ints",
        "strings": "strings",
        "a_tensor": "tensor",
        "tensors": "tensors",
        "a_graph": "graph",
        "graphs": "graphs",
        "a_type": "type_proto",
    }
    assert attributes["an_int"].value == -(2**63)
    assert attributes["a_string"].value == "ö"
    assert attributes["floats"].value == (1.5, 2.5)
    assert attributes["strings"].value == ("a", "b")
    assert attributes["a_tensor"].value.numpy().tolist() == [0, 1, 2]
    assert [t.path for t in attributes["tensors"].value] == [
        "main/node.tensors[0]",
        "main/node.tensors[1]",
    ]
    assert isinstance(attributes["a_graph"].value, Graph)
    assert [g.path for g in attributes["graphs"].value] == [
        "main/node.graphs[0]",
        "main/node.graphs[1]",
    ]
    assert str(attributes["a_type"].value) == "float32[2]"


def test_attributes_without_a_type_are_those_of_ir_1() -> None:
    proto = onnx_pb2.ModelProto(ir_version=1)
    node = proto.graph.node.add(op_type="Conv")
    node.attribute.add(name="kernel", ints=[3, 3])
    node.attribute.add(name="alpha", f=0.25)
    node.attribute.add(name="nothing")
    attributes = load(proto.SerializeToString()).graph.nodes[0].attributes
    assert (attributes["kernel"].kind, attributes["kernel"].value) == ("ints", (3, 3))
    assert (attributes["alpha"].kind, attributes["alpha"].value) == ("float", 0.25)
    assert (attributes["nothing"].kind, attributes["nothing"].value) == ("undefined", None)


def test_attributes_that_contradict_themselves() -> None:
    proto = onnx_pb2.ModelProto(ir_version=8)
    proto.opset_import.add(version=18)
    node = proto.graph.node.add(op_type="Odd")
    node.attribute.add(name="mismatch", type=1, i=3)
    node.attribute.add(name="several", type=2, i=3, f=1.5)
    node.attribute.add(name="several", type=2, i=4)
    node.attribute.add(name="binary", type=3, s=b"\xff\xfe")
    model = load(proto.SerializeToString())
    attributes = model.graph.nodes[0].attributes
    assert attributes["mismatch"].value == 3
    assert attributes["several#2"].value == 4
    assert attributes["binary"].value == b"\xff\xfe"
    assert messages(model) == [
        "says it is float but holds int",
        "holds several values: int, float"
        if "holds several values: int, float" in messages(model)
        else "holds several values: float, int",
        "has attribute 'several' twice",
    ]


def test_an_attribute_kind_of_the_future() -> None:
    # name "a", field 20 (type) = 77, i = 5
    attribute = b"\x0a\x01a\xa0\x01\x4d\x18\x05"
    node = b"\x22\x03Odd\x2a" + bytes([len(attribute)]) + attribute
    data = b"\x08\x08\x3a" + bytes([len(node) + 2]) + b"\x0a" + bytes([len(node)]) + node
    model = load(data)
    found = model.graph.nodes[0].attributes["a"]
    assert (found.kind, found.value) == ("unknown(77)", 5)
    assert "the attribute's kind unknown(77) is not known" in messages(model)


def test_element_types_of_the_future() -> None:
    proto = onnx_pb2.ModelProto(ir_version=8)
    proto.graph.initializer.add(name="w", dims=[2], data_type=99, raw_data=b"1234")
    proto.graph.initializer.add(name="v", dims=[-3], data_type=-5)
    model = load(proto.SerializeToString())
    assert [str(tensor.dtype) for tensor in model.graph.initializers] == [
        "unknown(99)",
        "unknown(-5)",
    ]
    assert "the element type is unknown(99)" in messages(model)
    assert "the dimensions [-3] are negative" in messages(model)


def test_text_that_is_not_utf_8() -> None:
    proto = onnx_pb2.ModelProto(ir_version=8)
    proto.graph.node.add(op_type="Relu", name="n@@", input=["x@@"], output=["y"])
    proto.graph.input.add(name="x@@")
    data = proto.SerializeToString().replace(b"@@", b"\xff\xfe")
    model = load(data)
    node = model.graph.nodes[0]
    assert node.name.isprintable()
    assert node.name.startswith("n")
    assert node.inputs[0] is model.graph.inputs[0]
    assert model[node.path] is node


def test_devices_and_sharding() -> None:
    proto = onnx_pb2.ModelProto(ir_version=11)
    proto.configuration.add(name="two", num_devices=2, device=["gpu0", "gpu1"])
    node = proto.graph.node.add(op_type="Relu")
    configuration = node.device_configurations.add(configuration_id="two", pipeline_stage=0)
    spec = configuration.sharding_spec.add(tensor_name="x", device=[0, -1])
    spec.index_to_device_group_map.add(key=-1, value=[0, 1])
    dim = spec.sharded_dim.add(axis=-1)
    dim.simple_sharding.add(dim_param="N", num_shards=2)
    model = load(proto.SerializeToString())
    assert model.header.device_configurations[0].devices == ("gpu0", "gpu1")
    found = model.graph.nodes[0].details.device_configurations[0]
    assert (found.configuration_id, found.pipeline_stage) == ("two", 0)
    sharding = found.sharding[0]
    assert sharding.devices == (0, -1)
    assert sharding.device_groups == ((-1, (0, 1)),)
    assert sharding.dimensions[0].axis == -1
    assert sharding.dimensions[0].shards == (("N", 2),)


NESTED = """
g (bool c, float[N] x) => (float[N] y) {
    k = Constant <value_float = 2.0> ()
    y = If (c) <
        then_branch = then () => (float[N] a) {
            n = Constant <value_int = 3> ()
            a = Loop (n, c, x) <body = b (int64 i, bool cin, float[N] s)
                => (bool cout, float[N] t) { cout = Identity (cin)  t = Mul (s, k) }>
        },
        else_branch = else () => (float[N] x2) { x2 = Identity (x) }
    >
}
"""


def test_nested_subgraphs_and_what_they_capture() -> None:
    model = load_text(NESTED)
    then = model["main/#1:If.then_branch"]
    body = model["main/#1:If.then_branch/#1:Loop.body"]
    assert isinstance(then, Graph)
    assert isinstance(body, Graph)
    assert [graph.path for graph in model.graphs] == [
        "main",
        "main/#1:If.then_branch",
        "main/#1:If.then_branch/#1:Loop.body",
        "main/#1:If.else_branch",
    ]
    outer = model.graph.nodes[1]
    loop = then.nodes[1]
    k, x = model.graph.values["k"], model.graph.values["x"]
    assert body.nodes[1].inputs[1] is k
    assert loop.captures == (k,)
    assert {value.name for value in outer.captures} == {"k", "c", "x"}
    assert (body.nodes[1], 1) in k.consumers
    assert x in outer.captures
    assert body.parent_node is loop
    assert body.opset_imports == model.opset_imports


def test_shadowing() -> None:
    """A name that a subgraph defines itself is its own, also before the definition."""
    model = load_text(
        """g (bool c, float[N] x) => (float[N] y) {
            y = If (c) <
                then_branch = t () => (float[N] z) { x = Neg (c)  z = Relu (x) },
                else_branch = e () => (float[N] z) { z = Relu (x) }
            >
        }"""
    )
    then, other = model.graph.nodes[0].subgraphs
    assert then.nodes[1].inputs[0] is then.values["x"]
    assert other.nodes[0].inputs[0] is model.graph.values["x"]
    assert [g.outputs[0].name for g in (then, other)] == ["z", "z"]


def test_functions_do_not_see_the_graph() -> None:
    model = load_text(
        """g (float[N] x) => (float[N] y) { y = local.F (x) }
        <domain: "local", opset_import: ["": 21]> F (a) => (b) { b = Add (a, x) }"""
    )
    function = model.functions[0]
    used = function.nodes[0].inputs[1]
    assert isinstance(function, Function)
    assert used is not None
    assert used.graph is function
    assert "uses %x, which nothing defines" in messages(model)


def test_of_very_many_inputs_that_nothing_defines_the_first_are_named() -> None:
    few, many = (load(undefined_inputs(count)) for count in (MOST_UNDEFINED, MOST_UNDEFINED + 50))
    assert [w.message for w in few.graph.warnings] == [
        f"uses %undefined {number}, which nothing defines" for number in range(MOST_UNDEFINED)
    ]
    assert many.graph.warnings[:-1] == few.graph.warnings
    assert many.graph.warnings[-1].path == "main/join"
    assert many.graph.warnings[-1].message == "has 50 more inputs that nothing defines"
    assert all(value.users for value in many.graph.nodes[0].inputs if value)
    assert len(many.graph.nodes[0].inputs) == MOST_UNDEFINED + 50


def make_chain(*nodes: tuple[list[str], list[str]], **graph: Any) -> Model:
    """Return a model of nodes given as (inputs, outputs)."""
    proto = onnx_pb2.ModelProto(ir_version=8)
    for number, (inputs, outputs) in enumerate(nodes):
        proto.graph.node.add(op_type=f"Op{number}", input=inputs, output=outputs)
    for name in graph.get("inputs", ()):
        proto.graph.input.add(name=name)
    for name in graph.get("outputs", ()):
        proto.graph.output.add(name=name)
    for name in graph.get("initializers", ()):
        proto.graph.initializer.add(name=name, dims=[1], data_type=1, float_data=[1])
    return load(proto.SerializeToString())


def test_a_name_defined_twice() -> None:
    model = make_chain((["x"], ["a"]), (["a"], ["a"]), (["a"], ["b"]), inputs=["x"])
    first, second, third = model.graph.nodes
    assert second.inputs[0] is first.outputs[0]
    assert third.inputs[0] is second.outputs[0]
    assert first.outputs[0] is not second.outputs[0]
    assert "defines %a, which is defined before" in messages(model)


def test_an_output_defined_twice_is_the_last() -> None:
    model = make_chain((["x"], ["a"]), (["a"], ["a"]), inputs=["x"], outputs=["a"])
    assert model.graph.outputs[0] is model.graph.nodes[1].outputs[0]


def test_inputs_and_initializers_given_twice() -> None:
    model = make_chain((["x", "w"], ["y"]), inputs=["x", "x"], initializers=["w", "w"])
    assert len(model.graph.inputs) == 1
    assert len(model.graph.initializers) == 2
    assert model.graph.values["w"].initializer is model.graph.initializers[0]
    assert "is listed twice as an input" in messages(model)
    assert "two initializers have this name; the first is used" in messages(model)


def test_input_initializer_and_output_at_once() -> None:
    model = make_chain(inputs=["w"], initializers=["w"], outputs=["w"])
    value = model.graph.values["w"]
    assert value.is_input
    assert value.is_output
    assert value.initializer is not None
    assert model.graph.inputs == model.graph.outputs == [value]


def test_undefined_names_and_cycles() -> None:
    model = make_chain((["gone", "b"], ["a"]), (["a", ""], ["b"]), (["c"], ["c"]), outputs=["no"])
    assert messages(model)[:7] == [
        "the nodes #0:Op0, #1:Op1 wait for each other: a cycle",
        "the node #2:Op2 waits for itself: a cycle",
        "3 nodes of the operator set ai.onnx, which is not imported",
        "uses %gone, which nothing defines",
        "uses %b before main/#1:Op1 gives it",
        "uses %c before main/#2:Op2 gives it",
        "is an output that nothing defines",
    ]
    assert model.graph.nodes[1].inputs[1] is None
    assert model.graph.nodes[0].inputs[1] is model.graph.nodes[1].outputs[0]


def test_empty_names_everywhere() -> None:
    proto = onnx_pb2.ModelProto(ir_version=8)
    proto.graph.node.add(input=["", ""], output=["", ""])
    proto.graph.input.add(name="")
    proto.graph.output.add(name="")
    proto.graph.initializer.add(name="")
    model = load(proto.SerializeToString())
    assert model.graph.nodes[0].inputs == (None, None)
    assert "has no op_type" in messages(model)
    assert repr(model)


def test_storage_and_what_is_odd_about_it() -> None:
    proto = onnx_pb2.ModelProto(ir_version=8)
    proto.graph.initializer.add(name="raw", dims=[2, 3], data_type=1, raw_data=bytes(8))
    proto.graph.initializer.add(name="typed", dims=[2], data_type=1, float_data=[1, 2])
    proto.graph.initializer.add(name="text", dims=[2], data_type=8, string_data=[b"a", b"\xff"])
    proto.graph.initializer.add(name="none", dims=[2], data_type=1)
    outside = proto.graph.initializer.add(name="outside", dims=[2], data_type=1, data_location=1)
    for key, value in (("location", "w.bin"), ("offset", "16"), ("length", "8"), ("location", "x")):
        outside.external_data.add(key=key, value=value)
    segment = proto.graph.initializer.add(name="part", dims=[2], data_type=1)
    segment.segment.begin, segment.segment.end = 3, 5
    model = load(proto.SerializeToString())
    tensors = {tensor.name: tensor for tensor in model.graph.initializers}
    assert {name: tensor.storage for name, tensor in tensors.items()} == {
        "raw": "raw_data",
        "typed": "float_data",
        "text": "string_data",
        "none": "none",
        "outside": "external",
        "part": "none",
    }
    assert "8 bytes are stored where 24 are claimed" in messages(model)
    external = tensors["outside"].external
    assert external is not None
    assert (external.location, external.offset, external.length) == ("w.bin", 16, 8)
    assert len(external.entries) == 4
    assert tensors["part"].segment is not None
    assert tensors["part"].segment.end == 5


@pytest.mark.parametrize(
    "name", also_beside(["subgraph_shadow", "attr_oddities", "invalid_utf8"], "hostile/{}.onnx")
)
def test_hostile_files_of_the_corpus_open(name: str) -> None:
    model = load(corpus_file(name))
    assert len(list(model.all_warnings())) < 100
    assert all(isinstance(v, Value) for graph in model.graphs for v in graph.values.values())


def test_what_value_info_says_is_kept_whoever_has_the_name() -> None:
    proto = onnx_pb2.ModelProto(ir_version=8)
    graph = proto.graph
    graph.input.add(name="x")
    graph.initializer.add(name="w", data_type=1, dims=[1], raw_data=bytes(4))
    for name, doc in (("x", "in"), ("w", "weight"), ("m", "first"), ("m", "second"), ("lone", "l")):
        info = graph.value_info.add(name=name, doc_string=doc)
        info.type.tensor_type.elem_type = 1 if doc != "second" else 7
        info.metadata_props.add(key="k", value=doc)
    graph.node.add(op_type="Add", input=["x", "w"], output=["m"])
    graph.node.add(op_type="Relu", input=["m"], output=["y"])
    said = graph.output.add(name="y")
    said.type.tensor_type.elem_type = 10
    graph.value_info.add(name="y").type.tensor_type.elem_type = 1
    values = load(proto.SerializeToString()).graph.values
    assert {name: value.doc for name, value in values.items()} == {
        "x": "in", "w": "weight", "m": "second", "lone": "l", "y": "",
    }  # fmt: skip
    assert values["m"].metadata == {"k": "second"}
    assert str(values["m"].type) == "int64"
    assert str(values["x"].type) == "float32"
    assert str(values["y"].type) == "float16"  # what the output says counts
    assert values["m"].producer is not None
    assert values["lone"].producer is None


def test_what_is_set_of_a_value_is_not_read_over() -> None:
    proto = onnx_pb2.ModelProto(ir_version=8)
    info = proto.graph.value_info.add(name="m", doc_string="said")
    info.type.tensor_type.elem_type = 1
    proto.graph.node.add(op_type="Relu", input=["x"], output=["m"])
    value = load(proto.SerializeToString()).graph.values["m"]
    value.type = None
    assert value.type is None
    assert value.doc == "said"


def test_uses_in_any_order_are_noted_in_the_order_of_the_file() -> None:
    """From the first use before its definition on, inputs are found in a second walk."""
    proto = onnx_pb2.ModelProto(ir_version=8)
    graph = proto.graph
    graph.input.add(name="x")
    graph.node.add(op_type="Clip", name="a", input=["x", "", "x"], output=["p", "", "q"])
    graph.node.add(op_type="Add", name="b", input=["late", "x"], output=["r"])
    graph.node.add(op_type="Add", name="c", input=["x", "p"], output=["late"])
    graph.node.add(op_type="Add", name="d", input=["nowhere", "x"], output=["p"])
    graph.node.add(op_type="Relu", name="e", input=["p"], output=["s"])
    read = load(proto.SerializeToString()).graph
    x, late, first = read.values["x"], read.values["late"], read.values["p"]
    assert [(node.name, index) for node, index in x.consumers] == [
        ("a", 0), ("a", 2), ("b", 1), ("c", 0), ("d", 1),
    ]  # fmt: skip
    assert [node.name for node in x.users] == ["a", "b", "c", "d"]
    assert read.nodes[0].inputs == (x, None, x)
    assert [out and out.name for out in read.nodes[0].outputs] == ["p", None, "q"]
    assert late.users == (read.nodes[1],)
    assert first.users == (read.nodes[2],)
    assert read.nodes[4].inputs == (read.values["p#2"],)
    assert not read.values["s"].is_used
    assert [warning.message for warning in read.warnings] == [
        "uses %late before main/c gives it",
        "uses %nowhere, which nothing defines",
    ]
    assert [(warning.path, warning.message) for warning in read.nodes[3].warnings] == [
        ("main/d", "defines %p, which is defined before"),
    ]


def test_names_that_are_no_text_are_found_all_the_same() -> None:
    data = onnx_pb2.ModelProto(ir_version=8)
    data.graph.node.add(op_type="Relu", input=["x"], output=["v?"])
    data.graph.node.add(op_type="Relu", input=["v?"], output=["y"])
    data.graph.value_info.add(name="v?", doc_string="odd")
    graph = load(data.SerializeToString().replace(b"v?", b"v\xff")).graph
    value = graph.values["v\\xff"]
    assert (value.producer, value.users) == (graph.nodes[0], (graph.nodes[1],))
    assert value.doc == "odd"


def test_domains_and_overloads_of_some_nodes_only() -> None:
    proto = onnx_pb2.ModelProto(ir_version=8)
    proto.graph.node.add(op_type="A", domain="d", overload="o")
    proto.graph.node.add(op_type="B")
    nodes = load(proto.SerializeToString()).graph.nodes
    assert [(node.domain, node.overload) for node in nodes] == [("d", "o"), ("", "")]


def test_an_output_that_is_listed_twice_is_said_where_its_types_differ() -> None:
    node = helper.make_node("Relu", ["x"], ["y"])
    outputs = [helper.make_tensor_value_info("y", kind, [2]) for kind in (1, 1, 7)]
    told = {}
    for count in (1, 2, 3):
        model = load(helper.make_model(helper.make_graph([node], "g", [], outputs[-count:])))
        told[count] = [w.message for w in model.all_warnings() if "twice" in w.message]
    assert told[1] == []
    differing = "is listed twice as an output, as float32[2] and as int64[2]; the last counts"
    assert told[2] == [differing]
    assert told[3] == [differing]


def test_a_value_that_is_defined_twice_keeps_its_name() -> None:
    nodes = [helper.make_node(kind, ["x"], ["3128"]) for kind in ("Relu", "Abs", "Neg")]
    nodes.insert(0, helper.make_node("Exp", ["x"], ["3128#2"]))
    out = helper.make_tensor_value_info("3128", 7, [2])
    model = load(helper.make_model(helper.make_graph(nodes, "g", [], [out])))
    values = [node.outputs[0] for node in model.graph.nodes]
    assert [value.name for value in values] == ["3128#2", "3128", "3128", "3128"]
    paths = [value.path for value in values]
    assert paths == ["main/%3128#2", "main/%3128", "main/%3128#3", "main/%3128#4"]
    assert [model[path] for path in paths] == values
    assert str(values[-1].type) == "int64[2]"  # what is said of the output is said of the last
    told = to_json(describe_path(model, paths[-1]))
    assert (told["name"], told["path"]) == ("3128", "main/%3128#4")


def test_a_fact_of_a_tensor_that_another_thread_has_read_meanwhile_is_given() -> None:
    model = load_text("g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Add (x, w) }")
    tensor = model.graph.initializers[0]
    assert tensor.doc == ""  # all of it is read now
    # where two threads ask for the first fact, the slower one comes here after that
    assert tensor.__getattr__("dtype") is tensor.dtype
    with pytest.raises(AttributeError, match="a tensor has no attribute 'shade'"):
        tensor.shade  # noqa: B018
