"""Edges of a picture that nothing in the file bears out, and flows that it does not draw.

Boxes are the nodes within them; what flows is followed in the file as ``onnx`` reads it, see
:mod:`tests.raw_graph`. Nodes that no box holds are followed through. What no input of the model
changes is a constant, and no flow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from netloupe.explorer.grouping import Group
from netloupe.explorer.layout import SceneEdge
from netloupe.explorer.model import Node, Value
from netloupe.explorer.render.picture import Picture
from netloupe.explorer.view import Item
from tests.raw_graph import Key, RawGraph, RawNode

_LOOPS = ("loop", "former", "newer")
#: what is taken of a value is how large it is
_OF_SIZES = ("Shape", "Size")


class Boxes:
    """The boxes of a picture as nodes of its file.

    Parameters
    ----------
    picture
        A picture of a model of one file.
    raw
        The same file.
    """

    def __init__(self, picture: Picture, raw: RawGraph) -> None:
        self.picture, self.raw = picture, raw
        self.calls: dict[Key, list[RawNode]] = {}
        for key, node in raw.nodes.items():
            for depth in range(1, len(key)):
                self.calls.setdefault(key[:depth], []).append(node)
        self.nodes: list[set[RawNode] | None] = [
            self._find_nodes(box.item) for box in picture.scene.boxes
        ]
        #: what boxes without others inside hold
        self.drawn: set[RawNode] = set()
        for box, nodes in zip(picture.scene.boxes, self.nodes, strict=True):
            if not box.item.is_open and nodes is not None:
                self.drawn |= nodes

    def _find_nodes(self, item: Item) -> set[RawNode] | None:
        """Return what an item holds; None where it stands for values, or is a body of a node."""
        element = item.element
        return self.find_nodes(item, element) if isinstance(element, Node | Group) else None

    def find_nodes(self, item: Item, element: Node | Group) -> set[RawNode] | None:
        """Return the nodes of a part of what an item shows; None in the body of a node."""
        chain = find_chain(item)
        if chain is None:
            return None
        found: set[RawNode] = set()
        for node in _list_nodes(element):
            key = (*chain, _name_of(node))
            if key in self.raw.nodes:
                found.add(self.raw.nodes[key])
            found.update(self.calls.get(key, ()))
        return found


def find_chain(item: Item) -> Key | None:
    """Return the calls that an item is in; None where it is in the body of a loop or branch."""
    chain: list[str] = []
    instance = item.instance.occurrence
    while instance.caller is not None:
        caller = instance.caller
        if not isinstance(caller.element, Node):
            return None
        chain.append(_name_of(caller.element))
        instance = caller.instance.occurrence
    return tuple(reversed(chain))


def _name_of(node: Node) -> str:
    return next((value.name for value in node.outputs if value is not None), "")


def _list_nodes(element: Node | Group) -> Iterator[Node]:
    pending: list[Node | Group] = [element]
    while pending:
        one = pending.pop()
        if isinstance(one, Node):
            yield one
        else:
            pending += one.children


def find_false_edges(picture: Picture, raw: RawGraph) -> list[str]:
    """Return a line for each edge between two boxes along which nothing flows."""
    boxes = Boxes(picture, raw)
    found: dict[str, None] = {}
    for edge in picture.scene.edges:
        if edge.kind in _LOOPS or edge.source == edge.target:
            continue
        line = _judge(edge, boxes)
        if line:
            found[line] = None
    return [*found]


def _judge(edge: SceneEdge, boxes: Boxes) -> str:
    scene = boxes.picture.scene
    if min(edge.source, edge.target) < 0:
        return ""
    source, target = scene.boxes[edge.source], scene.boxes[edge.target]
    one, other = boxes.nodes[edge.source], boxes.nodes[edge.target]
    name = f"{edge.path} from {source.item.path} to {target.item.path}"
    if source.item.kind == "stub" or (source.item.kind == "input" and one is None):
        values = [*source.item.values_at(source.item.outputs or source.item.inputs)]
        return _judge_start(values, target.item, other, boxes, name)
    if not one or source.parent != target.parent:
        return ""
    if all(node.is_constant for node in one):
        return ""  # positions, masks, what is made of weights alone
    givers = _resolve(edge.value, source.item, boxes)
    if any(node.is_constant for node in givers):
        return "" if any(map(boxes.raw.is_learned, givers)) else f"{name}: a constant"
    if target.item.kind in ("output", "stub"):
        values = [*target.item.values_at(target.item.inputs or target.item.outputs)]
        givers = {node for value in values for node in _resolve(value, target.item, boxes)}
        if not givers or reaches(one, givers, boxes.drawn):
            return ""
        return f"{name}: not given there"
    if not other or reaches(one, other, boxes.drawn):
        return ""
    return f"{name}: nothing flows"


def _judge_start(
    values: Iterable[Value], taker: Item, other: set[RawNode] | None, boxes: Boxes, name: str
) -> str:
    """Judge an edge from an input or a stub."""
    if not other:
        return ""
    for value in values:
        if value.producer is None:
            if value.initializer is not None:
                return ""
            chain = find_chain(taker)
            if chain or chain is None or _takes(value.name, other, boxes):
                return ""
        else:
            givers = {*_resolve(value, taker, boxes)}
            if any(node.is_constant for node in givers) or reaches(givers, other, boxes.drawn):
                return ""
    return f"{name}: not taken there"


def _resolve(value: Value, item: Item, boxes: Boxes) -> list[RawNode]:
    """Return the node in the file that gives a value, of calls what gives their results."""
    chain = find_chain(item)
    if chain is None or value.producer is None:
        return []
    for depth in range(len(chain), -1, -1):
        origin = boxes.raw.origins.get((chain[:depth], value.name))
        if isinstance(origin, RawNode):
            return [origin]
    return []


def _takes(name: str, nodes: set[RawNode], boxes: Boxes) -> bool:
    """Return whether an input of the model reaches some nodes, through others that no box has."""
    users = boxes.raw.users.get(name, [])
    through = {node for node in users if node not in boxes.drawn}
    return bool({*users} & nodes) or reaches(through, nodes, boxes.drawn)


def reaches(sources: set[RawNode], targets: set[RawNode], drawn: set[RawNode]) -> bool:
    """Return whether something flows from some nodes to others, through what no box has."""
    if not sources.isdisjoint(targets):
        return True
    pending = [node for node in sources if not node.is_constant]
    seen = {*pending}
    while pending:
        node = pending.pop()
        for other in node.after:
            if other in targets:
                return True
            if other not in seen and other not in drawn and not other.is_constant:
                seen.add(other)
                pending.append(other)
    return False


def find_lost_flows(picture: Picture, raw: RawGraph) -> list[str]:
    """Return a line for each two boxes beside each other of which one takes what no edge brings.

    A stub, or a name, beside the one that takes is as good. Sizes are not asked for.
    """
    boxes = Boxes(picture, raw)
    scene = picture.scene
    levels: dict[int, list[int]] = {}
    for number, box in enumerate(scene.boxes):
        if boxes.nodes[number]:
            levels.setdefault(box.parent, []).append(number)
    # a group that goes on in another column is several boxes
    first = {id(box.item): n for n, box in reversed([*enumerate(scene.boxes)])}
    same = [first[id(box.item)] for box in scene.boxes]
    drawn: set[tuple[int, int]] = set()
    stubs: dict[int, set[RawNode]] = {}
    for edge in scene.edges:
        if min(edge.source, edge.target) < 0:
            continue
        drawn.add((same[edge.source], same[edge.target]))
        item = scene.boxes[edge.source].item
        if item.kind == "stub":
            given = {
                node
                for value in item.values_at(item.outputs or item.inputs)
                for node in _resolve(value, item, boxes)
            }
            stubs.setdefault(edge.target, set()).update(given)
    found = []
    for level in levels.values():
        owner: dict[RawNode, int] = {}
        for number in sorted(level, key=lambda number: scene.boxes[number].item.is_open):
            for node in boxes.nodes[number] or ():
                owner.setdefault(node, number)
        for source in level:
            nodes = boxes.nodes[source] or set()
            for target, via in _find_takers(source, nodes, owner, boxes).items():
                if (same[source], same[target]) in drawn:
                    continue
                known = stubs.get(target, set())
                if known and (known & nodes or reaches(nodes, known, boxes.drawn)):
                    continue
                names = [scene.boxes[number].item.path for number in (source, target)]
                found.append(f"{names[0]} gives {via} to {names[1]}")
    return found


def _find_takers(
    source: int, nodes: set[RawNode], owner: dict[RawNode, int], boxes: Boxes
) -> dict[int, str]:
    """Return the boxes beside one that take something of it, with the name of that."""
    found: dict[int, str] = {}
    if any(owner.get(node) != source for node in nodes):
        return found  # the inset of another one
    pending = [(node, "") for node in nodes if not node.is_constant]
    seen = {*nodes}
    while pending:
        node, via = pending.pop()
        for other in node.after:
            if other.proto.op_type in _OF_SIZES or other in nodes:
                continue
            name = via or node.key[-1]
            at = owner.get(other)
            if at is not None:
                found.setdefault(at, name)
            elif other not in seen and other not in boxes.drawn and not other.is_constant:
                seen.add(other)
                pending.append((other, name))
    return found


def find_circles(picture: Picture) -> list[str]:
    """Return a line for the boxes that edges lead round, but those of marked loops."""
    scene = picture.scene
    below: dict[int, set[int]] = {}
    above: dict[int, set[int]] = {}
    for edge in scene.edges:
        if edge.kind in _LOOPS or min(edge.source, edge.target) < 0:
            continue
        one, other = scene.boxes[edge.source], scene.boxes[edge.target]
        if one.parent == other.parent and one.item.kind != "stub" and other.item.kind != "stub":
            below.setdefault(edge.source, set()).add(edge.target)
            above.setdefault(edge.target, set()).add(edge.source)
    left = {number: len(above.get(number, ())) for number in {*below, *above}}
    ready = [number for number, count in left.items() if not count]
    while ready:
        number = ready.pop()
        del left[number]
        for other in below.get(number, ()):
            if other in left:
                left[other] -= 1
                if not left[other]:
                    ready.append(other)
    # what lies only behind a circle is no part of it
    while ends := [n for n in left if not below.get(n, set()) & left.keys()]:
        for number in ends:
            del left[number]
    names = [scene.boxes[number].item.path for number in sorted(left)]
    return [f"a circle of {', '.join(names)}"] if names else []
