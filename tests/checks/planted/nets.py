"""Faults of Caffe2 nets: a net and its init net."""

from __future__ import annotations

from typing import Any

from netloupe.proto import caffe2_pb2
from tests.corpus import corpus_file

from .editing import Fault

#: nets that faults are planted in, by folder
NETS = {"net": "resnet50/predict_net.pbtxt", "int8 net": "mobilenet_int8/predict_net.pb"}


class NetEditor:
    """Finds and changes operators of a net and of its init net.

    Parameters
    ----------
    name
        Of the net.
    """

    def __init__(self, name: str) -> None:
        from google.protobuf import text_format

        file = corpus_file(f"caffe2/{NETS[name]}")
        self.net = caffe2_pb2.NetDef()
        if file.suffix == ".pbtxt":
            text_format.Parse(file.read_text(), self.net)
        else:
            self.net.ParseFromString(file.read_bytes())
        self.init = caffe2_pb2.NetDef.FromString(file.with_name("init_net.pb").read_bytes())

    def op(self, output: str) -> Any:
        """Return the operator that gives a blob first."""
        ops = (*self.net.op, *self.init.op)
        return next(op for op in ops if output in op.output)

    def argument(self, output: str, name: str) -> Any:
        """Return an argument of the operator that gives a blob."""
        return next(argument for argument in self.op(output).arg if argument.name == name)


def _drop_argument(editor: NetEditor, output: str, name: str) -> None:
    editor.op(output).arg.remove(editor.argument(output, name))


def _drop_fill(editor: NetEditor) -> None:
    editor.init.op.remove(editor.op("res3_1_branch2a_w"))


def _add_gradient(editor: NetEditor) -> None:
    """Give the net the gradient of its last layer, as a net of training has it."""
    inputs = ["pool5", "pred_w", "prob"]
    outputs = ["pred_w_grad", "pred_b_grad"]
    made = editor.net.op.add(type="FCGradient", input=inputs, output=outputs)
    made.is_gradient_op = True
    editor.net.external_output.extend(outputs)


def _move(editor: NetEditor) -> None:
    editor.op("res3_1_branch2a").device_option.device_type = 1


def _overwrite(value: float, name: str) -> Any:
    def plant(editor: NetEditor) -> None:
        argument = editor.argument("block3_project", name)
        if name == "Y_scale":
            argument.f = value
        else:
            argument.i = int(value)

    return plant


def _leave_weight(editor: NetEditor) -> None:
    fill = editor.init.op.add()
    fill.CopyFrom(editor.op("res3_1_branch2a_w"))
    fill.output[0] = "left_over"


def _take_nothing(editor: NetEditor) -> None:
    editor.op("res3_1_branch2b").input[0] = "renamed_by_hand"
    editor.net.external_output.append("res3_1_branch2a")


def _fill_nan(editor: NetEditor) -> None:
    editor.argument("res3_1_branch2a_w", "values").floats[1] = float("nan")


FAULTS = (
    Fault(
        "NL-C01",
        "a norm of training",
        "net",
        lambda editor: _drop_argument(editor, "res3_1_branch2a_bn", "is_test"),
    ),
    Fault("NL-C02", "a weight is filled by nothing", "net", _drop_fill),
    Fault("NL-C03", "a gradient is left", "net", _add_gradient),
    Fault(
        "NL-C04",
        "an operator states no scale",
        "int8 net",
        lambda editor: _drop_argument(editor, "block3_project", "Y_scale"),
    ),
    Fault("NL-C04", "a scale is 0", "int8 net", _overwrite(0.0, "Y_scale")),
    Fault("NL-C04", "a zero point is no byte", "int8 net", _overwrite(300, "Y_zero_point")),
    Fault("NL-C05", "an operator is on another device", "net", _move),
    Fault("NL-G02", "a fill is left over", "net", _leave_weight),
    Fault("NL-L01", "an operator takes a blob that nothing gives", "net", _take_nothing),
    Fault("NL-N01", "a weight has a NaN", "net", _fill_nan),
)
