"""HTML: what notebooks show of a model, a graph, a node or a tensor.

Every text that comes from a model is cleaned and escaped. Class names begin with ``nl-``
and hold only inside ``.nl-repr``; colours follow JupyterLab's where they are defined. Notebooks
that are not trusted and code hosts drop the style sheet: what tells the parts apart is in the
markup too, as separators, white space and inline styles.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from netloupe.explorer.costs import (
    Totals,
    count_bytes,
    count_elements,
    count_graphs,
    list_apart,
)
from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Function, Graph, Model, Node, SparseTensor, Tensor, Value
from netloupe.explorer.notation import (
    clip_text,
    join_parts,
    write_bytes,
    write_count,
    write_dims,
    write_number,
)
from netloupe.explorer.operators import OperatorSchema, RoleList, find_schema

from .markup import (
    MOST_ROWS,
    QUIET,
    Fact,
    escape_label,
    wrap_parts,
    write_code,
    write_details,
    write_head,
    write_note,
    write_table,
    write_warnings,
)
from .rows import write_elements

if TYPE_CHECKING:
    from netloupe.explorer.tensors import Histogram, Statistics

MOST_OPERATORS = 12
#: a repr reads no more elements than this; larger tensors are only described
MOST_BYTES_READ = 64 << 20
_LARGE_COUNT = 1 << 21
_BINS = 60


def write_model_html(model: Model) -> str:
    """Return the summary of a model as HTML."""
    graph = model.graph
    head = write_head(_file_name(model.source), f"{model.format} model")
    parts = [head, write_table(list_model_facts(model))]
    parts.append(_list_values("Inputs", _true_inputs(graph)))
    parts.append(_list_values("Outputs", graph.outputs))
    if model.functions:
        names = [f"{function.domain}::{function.name}" for function in model.functions]
        parts.append(write_details("Functions", [(name, "") for name in names]))
    if model.metadata:
        rows = [(key, escape_label(text)) for key, text in model.metadata.items()]
        parts.append(write_details("Metadata", rows))
    parts.append(write_warnings([warning.message for warning in model.warnings]))
    return wrap_parts(parts)


def list_model_facts(model: Model) -> list[Fact]:
    """Return what a model's summary says: names, and values as HTML."""
    header = model.header
    graphs = model.graphs
    operators = Counter(node.op_type for graph in graphs for node in graph.nodes)
    totals = model.totals
    imports = model.dialect.name_opsets(model.opset_imports)
    opsets = [f"{domain} {version}" for domain, version in imports.items()]
    producer = f"{header.producer_name} {header.producer_version}".strip()
    within = f" in {len(graphs):,} graphs" if len(graphs) > 1 else ""
    facts = [
        ("format", escape_label(f"{model.format}, {model.container}")),
        ("IR version", "" if model.ir_version is None else str(model.ir_version)),
        ("operator sets", escape_label(join_parts(opsets[:12], len(opsets)))),
        ("producer", escape_label(producer)),
        ("nodes", f"{totals.nodes:,}{within}"),
        *_list_stored(totals),
        ("operators", escape_label(_describe_operators(operators))),
        ("documentation", escape_label(model.doc, 400)),
    ]
    return [fact for fact in facts if fact[1]]


def _list_stored(totals: Totals) -> list[Fact]:
    """Return how many initializers there are, and what they hold."""
    return [
        ("initializers", f"{totals.initializers:,}, {write_bytes(totals.bytes)}"),
        ("parameters", f"{totals.parameters:,}"),
        *((name, f"{count:,}") for name, count in list_apart(totals).items()),
    ]


def write_graph_html(graph: Graph) -> str:
    """Return the summary of a graph as HTML."""
    operators = Counter(node.op_type for node in graph.nodes)
    kind = {"main": "main graph", "training": "training graph"}.get(graph.kind, graph.kind)
    facts = [
        ("name", escape_label(graph.name)),
        ("nodes", f"{len(graph.nodes):,}"),
        *_list_stored(count_graphs(graph.model, [graph])),
        ("operators", escape_label(_describe_operators(operators))),
        ("documentation", escape_label(graph.doc, 400)),
    ]
    if isinstance(graph, Function):
        names = list(graph.attribute_names)
        facts.insert(1, ("attributes", escape_label(join_parts(names[:MOST_ROWS], len(names)))))
    parts = [write_head(graph.path, kind), write_table([fact for fact in facts if fact[1]])]
    parts.append(_list_values("Inputs", _true_inputs(graph)))
    parts.append(_list_values("Outputs", graph.outputs))
    parts.append(write_warnings([warning.message for warning in graph.warnings]))
    return wrap_parts(parts)


