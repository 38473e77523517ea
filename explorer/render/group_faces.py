"""Faces of closed groups: what they are called, what they are or are made of, and facts of that."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from netloupe.explorer.grouping import Group
from netloupe.explorer.grouping.branches import is_summed
from netloupe.explorer.grouping.inner_parts import list_inner_stages
from netloupe.explorer.grouping.member_differences import read_ends
from netloupe.explorer.grouping.member_nodes import list_member_nodes
from netloupe.explorer.grouping.ports import (
    UNKNOWN_PORTS,
    find_ports,
    list_port_places,
    list_port_widths,
)
from netloupe.explorer.grouping.shared_tables import tell_shared_table
from netloupe.explorer.grouping.stack_changes import list_course
from netloupe.explorer.grouping.stack_facts import write_course
from netloupe.explorer.model import Graph, Node
from netloupe.explorer.notation import write_count
from netloupe.explorer.operators import LAYOUT_TRAITS
from netloupe.explorer.patterns import IDEA, Recognition
from netloupe.explorer.patterns.transformer_details import AttentionDetails
from netloupe.explorer.view import Item

from .box import MARGIN, MOST_WIDTH, make_box
from .contents_words import MadeOf, wrap_rows, write_contents
from .face import Face
from .fact_rows import FaceStyle, fits_row, fits_title, list_all, list_facts, pick_unusual
from .frames import SHARED
from .group_badge import find_group_badge
from .group_names import AND, begins_the_same, is_number, name_group, says_the_same
from .group_summary import count_each, list_end_differences, name_operators, write_difference
from .kernel_words import list_kernel_runs
from .node_ideas import NodeIdea, find_node_idea
from .recurrent_words import tell_directions
from .rows import FaceRow, short_range
from .stream_starts import pick_queries, tell_stored_map

#: one that stands for more nodes says how many, and not of which operators
MOST_OPERATORS_COUNTED = 300_000
#: a group of more children is looked at for no one idea
_MOST_OF_IDEA = 12
#: what is said of branches that are one box
_SUMMED = "side by side, summed"
#: the family of what is named part by part
_PLAIN = "group"
#: between widths, and those of a part that is named
_ARROW = "→"
_NAMED = rf"[A-Za-z]+ \d[\d,]* {_ARROW}"
_HEADS = r"\d[\d,]* heads?\b"
#: by which an exporter tells operators of one kind apart
_NUMBER = re.compile(r"_\d+$")
#: what takes rows of a table, or multiplies by it, has so many nodes at most
_MOST_WITH_TABLE = 12
#: of more boxes beside each other it is not looked at how they differ
_MOST_BESIDE = 40
#: blocks of a stack of so many nodes are compared
_MOST_COMPARED = 4_000
#: what Q/DQ is written for, by name as all operators of a group are written
_QUANTIZING = {"DequantizeLinear", "QuantizeLinear"}


def make_group_face(item: Item, element: Group | Graph, style: FaceStyle) -> Face:
    """Return the face of a closed group, or of the graph that a node holds."""
    repeat = item.repeat
    if isinstance(element, Group) and element.is_beside:
        return _make_quiet_face(item, element, style)
    known = repeat or element
    recognition = known.recognised if isinstance(known, Group) else None
    if isinstance(element, Group):
        label = short_range(item.label or element.label)
        label, quiet = name_group(element, label, recognition)
    else:
        label = item.label or element.parent_attribute or element.name
        quiet = ""
    ports = find_ports(known) if isinstance(known, Group) else UNKNOWN_PORTS
    if recognition is not None:
        facts = (*ports.correct_facts(recognition.facts), *_tell_shared(element))
        if repeat is not None:
            facts = (*_tell_streams(repeat, recognition.facts), *recognition.facts)
        kernels, is_factored = list_kernel_runs(known) if isinstance(known, Group) else ("", False)
        is_row = recognition.family == _PLAIN and AND in recognition.name
        is_told = is_row and (is_factored or fits_row(AND.join((kernels, *facts))))
        if is_told and kernels not in ("", *facts):
            facts = (kernels, *facts)
        apart = [*pick_queries(facts), *_list_apart(item, recognition, facts)]
        apart += facts if is_told else []
        apart += pick_unusual(facts)
        rows = list_facts(facts, _list_differences(repeat, facts), apart)
    else:
        contents = MadeOf()
        if isinstance(known, Group):
            parts = known.contents if known.u is None else [known.u]
            steps = _count_steps(known)
            contents = write_contents(
                *(parts, fits_row, ports, lambda: list_inner_stages(known), steps)
            )
            shared = _tell_shared(known) if repeat is None and contents.facts else ()
            contents = contents._replace(facts=" · ".join((contents.facts, *shared)))
            if repeat is not None:
                of_all = _tell_all_blocks(repeat, contents.facts)
                if ports == UNKNOWN_PORTS:  # as of many blocks with values beside the stream
                    of_all = _correct_by_block(repeat, of_all)
                listed = [*filter(None, [of_all]), *_tell_streams(repeat, [_ARROW])]
                contents = contents._replace(facts=" · ".join(listed))
        told, apart = [contents.facts], list[str]()
        if isinstance(known, Group) and contents.parts:
            told, apart = _tell_layers(known, contents.facts)
        difference = _list_differences(repeat, told)
        of_contents = list_facts([*filter(None, told)], difference, apart)
        is_nameless = is_number(label) and not quiet
        says_no_more = is_number(quiet) and begins_the_same(label, contents.parts)
        idea = None if contents.parts or repeat is not None else _find_only_idea(element)
        if idea is not None:
            quiet, rows = idea.name, list_facts(idea.facts, difference)
        elif isinstance(element, Group) and element.kind == "block" and element.facts:
            rows = list_facts((), difference)  # its name says what its operators do
        elif not contents.parts:
            rows = _list_operators(item, element, difference)
            if repeat is not None and rows and says_the_same(label, rows[0].name):
                rows = rows[1:]
            if repeat is None and rows and _is_numbered(element, label, rows[0].name):
                label, rows = rows[0].name, rows[1:]
        elif says_no_more:
            label = contents.parts
            rows = of_contents
        elif is_nameless and fits_title(contents.parts):
            label, quiet = contents.parts, label
            rows = of_contents
        elif _tells_all(label, quiet, contents.parts):
            rows = of_contents
        elif not quiet and fits_row(f"{label}   {contents.parts}"):
            quiet = contents.parts
            rows = of_contents
        else:
            rows = [FaceRow(line, "muted", ()) for line in wrap_rows(contents.parts, fits_row)]
            rows += of_contents
    begin = tell_stored_map(element) if isinstance(element, Group) and repeat is None else ""
    rows += [FaceRow(begin, "muted", ())] if begin else []
    times = len(repeat.children) if repeat is not None else 0
    is_loop = repeat is not None and repeat.is_loop
    has_twin = repeat is None and isinstance(element, Group) and element.has_twin
    if has_twin or (repeat is not None and repeat.shares_weights):
        rows = [FaceRow(SHARED, "muted", ()), *rows]
    elif repeat is not None and is_summed(repeat):
        rows = [FaceRow(_SUMMED, "muted", ()), *rows]
    return make_box(
        *("group", style.category, label, quiet, [rows]),
        badge=find_group_badge(element) if isinstance(element, Group) else "",
        openable=style.openable,
        times=times,
        is_loop=is_loop,
        in_line=style.in_line,
    )


def _tell_layers(known: Group, widths: str) -> tuple[list[str], list[str]]:
    """Return facts of what is in a group, and which of them are told in any case.

    These are directions of recurrent layers, and kernels that are not as long along all axes.
    """
    told, ways = tell_directions(known, widths)
    kernels, is_factored = list_kernel_runs(known)
    apart = [*filter(None, (ways, kernels if is_factored else ""))]
    if kernels and fits_row(AND.join(filter(None, (kernels, told)))):
        return [kernels, told, ways], apart
    return [told, ways], apart


def _count_steps(group: Group) -> int:
    """Return how many steps the loops in a group have; 0 for none, and where they differ."""
    block = group.children[group.exemplar] if group.kind == "repeat" else group
    inner = block.inner_groups() if isinstance(block, Group) else []
    steps = {len(one.children) for one in inner if one.kind == "repeat" and one.is_loop}
    return steps.pop() if len(steps) == 1 else 0


def _list_apart(item: Item, own: Recognition, facts: Sequence[str]) -> list[str]:
    """Return the facts of a block that one beside it of the same name does not have.

    So a block with an MLP is told from those with experts, which attend alike.
    """
    beside = item.parent.children if item.parent is not None else []
    others: list[Recognition] = []
    for other in beside if len(beside) <= _MOST_BESIDE else []:
        group = other.repeat or other.element
        found = group.recognised if isinstance(group, Group) and other is not item else None
        if found is not None and found.name == own.name:
            others.append(found)
    return [fact for fact in facts if any(fact not in other.facts for other in others)]


def _is_numbered(element: Group | Graph, label: str, operator: str) -> bool:
    """Return whether a name is an exporter's for one operator, or numbers it: ``mul_12``."""
    is_exporters = isinstance(element, Group) and element.names_operator
    return is_exporters and says_the_same(_NUMBER.sub("", label), operator)


