"""Caffe2 nets: well-known architectures, int8, control flow, fills, gradients; binary and text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from google.protobuf import text_format

from netloupe.proto import caffe2_pb2

_FOLDER = "caffe2"


class _Builder:
    """A net that grows operator by operator, and the fills of its weights."""

    def __init__(self, name: str) -> None:
        self.net = caffe2_pb2.NetDef(name=name, external_input=["data"])
        self.init = caffe2_pb2.NetDef(name=f"{name}_init")

    def add(self, kind: str, inputs: list[str], output: str, **arguments: Any) -> str:
        """Add an operator; return its output."""
        operator = self.net.op.add(type=kind, input=inputs, output=[output])
        for name, given in arguments.items():
            argument = operator.arg.add(name=name)
            if isinstance(given, str):
                argument.s = given.encode()
            elif isinstance(given, float):
                argument.f = given
            elif isinstance(given, int):
                argument.i = given
            else:
                argument.ints.extend(given)
        return output

    def weight(self, name: str, *dims: int) -> str:
        """Add a weight that the init net fills; return its name."""
        fill = self.init.op.add(type="GivenTensorFill", output=[name])
        fill.arg.add(name="shape").ints.extend(dims)
        values = np.linspace(-1, 1, int(np.prod(dims)), dtype=np.float32)
        fill.arg.add(name="values").floats.extend(values.tolist())
        self.net.external_input.append(name)
        return name

    def convolve(self, x: str, name: str, kernel: int = 3, **arguments: Any) -> str:
        """Add a convolution of two channels."""
        weights = [self.weight(f"{name}_w", 2, 2, kernel, kernel), self.weight(f"{name}_b", 2)]
        arguments = {"kernel": kernel, "pad": kernel // 2, "order": "NCHW"} | arguments
        return self.add("Conv", [x, *weights], name, **arguments)

    def normalize(self, x: str, name: str) -> str:
        """Add a normalization."""
        parts = [self.weight(f"{name}_{part}", 2) for part in ("s", "b", "rm", "riv")]
        return self.add("SpatialBN", [x, *parts], name, is_test=1, epsilon=1e-5)

    def relu(self, x: str) -> str:
        """Add a rectifier in the place of its input."""
        return self.add("Relu", [x], x)

    def classify(self, x: str, name: str, kind: str = "FC") -> str:
        """Add a fully connected layer."""
        return self.add(
            kind, [x, self.weight(f"{name}_w", 4, 2), self.weight(f"{name}_b", 4)], name
        )

    def files(self, text: bool) -> dict[str, bytes]:
        """Return the net, in text or binary, and its init net."""
        last = self.add("Softmax", [self.net.op[-1].output[0]], "prob")
        self.net.external_input.append("label")
        right = self.add("Accuracy", [last, "label"], "accuracy")
        self.net.external_output.extend([last, right])
        if text:
            predict = {"predict_net.pbtxt": text_format.MessageToString(self.net).encode()}
        else:
            predict = {"predict_net.pb": self.net.SerializeToString()}
        return predict | {"init_net.pb": self.init.SerializeToString()}


def _alexnet() -> _Builder:
    net = _Builder("alexnet")
    x = "data"
    for number in range(1, 6):
        x = net.relu(net.convolve(x, f"conv{number}"))
        if number in (1, 2):
            x = net.add("LRN", [x], f"norm{number}", size=5, alpha=1e-4, beta=0.75)
        if number in (1, 2, 5):
            x = net.add("MaxPool", [x], f"pool{number}", kernel=3, stride=2)
    for number in (6, 7):
        x = net.add(
            "Dropout", [net.relu(net.classify(x, f"fc{number}"))], f"drop{number}", is_test=1
        )
    net.classify(x, "fc8")
    return net


def _resnet() -> _Builder:
    """Return bottlenecks in stages of 3, 4, 6 and 3."""
    net = _Builder("resnet50")
    x = net.relu(net.normalize(net.convolve("data", "conv1", 7, stride=2), "bn_conv1"))
    x = net.add("MaxPool", [x], "pool1", kernel=3, stride=2)
    for stage, count in enumerate((3, 4, 6, 3), 2):
        for block in range(count):
            name, shortcut = f"res{stage}_{block}", x
            for part, kernel in (("a", 1), ("b", 3), ("c", 1)):
                branch = f"{name}_branch2{part}"
                x = net.normalize(net.convolve(x, branch, kernel), f"{branch}_bn")
                x = net.relu(x) if part != "c" else x
            if block == 0:
                shortcut = net.convolve(shortcut, f"{name}_branch1", 1)
                shortcut = net.normalize(shortcut, f"{name}_branch1_bn")
            x = net.relu(net.add("Sum", [x, shortcut], f"{name}_sum"))
    net.classify(net.add("AveragePool", [x], "pool5", kernel=7), "pred")
    return net


def _densenet() -> _Builder:
    """Return dense layers in blocks of 6, 12, 24 and 16."""
    net = _Builder("densenet121")
    x = net.add("MaxPool", [net.relu(net.convolve("data", "conv1", 7))], "pool1", kernel=3)
    for block, count in enumerate((6, 12, 24, 16), 2):
        for layer in range(1, count + 1):
            name = f"conv{block}_{layer}"
            h = net.normalize(x, f"{name}_x1_bn")
            h = net.normalize(net.convolve(net.relu(h), f"{name}_x1", 1), f"{name}_x2_bn")
            h = net.convolve(net.relu(h), f"{name}_x2")
            x = net.add("Concat", [x, h], f"concat_{block}_{layer}", axis=1)
        if block < 5:
            x = net.convolve(net.relu(net.normalize(x, f"conv{block}_bn")), f"conv{block}_blk", 1)
            x = net.add("AveragePool", [x], f"pool{block}", kernel=2, stride=2)
    net.classify(net.add("AveragePool", [x], "pool5", global_pooling=1), "fc6")
    return net


def _inception() -> _Builder:
    """Return blocks of four branches, two, five and two of them between pools."""
    net = _Builder("inception")
    x = net.relu(net.convolve("data", "conv1", 7, stride=2))
    for stage, count in enumerate((2, 5, 2), 3):
        for letter in "abcde"[:count]:
            name = f"inception_{stage}{letter}"
            pool = net.add("MaxPool", [x], f"{name}/pool", kernel=3, pad=1, stride=1)
            branches = [net.relu(net.convolve(x, f"{name}/1x1", 1))]
            for kernel in (3, 5):
                reduced = net.relu(net.convolve(x, f"{name}/{kernel}x{kernel}_reduce", 1))
                branches.append(
                    net.relu(net.convolve(reduced, f"{name}/{kernel}x{kernel}", kernel))
                )
            branches.append(net.relu(net.convolve(pool, f"{name}/pool_proj", 1)))
            x = net.add("Concat", branches, f"{name}/output", axis=1)
        x = net.add("MaxPool", [x], f"pool{stage}", kernel=3, stride=2)
    net.classify(x, "classifier")
    return net


def _int8() -> _Builder:
    """Return inverted residuals in int8, with the scales and zero points of every output."""
    net = _Builder("mobilenet_int8")
    scale: dict[str, Any] = {"Y_scale": 0.02, "Y_zero_point": 128}
    x = net.add("Int8Quantize", ["data"], "data_int8", **scale)

    def convolve(x: str, name: str, kind: str, **arguments: Any) -> str:
        weight, bias = f"{name}_w", f"{name}_b"
        fill = net.init.op.add(type="Int8GivenTensorFill", output=[weight])
        fill.arg.add(name="shape").ints.extend([2, 3, 3, 2])
        fill.arg.add(name="values").s = bytes(range(110, 146))
        fill.arg.add(name="Y_scale").f = 0.01
        fill.arg.add(name="Y_zero_point").i = 128
        fill = net.init.op.add(type="Int8GivenIntTensorFill", output=[bias])
        fill.arg.add(name="shape").ints.append(2)
        fill.arg.add(name="values").ints.extend([-5, 7])
        fill.arg.add(name="Y_scale").f = 0.0002
        fill.arg.add(name="Y_zero_point").i = 0
        net.net.external_input.extend([weight, bias])
        inputs = [x, weight, bias]
        return net.add(kind, inputs, name, order="NHWC", kernel=3, **scale, **arguments)

    x = convolve(x, "conv0", "Int8ConvRelu", stride=2)
    for number in range(8):
        h = convolve(x, f"block{number}_expand", "Int8ConvRelu")
        h = convolve(h, f"block{number}_depthwise", "Int8ConvRelu", group=2)
        h = convolve(h, f"block{number}_project", "Int8Conv")
        x = net.add("Int8Sum", [h, x], f"block{number}_sum", **scale)
    x = net.add("Int8AveragePool", [x], "pool", kernel=7, **scale)
    net.classify(net.add("Int8Dequantize", [x], "pool_float"), "fc")
    return net


_CONTROL = """
name: "control"
op { type: "GT" input: "x" input: "zero" output: "positive" name: "compare" }
op { type: "If" input: "positive" output: "y" name: "choose"
     arg { name: "then_net" n { name: "then"
         op { type: "While" input: "go" output: "y" name: "repeat"
              arg { name: "loop_net" n { name: "body"
                  op { type: "Mul" input: "y" input: "half" output: "y" } } }
              arg { name: "cond_net" n { name: "condition"
                  op { type: "GT" input: "y" input: "half" output: "go" } } } } } }
     arg { name: "else_net" n { name: "else"
         op { type: "Negative" input: "x" output: "y" } } } }
