"""Faces of items: what a node, a group, an input shows, and the size of its box."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from netloupe.explorer.grouping import Group
from netloupe.explorer.model import Graph, Node, Value
from netloupe.explorer.quantization import node_badge
from netloupe.explorer.view import Item

from .category import category_of, category_of_operator
from .face import SHEET_OFFSET, TEXT_STYLES, Badge, Face, Shape, TextRun, TextStyle
from .rows import (
    Row,
    describe_attributes,
    describe_constants,
    describe_dims,
    describe_elements,
    short_name,
    short_range,
)
from .text import clean_label, measure_text, shorten_text

#: rooms in pixels
MARGIN = 10.0
HEADER = 26.0
TERMINAL_HEADER = 21.0  # no line below it, so less room
BASELINE = 17.5
ROW = 15.0
ROW_BASELINE = 11.5
BLOCK_PADDING = 4.0
GAP = 7.0
LEAST_WIDTH = 90.0
MOST_WIDTH = 260.0
MOST_FRAME_TITLE = 360.0
MOST_NAME_WIDTH = 110.0
LEAST_PIECE = 24.0
BADGE_HEIGHT = 15.0
STUB_HEIGHT = 17.0
LEAST_STUB_WIDTH = 30.0
MOST_STUB_WIDTH = 150.0
OPENER = "+"  # on what can be opened
SHEETS = 2  # behind what stands for several
CHIP_HEIGHT = 13.0
CHIP_PADDING = 12.0

#: a value is cut at its end, a name in the middle
_KEEP: dict[TextStyle, Literal["both", "start"]] = {"text": "start"}
_FAMILIES_THAT_MOVE_DATA = frozenset(("shape", "generator", "logic", "quantization"))
#: parts of a module's class or a group's name that tell what it does; first match counts
_GROUP_HINTS = (
    ("norm", "normalization"),
    ("ln_", "normalization"),
    ("attention", "attention"),
    ("attn", "attention"),
    ("lstm", "recurrent"),
    ("gru", "recurrent"),
    ("relu", "activation"),
    ("gelu", "activation"),
    ("softmax", "activation"),
    ("activation", "activation"),
    ("conv", "linear"),
    ("linear", "linear"),
)
MOST_NODES_OF_ONE_FAMILY = 12
_FAMILIES_WITH_WEIGHTS = frozenset(("linear", "normalization", "recurrent", "attention"))


class FaceBook:
    """The faces of a view's items; each is made once, equal ones are one object."""

    def __init__(self) -> None:
        self._faces: dict[tuple[object, ...], Face] = {}
        self._distinct: dict[Face, Face] = {}

    def face(self, item: Item) -> Face:
        """Return what is drawn on an item's box."""
        key = (
            *(item.key, item.label, item.is_open, item.openable, len(item.merged)),
            *(item.shown, item.is_unrolled, item.unmatched, item.constants),
        )
        face = self._faces.get(key)
        if face is None:
            face = make_face(item)
            face = self._faces[key] = self._distinct.setdefault(face, face)
        return face

    __call__ = face


def make_face(item: Item) -> Face:
    """Make what is drawn on an item's box."""
    element = item.element
    if item.is_open or item.kind == "root":
        return _make_frame(item)
    if isinstance(element, Node):
        return _make_node_face(item, element)
    if isinstance(element, Group | Graph):
        return _make_group_face(item, element)
    if item.kind == "stub":
        return _make_stub_face(item)
    if item.kind == "constant":
        return _make_constant_face(element)
    return _make_terminal_face(item, element)


def _make_node_face(item: Item, node: Node) -> Face:
    blocks = [describe_attributes(node), describe_constants(node, item.constants)]
    if item.openable:
        blocks.append([Row(_count_nodes_inside(node), "muted", ())])
    title, quiet = (item.label, node.op_type) if item.label else (node.op_type, "")
    return _make_box(
        "node",
        category_of(node),
        title,
        quiet,
        blocks,
        badge=node_badge(node) or "",
        openable=item.openable,
    )


def _count_nodes_inside(node: Node) -> str:
    function = node.function
    graphs: Sequence[Graph] = (function,) if function is not None else node.subgraphs
    count = sum(len(graph.nodes) for graph in graphs)
    where = f"in {len(graphs)} branches" if len(graphs) > 1 else "inside"
    return f"{count:,} node{'' if count == 1 else 's'} {where}"


