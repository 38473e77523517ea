"""Whether sizes beside the edges of a picture are those of values, with channels where they are.

A third part of :mod:`tests.figure_numbers`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from netloupe.explorer.model import Node, Value
from netloupe.explorer.render.picture import Picture

if TYPE_CHECKING:
    from tests.figure_numbers import File

#: operators with a kernel
KERNELED = ("Conv", "ConvTranspose", "QLinearConv", "ConvInteger", "MaxPool", "AveragePool")
KERNELED += ("LpPool", "DeformConv", "FusedConv", "NhwcConv", "Conv3D")
_CHANNELS = re.compile(r"(\d[\d,]*) channels?")
_SIZE = re.compile(r"\d[\d,]*(?: × \d[\d,]*)+")
#: operators whose boxes tell axes, or sizes in the order of the file
_ORDERING = ("Expand", "Reshape", "Slice", "Tile", "Transpose")
#: so many values are looked at around one
_MOST_AROUND = 300
_OF_MAPS = ("BatchNormalization", "InstanceNormalization", "GroupNormalization", "Resize")
_OF_MAPS += ("Upsample", "DepthToSpace", "SpaceToDepth", "GlobalAveragePool", "LayerNormalization")
_OF_MAPS += ("ReduceMean", "Transpose", "GlobalMaxPool", "GridSample", "Einsum", "MatMul", "Pad")


def holds_batch(told: Sequence[int], known: Sequence[int], file: File) -> bool:
    """Return whether what is told of vectors counts those of all that is in a batch."""
    batch = file.find_batch()
    return batch > 1 and [*told] == [*known] and len(known) == 2 and known[0] % batch == 0


def _is_last(node: Node) -> bool:
    """Return whether what a node gives has channels last: it multiplies, or puts them there."""
    return node.op_type in ("MatMul", "Gemm", "LayerNormalization") or (
        node.op_type == "Transpose" and [*node.attributes["perm"].value][-1] == 1
    )


def _is_of_map(value: Value) -> bool:
    """Return whether something around a value convolves, pools or the like, in the same axes."""
    pending, seen = [value], {value}
    while pending and len(seen) < _MOST_AROUND:
        current = pending.pop(0)
        for node in (*filter(None, (current.producer,)), *current.users):
            if node.op_type in (*KERNELED, *_OF_MAPS):
                return True
            giver = node.inputs[0].producer if node.inputs and node.inputs[0] else None
            if node.op_type == "Reshape" and giver and "Normalization" in giver.op_type:
                return True  # of groups of channels
            if node.op_type in ("Reshape", "Squeeze", "Unsqueeze", "Gather", "Flatten"):
                continue
            near = {one for one in (*node.inputs, *node.outputs) if one is not None} - seen
            pending += near
            seen |= near
    return False


#: ``16 + 8 → 24``, ``4 × 16 → 64``, and the same turned round; ``6 × 9 → 9 × 6``
_SIDE = r"\d[\d,]*(?: [+×] \d[\d,]*)*"
_PARTS = re.compile(rf"({_SIDE}) → ({_SIDE})")


def tells_parts(text: str) -> bool:
    """Return whether a text tells parts of an axis, or axes that change places."""
    match = _PARTS.fullmatch(text)
    return match is not None and any(sign in text for sign in "+×")


def judge_parts(text: str, sizes: Collection[int]) -> Iterator[str]:
    """Judge what is told of parts or axes: both sides amount to the same, of sizes that are there.

    Parameters
    ----------
    text
        Of which `tells_parts` is so.
    sizes
        All sizes of what goes through the box.
    """
    match = _PARTS.fullmatch(text)
    sides = match.groups() if match is not None else ()
    totals = [
        math.prod(map(int, side.replace(",", "").split(" × ")))
        if "×" in side
        else sum(map(int, side.replace(",", "").split(" + ")))
        for side in sides
    ]
    if len({*totals}) > 1:
        yield f"the parts {text!r}"
    told = {int(each.replace(",", "")) for side in sides for each in re.findall(r"[\d,]+", side)}
    if sizes and not told & {*sizes}:
        yield f"the sizes of {text!r}"


def judge_order(told: Sequence[int], dims: Sequence[int]) -> bool:
    """Return whether a size stands in the order of the file, perhaps without a first axis."""
    known = [*dims]
    return [*told] in (known, known[1:], [*known[:1], *known[2:]])


def _orders_axes(picture: Picture, place: int, file: File) -> bool:
    """Return whether a box permutes axes, or gives another shape than a list, and nothing else."""
    box = picture.scene.boxes[place] if place >= 0 else None
    element = box.item.element if box is not None and not box.item.is_open else None
    node = getattr(element, "main", element) if getattr(element, "kind", "") != "block" else None
    if not isinstance(node, Node) or node.op_type not in _ORDERING:
        return False
    result = file.shapes.get(node.outputs[0].name, ()) if node.outputs and node.outputs[0] else ()
    return node.op_type != "Reshape" or sum(dim != 1 for dim in result[1:]) > 1


def judge_sizes(picture: Picture, file: File) -> Iterator[str]:
    """Judge what stands beside edges: the value has these sizes, and channels stand at one end."""
    orders: dict[bool, str] = {}
    convolved = {
        tuple(file.shapes.get(value.name, ())[1:])
        for node in picture.model.graph.nodes
        for value in node.outputs
        if value is not None and node.op_type in KERNELED
    }
    for edge in picture.scene.edges:
        alone = _CHANNELS.fullmatch(edge.label)
        if alone is not None:
            dims = file.shapes.get(edge.value.name, ())
            width = int(alone.group(1).replace(",", ""))
            if len(dims) == 4 and width not in (
                dims[1],
                dims[-1] if edge.value.producer and _is_last(edge.value.producer) else 0,
            ):
                yield f"edge {edge.path}: {edge.label} of {dims}"
        match = _SIZE.match(edge.label)
        if match is None:
            continue
        told = [int(each.replace(",", "")) for each in match.group().split(" × ")]
        is_ordered = any(_orders_axes(picture, end, file) for end in (edge.source, edge.target))
        if not is_ordered and len(told) == 3 and len({*told}) == 2 and told[0] != told[2]:
            orders.setdefault(told[0] == told[1], edge.label)  # the sides of a map are equal
        dims = file.shapes.get(edge.value.name)
        if dims is None or any(not isinstance(dim, int) for dim in dims):
            continue
        known = [dim for dim in dims if isinstance(dim, int)]
        if holds_batch(told, known, file):
            yield f"edge {edge.path}: {edge.label} of {dims} holds the batch"
        if is_ordered and not judge_order(told, known):
            yield f"edge {edge.path}: {edge.label} of {dims} beside a box that tells its axes"
        is_moved = len(known) == 4 and told == [*known[2:], known[1]] != known[1:]
        if is_moved and tuple(dims[1:]) not in convolved and not _is_of_map(edge.value):
            yield f"edge {edge.path}: {edge.label} of {dims}, which is no map"
        if any(told.count(size) > known.count(size) for size in told):
            yield f"edge {edge.path}: {edge.label} of {dims}"
    if len(orders) > 1:
        yield f"channels first and last: {orders[False]} and {orders[True]}"
