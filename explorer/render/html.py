"""HTML: what notebooks show of a model, a graph, a node or a tensor, and the page of a picture.

Every text that comes from a model is cleaned and escaped here. Class names begin with ``nl-``
and hold only inside ``.nl-repr``; colours follow JupyterLab's where they are defined. Notebooks
that are not trusted and code hosts drop the style sheet: what tells the parts apart is in the
markup too, as separators, white space and inline styles.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.inference import infer_type
from netloupe.explorer.model import Function, Graph, Model, Node, SparseTensor, Tensor, Value
from netloupe.explorer.notation import (
    clip_text,
    join_parts,
    write_bytes,
    write_count,
    write_dims,
    write_number,
)
from netloupe.explorer.operators import OperatorSchema, find_schema

from .rows import describe_value
from .text import clean_label
from .theme import load_theme

if TYPE_CHECKING:
    from netloupe.explorer.tensors import Histogram, Statistics

MOST_ROWS = 20
MOST_OPERATORS = 12
#: a repr reads no more elements than this; larger tensors are only described
MOST_BYTES_READ = 64 << 20
_LARGE_COUNT = 1 << 21
_BINS = 60
_QUIET = 'class="nl-quiet" style="opacity:.7"'

Fact = tuple[str, str]  # a plain name, and HTML


def describe_model(model: Model) -> str:
    """Return the summary of a model as HTML."""
    graph = model.graph
    head = _head(_file_name(model.source), f"{model.format} model")
    parts = [head, _table(list_model_facts(model))]
    parts.append(_list_values("Inputs", _true_inputs(graph)))
    parts.append(_list_values("Outputs", graph.outputs))
    if model.functions:
        names = [f"{function.domain}::{function.name}" for function in model.functions]
        parts.append(_details("Functions", [(name, "") for name in names]))
    if model.metadata:
        rows = [(key, _text(text)) for key, text in model.metadata.items()]
        parts.append(_details("Metadata", rows))
    parts.append(_list_warnings([warning.message for warning in model.warnings]))
    return _wrap(parts)


def list_model_facts(model: Model) -> list[Fact]:
    """Return what a model's summary says: names, and values as HTML."""
    header = model.header
    graphs = model.graphs
    nodes = sum(len(graph.nodes) for graph in graphs)
    operators = Counter(node.op_type for graph in graphs for node in graph.nodes)
    tensors: list[Tensor | SparseTensor] = []
    for graph in graphs:
        tensors += [*graph.initializers, *graph.sparse_initializers]
    parameters = sum(tensor.size for tensor in tensors)
    stored = sum(tensor.nbytes or 0 for tensor in tensors)
    opsets = [f"{domain or 'ai.onnx'} {version}" for domain, version in model.opset_imports.items()]
    producer = f"{header.producer_name} {header.producer_version}".strip()
    within = f" in {len(graphs):,} graphs" if len(graphs) > 1 else ""
    facts = [
        ("format", _text(f"{model.format}, {model.container}")),
        ("IR version", "" if model.ir_version is None else str(model.ir_version)),
        ("operator sets", _text(join_parts(opsets[:12], len(opsets)))),
        ("producer", _text(producer)),
        ("nodes", f"{nodes:,}{within}"),
        ("parameters", f"{parameters:,} in {len(tensors):,} tensors, {write_bytes(stored)}"),
        ("operators", _text(_describe_operators(operators))),
        ("documentation", _text(model.doc, 400)),
    ]
    return [fact for fact in facts if fact[1]]


def describe_graph(graph: Graph) -> str:
    """Return the summary of a graph as HTML."""
    operators = Counter(node.op_type for node in graph.nodes)
    parameters = sum(tensor.size for tensor in graph.initializers)
    kind = {"main": "main graph", "training": "training graph"}.get(graph.kind, graph.kind)
    facts = [
        ("name", _text(graph.name)),
        ("nodes", f"{len(graph.nodes):,}"),
        ("initializers", f"{len(graph.initializers):,}, {parameters:,} parameters"),
        ("operators", _text(_describe_operators(operators))),
        ("documentation", _text(graph.doc, 400)),
    ]
    if isinstance(graph, Function):
        names = list(graph.attribute_names)
        facts.insert(1, ("attributes", _text(join_parts(names[:MOST_ROWS], len(names)))))
    parts = [_head(graph.path, kind), _table([fact for fact in facts if fact[1]])]
    parts.append(_list_values("Inputs", _true_inputs(graph)))
    parts.append(_list_values("Outputs", graph.outputs))
    parts.append(_list_warnings([warning.message for warning in graph.warnings]))
    return _wrap(parts)


