"""What is said of a tensor: its type, size and how it is stored."""

from __future__ import annotations

from netloupe.explorer.costs import count_bytes, count_elements
from netloupe.explorer.model import SparseTensor, Tensor
from netloupe.explorer.notation import write_bytes, write_count, write_dims

from .description import Description, Row, Section, keep_sections, make_section
from .file_text import list_entries, write_line, write_tensor_type, write_text
from .nets import list_device
from .place import Place
from .unknown import describe_unknown


def describe_tensor(tensor: Tensor | SparseTensor, place: Place | None = None) -> Description:
    """Return everything that the model says of a tensor that is no value; reads no element."""
    place = place or Place()
    return Description(
        path=place.path_of(tensor.path),
        kind="tensor",
        title=write_line(tensor.name or tensor.path.rsplit("/", 1)[-1]),
        subtitle=write_tensor_type(tensor),
        element=tensor,
        sections=keep_sections(list_tensor_sections(tensor)),
        tensor=tensor,
        warnings=tensor.warnings,
    )


def list_tensor_sections(
    tensor: Tensor | SparseTensor, unpacked: Tensor | None = None
) -> list[Section]:
    """Return the sections that say how a tensor is stored, and what its bytes hold packed."""
    stored, size = count_elements(tensor), count_bytes(tensor)
    rows = [
        Row("element type", str(tensor.dtype)),
        Row("shape", write_dims(tensor.dims) or "scalar"),
        Row("elements", f"{stored:,}", "" if stored == tensor.size else f"of {tensor.size:,}"),
        Row("size", "unknown" if size is None else write_bytes(size)),
    ]
    if unpacked is not None:
        note = f"{write_count(unpacked.size, 'number')} of {unpacked.dtype.bits} bits"
        rows.append(Row("holds packed", write_tensor_type(unpacked), note))
    if isinstance(tensor, Tensor):
        rows += _list_storage(tensor)
        return [make_section("Tensor", rows), *_list_notes(tensor, "")]
    indices = tensor.indices
    form = "none" if indices is None else write_tensor_type(indices)
    rows += [
        Row("indices", form, "" if indices is None else write_line(indices.name)),
    ]
    sections = [make_section("Sparse tensor", rows), describe_unknown(tensor.unknown_fields)]
    for part, title in ((tensor.values, "Given elements"), (indices, "Indices")):
        if part is not None:
            facts = [
                Row("element type", str(part.dtype)),
                Row("shape", write_dims(part.dims) or "scalar"),
                *_list_storage(part),
            ]
            sections.append(make_section(title, facts))
            sections += _list_notes(part, f"{title}: ")
    return sections


def _list_storage(tensor: Tensor) -> list[Row]:
    stored = "" if tensor.stored_bytes is None else write_bytes(tensor.stored_bytes)
    rows = [Row("stored in", write_line(tensor.storage), stored)]
    if tensor.segment is not None:
        rows.append(Row("segment", f"elements {tensor.segment.begin} to {tensor.segment.end}"))
    if tensor.device is not None:
        rows += list_device(tensor.device)
    if tensor.external is not None:
        rows += [
            Row(f"external {write_line(key)}", write_line(text, 4_000) or '""')
            for key, text in tensor.external.entries
        ]
    return rows


def _list_notes(tensor: Tensor, prefix: str) -> list[Section]:
    return [
        Section(f"{prefix}Note in the file", (), write_text(tensor.doc)),
        make_section(
            f"{prefix}Metadata",
            list_entries(tensor.metadata),
            total=len(tensor.metadata),
            is_hidden=True,
        ),
        describe_unknown(tensor.unknown_fields, prefix),
    ]