def _tell_shared(element: Group | Graph) -> tuple[str, ...]:
    """Return whether a box of one weight has a table that others use, too."""
    if not isinstance(element, Group) or element.node_count > _MOST_WITH_TABLE:
        return ()
    told = tell_shared_table(list_member_nodes(element, _MOST_WITH_TABLE))
    return (told,) if told else ()


def _list_differences(repeat: Group | None, facts: Sequence[str]) -> list[str]:
    return [] if repeat is None else list_end_differences(repeat, said=facts)


def _make_quiet_face(item: Item, group: Group, style: FaceStyle) -> Face:
    """Return the face of what is beside the model's body: what it is, and ideas that are in it."""
    label, quiet = item.label or group.label, ", ".join(group.facts)
    kind = "" if label.startswith(group.kind) else group.kind
    ideas = [one for one in group.contents if one.rank == IDEA]
    told = [kind, write_contents(ideas, fits_row).parts]
    rows = [FaceRow(" · ".join(filter(None, told)), "muted", ())] if any(told) else []
    if label == group.kind and len(group.inner_groups()) > 1:
        quiet, rows = "", list_all(group.facts)
    return make_box(
        *("group", style.category, label, quiet, [rows]),
        openable=style.openable,
        in_line=style.in_line,
    )


def _tell_all_blocks(repeat: Group, facts: str) -> str:
    """Return through which widths a stack goes, or else facts of its exemplar that all share."""
    widths = list_course(repeat)
    if widths:
        return write_course(widths)
    others = [block for block in repeat.children if isinstance(block, Group)]
    if len(others) < len(repeat.children):
        return facts if not others else ""
    # of the blocks that are of a known kind, facts are those of all but one
    is_known = others[repeat.exemplar].recognised is not None
    if not facts or repeat.node_count > _MOST_COMPARED:
        return facts if is_known else ""
    spans = [read_ends(list_member_nodes(block, _MOST_COMPARED)) for block in others]
    tells_stream = not re.search(_NAMED, facts)
    if tells_stream and len({*spans[1:]}) == 1 < len({*spans}):
        # the first one begins with the width of the stack before
        course = _list_ends(others, spans)
        return write_course(course) if course else ""
    facts = _tell_heads(facts, [_list_heads(block) for block in others])
    told = sum(
        write_contents(block.contents, fits_row, steps=_count_steps(block)).facts == facts
        for block in others
    )
    # of the first or the last block it is said besides in what it differs
    is_told = is_known or told >= len(others) - bool(write_difference(repeat))
    return facts if is_told and (len({*spans}) == 1 or not tells_stream) else ""


