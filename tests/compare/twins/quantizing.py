"""Twins of other precision: 8-bit integers between nodes, floats of half the size."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from tests.compare.twins.graphs import (
    Body,
    Constants,
    Names,
    drop_unused,
    free_weights,
    graphs_of,
    infer_types,
    list_bodies,
    opset_of,
    output_names,
    rewire,
    sort_nodes,
)

_WEIGHED = ("Conv", "MatMul", "Gemm")
#: the first opset that knows a scale for each channel
_PER_CHANNEL = 13
_LARGEST_HALF = 65504.0
#: attributes that say the type of what a node gives
_TYPED = {"Cast": "to", "EyeLike": "dtype", "RandomNormal": "dtype", "RandomUniform": "dtype"}
_TYPED |= {"RandomNormalLike": "dtype", "RandomUniformLike": "dtype", "SequenceEmpty": "dtype"}


def quantize(model: onnx.ModelProto, chance: Random) -> onnx.ModelProto | None:
    """Put pairs of QuantizeLinear and DequantizeLinear around Conv, MatMul and Gemm."""
    graph = model.graph
    is_done = any("Q" in node.op_type or "Integer" in node.op_type for node in graph.node)
    if is_done or opset_of(model) < _PER_CHANNEL:
        return None
    free_weights(model)
    writer = _QuantizedGraph(model)
    weighed = [node for node in graph.node if node.op_type in _WEIGHED and not node.domain]
    done = [writer.quantize_around(node) for node in weighed]
    if not any(done):
        return None
    writer.finish()
    return model


class _QuantizedGraph:
    """The main graph of a model as nodes are added to it."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self.graph = model.graph
        self.constants = Constants(model)
        self.names = Names(model)
        self.types = infer_types(model)[0]
        self.weights: dict[tuple[str, int], str] = {}
        #: results that everybody takes in 8 bits, and inputs that only these nodes do
        self.values: dict[str, str] = {}
        self.added: list[onnx.NodeProto] = []

    def quantize_around(self, node: onnx.NodeProto) -> bool:
        """Quantize the inputs and outputs of a node; return whether they are floats."""
        if any(self._dtype(name) != TensorProto.FLOAT for name in node.input[:2]):
            return False
        for place, name in enumerate(node.input[:2]):
            array = self.constants.read(name) if name in self.constants else None
            if place and array is not None and array.ndim > 1:
                node.input[place] = self._quantize_weight(name, array, _channel_axis(node, array))
            elif name not in self.values:
                self.values[name] = ""
        self.values.setdefault(node.output[0], "")
        return True

    def _dtype(self, name: str) -> int:
        return self.types[name].tensor_type.elem_type if name in self.types else TensorProto.FLOAT

    def _quantize_weight(self, name: str, array: np.ndarray, axis: int) -> str:
        if (name, axis) in self.weights:
            return self.weights[name, axis]
        others = tuple(each for each in range(array.ndim) if each != axis)
        scale = np.maximum(np.abs(array).max(axis=others), 1e-6).astype(np.float32) / 127
        shape = [-1 if each == axis else 1 for each in range(array.ndim)]
        whole = np.clip(np.rint(array / scale.reshape(shape)), -127, 127).astype(np.int8)
        inputs = [
            self._store(f"{name}_quantized", whole),
            self._store(f"{name}_scale", scale),
            self._store(f"{name}_zero_point", np.zeros(scale.shape, np.int8)),
        ]
        result = self.names.make(f"{name}_DequantizeLinear_Output")
        self._add("DequantizeLinear", name, inputs, result, axis=axis)
        self.weights[name, axis] = result
        return result

    def finish(self) -> None:
        """Write what stands between the nodes, and let everybody take it."""
        results = output_names(self.graph)
        made = {name: node for node in self.graph.node for name in node.output}
        for name in self.values:
            source, result = name, ""
            if name in results and name in made:
                # the graph keeps the names of what it gives
                source, result = self.names.make(f"{name}_QuantizeLinear_Input"), name
                outputs = made[name].output
                outputs[list(outputs).index(name)] = source
            self.values[name] = self._add_pair(name, source, result)
        rewire(self.graph.node, self.values)
        count = len(self.graph.node)
        self.graph.node.extend(self.added)
        sort_nodes(self.graph, [*range(count), *[0.0] * len(self.added)])
        drop_unused(self.graph)

    def _add_pair(self, name: str, source: str, result: str) -> str:
        scale = self._store(f"{name}_scale", np.float32(0.05))
        zero_point = self._store(f"{name}_zero_point", np.uint8(128))
        whole = self.names.make(f"{name}_QuantizeLinear_Output")
        result = result or self.names.make(f"{name}_DequantizeLinear_Output")
        self._add("QuantizeLinear", name, [source, scale, zero_point], whole)
        self._add("DequantizeLinear", name, [whole, scale, zero_point], result)
        return result

    def _store(self, wanted: str, array: np.ndarray | np.generic) -> str:
        name = self.names.make(wanted)
        self.graph.initializer.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def _add(
        self, op_type: str, name: str, inputs: list[str], output: str, **attributes: int
    ) -> None:
        label = self.names.make(f"{name}_{op_type}")
        self.added.append(helper.make_node(op_type, inputs, [output], label, **attributes))


def _channel_axis(node: onnx.NodeProto, weight: np.ndarray) -> int:
    is_turned = any(each.name == "transB" and each.i for each in node.attribute)
    return 0 if node.op_type == "Conv" or is_turned else weight.ndim - 1