def _make_group_face(item: Item, element: Group | Graph) -> Face:
    repeat = item.repeat
    shown = repeat.children[repeat.exemplar] if repeat is not None else element
    if isinstance(element, Group):
        label, type_name = short_range(item.label or element.label), element.type_name
        quiet = _other_than(type_name, label)
    else:
        label, type_name = item.label or element.parent_attribute or element.name, ""
        quiet = ""
    operators = count_operators(shown)
    count = shown.node_count if isinstance(shown, Group) else sum(operators.values())
    listed = _list_operators(_operators_that_tell(operators))
    counted = f"{count:,} node{'' if count == 1 else 's'}"
    rows = [Row(f"{counted} each" if repeat is not None else counted, "muted", ())]
    if listed and (count > 1 or repeat is not None):
        rows.append(Row(listed, "muted", ()))
    category = category_of_group(label, type_name, operators)
    times = len(repeat.children) if repeat is not None else 0
    return _make_box("group", category, label, quiet, [rows], openable=item.openable, times=times)


def _list_operators(operators: Sequence[tuple[str, int]], most: int = 3) -> str:
    """Return the first operators, as many as fit into the widest box."""
    listed = ""
    for index, (op_type, number) in enumerate(operators):
        longer = ", ".join(filter(None, (listed, clean_label(op_type, 24))))
        longer += f" ×{number:,}" if number > 1 else ""
        width = measure_text(longer + ", …", *TEXT_STYLES["muted"])
        if index >= most or (listed and width > MOST_WIDTH - 2 * MARGIN):
            return listed + ", …"
        listed = longer
    return listed


def count_operators(element: Group | Graph | Node) -> Counter[tuple[str, str]]:
    """Return how many nodes inside have which domain and op_type, shape arithmetic left out.

    Of a repeat the exemplar is counted for all, so that the work is that of what differs.
    """
    if isinstance(element, Node):
        return Counter([(element.domain, element.op_type)])
    if isinstance(element, Graph):
        return Counter((node.domain, node.op_type) for node in element.nodes)
    operators: Counter[tuple[str, str]] = Counter()
    pending: list[tuple[Group | Node, int]] = [(element, 1)]
    while pending:
        child, times = pending.pop()
        if isinstance(child, Node):
            operators[child.domain, child.op_type] += times
        elif child.kind == "repeat":
            pending.append((child.children[child.exemplar], times * len(child.children)))
        elif child.kind != "shape" or child is element:
            pending.extend((inner, times) for inner in child.children)
    return operators


def _operators_that_tell(operators: Counter[tuple[str, str]]) -> list[tuple[str, int]]:
    """Return operators with their counts: those that move data only where there are no others."""
    telling = {
        operator: count
        for operator, count in operators.items()
        if category_of_operator(*operator) not in _FAMILIES_THAT_MOVE_DATA
    }
    counts: Counter[str] = Counter()
    for (_, op_type), count in (telling or operators).items():
        counts[op_type] += count
    ordered = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    return [entry for entry in ordered if entry[0] != "Constant"]


def category_of_group(label: str, type_name: str, operators: Counter[tuple[str, str]]) -> str:
    """Return the family of a closed group.

    The module's class or the group's name tells it (``GPT2Attention``, ``ln_1``), or its
    nodes with weights do where all are of one family; otherwise it is ``group``.
    """
    for name in (type_name, label.rsplit(" / ", 1)[-1]):
        lowered = name[-200:].lower()
        for part, category in _GROUP_HINTS:
            if part in lowered:
                return category
    if operators.total() > MOST_NODES_OF_ONE_FAMILY:
        return "group"
    families = {category_of_operator(domain, op_type) for domain, op_type in operators}
    families &= _FAMILIES_WITH_WEIGHTS
    return families.pop() if len(families) == 1 else "group"


def _make_terminal_face(item: Item, element: object) -> Face:
    value = element if isinstance(element, Value) else None
    name = item.label or (value.name if value else "") or "?"
    rows = [Row(str(value.type) if value and value.type else "type unknown", "text", ())]
    denotation = _describe_denotation(value) if value else ""
    if denotation:
        rows.append(Row(denotation, "muted", ()))
    times = sum(map(len, item.merged.values()))
    return _make_box("terminal", "terminal", name, "", [rows], times=times)


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
        return _make_box("constant", "constant", name, "constant", [])
    elements = describe_elements(tensor)
    text = f"{tensor.dtype.name} {elements or f'⟨{describe_dims(tensor.dims)}⟩'}"
    return _make_box("constant", "constant", name, "", [[Row(text, "muted", ())]])


