"""What is said of fields that the schema does not know."""

from __future__ import annotations

from netloupe.explorer.model.unknown import UnknownField, UnknownFields
from netloupe.explorer.notation import write_bytes, write_count

from .description import MOST_ROWS, Row, Section, make_section
from .file_text import write_line, write_scalar

_LONGEST_VALUE = 120


def describe_unknown(fields: UnknownFields, prefix: str = "") -> Section:
    """Return a section of an element's unknown fields; empty where there are none."""
    title = "Fields that the schema does not know"
    rows = map(_describe_field, fields[:MOST_ROWS])
    return make_section(f"{prefix}{title}", rows, total=len(fields))


def _describe_field(field: UnknownField) -> Row:
    place = f"{write_line(field.place)}: " if field.place else ""
    value = field.value
    if field.wire_type == "group":
        shown = write_count(int(value), "field") if isinstance(value, int) else ""
        return Row(f"{place}field {field.number}", shown, field.wire_type)
    note = field.wire_type
    if isinstance(value, bytes):
        note = f"{note}, {write_bytes(len(value))}"
    return Row(f"{place}field {field.number}", write_scalar(_read(value), _LONGEST_VALUE), note)


def _read(value: int | bytes) -> object:
    """Return bytes that read as a text as this text."""
    if isinstance(value, int):
        return value
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return value
    return text if text.isprintable() else value
