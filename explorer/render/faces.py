"""Faces of items: what a node, a group, an input shows, and the size of its box."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from netloupe.explorer.grouping import PASSING_TRAITS, Group, recognise_function
from netloupe.explorer.grouping.branches import is_summed
from netloupe.explorer.grouping.ports import (
    UNKNOWN_PORTS,
    find_ports,
    list_port_places,
    list_port_widths,
)
from netloupe.explorer.grouping.stack_changes import list_course
from netloupe.explorer.grouping.stack_facts import write_course
from netloupe.explorer.model import Graph, Node, Value, is_constant
from netloupe.explorer.model.value import list_types
from netloupe.explorer.notation import write_count
from netloupe.explorer.options import Details, Direction
from netloupe.explorer.patterns import IDEA
from netloupe.explorer.quantization import node_badge
from netloupe.explorer.view import Item

from .box import (
    MARGIN,
    MOST_FACTS_WIDTH,
    MOST_WIDTH,
    make_box,
    round_size,
)
from .contents_words import MadeOf, write_contents
from .dim_names import name_dims
from .face import Face, TextRun
from .facts import NodeFacts
from .frames import SHARED, make_frame
from .group_badge import find_group_badge
from .group_category import GroupCategories
from .group_names import begins_the_same, is_number, name_group, order_names, says_the_same
from .group_summary import (
    count_each,
    list_end_differences,
    name_operators,
    write_difference,
)
from .node_ideas import NodeIdea, find_node_idea
from .rows import (
    MOST_CONSTANTS,
    FaceRow,
    describe_attributes,
    describe_constants,
    describe_dims,
    describe_elements,
    short_name,
    short_range,
    shorten_dims,
)
from .size_words import tell_split_parts
from .sizes import RADII, TEXT_STYLES
from .text import clean_label, measure_text, shorten_text

STUB_HEIGHT = 17.0
LEAST_STUB_WIDTH = 30.0
#: as wide as LayerNormalization_output_0, of which exporters make many
MOST_STUB_WIDTH = 180.0
#: a box that stands for more values says nothing of their types
MOST_TYPES_COMPARED = 20_000
#: one that stands for more nodes says how many, and not of which operators
MOST_OPERATORS_COUNTED = 300_000
#: of the dot at which a stream branches, behind a node that only passes it on
BRANCHING_RADIUS = 5.0
#: from the middle of a junction down to the baseline of its sign
JUNCTION_BASELINE = 4.4
#: what Q/DQ is written for, by name as all operators of a group are written
_QUANTIZING = {"DequantizeLinear", "QuantizeLinear"}


class FaceBook:
    """The faces of a view's items; each is made once, equal ones are one object.

    Parameters
    ----------
    details
        What stands on the boxes of nodes, as the option says.
    direction
        Of the picture. Where it runs down, height is scarce: facts stand in the line of the title
        where both fit.
    is_narrow
        Whether width is scarcer: facts stand below.
    has_controls
        Whether there is a sign on what can be opened.
    """

    def __init__(
        self,
        details: Details = "facts",
        direction: Direction = "TB",
        *,
        is_narrow: bool = False,
        has_controls: bool = True,
    ) -> None:
        self._categories = GroupCategories()
        self._has_controls = has_controls
        self._facts = NodeFacts() if details == "facts" else None
        self._in_line = details == "facts" and direction == "TB" and not is_narrow
        self._faces: dict[tuple[object, ...], Face] = {}
        self._distinct: dict[Face, Face] = {}

    def face(self, item: Item) -> Face:
        """Return what is drawn on an item's box."""
        key = (
            *(item.key, item.label, item.is_open, item.openable, len(item.merged)),
            *(item.shown, item.is_unrolled, item.unmatched, item.constants[: MOST_CONSTANTS + 1]),
            *(len(item.constants), len(item.stub_takers)),
        )
        face = self._faces.get(key)
        if face is None:
            face = make_face(
                item,
                self._facts,
                in_line=self._in_line,
                has_controls=self._has_controls,
                categories=self._categories,
            )
            face = self._faces[key] = self._distinct.setdefault(face, face)
        return face

    __call__ = face


