"""Faults of waste, of exporting, of interfaces, portability and security."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from .editing import Editor, Fault

_LAYER = "/model/encoder/layer.3"
_GELU = f"{_LAYER}/intermediate/intermediate_act_fn"
_RELU = "node_relu"  # of the stem of the convolutional network


def _make(op_type: str, inputs: list[str], output: str, **attributes: object) -> onnx.NodeProto:
    return helper.make_node(op_type, inputs, [output], name=output, **attributes)


# waste


def _add_dead(editor: Editor) -> None:
    editor.add_nodes(_make("Abs", ["relu"], "nobody_reads"), before="node_conv2d_1")


def _add_unused(editor: Editor) -> None:
    editor.add_weight("left_over", np.arange(4096, dtype=np.float32))


def _copy_table(editor: Editor) -> None:
    """Enlarge pictures to 256 pixels either way, with equal tables of columns and rows."""
    table = np.arange(256) // 32
    columns, rows = editor.add_weight("columns", table), editor.add_weight("rows", table)
    editor.insert(_RELU, "Gather", [columns], axis=3)
    editor.insert(f"{_RELU}.Gather", "Gather", [rows], axis=2)


def _insert_identity(editor: Editor) -> None:
    editor.insert(_RELU, "Identity")


def _insert_equal_cast(editor: Editor) -> None:
    editor.insert(_RELU, "Cast", to=TensorProto.FLOAT)


def _insert_empty_pad(editor: Editor) -> None:
    pads = editor.add_weight("no_pads", np.zeros(8, np.int64))
    editor.insert(_RELU, "Pad", [pads])


def _turn_and_back(editor: Editor) -> None:
    editor.insert(_RELU, "Transpose", perm=[0, 2, 3, 1])
    editor.insert(f"{_RELU}.Transpose", "Transpose", perm=[0, 3, 1, 2])


def _cast_and_back(editor: Editor) -> None:
    editor.insert(_RELU, "Cast", to=TensorProto.FLOAT16)
    editor.insert(f"{_RELU}.Cast", "Cast", to=TensorProto.FLOAT)


def _compute_again(editor: Editor) -> None:
    """Give the second reader of a value a computation of its own."""
    copied = onnx.NodeProto()
    copied.CopyFrom(editor.node("node_relu_1"))
    copied.name, copied.output[0] = "again", "relu_1_again"
    editor.node("node_add_65").input[0] = "relu_1_again"
    editor.add_nodes(copied, before="node_add_65")


def _fold_not(editor: Editor) -> None:
    half = editor.add_weight("half", np.float32(0.5))
    product = _make("Mul", ["stem.0.conv.weight", half], "halved")
    editor.add_nodes(product, before="node_conv2d")
    editor.node("node_conv2d").input[1] = "halved"


def _add_norm(editor: Editor) -> None:
    rng = np.random.default_rng(0)
    names = [
        editor.add_weight(f"norm_{part}", rng.uniform(0.5, 1.5, 12).astype(np.float32))
        for part in ("scale", "bias", "mean", "variance")
    ]
    editor.insert("node_conv2d", "BatchNormalization", names)


def _relu_twice(editor: Editor) -> None:
    editor.insert(_RELU, "Relu")


def _store_in_node(editor: Editor) -> None:
    name = "stem.1.conv.weight"
    tensor = onnx.TensorProto()
    tensor.CopyFrom(editor.weight(name))
    editor.graph.initializer.remove(editor.weight(name))
    editor.add_nodes(_make("Constant", [], name, value=tensor), before="node_conv2d")


def _import(domain: str) -> Fault:
    def plant(editor: Editor) -> None:
        editor.proto.opset_import.append(helper.make_opsetid(domain, 1))

    return Fault("NL-G17", "an operator set is imported for nothing", "cnn", plant)


def _add_function(editor: Editor) -> None:
    editor.proto.functions.append(
        helper.make_function(
            *("local", "Left", ["x"], ["y"]),
            [helper.make_node("Abs", ["x"], ["y"])],
            [helper.make_opsetid("", 18)],
        )
    )


# exporting


def _train_norm(editor: Editor) -> None:
    rng = np.random.default_rng(0)
    names = [
        editor.add_weight(f"norm_{part}", rng.uniform(0.5, 1.5, 12).astype(np.float32))
        for part in ("scale", "bias", "mean", "variance")
    ]
    node = editor.insert(_RELU, "BatchNormalization", names, training_mode=1)
    node.output.extend(["new_mean", "new_variance"])


def _train_dropout(editor: Editor) -> None:
    others = [
        editor.add_weight("ratio", np.float32(0.1)),
        editor.add_weight("training", np.array(True)),
    ]
    editor.insert(_RELU, "Dropout", others)


def _fix_condition(editor: Editor) -> None:
    body = editor.node("/loop/Loop").attribute[0].g
    branching = next(node for node in body.node if node.op_type == "If")
    body.initializer.append(numpy_helper.from_array(np.array(True), "always"))
    for name in ("/loop/body/Mod", "/loop/body/Cast"):
        body.node.remove(next(node for node in body.node if node.name == name))
    del body.initializer[[t.name for t in body.initializer].index("two")]
    branching.input[0] = "always"


def _bake_batch(editor: Editor) -> None:
    name = f"{_LAYER}/attention/self/Reshape_4"
    editor.node(name).input[1] = editor.add_weight("traced", np.array([2, 16, 48]))
    used = {name for node in editor.graph.node for name in node.input}
    used |= {value.name for value in editor.graph.output}
    while True:  # what computed the shape is gone, as after folding
        dead = [n for n in editor.graph.node if not used.intersection(n.output)]
        if not dead:
            return
        for node in dead:
            editor.graph.node.remove(node)
        used = {name for node in editor.graph.node for name in node.input}
        used |= {value.name for value in editor.graph.output}


def _untie(editor: Editor) -> None:
    table = editor.read("model.embeddings.word_embeddings.weight")
    head = editor.add_weight("head_weight", np.ascontiguousarray(table.T))
    editor.graph.node.append(_make("MatMul", ["last_hidden_state", head], "logits"))
    editor.graph.output.append(
        helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", "sequence", 1000])
    )


def _normalize_twice(editor: Editor) -> None:
    editor.insert(f"{_LAYER}/attention/self/Softmax", "Softmax", axis=-1)


def _add_noise(editor: Editor) -> None:
    noise = _make("RandomNormalLike", ["relu"], "noise", scale=0.1)
    editor.add_nodes(noise, before="node_conv2d_1")
    editor.insert(_RELU, "Add", ["noise"])
    noise_node = editor.node("noise")
    noise_node.input[0] = "relu"
    editor.graph.node.remove(noise_node)
    editor.graph.node.insert(editor.place(_RELU) + 1, noise)


def _trace_expansion(editor: Editor) -> None:
    shape = editor.add_weight("traced_shape", np.array([8, 12, 8, 8]))
    editor.insert(_RELU, "Expand", [shape])


def _write_out(editor: Editor) -> None:
    """Write a LayerNormalization out, as exporters did before operator set 17."""
    name = f"{_LAYER}/output/LayerNorm/LayerNormalization"
    node = editor.node(name)
    taken, scale, shift, given = node.input[0], node.input[1], node.input[2], node.output[0]
    two = editor.add_weight("two", np.float32(2))
    epsilon = editor.add_weight("epsilon", np.float32(1e-12))
    steps = [
        ("ReduceMean", [taken], "mean", {"axes": [-1]}),
        ("Sub", [taken, "mean"], "centred", {}),
        ("Pow", ["centred", two], "squares", {}),
        ("ReduceMean", ["squares"], "variance", {"axes": [-1]}),
        ("Add", ["variance", epsilon], "safe", {}),
        ("Sqrt", ["safe"], "deviation", {}),
        ("Div", ["centred", "deviation"], "normal", {}),
        ("Mul", ["normal", scale], "scaled", {}),
        ("Add", ["scaled", shift], given, {}),
    ]
    made = [
        helper.make_node(kind, inputs, [output], name=f"{name}/{kind}_{number}", **attributes)
        for number, (kind, inputs, output, attributes) in enumerate(steps)
    ]
    editor.add_nodes(*made, before=name)
    editor.graph.node.remove(node)


def _denote(editor: Editor, *names: str) -> None:
    dims = editor.value("image").type.tensor_type.shape.dim
    for dim, name in zip(dims, names, strict=True):
        dim.denotation = name


_NCHW = ("DATA_BATCH", "DATA_CHANNEL", "DATA_FEATURE", "DATA_FEATURE")
_NHWC = ("DATA_BATCH", "DATA_FEATURE", "DATA_FEATURE", "DATA_CHANNEL")


def _transpose_denoted(editor: Editor) -> None:
    """Turn a picture to N×H×W×C and back too far, and pool it along its channels."""
    _denote(editor, *_NCHW)
    editor.insert("node_relu", "Transpose", perm=[0, 2, 1, 3])


def _misdenote(editor: Editor) -> None:
    _denote(editor, "DATA_BATCH", "DATA_CHANNEL", "DATA_FEATURE", "WIDTH")


def _denote_last(editor: Editor) -> None:
    """Denote the input as if its channels came last; it says nowhere how many there are."""
    dims = editor.value("image").type.tensor_type.shape.dim
    dims[3].ClearField("dim_value")
    dims[3].dim_param = "channels"
    _denote(editor, *_NHWC)


# interface


def _add_input(editor: Editor) -> None:
    extra = helper.make_tensor_value_info("unused", TensorProto.FLOAT, ["N", 3])
    editor.graph.input.append(extra)


def _pass_on(editor: Editor) -> None:
    editor.graph.output.add().CopyFrom(editor.value("image"))


def _give_constant(editor: Editor) -> None:
    editor.graph.output.append(
        helper.make_tensor_value_info("stem.0.conv.bias", TensorProto.FLOAT, [12])
    )


def _list_weights(editor: Editor) -> None:
    for tensor in editor.graph.initializer:
        editor.graph.input.append(
            helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims))
        )


# portability


def _make_older(editor: Editor) -> None:
    editor.proto.opset_import[0].version = 6


def _compute_wide(editor: Editor) -> None:
    editor.insert(_RELU, "Cast", to=TensorProto.DOUBLE)
    editor.insert(f"{_RELU}.Cast", "Erf")  # which is there for float32 alone
    editor.insert(f"{_RELU}.Cast.Erf", "Cast", to=TensorProto.FLOAT)


def _use_plugin(editor: Editor) -> None:
    node = editor.node("node_relu")
    node.op_type, node.domain = "FancyRelu", "com.example"
    editor.proto.opset_import.append(helper.make_opsetid("com.example", 1))


def _use_contrib(editor: Editor) -> None:
    node = editor.node("node_relu")
    node.op_type, node.domain = "FastGelu", "com.microsoft"
    editor.proto.opset_import.append(helper.make_opsetid("com.microsoft", 1))


# security


def _lead_out(editor: Editor) -> None:
    tensor = editor.weight("stem.1.conv.weight")
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="../../../etc/passwd")


def _lose_file(editor: Editor) -> None:
    tensor = editor.weight("stem.1.conv.weight")
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="weights.bin")


def _run_python(editor: Editor) -> None:
    node = editor.node("node_relu")
    node.op_type, node.domain = "PyOp", "com.microsoft"
    editor.proto.opset_import.append(helper.make_opsetid("com.microsoft", 1))


def _hide_program(editor: Editor) -> None:
    name = next(node.name for node in editor.graph.node if node.op_type == "MatMulNBits")
    editor.set_attribute(name, "note", "import os; os.system('id')")


def _metadata(rule: str, what: str, text: str) -> Fault:
    def plant(editor: Editor) -> None:
        editor.proto.metadata_props.add(key="exported_by", value=text)

    return Fault(rule, what, "cnn", plant)


def _fill(editor: Editor) -> None:
    sizes = editor.add_weight("sizes", np.array([1, 32768, 32768]))
    bomb = _make("ConstantOfShape", [sizes], "ones")
    brightest = _make("ReduceMax", ["image"], "brightest", keepdims=0)
    brighter = _make("Mul", ["ones", "brightest"], "brighter")
    smallest = _make("ReduceMin", ["brighter"], "smallest", keepdims=0)
    editor.add_nodes(bomb, brightest, brighter, smallest, before="node_relu")
    node = editor.node("node_relu")
    node.op_type = "Add"
    node.input.append("smallest")


FAULTS = (
    Fault("NL-G01", "a node is read by nobody", "cnn", _add_dead),
    Fault("NL-G02", "a weight is left over", "cnn", _add_unused),
    Fault(
        "NL-G03",
        "two nodes have one table, stored twice",
        "cnn",
        _copy_table,
        implied=frozenset({"NL-T05"}),  # the table makes the picture larger
    ),
    Fault("NL-G04", "an Identity is left", "cnn", _insert_identity),
    Fault("NL-G04", "a Cast to the type that is there", "cnn", _insert_equal_cast),
    Fault("NL-G04", "a Pad of nothing", "cnn", _insert_empty_pad),
    Fault("NL-G05", "a Transpose and back", "cnn", _turn_and_back),
    Fault("NL-G06", "a Cast to float16 and back", "cnn", _cast_and_back),
    Fault("NL-G07", "a Relu is computed for each reader", "cnn", _compute_again),
    Fault("NL-G08", "a weight is scaled at run time", "cnn", _fold_not),
    Fault("NL-G10", "a norm behind a convolution", "cnn", _add_norm),
    Fault("NL-G15", "Relu of Relu", "cnn", _relu_twice),
    Fault("NL-G16", "a weight in the attribute of a Constant", "cnn", _store_in_node),
    _import("com.example"),
    Fault("NL-G18", "a function that nothing calls", "functions", _add_function),
    Fault("NL-X01", "a norm of training", "cnn", _train_norm),
    Fault("NL-X01", "a Dropout of training", "cnn", _train_dropout),
    Fault("NL-X02", "an If that is always true", "control", _fix_condition),
    Fault("NL-X03", "a traced batch in a Reshape", "bert", _bake_batch),
    Fault("NL-X04", "an output layer with its own copy of the embedding", "bert", _untie),
    Fault("NL-X05", "Softmax of Softmax", "bert", _normalize_twice),
    Fault("NL-X06", "noise without a seed", "cnn", _add_noise),
    Fault("NL-X07", "a traced batch in an Expand", "cnn", _trace_expansion),
    Fault("NL-G14", "a norm is written out", "bert", _write_out),
    Fault("NL-D01", "an axis is denoted as nothing that is known", "cnn", _misdenote),
    Fault(
        "NL-D02",
        "a turned picture is pooled",
        "cnn",
        _transpose_denoted,
        implied=frozenset({"NL-T05", "NL-T14"}),  # what follows has other channels, and sizes
    ),
    Fault("NL-D02", "a picture is denoted with its channels last", "cnn", _denote_last),
    Fault(
        "NL-I01",
        "an output has no type",
        "cnn",
        lambda editor: editor.value("logits").ClearField("type"),
    ),
    Fault(
        "NL-I02",
        "an output has no shape",
        "cnn",
        lambda editor: editor.value("logits").type.tensor_type.ClearField("shape"),
    ),
    Fault(
        "NL-I03",
        "an axis of an input has no name",
        "bert",
        lambda editor: (
            editor.value("attention_mask").type.tensor_type.shape.dim[0].ClearField("dim_param")
        ),
    ),
    Fault("NL-I04", "an input is not used", "cnn", _add_input),
    Fault("NL-I05", "an input is an output", "cnn", _pass_on),
    Fault("NL-I06", "an output is a constant", "cnn", _give_constant),
    Fault("NL-I07", "all weights are inputs too", "cnn", _list_weights),
    Fault(
        "NL-P01",
        "the IR is newer than the target reads",
        "cnn",
        lambda editor: setattr(editor.proto, "ir_version", 11),
        target="ort-1.20",
    ),
    Fault(
        "NL-P02",
        "the operator set is newer than the target has",
        "functions",
        lambda editor: setattr(editor.proto.opset_import[0], "version", 22),
        target="ort-1.20",
    ),
    Fault(
        "NL-P03",
        "the operator set is older than ONNX Runtime has",
        "old",
        _make_older,
        # ConstantOfShape came with operator set 9, and Dropout of 6 trains unless told otherwise
        implied=frozenset({"NL-L30", "NL-X01"}),
    ),
    Fault("NL-P04", "an operator of a plugin", "cnn", _use_plugin),
    Fault("NL-P06", "a type without a kernel", "cnn", _compute_wide, target="ort-1.32"),
    Fault("NL-P05", "an operator of ONNX Runtime alone", "cnn", _use_contrib),
    Fault("NL-S01", "a weight in a file out of the folder", "cnn", _lead_out),
    Fault("NL-S01", "a weight in a file that is not there", "cnn", _lose_file),
    Fault(
        "NL-S02",
        "an operator that runs Python",
        "cnn",
        _run_python,
        implied=frozenset({"NL-P04"}),  # of the domain of ONNX Runtime, whose wheels lack it
    ),
    Fault(  # the attribute is one that the operator does not have
        "NL-S03", "a program in an attribute", "int4", _hide_program, frozenset({"NL-L33"})
    ),
    _metadata("NL-S04", "a home folder in metadata", "/home/alice/checkpoints/best.pt"),
    _metadata("NL-S05", "a script in metadata", "<script>alert(1)</script>"),
    _metadata("NL-S06", "metadata of a megabyte", "x" * (2**20 + 1)),
    Fault("NL-S07", "a fill of four gigabytes", "cnn", _fill),
)
