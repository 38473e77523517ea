"""Faults of structure: names, wiring, attributes, bodies, functions and types."""

from __future__ import annotations

import onnx
from onnx import TensorProto, helper

from .editing import Editor, Fault

_LAYER = "/model/encoder/layer.3"
_GELU = f"{_LAYER}/intermediate/intermediate_act_fn"
_WEIGHT = "model.encoder.layer.3.intermediate.dense.bias"


def _undefine(editor: Editor) -> None:
    node = editor.node(f"{_LAYER}/output/Add")
    node.input[1] = "renamed_by_hand"


def _swap(editor: Editor) -> None:
    place = editor.place(f"{_GELU}/Erf")
    before = onnx.NodeProto()
    before.CopyFrom(editor.graph.node[place - 1])
    editor.graph.node[place - 1].CopyFrom(editor.graph.node[place])
    editor.graph.node[place].CopyFrom(before)


def _double_weight(editor: Editor) -> None:
    editor.graph.initializer.add().CopyFrom(editor.weight(_WEIGHT))


def _double_node(editor: Editor) -> None:
    place = editor.place(f"{_GELU}/Erf")
    copied = onnx.NodeProto()
    copied.CopyFrom(editor.graph.node[place])
    copied.name += "_copy"
    editor.graph.node.insert(place + 1, copied)


def _cut(editor: Editor) -> None:
    tensor = editor.weight(_WEIGHT)
    tensor.raw_data = tensor.raw_data[:-4]


def _store_twice(editor: Editor) -> None:
    editor.weight("stem.0.conv.bias").float_data.extend([0.5] * 12)


def _contradict(editor: Editor) -> None:
    (attribute,) = (a for a in editor.node("node_conv2d_2").attribute if a.name == "group")
    attribute.type = onnx.AttributeProto.FLOAT


def _close_circle(editor: Editor) -> None:
    editor.node(f"{_GELU}/Mul").input[0] = f"{_GELU}/Mul_1_output_0"


def _share_name(editor: Editor) -> None:
    editor.node(f"{_GELU}/Div").name = f"{_GELU}/Erf"


def _hide(editor: Editor) -> None:
    body = editor.node("/loop/Loop").attribute[0].g
    for node in body.node:
        node.output[:] = ["start" if name == "rest" else name for name in node.output]
        node.input[:] = ["start" if name == "rest" else name for name in node.input]


def _unname_input(editor: Editor) -> None:
    editor.graph.output.append(helper.make_tensor_value_info("", TensorProto.FLOAT, ["N"]))


def _function(editor: Editor, name: str) -> onnx.FunctionProto:
    (found,) = (function for function in editor.proto.functions if function.name == name)
    return found


def _call_itself(editor: Editor) -> None:
    function = _function(editor, "Gelu")
    erf = next(node for node in function.node if node.op_type == "Erf")
    erf.op_type, erf.domain = "Gelu", "local"
    function.opset_import.append(helper.make_opsetid("local", 1))


def _call_nothing(editor: Editor) -> None:
    editor.node("layers.5").op_type = "Blok"


def _forget_import(editor: Editor) -> None:
    kept = [opset for opset in editor.proto.opset_import if opset.domain != "com.microsoft"]
    del editor.proto.opset_import[:]
    editor.proto.opset_import.extend(kept)


def _name_badly(editor: Editor) -> None:
    editor.node(f"{_GELU}/Erf").name = "Erf_QQQQ"


def _deepen(editor: Editor) -> None:
    editor.weight(_WEIGHT).dims[:] = [*[1] * 64, 192]


def _empty(editor: Editor) -> None:
    editor.weight(_WEIGHT).ClearField("raw_data")


def _take_standard_name(editor: Editor) -> None:
    for function in editor.proto.functions:
        if function.name == "Norm":
            function.name, function.domain = "GroupNormalization", ""
        for node in function.node:
            if node.op_type == "Norm":
                node.op_type, node.domain = "GroupNormalization", ""


def _annotate(editor: Editor) -> None:
    annotation = editor.graph.quantization_annotation.add(tensor_name="gone")
    annotation.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="stem.0.conv.bias")


def _double_function(editor: Editor) -> None:
    editor.proto.functions.add().CopyFrom(_function(editor, "Gelu"))


def _misspell(editor: Editor) -> None:
    editor.node(f"{_GELU}/Erf").op_type = "Erff"


def _use_newer(editor: Editor) -> None:
    gelu = editor.node(f"{_GELU}/Erf")
    gelu.op_type = "Gelu"  # since operator set 20; 17 is imported


def _use_deprecated(editor: Editor) -> None:
    resize = next(node for node in editor.graph.node if node.op_type == "Resize")
    resize.op_type = "Upsample"
    resize.input[:] = [resize.input[0], resize.input[-1]]
    kept = [attribute for attribute in resize.attribute if attribute.name == "mode"]
    del resize.attribute[:]
    resize.attribute.extend(kept)


def _give_too_much(editor: Editor) -> None:
    editor.node("node_relu_2").input.append("conv2d_1")


def _leave_out(editor: Editor) -> None:
    editor.node("node_conv2d").input[1] = ""
    editor.graph.initializer.remove(editor.weight("stem.0.conv.weight"))


def _drop_attribute(editor: Editor) -> None:
    del editor.node("/model/embeddings/Concat").attribute[:]


def _add_attribute(editor: Editor) -> None:
    editor.set_attribute("node_relu", "alpha", 0.1)


def _change_kind(editor: Editor) -> None:
    editor.set_attribute("node_linear", "transB", 1.0)


def _misspell_padding(editor: Editor) -> None:
    editor.set_attribute("node_conv2d_2", "auto_pad", "SAME")


