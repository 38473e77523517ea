"""What opening a box would say more than its face and the rest of the picture do.

A frame costs room. It is worth it where what stands in it is new: blocks and operators of kinds
that neither the closed box names nor other boxes show, three boxes at least. What a block of a
known kind is, its face says better than its nodes: x·W + b is one idea, not a product and a sum.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeGuard

from netloupe.explorer.grouping import Group, list_nodes_inside, recognise_function
from netloupe.explorer.model import Node, is_constant, is_constant_node
from netloupe.explorer.operators import LAYOUT_TRAITS, TAKING_TRAITS
from netloupe.explorer.patterns import Recognition
from netloupe.explorer.patterns.details import RecurrentDetails
from netloupe.explorer.patterns.transformer_details import MlpDetails
from netloupe.explorer.roles import find_roles
from netloupe.explorer.view import Item, View, strip_numbers

#: a frame around fewer boxes says no more than a closed box
_LEAST_SHOWN = 3
#: of which so many do more than move a value
_LEAST_WORKING = 2
#: of a group with more children the kinds are not looked at: it would be opened for their number
_MOST_CHILDREN = 200
#: between the parts of a block that is called after them
_AND = " · "
#: families of operators that are no kinds of block: every figure has them, or none shows them
_EVERYWHERE = frozenset(("elementwise", "shape", "logic", "generator", "quantization"))
#: so many boxes one behind another are told by a closed box that lists them
_MOST_LISTED = 6
#: what a block is made of, beside what surrounds it
PRODUCTS = ("attends", "convolves", "multiplies", "recurrent")
#: kinds of ingredient that are one layer, which so many nodes are with all around it, and kinds of
#: group that are pieces of one
_LAYERS, _MOST_OF_LAYER = ("conv", "linear"), 8
_ARRANGED = ("part", "shape")
#: what only pools does so in so many ways, with so many nodes in all
_MOST_POOLS, _MOST_AROUND_POOLS = 3, 12
#: such nodes of a block are counted, and no more nodes looked at
_MOST_NODES = 400


def find_recognition(element: object) -> Recognition | None:
    """Return what a group, or the function that a node calls, was recognised as."""
    if isinstance(element, Group):
        return element.recognised
    if isinstance(element, Node) and element.function is not None:
        return recognise_function(element.function)
    return None


def list_kinds(element: object) -> frozenset[str]:
    """Return the kinds that the closed box of a node or group names.

    Those of ``Conv · BatchNorm · ReLU`` are three. A node that arranges or prepares values, or
    computes them element by element, is of no kind that is worth to be seen.
    """
    if isinstance(element, Group) and element.kind == "repeat":
        return list_kinds(element.children[element.exemplar])
    recognition = find_recognition(element)
    if recognition is not None:
        return frozenset(recognition.name.split(_AND))
    if isinstance(element, Group):
        if element.main is not None:
            return list_kinds(element.main)
        if element.is_beside or element.kind == "shape":
            return frozenset()
        return frozenset((element.type_name or strip_numbers(element.label),))
    if isinstance(element, Node):
        is_kind = element.operator.family not in _EVERYWHERE and _is_of_body(element)
        return frozenset((element.op_type,)) if is_kind else frozenset()
    return frozenset()


def list_kinds_inside(item: Item) -> frozenset[str] | None:
    """Return the kinds of the boxes that an item shows where it is opened.

    None where this is not known before: of nodes with bodies, and of very many children.
    """
    element = item.element
    repeat = item.repeat
    if repeat is not None:
        element = repeat.children[item.shown if item.is_open else repeat.exemplar]
    if not isinstance(element, Group) or len(element.children) > _MOST_CHILDREN:
        return None
    return frozenset().union(*map(list_kinds, element.children))


def is_told_by_face(element: object) -> bool:
    """Return whether the name and the facts of a block say all that its nodes would.

    Such are MLPs, rows of recurrent layers, blocks that are called after all that is in them, and
    those of a known kind around one product at most: linear layers, convolutions with what follows
    them, norms, activations, and ideas such as a gate or the products of pairs.
    """
    if isinstance(element, Group) and element.kind == "repeat":
        return is_told_by_face(element.children[element.exemplar])
    if not isinstance(element, Group):
        return False
    recognition = find_recognition(element)
    if recognition is None:
        return _is_one_step(element) or _only_pools(element)
    if is_called_after_parts(element):
        return True
    if recognition.family == "group" and _AND in recognition.name:
        return False
    if isinstance(recognition.details, MlpDetails) and recognition.family != "group":
        return True
    if element.node_count > _MOST_NODES:
        return False
    products = [node for node in list_nodes_inside([element]) if node.operator.has(*PRODUCTS)]
    is_row = isinstance(recognition.details, RecurrentDetails) and all(
        node.operator.has("recurrent") for node in products
    )
    return is_row or len(products) <= 1


def _is_one_step(group: Group) -> bool:
    """Return whether one node of a group computes, and all others lay out what it takes or gives.

    Such is a pool over all places whose axes are then taken away. What is gathered counts: which
    token that is the face does not say.
    """
    if group.node_count > _MOST_OF_LAYER:
        return False
    nodes = [node for node in list_nodes_inside([group]) if not is_constant_node(node)]
    working = [node for node in nodes if not node.operator.has(*LAYOUT_TRAITS, "picks")]
    return len(working) <= 1 < len(nodes) and not any(node.subgraphs for node in working)


def _only_pools(group: Group) -> bool:
    """Return whether a group only pools, in a few ways that are then joined.

    Such are the largest value and the mean over all places beside each other.
    """
    if group.node_count > _MOST_AROUND_POOLS:
        return False
    nodes = [node for node in list_nodes_inside([group]) if not is_constant_node(node)]
    working = [node for node in nodes if not _arranges(node) and not node.operator.has("joins")]
    are_pools = all(node.operator.has("pools", "reduces") for node in working)
    return are_pools and 0 < len(working) <= _MOST_POOLS


def _arranges(node: Node) -> bool:
    """Return whether a node lays out what it takes, or picks some of it at fixed places."""
    taken = node.input(0)
    at = node.input(1)
    is_pick = node.operator.has("gathers") and taken is not None and not is_constant(taken)
    is_fixed = at is not None and is_constant(at)
    return node.operator.has(*LAYOUT_TRAITS, "picks") or (is_pick and is_fixed)


def _is_one_layer(group: Group) -> bool:
    """Return whether all that a group computes is one layer, of values joined or turned for it."""
    if group.kind in _ARRANGED or len(group.contents) != 1 or group.node_count > _MOST_OF_LAYER:
        return False
    (only,) = group.contents
    return only.times == 1 and only.kind in _LAYERS


def is_called_after_parts(element: object) -> bool:
    """Return whether a group is called after all that stands in it, one behind another."""
    recognition = find_recognition(element)
    if recognition is None or not isinstance(element, Group):
        return False
    return 1 < len(element.children) <= len(recognition.name.split(_AND))


def list_shown(children: Iterable[Item]) -> list[Item]:
    """Return the boxes among the children of an open item: terminals and stubs are none."""
    return [item for item in children if not item.is_terminal and item.kind != "stub"]


def shows_enough(item: Item) -> bool:
    """Return whether a frame around what is in an open item says more than a closed box.

    Three boxes do, what only prepares left out, and the branches of a node, however few boxes
    these are; in a branch one that is no single node. Two do where both are blocks of several
    operations, or one is a repeat or has branches; one, where it does so itself
    (:func:`find_only_block`).
    """
    boxes = list_shown(item.children)
    if isinstance(item.element, Group) and _is_one_layer(item.element):
        return False
    if any(box.kind == "branch" for box in boxes):
        return True
    if item.kind == "branch":
        return len(boxes) > 1 or any(box.openable for box in boxes)
    return _are_enough([box.element for box in boxes if not _is_beside(box.element)])


def _is_beside(element: object) -> bool:
    return isinstance(element, Group) and element.is_beside


def shows_a_list(view: View, item: Item) -> bool:
    """Return whether a few boxes in an open item, each one operation, stand one behind another.

    A closed box can name them one after another, also more of them where the same few come again:
    ``(Linear · BatchNorm · ReLU) ×3``.
    """
    boxes = list_shown(item.children)
    return (
        item.kind != "branch"
        and (len(boxes) <= _MOST_LISTED or _come_again([box.element for box in boxes]))
        and all(_is_leaf(box.element) for box in boxes)
        and stands_in_row(view, item)
    )


def _come_again(elements: Sequence[object]) -> bool:
    """Return whether a few operations come again and again, in the same order."""
    names = [_name_leaf(element) for element in elements]
    return any(
        len(names) % period == 0 and names == names[:period] * (len(names) // period)
        for period in range(1, min(_MOST_LISTED, len(names) // 2) + 1)
    )


def _name_leaf(element: object) -> str:
    if not isinstance(element, Group | Node):
        return ""
    found = element.recognised if isinstance(element, Group) else find_recognition(element)
    if found is not None:
        return found.name
    return element.op_type if isinstance(element, Node) else element.label


def stands_in_row(view: View, item: Item) -> bool:
    """Return whether what is in an open item stands one behind another, and nothing branches.

    What only prepares stands beside it.
    """
    sources: set[int] = set()
    targets: set[int] = set()
    beside = {n for n, child in enumerate(item.children) if _is_beside(child.element)}
    for link in view.links(item):
        if link.source in beside:
            continue
        if link.source in sources or link.target in targets:
            return False
        sources.add(link.source)
        targets.add(link.target)
    return True


def _is_leaf(element: object) -> bool:
    if isinstance(element, Group):
        is_told = is_told_by_face(element) or _is_one_layer(element)
        return is_told and element.kind != "repeat"
    return isinstance(element, Node) and find_recognition(element) is None


def is_worth_a_frame(group: Group) -> bool:
    """Return the same of a group that is not open; see :func:`shows_enough`.

    Of a repeat it is what one of the repetitions shows.
    """
    if group.kind == "repeat":
        shown = group.children[group.exemplar]
        return isinstance(shown, Group) and is_worth_a_frame(shown)
    if is_told_by_face(group) or _is_one_layer(group):
        return False
    return _are_enough([c for c in group.children if not isinstance(c, Group) or c.kind != "shape"])


def find_only_block(shown: Sequence[object]) -> Group | Node | None:
    """Return the one group, or call, that says what a frame shows where there is little beside it.

    A residual sum around a block is such a frame: it is opened together with the block. What only
    lays out a value on its way says nothing.
    """
    shown = [element for element in shown if not _only_lays_out(element)]
    blocks = [element for element in shown if isinstance(element, Group) or is_called(element)]
    if len(shown) >= _LEAST_SHOWN or len(blocks) != 1:
        return None
    (only,) = blocks
    if isinstance(only, Group):
        return only if is_worth_a_frame(only) else None
    return only if is_called_block(only) else None


def _only_moves(element: object) -> bool:
    """Return whether an element takes a part of a value, or lays it out: words on a stream."""
    if isinstance(element, Node):
        is_pick = element.operator.has("gathers")  # at fixed places, or it looks something up
        return _arranges(element) if is_pick else element.operator.has(*TAKING_TRAITS)
    if not isinstance(element, Group) or element.kind != "operation" or element.main is None:
        return False
    return _only_moves(element.main)


def _only_lays_out(element: object) -> bool:
    if isinstance(element, Node):
        return element.operator.has(*LAYOUT_TRAITS, "pads")
    if not isinstance(element, Group) or element.kind in ("repeat", *_ARRANGED):
        return False
    if element.node_count > _MOST_OF_LAYER:
        return False
    nodes = [node for node in list_nodes_inside([element]) if not is_constant_node(node)]
    return all(map(_only_lays_out, nodes))


def is_called(element: object) -> TypeGuard[Node]:
    """Return whether an element is a call of a function of the model."""
    return isinstance(element, Node) and element.function is not None


def is_called_block(element: object) -> bool:
    """Return whether a call is of a function that shows enough for a frame of its own."""
    function = element.function if isinstance(element, Node) else None
    if function is None or len(function.nodes) > _MOST_NODES:
        return False
    recognition = find_recognition(element)
    if recognition is not None:
        is_mlp = isinstance(recognition.details, MlpDetails) and recognition.family != "group"
        products = sum(node.operator.has(*PRODUCTS) or is_called(node) for node in function.nodes)
        if is_mlp or products <= 1:
            return False
    return sum(not is_constant_node(node) for node in function.nodes) >= _LEAST_SHOWN


def _are_enough(shown: Sequence[object]) -> bool:
    if len(shown) >= _LEAST_SHOWN:
        return sum(not _only_moves(element) for element in shown) >= _LEAST_WORKING
    if find_only_block(shown) is not None:
        return True
    groups = [element for element in shown if isinstance(element, Group)]
    if len(shown) < 2:
        return False
    if any(group.kind == "repeat" for group in groups):
        return True
    if any(isinstance(element, Node) and element.subgraphs for element in shown):
        return True  # what is in its branches is told nowhere else
    return len(groups) == len(shown) and not any(map(is_told_by_face, groups))


def _is_of_body(node: Node) -> bool:
    return find_roles(node.graph).of(node) == "body"
