"""Small networks written node by node."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load

Shape = Sequence[int | str]


class Network:
    """Nodes and weights as they are added; results are names."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.inputs: list[onnx.ValueInfoProto] = []

    def take(self, name: str, shape: Shape, dtype: int = TensorProto.FLOAT) -> str:
        self.inputs.append(helper.make_tensor_value_info(name, dtype, shape))
        return name

    def store(self, array: np.ndarray) -> str:
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def weight(self, *dims: int) -> str:
        return self.store(np.full(dims, 0.5, np.float32))

    def numbers(self, *numbers: int) -> str:
        return self.store(np.array(numbers, np.int64))

    def add(self, op_type: str, *operands: str, **attributes: object) -> str:
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op_type, operands, [name], **attributes))
        return name

    def linear(self, x: str, taken: int, given: int) -> str:
        return self.add("Add", self.add("MatMul", x, self.weight(taken, given)), self.weight(given))

    def conv(self, x: str, taken: int, given: int, size: int = 3, **attributes: object) -> str:
        groups = int(str(attributes.get("group", 1)))
        kernel = self.weight(given, taken // groups, size, size)
        pads = [size // 2] * 4
        return self.add("Conv", x, kernel, kernel_shape=[size, size], pads=pads, **attributes)

    def norm(self, x: str, width: int) -> str:
        return self.add("LayerNormalization", x, self.weight(width), self.weight(width))

    def attend(
        self, x: str, context: str, width: int = 8, heads: int = 2, mask: str | None = None
    ) -> str:
        size = width // heads
        split = self.numbers(0, -1, heads, size)
        query, key, value = (
            self.add("Reshape", self.linear(source, width, width), split)
            for source in (x, context, context)
        )
        query = self.add("Transpose", query, perm=[0, 2, 1, 3])
        key = self.add("Transpose", key, perm=[0, 2, 3, 1])
        value = self.add("Transpose", value, perm=[0, 2, 1, 3])
        scores = self.add("MatMul", query, key)
        scores = self.add("Mul", scores, self.store(np.float32(size**-0.5)))
        if mask is not None:
            scores = self.add("Add", scores, mask)
        weighed = self.add("MatMul", self.add("Softmax", scores, axis=-1), value)
        joined = self.add("Transpose", weighed, perm=[0, 2, 1, 3])
        joined = self.add("Reshape", joined, self.numbers(0, -1, width))
        return self.linear(joined, width, width)

    def feed(self, x: str, width: int = 8, inner: int = 32) -> str:
        hidden = self.add("Gelu", self.linear(x, width, inner))
        return self.linear(hidden, inner, width)

    def block(self, x: str, mask: str | None = None, context: str | None = None) -> str:
        """Add a pre-norm block, with cross-attention where there is a context."""
        normed = self.norm(x, 8)
        x = self.add("Add", x, self.attend(normed, normed, mask=mask))
        if context is not None:
            x = self.add("Add", x, self.attend(self.norm(x, 8), context))
        return self.add("Add", x, self.feed(self.norm(x, 8)))

    def embed(self, name: str = "ids", rows: int = 100) -> str:
        self.take(name, ("batch", "sequence"), TensorProto.INT64)
        return self.add("Gather", self.weight(rows, 8), name)

    def triangle(self, tokens: str) -> str:
        """Add a mask of what comes later, made of how many tokens there are."""
        count = self.add("Slice", self.add("Shape", tokens), *map(self.numbers, (1, 2)))
        square = self.add("Concat", count, count, axis=0)
        full = self.add("ConstantOfShape", square)
        return self.add("Trilu", full, upper=1)

    def attend_linearly(self, x: str, width: int = 8, heads: int = 2) -> str:
        """Add linear attention with a decay and a rate that are projections of their own."""
        query, key, value = (
            self.add("MatMul", x, self.weight(width, width)) for _ in ("query", "key", "value")
        )
        decay = self.add("Softplus", self.add("MatMul", x, self.weight(width, heads)))
        rate = self.add("Sigmoid", self.add("MatMul", x, self.weight(width, heads)))
        numbers = {"q_num_heads": heads, "kv_num_heads": heads}
        operands = (query, key, value, "", self.add("Neg", decay), rate)
        attended = self.add("LinearAttention", *operands, **numbers)
        return self.add("MatMul", attended, self.weight(width, width))

    def attend_fused(self, x: str, width: int = 8, heads: int = 2, **attributes: int) -> str:
        """Add the operator Attention between linear nodes."""
        query, key, value = (
            self.add("MatMul", x, self.weight(width, width)) for _ in ("query", "key", "value")
        )
        numbers = {"q_num_heads": heads, "kv_num_heads": heads, "is_causal": 1, **attributes}
        attended = self.add("Attention", query, key, value, **numbers)
        return self.add("MatMul", attended, self.weight(width, width))

    def finish(self, *outputs: str, shape: Shape | None = None, opset: int = 21) -> Model:
        given = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in outputs]
        graph = helper.make_graph(self.nodes, "g", self.inputs, given, self.weights)
        opsets = [helper.make_opsetid("", opset), helper.make_opsetid("local", 1)]
        return load(helper.make_model(graph, opset_imports=opsets).SerializeToString())
