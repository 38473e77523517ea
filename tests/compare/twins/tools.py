"""Twins of a network, and what the real optimizers and quantizers made of it and its weights.

How the truth is known: all of these tools keep the names of the values that are left, or write
known endings behind them, and none gives a name to another value (that these are equal in number
is tested where onnxruntime is installed). So a node has its partner in what gives the value of its
name, and in what gives that its operand under a name that is new. What lies between it and the
values before that are known was taken in: fused into the same partner, folded, or, as a ReLU that
is the end of a range, into what stands before. Of such nodes those that hold weights must be in a
pair with the partner; others may be in one with any of these. Where nodes compute the same twice
and a tool leaves one of them, any of them may be paired with it. Nothing is known of nodes inside
of graphs of other nodes, nor of what constants are computed by.
"""

from __future__ import annotations

import contextlib
import io
import logging
import re
import tempfile
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import onnx

from tests.compare.twins.naming import change_names
from tests.compare.twins.truth import (
    BESIDE,
    Naming,
    Twin,
    finish_twin,
    read_tags,
    set_tags,
    tag_nodes,
)

#: what the tools write behind names of values
_ADDED = re.compile(
    r"(_output_quantized|_quantized|_QuantizeLinear_(Input|Output)|_DequantizeLinear_Output"
    r"|_dequantized|_nchwc)$"
)
_QUANTIZING = ("DynamicQuantizeLinear", "QuantizeLinear", "DequantizeLinear")
#: what turns channels into blocks and back
_PASSING = ("ReorderInput", "ReorderOutput")
_WEIGHTED = ("Conv", "ConvTranspose", "Gemm", "GRU", "LSTM", "MatMul")
#: sizes that are not known are so large
_SIZES = {"sequence": 8, "batch": 1}
_OTHER_SIZE = 2
_LONGEST_REGION = 64

Tool = Callable[[onnx.ModelProto, Path], onnx.ModelProto]


def make_feeds(model: onnx.ModelProto, seed: int = 0) -> dict[str, np.ndarray]:
    """Return numbers that a model can be run with."""
    chance = np.random.default_rng(seed)
    weights = {tensor.name for tensor in model.graph.initializer}
    feeds = {}
    symbols: dict[str, int] = {}
    for value in model.graph.input:
        if value.name in weights:
            continue
        dims = [
            symbols.setdefault(dim.dim_param, _SIZES.get(dim.dim_param, _OTHER_SIZE))
            if dim.dim_param or not dim.HasField("dim_value")
            else dim.dim_value
            for dim in value.type.tensor_type.shape.dim
        ]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        if dtype.kind == "f":
            feeds[value.name] = chance.standard_normal(dims).astype(dtype)
        else:
            feeds[value.name] = np.ones(dims, dtype)
    return feeds


def _optimize(level: str) -> Tool:
    def work(model: onnx.ModelProto, folder: Path) -> onnx.ModelProto:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
        options.optimized_model_filepath = str(folder / "optimized.onnx")
        options.log_severity_level = 4
        options.intra_op_num_threads = 1
        onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        return onnx.load(folder / "optimized.onnx")

    return work


def _quantize_static(style: str, weights: str) -> Tool:
    def work(model: onnx.ModelProto, folder: Path) -> onnx.ModelProto:
        from onnxruntime import quantization

        class Reader(quantization.CalibrationDataReader):  # type: ignore[misc]
            def __init__(self) -> None:
                self.feeds = iter([make_feeds(model, seed) for seed in range(2)])

            def get_next(self) -> Any:
                return next(self.feeds, None)

        path = folder / "model.onnx"
        onnx.save(model, path)
        quantization.quantize_static(
            path,
            folder / "quantized.onnx",
            Reader(),
            quant_format=getattr(quantization.QuantFormat, style),
            weight_type=getattr(quantization.QuantType, weights),
            per_channel=True,
        )
        return onnx.load(folder / "quantized.onnx")

    return work


def _quantize_dynamic(model: onnx.ModelProto, folder: Path) -> onnx.ModelProto:
    from onnxruntime import quantization

    path = folder / "model.onnx"
    onnx.save(model, path)
    quantization.quantize_dynamic(path, folder / "quantized.onnx")
    return onnx.load(folder / "quantized.onnx")


def _pack(model: onnx.ModelProto, folder: Path) -> onnx.ModelProto:
    from onnxruntime.quantization import matmul_nbits_quantizer

    copy = onnx.ModelProto.FromString(model.SerializeToString())
    quantizer = matmul_nbits_quantizer.MatMulNBitsQuantizer(copy, block_size=32)
    quantizer.process()
    packed: onnx.ModelProto = quantizer.model.model
    return packed


