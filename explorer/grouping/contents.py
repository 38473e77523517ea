"""What a group is made of that is no known block as a whole: the blocks and stacks in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from netloupe.explorer.model import Node
from netloupe.explorer.patterns import (
    MOST_NODES,
    GraphContext,
    Ingredient,
    Recognition,
    find_ingredients,
    make_ingredient,
)

from .member_nodes import list_member_nodes

if TYPE_CHECKING:
    from .group import Group

#: so many groups inside are looked at
_MOST_GROUPS = 400
#: families of what is a row of parts rather than one thing: its parts are told instead
_PLAIN = "group"


def find_contents(group: Group, context: GraphContext) -> list[Ingredient]:
    """Return what a group is made of, in order; of a stack, what its exemplar is made of.

    Parameters
    ----------
    group
        A group of any kind.
    context
        What is known of its graph.

    Notes
    -----
    A group of a few nodes is looked at as a whole, so that parts are found that an author's groups
    cut. A larger one is what its groups are, each stack once and with the number of its blocks.
    """
    if group.kind == "repeat" and group.children:
        exemplar = group.children[group.exemplar]
        if isinstance(exemplar, Node):
            return find_ingredients([exemplar], context)
        group = exemplar
    nodes = list_member_nodes(group, MOST_NODES)
    if nodes:
        return find_ingredients(nodes, context, _list_known(group))
    return list(_walk(group, context))


def _list_known(group: Group) -> Iterator[Recognition]:
    """Yield what the groups inside were recognised as, the outermost of them alone."""
    pending = [*group.inner_groups()]
    while pending:
        inner = pending.pop()
        found = inner.recognised if inner.kind != "repeat" else None
        if found is not None and _is_one_thing(found):
            yield found
        else:
            pending += inner.inner_groups()


def _is_one_thing(found: Recognition) -> bool:
    return found.family != _PLAIN or " · " not in found.name


def _walk(group: Group, context: GraphContext) -> Iterator[Ingredient]:
    pending: list[tuple[Group, int]] = [(group, 1)]
    looked_at = 0
    while pending and looked_at < _MOST_GROUPS:
        inner, times = pending.pop()
        looked_at += 1
        found = inner.recognised if inner.kind not in ("part", "shape") else None
        if inner.kind == "repeat":
            times *= len(inner.children)
            exemplar = inner.children[inner.exemplar]
            if found is None and not isinstance(exemplar, Node):
                pending.append((exemplar, times))
                continue
        if found is not None and inner is not group and _is_one_thing(found):
            yield make_ingredient(found, times)
            continue
        nodes = list_member_nodes(inner, MOST_NODES)
        if nodes:
            for one in find_ingredients(nodes, context, _list_known(inner)):
                yield replace(one, times=one.times * times, before=frozenset())
            continue
        groups = [one for one in inner.inner_groups() if not one.is_beside and one.kind != "shape"]
        pending += [(one, times) for one in reversed(groups)]
        loose = [child for child in inner.children if isinstance(child, Node)]
        for one in find_ingredients(loose, context):
            yield replace(one, times=one.times * times, before=frozenset())
