"""Stacks whose blocks were named after a module that is only a part of an idea in them.

What stands between the calls of a module repeats with it, and the stack is called after the module,
for nothing else has a name. Where the module is the network of a coupling (D. Kingma and P.
Dhariwal, Glow, 2018, table 1), it is neither the block nor the largest part of it: the block is
called by its number, and its face says what is in it. What an author has put into a list keeps the
names from there.
"""

from __future__ import annotations

import re

from .group import Group

#: stands between the numbers of the first and the last block
_TO = " … "
#: what is in a list of its author's: ``net.3``, ``net.3 / made``
_LISTED = r"(?:[^/]*\.)?\d+(?: /.*)?"
#: a block that is called after a module has it among so many children
_MOST_CHILDREN = 300


def number_blocks(root: Group) -> None:
    """Call the blocks of a stack by numbers where the modules that named them are parts of ideas.

    Linear in the groups of the tree.

    Parameters
    ----------
    root
        A tree in which ideas are blocks; labels change.
    """
    pending = [root]
    while pending:
        group = pending.pop()
        pending += group.inner_groups()
        members = group.inner_groups() if group.kind == "repeat" else []
        is_stack = len(members) == len(group.children) > 1 and not group.is_loop
        if is_stack and all(map(_is_named_after_part, members)):
            for number, member in enumerate(members):
                member.label, member.type_name = str(number), ""
            group.label, group.type_name = f"0{_TO}{len(members) - 1}", ""


def _is_named_after_part(block: Group) -> bool:
    """Return whether a block has the name of a module that is inside an idea of it alone."""
    if block.kind != "block" or len(block.children) > _MOST_CHILDREN:
        return False
    if re.fullmatch(_LISTED, block.label):
        return False
    inner = block.inner_groups()
    if any(one.label == block.label for one in inner):
        return False
    ideas = (one for one in inner if one.kind == "block" and one.label == one.type_name)
    return any(
        part.kind == "scope" and part.label == block.label
        for idea in ideas
        for part in idea.inner_groups()
    )
