"""Faces of single nodes, with what arranges for them: what they compute, or the sign of a join."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from netloupe.explorer.grouping import PASSING_TRAITS, Group, recognise_function
from netloupe.explorer.model import Graph, Node, is_constant
from netloupe.explorer.patterns.picked_tokens import read_picked_token
from netloupe.explorer.patterns.scalings import read_scaling
from netloupe.explorer.quantization import node_badge
from netloupe.explorer.view import Item

from .box import MOST_FACTS_WIDTH, MOST_WIDTH, make_box
from .face import Face, TextRun
from .fact_rows import FaceStyle, list_facts
from .facts import NodeFacts
from .group_badge import find_group_badge
from .group_names import order_names, says_the_same
from .node_ideas import NodeIdea, find_node_idea
from .quantized_operators import keeps_quantized, list_computed_operands, list_computed_with
from .rows import FaceRow, describe_attributes, describe_constants
from .size_words import tell_split_parts
from .sizes import RADII

#: of the dot at which a stream branches, behind a node that only passes it on
BRANCHING_RADIUS = 5.0
#: from the middle of a junction down to the baseline of its sign
JUNCTION_BASELINE = 4.4
#: by which an exporter tells operators of one kind apart
_NUMBER = re.compile(r"_\d+$")
#: the name of a module that is only its place in a list: ``layers.0.2``
_PLACE = re.compile(r"(^|\.)\d+$")
#: what is written on the circle of an operator that joins streams
_SIGNS = {"adds": "+", "subtracts": "−", "multiplies_elements": "×"}


def make_node_face(item: Item, node: Node, facts: NodeFacts | None, style: FaceStyle) -> Face:
    """Return the face of a node: what it computes, its facts, or the sign of a join."""
    sign = _find_join(item, node, is_whole=facts is None)
    if sign:
        return _make_junction_face(node, sign)
    if facts is not None and not item.label and _gives_it_whole(node):
        return _make_dot_face(node.op_type)
    idea = find_node_idea(node) if facts is not None else None
    if idea is not None:
        return _make_idea_face(item.label, idea, "node", style)
    if facts is not None:
        blocks = facts.list_blocks(node, item.constants)
    else:
        blocks = [describe_attributes(node), describe_constants(node, item.constants)]
    name = node.op_type if facts is None else facts.name(node)
    title, quiet = order_names(item.label, name) if item.label else (name, "")
    recognition = recognise_function(node.function) if node.function is not None else None
    if recognition is not None:
        quiet = recognition.name
        told = list_facts(recognition.facts)
        # what a call is says more than the attributes and weights that are passed to it
        blocks = [told] if facts is not None and told else [*blocks, told]
    elif item.openable:
        blocks.append([FaceRow(_count_nodes_inside(node), "muted", ())])
    return make_box(
        "node",
        style.category,
        title,
        "" if says_the_same(title, quiet) else quiet,
        blocks,
        badge=node_badge(node) or "",
        openable=style.openable,
        in_line=style.in_line,
        most_width=MOST_FACTS_WIDTH if facts is not None else MOST_WIDTH,
    )


def make_operation_face(
    item: Item, group: Group, node: Node, facts: NodeFacts, style: FaceStyle
) -> Face:
    """Return the face of a node with what arranges for it: as of the node that computes."""
    title = item.label or group.label
    if title == node.op_type and _only_passes(group):
        return _make_dot_face(title)
    parts = _tell_split(group)
    idea = find_node_idea(node) if not parts else None
    if idea is not None:
        label = "" if title == node.op_type else title
        return _make_idea_face(label, idea, "group", style)
    operands = list_computed_operands(node)
    if not _is_named(title, node) and len(operands) > 1 and not any(map(is_constant, operands)):
        sign = _get_sign(node)
        is_plain = not node_badge(node) or keeps_quantized(node) or _holds_quantizers(group)
        if sign and is_plain:
            return _make_junction_face(node, sign)
    name = facts.name(node)
    title, quiet = (name, "") if title == node.op_type else order_names(title, name)
    if parts:
        quiet, blocks = "", [list_facts(parts)]
    else:
        blocks = facts.list_blocks(node, ())
        beside = _tell_beside(group)
        if beside:
            blocks = [*blocks, list_facts(beside)]
    return make_box(
        *("group", style.category, title, quiet, blocks),
        badge=find_group_badge(group),
        openable=style.openable,
        in_line=style.in_line,
        most_width=MOST_FACTS_WIDTH,
    )


def _make_idea_face(
    label: str, idea: NodeIdea, outline: Literal["node", "group"], style: FaceStyle
) -> Face:
    title, quiet = order_names(label, idea.name) if label else (idea.name, "")
    return make_box(
        *(outline, idea.category or style.category, title, quiet, [list_facts(idea.facts)]),
        openable=style.openable,
        in_line=style.in_line,
        most_width=MOST_FACTS_WIDTH,
    )


def _find_join(item: Item, node: Node, is_whole: bool) -> str:
    """Return the sign of an operator that joins streams, such as a residual sum; "" for others.

    It takes computed values only, has no name in the picture but its operator's, and no
    quantization; or where not the whole node is wanted with its scales, it is quantized throughout.
    """
    is_quantized = not is_whole and keeps_quantized(node)
    constants = list_computed_with(node, item.constants) if is_quantized else item.constants
    if _is_named(item.label, node) or constants or item.openable or len(item.inputs) < 2:
        return ""
    return _get_sign(node) if is_quantized or not node_badge(node) else ""


def _is_named(label: str, node: Node) -> bool:
    """Return whether a label is more than the operator's name, or its place in a list."""
    return (
        bool(label)
        and not _PLACE.search(label)
        and not says_the_same(_NUMBER.sub("", label), node.op_type)
    )


