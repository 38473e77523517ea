"""What boxes can be coloured by, as a section of a report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from netloupe.explorer.audit import QuantizationAudit
from netloupe.explorer.describe.file_text import write_line
from netloupe.explorer.model import Model
from netloupe.explorer.overlays import Overlay, make_overlays
from netloupe.explorer.overlays.units import write_amount_of

from .content import (
    ReportCell,
    ReportColumn,
    ReportRow,
    ReportSection,
    ReportTable,
    make_report_table,
    make_share_cell,
)

_LONGEST, _LONGEST_PATH = 1_000, 200
#: so many nodes are told of each
_MOST_RANKED = 50


def make_fidelity_overlay(model: Model, found: QuantizationAudit) -> list[Overlay]:
    """Return an overlay of how near weights are to their floats; none where none were compared.

    Of a node with several weights that which is furthest away is told.
    """
    numbers: dict[str, float] = {}
    for one in found.paired:
        if one.fidelity is not None and one.node:
            number = one.fidelity.sqnr_db
            numbers[one.node] = min(number, numbers.get(one.node, number))
    if not numbers:
        return []
    words: dict[str, Any] = {
        "name": "SQNR of weights",
        "unit": "dB",
        "better": "higher",
        "aggregation": "min",
    }
    return make_overlays(model, [numbers], **words)


def tell_overlays(overlays: Sequence[Overlay]) -> ReportSection:
    """Return what can be laid over the picture: what could be placed, and where most is."""
    text, tables = [], []
    for one in overlays:
        text.append(_write_paragraph(one))
        if not one.column.has_words:
            tables.append(_rank(one))
    names = tuple(write_line(one.name, 60) for one in overlays)
    return ReportSection("colours", "Colours", tuple(text), tuple(tables), names)


def _write_paragraph(one: Overlay) -> str:
    lines = [one.describe(), *one.describe_placement(), *one.describe_ranking(names=False)]
    return f"{'. '.join(write_line(line.rstrip('.'), _LONGEST) for line in lines)}."


def _rank(one: Overlay) -> ReportTable:
    is_sum = one.column.aggregation == "sum"
    ranked = [node for node in one.rank() if node.value or not is_sum]
    unit = one.column.unit
    rows = [
        ReportRow(
            (
                ReportCell(write_line(node.path, _LONGEST_PATH), path=node.path),
                ReportCell(write_amount_of(node.value, unit), node.value),
                make_share_cell(node.share),
                make_share_cell(node.cumulative),
            )
        )
        for node in ranked[:_MOST_RANKED]
    ]
    order = "lowest" if one.column.better == "higher" else "highest"
    columns = (
        ReportColumn("Node"),
        ReportColumn(write_line(one.name, 60), True),
        ReportColumn("of the whole", True),
        ReportColumn("with all before", True),
    )
    title = f"{write_line(one.name, 60)}, the {order} first"
    return make_report_table(title, columns, rows, len(ranked))
