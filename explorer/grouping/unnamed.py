"""Groups that are not told what they are: a name that is wrong for a model is switched off.

Where the names are of blocks, groups found by structure alone are called after the blocks that
they are; without these names they are ``block``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from .group import Group
from .tree import GroupTree

_GENERIC = "block"


def leave_unnamed(tree: GroupTree, chosen: Collection[str]) -> None:
    """Let some groups of a tree, and no others, be recognised as nothing.

    Parameters
    ----------
    tree
        The groups of one graph; labels change.
    chosen
        Paths of groups, or the ends of them, as :meth:`GroupTree.find` takes them; with a group
        in a repetition those at its place in all the others are chosen, and with a repeat its
        repetitions. What is no path of a group is the name of a kind of block, such as
        ``Self-attention``: all groups that would be called so are.
    """
    for group, (label, name) in tree.told_labels.items():
        group.label, group.type_name = label, name
    tree.told_labels.clear()
    groups: dict[Group, None] = {}
    names: set[str] = set()
    for text in chosen:
        found = tree.find(text)
        if isinstance(found, Group) and not _is_called(found, text):
            groups.update(dict.fromkeys(_list_alike(found)))
        else:
            names.add(text)
    every = [*dict.fromkeys(tree.groups.values())]
    tree.root.forget_recognitions(every, frozenset(groups), frozenset(names))
    for group in every:
        name = group.type_name
        if _is_called(group, name) and (group in groups or name in names):
            tree.told_labels[group] = group.label, name
            group.label, group.type_name = _GENERIC + group.label[len(name) :], ""


def _is_called(group: Group, name: str) -> bool:
    """Return whether a group that was found by structure is called after the block that it is."""
    is_found = group.kind in ("block", "repeat") and group.type_name == name
    return is_found and bool(name) and group.label.startswith(name)


def _list_alike(group: Group) -> Iterator[Group]:
    """Yield a group, what has its place in other repetitions, and the repetitions of a repeat."""
    places: list[int] = []
    inner, outer = group, group.parent
    found = [group]
    while outer is not None:
        siblings = outer.inner_groups()
        if outer.kind == "repeat":
            found += [other for block in siblings if (other := _go_down(block, places))]
        if inner in siblings:  # else it was dissolved
            places.insert(0, siblings.index(inner))
        inner, outer = outer, outer.parent
    for one in dict.fromkeys(found):
        if one.kind == group.kind:
            yield one
            if one.kind == "repeat":
                yield from one.inner_groups()


def _go_down(group: Group, places: Collection[int]) -> Group | None:
    for place in places:
        siblings = group.inner_groups()
        if place >= len(siblings):
            return None
        group = siblings[place]
    return group
