"""Boxes of first views: what counts as one, what is plumbing, and edges from column to column."""

from __future__ import annotations

from netloupe.explorer.grouping import Group
from netloupe.explorer.layout import SceneBox
from netloupe.explorer.layout.opening_worth import is_called_after_parts
from netloupe.explorer.model import Model, Node, Value, is_constant_node
from netloupe.explorer.render.picture import Picture

#: in pixels; what is narrower is a circle, and what is lower words on the line of a stream
LEAST_BOX, LEAST_HEIGHT = 30.0, 20.0


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: operators that move or name values and compute nothing of a network
_MOVING = _words("""
    Cast CastLike ConstantOfShape CumSum Expand Flatten Identity Range Reshape Shape Size Squeeze
    Tile Transpose Trilu Unsqueeze
    And Equal Greater GreaterOrEqual IsNaN Less LessOrEqual Not Or Where Xor
""")
#: operators that are plumbing where they work on whole numbers or truth values
_ALSO_OF_NUMBERS = _words("""
    Abs Add Ceil Clip Concat Div Floor Gather GatherElements GatherND Max Min Mod Mul Neg Pad Pow
    ReduceMax ReduceMin ReduceProd ReduceSum ScatterElements ScatterND Sign Slice Split Sub Sum
""")
#: operators whose outputs are whole numbers or truth values, whatever they take
_NUMBERS = _words("""
    And ArgMax ArgMin CumSum Equal Greater GreaterOrEqual IsInf IsNaN Less LessOrEqual
    NonMaxSuppression NonZero Not Or Shape Size Xor
""")
_WHOLE = _words("bool int8 int16 int32 int64 uint8 uint16 uint32 uint64")


def is_box(box: SceneBox) -> bool:
    """Return whether something is drawn as a closed box of some size."""
    is_large = box.width >= LEAST_BOX and box.height >= LEAST_HEIGHT
    return not box.item.is_open and box.item.kind != "stub" and is_large


def is_plumbing(box: SceneBox, whole: set[Value]) -> bool:
    """Return whether a box is a single node that moves values, or computes whole numbers."""
    node = box.item.element
    if not isinstance(node, Node):
        return False
    if node.op_type in _MOVING:
        return True
    outputs = [value for value in node.outputs if value is not None]
    return node.op_type in _ALSO_OF_NUMBERS and bool(outputs) and outputs[0] in whole


def _has_name(group: Group) -> bool:
    """Return whether a group is one thing, and not called after what is in it."""
    return group.recognised is not None and not is_called_after_parts(group)


def is_in_block(box: SceneBox) -> bool:
    """Return whether a box is inside of an opened repetition or of a block that has a name."""
    item = box.item.parent
    while item is not None:
        element = item.element
        if item.repeat is not None:
            return True
        if isinstance(element, Group) and (element.kind == "block" or _has_name(element)):
            return True
        item = item.parent
    return False


def find_whole_values(model: Model) -> set[Value]:
    """Return the values that are whole numbers or truth values, as far as operators tell."""
    whole: set[Value] = set()
    for graph in model.graphs:
        for value in graph.values.values():
            if value.type is not None and str(value.type).partition("[")[0] in _WHOLE:
                whole.add(value)
        for node in graph.nodes:
            given = [value for value in node.inputs if value is not None]
            is_whole = node.op_type in _NUMBERS or (
                node.op_type not in ("Cast", "CastLike", "QuantizeLinear", "DequantizeLinear")
                and bool(given)
                and given[node.op_type == "Where" and len(given) > 1] in whole
                and node.op_type in _MOVING | _ALSO_OF_NUMBERS
            )
            if is_whole and not is_constant_node(node):
                whole.update(value for value in node.outputs if value is not None)
    return whole


def count_cuts(picture: Picture) -> int:
    """Return how many edges lead back up in levels that are cut, without one for each cut."""
    root = picture.scene.root
    pending, count = [root] if root is not None else [], 0
    while pending:
        level = pending.pop()
        pending += level.inner.values()
        if level.inside.columns > 1:
            boxes = level.inside.boxes
            back = {
                (edge.source, edge.path)
                for edge in level.edges
                if edge.source >= 0
                and edge.target >= 0
                and boxes[edge.target][1] < boxes[edge.source][1]
            }
            count += max(len(back) - (level.inside.columns - 1), 0)
    return count
