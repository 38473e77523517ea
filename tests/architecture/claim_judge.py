"""What words of a sentence need in the file: operators without which what they say is not there."""

from __future__ import annotations

import re
from collections.abc import Iterator

import onnx

_SHARES = frozenset(
    {"Softmax", "QLinearSoftmax", "Attention", "MultiHeadAttention", "ReduceLogSumExp", "Exp"}
)
_GATES = frozenset({"Sigmoid", "HardSigmoid", "QLinearSigmoid", "Clip", "Swish"})
_LARGER = frozenset({"Resize", "Upsample", "ConvTranspose", "DepthToSpace", "GridSample"})
_MEANS = frozenset({"ReduceMean", "GlobalAveragePool", "AveragePool", "QLinearGlobalAveragePool"})
#: for each word any of some operators
_NEEDS: dict[str, frozenset[str]] = {
    r"\bGELU\b": frozenset({"Gelu", "Erf", "Tanh", "Sigmoid", "FastGelu", "QuickGelu"}),
    r"\bSiLU\b": frozenset({"Sigmoid", "Swish", "QuickGelu"}),
    r"\bSwiGLU\b": frozenset({"Sigmoid", "Swish", "SwiGLU", "QuickGelu"}),
    r"\bMish\b": frozenset({"Mish", "Softplus"}),
    r"\btanh\b(?!\))": frozenset({"Tanh", "Gelu", "FastGelu"}),
    r"\bLeakyReLU\b": frozenset({"LeakyRelu"}),
    r"\bReLU6\b": frozenset({"Clip"}),
    r"\bPReLU\b": frozenset({"PRelu"}),
    r"\bSoftplus\b|shifted softplus": frozenset({"Softplus", "Log"}),
    r"\bhard swish\b": frozenset({"HardSwish", "HardSigmoid", "Clip"}),
    r"\bLSTM\b": frozenset({"LSTM", "Sigmoid", "DynamicQuantizeLSTM"}),
    r"\bGRU\b": frozenset({"GRU", "Sigmoid"}),
    r"\btransposed\b": frozenset({"ConvTranspose"}),
    r"\bconvolutions?\b": frozenset({"Conv", "ConvTranspose", "QLinearConv", "ConvInteger"}),
    r"\bvocabulary\b": frozenset({"Gather", "Embedding", "EmbedLayerNormalization"}),
    r"attention\b(?! pooling)": _SHARES | _GATES | {"MatMul"},
    r"\btransformer block": _SHARES | {"Relu"},
    r"\bLayerNorm\b": frozenset({"LayerNormalization", "SkipLayerNormalization"}) | _MEANS,
    r"\bRMSNorm\b": frozenset({"RMSNormalization", "SimplifiedLayerNormalization"}) | _MEANS,
    r"\bUNet\b|\b[Cc]onvolutional encoder-decoder\b": _LARGER,
    r"\bmessage passing\b": frozenset({"ScatterElements", "ScatterND", "MatMul", "ReduceSum"}),
    r"\bgrid sampling": frozenset({"GridSample"}),
    r"\bvector quantizer\b": frozenset({"ArgMin", "ArgMax", "TopK"}),
    r"\bexperts\b": frozenset({"TopK", "Softmax", "MoE", "QMoE"}),
    r"\bsqueeze-and-excitation\b": _MEANS,
    r"\bgated units?\b|\bGLUs?\b": _GATES | {"Tanh"},
}
_DEEP = re.compile(r"depthwise|[Ii]nverted.residual|ConvNeXt")


def find_unfounded(model: onnx.ModelProto, sentence: str) -> Iterator[str]:
    """Yield words of a sentence that a file has nothing for."""
    nodes = [*_walk(model.graph.node)]
    for function in model.functions:
        nodes += _walk(function.node)
    there = {node.op_type for node in nodes}
    for word, needed in _NEEDS.items():
        found = re.search(word, sentence)
        if found and not needed & there:
            yield f"{found[0]}: none of {sorted(needed)}"
    found = _DEEP.search(sentence)
    if found and not any(map(_is_grouped, nodes)):
        yield f"{found[0]}: no convolution of groups"
    if re.search(r"(?<![A-Za-z])(?<!squared )ReLU\b", sentence) and not _has_plain_relu(nodes):
        yield "ReLU: each is squared, or there is none"


def _walk(nodes: Iterator[onnx.NodeProto]) -> Iterator[onnx.NodeProto]:
    for node in nodes:
        yield node
        for one in node.attribute:
            yield from _walk(one.g.node) if one.HasField("g") else ()


def _is_grouped(node: onnx.NodeProto) -> bool:
    return any(one.name == "group" and one.i > 1 for one in node.attribute)


def _has_plain_relu(nodes: list[onnx.NodeProto]) -> bool:
    """Return whether a ReLU is not squared; other domains and stored ranges may hold one."""
    if any(node.domain not in ("", "ai.onnx") or "Linear" in node.op_type for node in nodes):
        return True
    given = {node.output[0] for node in nodes if node.op_type in ("Relu", "Clip", "Max")}
    squared = set()
    for node in nodes:
        if node.op_type == "Pow" or (node.op_type == "Mul" and len({*node.input}) == 1):
            squared.add(node.input[0])
    return bool(given - squared)