external_input: "x" external_input: "zero" external_input: "half" external_input: "go"
external_output: "y"
"""

_FILLS = """
name: "fills"
op { type: "GivenTensorFill" output: "float" arg { name: "shape" ints: 2 }
     arg { name: "values" floats: [1.5, -2] } }
op { type: "GivenTensorDoubleFill" output: "double" arg { name: "shape" ints: 2 }
     arg { name: "values" floats: [1.5, -2] } }
op { type: "GivenTensorIntFill" output: "int" arg { name: "shape" ints: 2 }
     arg { name: "values" ints: [3, -4] } }
op { type: "GivenTensorInt64Fill" output: "long" arg { name: "shape" ints: 2 }
     arg { name: "values" ints: [3, -4] } }
op { type: "GivenTensorBoolFill" output: "bool" arg { name: "shape" ints: 2 }
     arg { name: "values" ints: [0, 1] } }
op { type: "GivenTensorStringFill" output: "string" arg { name: "shape" ints: 2 }
     arg { name: "values" strings: ["a", "b"] } }
op { type: "Int8GivenTensorFill" output: "int8" arg { name: "shape" ints: 3 }
     arg { name: "values" s: "abc" } arg { name: "Y_scale" f: 0.5 }
     arg { name: "Y_zero_point" i: 98 } }
