"""What closed boxes leave untold: the one measure of what a first view opens for its ideas.

Of each closed box it is

    its share of the model x how little its face explains x how much of it is new.

The share is that of the nodes and of the parameters, those of all repetitions and of all blocks
that are made alike; what a face explains is 0 for a list of parts, and all for a name in the field
or a chain of such. New are those of its kinds of part that no open block shows: of two alike one
tells what both are. A picture is better the less all its closed boxes leave untold, as long as it
fits the page (:mod:`.idea_insets`): what a name explains gives its room to what none does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from netloupe.explorer.grouping import Group
from netloupe.explorer.model import Model
from netloupe.explorer.patterns import IDEA, WORK, is_chain
from netloupe.explorer.view import Item, is_recursive, nodes_inside, strip_numbers

from .shut_ideas import count_joins, find_name, is_shut_idea

#: how little a face explains that tells a chain, which is joined besides, or lists known blocks
_OF_KNOWN = 0.5
#: a list of known blocks is wired otherwise than in a row where so many values are joined: where
#: there is one, positions are added to tokens
_LEAST_JOINS, _JOINING = 2, ("adds", "multiplies_elements", "joins")
#: such a share of its parts are blocks with a name
_OF_IDEAS = 0.8
#: between the parts of a row
_AND = " · "
#: what is drawn for its idea shows so many boxes
_LEAST_SHOWN, _MOST_SHOWN = 3, 40
#: groups are looked at in closed boxes, and models of more nodes are not: their parts are stacks
_MOST_GROUPS, _MOST_NODES = 600, 40_000
#: a stack is all that a block is about where it leaves so much of that untold
_MOST_OF_BLOCK = 0.7
#: of so many blocks that are alike the first and the last are shown last
_LEAST_ALIKE = 3
#: of more groups beside each other nobody asks which are alike
_MOST_BESIDE = 200
#: what leaves less untold is a detail
_LEAST_UNTOLD = 0.02


class UntoldBlock(NamedTuple):
    """A block that no box of a picture tells.

    Parameters
    ----------
    item
        The closed item that holds it.
    way
        Groups from the item's own to the block's, each in the one before.
    untold
        What all closed boxes that are made as the block leave untold together.
    made_of
        What tells blocks that are made alike.
    novelty
        How much of it is new.
    """

    item: Item
    way: tuple[Group, ...]
    untold: float
    made_of: tuple[str, ...]
    novelty: float

    @property
    def group(self) -> Group:
        """The block, or a stack of such."""
        return self.way[-1]


def rate_face(element: object, around: object = None) -> float:
    """Return how little the closed box of something explains: 0 for all, 1 for a list of parts."""
    if not isinstance(element, Group) or not is_shut_idea(element, around):
        return 0.0
    contents = element.contents
    ideas = sum(one.rank == IDEA for one in contents)
    if ideas >= _OF_IDEAS * sum(one.rank >= WORK for one in contents):
        block = element.children[element.exemplar] if element.kind == "repeat" else element
        joins = count_joins(block, *_JOINING) if isinstance(block, Group) else 0
        return _OF_KNOWN if joins >= _LEAST_JOINS or find_name(element) else 0.0
    return _OF_KNOWN if is_chain(contents) else 1.0


def list_untold(model: Model, closed: list[Item], opened: Iterable[Item] = ()) -> list[UntoldBlock]:
    """Return the blocks that no box tells and a frame would, those that leave most untold first.

    Parameters
    ----------
    model
        The whole, of which they have a share.
    closed
        The closed items of a picture.
    opened
        Its open blocks.
    """
    if len(model.graph.nodes) > _MOST_NODES:
        return []
    seen = _list_seen(closed, opened)
    found: list[tuple[Item, tuple[Group, ...], tuple[str, ...], float]] = []
    shares: dict[tuple[str, ...], dict[Group, float]] = {}
    room = _MOST_GROUPS
    for item in closed:
        if isinstance(item.element, Group) and item.openable and not is_recursive(item):
            times = _count_repetitions(item)
            around = _tell_around(item)
            for way, rate, inner in _list_in(item.element, around, room):
                room -= 1
                made_of = tell_parts(way[-1])
                novelty = measure_novelty(way[-1], seen)
                share = rate * times * inner * way[-1].share * novelty
                found.append((item, way, made_of, novelty))
                counted = shares.setdefault(made_of, {})
                if not any(outer in counted for outer in way[:-1]):
                    counted[way[-1]] = share
    blocks = [
        UntoldBlock(item, way, sum(shares[made_of].values()), made_of, novelty)
        for item, way, made_of, novelty in found
        if _LEAST_SHOWN <= count_shown(way[-1]) <= _MOST_SHOWN and not _ends_model(way[-1])
    ]
    blocks = [
        block
        for block in blocks
        if block.untold >= _LEAST_UNTOLD and not any(_is_all_of(one, block) for one in blocks)
    ]
    return sorted(blocks, key=lambda one: (-one.untold, len(one.way), _is_end(one)))


def _is_end(block: UntoldBlock) -> bool:
    """Return whether a block is the first or the last of several, or in such a one.

    The first often takes what is stored, and the last gives less than the others.
    """
    return any(
        group.kind != "repeat"
        and len(alike := list_alike(group)) >= _LEAST_ALIKE
        and group in (alike[0], alike[-1])
        for group in block.way
    )


def list_alike(group: Group) -> list[Group]:
    """Return a group and what stands in one with it and is called alike, in order."""
    if group.parent is None:
        return [group]
    key = strip_numbers(group.label), group.type_name
    inner = group.parent.inner_groups()
    if len(inner) > _MOST_BESIDE:
        return [group]
    return [one for one in inner if (strip_numbers(one.label), one.type_name) == key]


def _list_in(
    group: Group, around: object, most: int
) -> Iterator[tuple[tuple[Group, ...], float, int]]:
    """Yield the ways to blocks that are not told, with how little, and how often there are such."""
    pending: list[tuple[tuple[Group, ...], object, int]] = [((group,), around, 1)]
    for _ in range(most):
        if not pending:
            return
        way, outer, times = pending.pop()
        inner = way[-1]
        if inner.is_beside or inner.kind in ("operation", "part", "shape"):
            continue
        rate = rate_face(inner, outer)
        if rate:
            yield way, rate, times
        elif find_name(inner):
            continue  # its name tells all that is in it
        if inner.kind == "repeat":
            times *= len(inner.children)
            block = inner.children[inner.exemplar]
            if not isinstance(block, Group):
                continue
            inner = block
        pending += (((*way, one), inner, times) for one in reversed(inner.inner_groups()))


def count_shown(group: Group) -> int:
    """Return how many boxes a frame around a group, or around one of a stack, shows."""
    block = group.children[group.exemplar] if group.kind == "repeat" else group
    if not isinstance(block, Group):
        return 1
    return sum(
        not isinstance(child, Group) or not (child.kind == "shape" or child.is_beside)
        for child in block.children
    )


def _is_all_of(stack: UntoldBlock, block: UntoldBlock) -> bool:
    """Return whether a stack in a block leaves most of that untold: it is what the block is of."""
    return (
        stack.group.kind == "repeat"
        and block.group in stack.way[:-1]
        and stack.untold >= _MOST_OF_BLOCK * block.untold
    )


def _ends_model(group: Group) -> bool:
    """Return whether what comes behind the last weights of a model is in a group.

    What others take from is no end.
    """
    if not any(inner.kind == "postprocessing" for inner in group.inner_groups()):
        return False
    nodes = {*nodes_inside(group)}
    return not any(
        user not in nodes
        for node in nodes
        for value in node.outputs
        if value is not None
        for user in value.users
    )


def _count_repetitions(item: Item) -> int:
    """Return how many repetitions there are of what an item is in."""
    times, outer = 1, item.parent
    while outer is not None:
        if outer.repeat is not None:
            times *= len(outer.repeat.children)
        outer = outer.parent
    return times


def measure_novelty(group: Group, seen: frozenset[str]) -> float:
    """Return how much of a group is new where some kinds of part are seen elsewhere.

    That it is another block is new in any case.
    """
    kinds = _list_working(group)
    return (1 + len(kinds - seen)) / (1 + len(kinds))


def _list_seen(closed: Iterable[Item], opened: Iterable[Item]) -> frozenset[str]:
    """Return the kinds of part that boxes tell in open blocks which no name would tell."""
    blocks = {item.key for item in opened if rate_face(item.element, _tell_around(item))}
    seen = frozenset[str]()
    for item in closed:
        outer = item.parent
        while outer is not None and outer.key not in blocks:
            outer = outer.parent
        if outer is None:
            continue
        if find_name(item.element) or not rate_face(item.element, _tell_around(item)):
            seen |= _list_working(item.element)
    return seen


def _tell_around(item: Item) -> object:
    return item.parent.element if item.parent is not None else None


def _list_working(element: object) -> frozenset[str]:
    """Return the kinds of the parts of a group that have work in them."""
    contents = element.contents if isinstance(element, Group) else ()
    return frozenset(name for one in contents if one.rank >= WORK for name in one.name.split(_AND))


def tell_parts(group: Group) -> tuple[str, ...]:
    """Return what a block, or each of a stack, is made of, sizes left out."""
    return tuple(one.name for one in group.contents)