def _simplify(model: onnx.ModelProto, folder: Path) -> onnx.ModelProto:
    import onnxsim

    simple: onnx.ModelProto = onnxsim.simplify(model)[0]
    return simple


def _slim(model: onnx.ModelProto, folder: Path) -> onnx.ModelProto:
    import onnxslim

    slim: onnx.ModelProto = onnxslim.slim(onnx.ModelProto.FromString(model.SerializeToString()))
    return slim


def _rewrite(model: onnx.ModelProto, folder: Path) -> onnx.ModelProto:
    from onnxscript import optimizer

    copy = onnx.ModelProto.FromString(model.SerializeToString())
    optimized: onnx.ModelProto = optimizer.optimize(copy)
    return optimized


#: by name of a kind, the package that does it and how
TOOLS: dict[str, tuple[str, Tool]] = {
    "ORT basic": ("onnxruntime", _optimize("ORT_ENABLE_BASIC")),
    "ORT extended": ("onnxruntime", _optimize("ORT_ENABLE_EXTENDED")),
    "ORT all": ("onnxruntime", _optimize("ORT_ENABLE_ALL")),
    "ORT QDQ": ("onnxruntime", _quantize_static("QDQ", "QInt8")),
    "ORT QDQ int4": ("onnxruntime", _quantize_static("QDQ", "QInt4")),
    "ORT QOperator": ("onnxruntime", _quantize_static("QOperator", "QInt8")),
    "ORT MatMulNBits": ("onnxruntime", _pack),
    "ORT dynamic": ("onnxruntime", _quantize_dynamic),
    "onnxsim": ("onnxsim", _simplify),
    "onnxslim": ("onnxslim", _slim),
    "onnxscript": ("onnxscript", _rewrite),
}


def is_installed(kind: str) -> bool:
    """Return whether the package is there that makes twins of a kind."""
    return find_spec(TOOLS[kind][0]) is not None


def make_tool_twin(kind: str, model: onnx.ModelProto, naming: Naming = "kept") -> Twin | None:
    """Return a model and what a tool made of it; None where the tool refuses it."""
    work = TOOLS[kind][1]
    logging.disable(logging.WARNING)
    try:
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            made = work(model, Path(folder))
    except Exception:  # what a tool cannot do is no twin
        return None
    finally:
        logging.disable(logging.NOTSET)
    left, right = onnx.ModelProto(), onnx.ModelProto()
    left.CopyFrom(model)
    right.CopyFrom(made)
    return trace_values(kind, left, right, naming)


def trace_values(
    kind: str, left: onnx.ModelProto, right: onnx.ModelProto, naming: Naming = "kept"
) -> Twin:
    """Return a twin of two models of which the values of a name are the same."""
    tag_nodes(left)
    for node in right.graph.node:
        set_tags(node, ())
    trace = _Trace(left, right)
    wanted: dict[int, list[str]] = {}
    optional: set[str] = set()
    for node in left.graph.node:
        (tag,) = read_tags(node)
        indices, is_needed = trace.find_partners(node)
        for index in trace.list_around(node):
            wanted.setdefault(index, []).append(tag + BESIDE)
        if not is_needed:
            optional.add(tag)
        for index in indices:
            wanted.setdefault(index, []).append(tag)
    for index, tags in wanted.items():
        set_tags(right.graph.node[index], tags)
    if naming == "changed":
        change_names(right, Random(0))
    return finish_twin(kind, naming, left, right, is_sure=False, optional=optional)


