"""What is said of a node."""

from __future__ import annotations

from itertools import islice

from netloupe.explorer.model import (
    Node,
    NodeDeviceConfiguration,
    ShardingSpec,
    Value,
)
from netloupe.explorer.notation import write_count
from netloupe.explorer.operators import OperatorSchema, find_schema, read_documentation

from .attributes import list_attributes
from .compared import describe_node_difference, list_awaited
from .costs import list_part_costs
from .description import MOST_ROWS, Description, Row, Section, keep_sections, make_section
from .file_text import (
    list_entries,
    name_value,
    write_domain,
    write_inferred_type,
    write_line,
    write_text,
)
from .nets import list_device
from .operands import describe_origin, list_inputs, list_outputs, name_operands
from .place import Place
from .quantized import list_operand_quantization
from .unknown import describe_unknown


def describe_node(node: Node, place: Place | None = None) -> Description:
    """Return everything that the model and the operator's schema say of a node."""
    place = place or Place()
    version = node.opset_version
    function = node.function
    schema = None if function is not None else find_schema(node.domain, node.op_type, version)
    inputs = list(islice(name_operands(node, schema, is_output=False), MOST_ROWS))
    outputs = list(islice(name_operands(node, schema, is_output=True), MOST_ROWS))
    attributes = list_attributes(node, schema, place)
    captured = [_list_value(value, place) for value in node.captures[:MOST_ROWS]]
    awaited = list_awaited(node)
    control = [_list_value(value, place) for value in awaited[:MOST_ROWS]]
    details = node.details
    devices = [row for device in node.details.device_configurations for row in _list_device(device)]
    sections = [
        describe_node_difference(node),
        make_section("Attributes", attributes, total=len(node.attributes)),
        make_section("Inputs", list_inputs(iter(inputs), place), total=len(node.inputs)),
        make_section("Captured by subgraphs", captured, total=len(node.captures)),
        make_section("Control inputs", control, total=len(awaited)),
        make_section("Outputs", list_outputs(iter(outputs), place), total=len(node.outputs)),
        make_section("Inside", _list_bodies(node, place), total=len(node.subgraphs)),
        make_section("Quantization", list_operand_quantization((*inputs, *outputs), place)),
        make_section(
            "Operator",
            [*_list_operator(node, schema, place), *list_part_costs(node.graph.model, [node])],
        ),
        make_section("Device", list_device(details.device) if details.device else []),
        Section("Debug information", (), write_text(details.debug_info)),
        Section("Note in the file", (), write_text(node.doc)),
        make_section("Devices", devices),
        make_section(
            "Metadata", list_entries(node.metadata), total=len(node.metadata), is_hidden=True
        ),
        describe_unknown(node.unknown_fields),
        _read_documentation(node, schema),
    ]
    stored = details.constant
    shown_version = "" if version is None else f" {version}"
    return Description(
        path=place.path_of(node.path),
        kind="node",
        title=write_line(node.op_type) or "(no operator)",
        subtitle=f"{write_domain(node.domain, node.graph.dialect)}{shown_version}",
        element=node,
        sections=keep_sections(sections),
        tensor=stored,
        value=node.output(0) if stored is not None and node.outputs else None,
        warnings=node.warnings + node.graph.model.warnings_at(node.path),
    )


def _list_value(value: Value, place: Place) -> Row:
    origin, path = describe_origin(value, place), place.path_of(value.path)
    return Row(name_value(value), origin, "", path, write_inferred_type(value))


def _list_operator(node: Node, schema: OperatorSchema | None, place: Place) -> list[Row]:
    version = node.opset_version
    function = node.function
    known = "model-local function" if function is not None else "no schema known"
    if function is None and node.operator.is_registered:
        form = node.operator.form
        is_form = form not in (node.op_type, f"{node.domain}::{node.op_type}")
        known = f"registered, a form of {write_line(form)}" if is_form else "registered"
    if schema is not None:
        known = f"as declared since version {schema.since_version}"
        if schema.deprecated:
            known += ", deprecated"
    details = node.details
    if node.graph.dialect.has_opsets:
        shown_version = "not imported" if version is None else f"version {version}"
    else:
        shown_version = "" if details.op_version is None else f"version {details.op_version}"
    gradient = {None: "", True: "yes", False: "no"}[details.is_gradient]
    return [
        Row("node name", write_line(node.name) or "none"),
        Row("operator", write_line(node.op_type) or '""'),
        Row("domain", write_domain(node.domain, node.graph.dialect)),
        Row("overload", write_line(node.overload)),
        Row("operator set", shown_version),
        Row("engine", write_line(details.engine)),
        Row("gradient operator", gradient),
        Row("schema", known),
        Row("position", write_position(node)),
        Row(
            "graph", write_line(place.path_of(node.graph.path)), "", place.path_of(node.graph.path)
        ),
    ]


def write_position(node: Node) -> str:
    """Return which of its graph's nodes a node is: ``17 of 2,311``."""
    return f"{node.index + 1:,} of {len(node.graph.nodes):,}"


def _read_documentation(node: Node, schema: OperatorSchema | None) -> Section | None:
    if node.function is not None:
        return Section("Documentation", (), write_text(node.function.doc))
    if schema is None:
        return None
    text = read_documentation(node.domain, node.op_type, node.opset_version)
    return Section("Documentation", (), write_text(text or ""), is_markdown=True)


def _list_bodies(node: Node, place: Place) -> list[Row]:
    rows = [
        Row(
            write_line(graph.parent_attribute) or '""',
            write_count(len(graph.nodes), "node"),
            write_line(graph.name),
            place.path_of(graph.path),
        )
        for graph in node.subgraphs[:MOST_ROWS]
    ]
    function = node.function
    if function is not None:
        name = f"{write_domain(function.domain, function.dialect)}::{write_line(function.name)}"
        if function.overload:
            name += f":{write_line(function.overload)}"
        rows.append(Row("calls", name, write_count(len(function.nodes), "node"), function.path))
    return rows


def _list_device(device: NodeDeviceConfiguration) -> list[Row]:
    stage = "" if device.pipeline_stage is None else str(device.pipeline_stage)
    rows = [
        Row("configuration", write_line(device.configuration_id) or '""'),
        Row("pipeline stage", stage),
    ]
    for spec in device.sharding[:MOST_ROWS]:
        rows += _list_sharding(spec)
    return rows


def _list_sharding(spec: ShardingSpec) -> list[Row]:
    devices = ", ".join(map(str, spec.devices[:MOST_ROWS]))
    rows = [Row(f"sharded %{write_line(spec.tensor_name)}", f"devices {devices}".rstrip())]
    for key, group in spec.device_groups[:MOST_ROWS]:
        members = ", ".join(map(str, group[:MOST_ROWS]))
        rows.append(Row(f"device group {'?' if key is None else key}", f"devices {members}"))
    for dimension in spec.dimensions[:MOST_ROWS]:
        axis = "?" if dimension.axis is None else dimension.axis
        if not dimension.shards:
            rows.append(Row(f"axis {axis}", "sharded, not said how"))
        for extent, shards in dimension.shards[:MOST_ROWS]:
            count = "?" if shards is None else f"{shards:,}"
            size = "" if extent is None else f" of {write_line(str(extent))}"
            rows.append(Row(f"axis {axis}", f"{count} shard{'' if shards == 1 else 's'}{size}"))
    return rows
