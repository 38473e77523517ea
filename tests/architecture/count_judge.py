"""Counts of a sentence, made anew from the file alone: weights, scores, and lists of names."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator

import onnx

_SCOPES = "pkg.torch.onnx.name_scopes"
_WORDS = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"]
_NUMBER = rf"(?<!→ )(?<![\w,.×])(?P<number>\d{{1,3}}(?:,\d{{3}})*|{'|'.join(_WORDS)}) "
_BLOCKS = r"(?:bottleneck |residual |transformer |ConvNeXt |inverted )?(?:blocks|residuals)\b"
#: of an MLP one is between its layers; some are written out with Erf, Sigmoid or Tanh
_BENDING = (
    *("Relu", "Gelu", "Erf", "Sigmoid", "Tanh", "LeakyRelu", "Elu", "Selu", "Softplus", "PRelu"),
    *("Clip", "HardSwish", "HardSigmoid", "Mish", "Celu", "Sin", "Swish", "ThresholdedRelu"),
)
_LAYERS = {
    "convolution": r"(?:\d+(?:×\d+)+ )?(?:depthwise |pointwise )?convolutions\b",
    "linear layer": r"linear layers\b",
}


def find_contradictions(model: onnx.ModelProto, sentence: str) -> Iterator[str]:
    """Yield what a sentence counts that a file does not have.

    Layers can be no more than there are weights of their operators, and blocks no more than what
    each of them has one of: a softmax, a convolution of single channels, a sum. Where nodes name
    their modules, blocks are as many as a list has members, or as lists of one form have together.
    What is used several times has a weight that as many nodes take.
    """
    yield from _find_impossible(model.graph, sentence)
    convolutions, matrices = _count_weights(model.graph)
    most = {"convolution": convolutions, "linear layer": matrices}
    for kind, noun in _LAYERS.items():
        for found in re.finditer(_NUMBER + noun, sentence):
            if _read(found["number"]) > most[kind]:
                yield f"{found[0]}: {most[kind]}"
    sizes = _list_sizes(model.graph)
    for found in re.finditer(_NUMBER + _BLOCKS, sentence):
        is_row = re.search(r"(?:stages|levels) of (?:\d+, )*$", sentence[: found.start()])
        if sizes and not is_row and _read(found["number"]) not in sizes:
            yield f"{found[0]}: {sorted(sizes)[-12:]}"


def _find_impossible(graph: onnx.GraphProto, sentence: str) -> Iterator[str]:
    """Yield counts of blocks of which a graph lacks what each of them has."""
    nodes = [*_walk(graph)]
    dims = {one.name: list(one.dims) for one in graph.initializer}
    kinds = Counter(node.op_type for node in nodes)
    if any(node.domain not in ("", "ai.onnx") for node in nodes):
        return  # a function or a fused operator may be several of them
    deep = sum(
        "Conv" in node.op_type and any(one.name == "group" and one.i > 1 for one in node.attribute)
        for node in nodes
    )
    most = {
        r"grid samplings\b": kinds["GridSample"],
        r"(?:self-|cross-)?attentions\b": kinds["Softmax"] + kinds["Attention"],
        r"transformer blocks\b": kinds["Softmax"] + kinds["Attention"],
        r"inverted residuals\b": deep,
        r"(?:residual|bottleneck) blocks\b": kinds["Add"] + kinds["Sum"],
        r"MLPs\b": sum(kinds[kind] for kind in _BENDING),
    }
    for noun, count in most.items():
        for found in re.finditer(_NUMBER + noun, sentence):
            if _read(found["number"]) > count:
                yield f"{found[0]}: {count}"
    takers = Counter(name for node in nodes for name in {*node.input} if dims.get(name))
    for found in re.finditer(r"(?:used|^|, )(?: ?)(\d+) times", sentence):
        if int(found[1]) not in takers.values():
            yield f"{found[0]}: {sorted({*takers.values()})}"


def _walk(graph: onnx.GraphProto) -> Iterator[onnx.NodeProto]:
    for node in graph.node:
        yield node
        for one in node.attribute:
            yield from _walk(one.g) if one.HasField("g") else ()


def _read(word: str) -> int:
    return _WORDS.index(word) + 2 if word in _WORDS else int(word.replace(",", ""))


def _count_weights(graph: onnx.GraphProto) -> tuple[int, int]:
    """Return how many convolutions and products a graph has with operands of their own."""
    convolutions, matrices = set(), set()
    for node in graph.node:
        if "Conv" in node.op_type:
            convolutions.add(node.input[1])
        elif "MatMul" in node.op_type or node.op_type in ("Gemm", "Einsum", "FusedMatMul"):
            matrices.add(node.output[0])
    return len(convolutions), len(matrices)


def _read_path(node: onnx.NodeProto) -> tuple[str, ...]:
    scopes = {prop.key: prop.value for prop in node.metadata_props}.get(_SCOPES)
    if scopes is not None:
        names = ast.literal_eval(scopes)
        return tuple(names[-2].split(".")) if len(names) > 1 and names[-2] else ()
    words: list[str] = []
    outer = ""
    for name in node.name.split("/")[:-1]:
        words += [one for one in name.removeprefix(f"{outer}.").split(".") if one]
        outer = name
    return tuple(words)


def _list_sizes(graph: onnx.GraphProto) -> set[int]:
    """Return how many members numbered lists have, alone and with all of their form."""
    lists: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for node in graph.node:
        path = _read_path(node)
        for place, word in enumerate(path):
            if word[-1:].isdigit():
                lists[(*path[:place], re.sub(r"\d+$", "#", word))].add(word)
    forms: dict[tuple[str, ...], int] = defaultdict(int)
    for key, members in lists.items():
        forms[tuple(re.sub(r"\d+$", "#", word) for word in key)] += len(members)
    alone = {len(members) for members in lists.values()} | {*forms.values()}
    numbered = [count for form, count in forms.items() if form[-1] == "#"]
    return alone | {one + two for one in numbered for two in numbered}