def make_face(
    item: Item,
    facts: NodeFacts | None = None,
    *,
    in_line: bool = False,
    has_controls: bool = True,
    categories: GroupCategories | None = None,
) -> Face:
    """Make what is drawn on an item's box.

    Parameters
    ----------
    item
        What the box stands for.
    facts
        Tells what stands on the box of a node; None for all details.
    in_line
        Whether a single row may stand in the line of the title.
    has_controls
        Whether there is a sign on what can be opened.
    categories
        Finds the categories of groups.
    """
    element = item.element
    category = (categories or GroupCategories()).of_item(item)
    if item.is_open or item.kind == "root":
        return make_frame(item, category)
    style = _Style(category, in_line, has_controls and item.openable)
    if isinstance(element, Node):
        return _make_node_face(item, element, facts, style)
    if isinstance(element, Group) and element.main is not None and element.recognised is None:
        return _make_operation_face(item, element, element.main, facts or NodeFacts(), style)
    if isinstance(element, Group | Graph):
        return _make_group_face(item, element, style)
    if item.kind == "stub":
        return _make_stub_face(item)
    if item.kind == "constant" and not item.merged:
        return _make_constant_face(element)
    return _make_terminal_face(item, element, style)


class _Style(NamedTuple):
    """What a box is drawn like, beside what is told on it.

    Parameters
    ----------
    category
        Decides the colours.
    in_line
        Whether a single row may stand in the line of the title.
    openable
        Whether there is the sign of what can be opened.
    """

    category: str
    in_line: bool
    openable: bool


#: what is said of branches that are one box
_SUMMED = "side by side, summed"
#: blocks of a stack of so many nodes are compared
_MOST_COMPARED = 4_000
#: what is written on the circle of an operator that joins streams
_SIGNS = {"adds": "+", "multiplies_elements": "×"}


def _make_node_face(item: Item, node: Node, facts: NodeFacts | None, style: _Style) -> Face:
    sign = _find_join(item, node)
    if sign:
        return _make_junction_face(node, sign)
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
        blocks.append(_list_facts(recognition.facts))
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


def _make_idea_face(
    label: str, idea: NodeIdea, outline: Literal["node", "group"], style: _Style
) -> Face:
    title, quiet = order_names(label, idea.name) if label else (idea.name, "")
    return make_box(
        *(outline, idea.category or style.category, title, quiet, [_list_facts(idea.facts)]),
        openable=style.openable,
        in_line=style.in_line,
        most_width=MOST_FACTS_WIDTH,
    )


def _find_join(item: Item, node: Node) -> str:
    """Return the sign of an operator that joins streams, such as a residual sum; "" for others.

    It takes computed values only, has no name of its own in the picture, and no quantization.
    """
    if item.label or item.constants or item.openable or len(item.inputs) < 2 or node_badge(node):
        return ""
    return _get_sign(node)


def _get_sign(node: Node) -> str:
    if node.domain != node.graph.dialect.domain:
        return ""
    operator = node.operator
    if operator.activation or describe_attributes(node):
        return ""
    return next((sign for trait, sign in _SIGNS.items() if operator.has(trait)), "")


def _make_junction_face(node: Node, sign: str) -> Face:
    size = 2 * RADII["junction"]
    run = TextRun(size / 2, size / 2 + JUNCTION_BASELINE, sign, "title", "middle")
    return Face("junction", "plain", size, size, size, (run,))


def _count_nodes_inside(node: Node) -> str:
    function = node.function
    graphs: Sequence[Graph] = (function,) if function is not None else node.subgraphs
    count = sum(len(graph.nodes) for graph in graphs)
    where = f"in {len(graphs)} branches" if len(graphs) > 1 else "inside"
    return f"{count:,} node{'' if count == 1 else 's'} {where}"