class _Trace:
    """What gives the values of one name in two models."""

    def __init__(self, left: onnx.ModelProto, right: onnx.ModelProto) -> None:
        self.makers = {name: node for node in left.graph.node for name in node.output if name}
        self.takers: dict[str, list[onnx.NodeProto]] = {}
        for node in left.graph.node:
            for name in node.input:
                self.takers.setdefault(name, []).append(node)
        #: by name of a value of the left model, the names of all that are computed alike
        self.twice = _find_computed_twice(left)
        self.constants = {tensor.name for tensor in left.graph.initializer}
        for node in left.graph.node:  # they are sorted
            if all(name in self.constants or not name for name in node.input):
                self.constants.update(node.output)
        #: by name of a value of the left model, the nodes of the right one that give it
        self.givers: dict[str, list[int]] = {}
        for index, node in enumerate(right.graph.node):
            names = [node.name] if node.domain == "com.microsoft.nchwc" else []
            for name in (*names, *node.output):
                found = self._find_name(name)
                if found is not None:
                    self.givers.setdefault(found, []).append(index)
        self.nodes = right.graph.node
        fixed = {tensor.name for tensor in right.graph.initializer}
        makers = {}
        for index, node in enumerate(self.nodes):  # they are sorted
            if all(name in fixed or not name for name in node.input):
                fixed.update(node.output)
            else:
                makers.update(dict.fromkeys(node.output, index))
        known = {index for indices in self.givers.values() for index in indices}
        for indices in self.givers.values():
            for index in indices:  # grows by what was put in besides
                for name in self.nodes[index].input:
                    more = makers.get(name)
                    is_turned = self.nodes[index].op_type in _PASSING
                    is_new = more is not None and (is_turned or more not in known)
                    if more is not None and is_new and more not in indices:
                        indices.append(more)

    def _find_name(self, name: str) -> str | None:
        """Return the name of the left model that a name of the right one was made of."""
        for _ in range(4):
            if name in self.makers:
                return name if name not in self.constants else None
            shorter = _ADDED.sub("", name)
            if shorter == name:
                return None
            name = shorter
        return None

    def find_partners(self, node: onnx.NodeProto) -> tuple[list[int], bool]:
        """Return the nodes that a node may be paired with, and whether it must be with one."""
        alike = [each for name in node.output for each in self.twice.get(name, (name,))]
        found = [index for name in alike for index in self.givers.get(name, ())]
        is_whole = all(name in self.givers for name in alike)
        if any(self.nodes[index].op_type not in (*_QUANTIZING, *_PASSING) for index in found):
            return found, is_whole or len(alike) == len(node.output)
        if all(name in self.constants for name in node.output):
            return [], False
        behind = [index for each in self._list_behind(node) for index in self.givers[each]]
        before = [index for each in self._list_before(node) for index in self.givers[each]]
        is_needed = node.op_type in _WEIGHTED and any(n in self.constants for n in node.input)
        if is_needed:
            heavy = [
                index
                for index in (*found, *behind)
                if any(word in self.nodes[index].op_type for word in ("Conv", "MatMul", "Gemm"))
            ]
            return heavy or [*found, *behind], bool(heavy)
        return [*found, *behind, *before], False

    def list_around(self, node: onnx.NodeProto) -> list[int]:
        """Return the nodes that may be in a pair with a node beside its partner."""
        if node.op_type not in _WEIGHTED:
            return []
        found = [index for each in self._list_behind(node) for index in self.givers[each]]
        taken = [index for name in node.input for index in self.givers.get(name, ())]
        # what quantizes a value is called after it, and belongs to what takes it as well
        return found + [index for index in taken if self.nodes[index].op_type == _QUANTIZING[0]]

    def _list_behind(self, node: onnx.NodeProto) -> Iterator[str]:
        """Yield the known values that are computed of what a node gives by nodes that are gone."""
        pending = [name for name in node.output if name]
        for name in pending:
            for user in self.takers.get(name, ()):
                for result in user.output:
                    if result in self.givers:
                        yield result
                    elif result not in pending and len(pending) < _LONGEST_REGION:
                        pending.append(result)

    def _list_before(self, node: onnx.NodeProto) -> Iterator[str]:
        """Yield the known values that what a node takes is computed of by nodes that are gone."""
        pending = [name for name in node.input if name]
        for name in pending:
            if name in self.givers:
                yield name
            elif name in self.makers:
                more = [each for each in self.makers[name].input if each not in pending]
                pending += more[: max(_LONGEST_REGION - len(pending), 0)]


def _find_computed_twice(model: onnx.ModelProto) -> dict[str, list[str]]:
    """Return by name of a value the names of all that are the same result of the same operands."""
    numbers: dict[bytes, int] = {}
    known: dict[str, int] = {}
    for tensor in model.graph.initializer:
        copy = onnx.TensorProto.FromString(tensor.SerializeToString())
        copy.name = ""
        known[tensor.name] = numbers.setdefault(copy.SerializeToString(), len(numbers))
    alike: dict[int, list[str]] = {}
    for node in model.graph.node:  # they are sorted
        if any(attribute.HasField("g") for attribute in node.attribute):
            continue
        operands = [known.get(name, name) for name in node.input]
        stated = sorted(attribute.SerializeToString() for attribute in node.attribute)
        key = b"|".join([node.op_type.encode(), repr(operands).encode(), *stated])
        for place, name in enumerate(node.output):
            known[name] = numbers.setdefault(key + b"#%d" % place, len(numbers))
            alike.setdefault(known[name], []).append(name)
    return {name: alike[known[name]] for name in known if known[name] in alike}
