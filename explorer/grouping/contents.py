"""What a group is made of that is no known block as a whole: the blocks and stacks in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from netloupe.explorer.model import Node
from netloupe.explorer.patterns import (
    IDEA,
    MOST_NODES,
    GraphContext,
    Ingredient,
    MetWeights,
    Recognition,
    find_ingredients,
    is_mere_arithmetic,
    make_ingredient,
)
from netloupe.explorer.patterns.details import NO_DETAILS
from netloupe.explorer.patterns.nested_levels import NESTED_U, find_nested_levels
from netloupe.explorer.patterns.transformer_details import AttentionDetails, TransformerDetails

from .member_nodes import list_member_nodes
from .shared_tensors import identify_weight

if TYPE_CHECKING:
    from .group import Group

#: so many groups inside are looked at
_MOST_GROUPS = 400
#: and in them so many nodes
_MOST_LOOKED_AT = 4_000
#: how the names of kinds of it end
_ATTENTION = "attention"
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
    Layers that are called again are told once, also where their weights were stored for each call.
    """
    if group.kind == "repeat" and group.children:
        exemplar = group.children[group.exemplar]
        if isinstance(exemplar, Node):
            return find_ingredients([exemplar], context)
        known = _recognise_most(group, exemplar)
        if known is not None:
            return [make_ingredient(known, 1)]
        group = exemplar
    nodes = list_member_nodes(group, MOST_NODES)
    met = MetWeights(identify_weight)
    if nodes:
        return find_ingredients(nodes, context, _list_known(group), met)
    return _walk(group, context, met)


def find_inner_u(group: Group, context: GraphContext) -> Ingredient | None:
    """Return what a group is that is a U altogether; None for others, as a block of a nested U.

    Of such a block it is told what is around the U, too.
    """
    block = group.children[group.exemplar] if group.kind == "repeat" else group
    nodes = [] if isinstance(block, Node) else list_member_nodes(block, _MOST_LOOKED_AT)
    levels = find_nested_levels(nodes, context) if nodes else None
    contents = group.contents if levels is not None else []
    if levels is None or any(one.name.startswith(NESTED_U) for one in contents):
        return None
    widths = f"{levels.finest} → {levels.coarsest} channels"
    kinds = [*dict.fromkeys(one.name.lower() for one in contents if _attends(one))]
    if len(kinds) > 1 and all(kind.endswith(_ATTENTION) for kind in kinds):  # self- and cross-…
        kinds = [*(kind.removesuffix(_ATTENTION) for kind in kinds[:-1]), kinds[-1]]
    told = " and ".join(kinds)
    facts = [*([widths] if levels.finest and levels.coarsest else []), *filter(None, [told])]
    return Ingredient(f"U-Net over {levels.resolutions} resolutions", "u", IDEA, (*facts,))


def _attends(one: Ingredient) -> bool:
    details = one.details
    around = details.read_as(TransformerDetails).attention
    return isinstance(details, AttentionDetails) or around is not None


def _recognise_most(repeat: Group, exemplar: Group) -> Recognition | None:
    """Return what all blocks of a stack are but one, as its first: it has more around it."""
    known = exemplar.recognised
    if known is None or not _is_one_thing(known) or repeat.node_count > _MOST_LOOKED_AT:
        return None
    found = [one.recognised for one in repeat.inner_groups()]
    alike = [one for one in found if one is not None and one.name == known.name]
    if len(alike) < max(len(repeat.children) - 1, 2):
        return None
    facts = tuple(fact for fact in known.facts if all(fact in one.facts for one in alike))
    return known._replace(facts=facts, details=NO_DETAILS)


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
    return (found.family != _PLAIN or " · " not in found.name) and not is_mere_arithmetic(found)


def _walk(group: Group, context: GraphContext, met: MetWeights) -> list[Ingredient]:
    """Return what a large group is made of; nothing where not all of it can be looked at."""
    found: list[Ingredient] = []
    pending: list[tuple[Group, int]] = [(group, 1)]
    room = _MOST_LOOKED_AT
    no_groups: list[Group] = []
    for _ in range(_MOST_GROUPS):
        if not pending or room < 0:
            break
        inner, times = pending.pop()
        known = inner.recognised if inner.kind not in ("part", "shape") else None
        if known is not None and inner is not group and _is_one_thing(known):
            times *= len(inner.children) if inner.kind == "repeat" else 1
            found.append(make_ingredient(known, times))
            continue
        if inner.kind == "repeat":
            times *= len(inner.children)
            exemplar = inner.children[inner.exemplar]
            if not isinstance(exemplar, Node):
                pending.append((exemplar, times))
                continue
            nodes, groups = [exemplar], no_groups
        else:
            nodes, groups = list_member_nodes(inner, MOST_NODES), no_groups
        if not nodes:
            nodes = [child for child in inner.children if isinstance(child, Node)]
            groups = [one for one in inner.inner_groups() if not one.is_beside]
            groups = [one for one in groups if one.kind != "shape"]
        inside = () if groups else _list_known(inner)
        room -= len(nodes) if len(nodes) <= MOST_NODES else room + 1
        for one in find_ingredients(nodes, context, inside, met):
            found.append(one._replace(times=one.times * times, before=frozenset()))
        pending += [(one, times) for one in reversed(groups)]
    return found if not pending and room >= 0 else []