def write_node_html(node: Node) -> str:
    """Return a node's operator, attributes, inputs and outputs as HTML."""
    version = node.opset_version
    domain = node.graph.dialect.name_domain(node.domain)
    if version is not None:
        domain += f" {version}"
    schema, operator = find_schema(node.domain, node.op_type, version), node.operator
    inputs = _list_operands(node.inputs, schema, "input", operator.operands)
    outputs = _list_operands(node.outputs, schema, "output", operator.results)
    attributes = [
        (
            f"{attribute.name}",
            write_code(
                f"@{attribute.reference}" if attribute.reference else _describe(attribute.value)
            )
            + write_note(attribute.kind),
        )
        for attribute in list(node.attributes.values())[:MOST_ROWS]
    ]
    parts = [
        write_head(node.op_type, domain),
        write_table(
            [
                ("path", write_code(node.path)),
                *([("doc", escape_label(node.doc, 400))] if node.doc else []),
            ]
        ),
        write_details("Attributes", attributes, len(node.attributes), opened=True),
        write_details("Inputs", inputs, len(node.inputs), True),
        write_details("Outputs", outputs, len(node.outputs), True),
    ]
    parts.append(write_warnings([warning.message for warning in node.warnings]))
    return wrap_parts(parts)


def _list_operands(
    values: Sequence[Value | None], schema: OperatorSchema | None, side: str, roles: RoleList
) -> list[Fact]:
    rows = []
    for index, value in enumerate(values[:MOST_ROWS]):
        formal = None
        if schema is not None:
            find = schema.input_name if side == "input" else schema.output_name
            formal = find(index)
        else:
            formal = roles.name_at(index)
        if value is None:
            rows.append((formal or str(index), f"<span {QUIET}>not given</span>"))
        else:
            rows.append((formal or str(index), _describe_operand(value)))
    return rows


def _describe_operand(value: Value) -> str:
    tensor = value.initializer
    if tensor is not None:
        described = f"{tensor.dtype.name}{write_dims(tensor.dims)} initializer"
    else:
        described = _describe_type(value)
    return write_code(value.name) + write_note(described)


def _describe_type(value: Value) -> str:
    inferred = value.inferred_type
    return f"{inferred}, inferred" if inferred is not None else str(value.type or "type unknown")


def write_tensor_html(tensor: Tensor | SparseTensor) -> str:
    """Return a tensor's type, size, statistics and a small histogram as HTML.

    Elements are read only up to 64 MiB, and of very many only a sample is looked at.
    """
    stored, size = count_elements(tensor), count_bytes(tensor)
    dims = " × ".join(map(str, tensor.dims[:16])) or "scalar"
    more = f" … {len(tensor.dims) - 16} more" if len(tensor.dims) > 16 else ""
    facts = [
        ("dtype", escape_label(tensor.dtype.name)),
        ("shape", escape_label(dims + more)),
        ("elements", f"{stored:,}" + ("" if stored == tensor.size else f" of {tensor.size:,}")),
        ("bytes", "unknown" if size is None else write_bytes(size)),
    ]
    if isinstance(tensor, Tensor):
        place = tensor.external.location if tensor.external is not None else tensor.storage
        facts.append(("stored in", escape_label(place)))
    drawn = ""
    try:
        statistics, drawn = _describe_elements(tensor)
        facts += statistics
    except NetloupeError as error:
        facts.append(
            ("elements", f'<span class="nl-warning">{escape_label(str(error), 400)}</span>')
        )
    title = tensor.name or tensor.path
    warnings = write_warnings([warning.message for warning in tensor.warnings])
    return wrap_parts([write_head(title, "tensor"), write_table(facts), drawn, warnings])


