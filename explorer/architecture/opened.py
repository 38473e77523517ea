"""Blocks that hold most of a network, or recurrent layers, are opened: what is in them is told."""

from __future__ import annotations

from dataclasses import replace

from netloupe.explorer.dataflow import list_users
from netloupe.explorer.model import Node
from netloupe.explorer.operators import LAYOUT_TRAITS
from netloupe.explorer.patterns.readings import read_ints

from .outline import Outline, OutlinePart, make_block_part

#: a block that holds a larger share of all operations is the network, and none of its blocks
_MOST_SHARE = 0.4
#: nor is one that holds fewer operations opened
_LEAST_OPERATIONS = 12
#: blocks inside of blocks are opened so deep at most
_MOST_DEEP = 16
#: a sum around so many blocks is none of them
_LEAST_BLOCKS = 2
#: activations and layouts between a map and the product that it weighs others in
_MOST_BEFORE_PRODUCT = 3
#: a sum of several convolutions of one value
_BRANCHES = "branches"


def open_large(outline: Outline) -> None:
    """Put what a block consists of in its place, where it is no block that one reads as one.

    So is the sum around the lower levels of an encoder-decoder whose skips are added: it is most of
    the network, has recurrent layers inside, or is the only one that goes down and up again. And a
    sum of branches without a shortcut (G. Larsson and others, FractalNet, 2017, figure 1): its
    layers are told.
    """
    _open_branches(outline)
    for _ in range(_MOST_DEEP):
        most = max(_LEAST_OPERATIONS, _MOST_SHARE * len(outline.operations))
        blocks = [part for part in outline.parts if part.parts and part.kind == "residual"]
        large = [part for part in blocks if len(part.numbers) > most or _recurs(outline, part)]
        nested = [part for part in blocks if has_levels(outline, part)]
        large += nested if len(nested) == 1 else []  # the lowest level of a larger one
        large += [part for part in blocks if part not in nested and _holds_blocks(part)]
        if not large:
            return
        for part in dict.fromkeys(large):  # all alike ones, or none
            if _holds_blocks(part):
                outline.sums.append(part.numbers)
            outline.replace(part, _list_inner(outline, part))


def _holds_blocks(part: OutlinePart) -> bool:
    """Return whether a sum goes around several blocks: a skip, and no block of its own.

    B. Lim and others, Enhanced Deep Residual Networks for Single Image Super-Resolution, 2017,
    figure 3.
    """
    return sum(inner.kind == part.kind for inner in part.parts) >= _LEAST_BLOCKS


def _open_branches(outline: Outline) -> None:
    """Put their layers in place of sums of branches, of which nothing else is told."""
    while branches := outline.of_kind(_BRANCHES):
        for part in branches:
            outline.replace(part, _list_inner(outline, part))


def _recurs(outline: Outline, part: OutlinePart) -> bool:
    """Return whether a block holds recurrent layers, which are told."""
    return any(
        outline.operations.nodes[number].operator.has("recurrent") for number in part.numbers
    )


def goes_down_and_up(outline: Outline, part: OutlinePart) -> bool:
    """Return whether a block makes its maps smaller and larger again."""
    operators = [outline.operations.nodes[number].operator for number in part.numbers]
    is_down = any(one.has("pools") and not one.has("pools_all") for one in operators)
    return is_down and any(one.has("resamples", "transposed") for one in operators)


def has_levels(outline: Outline, part: OutlinePart) -> bool:
    """Return the same, where convolutions may make the maps smaller, too.

    What weighs channels or places may be made of smaller maps.
    """
    weighing = [found.numbers for found in part.parts if found.kind == "excitation"]
    numbers = part.numbers.difference(*weighing)
    if weighing:
        part = replace(part, numbers=numbers)
    nodes = [outline.operations.nodes[number] for number in sorted(numbers)]
    larger = [node for node in nodes if node.operator.has("resamples", "transposed")]
    if larger and all(map(_only_weighs, larger)):
        return False
    if goes_down_and_up(outline, part):
        return True
    is_down = any(
        node.operator.has("convolves")
        and not node.operator.has("transposed")
        and max(read_ints(node, "strides"), default=1) > 1
        for node in nodes
    )
    return is_down and bool(larger)


def _only_weighs(node: Node) -> bool:
    """Return whether what a node gives is multiplied with others, perhaps behind an activation."""
    users = list_users(node)
    for _ in range(_MOST_BEFORE_PRODUCT):
        if len(users) != 1 or not users[0].operator.has("activates", *LAYOUT_TRAITS):
            break
        users = list_users(users[0])
    return bool(users) and all(user.operator.has("multiplies_elements") for user in users)


def _list_inner(outline: Outline, part: OutlinePart) -> list[OutlinePart]:
    inner = [make_block_part(found) for found in part.parts]
    held = frozenset().union(*(one.numbers for one in inner))
    return [*inner, *map(outline.make_single, sorted(part.numbers - held))]
