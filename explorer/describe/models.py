"""What is said of a whole model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from netloupe.explorer.costs import Totals
from netloupe.explorer.model import (
    DeviceConfiguration,
    Model,
    ModelWarning,
    SparseTensor,
    Tensor,
    TrainingInfo,
    Value,
)
from netloupe.explorer.notation import write_bytes, write_count
from netloupe.explorer.progress import step
from netloupe.explorer.quantization import summarize_quantization

from .architecture import list_architecture_sections
from .compared import list_model_differences, name_compared, name_sides
from .costs import list_model_costs
from .denotations import explain_image_metadata
from .description import MOST_ROWS, Description, Row, Section, keep_sections, make_section
from .file_text import (
    list_counts,
    list_entries,
    list_operators,
    name_value,
    write_domain,
    write_inferred_type,
    write_line,
    write_text,
    write_value_type,
)
from .graphs import list_graph_warnings, list_parameters, list_weights
from .place import Place
from .unknown import describe_unknown

MOST_WARNINGS = 100
#: nodes are read one by one for their warnings only in a model of at most so many
MOST_NODES_READ = 20_000


def describe_outline(model: Model) -> Description:
    """Return what a file says of its model at once: nothing that all weights are looked at for."""
    if model.comparison is not None:
        return _compare(model, describe_outline(model.comparison.right))
    nodes, stored = model.node_count, _list_stored(model)
    sections = [
        make_section("Model", _list_header(model)),
        make_section("Contents", _list_counts(model, nodes, len(stored))),
        make_section("Operator sets", _list_opsets(model)),
        *_list_border(model),
        Section("More", (), "Weights, operators and quantization are being read …"),
    ]
    return _describe(model, nodes, sections)


def describe_model(model: Model) -> Description:
    """Return everything that a file says of its model, counts over all graphs, and what it is."""
    if model.comparison is not None:
        return _compare(model, describe_model(model.comparison.right))
    step("looking at blocks")
    told = list_architecture_sections(model.architecture)
    contents = describe_contents(model)
    return replace(contents, sections=(*told, *contents.sections))


def describe_contents(model: Model) -> Description:
    """Return what a file says of its model, and counts over all graphs."""
    if model.comparison is not None:
        return _compare(model, describe_contents(model.comparison.right))
    graphs = model.graphs
    step("looking at weights")
    totals, stored = model.totals, _list_stored(model)
    nodes = totals.nodes
    listed = [
        Row(write_line(graph.path), write_count(len(graph.nodes), "node"), graph.kind, graph.path)
        for graph in graphs[:MOST_ROWS]
    ]
    sections = [
        make_section("Model", _list_header(model)),
        make_section("Contents", [*_list_totals(model, totals), *list_model_costs(model)]),
        make_section("Operator sets", _list_opsets(model)),
        *_list_border(model),
        make_section("Quantization", _list_quantization(model)),
        make_section("Operators", list_counts(list_operators(graphs))),
        make_section("Graphs", listed, total=len(graphs)),
        make_section("Largest weights", list_weights(stored, Place()), total=len(stored)),
        *(_describe_training(number, info) for number, info in enumerate(model.training)),
        describe_unknown(model.header.unknown_fields),
        make_section("Devices", _list_devices(model.header.device_configurations)),
        Section("Note in the file", (), write_text(model.doc)),
        make_section(
            "Metadata", list_entries(model.metadata), total=len(model.metadata), is_hidden=True
        ),
    ]
    found = list(islice(_find_warnings(model, nodes), MOST_WARNINGS + 1))
    if len(found) > MOST_WARNINGS:
        found[-1] = ModelWarning("model", f"has more than {MOST_WARNINGS} warnings")
    return _describe(model, nodes, sections, tuple(found))


def _compare(model: Model, newer: Description) -> Description:
    """Return what is said of a model of two: what differs, and then all of the newer one."""
    found = model.comparison
    assert found is not None  # noqa: S101 - asked of such alone
    older, name = name_sides(found)
    return replace(
        newer,
        title=name_compared(model),
        subtitle=f"both in one picture; below all of {name}, of which {older} is what was before",
        element=model,
        sections=(*list_model_differences(found), *newer.sections),
    )


def _describe(
    model: Model, nodes: int, sections: list[Section], warnings: tuple[ModelWarning, ...] = ()
) -> Description:
    return Description(
        path="model",
        kind="model",
        title=write_line(model.source.replace("\\", "/").rsplit("/", 1)[-1] or model.source),
        subtitle=f"{model.format} model, {write_count(nodes, 'node')}",
        element=model,
        sections=keep_sections(sections),
        warnings=warnings,
    )


def _list_stored(model: Model) -> list[Tensor | SparseTensor]:
    stored: list[Tensor | SparseTensor] = []
    for graph in model.graphs:
        stored += [*graph.initializers, *graph.sparse_initializers]
    return stored


def _list_opsets(model: Model) -> list[Row]:
    return [
        Row(write_domain(domain, model.dialect), f"version {version}")
        for domain, version in model.opset_imports.items()
    ]


def _list_header(model: Model) -> list[Row]:
    header = model.header
    return [
        Row("source", write_line(model.source)),
        Row("format", model.format),
        Row("container", model.container),
        Row("message", header.message),
        Row("IR version", "" if header.ir_version is None else str(header.ir_version)),
        Row("producer", write_line(header.producer_name)),
        Row("producer version", write_line(header.producer_version)),
        Row("domain", write_line(header.domain)),
        Row("model version", "" if header.model_version is None else str(header.model_version)),
        Row("image", explain_image_metadata(model.metadata)),
    ]


def _list_totals(model: Model, totals: Totals) -> list[Row]:
    counts = _list_counts(model, totals.nodes, totals.initializers, write_bytes(totals.bytes))
    return [*counts, *list_parameters(totals)]


def _list_counts(model: Model, nodes: int, initializers: int, size: str = "") -> list[Row]:
    functions = len(model.functions)
    return [
        Row("nodes", f"{nodes:,}", write_count(len(model.graphs), "graph")),
        Row("functions", f"{functions:,}" if functions else ""),
        Row("initializers", f"{initializers:,}", size),
    ]


def _list_border(model: Model) -> Iterator[Section]:
    """Yield the inputs that a user gives, those that are weights without elements, and outputs."""
    inputs = [value for value in model.graph.inputs if value.initializer is None]
    yield _list_values("Inputs", [value for value in inputs if not value.is_parameter])
    yield _list_values("Weights not given", [value for value in inputs if value.is_parameter])
    yield _list_values("Outputs", model.graph.outputs)


def _list_values(title: str, values: Sequence[Value]) -> Section:
    """Return a section of values; of no more than it shows types are read."""
    return make_section(title, map(_list_value, values[:MOST_ROWS]), total=len(values))


def _list_value(value: Value) -> Row:
    described, inferred = write_value_type(value), write_inferred_type(value)
    return Row(name_value(value), described, "", value.path, inferred)


def _list_quantization(model: Model) -> list[Row]:
    summary = summarize_quantization(model)
    if not summary["tensors"]:
        return []
    rows = [Row("quantized values", f"{summary['tensors']:,}")]
    rows += [Row(write_line(source), f"{count:,}") for source, count in summary["sources"].items()]
    return rows


def _describe_training(number: int, info: TrainingInfo) -> Section:
    rows = []
    for name, graph in (("initialization", info.initialization), ("algorithm", info.algorithm)):
        if graph is not None:
            described = write_count(len(graph.nodes), "node")
            rows.append(Row(name, described, write_line(graph.name), graph.path))
    for title, bindings in (
        ("set at first", info.initialization_binding),
        ("updated", info.update_binding),
    ):
        for target, source in bindings[:MOST_ROWS]:
            rows.append(Row(f"{title}: {write_line(target)}", f"from {write_line(source)}"))
    return make_section(f"Training {number}", rows)


def _list_devices(configurations: tuple[DeviceConfiguration, ...]) -> Iterator[Row]:
    for configuration in configurations:
        count = (
            "? devices"
            if configuration.num_devices is None
            else write_count(configuration.num_devices, "device")
        )
        names = ", ".join(map(write_line, configuration.devices[:MOST_ROWS]))
        yield Row(write_line(configuration.name) or '""', count, names)


def _find_warnings(model: Model, nodes: int) -> Iterator[ModelWarning]:
    if nodes <= MOST_NODES_READ:
        yield from model.all_warnings()
        for function in model.functions:
            yield from list_graph_warnings(function)[len(function.warnings) :]
        return
    yield from model.warnings
    yield from model.findings
    for graph in model.graphs:
        yield from list_graph_warnings(graph)
