"""Faces of values: inputs and outputs, constants, and stubs of what comes from elsewhere."""

from __future__ import annotations

from netloupe.explorer.layout.value_sizes import find_sizes
from netloupe.explorer.model import Value
from netloupe.explorer.model.value import list_types
from netloupe.explorer.notation import write_count
from netloupe.explorer.view import Item

from .box import MARGIN, MOST_FACTS_WIDTH, make_box, round_size
from .dim_names import name_dims
from .face import Face, TextRun
from .fact_rows import FaceStyle
from .rows import FaceRow, describe_dims, describe_elements, short_name, shorten_dims
from .sizes import TEXT_STYLES
from .text import clean_label, measure_text, shorten_text

STUB_HEIGHT = 17.0
LEAST_STUB_WIDTH = 30.0
#: as wide as LayerNormalization_output_0, of which exporters make many
MOST_STUB_WIDTH = 180.0
#: a box that stands for more values says nothing of their types
MOST_TYPES_COMPARED = 20_000


def make_terminal_face(item: Item, element: object, style: FaceStyle) -> Face:
    """Return the face of an input or output: its name and type."""
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


def make_constant_face(element: object) -> Face:
    """Return the face of a constant: its name, and its elements or type."""
    value = element if isinstance(element, Value) else None
    tensor = value.initializer if value else None
    name = short_name(value.name) if value else "?"
    if tensor is None:
        return make_box("constant", "plain", name, "constant", [])
    elements = describe_elements(tensor)
    text = f"{tensor.dtype.name} {elements or f'⟨{describe_dims(tensor.dims)}⟩'}"
    return make_box("constant", "plain", name, "", [[FaceRow(text, "muted", ())]])


def make_stub_face(item: Item) -> Face:
    """Return the face of a stub: the name of the value that comes from elsewhere, or its size."""
    size, bold = TEXT_STYLES["badge"]
    label = item.label or _write_size(item)
    # only names of an author have parts: a point in "0.5 × 64" begins none
    name = label if " " in label else short_name(label)
    places = len(item.stub_takers)
    goes = f" → {write_count(places, 'place')}" if places > 1 else ""
    text = shorten_text(name, MOST_STUB_WIDTH - STUB_HEIGHT, size, bold) + goes
    width = round_size(max(measure_text(text, size, bold) + STUB_HEIGHT, LEAST_STUB_WIDTH))
    run = TextRun(round_size(width / 2), STUB_HEIGHT / 2 + 3.4, text, "badge", "middle")
    return Face("stub", "plain", width, STUB_HEIGHT, 0.0, (run,))


def _write_size(item: Item) -> str:
    """Return the size of what a stub stands for, or else its type; of several how many they are."""
    values = next(iter(item.merged.values()), ())
    if len(values) > 1:
        return write_count(len(values), "value")
    value = item.element
    size = find_sizes(value.graph.model).find(value) if isinstance(value, Value) else None
    return (size.write() if size is not None else "") or _describe_types(item) or "value"