def describe_node(node: Node) -> str:
    """Return a node's operator, attributes, inputs and outputs as HTML."""
    version = node.opset_version
    domain = f"{node.domain or 'ai.onnx'}{f' {version}' if version is not None else ''}"
    schema = find_schema(node.domain, node.op_type, version)
    attributes = [
        (
            f"{attribute.name}",
            _code(f"@{attribute.reference}" if attribute.reference else _describe(attribute.value))
            + _note(attribute.kind),
        )
        for attribute in list(node.attributes.values())[:MOST_ROWS]
    ]
    parts = [
        _head(node.op_type, domain),
        _table(
            [("path", _code(node.path)), *([("doc", _text(node.doc, 400))] if node.doc else [])]
        ),
        _details("Attributes", attributes, len(node.attributes), opened=True),
        _details("Inputs", _list_operands(node.inputs, schema, "input"), len(node.inputs), True),
        _details(
            "Outputs", _list_operands(node.outputs, schema, "output"), len(node.outputs), True
        ),
    ]
    parts.append(_list_warnings([warning.message for warning in node.warnings]))
    return _wrap(parts)


def _list_operands(
    values: Sequence[Value | None], schema: OperatorSchema | None, side: str
) -> list[Fact]:
    rows = []
    for index, value in enumerate(values[:MOST_ROWS]):
        formal = None
        if schema is not None:
            find = schema.input_name if side == "input" else schema.output_name
            formal = find(index)
        if value is None:
            rows.append((formal or str(index), f"<span {_QUIET}>not given</span>"))
        else:
            rows.append((formal or str(index), _describe_operand(value)))
    return rows


def _describe_operand(value: Value) -> str:
    tensor = value.initializer
    if tensor is not None:
        described = f"{tensor.dtype.name}{write_dims(tensor.dims)} initializer"
    else:
        described = _describe_type(value)
    return _code(value.name) + _note(described)


def _describe_type(value: Value) -> str:
    if value.type is not None:
        return str(value.type)
    inferred = infer_type(value)
    return "type unknown" if inferred is None else f"{inferred}, inferred"


def describe_tensor(tensor: Tensor | SparseTensor) -> str:
    """Return a tensor's type, size, statistics and a small histogram as HTML.

    Elements are read only up to 64 MiB, and of very many only a sample is looked at.
    """
    dims = " × ".join(map(str, tensor.dims[:16])) or "scalar"
    more = f" … {len(tensor.dims) - 16} more" if len(tensor.dims) > 16 else ""
    facts = [
        ("dtype", _text(tensor.dtype.name)),
        ("shape", _text(dims + more)),
        ("elements", f"{tensor.size:,}"),
        ("bytes", write_bytes(tensor.nbytes) if tensor.nbytes is not None else "unknown"),
    ]
    if isinstance(tensor, Tensor):
        place = tensor.external.location if tensor.external is not None else tensor.storage
        facts.append(("stored in", _text(place)))
    drawn = ""
    try:
        statistics, drawn = _describe_elements(tensor)
        facts += statistics
    except NetloupeError as error:
        facts.append(("elements", f'<span class="nl-warning">{_text(str(error), 400)}</span>'))
    title = tensor.name or tensor.path
    warnings = _list_warnings([warning.message for warning in tensor.warnings])
    return _wrap([_head(title, "tensor"), _table(facts), drawn, warnings])


