"""Whether counts and numbers of members in a picture are those of the file, read by its bytes.

A second part of :mod:`tests.figure_numbers`: how many layers a box counts, which member of a stack
has which number, and whether widths that stand in a row are of layers in a row.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from netloupe.explorer.grouping import Group
from netloupe.explorer.grouping.member_nodes import list_member_nodes
from netloupe.explorer.model import Node

_ITEM = re.compile(r"([A-Z][\w-]*(?: [a-z-]+)*)(?: ×([\d,]+))?")
_LISTED = re.compile(rf"{_ITEM.pattern}(?:, {_ITEM.pattern})*")
#: what in a list beside convolutions has none of its own that a reader would leave out
_WITHOUT = re.compile(r"Summed branches|MLP|Linear|(Max|Average)Pool|Softmax|Concat|Resize|Conv")
_NUMBERS = re.compile(r"\b(dilation|kernel) (\d+(?:, \d+)+)(?! in |\d|, \d| …)")
_ATTRIBUTES = {"dilation": "dilations", "kernel": "kernel_shape"}
_CONVOLVING = ("Conv", "ConvTranspose", "QLinearConv")
_MLPS = re.compile(r"MLP ×(\d+)")
_COURSE = re.compile(r"\d[\d,]*(?: → \d[\d,]*){2,}")
_FIRST = re.compile(r"(\d[\d,]*) → ")
_MOST_NODES = 4_000


def join_rows(texts: Sequence[str]) -> list[str]:
    """Return texts of a box with those in one that are a list in two rows."""
    joined: list[str] = []
    for text in texts:
        if joined and joined[-1].endswith((",", " ·")):
            joined[-1] = f"{joined[-1]} {text}"
        else:
            joined.append(text)
    return joined


def judge_counts(
    texts: Sequence[str], nodes: Sequence[Node], stored: Mapping[str, Sequence[int]]
) -> Iterator[str]:
    """Yield what a closed box that is no stack counts otherwise than its nodes have it.

    Layers are those with different weights, and attention is there as often as something is
    distributed, divided by how often all weights are taken.
    """
    convolving = [node for node in nodes if node.op_type in _CONVOLVING]
    weights = {_read_weight(node, stored) for node in convolving} - {""}
    pointwise = {name for name in weights if {*stored.get(name, (0, 0))[2:]} == {1}}
    for text in texts:
        if not _LISTED.fullmatch(text):
            continue
        items = {name: int((times or "1").replace(",", "")) for name, times in _ITEM.findall(text)}
        told = items.get("Conv")
        # one of single places may be told as the linear layer that it is at each
        fewest = len(weights) - min(items.get("Linear", 0), len(pointwise))
        is_all = all(_WITHOUT.fullmatch(name) for name in items)
        if told is not None and weights and (told > len(weights) or (is_all and told < fewest)):
            yield f"{told} convolutions of {len(weights)} in {text!r}"
        calls = _count_calls(nodes, stored)
        heads = sum(node.op_type == "Softmax" for node in nodes)
        if items.get("Self-attention", 0) > 1 < calls and items["Self-attention"] * calls > heads:
            yield f"attention of {calls} calls counted as {items['Self-attention']} in {text!r}"
    yield from _judge_mlps(texts, nodes, stored)


def _judge_mlps(
    texts: Sequence[str], nodes: Sequence[Node], stored: Mapping[str, Sequence[int]]
) -> Iterator[str]:
    """Judge widths beside several MLPs: as many arrows as layers, if not the ends alone."""
    if not any(int(times) > 1 for text in texts for times in _MLPS.findall(text)):
        return
    layers = {
        _read_weight(node, stored) for node in nodes if node.op_type in ("MatMul", "Gemm")
    } - {""}
    for text in texts:
        for course in _COURSE.findall(text):
            if layers and course.count("→") != len(layers):
                yield f"{course.count('→')} steps of {len(layers)} layers in {text!r}"


def judge_member_numbers(texts: Sequence[str], repeat: Group) -> Iterator[str]:
    """Yield lists of numbers on a stack that are not those of each member in its order."""
    for text in texts:
        for what, listed in _NUMBERS.findall(text):
            told = [int(one) for one in listed.split(", ")]
            if f"{what} {listed} in turns" in text:
                continue
            found = [_find_largest(child, _ATTRIBUTES[what]) for child in repeat.children]
            if told != found:
                yield f"{what} {told} of members with {found} in {text!r}"


def _find_largest(child: Group | Node, attribute: str) -> int:
    nodes = list_member_nodes(child, _MOST_NODES) if isinstance(child, Group) else [child]
    found = [1]
    for node in nodes:
        if node.op_type in _CONVOLVING and attribute in node.attributes:
            value = node.attributes[attribute].value
            found += value if isinstance(value, list | tuple) else []
    return max(found)


def _read_weight(node: Node, stored: Mapping[str, Sequence[int]]) -> str:
    """Return the name of the weight that a node multiplies by; "" for none."""
    given = [value.name for value in node.inputs[:2] if value is not None]
    known = [name for name in given if len(stored.get(name, ())) > 1]
    return known[-1] if known else ""


def _count_calls(nodes: Sequence[Node], stored: Mapping[str, Sequence[int]]) -> int:
    """Return how often most weights of layers are taken."""
    layers = (node for node in nodes if node.op_type in ("MatMul", "Gemm", *_CONVOLVING))
    names = Counter(_read_weight(node, stored) for node in layers)
    del names[""]
    times = Counter(names.values())
    return times.most_common(1)[0][0] if times else 1


def judge_first_width(
    texts: Sequence[str],
    repeat: Group,
    stored: Mapping[str, Sequence[int]],
    shapes: Mapping[str, Sequence[int | str | None]],
) -> Iterator[str]:
    """Yield courses on a stack whose first width no layer takes that stands first in its first."""
    first = repeat.children[0]
    nodes = [*list_member_nodes(first, _MOST_NODES)] if isinstance(first, Group) else [first]
    inside = {*nodes}
    taken: set[int] = set()
    entering: set[int] = set()
    for node in nodes:
        for value in node.inputs:
            if value is not None and value.producer not in inside:
                dims = shapes.get(value.name, ())
                entering.update(dim for dim in (*dims[1:2], *dims[-1:]) if isinstance(dim, int))
        data, weight = [*node.inputs[:2], None, None][:2]
        if data is None or weight is None or data.producer in inside or weight.name not in stored:
            continue
        if node.op_type in ("Conv", "MatMul", "Gemm"):
            own = stored[weight.name]
            taken.update(own[1:2] if node.op_type == "Conv" else own)
    for text in texts:
        match = _FIRST.match(text)
        width = int(match.group(1).replace(",", "")) if match else 0
        if taken and width and width not in entering | taken:
            yield f"the first of {taken} in {text!r}"
