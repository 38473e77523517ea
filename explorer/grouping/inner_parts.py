"""The stages of a large group in the author's terms: the modules in it that have weights, in order.

What stands in a list of modules has its place there, and no name: such are told as what they are,
and lists as what stands in them.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from netloupe.explorer.model import Node
from netloupe.explorer.patterns import WORK, Recognition, make_ingredient
from netloupe.explorer.patterns.attended_windows import name_among_others
from netloupe.explorer.patterns.transformer_details import AttentionDetails

from .member_nodes import is_layer, list_member_nodes

if TYPE_CHECKING:
    from .group import Group

#: modules that only list others, as torch's and classes derived from them, and classes of any
_CONTAINER = r"Sequential|Module(?:List|Dict)|^(?:Block|Layer|Module|Stage)$"
#: as lists of modules call what is in them, and as what was found by structure is called
_NUMBERED = r"\d+(?:[–.]\d+)*|Block [A-Z]+"
#: a name and the number of one of several modules
_WITH_NUMBER = r"([A-Za-z][A-Za-z_]*?)_?\d+"
#: larger groups are not looked at, nor those with more stages
_MOST_NODES = 4_000
_MOST_STAGES = 64
_MOST_DEPTH = 6
#: of queries, keys, values and what attention gives
_MOST_PROJECTIONS = 4
#: what layers are called that are stages of their own, by the kind of their weight
_LAYERS = {"convolution": "Conv", "linear": "Linear", "embedding": "Embedding"}
_NAMES = frozenset({*_LAYERS.values(), "Deconv", "Depthwise conv"})


class Stages(NamedTuple):
    """What stands in a group.

    Parameters
    ----------
    names
        What each is called, in order.
    is_chain
        Whether each takes from the one before it.
    """

    names: tuple[str, ...] = ()
    is_chain: bool = False

    @property
    def runs(self) -> list[tuple[str, int]]:
        """Names with how often each stands in a row."""
        return [(name, len([*run])) for name, run in groupby(self.names)]


class _Stage(NamedTuple):
    name: str
    nodes: frozenset[Node]


def list_inner_stages(group: Group) -> Stages:
    """Return the stages of a group; of a repeat, those of its exemplar. None for what has no names.

    Parameters
    ----------
    group
        A group of any kind.
    """
    if group.kind == "repeat" and group.children:
        exemplar = group.children[group.exemplar]
        if isinstance(exemplar, Node):
            return Stages()
        group = exemplar
    nodes = list_member_nodes(group, _MOST_NODES)
    found = _list_stages(group, _MOST_DEPTH) if nodes else None
    if found is None or len(found) > _MOST_STAGES:
        return Stages()
    names = _leave_out_numbers([stage.name for stage in found])
    return Stages(names, _are_chain(nodes, found))


def _leave_out_numbers(names: list[str]) -> tuple[str, ...]:
    """Return names without numbers that alone tell some of them apart: ``unit`` for ``unit3``."""
    kinds = [match[1] if (match := re.fullmatch(_WITH_NUMBER, name)) else name for name in names]
    count = Counter(kinds)
    return tuple(kind if count[kind] > 1 else n for n, kind in zip(names, kinds, strict=True))


def _list_stages(group: Group, depth: int) -> list[_Stage] | None:
    """Return stages in order; None where one has no name."""
    found: list[_Stage] = []
    for child in group.children:
        if isinstance(child, Node):
            if is_layer(child):
                found.append(_Stage(_name_layer(child), frozenset({child})))
            continue
        if child.kind == "shape" or child.is_beside:
            continue
        nodes = frozenset(list_member_nodes(child, _MOST_NODES))
        known = child.recognised
        attends = known is not None and isinstance(known.details, AttentionDetails)
        if not attends and not any(map(is_layer, nodes)):
            continue
        name = _name(child, known)
        if name and child.kind != "repeat":
            found.append(_Stage(name, nodes))
            continue
        inner = _list_stages(child, depth - 1) if depth else None
        if inner is None or len(found) + len(inner) > _MOST_STAGES:
            return None
        found += inner
    return found


def _name_layer(node: Node) -> str:
    if node.operator.has("transposed"):
        return "Deconv"
    return _LAYERS.get(node.operator.weight_kind or "", node.op_type)


def _name(group: Group, known: Recognition | None) -> str:
    """Return what a stage is, as it was recognised, or else the class or name of its module."""
    if group.kind in ("part", "repeat"):
        return ""
    is_own = group.type_name and not re.search(_CONTAINER, group.type_name)
    if known is not None:
        made = make_ingredient(known, 1)
        if made.kind in ("conv", "linear"):
            layers = [part for part in known.name.split(" · ") if part in _NAMES]
            return layers[0] if len(layers) == 1 else ""  # each layer is told
        if " · " not in known.name:
            return name_among_others(known.name, known.facts)
    attention = _find_attention(group)
    if attention:
        return attention
    held = _find_only_module(group)
    if held is not None:
        return _name(held, held.recognised) or group.type_name
    if is_own and group.kind == "scope":
        return group.type_name
    label = group.label.rpartition(" / ")[2].rpartition(".")[2]
    is_list = bool(group.type_name) and not is_own
    is_named = group.kind == "scope" and not is_list and not re.fullmatch(_NUMBERED, label)
    return label if is_named else ""


def _find_only_module(group: Group) -> Group | None:
    """Return the module of a class of its own in which all layers of a module are; None for none.

    What is around it, as a norm or what lays out tokens, is not what the outer one is about.
    """
    if group.kind != "scope":
        return None
    inner = [one for one in group.inner_groups() if one.kind == "scope" and not one.is_beside]
    holding = [one for one in inner if any(map(is_layer, list_member_nodes(one, _MOST_NODES)))]
    if len(holding) != 1 or not holding[0].type_name or re.search(_CONTAINER, holding[0].type_name):
        return None
    own = [child for child in group.children if isinstance(child, Node)]
    others = [one for one in group.inner_groups() if one not in inner and not one.is_beside]
    if any(map(is_layer, own)) or any(
        is_layer(node) for one in others for node in list_member_nodes(one, _MOST_NODES)
    ):
        return None
    return holding[0]


def _find_attention(group: Group) -> str:
    """Return which attention a group is with its projections; "" for others."""
    contents = [one for one in group.contents if one.rank >= WORK]
    attention = [one for one in contents if isinstance(one.details, AttentionDetails)]
    linears = sum(one.times for one in contents if one.kind == "linear")
    is_alone = len(attention) == 1 and linears <= _MOST_PROJECTIONS
    others = any(one.kind != "linear" for one in contents if one not in attention)
    return attention[0].name if is_alone and not others else ""


def _are_chain(nodes: list[Node], stages: list[_Stage]) -> bool:
    """Return whether each stage takes from the one before it, and the first from none."""
    places = {node: place for place, stage in enumerate(stages) for node in stage.nodes}
    sources: dict[Node, frozenset[int]] = {}
    before: list[set[int]] = [set() for _ in stages]
    for node in nodes:
        givers = [value.producer for value in node.inputs if value is not None]
        coming = frozenset[int]().union(
            *(sources[giver] for giver in givers if giver is not None and giver in sources)
        )
        own = places.get(node)
        if own is None:
            sources[node] = coming
        else:
            before[own] |= coming - {own}
            sources[node] = frozenset({own})
    return all(place - 1 in taken if place else not taken for place, taken in enumerate(before))
