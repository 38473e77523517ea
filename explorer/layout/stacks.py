"""Stacks of blocks in what is closed: where they are, and which of them are alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from netloupe.explorer.grouping import Group
from netloupe.explorer.grouping.branches import is_summed
from netloupe.explorer.model import Node
from netloupe.explorer.patterns import WORK, is_chain
from netloupe.explorer.patterns.details import FeatureDetails
from netloupe.explorer.patterns.transformer_details import AttentionDetails, MlpDetails
from netloupe.explorer.view import BORDER, Item, View, sibling_key, strip_numbers

from .opening_worth import (
    find_recognition,
    is_called_after_parts,
    is_called_block,
    is_worth_a_frame,
    list_kinds,
)
from .shut_ideas import is_shut_idea
from .telling import is_ordinary

#: between the parts of a row
_AND = " · "
#: stacks of as many like blocks are opened together where they have this share of the largest
#: one's nodes
_AS_LARGE = 0.5
#: a second stack beside a picture has blocks of this share of the first one's nodes at least
_NEARLY_AS_LARGE = 0.3
#: a block that is drawn for its idea shows so many boxes
_LEAST_OF_IDEA, _MOST_OF_IDEA, _MOST_OF_PLAIN = 4, 24, 16
#: so many boxes of it tell something: to pick and to join values is no idea
_LEAST_TELLING = 2
#: so many parts with work in them stand beside a stack where it is not all that a block is about
_LEAST_BESIDE_STACK = 3
#: as many like groups in a row are stages, of so many boxes each at most
_LEAST_STAGES, _MOST_IN_STAGE = 3, 3


class HiddenBlock(NamedTuple):
    """A repeat or block inside a closed item, and what to open on the way from one to the other.

    The way begins with the item's own group and ends with the repeat or block.
    """

    item: Item
    way: tuple[Group, ...]

    @property
    def group(self) -> Group:
        """The repeat or block."""
        return self.way[-1]


def find_hidden_stacks(item: Item, around: Group) -> Iterator[HiddenBlock]:
    """Yield the repeats of groups in a closed item's group that are in no other repeat."""
    pending = [around]
    while pending:
        group = pending.pop()
        if group.is_beside:
            continue
        if group.kind != "repeat":
            pending += reversed(group.inner_groups())
        elif _is_stack_of_blocks(group):
            way = [group]
            while way[-1] is not around:
                outer = way[-1].parent
                assert outer is not None  # noqa: S101 - it is inside
                way.append(outer)
            yield HiddenBlock(item, tuple(reversed(way)))


def find_hidden_ideas(item: Item, around: Group, least: int) -> Iterator[HiddenBlock]:
    """Yield the blocks in a closed item's group that have no name in the field.

    Where papers give a block a name of its own it is what they are about: a pyramid, a quantizer,
    a mixer. Blocks of fewer than ``least`` nodes are left out, and those around a stack with little
    beside it where there is one of them only: the stack then is what the model is about.
    """
    pending: list[tuple[Group, ...]] = [(around,)]
    while pending:
        way = pending.pop()
        group = way[-1]
        if group.is_beside or group.kind in ("repeat", "operation", "part", "shape"):
            continue
        inner = group.inner_groups()
        shown = [c for c in group.children if not isinstance(c, Group) or c.kind != "shape"]
        if (
            group.node_count >= least
            and _LEAST_OF_IDEA <= len(shown) <= _MOST_OF_IDEA
            and (is_shut_idea(group) or _is_plain_idea(group, len(shown)))
            and not any(one.kind == "postprocessing" for one in inner)  # it is where a model ends
            and (_is_one_of_several(group) or _is_more_than_a_stack(shown))
            and len(frozenset().union(*map(list_kinds, shown))) > 1
            and sum(bool(list_kinds(one)) for one in shown) >= _LEAST_TELLING
        ):
            yield HiddenBlock(item, way)
        if group.node_count >= least:
            pending += ((*way, one) for one in reversed(inner) if one.node_count >= least)


def is_in_stage(stack: HiddenBlock) -> bool:
    """Return whether a stack is in one of several stages, which their closed boxes tell.

    Stages are like groups in a row, each little more than a stack: a change of size, the blocks,
    a norm. Four frames of two boxes say no more than four boxes that name what is in them.
    """
    if len(stack.way) < 2 or len(list_stages(stack.item)) < _LEAST_STAGES:
        return False
    return all(
        len([c for c in group.children if not isinstance(c, Group) or c.kind != "shape"])
        <= _MOST_IN_STAGE
        for group in stack.way[:-1]
    )


def list_stages(item: Item) -> list[Item]:
    """Return an item and what beside it is called and typed like it."""
    key, around = sibling_key(item), item.parent
    return [child for child in around.children if sibling_key(child) == key] if around else [item]


def _is_one_of_several(group: Group) -> bool:
    """Return whether others beside a block are of its author's type."""
    if not group.type_name or group.parent is None:
        return False
    return sum(one.type_name == group.type_name for one in group.parent.inner_groups()) > 1


def _is_plain_idea(group: Group, shown: int) -> bool:
    """Return whether a block has a name of its own or is a row of single layers, and is not large.

    Of a row of blocks that have names themselves the closed box is as good a list.
    """
    if shown > _MOST_OF_PLAIN or not _has_no_name(group) or is_called_after_parts(group):
        return False
    known = group.recognised
    if known is not None and _AND not in known.name and is_ordinary(group):
        return False  # every network has it, as squeeze-and-excitation
    if len(group.contents) == 1 and (
        isinstance(group.contents[0].details, MlpDetails) or _is_one_attention(group)
    ):
        return False
    if not is_chain(group.contents):
        return True
    recognised = map(find_recognition, group.children)
    return not any(one is not None and one.family == "group" for one in recognised)


