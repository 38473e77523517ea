"""Edges that leave a box with what is no result of it.

Boxes are the nodes within them, as in :mod:`tests.flow_faults`. A box that computes features gives
features: what no stored matrix has a part in is a mask, zeros or an index, and is drawn from where
it comes.
"""

from __future__ import annotations

from netloupe.explorer.layout import SceneEdge
from netloupe.explorer.render.picture import Picture
from tests.flow_faults import Boxes, find_chain
from tests.raw_graph import Key, RawGraph, RawNode

#: what a value of theirs is does not depend on the elements of what they take
_OF_SIZES = {"ConstantOfShape", "EyeLike", "Shape", "Size"}
#: takes stored numbers that tell places and sizes, or what stands where nothing else does
_TELLING = {"Expand", "Reshape", "Resize", "Slice", "Where"}
#: what a box chooses by its own lights is a result of it
_CHOOSING = {"ArgMax", "ArgMin", "NonMaxSuppression", "NonZero", "TopK"}


def find_foreign_edges(picture: Picture, raw: RawGraph) -> list[str]:
    """Return a line for each edge that leaves a closed box with what is no result of it.

    Parameters
    ----------
    picture
        A picture of a model of one file.
    raw
        The same file.
    """
    boxes = Boxes(picture, raw)
    learned = find_learned(raw)
    found: dict[str, None] = {}
    for edge in picture.scene.edges:
        if edge.kind in ("data", "captured") and 0 <= edge.source != edge.target:
            for line in _judge(edge, boxes, learned):
                found[line] = None
    return [*found]


def find_learned(raw: RawGraph) -> set[RawNode]:
    """Return the nodes that a stored matrix has a part in, or a node that takes such a one.

    What is only asked of a value's size is no part of it.
    """
    found: set[RawNode] = set()
    zeros = _find_zeros(raw)
    for node in raw.nodes.values():  # producers come first
        if node.proto.op_type in _OF_SIZES:
            continue
        if _takes_matrix(node, raw, zeros) or any(giver in found for giver in node.before):
            found.add(node)
    return found


def _takes_matrix(node: RawNode, raw: RawGraph, zeros: set[str]) -> bool:
    """Return whether a node computes with a stored matrix."""
    if node.proto.op_type in _TELLING:
        return False
    sizes = [raw.stored.get(name, ()) for name in node.taken if name not in zeros]
    return any(sum(dim > 1 for dim in dims) > 1 for dims in sizes)


def _find_zeros(raw: RawGraph) -> set[str]:
    """Return the names of stored tensors that are known to hold nothing but zeros."""
    return {
        tensor.name
        for tensor in raw.model.graph.initializer
        if tensor.raw_data and not any(tensor.raw_data)
    }


def _judge(edge: SceneEdge, boxes: Boxes, learned: set[RawNode]) -> list[str]:
    scene = boxes.picture.scene
    source = scene.boxes[edge.source]
    nodes = boxes.nodes[edge.source]
    if source.item.is_open or not nodes or len(nodes) < 2:
        return []
    chain = find_chain(source.item)
    names = [*edge.paths] if chain is not None else []
    target = scene.boxes[edge.target].item.path if edge.target >= 0 else "outside"
    lines = []
    for name in names:
        giver = _find_giver(name, edge, boxes, chain or ())
        if giver is None or giver not in nodes or giver.is_constant:
            continue
        text = f"{name} from {source.item.path} to {target}"
        if giver not in learned and not (nodes.isdisjoint(learned) or _is_chosen(giver, nodes)):
            lines.append(f"{text}: nothing learned is in it")
    return lines


def _find_giver(path: str, edge: SceneEdge, boxes: Boxes, chain: Key) -> RawNode | None:
    name = edge.value.name if path == edge.path else path.rpartition("/")[2]
    for depth in range(len(chain), -1, -1):
        origin = boxes.raw.origins.get((chain[:depth], name))
        if isinstance(origin, RawNode):
            return origin
    return None


def _is_chosen(giver: RawNode, nodes: set[RawNode]) -> bool:
    """Return whether a box chooses what it gives, as a sample of points."""
    pending, seen = [giver], {giver}
    for node in pending:  # grows
        if node.proto.op_type in _CHOOSING:
            return True
        more = [one for one in node.before if one in nodes and one not in seen]
        seen.update(more)
        pending += more
    return False