def _make_group_face(item: Item, element: Group | Graph, style: _Style) -> Face:
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
    difference = [] if repeat is None else list_end_differences(repeat)
    ports = find_ports(known) if isinstance(known, Group) else UNKNOWN_PORTS
    if recognition is not None:
        facts = ports.correct_facts(recognition.facts)
        if repeat is not None:
            facts = (*_tell_streams(repeat, recognition.facts), *recognition.facts)
        rows = _list_facts(facts, difference)
    else:
        contents = MadeOf()
        if isinstance(known, Group):
            contents = write_contents(known.contents, _fits_row, ports)
            if repeat is not None:
                told = [_tell_all_blocks(repeat, contents.facts)]
                told = [*filter(None, told), *_tell_streams(repeat, ["→"])]
                contents = contents._replace(facts=" · ".join(told))
        is_nameless = is_number(label) and not quiet
        says_no_more = is_number(quiet) and begins_the_same(label, contents.parts)
        if not contents.parts:
            rows = _list_operators(item, element, difference)
        elif says_no_more:
            label = contents.parts
            rows = _list_facts((contents.facts,), difference)
        elif is_nameless and _fits_title(contents.parts):
            label, quiet = contents.parts, label
            rows = _list_facts((contents.facts,), difference)
        elif _tells_all(label, quiet, contents.parts):
            rows = _list_facts((contents.facts,), difference)
        elif not quiet and _fits_row(f"{label}   {contents.parts}"):
            quiet = contents.parts
            rows = _list_facts((contents.facts,), difference)
        else:
            rows = [FaceRow(contents.parts, "muted", ())]
            rows += _list_facts((contents.facts,), difference)
    times = len(repeat.children) if repeat is not None else 0
    is_loop = repeat is not None and repeat.is_loop
    if repeat is not None and repeat.shares_weights:
        rows = [FaceRow(SHARED, "muted", ()), *rows]
    elif repeat is not None and is_summed(repeat):
        rows = [FaceRow(_SUMMED, "muted", ()), *rows]
    return make_box(
        *("group", style.category, label, quiet, [rows]),
        badge=find_group_badge(element) if isinstance(element, Group) and not times else "",
        openable=style.openable,
        times=times,
        is_loop=is_loop,
        in_line=style.in_line,
    )


def _tell_all_blocks(repeat: Group, facts: str) -> str:
    """Return through which widths a stack goes, or else facts of its exemplar that all share."""
    widths = list_course(repeat)
    if widths:
        return write_course(widths)
    others = [block for block in repeat.children if isinstance(block, Group)]
    if len(others) == len(repeat.children) and others[repeat.exemplar].recognised is not None:
        return facts  # of the blocks that are of a known kind, all but one
    if not facts or repeat.node_count > _MOST_COMPARED or len(others) < len(repeat.children):
        return facts if not others else ""
    told = sum(write_contents(block.contents, _fits_row).facts == facts for block in others)
    # of the first or the last block it is said besides in what it differs
    return facts if told >= len(others) - bool(write_difference(repeat)) else ""


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
    if any("→" in fact for fact in facts):
        return []
    widths = list_port_widths(blocks)
    return [write_course(widths)] if len(widths) > 1 else []


def _tells_all(label: str, quiet: str, parts: str) -> bool:
    """Return whether a title says already what a group is made of."""
    return says_the_same(label, parts) or (bool(quiet) and begins_the_same(quiet, parts))


def _list_operators(item: Item, element: Group | Graph, difference: Sequence[str]) -> list[FaceRow]:
    """Return which operators there are, where no part is known; of too many how many nodes."""
    repeat = item.repeat
    shown: Sequence[Group | Graph | Node] = [element] if repeat is None else repeat.children
    count = len(element.nodes) if isinstance(element, Graph) else element.node_count
    operators = count_each(shown) if 0 < count <= MOST_OPERATORS_COUNTED else []
    others = [operator for operator in operators if operator[0] not in _QUANTIZING]
    operators = others or ([("Q/DQ", "")] if operators else [])
    if operators:
        return _list_facts((name_operators(operators, MOST_WIDTH - 2 * MARGIN),), difference)
    return [FaceRow(write_count(count, "node"), "muted", ())]