def _cast_to_nothing(editor: Editor) -> None:
    node = next(node for node in editor.graph.node if node.op_type == "Cast")
    editor.set_attribute(node.name, "to", 99)


def _give_more_in_branch(editor: Editor) -> None:
    body = editor.node("/loop/Loop").attribute[0].g
    branch = next(node for node in body.node if node.op_type == "If").attribute[0].g
    branch.output.append(helper.make_tensor_value_info("rows", TensorProto.FLOAT, None))


def _take_input_in_branch(editor: Editor) -> None:
    body = editor.node("/loop/Loop").attribute[0].g
    branch = next(node for node in body.node if node.op_type == "If").attribute[0].g
    branch.input.append(helper.make_tensor_value_info("more", TensorProto.FLOAT, [4]))


def _take_less_in_loop(editor: Editor) -> None:
    body = editor.node("/loop/Loop").attribute[0].g
    body.output.append(helper.make_tensor_value_info("rest", TensorProto.INT64, []))


def _declare(dtype: int, dims: list[int]) -> Fault:
    def plant(editor: Editor) -> None:
        editor.graph.value_info.append(helper.make_tensor_value_info(_WEIGHT, dtype, dims))

    kind = "dtype" if dtype != TensorProto.FLOAT else "shape"
    return Fault("NL-L36", f"an initializer is declared with another {kind}", "bert", plant)


def _import_twice(editor: Editor) -> None:
    editor.proto.opset_import.append(helper.make_opsetid("", 19))


def _claim_unknown_type(editor: Editor) -> None:
    editor.weight("stem.0.conv.bias").data_type = 99


FAULTS = (
    Fault("NL-L01", "a node takes a value that nothing gives", "bert", _undefine),
    Fault("NL-L02", "two nodes are the wrong way round", "bert", _swap),
    Fault("NL-L03", "an initializer is there twice", "bert", _double_weight),
    Fault(
        "NL-L03",
        "two nodes give one value",
        "bert",
        _double_node,
        implied=frozenset({"NL-G01", "NL-G07"}),  # nothing can read the second, which is a copy
    ),
    Fault("NL-L04", "a weight lacks its last element", "bert", _cut),
    Fault("NL-L04", "a weight is stored in two fields", "cnn", _store_twice),
    Fault(
        "NL-L05",
        "an attribute says float and holds an integer",
        "cnn",
        _contradict,
        implied=frozenset({"NL-L33"}),  # what it says it is, the operator does not take
    ),
    Fault(
        "NL-L06",
        "GELU takes its own result",
        "bert",
        _close_circle,
        implied=frozenset({"NL-L02"}),  # in a circle one node always comes too early
    ),
    Fault("NL-L07", "two nodes have one name", "bert", _share_name),
    Fault("NL-L08", "a value of a loop's body hides an input", "control", _hide),
    Fault("NL-L09", "an output has no name", "cnn", _unname_input),
    Fault("NL-L10", "a function calls itself", "functions", _call_itself),
    Fault("NL-L11", "a call names no function", "functions", _call_nothing),
    Fault("NL-L12", "an operator set is not imported", "int4", _forget_import),
    Fault(
        "NL-L13",
        "a name is not UTF-8",
        "bert",
        _name_badly,
        patch=lambda data: data.replace(b"Erf_QQQQ", b"Erf_\xff\xfe\xff\xfe"),
    ),
    Fault("NL-L14", "a bias has 65 dimensions", "bert", _deepen),
    Fault("NL-L15", "a weight has no elements", "bert", _empty),
    Fault("NL-L16", "a function takes a standard name", "functions", _take_standard_name),
    Fault("NL-L17", "an annotation names nothing", "cnn", _annotate),
    Fault(
        "NL-L18",
        "the IR version is missing",
        "cnn",
        lambda editor: editor.proto.ClearField("ir_version"),
    ),
    Fault("NL-L19", "an operator set is imported twice", "cnn", _import_twice),
    Fault("NL-L20", "a function is there twice", "functions", _double_function),
    Fault(
        "NL-L21",
        "the model has a field of no schema",
        "cnn",
        patch=lambda data: data + b"\xf2\x3e\x03abc",  # field 1006
    ),
    Fault(
        "NL-L23",
        "another model's header is appended",
        "bert",
        patch=lambda data: data + onnx.ModelProto(producer_name="other").SerializeToString(),
    ),
    Fault("NL-L30", "an operator is misspelt", "bert", _misspell),
    Fault("NL-L30", "an operator is newer than its set", "bert", _use_newer),
    Fault("NL-L31", "an operator is deprecated", "yolo", _use_deprecated),
    Fault("NL-L32", "Relu has two inputs", "cnn", _give_too_much),
    Fault("NL-L32", "Conv has no weight", "cnn", _leave_out),
    Fault("NL-L33", "Concat has no axis", "bert", _drop_attribute),
    Fault("NL-L33", "Relu has a slope", "cnn", _add_attribute),
    Fault("NL-L33", "transB is a float", "cnn", _change_kind),
    Fault("NL-L41", "Conv has a padding of no known kind", "cnn", _misspell_padding),
    Fault("NL-L41", "Cast is to no type", "gpt2", _cast_to_nothing),
    Fault("NL-L34", "a branch gives more than the node", "control", _give_more_in_branch),
    Fault("NL-L34", "a branch has an input", "control", _take_input_in_branch),
    Fault("NL-L35", "a body of Loop gives too much", "control", _take_less_in_loop),
    _declare(TensorProto.FLOAT16, [192]),
    _declare(TensorProto.FLOAT, [48]),
)