def _get_sign(node: Node) -> str:
    if node.domain != node.graph.dialect.domain and not keeps_quantized(node):
        return ""
    operator = node.operator
    if operator.activation or describe_attributes(node):
        return ""
    return next((sign for trait, sign in _SIGNS.items() if operator.has(trait)), "")


def _make_junction_face(node: Node, sign: str) -> Face:
    size = 2 * RADII["junction"]
    run = TextRun(size / 2, size / 2 + JUNCTION_BASELINE, sign, "title", "middle")
    return Face("junction", "plain", size, size, size, (run,))


def _make_dot_face(title: str) -> Face:
    size = 2 * BRANCHING_RADIUS
    return Face("junction", "plain", size, size, size, (), title=title)


def _count_nodes_inside(node: Node) -> str:
    function = node.function
    graphs: Sequence[Graph] = (function,) if function is not None else node.subgraphs
    count = sum(len(graph.nodes) for graph in graphs)
    where = f"in {len(graphs)} branches" if len(graphs) > 1 else "inside"
    return f"{count:,} node{'' if count == 1 else 's'} {where}"


def _tell_beside(group: Group) -> tuple[str, ...]:
    """Return what else is done for a node: ``of the first token``, ``× 8``."""
    told: list[str] = []
    for child in group.children:
        if isinstance(child, Node) and child is not group.main:
            word, factor = read_picked_token(child), read_scaling(child)
            told += [f"of the {word}"] if word else []
            told += [factor] if factor else []
    return tuple(told)


def _tell_split(group: Group) -> tuple[str, ...]:
    """Return into what the nodes of a group split a value; nothing where they do something else."""
    nodes = [
        one
        for one in group.children
        if isinstance(one, Node)
        and one.operator.has("gathers", "slices")
        and group.main is not None
        and one.input(0) is group.main.input(0)
    ]
    return tell_split_parts(nodes) if len(nodes) > 1 else ()


def _holds_quantizers(group: Group) -> bool:
    return any(
        isinstance(child, Node) and child.operator.has("dequantizes", "quantizes")
        for child in group.children
    )


def _only_passes(group: Group) -> bool:
    """Return whether a group computes nothing: it gives what it takes, in another type at most.

    Where that is what is split into one part, or joined with nothing, it may have other axes.
    """
    nodes = [child for child in group.children if isinstance(child, Node)]
    if len(nodes) < len(group.children):
        return False
    whole = [node for node in nodes if _gives_it_whole(node)]
    others = [node for node in nodes if node not in whole]
    through = (*PASSING_TRAITS, *(("reshapes",) if whole else ()))
    return all(node.operator.has(*through) for node in others)


def _gives_it_whole(node: Node) -> bool:
    """Return whether a node splits a value into one part, or joins one value."""
    operator = node.operator
    is_joint = operator.has("joins") and len(node.inputs) == 1
    return is_joint or (operator.has("splits") and len(node.outputs) == 1)
