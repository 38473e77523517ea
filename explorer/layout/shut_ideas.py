"""Ideas that a closed box does not tell: blocks without a name that are more than a chain.

Papers draw such a block open, since it is what they are about: a mixer, a pyramid, a decoder. Its
closed box can only list what is in it, ``Linear ×5, MatMul ×2``, as no name in the field says how
these are joined. Of a block with a name, or of a chain, the closed box says all.
"""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.grouping import Group
from netloupe.explorer.model import Node, is_constant
from netloupe.explorer.patterns import IDEA, WORK, is_chain, make_ingredient
from netloupe.explorer.patterns.convolution_details import ConvolutionDetails
from netloupe.explorer.patterns.ingredients import KNOWN
from netloupe.explorer.patterns.transformer_details import MlpDetails
from netloupe.explorer.view import Item

from .opening_worth import (
    find_only_block,
    find_recognition,
    is_told_by_face,
    list_kinds,
    list_shown,
)

#: it has so many parts with work in them at least: one is told by its name
_LEAST_WORKING = 2
#: so many boxes tell something where it is open, and for each so many only arrange at most
_LEAST_TELLING, _MOST_ARRANGING = 2, 2
#: so many of a row join values where it is more than a row
_LEAST_JOINED = 3
#: as many nodes of a block are looked at for where values are joined
_MOST_NODES = 400
#: and as many groups in it
_MOST_GROUPS = 40
#: kinds of group that are no blocks: pieces of a node, and arithmetic of shapes
_NO_BLOCKS = ("operation", "part", "shape")
_AND = " · "
#: what a block with a residual sum is called where no other name is known
_ANY_RESIDUAL = "Residual block"


def is_shut_idea(element: object, around: object = None) -> bool:
    """Return whether a closed box says too little of what it is.

    Parameters
    ----------
    element
        A group, or the stack of such.
    around
        The block that it stands in: what has that block's own name is its idea.
    """
    if not isinstance(element, Group) or element.is_beside or element.kind in _NO_BLOCKS:
        return False
    block = element.children[element.exemplar] if element.kind == "repeat" else element
    if not isinstance(block, Group) or block.kind in _NO_BLOCKS:
        return False
    if any(isinstance(child, Group) and child.kind == "part" for child in block.children):
        return False  # of so many nodes that no frame shows them
    name = find_name(element)
    if name:
        is_same = name == find_name(around) and _AND not in name
        recognition = find_recognition(block)
        if name == _ANY_RESIDUAL and _adds_idea(block):
            return True
        is_mlp = recognition is not None and isinstance(recognition.details, MlpDetails)
        return is_same and not is_mlp and not is_told_by_face(block)
    working = sum(one.rank >= WORK for one in block.contents)
    if working == 0:
        return False
    if working < _LEAST_WORKING:
        return _joins_values(block, "multiplies_elements")
    return (
        not is_chain(block.contents)
        or _joins_values(block, "elementwise", "joins")
        or _takes_from_afar(block)
    )


def _takes_from_afar(group: Group) -> bool:
    """Return whether several of the ideas in a row take from others than the one before, too."""
    joined = sum(len(one.before) > 1 for one in group.contents if one.rank == IDEA)
    return joined >= _LEAST_JOINED


def holds_idea(element: object) -> bool:
    """Return whether there is such a block in a block: where it is open, another one is to be."""
    return isinstance(element, Group) and any(
        is_shut_idea(inner, element) for inner in element.inner_groups()[:_MOST_GROUPS]
    )


def shows_work(item: Item) -> bool:
    """Return whether what an open item shows is more than how values are picked and arranged."""
    shown = list_shown(item.children)
    if any(one.repeat is not None for one in shown) or find_only_block(
        [one.element for one in shown]
    ):
        return True
    telling = sum(one.is_open or bool(list_kinds(one.element)) for one in shown)
    arranging = sum(
        isinstance(one.element, Node) and one.element.operator.family == "shape" for one in shown
    )
    return telling >= _LEAST_TELLING and arranging <= _MOST_ARRANGING * telling


def find_name(element: object) -> str:
    """Return what a block, or each of a stack, has been recognised as; "" for nothing."""
    recognition = find_recognition(element)
    if recognition is not None:
        return recognition.name
    contents = element.contents if isinstance(element, Group) else []
    return contents[0].name if len(contents) == 1 and contents[0].kind == KNOWN else ""


def _adds_idea(group: Group) -> bool:
    """Return whether a residual sum is around blocks with ideas, which its own name does not tell.

    Such are blocks in a block, attention over channels, and branches beside each other. What the
    field calls by a name of its own, such as inverted residuals, has in it what that name says.
    """
    if count_joins(group, "elementwise") > 1:
        return True
    pending = [*group.inner_groups()]
    for inner in pending[:_MOST_GROUPS]:
        found = inner.recognised
        if found is None:
            pending += inner.inner_groups()
        elif not isinstance(found.details, ConvolutionDetails) and (
            make_ingredient(found, 1).rank == IDEA
        ):
            return True
    return False


def _joins_values(group: Group, *traits: str) -> bool:
    """Return whether a node with one of some traits takes two results.

    Nodes of the blocks with a name inside of the group are not meant.
    """
    return count_joins(group, *traits) > 0


def count_joins(group: Group, *traits: str) -> int:
    """Return how many nodes with one of some traits take two results.

    Nodes of the blocks with a name inside of the group are not meant.
    """
    joins = 0
    for seen, node in enumerate(_list_own_nodes(group)):
        if seen >= _MOST_NODES:
            return _MOST_NODES
        if node.operator.has(*traits):
            computed = {v for v in node.inputs if v is not None and not is_constant(v)}
            joins += len(computed) > 1
    return joins


def _list_own_nodes(group: Group) -> Iterator[Node]:
    """Yield the nodes of a group that are in no block with a name inside of it."""
    pending: list[Group | Node] = [*group.children]
    while pending:
        element = pending.pop()
        if isinstance(element, Node):
            yield element
        elif element.kind != "shape" and (
            element.kind == "operation" or find_recognition(element) is None
        ):
            pending += element.children