def _describe_elements(tensor: Tensor | SparseTensor) -> tuple[list[Fact], str]:
    from netloupe.explorer.tensors import compute_histogram, compute_statistics

    claimed = tensor.size * (tensor.dtype.bits or 64) // 8
    if claimed > MOST_BYTES_READ:
        return [("statistics", "not computed here: use tensor.statistics()")], ""
    array = tensor.numpy()
    if tensor.dtype.name == "string":
        shown = [clip_text(str(text), 60) for text in array.ravel()[:8].tolist()]
        more = f", … {array.size - 8:,} more" if array.size > 8 else ""
        return [("values", escape_label(", ".join(shown) + more))], ""
    limit = _LARGE_COUNT if array.size > _LARGE_COUNT else None
    statistics = compute_statistics(array, limit=limit)
    named = ("min", statistics.minimum), ("max", statistics.maximum), ("mean", statistics.mean)
    sample = f" (of {statistics.count:,} elements)" if statistics.is_sample else ""
    facts = [
        (name, escape_label(write_number(number) + sample))
        for name, number in named
        if number is not None
    ]
    odd = statistics.nans + statistics.positive_infinities + statistics.negative_infinities
    if odd:
        facts.append(("not finite", f'<span class="nl-warning">{odd:,}</span>'))
    if array.size < 2 or statistics.minimum is None:
        return facts, ""
    sampled = array.reshape(-1)[:: max(1, array.size // _LARGE_COUNT)]
    return facts, draw_sparkline(compute_histogram(sampled, bins=_BINS))


def write_statistics_html(statistics: Statistics) -> str:
    """Return the statistics of a tensor's elements as a small table in HTML."""
    subject = " of magnitudes" if statistics.is_magnitude else ""
    facts = [
        (name + subject, escape_label(write_number(number)))
        for name, number in (
            ("min", statistics.minimum),
            ("max", statistics.maximum),
            ("mean", statistics.mean),
            ("std", statistics.std),
        )
        if number is not None
    ]
    facts += [
        (name, f"{count:,}")
        for name, count in (
            ("zeros", statistics.zeros),
            ("NaN", statistics.nans),
            ("+Inf", statistics.positive_infinities),
            ("−Inf", statistics.negative_infinities),
            ("distinct", statistics.distinct),
        )
        if count
    ]
    facts += [
        (
            "median" if fraction == 0.5 else f"{fraction:.0%} quantile",
            escape_label(write_number(number)),
        )
        for fraction, number in statistics.quantiles.items()
    ]
    sample = "sample of " if statistics.is_sample else ""
    head = write_head("Statistics", sample + write_count(statistics.count, "element"))
    return wrap_parts([head, write_table(facts)])


def draw_sparkline(histogram: Histogram, width: int = 300, height: int = 56) -> str:
    """Return a histogram as a small inline SVG in the colour of the text around it."""
    counts = histogram.counts
    most = int(counts.max()) if counts.size else 0
    if not most:
        return ""
    step = width / counts.size
    tops = [height - (height - 2) * int(count) / most for count in counts.tolist()]
    path = f"M0 {height}" + "".join(
        f"V{top:.1f}H{(index + 1) * step:.1f}" for index, top in enumerate(tops)
    )
    low, high = float(histogram.edges[0]), float(histogram.edges[-1])
    label = escape(f"Histogram from {write_number(low)} to {write_number(high)}")
    ends = f"{escape(write_number(low))} … {escape(write_number(high))}"
    return (
        f'<svg class="nl-histogram" xmlns="http://www.w3.org/2000/svg" width="{width}" '
        f'height="{height + 1}" viewBox="0 0 {width} {height + 1}" role="img" '
        f'aria-label="{label}"><path d="{path}V{height}z" fill="currentColor" opacity=".75"/>'
        f'<path d="M0 {height + 0.5}H{width}" stroke="currentColor"/></svg>'
        f"<div {QUIET}>{ends}</div>"
    )


def _list_values(title: str, values: Sequence[Value]) -> str:
    rows = [(value.name, escape_label(_describe_type(value))) for value in values[:MOST_ROWS]]
    return write_details(title, rows, len(values), opened=True)


def _true_inputs(graph: Graph) -> list[Value]:
    """Return the inputs that are not initializers (IR 3 lists those too)."""
    return [value for value in graph.inputs if value.initializer is None]


def _describe_operators(operators: Counter[str]) -> str:
    ordered = sorted(operators.items(), key=lambda entry: (-entry[1], entry[0]))
    shown = [
        clip_text(name, 60) + (f" ×{count:,}" if count > 1 else "")
        for name, count in ordered[:MOST_OPERATORS]
    ]
    return join_parts(shown, len(ordered))


def _file_name(source: str) -> str:
    return source.replace("\\", "/").rsplit("/", 1)[-1] or source


def _describe(value: Any) -> str:
    if isinstance(value, Graph):
        return f"{value.name or 'graph'}: {write_count(len(value.nodes), 'node')}"
    if isinstance(value, Tensor | SparseTensor):
        return f"{value.dtype.name}{write_dims(value.dims)}"
    return write_elements(value, MOST_ROWS)
