"""What is said of a value: its type, where it comes from, who uses it."""

from __future__ import annotations

from netloupe.explorer.model import Value, constant_tensor, is_constant
from netloupe.explorer.model.constant import describe_constant
from netloupe.explorer.quantization import find_quantization, unpack_constant

from .denotations import list_image_facts
from .description import Description, Row, Section, keep_sections, make_section
from .file_text import (
    list_denotations,
    list_dimensions,
    list_entries,
    name_value,
    write_line,
    write_text,
    write_type,
    write_value_type,
)
from .place import Place
from .quantized import list_quantization
from .tensors import list_tensor_sections
from .unknown import describe_unknown
from .uses import list_uses


def describe_value(value: Value, place: Place | None = None) -> Description:
    """Return everything that the model says of a value."""
    place = place or Place()
    tensor = constant_tensor(value)
    quantization = find_quantization(value)
    sections: list[Section | None] = [
        make_section("Value", _list_facts(value, place)),
        make_section("Quantization", list_quantization(value, quantization, place)),
        make_section("Denotations", list_denotations(value.type) + list_image_facts(value)),
        make_section("Uses", list_uses(value, place)),
        make_section("Axes", list_dimensions(value.type)),
        Section("Note in the file", (), write_text(value.doc)),
        make_section(
            "Metadata", list_entries(value.metadata), total=len(value.metadata), is_hidden=True
        ),
        describe_unknown(value.unknown_fields),
    ]
    warnings = value.warnings + value.graph.model.warnings_at(value.path)
    unpacked = None
    if tensor is not None:
        unpacked = unpack_constant(value)
        sections[1:1] = list_tensor_sections(tensor, unpacked)
        warnings += tensor.warnings
    badge = f" · {quantization.badge}" if quantization is not None and quantization.badge else ""
    return Description(
        path=place.path_of(value.path),
        kind="value",
        title=name_value(value),
        subtitle=write_value_type(value) + badge,
        element=value,
        sections=keep_sections(sections),
        tensor=unpacked or tensor,
        value=value,
        warnings=warnings,
    )


def _describe_type(value: Value) -> Row:
    inferred = value.inferred_type
    if inferred is None:
        return Row("type", write_type(value.type))
    return Row("type", write_type(inferred), "inferred: the file states none")


def _list_facts(value: Value, place: Place) -> list[Row]:
    roles = [
        word
        for word, holds in (
            ("input of the graph", value.is_input),
            ("output of the graph", value.is_output),
            ("initializer", value.initializer is not None),
            ("constant", value.initializer is None and is_constant(value)),
        )
        if holds
    ]
    if not roles and value.producer is None:
        roles = ["nothing gives it"]
    graph_path = place.path_of(value.graph.path)
    rows = [
        Row("name", name_value(value)),
        Row("written again as", "" if value.key == value.name else write_line(value.key)),
        _describe_type(value),
        Row("role", ", ".join(roles) or "result of a node"),
        Row("graph", write_line(graph_path), "", graph_path),
        Row("holds", write_line(describe_constant(value, 32))),
    ]
    operand = place.operand_of(value)
    if operand is not None and place.caller is not None:
        caller = place.caller.graph.path
        rows.append(Row("in this call", name_value(operand), write_line(caller), operand.path))
    return rows