def _make_operation_face(
    item: Item, group: Group, node: Node, facts: NodeFacts, style: _Style
) -> Face:
    """Return the face of a node with what arranges for it: as of the node that computes."""
    title = item.label or group.label
    if title == node.op_type and _only_passes(group):
        size = 2 * BRANCHING_RADIUS
        return Face("junction", "plain", size, size, size, (), title=title)
    idea = find_node_idea(node)
    if idea is not None:
        label = "" if title == node.op_type else title
        return _make_idea_face(label, idea, "group", style)
    operands = [value for value in node.inputs if value is not None]
    if title == node.op_type and len(operands) > 1 and not any(map(is_constant, operands)):
        sign = _get_sign(node)
        if sign and (not node_badge(node) or _holds_quantizers(group)):
            return _make_junction_face(node, sign)
    name = facts.name(node)
    title, quiet = (name, "") if title == node.op_type else order_names(title, name)
    parts = _tell_split(group)
    if parts:
        quiet, blocks = "", [_list_facts(parts)]
    else:
        blocks = facts.list_blocks(node, ())
    return make_box(
        *("group", style.category, title, quiet, blocks),
        badge=find_group_badge(group),
        openable=style.openable,
        in_line=style.in_line,
        most_width=MOST_FACTS_WIDTH,
    )


def _tell_split(group: Group) -> tuple[str, ...]:
    """Return into what the nodes of a group split a value; nothing where they do something else."""
    nodes = [one for one in group.children if isinstance(one, Node) and one.operator.has("slices")]
    return tell_split_parts(nodes) if len(nodes) > 1 else ()


def _holds_quantizers(group: Group) -> bool:
    return any(
        isinstance(child, Node) and child.operator.has("dequantizes", "quantizes")
        for child in group.children
    )


def _only_passes(group: Group) -> bool:
    """Return whether a group computes nothing: it gives what it takes, in another type at most."""
    return all(
        isinstance(child, Node) and child.operator.has(*PASSING_TRAITS) for child in group.children
    )


def _make_quiet_face(item: Item, group: Group, style: _Style) -> Face:
    """Return the face of what is beside the model's body: what it is, and ideas that are in it."""
    label, quiet = item.label or group.label, ", ".join(group.facts)
    kind = "" if label.startswith(group.kind) else group.kind
    ideas = [one for one in group.contents if one.rank == IDEA]
    told = [kind, write_contents(ideas, _fits_row).parts]
    rows = [FaceRow(" · ".join(filter(None, told)), "muted", ())] if any(told) else []
    if label == group.kind and len(group.inner_groups()) > 1:
        quiet, rows = "", _list_all(group.facts)
    return make_box(
        *("group", style.category, label, quiet, [rows]),
        openable=style.openable,
        in_line=style.in_line,
    )


def _make_terminal_face(item: Item, element: object, style: _Style) -> Face:
    value = element if isinstance(element, Value) else None
    name = item.label or (value.name if value else "") or "?"
    rows = []
    if max(map(len, item.merged.values()), default=1) <= MOST_TYPES_COMPARED:
        type_text = _describe_types(item) or "type unknown"
        shown = shorten_dims(clean_label(type_text), MOST_FACTS_WIDTH - 2 * MARGIN, "text")
        rows.append(FaceRow(shown, "text", ()))
    denotation = _describe_denotation(value) if value else ""
    if item.names:
        rows.insert(0, FaceRow(item.names, "muted", ()))
    elif denotation:
        rows.append(FaceRow(denotation, "muted", ()))
    if item.stub_takers:
        places = write_count(len(item.stub_takers), "place")
        rows.append(FaceRow(f"→ {places}, by name", "muted", ()))
    times = 0 if item.names else sum(map(len, item.merged.values()))
    return make_box(
        *("terminal", "terminal", name, "", [rows] if rows else []),
        openable=style.openable,
        times=times,
        in_line=style.in_line,
        most_width=MOST_FACTS_WIDTH,
    )


