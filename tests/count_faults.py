"""How many operators a closed box says that it has, against those that the file has there."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from netloupe.explorer.grouping import Group
from netloupe.explorer.render.picture import Picture
from tests.figure_counts import join_rows
from tests.flow_faults import Boxes
from tests.raw_graph import RawGraph, RawNode
from tests.title_faults import CONVOLUTIONS, PRODUCTS, list_weights

_TIMES = re.compile(r"^(.*?) ×(\d+)$")


def read_chain(text: str) -> Counter[str]:
    """Return how often a chain such as ``(Conv · ReLU) ×3 · Linear`` names each of its words."""
    found: Counter[str] = Counter()
    depth, part, parts = 0, "", []
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if not depth and letter in "·,":
            parts.append(part.strip())
            part = ""
        else:
            part += letter
    parts.append(part.strip())
    for each in parts:
        match = _TIMES.match(each)
        word, times = (match.group(1), int(match.group(2))) if match else (each, 1)
        if word.startswith("(") and word.endswith(")"):
            for inner, count in read_chain(word[1:-1]).items():
                found[inner] += count * times
        elif word:
            found[word] += times
    return found


def count_operators(nodes: set[RawNode], raw: RawGraph) -> dict[str, tuple[int, int]]:
    """Return how many convolutions, and products with weights and without, some nodes are.

    Of each kind how many have weights of their own, and how many there are altogether.
    """
    seen: dict[str, set[object]] = {"Conv": set(), "Linear": set(), "MatMul": set()}
    counts: Counter[str] = Counter()
    for node in nodes:
        kind = node.proto.op_type
        if kind not in (*CONVOLUTIONS, *PRODUCTS):
            continue
        weights = [name for name in list_weights(node, raw) if len(raw.stored[name]) > 1]
        word = "Conv" if kind in CONVOLUTIONS else "Linear" if weights else "MatMul"
        seen[word].add(tuple(weights) or node)
        counts[word] += 1
    return {word: (len(seen[word]), counts[word]) for word in seen}


#: how many convolutions, products with weights and products without a named part has at least,
#: and at most
_HELD = {
    "Conv": {"Conv": (1, 1)},
    "Depthwise conv": {"Conv": (1, 1)},
    "Deconv": {"Conv": (1, 1)},
    "Linear": {"Linear": (0, 1), "Conv": (0, 1), "MatMul": (0, 1)},
    "MatMul": {"MatMul": (1, 1)},
    "MLP": {"Linear": (2, 4), "Conv": (0, 4)},
    "Gated MLP": {"Linear": (2, 3), "Conv": (0, 3)},
    "Self-attention": {"Linear": (1, 4), "MatMul": (0, 2), "Conv": (0, 4)},
    "Cross-attention": {"Linear": (1, 4), "MatMul": (0, 2), "Conv": (0, 4)},
    "Attention": {"Linear": (0, 4), "MatMul": (0, 2), "Conv": (0, 4)},
    "Depthwise-separable conv": {"Conv": (2, 2)},
    "Bottleneck block": {"Conv": (3, 4)},
    "Inverted residual": {"Conv": (2, 5)},
    "Residual block": {"Conv": (1, 12), "Linear": (0, 4)},
    "Squeeze-and-excitation": {"Conv": (0, 2), "Linear": (0, 2)},
    "ConvNeXt block": {"Conv": (1, 3), "Linear": (0, 2)},
}
#: what has none of these
_OTHERS = (
    *(
        "BatchNorm",
        "BN",
        "GroupNorm",
        "GN",
        "LayerNorm",
        "RMSNorm",
        "InstanceNorm",
        "ReLU",
        "ReLU6",
    ),
    *(
        "LeakyReLU",
        "PReLU",
        "GELU",
        "SiLU",
        "Sigmoid",
        "Tanh",
        "Mish",
        "HardSwish",
        "ELU",
        "Softplus",
    ),
    *("Softmax", "Concat", "Add", "Mul", "MaxPool", "AveragePool", "Resize", "Split", "Slice"),
    *("Embedding", "Transpose", "Gather", "DepthToSpace"),
)


def find_false_counts(picture: Picture, raw: RawGraph) -> list[str]:
    """Return a line for each closed box that counts other operators than it has."""
    boxes = Boxes(picture, raw)
    found: dict[str, None] = {}
    for number, box in enumerate(picture.scene.boxes):
        element = box.item.element
        nodes = boxes.nodes[number]
        if box.item.is_open or not isinstance(element, Group) or not nodes:
            continue
        texts = join_rows([run.text for run in picture.labels.draw(box.item).texts])
        # of an end it is said that it lacks something
        has_odd_end = any("the last without" in text or "the first" in text for text in texts)
        for text in texts:
            for line in _judge_text(text, box.item.repeat, nodes, boxes, has_odd_end):
                found[f"{box.item.path}: {text}: {line}"] = None
    return [*found]


def _judge_text(
    text: str, repeat: Group | None, nodes: set[RawNode], boxes: Boxes, has_odd_end: bool
) -> Iterator[str]:
    words = read_chain(text)
    match = _TIMES.match(text)
    if match and "(" not in text and "," not in text and match.group(1).count(" · ") in (1, 2):
        return  # ``Conv · BN · ReLU ×3`` may be three of these
    if not {*words} & {"Conv", "Depthwise conv", "Linear", "MatMul"}:
        return
    if not all(word in _HELD or word in _OTHERS for word in words):
        return
    total = count_operators(nodes, boxes.raw)
    # a product with weights may be a convolution or an Einsum
    kinds = ["Conv", "Linear", "MatMul"] if {"Linear", "MatMul"} & {*words} else ["Conv"]
    held = [
        (number, _HELD.get(word, {}).get(kind)) for word, number in words.items() for kind in kinds
    ]
    least = sum(number * bounds[0] for number, bounds in held if bounds)
    most = sum(number * bounds[1] for number, bounds in held if bounds)
    own, count = (sum(total[kind][end] for kind in kinds) for end in (0, 1))
    times = {1} if repeat is None else {1, len(repeat.children)}
    if not any(least * (n - (has_odd_end and n > 1)) <= count and own <= most * n for n in times):
        yield f"{least} to {most} of {', '.join(kinds)} told, {own} to {count} there"