def _correct_by_block(repeat: Group, facts: str) -> str:
    """Return facts of the blocks of a stack, with widths as the border of one block has them."""
    block = repeat.children[repeat.exemplar]
    if not facts or not isinstance(block, Group):
        return facts
    return AND.join(find_ports(block).correct_facts(facts.split(AND)))


def _tell_heads(facts: str, heads: Sequence[tuple[int, ...]]) -> str:
    """Return facts, with the heads of the first block where it has others than all behind it.

    So begins a stage with half as many (Z. Dai and others, CoAtNet, 2021, table 3). Heads that
    differ in another way are left out.
    """
    kinds = [frozenset(own) for own in heads]
    if len({*kinds} - {frozenset()}) < 2:  # one attention more is no other number of heads
        return facts
    first = heads[0][0] if len({*kinds[1:]}) == 1 == len(kinds[0]) else 0
    told = (
        (f"{first:,}, then {fact}" if first else "") if re.match(_HEADS, fact) else fact
        for fact in facts.split(AND)
    )
    return AND.join(filter(None, told))


def _list_heads(block: Group) -> tuple[int, ...]:
    """Return how many heads each attention of a block has, as far as that is known."""
    found = (one.details.read_as(AttentionDetails).heads for one in block.contents)
    return tuple(number for number in found if number is not None)