def halve(model: onnx.ModelProto, chance: Random) -> onnx.ModelProto | None:
    """Let all floats be float16, but those that the model is given and gives."""
    if model.functions:
        return None
    free_weights(model)
    types = infer_types(model)
    names = Names(model)
    opsets = {entry.domain: entry.version for entry in model.opset_import}
    floats: set[str] = set()
    for known in types:
        floats |= {name for name, each in known.items() if _is_float(each)}
    if not floats:
        return None
    floats |= _cast_interface(model.graph, names)
    # what is inside comes first, as changing a graph copies its nodes
    for body in reversed(list(list_bodies(model))):
        _halve_body(body, floats, names, opsets, is_main=body is model.graph)
    return model


def _is_float(said: onnx.TypeProto) -> bool:
    return said.tensor_type.elem_type == TensorProto.FLOAT


def _cast_interface(graph: onnx.GraphProto, names: Names) -> set[str]:
    """Put a Cast behind each input and before each output of floats; return what is between."""
    first, last = [], []
    inside: dict[str, str] = {}
    made = {name for node in graph.node for name in node.output}
    for value in graph.input:
        if _is_float(value.type):
            half = inside[value.name] = names.make(f"{value.name}_half")
            first.append(make_cast(value.name, half, TensorProto.FLOAT16, names))
    for value in graph.output:
        if _is_float(value.type) and value.name in made:
            half = inside[value.name] = names.make(f"{value.name}_half")
            last.append(make_cast(half, value.name, TensorProto.FLOAT, names))
    rewire(graph.node, inside)
    for node in graph.node:
        node.output[:] = [inside.get(name, name) for name in node.output]
    middle = [onnx.NodeProto.FromString(node.SerializeToString()) for node in graph.node]
    del graph.node[:]
    graph.node.extend([*first, *middle, *last])
    return set(inside.values())


def make_cast(source: str, result: str, dtype: int, names: Names) -> onnx.NodeProto:
    """Return a node that gives a value another type."""
    return helper.make_node("Cast", [source], [result], names.make(f"{result}/Cast"), to=dtype)


def _halve_body(
    body: Body, floats: set[str], names: Names, opsets: dict[str, int], *, is_main: bool
) -> None:
    assert isinstance(body, onnx.GraphProto)
    uses = [name for node in body.node for name in node.input]
    kept = set()
    nodes = []
    weights = {tensor.name for tensor in body.initializer}
    for node in body.node:
        before, after = [], []
        is_border = is_main and node.op_type == "Cast" and not node.metadata_props
        if not is_border:
            _halve_attributes(node)
            for place in _full_places(node, "inputs", floats, opsets):
                name = node.input[place]
                if name in weights and uses.count(name) == 1:
                    kept.add(name)
                    continue
                node.input[place] = names.make(f"{name}_float")
                before.append(make_cast(name, node.input[place], TensorProto.FLOAT, names))
            for place in _full_places(node, "outputs", floats, opsets):
                name = node.output[place]
                node.output[place] = names.make(f"{name}_float")
                after.append(make_cast(node.output[place], name, TensorProto.FLOAT16, names))
        nodes += [*before, node, *after]
    copies = [onnx.NodeProto.FromString(node.SerializeToString()) for node in nodes]
    del body.node[:]
    body.node.extend(copies)
    for tensor in body.initializer:
        if tensor.name not in kept:
            _halve_tensor(tensor)
    values = [*body.value_info, *([] if is_main else [*body.input, *body.output])]
    for value in values:
        if _is_float(value.type) and value.name not in kept:
            value.type.tensor_type.elem_type = TensorProto.FLOAT16


def _full_places(
    node: onnx.NodeProto, side: str, floats: set[str], opsets: dict[str, int]
) -> Iterable[int]:
    """Yield the places where a node takes, or gives, only floats of the whole size."""
    if node.domain not in ("", "ai.onnx") or graphs_of(node):
        return
    version = opsets.get("", opsets.get("ai.onnx", 1))
    try:
        schema = onnx.defs.get_schema(node.op_type, version, "")
    except onnx.defs.SchemaError:
        return
    formal = getattr(schema, side)
    for place, name in enumerate(node.input if side == "inputs" else node.output):
        if name in floats and formal:
            accepted = formal[min(place, len(formal) - 1)].types
            if "tensor(float16)" not in accepted and "tensor(float)" in accepted:
                yield place


def _halve_attributes(node: onnx.NodeProto) -> None:
    if node.op_type == "ConstantOfShape" and not node.attribute:
        zero = numpy_helper.from_array(np.zeros(1, np.float16))
        node.attribute.append(helper.make_attribute("value", zero))
    for attribute in node.attribute:
        if attribute.name == _TYPED.get(node.op_type) and attribute.i == TensorProto.FLOAT:
            attribute.i = TensorProto.FLOAT16
        if attribute.HasField("t"):
            _halve_tensor(attribute.t)
        if node.op_type == "Constant" and attribute.name in ("value_float", "value_floats"):
            array = np.array(attribute.f if attribute.name == "value_float" else attribute.floats)
            tensor = numpy_helper.from_array(array.astype(np.float16))
            attribute.CopyFrom(helper.make_attribute("value", tensor))


def _halve_tensor(tensor: onnx.TensorProto) -> None:
    if tensor.data_type == TensorProto.FLOAT:
        array = np.clip(numpy_helper.to_array(tensor), -_LARGEST_HALF, _LARGEST_HALF)
        tensor.CopyFrom(numpy_helper.from_array(array.astype(np.float16), tensor.name))