def _make_stub_face(item: Item) -> Face:
    size, bold = TEXT_STYLES["badge"]
    text = shorten_text(short_name(item.label), MOST_STUB_WIDTH - STUB_HEIGHT, size, bold)
    width = _round(max(measure_text(text, size, bold) + STUB_HEIGHT, LEAST_STUB_WIDTH))
    run = TextRun(_round(width / 2), STUB_HEIGHT / 2 + 3.4, text, "badge", "middle")
    return Face("stub", "constant", width, STUB_HEIGHT, 0.0, (run,))


def _make_frame(item: Item) -> Face:
    element = item.element
    if isinstance(element, Group):
        title = short_range(item.label or element.label)
        quiet = _other_than(element.type_name, element.label)
        if item.repeat is not None:
            title = f"{title} ×{len(element.children):,}"
            quiet = " · ".join(filter(None, (quiet, describe_shown(item))))
    elif isinstance(element, Node):
        title = item.label or element.op_type
        quiet = element.op_type if item.label else short_name(element.name) if element.name else ""
        quiet = "" if quiet == title else quiet
    else:
        title, quiet = item.label or getattr(element, "parent_attribute", "") or element.name, ""
    texts, end = _lay_title(title, quiet, MARGIN + 4, MOST_FRAME_TITLE)
    category = category_of(element) if isinstance(element, Node) else "group"
    return Face("frame", category, _round(end + MARGIN + 4), HEADER, HEADER, tuple(texts))


def _other_than(type_name: str, label: str) -> str:
    """Return a module's class where the label does not say it already."""
    return "" if type_name == label else type_name


def describe_shown(item: Item) -> str:
    """Return what an open repeat shows, and what it cannot: ``shows layers.3``."""
    repetition, repeat = item.repetition, item.repeat
    if repetition is None or repeat is None:
        return "all shown"
    label = repetition.label if isinstance(repetition, Group) else ""
    is_telling = label and not label.startswith(repeat.label)
    shown = label if is_telling else f"{item.shown + 1} of {len(repeat.children):,}"
    parts = [f"shows {shown}"]
    for count, what in zip(item.unmatched, ("input", "output"), strict=True):
        if count:
            parts.append(f"{count:,} {what}{'' if count == 1 else 's'} of others")
    return ", ".join(parts)


def _lay_title(title: str, quiet: str, x: float, end: float) -> tuple[list[TextRun], float]:
    """Place a title and its quiet second part between two positions; return where it ends."""
    size, bold = TEXT_STYLES["title"]
    quiet_size, quiet_bold = TEXT_STYLES["title-muted"]
    quiet_wanted = measure_text(clean_label(quiet), quiet_size, quiet_bold) if quiet else 0.0
    room = end - x - (min(quiet_wanted + GAP, (end - x) * 0.45) if quiet else 0.0)
    shown = shorten_text(title, room, size, bold)
    runs = [TextRun(x, BASELINE, shown, "title")]
    x += measure_text(shown, size, bold)
    if quiet:
        x += GAP
        shown = shorten_text(quiet, end - x, quiet_size, quiet_bold)
        runs.append(TextRun(_round(x), BASELINE, shown, "title-muted"))
        x += measure_text(shown, quiet_size, quiet_bold)
    return runs, x


