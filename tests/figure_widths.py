"""Whether widths that stand in a row on a closed box are those of layers one behind the other.

``3 → 8 → 32`` is so where a layer of the box takes 3 features and gives 8, and a layer that takes
what comes of it takes 8 and gives 32: read from the weights and the wiring in the file alone. What
is side by side has courses of its own. Layers that keep a width may stand between, and what takes
all places of a map takes so many times its channels.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from itertools import pairwise
from math import isqrt
from pathlib import Path

from netloupe.explorer.grouping import Group
from netloupe.explorer.render.picture import Picture
from tests.flow_faults import Boxes
from tests.raw_graph import RawGraph, RawNode

_COURSE = re.compile(
    r"(?<![\w×.,/] )(?<![\w×.,/→])\d[\d,]*(?: ×\d+)?(?: → \d[\d,]*(?: ×\d+)?){2,}(?! → …)"
)
_RUN = re.compile(r"(\d[\d,]*)(?: ×(\d+))?")
_CONVOLUTIONS = ("Conv", "ConvInteger", "QLinearConv", "FusedConv", "NhwcConv")
_PRODUCTS = ("MatMul", "Gemm", "MatMulInteger", "QLinearMatMul", "QGemm", "FusedMatMul", "Einsum")
_RECURRENT = {"LSTM": 4, "GRU": 3, "RNN": 1}
_PARTING = ("Split", "Slice", "GatherND", "Gather")
_SUMS = ("Add", "Sum", "QLinearAdd", "Concat")
_MOST_NODES = 4_000
#: a weight is quantized, cast and turned by so many nodes at most
_MOST_STEPS = 6

#: what a layer takes and gives
Pair = tuple[int, int]
#: how far a course was followed, and whether a convolution was the last layer
State = tuple[int, bool]


def find_strung_widths(picture: Picture, path: Path) -> list[str]:
    """Return a line for each course on a closed box along which no layers stand.

    Parameters
    ----------
    picture
        A picture of a model in one file.
    path
        That file.
    """
    raw = RawGraph(path)
    boxes = Boxes(picture, raw)
    found: dict[str, None] = {}
    for box in picture.scene.boxes:
        element = box.item.repeat or box.item.element
        if box.item.is_open or not isinstance(element, Group):
            continue
        nodes = boxes.find_nodes(box.item, element) or set()
        if not 0 < len(nodes) <= _MOST_NODES or any(node.proto.domain for node in nodes):
            continue
        for run in picture.labels.draw(box.item).texts:
            for text in _COURSE.findall(run.text):
                if not has_path(read_course(text), nodes, raw):
                    found[f"{box.item.path}: {text}"] = None
    return [*found]


def read_course(text: str) -> list[int]:
    """Return widths one by one: ``3 → 8 ×2 → 4`` has 8 twice."""
    widths: list[int] = []
    for width, times in _RUN.findall(text):
        widths += [int(width.replace(",", ""))] * int(times or 1)
    return widths


def has_path(widths: list[int], nodes: Collection[RawNode], raw: RawGraph) -> bool:
    """Return whether some layers stand one behind the other that go through widths.

    Parameters
    ----------
    widths
        What the first takes, and what each gives.
    nodes
        The nodes of a box.
    raw
        The file that they are in.
    """
    layers = {node: pairs for node in nodes if (pairs := read_layer(node, raw))}
    attends = any(node.proto.op_type in ("Attention", "Softmax") for node in nodes)
    if not layers or attends:
        return True  # its weights are not known, or what attention takes is told of in between
    if any(node.proto.op_type in _PARTING for node in nodes):
        # of what a gate takes one half is multiplied with the other
        for pairs in layers.values():
            pairs |= {
                half
                for taken, given in [*pairs]
                for half in ((taken, given // 2), (taken // 2, given // 2))
            }
    states: dict[RawNode, set[State]] = {}
    for node in raw.nodes.values():
        if node in nodes and not node.is_constant:
            coming: set[State] = set().union(*(states.get(one, set()) for one in node.before))
            pairs = layers.get(node)
            is_map = node.proto.op_type.startswith(("Conv", "QLinearConv"))
            known = _pass(node, widths, coming)
            states[node] = known if pairs is None else _follow(pairs, widths, known, is_map)
            if any(place == len(widths) - 1 for place, _ in states[node]):
                return True
    return False


def _follow(
    pairs: Collection[Pair], widths: list[int], coming: Collection[State], is_map: bool
) -> set[State]:
    """Return how far courses are followed behind a layer, which may begin one."""
    found: set[State] = set()
    for taken, given in pairs:
        if taken == given == widths[0]:
            found.add((0, is_map))
        if taken == widths[0] and given == widths[1]:
            found.add((1, is_map))
        for place, was_map in coming:
            width = widths[place]
            of_places = was_map and not is_map and taken % width == 0
            if taken != width and not of_places:
                continue
            if given == width:
                found.add((place, is_map))
            if place + 1 < len(widths) and given == widths[place + 1]:
                found.add((place + 1, is_map))
    return found


def _pass(node: RawNode, widths: list[int], coming: Collection[State]) -> set[State]:
    """Return what comes behind a node that may be no layer: sums end blocks, pixels are moved."""
    found = {*coming}
    kind = node.proto.op_type
    perm = next((a.ints for a in node.proto.attribute if a.name == "perm"), ())
    moves = kind in ("DepthToSpace", "SpaceToDepth") or (kind == "Transpose" and len(perm) > 5)
    for place, is_map in coming:
        if place + 1 == len(widths):
            continue
        before, after = sorted(widths[place : place + 2])
        is_square = after % before == 0 and isqrt(after // before) ** 2 == after // before
        if (kind in _SUMS and before == after) or (moves and is_square):
            found.add((place + 1, is_map))
    return found


def read_layer(node: RawNode, raw: RawGraph) -> set[Pair]:
    """Return what a layer takes and gives, as its weight has it; nothing for what is none."""
    kind = node.proto.op_type
    attributes = {one.name: one for one in node.proto.attribute}
    group = attributes["group"].i if "group" in attributes else 1
    sizes = [*_list_weights(node, raw)] if _is_layer(kind) else []
    found: set[Pair] = set()
    for dims in sizes:
        if kind in _RECURRENT and len(dims) == 3:
            found.add((dims[2], dims[1] // _RECURRENT[kind] * dims[0]))
        elif kind == "ConvTranspose" and len(dims) > 2:
            found.add((dims[0], dims[1] * group))
        elif kind in _CONVOLUTIONS and len(dims) > 2:
            found.add((dims[1] * group, dims[0]))
        elif kind in _PRODUCTS:
            found |= {*_read_product(kind, dims, attributes)}
    return found


def _read_product(
    kind: str, dims: tuple[int, ...], attributes: Mapping[str, object]
) -> Iterator[Pair]:
    """Yield what a product with a matrix may take and give: transposed or not, if not said."""
    last = dims[-2:]
    if len(last) == 2:
        yield last
        if kind != "MatMul":
            yield last[::-1]
        for before, after in pairwise(dims):
            if kind == "Einsum":
                yield before, after


def _list_weights(node: RawNode, raw: RawGraph) -> Iterator[tuple[int, ...]]:
    """Yield the sizes of the matrices that a node takes, through what no input enters."""
    pending = [(node, 0, False)]
    for one, depth, is_turned in pending:
        for name in one.taken:
            dims = raw.stored.get(name, ())
            if len(dims) > 1:
                yield dims[::-1] if is_turned and len(dims) == 2 else dims
        if depth < _MOST_STEPS:
            pending += [
                (other, depth + 1, is_turned != (other.proto.op_type == "Transpose"))
                for other in one.before
                if other.is_constant
            ]


def _is_layer(kind: str) -> bool:
    return kind in (*_CONVOLUTIONS, *_PRODUCTS, "ConvTranspose") or kind in _RECURRENT
