"""What a model is and what it costs, as sections of a report."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.architecture import describe_architecture
from netloupe.explorer.costs import Bindings, Costs, describe_costs, write_amount, write_macs
from netloupe.explorer.describe.architecture import list_lines
from netloupe.explorer.describe.file_text import (
    list_operators,
    order_counts,
    write_line,
    write_value_type,
)
from netloupe.explorer.describe.groups import walk_groups
from netloupe.explorer.model import Model, Value
from netloupe.explorer.notation import write_bytes, write_count
from netloupe.explorer.progress import step
from netloupe.explorer.quantization import summarize_quantization

from .content import (
    MOST_TABLE_ROWS,
    ReportCell,
    ReportColumn,
    ReportRow,
    ReportSection,
    ReportTable,
    make_report_table,
    make_share_cell,
)

#: so many levels of groups are told with their costs
_DEPTH = 2
#: in a larger model only the outermost groups are, as each is counted by its nodes
_MANY_NODES = 50_000
_MOST_GROUPS = 200
_LONGEST = 200


def tell_model(model: Model) -> ReportSection:
    """Return what the file is, and what the model takes and gives."""
    totals, header = model.totals, model.header
    container = "" if model.container == "protobuf" else f", {model.container}"
    producer = " ".join(filter(None, (header.producer_name, header.producer_version)))
    opsets = ", ".join(
        f"{write_line(model.dialect.name_domain(domain), 60)} {version}"
        for domain, version in model.opset_imports.items()
    )
    facts = [
        ("File", write_line(model.source.replace("\\", "/").rpartition("/")[2], _LONGEST)),
        ("Format", f"{model.format}{container}"),
        ("Producer", write_line(producer, _LONGEST)),
        ("Operator sets", opsets),
        ("IR version", "" if model.ir_version is None else str(model.ir_version)),
        ("Graphs", f"{len(model.graphs):,}, with {write_count(model.node_count, 'node')}"),
        ("Parameters", f"{totals.parameters:,}, {write_bytes(totals.bytes)} stored"),
        ("Quantized values", _write_quantization(model)),
    ]
    rows = [ReportRow((ReportCell(name), ReportCell(text))) for name, text in facts if text]
    about = make_report_table("The file", (ReportColumn("What"), ReportColumn("")), rows)
    values = [*_list_interface(model)]
    columns = (ReportColumn("Role"), ReportColumn("Name"), ReportColumn("Type"))
    shown = [
        ReportRow(
            (
                ReportCell(role),
                ReportCell(write_line(value.name, _LONGEST), path=value.path),
                ReportCell(write_value_type(value)),
            )
        )
        for role, value in values[:MOST_TABLE_ROWS]
    ]
    interface = make_report_table("Inputs and outputs", columns, shown, len(values))
    return ReportSection("model", "The model", (), (about, interface))


def _write_quantization(model: Model) -> str:
    found = summarize_quantization(model)
    sources = ", ".join(f"{count:,} by {name}" for name, count in found["sources"].items())
    return f"{found['tensors']:,} ({sources})" if found["tensors"] else ""


def _list_interface(model: Model) -> Iterator[tuple[str, Value]]:
    for value in model.graph.inputs:
        if value.initializer is None and not value.is_parameter:
            yield "input", value
    for value in model.graph.outputs:
        yield "output", value


def tell_architecture(model: Model, bind: Bindings | None = None) -> ReportSection:
    """Return what the model is in words, and its blocks."""
    told = describe_architecture(model, bind)
    rows = [
        ReportRow(
            (
                ReportCell(write_line(block.name[:1].upper() + block.name[1:])),
                ReportCell(f"{block.count:,}", block.count),
                ReportCell(write_line(block.path, _LONGEST), path=block.path),
            )
        )
        for block in told.blocks
    ]
    columns = (ReportColumn("Block"), ReportColumn("Times", True), ReportColumn("Where"))
    text = tuple(map(write_line, list_lines(told)))
    if not text:
        text = ("Its structure does not tell plainly what it is.",)
    blocks = make_report_table("Blocks", columns, rows)
    return ReportSection("architecture", "Architecture", text, (blocks,))


def tell_costs(model: Model, bind: Bindings | None = None) -> ReportSection:
    """Return what the model costs each time it runs: in all, by part and by operator."""
    costs = model.costs(bind)
    text = tuple(write_line(line, 1_000) for line in describe_costs(costs))
    tables = (_list_parts(model, costs, bind), _list_operators(model, costs))
    return ReportSection("costs", "Costs", text, tables)


def _list_parts(model: Model, whole: Costs, bind: Bindings | None) -> ReportTable:
    rows = []
    depth = _DEPTH if model.node_count <= _MANY_NODES else 1
    for level, group, note in walk_groups(model.groups, depth):
        if not level:
            continue
        step("counting costs")
        costs = group.costs(bind)
        label = f"{'  ' * (level - 1)}{write_line(group.label, 60)}{note}"
        share = costs.macs / whole.macs if costs.macs is not None and whole.macs else None
        rows.append(
            ReportRow(
                (
                    ReportCell(label, path=group.path),
                    ReportCell(write_line(group.recognised or group.type_name, _LONGEST)),
                    ReportCell(f"{group.node_count:,}", group.node_count),
                    ReportCell(write_amount(costs.parameters), costs.parameters),
                    ReportCell(write_bytes(costs.weight_bytes), costs.weight_bytes),
                    ReportCell(write_line(write_macs(costs)), costs.macs),
                    make_share_cell(share),
                )
            )
        )
        if len(rows) >= _MOST_GROUPS:
            break
    columns = (
        ReportColumn("Part"),
        ReportColumn("What it is"),
        ReportColumn("Nodes", True),
        ReportColumn("Parameters", True),
        ReportColumn("Weights", True),
        ReportColumn("MACs", True),
        ReportColumn("of all MACs", True),
    )
    return make_report_table("Parts, of repeats all blocks together and the first", columns, rows)


def _list_operators(model: Model, costs: Costs) -> ReportTable:
    counts = order_counts(list_operators(model.graphs))
    macs = costs.macs_by_operator
    rows = []
    for name, count in counts:
        told = macs.get(name, "")
        number = int(told) if told.isdecimal() else None
        text = write_amount(number) if number is not None else write_line(told, 60)
        rows.append(
            ReportRow(
                (
                    ReportCell(write_line(name, _LONGEST)),
                    ReportCell(f"{count:,}", count),
                    ReportCell(text, number),
                )
            )
        )
    columns = (ReportColumn("Operator"), ReportColumn("Nodes", True), ReportColumn("MACs", True))
    return make_report_table("Operators", columns, rows)
