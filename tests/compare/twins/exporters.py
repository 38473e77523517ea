"""Twins of two exporters: one network, written by each of torch's.

Both keep the names of parameters, unless they change them, and write which module a node is from.
What is known are nodes that take the same parameter, and nodes that are the only ones of their
operator in a module; where either leaves a doubt nothing is known.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np
import onnx
from onnx import numpy_helper

from tests.compare.twins.folding import fold_arrays
from tests.compare.twins.graphs import Constants
from tests.compare.twins.scopes import module_path
from tests.compare.twins.truth import Twin, read_proto

EXPORTERS = "two exporters"
#: names that exporters make for what they compute while they export
_MADE_UP = ("onnx::", "val_", "scalar_tensor", "embedding", "index", "mul", "add", "bitwise")
#: operators that exporters write for one thing
_LINEAR = ("MatMul", "Gemm")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: operators that compute something of the network, rather than shapes
_COMPUTING = _words("""
    AveragePool BatchNormalization Conv ConvTranspose Cos Einsum Elu Erf Exp GRU Gelu
    GlobalAveragePool GroupNormalization HardSigmoid HardSwish InstanceNormalization LSTM
    LayerNormalization LeakyRelu LogSoftmax MaxPool Mish PRelu RNN Relu Resize Sigmoid Sin Softmax
    Softplus Tanh
""")
#: operators that both shapes and the network are computed with
_ARITHMETIC = _words("Add Div Mul Pow ReduceMean Reciprocal Sqrt Sub")
#: elements of weights that tell where they are found twice, at least
_TELLING = 16


class _Export:
    """One of two exports, and what is looked up of it."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self.graph = model.graph
        self.constants = Constants(model)
        self.nodes = list(model.graph.node)
        self.modules = [module_path(node) for node in self.nodes]
        self.weights = {tensor.name: tensor for tensor in model.graph.initializer}
        self.makers = {name: index for index, n in enumerate(self.nodes) for name in n.output}
        self.takers: dict[str, list[int]] = defaultdict(list)
        for index, node in enumerate(self.nodes):
            for name in node.input:
                self.takers[name].append(index)

    def list_alone(self) -> dict[tuple[str, str], int]:
        """Return the nodes that are the only ones of their operator in a module."""
        found: dict[tuple[str, str], list[int]] = defaultdict(list)
        for index, node in enumerate(self.nodes):
            kind = "linear" if node.op_type in _LINEAR else node.op_type
            if self.modules[index] and not node.domain:
                found[self.modules[index], kind].append(index)
        return {key: indices[0] for key, indices in found.items() if len(indices) == 1}

    def digest(self) -> dict[bytes, str]:
        """Return the weights by their elements, as they are and transposed."""
        found: dict[bytes, list[str]] = defaultdict(list)
        for name in self.weights:
            array = self.constants.read(name)
            if array is not None and array.dtype.kind == "f" and array.size >= _TELLING:
                for each in {array.tobytes(), array.T.tobytes()}:
                    found[each].append(name)
        return {key: names[0] for key, names in found.items() if len(names) == 1}

    def operators_before(self, index: int) -> list[str]:
        """Return what makes the inputs of a node."""
        makers = [self.makers.get(name) for name in self.nodes[index].input]
        return sorted("" if each is None else self.nodes[each].op_type for each in makers)


def pair_exports(left: onnx.ModelProto, right: onnx.ModelProto) -> Twin:
    """Return twins of exports of one network, whose models share names of parameters.

    Weights that only one exporter names, as it turned them, get the elements of the other's, as
    models of ``tests.zoo`` have made-up ones.
    """
    copies = []
    for model in (left, right):
        copies.append(onnx.ModelProto())
        copies[-1].CopyFrom(model)
    first, second = (_Export(model) for model in copies)
    pairs: dict[int, set[int]] = defaultdict(set)
    for one, other in (*_pair_by_module(first, second), *_pair_by_parameter(first, second)):
        pairs[one].add(other)
    _pair_folded_norms(first, second, pairs)
    for one, others in pairs.items():
        for other in others:
            _share_weight(first, second, one, other)
    paths = [[node.path for node in read_proto(model).graph.nodes] for model in copies]
    truth = {
        paths[0][one]: frozenset(paths[1][other] for other in others)
        for one, others in pairs.items()
    }
    return Twin(EXPORTERS, "kept", copies[0], copies[1], truth)


def _pair_by_module(first: _Export, second: _Export) -> Iterator[tuple[int, int]]:
    others = second.list_alone()
    for key, one in first.list_alone().items():
        if key not in others:
            continue
        kind, other = key[1], others[key]
        is_alike = first.operators_before(one) == second.operators_before(other)
        if kind == "linear" or kind in _COMPUTING or (kind in _ARITHMETIC and is_alike):
            yield one, other


def _pair_by_parameter(first: _Export, second: _Export) -> Iterator[tuple[int, int]]:
    same = {name: name for name in first.weights if name in second.weights}
    same = {name: name for name in same if not name.startswith(_MADE_UP)}
    others = second.digest()
    for key, name in first.digest().items():
        if key in others:
            same.setdefault(name, others[key])
    for name, other_name in same.items():
        ones, others_taking = first.takers[name], second.takers[other_name]
        for one in ones:
            fitting = [other for other in others_taking if _may_be_one(first, second, one, other)]
            if len(fitting) != 1:
                continue
            back = [each for each in ones if _may_be_one(first, second, each, fitting[0])]
            if len(back) == 1:
                yield one, fitting[0]


def _may_be_one(first: _Export, second: _Export, one: int, other: int) -> bool:
    """Return whether nodes that take the same parameter may be the same."""
    kinds = {first.nodes[one].op_type, second.nodes[other].op_type}
    # a bias is added, or taken by Gemm
    is_linear = "Gemm" in kinds and kinds <= {*_LINEAR, "Add"}
    return len(kinds) == 1 or is_linear


def _pair_folded_norms(first: _Export, second: _Export, pairs: dict[int, set[int]]) -> None:
    """Pair a norm with what its Conv is paired with, where the other exporter has no norms."""
    if any(node.op_type == "BatchNormalization" for node in second.nodes):
        return
    for index, norm in enumerate(first.nodes):
        if norm.op_type != "BatchNormalization":
            continue
        conv = first.makers.get(norm.input[0])
        if conv is None or first.nodes[conv].op_type != "Conv" or conv not in pairs:
            continue
        if len(first.takers[norm.input[0]]) > 1:
            continue
        pairs[index] = set(pairs[conv])
        arrays = fold_arrays(first.nodes[conv], norm, first.constants)
        for other in pairs[conv]:
            names = second.nodes[other].input[1:]
            for name, array in zip(names, arrays or (), strict=False):
                _write(second, name, array)


def _share_weight(first: _Export, second: _Export, one: int, other: int) -> None:
    """Give the right model the weight of the left one where neither name is a parameter's."""
    nodes = (first.nodes[one], second.nodes[other])
    if any(node.op_type not in _LINEAR for node in nodes):
        return
    names = [node.input[1] for node in nodes]
    if names[0] not in first.weights or names[1] not in second.weights or names[0] == names[1]:
        return
    array = first.constants.read(names[0])
    turned = [any(a.name == "transB" and a.i for a in node.attribute) for node in nodes]
    if array is not None:
        _write(second, names[1], array.T if turned[0] != turned[1] else array)


def _write(export: _Export, name: str, array: np.ndarray) -> None:
    tensor = export.weights.get(name)
    if tensor is not None and tuple(tensor.dims) == array.shape:
        tensor.CopyFrom(numpy_helper.from_array(np.ascontiguousarray(array), name))