op { type: "ConstantFill" output: "constant" arg { name: "shape" ints: 2 ints: 3 }
     arg { name: "value" f: 0.25 } }
op { type: "XavierFill" output: "xavier" arg { name: "shape" ints: 4 ints: 4 } }
op { type: "UniformFill" output: "uniform" arg { name: "shape" ints: 4 }
     arg { name: "min" f: -1 } arg { name: "max" f: 1 } }
"""

_FILLED = """
name: "filled"
op { type: "Add" input: "float" input: "constant" output: "sum" }
op { type: "MatMul" input: "xavier" input: "uniform" output: "product" }
external_input: "float" external_input: "constant" external_input: "xavier"
external_input: "uniform" external_input: "int8" external_output: "sum"
external_output: "product"
"""

_TRAINING = """
name: "training"
op { type: "FC" input: "data" input: "w" input: "b" output: "fc" name: "fc" }
op { type: "SoftmaxWithLoss" input: "fc" input: "label" output: "softmax" output: "loss" }
op { type: "ConstantFill" input: "loss" output: "loss_grad" is_gradient_op: true
     arg { name: "value" f: 1 } }
op { type: "SoftmaxWithLossGradient" input: "fc" input: "label" input: "softmax"
     input: "loss_grad" output: "fc_grad" is_gradient_op: true }
op { type: "FCGradient" input: "data" input: "w" input: "fc_grad" output: "w_grad"
     output: "b_grad" is_gradient_op: true }
op { type: "WeightedSum" input: "w" input: "one" input: "w_grad" input: "rate" output: "w" }
op { type: "WeightedSum" input: "b" input: "one" input: "b_grad" input: "rate" output: "b" }
external_input: "data" external_input: "label" external_input: "w" external_input: "b"
external_input: "one" external_input: "rate" device_option { device_type: 1 }
"""


def _net(text: str) -> bytes:
    return text_format.Parse(text, caffe2_pb2.NetDef()).SerializeToString()


def _built(name: str, build: Callable[[], _Builder], text: bool) -> dict[str, Callable[[], bytes]]:
    predict = "predict_net.pbtxt" if text else "predict_net.pb"
    return {
        f"{_FOLDER}/{name}/{file}": lambda file=file: build().files(text)[file]  # type: ignore[misc]
        for file in (predict, "init_net.pb")
    }


CASES: dict[str, Callable[[], bytes]] = {
    **_built("alexnet", _alexnet, text=True),
    **_built("resnet50", _resnet, text=True),
    **_built("densenet121", _densenet, text=True),
    **_built("inception", _inception, text=True),
    **_built("mobilenet_int8", _int8, text=False),
    f"{_FOLDER}/control/predict_net.pb": lambda: _net(_CONTROL),
    f"{_FOLDER}/control/predict_net.pbtxt": lambda: _CONTROL.encode(),
    f"{_FOLDER}/fills/predict_net.pb": lambda: _net(_FILLED),
    f"{_FOLDER}/fills/init_net.pb": lambda: _net(_FILLS),
    f"{_FOLDER}/training/predict_net.pb": lambda: _net(_TRAINING),
    f"{_FOLDER}/training/predict_net.pbtxt": lambda: _TRAINING.encode(),
}