def _make_box(
    shape: Shape,
    category: str,
    title: str,
    quiet: str,
    blocks: Sequence[Sequence[Row]],
    *,
    badge: str = "",
    openable: bool = False,
    times: int = 0,
) -> Face:
    blocks = [block for block in blocks if block]
    badge = clean_label(badge, 40)
    badge_width = measure_text(badge, TEXT_STYLES["badge"][0]) + 14 if badge else 0.0
    number = f"×{times:,}" if times else ""
    number_width = measure_text(number, *TEXT_STYLES["title"]) + GAP if times else 0.0
    at_right = (badge_width + GAP if badge else 0.0) + (16 if openable else 0.0) + number_width
    stack = SHEETS if times else 0
    sheets = stack * SHEET_OFFSET
    columns = [_column_width(block) for block in blocks]

    _, title_end = _lay_title(title, quiet, MARGIN, MARGIN + MOST_WIDTH)
    wanted = title_end + MARGIN + at_right
    for block, column in zip(blocks, columns, strict=True):
        for row in block:
            wanted = max(wanted, _row_end(row, column) + MARGIN)
    width = _round(min(max(wanted, LEAST_WIDTH), MOST_WIDTH + (badge_width / 2 if badge else 0)))

    texts, _ = _lay_title(title, quiet, MARGIN, width - MARGIN - at_right + 0.5)
    badges = []
    right = width - MARGIN
    if openable:
        texts.append(TextRun(right, BASELINE, OPENER, "title-muted", "end"))
        right -= 16
    if times:
        texts.append(TextRun(right, BASELINE, number, "title", "end"))
        right -= number_width
    if badge:
        badges.append(
            Badge(
                _round(right - badge_width + 3),
                (HEADER - BADGE_HEIGHT) / 2,
                _round(badge_width),
                BADGE_HEIGHT,
                badge,
            )
        )
    header = TERMINAL_HEADER if shape in ("terminal", "constant") and blocks else HEADER
    y, rules, targets = header, [], []
    for index, (block, column) in enumerate(zip(blocks, columns, strict=True)):
        if index:
            rules.append(y)
        y += BLOCK_PADDING
        for row in block:
            if row.pieces and row.pieces[0][1] == "badge":
                chip = _lay_chip(row, column, y, width - MARGIN)
                badges.append(chip)
                row = row._replace(pieces=(("", "muted"),))
            texts.extend(_lay_row(row, column, y + ROW_BASELINE, width - MARGIN))
            if row.is_constant:
                targets.append((y, y + ROW))
            y += ROW
        y += BLOCK_PADDING
    return Face(
        shape,
        category,
        width + sheets,
        y + sheets,
        header,
        tuple(replace(run, y=run.y + sheets) for run in texts) if stack else tuple(texts),
        tuple(rule + sheets for rule in rules),
        tuple(replace(pill, y=pill.y + sheets) for pill in badges) if stack else tuple(badges),
        tuple(targets),
        stack,
    )


def _column_width(block: Sequence[Row]) -> float:
    """Return the width of the names of those rows that have something after the name."""
    widths = [
        measure_text(clean_label(row.name), *TEXT_STYLES[row.name_style])
        for row in block
        if row.pieces
    ]
    return min(max(widths, default=0.0), MOST_NAME_WIDTH)


def _row_end(row: Row, column: float) -> float:
    if not row.pieces:
        return MARGIN + measure_text(clean_label(row.name), *TEXT_STYLES[row.name_style])
    if row.pieces[0][1] == "badge":
        return MARGIN + column + GAP + _chip_width(row.pieces[0][0])
    pieces = sum(
        measure_text(clean_label(text), *TEXT_STYLES[style]) + GAP for text, style in row.pieces
    )
    return MARGIN + column + pieces


def _chip_width(text: str) -> float:
    return measure_text(clean_label(text), *TEXT_STYLES["badge"]) + CHIP_PADDING


def _lay_chip(row: Row, column: float, y: float, end: float) -> Badge:
    """Place the pill of a folded shape into its row."""
    x = MARGIN + column + GAP
    size, bold = TEXT_STYLES["badge"]
    text = shorten_text(row.pieces[0][0], end - x - CHIP_PADDING + 0.5, size, bold, "start")
    width = _round(measure_text(text, size, bold) + CHIP_PADDING)
    return Badge(_round(x), y + (ROW - CHIP_HEIGHT) / 2, width, CHIP_HEIGHT, text, is_chip=True)


def _lay_row(row: Row, column: float, y: float, end: float) -> list[TextRun]:
    room = column if row.pieces else end - MARGIN
    size, bold = TEXT_STYLES[row.name_style]
    name = shorten_text(row.name, room + 0.5, size, bold, "both" if row.pieces else "start")
    runs = [TextRun(MARGIN, y, name, row.name_style)]
    x = MARGIN + column + GAP
    for number, (text, style) in enumerate(row.pieces):
        if number and end - x < LEAST_PIECE:
            break  # not even a few characters of a second piece would fit
        keep = _KEEP.get(style, "both")
        shown = shorten_text(text, max(end - x, 0.0) + 0.5, *TEXT_STYLES[style], keep)
        runs.append(TextRun(_round(x), y, shown, style))
        x += measure_text(shown, *TEXT_STYLES[style]) + GAP
    return runs


def _round(number: float) -> float:
    return round(number, 1)