def _describe_elements(tensor: Tensor | SparseTensor) -> tuple[list[Fact], str]:
    from netloupe.explorer.tensors import compute_histogram, compute_statistics

    claimed = tensor.size * (tensor.dtype.bits or 64) // 8
    if claimed > MOST_BYTES_READ:
        return [("statistics", "not computed here: use tensor.statistics()")], ""
    array = tensor.numpy()
    if tensor.dtype.name == "string":
        shown = [clip_text(str(text), 60) for text in array.ravel()[:8].tolist()]
        more = f", … {array.size - 8:,} more" if array.size > 8 else ""
        return [("values", _text(", ".join(shown) + more))], ""
    limit = _LARGE_COUNT if array.size > _LARGE_COUNT else None
    statistics = compute_statistics(array, limit=limit)
    named = ("min", statistics.minimum), ("max", statistics.maximum), ("mean", statistics.mean)
    sample = f" (of {statistics.count:,} elements)" if statistics.is_sample else ""
    facts = [
        (name, _text(write_number(number) + sample)) for name, number in named if number is not None
    ]
    odd = statistics.nans + statistics.positive_infinities + statistics.negative_infinities
    if odd:
        facts.append(("not finite", f'<span class="nl-warning">{odd:,}</span>'))
    if array.size < 2 or statistics.minimum is None:
        return facts, ""
    sampled = array.reshape(-1)[:: max(1, array.size // _LARGE_COUNT)]
    return facts, draw_sparkline(compute_histogram(sampled, bins=_BINS))


def describe_statistics(statistics: Statistics) -> str:
    """Return the statistics of a tensor's elements as a small table in HTML."""
    subject = " of magnitudes" if statistics.is_magnitude else ""
    facts = [
        (name + subject, _text(write_number(number)))
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
        ("median" if fraction == 0.5 else f"{fraction:.0%} quantile", _text(write_number(number)))
        for fraction, number in statistics.quantiles.items()
    ]
    sample = "sample of " if statistics.is_sample else ""
    head = _head("Statistics", sample + write_count(statistics.count, "element"))
    return _wrap([head, _table(facts)])


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
        f"<div {_QUIET}>{ends}</div>"
    )


def draw_html_page(svg: str, title: str, model: Model | None = None, theme: str = "light") -> str:
    """Return one HTML page with a picture and, where given, its model's summary.

    Parameters
    ----------
    svg
        The picture, as :func:`~netloupe.explorer.render.svg.draw_svg` returns it.
    title
        The page's title.
    model
        The model whose summary stands above the picture.
    theme
        ``light`` or ``dark``, as the picture.

    Raises
    ------
    ViewError
        For an unknown theme.
    """
    colours = load_theme(theme)
    summary = ""
    if model is not None:
        summary = f"<details><summary>Summary</summary>{describe_model(model)}</details>"
    heading = escape(clean_label(title))
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{heading}</title>
<style>
:root {{
  color-scheme: {colours.name};
  --jp-content-font-color1: {colours.ink};
  --jp-content-font-color2: {colours.muted};
}}
body {{
  background: {colours.page};
  color: {colours.ink};
  font: 14px/1.5 "DejaVu Sans", Verdana, "Segoe UI", sans-serif;
  margin: 0;
}}
header {{ border-bottom: 1px solid {colours.frames[0].border}; padding: .8em 1.2em; }}
h1 {{ font-size: 1.15em; margin: 0; overflow-wrap: anywhere; }}
header summary {{ color: {colours.muted}; cursor: pointer; }}
main {{ overflow: auto; padding: 1.2em; text-align: center; }}
main svg {{ display: inline-block; }}
</style>
</head>
<body>
<header><h1>{heading}</h1>{summary}</header>
<main>
{svg}</main>
</body>
</html>
"""


@cache
def _style() -> str:
    return files(__package__).joinpath("repr.css").read_text(encoding="utf-8")


def _wrap(parts: Iterable[str]) -> str:
    content = "\n".join(part for part in parts if part)
    return f'<div class="nl-repr"><style>{_style()}</style>\n{content}</div>'


def _text(text: str, longest: int = 300) -> str:
    return escape(clean_label(text, longest))


def _code(text: str) -> str:
    return f"<code>{_text(text)}</code>"


def _note(text: str) -> str:
    """Return a remark behind a text: a dot keeps them apart where styles do not."""
    return f'<span class="nl-separator"> · </span><span {_QUIET}>{_text(text)}</span>'


def _head(title: str, kind: str) -> str:
    return (
        f'<div class="nl-head"><strong class="nl-title">{_text(title)}</strong>{_note(kind)}</div>'
    )


def _table(facts: Iterable[Fact]) -> str:
    head = '<th scope="row" style="font-weight:normal;opacity:.7;text-align:left">'
    rows = "\n".join(f"<tr>{head}{_text(k)}</th> <td>{v}</td></tr>" for k, v in facts)
    return f'<table class="nl-facts">\n{rows}\n</table>' if rows else ""


def _details(title: str, rows: Sequence[Fact], count: int = -1, opened: bool = False) -> str:
    """Return a list that can be folded; at most ``MOST_ROWS`` of ``count`` rows are shown."""
    if not rows:
        return ""
    count = len(rows) if count < 0 else count
    hidden = count - min(len(rows), MOST_ROWS)
    more = f"<div {_QUIET}>… {hidden:,} more</div>" if hidden > 0 else ""
    return (
        f"<details{' open' if opened else ''}><summary>{escape(title)} ({count:,})</summary>"
        f"{_table(rows[:MOST_ROWS])}{more}</details>"
    )


def _list_values(title: str, values: Sequence[Value]) -> str:
    rows = [(value.name, _text(_describe_type(value))) for value in values[:MOST_ROWS]]
    return _details(title, rows, len(values), opened=True)


def _list_warnings(messages: Sequence[str]) -> str:
    shown = "".join(
        f'<div class="nl-warning">⚠ {_text(message)}</div>' for message in messages[:MOST_ROWS]
    )
    hidden = len(messages) - MOST_ROWS
    return shown + (f"<div {_QUIET}>… {hidden:,} more</div>" if hidden > 0 else "")


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
    return describe_value(value, MOST_ROWS)