def _describe_types(item: Item) -> str:
    """Return the type of all values that a box stands for, or how many types they have."""
    element = item.element
    values = next(iter(item.merged.values()), (element,) if isinstance(element, Value) else ())
    stated = list_types(values)
    types = {str(kind) if kind else "" for kind in stated}
    if len(types) != 1:
        return f"{len(types):,} types"
    named = name_dims(stated[0], values[0] if len(values) == 1 else None)
    return types.pop() if named is None else str(named)


def _describe_denotation(value: Value) -> str:
    """Return ``IMAGE · batch×channel×feature×feature`` where the type says what it means."""
    parts = []
    if value.type is not None and value.type.denotation:
        parts.append(value.type.denotation)
    shape = getattr(value.type, "shape", None) or ()
    if any(dim.denotation for dim in shape):
        names = [dim.denotation.removeprefix("DATA_").lower() or "·" for dim in shape]
        parts.append(describe_dims(names))
    return " · ".join(parts)


def _make_constant_face(element: object) -> Face:
    value = element if isinstance(element, Value) else None
    tensor = value.initializer if value else None
    name = short_name(value.name) if value else "?"
    if tensor is None:
        return make_box("constant", "plain", name, "constant", [])
    elements = describe_elements(tensor)
    text = f"{tensor.dtype.name} {elements or f'⟨{describe_dims(tensor.dims)}⟩'}"
    return make_box("constant", "plain", name, "", [[FaceRow(text, "muted", ())]])


def _make_stub_face(item: Item) -> Face:
    size, bold = TEXT_STYLES["badge"]
    # only names of an author have parts: a point in "Add of layer.0" begins none
    name = item.label if " " in item.label else short_name(item.label)
    places = len(item.stub_takers)
    goes = f" → {write_count(places, 'place')}" if places > 1 else ""
    text = shorten_text(name, MOST_STUB_WIDTH - STUB_HEIGHT, size, bold) + goes
    width = round_size(max(measure_text(text, size, bold) + STUB_HEIGHT, LEAST_STUB_WIDTH))
    run = TextRun(round_size(width / 2), STUB_HEIGHT / 2 + 3.4, text, "badge", "middle")
    return Face("stub", "plain", width, STUB_HEIGHT, 0.0, (run,))


def _list_facts(facts: Sequence[str], difference: Sequence[str] = ()) -> list[FaceRow]:
    """Return what is known of a block in one row: as many facts as there is room for.

    How the blocks of a stack differ is said in any case, behind the facts or else below them.
    """
    listed = ""
    for fact in facts:
        longer = " · ".join(filter(None, (listed, fact)))
        if not listed or _fits_row(longer):
            listed = longer
    together = " · ".join(filter(None, (listed, *difference[:1])))
    lines = (together, *difference[1:]) if _fits_row(together) else (listed, *difference)
    return [FaceRow(line, "muted", ()) for line in lines if line]


def _list_all(facts: Sequence[str]) -> list[FaceRow]:
    """Return all of some facts, in as many rows as they need."""
    lines: list[str] = []
    for fact in facts:
        longer = f"{lines[-1]} · {fact}" if lines else ""
        if longer and _fits_row(longer):
            lines[-1] = longer
        else:
            lines.append(fact)
    return [FaceRow(line, "muted", ()) for line in lines]


def _fits_title(text: str) -> bool:
    return measure_text(text, *TEXT_STYLES["title"]) <= MOST_WIDTH - 2 * MARGIN


def _fits_row(text: str) -> bool:
    return measure_text(text, *TEXT_STYLES["muted"]) <= MOST_WIDTH - 2 * MARGIN