def _list_ends(
    blocks: Sequence[Group], spans: Sequence[tuple[int | None, int | None]]
) -> list[int]:
    """Return what the first block takes, and what each gives, if each takes what the last gives.

    Nothing where what layers take and give are no sizes of what goes through the blocks.
    """
    for block, (taken, given) in zip(blocks, spans, strict=True):
        ports = find_ports(block)
        if not _has(ports.taken, taken) or not _has(ports.given, given):
            return []
    if any(before[1] != after[0] for before, after in pairwise(spans)):
        return []
    return [width for width in (spans[0][0], *(given for _, given in spans)) if width is not None]


def _has(values: Sequence[Sequence[int]], width: int | None) -> bool:
    return any(width in dims[1:] for dims in values)


def _tell_streams(repeat: Group, facts: Sequence[str]) -> list[str]:
    """Return the widths between the blocks of a stack where no fact tells them.

    Of blocks beside each other it is the sizes of the maps that they take.
    """
    blocks = [block for block in repeat.children if isinstance(block, Group)]
    if len(blocks) < len(repeat.children) or repeat.node_count > _MOST_COMPARED:
        return []
    places = list_port_places(blocks)
    if places:
        ends = [" × ".join(map(str, each)) for each in (places[0], places[-1])]
        return [(" and " if len(places) == 2 else " … ").join(ends)]
    if any(_ARROW in fact for fact in facts):
        return []
    widths = list_port_widths(blocks)
    return [write_course(widths)] if len(widths) > 1 else []


def _tells_all(label: str, quiet: str, parts: str) -> bool:
    """Return whether a title says already what a group is made of."""
    is_named = {*parts.split(AND)} <= {*label.split(AND)}
    return is_named or says_the_same(label, parts) or bool(quiet and begins_the_same(quiet, parts))


def _find_only_idea(element: Group | Graph) -> NodeIdea | None:
    """Return what the one node of a group is that does more than its operator says."""
    children = element.children if isinstance(element, Group) else []
    found: list[NodeIdea] = []
    for child in children[: _MOST_OF_IDEA + 1]:
        is_node = isinstance(child, Node) or child.kind == "operation"
        node = child if isinstance(child, Node) else child.main
        if not is_node or node is None:
            if isinstance(child, Group) and child.kind == "shape":
                continue
            return None
        idea = find_node_idea(node)
        if idea is not None:
            found.append(idea)
        elif not node.operator.has(*LAYOUT_TRAITS, "broadcasts"):
            return None
    return found[0] if len(children) <= _MOST_OF_IDEA and len(found) == 1 else None


def _list_operators(item: Item, element: Group | Graph, difference: Sequence[str]) -> list[FaceRow]:
    """Return which operators there are, where no part is known; of too many how many nodes."""
    repeat = item.repeat
    shown: Sequence[Group | Graph | Node] = [element] if repeat is None else repeat.children
    count = len(element.nodes) if isinstance(element, Graph) else element.node_count
    operators = count_each(shown) if 0 < count <= MOST_OPERATORS_COUNTED else []
    others = [operator for operator in operators if operator[0] not in _QUANTIZING]
    operators = others or ([("Q/DQ", "")] if operators else [])
    if operators:
        return list_facts((name_operators(operators, MOST_WIDTH - 2 * MARGIN),), difference)
    return [FaceRow(write_count(count, "node"), "muted", ())]
