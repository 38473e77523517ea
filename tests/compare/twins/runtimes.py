"""Twins of a network as exported, and as onnxruntime quantized it.

That keeps the names of nodes, or adds to them where it replaces an operator; of nodes whose names
are gone nothing is known. Weights of models of ``tests.zoo`` are made up on both sides, so that
none tells what it was.
"""

from __future__ import annotations

from random import Random

import onnx

from tests.compare.twins.naming import change_names
from tests.compare.twins.truth import Naming, Twin, finish_twin, read_tags, set_tags, tag_nodes

QUANTIZED_ELSEWHERE = "by onnxruntime"
_ADDED = ("_quant", "_Q4")
#: what operators of floats become whose names say otherwise
_BECOMES = {
    "MatMul": ("QLinearMatMul", "MatMulInteger", "MatMulNBits"),
    "Gemm": ("QGemm", "MatMulInteger"),
}


def pair_quantized(left: onnx.ModelProto, right: onnx.ModelProto, naming: Naming = "kept") -> Twin:
    """Return twins of a model and what onnxruntime made of it."""
    first, second = onnx.ModelProto(), onnx.ModelProto()
    first.CopyFrom(left)
    second.CopyFrom(right)
    tag_nodes(first)
    nodes = {node.name: node for node in first.graph.node if node.name}
    for node in second.graph.node:
        name = node.name
        for ending in _ADDED:
            name = name.removesuffix(ending)
        origin = nodes.get(name)
        if origin is not None and _may_become(origin.op_type, node.op_type):
            set_tags(node, read_tags(origin))
    if naming == "changed":
        change_names(second, Random(0))
    return finish_twin(QUANTIZED_ELSEWHERE, naming, first, second, is_sure=False)


def _may_become(before: str, after: str) -> bool:
    return after in (before, f"QLinear{before}", *_BECOMES.get(before, ()))
