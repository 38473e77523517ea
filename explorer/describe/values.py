"""What is said of a value: its type, where it comes from, who uses it."""

from __future__ import annotations

from netloupe.explorer.model import Value, constant_tensor, is_constant
from netloupe.explorer.model.constant import describe_constant
from netloupe.explorer.model.inference import Inference
from netloupe.explorer.model.kept import get_kept
from netloupe.explorer.quantization import find_quantization, unpack_constant

from .compared import describe_value_difference
from .denotations import list_carried_denotations, list_image_facts
from .description import Description, Row, Section, keep_sections, make_section
from .file_text import (
    MOST_ELEMENTS,
    list_denotations,
    list_dimensions,
    list_entries,
    name_value,
    write_inferred_type,
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
    axes = list_denotations(value.type) + list_carried_denotations(value)
    sections: list[Section | None] = [
        describe_value_difference(value),
        make_section("Value", _list_facts(value, place)),
        make_section("Quantization", list_quantization(value, quantization, place)),
        make_section("Denotations", axes + list_image_facts(value)),
        make_section("Uses", list_uses(value, place)),
        make_section("Axes", list_dimensions(value.inferred_type or value.type)),
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
        sections[2:2] = list_tensor_sections(tensor, unpacked)
        warnings += tensor.warnings
    badge = f" · {quantization.badge}" if quantization is not None and quantization.badge else ""
    return Description(
        path=place.path_of(value.path),
        kind="value",
        title=name_value(value),
        subtitle=write_value_type(value) + badge,
        inferred=write_inferred_type(value),
        element=value,
        sections=keep_sections(sections),
        tensor=unpacked or tensor,
        value=value,
        warnings=warnings,
    )


def _list_types(value: Value) -> list[Row]:
    """Return the type that the file states, and the one that follows where it says less."""
    inferred = write_inferred_type(value)
    if value.type is None and inferred:
        return [Row("type", inferred, "inferred: the file states none", "", inferred)]
    if value.type is None:
        return [Row("type", write_type(None), _explain_unknown(value))]
    note = "inferred: the file states less"
    return [Row("type", write_type(value.type)), Row("inferred type", inferred, note, "", inferred)]


def _explain_unknown(value: Value) -> str:
    """Return why the type of a value is not known, and how more comes to be known."""
    model = value.graph.model
    done = get_kept(model, Inference)
    if done is None:
        hint = ": inferring shapes may tell it" if model.can_infer_shapes else ""
        return f"the file states none{hint}"
    return done.problem or f"the file states none, and onnx {done.version} infers none"


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
        *_list_types(value),
        Row("role", ", ".join(roles) or "result of a node"),
        Row("graph", write_line(graph_path), "", graph_path),
        Row("holds", write_line(describe_constant(value, MOST_ELEMENTS))),
    ]
    operand = place.operand_of(value)
    if operand is not None and place.caller is not None:
        caller = place.caller.graph.path
        rows.append(Row("in this call", name_value(operand), write_line(caller), operand.path))
    return rows
