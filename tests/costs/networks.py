"""Networks of known cost, written from their papers: weights have types and shapes, no elements."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load

Dims = Sequence[int | str]


class Network:
    """Writes a graph node by node; ``x`` is its input, and each method returns a value's name.

    Parameters
    ----------
    dims
        The dimensions of the input.
    kind
        Its element type.
    """

    def __init__(self, *dims: int | str, kind: int = TensorProto.FLOAT) -> None:
        self._input = helper.make_tensor_value_info("x", kind, dims)
        self._nodes: list[onnx.NodeProto] = []
        self._weights: list[onnx.TensorProto] = []
        self.scope = ""

    def weigh(self, *dims: int, kind: int = TensorProto.FLOAT) -> str:
        """Add a weight whose elements are in a file that is not there."""
        name = f"w{len(self._weights)}"
        tensor = onnx.TensorProto(name=name, data_type=kind, dims=dims)
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value=f"{name}.bin")
        self._weights.append(tensor)
        return name

    def list(self, *numbers: int) -> str:
        """Add a list of integers."""
        name = f"l{len(self._weights)}"
        self._weights.append(numpy_helper.from_array(np.array(numbers, np.int64), name))
        return name

    def add(self, op_type: str, *inputs: str, domain: str = "", **attributes: object) -> str:
        """Add a node with one result."""
        name = f"v{len(self._nodes)}"
        node = helper.make_node(op_type, inputs, [name], f"{self.scope}{op_type}_{name}")
        node.domain = domain
        for key, value in attributes.items():
            node.attribute.append(helper.make_attribute(key, value))
        self._nodes.append(node)
        return name

    def convolve(
        self,
        x: str,
        taken: int,
        given: int,
        kernel: int,
        stride: int = 1,
        pad: int = 0,
        **more: int,
    ) -> str:
        """Add a convolution; with ``group``, and with ``bias`` one of these."""
        bias = [self.weigh(given)] if more.pop("bias", 0) else []
        weight = self.weigh(given, taken // more.get("group", 1), kernel, kernel)
        shapes = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": [pad] * 4}
        return self.add("Conv", x, weight, *bias, **shapes, **more)

    def normalize(self, x: str, channels: int) -> str:
        """Add batch normalization."""
        return self.add("BatchNormalization", x, *(self.weigh(channels) for _ in range(4)))

    def pool(self, x: str, kernel: int, stride: int, pad: int = 0) -> str:
        """Add maximum pooling."""
        shapes = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": [pad] * 4}
        return self.add("MaxPool", x, **shapes)

    def connect(self, x: str, taken: int, given: int) -> str:
        """Add a linear layer of a matrix."""
        return self.add("Gemm", x, self.weigh(given, taken), self.weigh(given), transB=1)

    def project(self, x: str, taken: int, given: int) -> str:
        """Add a linear layer of a batch of sequences."""
        return self.add("Add", self.add("MatMul", x, self.weigh(taken, given)), self.weigh(given))

    def attend(self, x: str, width: int, heads: int) -> str:
        """Add self-attention."""
        shape = self.list(0, 0, heads, width // heads)
        parts = [self.add("Reshape", self.project(x, width, width), shape) for _ in "qkv"]
        orders = ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])
        q, k, v = (
            self.add("Transpose", part, perm=order)
            for part, order in zip(parts, orders, strict=True)
        )
        mixed = self.add("MatMul", self.add("Softmax", self.add("MatMul", q, k)), v)
        joined = self.add("Transpose", mixed, perm=[0, 2, 1, 3])
        return self.project(self.add("Reshape", joined, self.list(0, 0, width)), width, width)

    def transform(self, x: str, width: int, heads: int) -> str:
        """Add one layer of a transformer, normalized before its blocks."""

        def normalize(value: str) -> str:
            return self.add("LayerNormalization", value, self.weigh(width), self.weigh(width))

        x = self.add("Add", x, self.attend(normalize(x), width, heads))
        hidden = self.add("Gelu", self.project(normalize(x), width, 4 * width))
        return self.add("Add", x, self.project(hidden, 4 * width, width))

    def load(self, result: str, opset: int = 20) -> Model:
        """Return the model whose output is a value."""
        output = helper.make_tensor_value_info(result, TensorProto.FLOAT, None)
        graph = helper.make_graph(self._nodes, "g", [self._input], [output], self._weights)
        opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
        return load(helper.make_model(graph, opset_imports=opsets, ir_version=9))


def make_alexnet(batch: int | str = 1) -> Model:
    """A. Krizhevsky, One weird trick, 2014, in one tower, as torchvision has it."""
    net, x = Network(batch, 3, 224, 224), "x"
    layers = [(3, 64, 11, 4, 2), (64, 192, 5, 1, 2), (192, 384, 3, 1, 1), (384, 256, 3, 1, 1)]
    for number, layer in enumerate([*layers, (256, 256, 3, 1, 1)]):
        x = net.add("Relu", net.convolve(x, *layer, bias=1))
        x = net.pool(x, 3, 2) if number in (0, 1, 4) else x
    x = net.add("Flatten", x)
    for taken, given in ((9216, 4096), (4096, 4096), (4096, 1000)):
        x = net.connect(x, taken, given)
    return net.load(x)


def make_vgg16() -> Model:
    """K. Simonyan and A. Zisserman, 2014, table 1, D."""
    net, x, taken = Network(1, 3, 224, 224), "x", 3
    for given, count in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(count):
            x, taken = net.add("Relu", net.convolve(x, taken, given, 3, 1, 1, bias=1)), given
        x = net.pool(x, 2, 2)
    x = net.add("Flatten", x)
    for taken, given in ((25088, 4096), (4096, 4096), (4096, 1000)):
        x = net.connect(x, taken, given)
    return net.load(x)


def make_resnet(counts: Sequence[int], *, is_deep: bool, batch: int | str = 1) -> Model:
    """K. He and others, 2015, table 1; the 3 × 3 convolution has the stride, as in torchvision."""
    net, x, taken = Network(batch, 3, 224, 224), "x", 64
    x = net.add("Relu", net.normalize(net.convolve(x, 3, 64, 7, 2, 3), 64))
    x = net.pool(x, 3, 2, 1)
    for stage, count in enumerate(counts):
        width = 64 << stage
        given = 4 * width if is_deep else width
        for block in range(count):
            net.scope = f"/layer{stage}/{block}/"
            stride = 2 if stage and not block else 1
            shapes = [(taken, width, 3, stride, 1), (width, given, 3, 1, 1)]
            if is_deep:
                shapes = [(taken, width, 1), (width, width, 3, stride, 1), (width, given, 1)]
            h = x
            for shape in shapes:
                h = net.normalize(net.convolve(h, *shape), shape[1])
                h = net.add("Relu", h) if shape is not shapes[-1] else h
            if stride > 1 or taken != given:
                x = net.normalize(net.convolve(x, taken, given, 1, stride), given)
            x, taken = net.add("Relu", net.add("Add", h, x)), given
    net.scope = ""
    x = net.add("Flatten", net.add("GlobalAveragePool", x))
    return net.load(net.connect(x, taken, 1000))


def make_mobilenet_v2() -> Model:
    """M. Sandler and others, 2018, table 2."""
    net, x, taken = Network(1, 3, 224, 224), "x", 32
    x = net.normalize(net.convolve(x, 3, 32, 3, 2, 1), 32)
    stages = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1)]
    for factor, given, count, first in [*stages, (6, 160, 3, 2), (6, 320, 1, 1)]:
        for block in range(count):
            stride, inner, h = (1 if block else first), taken * factor, x
            if factor > 1:
                h = net.add("Clip", net.normalize(net.convolve(h, taken, inner, 1), inner))
            h = net.convolve(h, inner, inner, 3, stride, 1, group=inner)
            h = net.add("Clip", net.normalize(h, inner))
            h = net.normalize(net.convolve(h, inner, given, 1), given)
            x, taken = (net.add("Add", x, h) if stride == 1 and taken == given else h), given
    x = net.normalize(net.convolve(x, 320, 1280, 1), 1280)
    x = net.add("Flatten", net.add("GlobalAveragePool", x))
    return net.load(net.connect(x, 1280, 1000))


def make_vit(batch: int | str = 1) -> Model:
    """A. Dosovitskiy and others, 2020: ViT-B/16."""
    net = Network(batch, 3, 224, 224)
    x = net.convolve("x", 3, 768, 16, 16, bias=1)
    x = net.add("Reshape", x, net.list(0, 768, -1))
    x = net.add("Transpose", x, perm=[0, 2, 1])
    count = net.add("Gather", net.add("Shape", x), net.list(0), axis=0)
    token = net.add(
        "Expand", net.weigh(1, 1, 768), net.add("Concat", count, net.list(1, 1), axis=0)
    )
    x = net.add("Add", net.add("Concat", token, x, axis=1), net.weigh(1, 197, 768))
    for _ in range(12):
        x = net.transform(x, 768, 12)
    x = net.add("LayerNormalization", x, net.weigh(768), net.weigh(768))
    x = net.add("Gather", x, net.list(0), axis=1)
    return net.load(net.connect(net.add("Flatten", x), 768, 1000))


def make_bert(layers: int, width: int, batch: int | str, length: int | str) -> Model:
    """J. Devlin and others, 2018: the encoder."""
    net = Network(batch, length, width)
    x = "x"
    for layer in range(layers):
        net.scope = f"/encoder/layer.{layer}/"
        x = net.transform(x, width, width // 64)
    return net.load(x)


def make_gpt2(batch: int | str, length: int | str) -> Model:
    """A. Radford and others, 2019: 124 M parameters, the head tied to the embedding."""
    net = Network(batch, length, kind=TensorProto.INT64)
    table = net.weigh(50257, 768)
    positions = net.add("Slice", net.weigh(1024, 768), net.list(0), _last(net, "x"), net.list(0))
    x = net.add("Add", net.add("Gather", table, "x", axis=0), positions)
    for _ in range(12):
        x = net.transform(x, 768, 12)
    x = net.add("LayerNormalization", x, net.weigh(768), net.weigh(768))
    return net.load(net.add("MatMul", x, net.add("Transpose", table, perm=[1, 0])))


def _last(net: Network, value: str) -> str:
    """Return the last dimension of a value."""
    return net.add("Gather", net.add("Shape", value), net.list(-1), axis=0)
