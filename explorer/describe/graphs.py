"""What is said of a graph, a function or a group of nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from heapq import nlargest

from netloupe.explorer.costs import (
    Totals,
    count_bytes,
    count_graphs,
    count_nodes,
    list_apart,
    write_share,
)
from netloupe.explorer.grouping import Group, find_tree, recognise_function
from netloupe.explorer.model import Function, Graph, ModelWarning, Node, SparseTensor, Tensor, Value
from netloupe.explorer.notation import write_bytes, write_count, write_counts, write_span
from netloupe.explorer.patterns import describe_shape_value
from netloupe.explorer.view import View
from netloupe.explorer.view.group_borders import GroupBorders, nodes_inside

from .attributes import list_defaults
from .compared import describe_group_difference, leave_out_removed
from .costs import list_group_costs
from .denotations import list_image_facts
from .description import MOST_ROWS, Description, Row, Section, keep_sections, make_section
from .file_text import (
    list_counts,
    list_entries,
    list_operators,
    name_value,
    write_domain,
    write_entry,
    write_inferred_type,
    write_line,
    write_tensor_type,
    write_text,
    write_value_type,
)
from .nets import list_net_sections
from .place import Place
from .repeats import list_constants, list_contents, list_differences, list_stored
from .unknown import describe_unknown

MOST_WEIGHTS = 20
_KINDS = {
    "main": "main graph",
    "subgraph": "subgraph",
    "function": "model-local function",
    "training": "training graph",
    "init": "init net",
    "net": "net",
    "step": "execution step",
}
_GROUP_KINDS = {
    "scope": "scope of the exporter",
    "block": "block found by structure",
    "repeat": "repeat",
    "operation": "operation, and what arranges its operands and results",
    "shape": "shape arithmetic",
    "part": "part of a large group",
}

#: what some numbers are that are no parameters
_APART = {
    "attention biases": "tables of relative positions",
    "values in attributes": "thresholds and leaves of trees, coefficients, support vectors",
}


def describe_graph(graph: Graph, place: Place | None = None) -> Description:
    """Return everything that the model says of a graph; of a function too."""
    if isinstance(graph, Function):
        return describe_function(graph, place)
    place = place or Place()
    return Description(
        path=place.path_of(graph.path),
        kind="graph",
        title=write_line(graph.name or graph.path),
        subtitle=f"{_KINDS[graph.kind]}, {write_count(len(graph.nodes), 'node')}",
        element=graph,
        sections=keep_sections(list_graph_sections(graph, place)),
        warnings=list_graph_warnings(graph) + graph.model.warnings_at(graph.path),
    )


def describe_function(function: Function, place: Place | None = None) -> Description:
    """Return everything that the model says of a model-local function."""
    place = place or Place()
    name = f"{write_domain(function.domain, function.dialect)}::{write_line(function.name)}"
    callers = function.calls
    declared = [
        Row(write_line(attribute) or '""', "required")
        for attribute in function.attribute_names[:MOST_ROWS]
    ]
    kind = "net" if function.kind == "net" else "function"
    recognition = recognise_function(function)
    sections = [
        make_section(
            "Function",
            [
                Row("domain", write_domain(function.domain, function.dialect)),
                Row("name", write_line(function.name) or '""'),
                Row("overload", write_line(function.overload)),
                Row("recognised as", recognition.text if recognition is not None else ""),
            ],
        ),
        make_section(
            "Attributes",
            [*declared, *list_defaults(function.attribute_defaults)],
            total=len(function.attribute_names),
        ),
        make_section(
            "Calls",
            [
                Row("caller", write_line(node.path), write_line(node.op_type), node.path)
                for node in callers[:MOST_WEIGHTS]
            ],
            total=len(callers),
        ),
        *list_graph_sections(function, place),
    ]
    return Description(
        path=place.path_of(function.path),
        kind="function",
        title=name,
        subtitle=f"{kind}, {write_count(len(function.nodes), 'node')}, "
        f"{write_count(len(callers), 'call')}",
        element=function,
        sections=keep_sections(sections),
        warnings=list_graph_warnings(function) + function.model.warnings_at(function.path),
    )


def list_graph_sections(graph: Graph, place: Place) -> list[Section | None]:
    """Return the sections that every kind of graph has."""
    stored: list[Tensor | SparseTensor] = [*graph.initializers, *graph.sparse_initializers]
    model = graph.model
    is_alone = graph is model.graph and len(model.graphs) == 1
    totals = model.totals if is_alone else count_graphs(model, [graph])
    sparse = len(graph.sparse_initializers)
    inner = sum(1 for _ in graph.subgraphs)
    facts = [
        Row("kind", _KINDS[graph.kind]),
        Row("name", write_line(graph.name) or '""'),
        *_list_parent(graph, place),
        Row("nodes", f"{len(graph.nodes):,}"),
        Row("values", f"{len(graph.values):,}"),
        Row(
            "initializers",
            f"{len(graph.initializers):,}",
            write_bytes(totals.bytes) if stored else "",
        ),
        Row("sparse initializers", f"{sparse:,}" if sparse else ""),
        *(list_parameters(totals) if stored else ()),
        Row("subgraphs inside", f"{inner:,}" if inner else ""),
    ]
    opsets = [
        Row(write_domain(domain, graph.dialect), f"version {version}")
        for domain, version in graph.opset_imports.items()
    ]
    annotations = [
        Row(
            write_line(annotation.tensor_name) or '""',
            "\n".join(
                f"{write_line(key)} = {write_entry(text)}"
                for key, text in annotation.entries[:MOST_ROWS]
            )
            or "nothing stated",
            path=_find_annotated(graph, annotation.tensor_name, place),
        )
        for annotation in graph.annotations[:MOST_ROWS]
    ]
    inputs = [value for value in graph.inputs if value.initializer is None]
    return [
        make_section("Graph", facts),
        *list_net_sections(graph, place),
        make_section("Inputs", _list_values(inputs, place), total=len(inputs)),
        make_section("Outputs", _list_values(graph.outputs, place), total=len(graph.outputs)),
        make_section("Operators", list_counts(list_operators([graph]))),
        make_section("Operator sets", opsets),
        make_section("Nodes", _list_nodes(graph, place), total=len(graph.nodes), is_hidden=True),
        make_section("Largest weights", list_weights(stored, place), total=len(stored)),
        Section("Note in the file", (), write_text(graph.doc)),
        make_section("Quantization annotations", annotations, total=len(graph.annotations)),
        make_section(
            "Metadata", list_entries(graph.metadata), total=len(graph.metadata), is_hidden=True
        ),
        describe_unknown(graph.unknown_fields),
    ]


def describe_group(group: Group, view: View | None = None, path: str = "") -> Description:
    """Return what is known of a group of nodes.

    Parameters
    ----------
    group
        The group.
    view
        Knows which values cross the group's border; where None, the group is one of those that
        :func:`~netloupe.explorer.grouping.find_tree` gives.
    path
        Where the group is shown, if not under its own path.
    """
    shown = path or group.path
    place = Place()
    if shown != group.path and shown.endswith(group.path[len(group.graph.path) :]):
        suffix = group.path[len(group.graph.path) :]
        place = Place(group.graph.path, shown.removesuffix(suffix))
    nodes = leave_out_removed(nodes_inside(group))
    constants = list_constants(nodes)
    stored = list_stored(nodes)
    size = sum(count_bytes(tensor) or 0 for tensor in stored)
    totals = count_nodes(group.graph.model, nodes)
    is_repeat = group.kind == "repeat"
    contents = list_contents(group) if is_repeat else []
    each = write_counts([one.nodes for one in contents], "node") if is_repeat else ""
    own = [one.parameters for one in contents]
    own_parameters = f"{write_span(own)} each" if is_repeat else ""
    share = write_share(totals.parameters, group.graph.model.totals.parameters)
    share = f"{share} of the model" if share and totals.parameters else ""
    facts = [
        Row("label", write_line(group.label) or '""'),
        Row("kind", _GROUP_KINDS.get(group.kind, "")),
        Row("class", write_line(group.type_name)),
        Row("recognised as", group.recognised.text if group.recognised is not None else ""),
        Row("repetitions", f"{len(group.children):,}" if is_repeat else ""),
        *_list_repeat(group, place),
        Row("graph", write_line(place.path_of(group.graph.path)), "", group.graph.path),
        Row("nodes", f"{len(nodes):,}", f"{each} each" if is_repeat else ""),
        Row("constants", f"{len(constants):,}", write_bytes(size)),
        *list_parameters(totals, ", ".join(filter(None, (own_parameters, share)))),
        *list_group_costs(group),
    ]
    operators = Counter(node.op_type for node in nodes)
    sections = [describe_group_difference(group), make_section("Group", facts)]
    if is_repeat:
        sections.append(make_section("What differs", list_differences(group, contents, place)))
    if group.kind == "shape":
        sections.append(make_section("Computes", _list_shapes(group, place)))
    borders = _find_borders(group) if view is None else view.borders(group.graph)
    inputs, outputs = borders.group_inputs(group), borders.group_outputs(group)
    sections += [
        make_section("Inputs", _list_values(inputs, place), total=len(inputs)),
        make_section("Outputs", _list_values(outputs, place), total=len(outputs)),
        make_section(
            "Contents",
            [_describe_child(child, place) for child in group.children[:MOST_ROWS]],
            total=len(group.children),
        ),
        make_section("Operators", list_counts(operators)),
        make_section("Largest weights", list_weights(stored, place), total=len(stored)),
    ]
    recognition = group.recognised
    what = recognition.name if recognition is not None else write_line(group.type_name)
    kind = f"{what} · " if what else ""
    return Description(
        path=shown,
        kind="group",
        title=write_line(group.label or group.path),
        subtitle=f"{kind}{_count_nodes(group, each)}",
        element=group,
        sections=keep_sections(sections),
    )


def _find_borders(group: Group) -> GroupBorders:
    return GroupBorders(find_tree(group.graph.model, group.graph))


def _list_repeat(group: Group, place: Place) -> list[Row]:
    """Return which repetition a group is, and of what."""
    repeat = group.parent
    if repeat is None or repeat.kind != "repeat":
        return []
    path = place.path_of(repeat.path)
    return [Row("repetition", write_repetition(group), f"of {write_line(repeat.label)}", path)]


def write_repetition(group: Group) -> str:
    """Return which repetition of its repeat a group is: ``3 of 12``."""
    repeat = group.parent
    assert repeat is not None  # noqa: S101 - a repeat is around it
    return f"{repeat.children.index(group) + 1:,} of {len(repeat.children):,}"


def _count_nodes(group: Group, each: str) -> str:
    if group.kind != "repeat":
        return write_count(group.node_count, "node")
    return f"{len(group.children):,} repetitions, {each} each"


def _list_shapes(group: Group, place: Place) -> list[Row]:
    """Return what shape arithmetic gives to nodes outside of it."""
    inside = set(nodes_inside(group))
    values = [
        value
        for node in nodes_inside(group)
        for value in node.outputs
        if value is not None
        and (value.is_output or any(user not in inside for user in value.users))
    ]
    return [
        Row(
            name_value(value),
            write_line(describe_shape_value(value)),
            write_value_type(value),
            place.path_of(value.path),
            write_inferred_type(value),
        )
        for value in values[:MOST_ROWS]
    ]


def list_parameters(totals: Totals, note: str = "") -> list[Row]:
    """Return rows for what initializers hold."""
    return [
        Row("parameters", f"{totals.parameters:,}", note),
        *(
            Row(name, f"{count:,}", _APART.get(name, ""))
            for name, count in list_apart(totals).items()
        ),
    ]


def list_weights(tensors: Sequence[Tensor | SparseTensor], place: Place) -> list[Row]:
    """Return rows for the largest tensors."""
    sizes = [count_bytes(tensor) or 0 for tensor in tensors]
    chosen = nlargest(MOST_WEIGHTS, range(len(sizes)), key=sizes.__getitem__)
    return [
        Row(
            write_line(tensor.name) or '""',
            write_tensor_type(tensor),
            "" if (size := count_bytes(tensor)) is None else write_bytes(size),
            place.path_of(tensor.path),
        )
        for tensor in map(tensors.__getitem__, chosen)
    ]


def list_graph_warnings(graph: Graph) -> tuple[ModelWarning, ...]:
    """Return what is odd about a graph itself, and about the defaults of a function."""
    found = list(graph.warnings)
    if isinstance(graph, Function):
        for attribute in graph.attribute_defaults.values():
            found += attribute.warnings + attribute.tensor_warnings
    return tuple(found)


def _list_nodes(graph: Graph, place: Place) -> list[Row]:
    """Return a row for each of the first nodes: what to ask for, and the operator."""
    return [
        Row(
            write_line(node.path.removeprefix(f"{graph.path}/")),
            write_line(node.op_type) or '""',
            "",
            place.path_of(node.path),
        )
        for node in graph.nodes[:MOST_ROWS]
    ]


def _list_parent(graph: Graph, place: Place) -> list[Row]:
    node = graph.parent_node
    if node is None:
        return []
    path = place.path_of(node.path)
    return [
        Row("of node", write_line(path), write_line(node.op_type), path),
        Row("attribute", write_line(graph.parent_attribute) or '""'),
    ]


def _list_values(values: Sequence[Value], place: Place) -> list[Row]:
    rows = []
    for value in values[:MOST_ROWS]:
        image = "; ".join(row.value for row in list_image_facts(value))
        described, inferred = write_value_type(value), write_inferred_type(value)
        path = place.path_of(value.path)
        rows.append(Row(name_value(value), described, image, path, inferred))
    return rows


def _find_annotated(graph: Graph, name: str, place: Place) -> str:
    value = graph.values.get(name)
    return "" if value is None else place.path_of(value.path)


def _describe_child(child: Group | Node, place: Place) -> Row:
    path = place.path_of(child.path)
    if isinstance(child, Group):
        note = write_line(child.type_name)
        return Row(write_line(child.label), write_count(child.node_count, "node"), note, path)
    return Row(write_line(child.label), write_line(child.op_type) or '""', "", path)
