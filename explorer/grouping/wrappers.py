"""Takes away the scopes that hold (nearly) all that is around them, such as ``transformer``.

A frame around everything but an output layer, or around one stack of layers, tells nothing. What
it holds moves to where it stood. The group itself is still found by its path, with all that it
holds.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from netloupe.explorer.model import Node
from netloupe.explorer.operators import PASSING_TRAITS, TAKING_TRAITS

from .group import Group, adopt
from .member_nodes import list_nodes_inside

#: a scope that holds this share of the nodes around it holds nearly everything
_NEARLY_ALL = 0.8
#: a group gets no more children than a picture has boxes
_MOST_CHILDREN = 20
#: what repeats with blocks of fewer nodes is no stack of layers
_LEAST_OF_STACK = 5
#: so many modules of one name and other numbers are a row
_LEAST_IN_ROW = 3
#: so many letters of a label are seen; a longer one would not tell what it begins with
_MOST_LABEL = 22
#: a frame is around so many boxes
_LEAST_IN_FRAME = 3
_DIGITS = "0123456789"
#: between the names of modules in modules
_AND = " / "
_DIGIT = re.compile(r"\d+")


def dissolve_wrappers(root: Group) -> None:
    """Replace scopes that only wrap a stack, or hold nearly everything, by what they hold.

    Those inside repeated blocks, and those without a stack or row in them, remain. Linear in the
    groups outside of repeats.

    Parameters
    ----------
    root
        The root of a tree whose nodes have their numbers.
    """
    holding = _find_holding_stacks(root)
    pending = [root]
    while pending:
        group = pending.pop()
        while True:
            dissolve(_find_stack_alone(group, holding), group)
            wrapper = _find_nearly_all(group, holding)
            if wrapper is None:
                break
            dissolve([wrapper], group)
        pending += [inner for inner in group.inner_groups() if inner in holding]
    _dissolve_heads(root)
    _dissolve_frames(root)
    _join_chains(root)


def _dissolve_frames(root: Group) -> None:
    """Replace blocks around a module that is all of them, and of the same name in the field."""
    pending = [root]
    while pending:
        group = pending.pop()
        if group.kind != "repeat":
            dissolve([inner for inner in group.inner_groups() if _is_frame(inner)], group)
        pending += [inner for inner in group.inner_groups() if inner.inner_groups()]


def _is_frame(block: Group) -> bool:
    held = block.children[0] if block.kind == "block" and len(block.children) == 1 else None
    return isinstance(held, Group) and held.kind == "scope" and _says_as_much(block, held)


def _join_chains(root: Group) -> None:
    """Make one of scopes of which each holds the next one and nothing else.

    They are such only now where what arranged values beside the inner one became a part of it.
    Of what is closed around a box or two the outer name is enough.
    """
    pending = [root]
    while pending:
        group = pending.pop()
        outer = [inner for inner in group.inner_groups() if group.kind != "repeat"]
        for chain in outer:
            held = chain.children[0] if chain.kind == "scope" and len(chain.children) == 1 else None
            if isinstance(held, Group) and held.kind == "scope" and _is_framed(held):
                held.label = f"{chain.label}{_AND}{held.label}"
                held.type_name = held.type_name or chain.type_name
                dissolve([chain], group)
                break
        else:
            pending += [inner for inner in group.inner_groups() if inner.inner_groups()]
            continue
        pending.append(group)


def _is_framed(group: Group) -> bool:
    """Return whether a module of no known kind has enough in it to be drawn as a frame."""
    return group.recognised is None and count_open_boxes(group) >= _LEAST_IN_FRAME


def _dissolve_heads(root: Group) -> None:
    """Replace modules that are all of their block but sums by what they hold.

    A block of a stack is such a module with what its author adds to it, or takes it from, outside
    of it: one frame for both.
    """
    pending = [root]
    while pending:
        group = pending.pop()
        pending += [inner for inner in group.inner_groups() if inner.inner_groups()]
        if group.kind != "repeat" or not group.inner_groups():
            continue
        exemplar = group.children[group.exemplar]
        shown = _find_head(exemplar) if isinstance(exemplar, Group) else None
        if not isinstance(exemplar, Group) or shown is None:
            continue
        heads = [_find_head(block, block is exemplar) for block in group.inner_groups()]
        if exemplar.kind == "block" and all(heads):
            known = shown.recognised
            is_box = known is not None and known.family != "group" and len(exemplar.children) > 1
        else:  # the author's module stays, unless its kind would be told twice
            is_box = not _says_as_much(exemplar, shown)
        if not is_box:
            for block, head in zip(group.inner_groups(), heads, strict=True):
                if head is not None and block.kind == exemplar.kind:
                    _dissolve_head(head, block)


def _says_as_much(block: Group, head: Group) -> bool:
    known, own = block.recognised, head.recognised
    return known is not None and own is not None and known.name == own.name


def _dissolve_head(head: Group, block: Group) -> None:
    place = block.children.index(head)
    block.children = [*block.children[:place], *head.children, *block.children[place + 1 :]]
    head.stand_in = block
    adopt(block)


def _find_head(block: Group, is_exemplar: bool = True) -> Group | None:
    """Return the module in a block that has nothing but sums and differences beside it.

    What takes a value in other parts is written on the stream, and may stand there, too. In other
    blocks than the one that is shown, so may what hands on some of a result.
    """
    groups = block.inner_groups()
    if block.kind not in ("block", "scope") or len(groups) != 1 or groups[0].kind != "scope":
        return None
    head = groups[0]
    beside = [child for child in block.children if isinstance(child, Node)]
    traits = ("adds", "subtracts", *TAKING_TRAITS, *(() if is_exemplar else PASSING_TRAITS))
    if not all(node.operator.has(*traits) for node in beside):
        return None
    return head if count_open_boxes(head) + len(beside) <= _MOST_CHILDREN else None


def _find_stack_alone(group: Group, holding: set[Group]) -> list[Group]:
    """Return the scopes in a group that only wrap a stack.

    A stage is none where others of its name hold more, as a step that makes what comes in smaller:
    all of them are drawn alike.
    """
    alone = [inner for inner in group.inner_groups() if _find_only_stack(inner)]
    if not alone:
        return []
    chosen = {*alone}
    others = {
        _DIGIT.sub("#", inner.label)
        for inner in group.inner_groups()
        if inner.kind == "scope" and inner in holding and inner not in chosen
    }
    return [inner for inner in alone if _DIGIT.sub("#", inner.label) not in others]


def _find_holding_stacks(root: Group) -> set[Group]:
    """Return the groups that have a repeat in them which is not in another repeat, or a row.

    A row are several modules of one name and other numbers, such as stages that differ in depth.
    """
    holding: set[Group] = set()
    pending = [root]
    while pending:
        group = pending.pop()
        around = group.parent if group.kind == "repeat" else group
        if group.kind != "repeat":
            pending += group.inner_groups()
            if not _holds_row(group):
                continue
        while around is not None and around not in holding:
            holding.add(around)
            around = around.parent
    return holding


def _holds_row(group: Group) -> bool:
    rows: dict[str, list[Group]] = {}
    for inner in group.inner_groups():
        if inner.kind == "scope" and _DIGIT.search(inner.label):
            rows.setdefault(_DIGIT.sub("#", inner.label), []).append(inner)
    return any(
        len(row) >= _LEAST_IN_ROW and (all(map(_is_block, row)) or _are_beside(row))
        for row in rows.values()
    )


def _is_block(group: Group) -> bool:
    return group.node_count >= _LEAST_OF_STACK


def _are_beside(row: Sequence[Group]) -> bool:
    """Return whether modules are branches: none takes what another one gives."""
    homes = {node: group for group in row for node in list_nodes_inside([group])}
    return not any(
        homes.get(user, group) is not group
        for node, group in homes.items()
        for value in node.outputs
        if value is not None
        for user in value.users
    )


def _find_nearly_all(group: Group, holding: set[Group]) -> Group | None:
    """Return the scope that holds a stack and nearly all else of a group; None for none."""
    largest = max(group.inner_groups(), key=lambda inner: inner.node_count, default=None)
    if largest is None or largest.kind != "scope" or largest not in holding:
        return None
    count = count_open_boxes(group) + count_open_boxes(largest) - 1
    return largest if count <= _MOST_CHILDREN and _is_nearly_all(largest, group) else None


def _is_nearly_all(inner: Group, group: Group) -> bool:
    apart = sum(_count_drawn(other) for other in group.inner_groups() if _is_apart(other))
    return _count_drawn(inner) >= _NEARLY_ALL * (_count_drawn(group) - apart)


def _count_drawn(group: Group) -> int:
    """Return how many nodes a group has that are not hidden where it is open."""
    if group.kind == "shape":
        return 0
    inner = group.inner_groups()
    hidden = sum(one.node_count - _count_drawn(one) for one in inner)
    return group.node_count - hidden


def _find_only_stack(group: Group) -> Group | None:
    """Return the stack that is all of a scope but preparation; None where it holds other things."""
    if group.kind != "scope":
        return None
    stack: Group | None = None
    for child in group.children:
        if isinstance(child, Node) or (child.kind != "repeat" and not _is_apart(child)):
            return None
        if child.kind == "repeat":
            if stack is not None or child.node_count < _LEAST_OF_STACK * len(child.children):
                return None
            stack = child
    return stack


def _is_apart(group: Group) -> bool:
    return group.kind == "shape" or group.is_beside


def count_open_boxes(group: Group) -> int:
    """Return how many boxes a group has when it is open."""
    hidden = sum(inner.kind == "shape" for inner in group.inner_groups())
    return len(group.children) - hidden


def dissolve(wrappers: list[Group], around: Group) -> None:
    """Put what some groups hold into their places in the group around them."""
    if not wrappers:
        return
    for wrapper in wrappers:
        stack = _find_only_stack(wrapper)
        if stack is not None:
            stack.label = _join_labels(wrapper, stack, _is_nearly_all(wrapper, around))
        largest = max(wrapper.inner_groups(), key=lambda inner: inner.node_count)
        wrapper.stand_in = stack or largest
    children: list[Group | Node] = []
    chosen = set(wrappers)
    for child in around.children:
        if isinstance(child, Group) and child in chosen:
            children += child.children
        else:
            children.append(child)
    around.children = children
    adopt(around)


def _join_labels(wrapper: Group, stack: Group, is_nearly_all: bool) -> str:
    """Return the label of a stack that what it was in has left: one that is seen as a whole.

    ``encoder / layer.0 … layer.11`` is written ``encoder / layer.0 … 11``. Where even that is too
    long, the name of what was around tells one of several stages from the others.
    """
    if stack.label.startswith(wrapper.label):
        return stack.label
    first, _, last = stack.label.partition(" … ")
    name = last.rstrip(_DIGITS)
    seen = first + " … " + (last[len(name) :] if first.startswith(name) else last)
    if len(f"{wrapper.label} / {seen}") <= _MOST_LABEL:
        return f"{wrapper.label} / {stack.label}"
    return stack.label if is_nearly_all else wrapper.label
