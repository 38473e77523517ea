"""Rungs: the parts of a model that are boxes of a ladder, in the order of its graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from netloupe.explorer.grouping import Group, GroupTree
from netloupe.explorer.model import Node
from netloupe.explorer.notation import write_count
from netloupe.explorer.render.rows import short_range

#: groups that only arrange what others compute: they stand with the nodes between groups
_LOOSE_KINDS = frozenset({"operation", "shape", "preparation", "postprocessing"})
#: a group that holds so much of a level is a wrapper: its parts stand in its place
_WRAPPED_SHARE = 0.8
_MOST_WRAPPERS = 32
#: of a level without groups so many nodes are boxes of their own
_MOST_SINGLE_NODES = 48
#: so many operators are named on a box
_MOST_OPERATORS = 4

Member = Group | Node


@dataclass(frozen=True, slots=True, eq=False)
class Rung:
    """A part of a model that is one box: a group, or what stands between groups.

    Parameters
    ----------
    nodes
        Its nodes, at any depth.
    members
        The group, or nodes and groups that only arrange.
    is_block
        Whether it is one of the blocks of a stack, which are not opened.
    """

    label: str
    nodes: tuple[Node, ...]
    members: tuple[Member, ...]
    is_block: bool = False

    @property
    def group(self) -> Group | None:
        """The group that it is; None for what stands between groups."""
        first = self.members[0]
        return first if isinstance(first, Group) and first.kind not in _LOOSE_KINDS else None

    @property
    def is_stack(self) -> bool:
        """Whether it is a run of like blocks."""
        return self.group is not None and self.group.kind == "repeat"

    @property
    def path(self) -> str:
        """The path of the group, or of the first node."""
        return self.members[0].path

    @property
    def fact(self) -> str:
        """The most important that is known of it, such as ``64 → 256``; "" for nothing."""
        if self.group is None:
            return write_count(len(self.nodes), "node") if len(self.nodes) > 1 else ""
        found = self.group.recognised
        return found.facts[0] if found is not None and found.facts else ""

    @property
    def times(self) -> int:
        """How many blocks a stack has; 0 for anything else."""
        group = self.group
        return len(group.children) if group is not None and self.is_stack else 0


def list_rungs(tree: GroupTree) -> list[Rung]:
    """Return the outermost groups of a graph, and between them what is in none.

    A group that holds nearly everything is a wrapper, in whose place its parts stand.
    """
    members = [*tree.root.children]
    for _ in range(_MOST_WRAPPERS):
        wrapper = _find_wrapper(members)
        if wrapper is None:
            break
        place = members.index(wrapper)
        members[place : place + 1] = wrapper.children
    return [*_make_rungs(tree, members)]


def list_inner_rungs(tree: GroupTree, rung: Rung) -> list[Rung]:
    """Return the parts of a group; nothing for what is none, and for the blocks of a stack."""
    group = rung.group
    if group is None or rung.is_block:
        return []
    return [*_make_rungs(tree, group.children, of_stack=group.kind == "repeat")]


def _find_wrapper(members: Sequence[Member]) -> Group | None:
    sizes = [member.node_count if isinstance(member, Group) else 1 for member in members]
    total = sum(sizes)
    for member, size in zip(members, sizes, strict=True):
        is_large = size >= _WRAPPED_SHARE * total
        if is_large and isinstance(member, Group) and member.kind != "repeat":
            return member if any(map(_is_of_its_own, member.children)) else None
    return None


def _is_of_its_own(member: Member) -> bool:
    return isinstance(member, Group) and member.kind not in _LOOSE_KINDS


def _make_rungs(
    tree: GroupTree, members: Iterable[Member], *, of_stack: bool = False
) -> Iterator[Rung]:
    flat = [*_dissolve_pieces(members)]
    is_run = any(map(_is_of_its_own, flat)) or len(flat) > _MOST_SINGLE_NODES
    run: list[Member] = []
    for member in flat:
        if is_run and not of_stack and not _is_of_its_own(member):
            run.append(member)
            continue
        if run:
            yield _make_rung(tree, run)
            run = []
        yield _make_rung(tree, [member], is_block=of_stack)
    if run:
        yield _make_rung(tree, run)


def _dissolve_pieces(members: Iterable[Member]) -> Iterator[Member]:
    """Yield members, of groups that are only pieces of many children these children."""
    pending = [iter(members)]
    while pending:
        member = next(pending[-1], None)
        if member is None:
            pending.pop()
        elif isinstance(member, Group) and member.kind == "part":
            pending.append(iter(member.children))
        else:
            yield member


def _make_rung(tree: GroupTree, members: Sequence[Member], *, is_block: bool = False) -> Rung:
    nodes: list[Node] = []
    for member in members:
        if isinstance(member, Group):
            nodes += tree.order[member.low : member.high]
        else:
            nodes.append(member)
    return Rung(_name(members, nodes), tuple(nodes), tuple(members), is_block)


def _name(members: Sequence[Member], nodes: Sequence[Node]) -> str:
    if len(members) == 1 and isinstance(members[0], Group):
        return short_range(members[0].label)  # as pictures of nodes call it
    groups = [member for member in members if isinstance(member, Group)]
    named = [group.label for group in groups if group.kind not in ("shape", "operation")]
    operators = dict.fromkeys(node.op_type for node in nodes)
    names = named or [*operators]
    more = ", …" if len(names) > _MOST_OPERATORS else ""
    return ", ".join(names[:_MOST_OPERATORS]) + more
