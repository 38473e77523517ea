"""The audit of a quantized model as a section of a report."""

from __future__ import annotations

from netloupe.explorer.audit import QuantizationAudit, WeightAudit
from netloupe.explorer.describe.file_text import write_line
from netloupe.explorer.notation import join_parts, write_bytes, write_percent

from .content import (
    ReportCell,
    ReportColumn,
    ReportRow,
    ReportSection,
    ReportTable,
    make_report_table,
)

_LONGEST = 200
_MOST_OPERATORS = 5


def tell_audit(found: QuantizationAudit) -> ReportSection:
    """Return how a model is quantized: coverage first, then floats in between, then weights.

    Its defects, and what is off or in floats, are among the findings too.
    """
    text = [write_line(found.verdict, 2_000)]
    if found.coverage.assumed:
        sizes = ", ".join(f"{write_line(k, 60)} = {n:,}" for k, n in found.coverage.assumed.items())
        text.append(f"Multiplications are counted for {sizes}.")
    text.append("Numbers of weights are fidelity: what they cost in accuracy does not follow.")
    tables = (_list_precisions(found), _list_islands(found), _list_weights(found))
    return ReportSection("audit", "Quantization", tuple(text), tables)


def _list_operators(operators: dict[str, int]) -> str:
    told = [f"{count:,} {write_line(name, 60)}" for name, count in operators.items()]
    return join_parts(told[:_MOST_OPERATORS], len(told))


def _list_precisions(found: QuantizationAudit) -> ReportTable:
    total = sum(share.macs for share in found.coverage.precisions)
    rows = [
        ReportRow(
            (
                ReportCell(write_line(share.name)),
                ReportCell(f"{share.nodes:,}", share.nodes),
                ReportCell(f"{share.macs:,}", share.macs),
                ReportCell(write_percent(share.macs / total) if total else "", share.macs),
                ReportCell(_list_operators(dict(share.operators))),
            )
        )
        for share in found.coverage.precisions
    ]
    columns = (
        ReportColumn("Activations × weights"),
        ReportColumn("Nodes", True),
        ReportColumn("MACs", True),
        ReportColumn("of all MACs", True),
        ReportColumn("Operators"),
    )
    return make_report_table("Multiplications by number format", columns, rows)


def _list_islands(found: QuantizationAudit) -> ReportTable:
    rows = [
        ReportRow(
            (
                ReportCell(write_line(island.paths[0], _LONGEST), path=island.paths[0]),
                ReportCell(f"{island.count:,}", island.count),
                ReportCell(_list_operators(dict(island.operators))),
                ReportCell("?" if island.macs is None else f"{island.macs:,}", island.macs),
                ReportCell(
                    "?" if island.border_bytes is None else write_bytes(island.border_bytes),
                    island.border_bytes,
                ),
                ReportCell(f"{island.borders:,}", island.borders),
            )
        )
        for island in found.islands
    ]
    columns = (
        ReportColumn("Begins at"),
        ReportColumn("Times", True),
        ReportColumn("Operators"),
        ReportColumn("MACs, each", True),
        ReportColumn("Bytes across its borders, each", True),
        ReportColumn("Borders", True),
    )
    title = "Computed in floats between quantized parts: why integers are not faster"
    return make_report_table(title, columns, rows)


def _list_weights(found: QuantizationAudit) -> ReportTable:
    columns: tuple[ReportColumn, ...]
    paired = sorted(
        (one for one in found.paired if one.fidelity is not None),
        key=lambda one: one.fidelity.sqnr_db if one.fidelity is not None else 0.0,
    )
    if paired:
        columns = (
            ReportColumn("Weight"),
            ReportColumn("Stored as"),
            ReportColumn("SQNR, dB ↑", True),
            ReportColumn("ideal, dB", True),
            ReportColumn("excess error ↓", True),
            ReportColumn("largest error, steps ↓", True),
            ReportColumn("clipped ↓", True),
            ReportColumn("cosine ↑", True),
        )
        title = "Weights beside their floats, the lowest SQNR first"
        return make_report_table(title, columns, [_tell_fidelity(one) for one in paired])
    coded = sorted(
        (one for one in found.weights if one.codes is not None and not one.is_bias),
        key=lambda one: one.codes.used_span if one.codes is not None else 1.0,
    )
    columns = (
        ReportColumn("Weight"),
        ReportColumn("Stored as"),
        ReportColumn("range used ↑", True),
        ReportColumn("bits used ↑", True),
        ReportColumn("at the ends ↓", True),
    )
    rows = [_tell_codes(one) for one in coded]
    return make_report_table("Codes of weights, the least used range first", columns, rows)


def _name(one: WeightAudit) -> tuple[ReportCell, ReportCell]:
    size = f" of {one.block_size}" if one.block_size else ""
    return (
        ReportCell(write_line(one.path, _LONGEST), path=one.path),
        ReportCell(f"{one.storage} {one.granularity}{size}".strip()),
    )


def _tell_fidelity(one: WeightAudit) -> ReportRow:
    found = one.fidelity
    assert found is not None  # noqa: S101 - only such are listed
    numbers = (
        (found.sqnr_db, 1),
        (found.ideal_sqnr_db, 1),
        (found.excess_error, 3),
        (found.max_step_error, 3),
    )
    cells = [_write(number, digits) for number, digits in numbers]
    more: list[tuple[str, str]] = []
    if one.state != "paired":
        more.append(("compared", one.state))
    if one.expected:
        more.append(("by its name", write_line(one.expected, _LONGEST)))
    if one.is_turned:
        more.append(("order", "transposed against the float model"))
    if found.channels > 1:
        text = f"channel {found.worst_channel} of {found.channels:,}"
        more.append(("lowest SQNR", f"{found.worst_channel_sqnr_db:.1f} dB, {text}"))
    return ReportRow(
        (
            *_name(one),
            *cells,
            ReportCell(write_percent(found.clipped), found.clipped),
            _write(found.cosine, 6),
        ),
        tuple(more),
    )


def _write(number: float | None, digits: int) -> ReportCell:
    return ReportCell("" if number is None else f"{number:.{digits}f}", number)


def _tell_codes(one: WeightAudit) -> ReportRow:
    codes = one.codes
    assert codes is not None  # noqa: S101 - only such are listed
    bits = f"{codes.effective_bits:.2f}" + (f" of {one.bits:g}" if one.bits else "")
    return ReportRow(
        (
            *_name(one),
            ReportCell(write_percent(codes.used_span), codes.used_span),
            ReportCell(bits, codes.effective_bits),
            ReportCell(write_percent(codes.ended), codes.ended),
        )
    )