def _is_one_attention(group: Group) -> bool:
    """Return whether a block is one attention, and what it shows are the products of that."""
    (only,) = group.contents
    return isinstance(only.details, AttentionDetails) and not any(
        one.name == only.name for inner in group.inner_groups() for one in inner.contents
    )


def _is_more_than_a_stack(shown: Sequence[Group | Node]) -> bool:
    """Return whether there is no stack in what a block shows, or as much beside it."""
    rest = [one for one in shown if not (isinstance(one, Group) and _holds_blocks_in_row(one))]
    return len(rest) == len(shown) or sum(map(_has_work, rest)) >= _LEAST_BESIDE_STACK


def _has_work(element: Group | Node) -> bool:
    if isinstance(element, Node):
        return element.operator.has("attends", "convolves", "multiplies", "recurrent")
    return any(one.rank >= WORK for one in element.contents)


def _holds_blocks_in_row(group: Group) -> bool:
    """Return whether there are blocks in a group that are repeated one behind another."""
    pending = [group]
    for one in pending:
        if one.kind != "repeat":
            pending += one.inner_groups()
        elif _is_stack_of_blocks(one) or (not is_summed(one) and _is_named_block(one)):
            return True
    return False


def _is_named_block(repeat: Group) -> bool:
    """Return whether a stack is of blocks with a name, and not of single layers."""
    recognition = find_recognition(repeat)
    if recognition is None or recognition.family != "group":
        return False
    return not is_called_after_parts(repeat.children[repeat.exemplar])


def _has_no_name(group: Group) -> bool:
    recognition = group.recognised
    return recognition is None or recognition.family == "group"


def is_boilerplate(group: Group) -> bool:
    """Return whether a stack is of blocks that every convolutional network has."""
    block = group.children[group.exemplar] if group.kind == "repeat" else group
    recognition = find_recognition(block)
    return recognition is not None and isinstance(recognition.details, FeatureDetails)


def _is_stack_of_blocks(repeat: Group) -> bool:
    if is_summed(repeat):
        return False  # one of them would seem to take what the one before gives
    block = repeat.children[repeat.exemplar]
    if not isinstance(block, Group):
        return is_called_block(block)
    return is_worth_a_frame(block) or any(is_shut_idea(one, block) for one in block.children)


def is_in_stack(item: Item) -> bool:
    """Return whether an item is inside of a repetition."""
    outer = item.parent
    while outer is not None and outer.repeat is None:
        outer = outer.parent
    return outer is not None


def are_alike(stack: HiddenBlock, largest: HiddenBlock) -> bool:
    """Return whether a stack has blocks like those of the largest, and as many of them."""
    block, other = (one.group.children[one.group.exemplar] for one in (stack, largest))
    return (
        isinstance(block, Group)
        and isinstance(other, Group)
        and len(stack.group.children) == len(largest.group.children)
        and (strip_numbers(block.label), block.type_name)
        == (strip_numbers(other.label), other.type_name)
        and stack.group.node_count >= _AS_LARGE * largest.group.node_count
    )


def are_same(stack: HiddenBlock, other: HiddenBlock) -> bool:
    """Return whether stacks in other modules are of as many blocks that are told to be the same."""
    if min(len(stack.way), len(other.way)) < len(("module", "stack")):
        return False
    told = [one.group.recognised for one in (stack, other)]
    is_told = told[0] is not None and told[1] is not None and told[0].text == told[1].text
    return is_told and len(stack.group.children) == len(other.group.children)


def are_side_by_side(view: View, items: list[Item]) -> bool:
    """Return whether items stand in the same one, and no value goes from one to another."""
    outer = items[0].parent
    if outer is None or len({*items}) < len(items) or any(one.parent is not outer for one in items):
        return False
    numbers = {child: number for number, child in enumerate(outer.children)}
    following: dict[int, list[int]] = {}
    for link in view.links(outer):
        following.setdefault(link.source, []).append(link.target)
    towers = {numbers[item] for item in items}
    for tower in towers:
        pending, seen = [*following.get(tower, ())], {BORDER}
        while pending:
            number = pending.pop()
            if number in towers:
                return False
            if number not in seen:
                seen.add(number)
                pending += following.get(number, ())
    return True


def tell_rank(stack: HiddenBlock) -> int:
    """Return how much a stack is of what every network has: least is most worth to be seen."""
    if is_boilerplate(stack.group):
        return 2
    return int(not all(map(_has_no_name, stack.way)))


def is_another(stack: Group, first: object) -> bool:
    """Return whether a stack is worth to be seen beside another one.

    It is of nearly the size of the first, shows boxes of other kinds, and not what every network
    has.
    """
    if is_boilerplate(stack) or (is_ordinary(stack) and not is_ordinary(first)):
        return False
    block, shown = tell_block(stack), tell_block(first)
    if block.type_name and block.type_name == shown.type_name:
        return False
    if {one.name for one in block.contents} == {one.name for one in shown.contents}:
        return False
    size, other = block.node_count, shown.node_count
    if size < _NEARLY_AS_LARGE * other:
        return False
    kinds, others = (
        frozenset().union(*map(list_kinds, tell_block(group).children)) for group in (stack, first)
    )
    return not kinds <= others


def tell_block(element: object) -> Group:
    """Return one repetition of a repeat of groups, and any other group itself."""
    assert isinstance(element, Group)  # noqa: S101 - insets and stacks are groups
    block = element.children[element.exemplar] if element.kind == "repeat" else element
    return block if isinstance(block, Group) else element
